"""Pins and chips that die and come back: noticed, said once, opened anew."""

from __future__ import annotations

import queue
import sys
import threading
import types
from pathlib import Path

import pytest
from gpiozero import RGBLED
from gpiozero.pins.mock import MockFactory, MockPWMPin

import hardware.button
from hardware.button import Panel, open_panel
from hardware.gesture import Gesture
from hardware.pins import Wire, close_device, forgiving, header_chip, make_factory
from tests.hardware.pin_fakes import PATIENCE_S, PIN, Ear, PinWithFaults, use_factory

PRESS = Gesture.PRESS


def test_a_pin_that_can_no_longer_be_read_is_lost_and_comes_back(
    ear: Ear, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(hardware.button, "CHECK_EVERY_S", 0.001)
    monkeypatch.setattr(hardware.button, "REOPEN_EVERY_S", 0.001)
    factory = use_factory(monkeypatch, MockFactory(pin_class=PinWithFaults))
    pin = factory.pin(PIN)
    states: queue.SimpleQueue[str] = queue.SimpleQueue()
    with open_panel("lgpio", PIN, ear, on_state=states.put) as panel:
        assert panel.state == "ok"
        pin.is_broken = True
        assert states.get(timeout=PATIENCE_S) == "lost"
        assert panel.state == "lost"
        panel.press()
        assert ear.next() is PRESS, "the page's button works meanwhile"
        pin.is_broken = False
        assert states.get(timeout=PATIENCE_S) == "ok"
        assert panel.state == "ok"
        pin.drive_low()
        pin.drive_high()
        assert ear.next() is PRESS
    told = [record.getMessage() for record in caplog.records]
    assert told == [
        "button: the pin can no longer be read: the chip is gone",
        "button: the pin can be read again",
    ]


def test_a_dead_chip_is_reopened(ear: Ear, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hardware.button, "CHECK_EVERY_S", 0.001)
    monkeypatch.setattr(hardware.button, "REOPEN_EVERY_S", 0.001)
    chips: list[MockFactory] = []
    is_away = threading.Event()
    asked_in_vain = threading.Event()

    def make() -> MockFactory:
        if is_away.is_set():
            asked_in_vain.set()
            raise OSError("no such chip")
        chips.append(MockFactory(pin_class=PinWithFaults))
        return chips[-1]

    states: queue.SimpleQueue[str] = queue.SimpleQueue()
    wire = Wire(PIN, make)
    with Panel(ear, kind="ok", wire=wire, on_state=states.put) as panel:
        is_away.set()
        chips[0].pin(PIN).is_broken = True  # for good: its handle is dead
        assert states.get(timeout=PATIENCE_S) == "lost"
        assert asked_in_vain.wait(PATIENCE_S)
        is_away.clear()
        assert states.get(timeout=PATIENCE_S) == "ok"
        assert panel.state == "ok"
        pin = chips[1].pin(PIN)
        pin.drive_low()
        pin.drive_high()
        assert ear.next() is PRESS
    assert states.empty()


def test_a_dead_chip_lets_its_handle_go_all_the_same() -> None:
    class DeadChip:
        """As gpiozero's lgpio factory: closing resets each pin first, and that raises."""

        def __init__(self) -> None:
            self.pins = {PIN: "dead"}
            self.is_open = True

        def close(self) -> None:
            if self.pins:
                raise OSError("unexpected error")
            self.is_open = False

    class Device:
        is_closed = False

        def close(self) -> None:
            if chip.is_open:
                raise OSError("unexpected error")
            self.is_closed = True

    chip, device = DeadChip(), Device()
    close_device(device, chip)
    assert not chip.is_open
    assert device.is_closed
    close_device(None, chip)


def test_a_pin_whose_edges_never_come_is_a_button_all_the_same(
    ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    factory = use_factory(monkeypatch, MockFactory(pin_class=PinWithFaults))
    pin = factory.pin(PIN)
    with open_panel("lgpio", PIN, ear):
        for _ in range(2):
            pin._state = False  # pushed, and nobody was told
            while not pin.reads.empty():
                pin.reads.get()
            pin.wait_for_reads(broken=False)
            pin._state = True
            assert ear.next() is PRESS


class PulsesOfADeadChip(MockPWMPin):  # type: ignore[misc]
    """As gpiozero's lgpio pin: once the chip is gone its pulses can neither change nor stop."""

    is_dead = False

    def _set_frequency(self, value: float | None) -> None:
        if self.is_dead:
            raise TypeError("unsupported operand type(s) for &: 'NoneType' and 'int'")
        super()._set_frequency(value)

    def _call_when_changed(self, *args: object) -> None:
        if self.is_dead:
            raise TypeError("unsupported operand type(s) for &: 'NoneType' and 'int'")
        super()._call_when_changed(*args)


def test_a_late_edge_of_a_dead_chip_leaves_the_thread_of_edges_alive() -> None:
    factory = MockFactory(pin_class=forgiving(PulsesOfADeadChip))
    pin = factory.pin(17)
    PulsesOfADeadChip.is_dead = True
    try:
        pin._call_when_changed(0.0, 1)
    finally:
        PulsesOfADeadChip.is_dead = False


def test_a_lamp_on_a_dead_chip_can_be_closed_and_leaves_no_traceback() -> None:
    factory = MockFactory(pin_class=forgiving(PulsesOfADeadChip))
    lamp = RGBLED(22, 23, 24, pin_factory=factory)
    PulsesOfADeadChip.is_dead = True
    try:
        with pytest.raises(TypeError):
            factory.pin(22).frequency = 50
        close_device(lamp, factory)
        assert lamp.closed
    finally:
        PulsesOfADeadChip.is_dead = False


def test_the_chip_of_the_header_is_found_under_another_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    labels = {0: "raspberrypi-exp-gpio", 1: "pinctrl-bcm2711"}
    for number in labels:
        (tmp_path / f"gpiochip{number}").touch()
    (tmp_path / "gpiochip-notes").touch()
    closed: list[int] = []
    module = types.ModuleType("lgpio")
    module.gpiochip_open = lambda number: number  # type: ignore[attr-defined]
    module.gpio_get_chip_info = lambda handle: [0, 54, "", labels[handle]]  # type: ignore[attr-defined]
    module.gpiochip_close = closed.append  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "lgpio", module)
    assert header_chip(tmp_path) == 1
    assert closed == [0, 1]
    labels[1] = "another"
    assert header_chip(tmp_path) is None


@pytest.mark.parametrize(("header", "opened"), [(1, 1), (None, "usual")])
def test_the_header_is_used_although_another_chip_has_its_number(
    header: int | None, opened: int | str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Factory(MockFactory):  # type: ignore[misc]
        def __init__(self, chip: int | str = "usual") -> None:
            super().__init__()
            self.chip = chip

    monkeypatch.setattr("importlib.util.find_spec", lambda name: name)
    monkeypatch.setenv("LG_WD", "set")
    module = types.ModuleType("gpiozero.pins.lgpio")
    module.LGPIOFactory = Factory  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "gpiozero.pins.lgpio", module)
    monkeypatch.setattr("hardware.pins.header_chip", lambda: header)
    assert make_factory("lgpio").chip == opened


def test_a_listener_of_states_that_fails_costs_one_line(
    ear: Ear, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(hardware.button, "CHECK_EVERY_S", 0.001)
    monkeypatch.setattr(hardware.button, "REOPEN_EVERY_S", 0.001)
    factory = use_factory(monkeypatch, MockFactory(pin_class=PinWithFaults))
    pin = factory.pin(PIN)

    def fall(state: str) -> None:
        raise RuntimeError(state)

    with open_panel("lgpio", PIN, ear, on_state=fall) as panel:
        pin.is_broken = True
        pin.wait_for_reads(broken=True)
        panel.press()
        assert ear.next() is PRESS
    assert "the handler of the state 'lost' failed" in caplog.text
    caplog.clear()


def test_a_chip_that_comes_late_is_waited_for(
    ear: Ear, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(hardware.button, "REOPEN_EVERY_S", 0.001)
    chips: list[MockFactory] = []

    def make(_name: str) -> MockFactory:
        if not chips:
            raise OSError("can not open gpiochip")
        return chips[0]

    monkeypatch.setattr(hardware.button, "make_factory", make)
    states: queue.SimpleQueue[str] = queue.SimpleQueue()
    with open_panel("auto", PIN, ear, on_state=states.put, may_be_late=True) as panel:
        assert (panel.state, panel.has_pin) == ("lost", True)
        panel.press()
        assert ear.next() is PRESS, "the page's button works meanwhile"
        assert states.get(timeout=PATIENCE_S) == "lost"
        chips.append(MockFactory())
        assert states.get(timeout=PATIENCE_S) == "ok"
        chips[0].pin(PIN).drive_low()
        chips[0].pin(PIN).drive_high()
        assert ear.next() is PRESS
    assert "GPIO17 is not there yet: can not open gpiochip" in caplog.text


def test_a_pin_library_that_is_not_installed_is_not_waited_for(
    ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    def make(name: str) -> MockFactory:
        if name == "mock":
            return MockFactory()
        raise ModuleNotFoundError("lgpio is not installed")

    monkeypatch.setattr(hardware.button, "make_factory", make)
    with open_panel("auto", PIN, ear, may_be_late=True) as panel:
        assert panel.state == "mock"
