"""The button through gpiozero's mock pins: scripted edges in, gestures out, no thread lost."""

from __future__ import annotations

import logging
import os
import queue
import sys
import threading
from pathlib import Path

import pytest
from gpiozero.pins.mock import MockFactory, MockPin

from companion.errors import PinsUnavailable
from hardware import gesture
from hardware.button import Panel, open_panel
from hardware.gesture import Gesture, GestureConfig
from tests.hardware.pin_fakes import PATIENCE_S, PIN, Clock, Ear, PinWithFaults, push, use_factory

PRESS, HOLD = Gesture.PRESS, Gesture.HOLD


def test_a_push_on_the_pin_is_one_press(pins: MockFactory, ear: Ear) -> None:
    with open_panel("mock", PIN, ear) as panel:
        assert panel.state == "mock"
        pins.pin(PIN).drive_low()
        assert ear.is_silent, "it may still become a hold"
        pins.pin(PIN).drive_high()
        assert ear.next() is PRESS
    assert ear.is_silent


def test_bounces_while_the_game_is_busy_are_presses_by_their_own_times(
    pins: MockFactory, ear: Ear
) -> None:
    clock = Clock()
    with open_panel("mock", PIN, ear, clock=clock) as panel:
        pin = pins.pin(PIN)
        ear.let_go_on.clear()
        panel.press()
        assert ear.next() is PRESS  # and the thread now waits in the callback
        for _ in range(2):
            clock.now_s += 1.0
            for n in range(20):
                (pin.drive_high if n % 2 else pin.drive_low)()
                clock.now_s += 0.0005
            push(pin, clock)
        clock.now_s += 1.0
        push(pin, clock, kept_s=3.0)
        ear.let_go_on.set()
        assert [ear.next() for _ in range(3)] == [PRESS, PRESS, HOLD]
    assert ear.is_silent


def test_a_hold_is_reported_while_the_button_is_still_down(pins: MockFactory, ear: Ear) -> None:
    config = GestureConfig(debounce_s=0.005, hold_s=0.02)
    clock = Clock()
    with open_panel("mock", PIN, ear, config=config, clock=clock) as panel:
        pins.pin(PIN).drive_low()
        assert ear.next() is HOLD
        clock.now_s += 1.0
        pins.pin(PIN).drive_high()
        clock.now_s += 1.0
        panel.press()
        assert ear.next() is PRESS
    assert ear.is_silent


def test_the_on_screen_button_moves_the_mock_pin(pins: MockFactory, ear: Ear) -> None:
    with open_panel("mock", PIN, ear) as panel:
        pin = pins.pin(PIN)
        pin.clear_states()
        panel.press()
        assert ear.next() is PRESS
        assert [state.state for state in pin.states] == [True, False, True]


def test_the_on_screen_button_works_without_any_pins(ear: Ear) -> None:
    with open_panel("none", PIN, ear) as panel:
        assert panel.state == "none"
        panel.press()
        assert ear.next() is PRESS
    assert ear.is_silent


def test_a_callback_that_raises_costs_one_line_and_not_the_button(
    ear: Ear, caplog: pytest.LogCaptureFixture
) -> None:
    with open_panel("none", PIN, ear) as panel:
        ear.raises = RuntimeError("the table fell over")
        panel.press()
        assert ear.next() is PRESS
        panel.press()
        assert ear.next() is PRESS
    failures = [record for record in caplog.records if record.levelno == logging.ERROR]
    assert failures
    assert "the button goes on" in failures[0].getMessage()
    caplog.clear()


def test_a_closed_panel_is_silent_and_releases_its_pin(pins: MockFactory, ear: Ear) -> None:
    panel = open_panel("mock", PIN, ear)
    panel.close()
    panel.close()
    pins.pin(PIN).drive_low()
    pins.pin(PIN).drive_high()
    with pytest.raises(PinsUnavailable, match="expected an open panel"):
        panel.press()
    assert "button" not in {thread.name for thread in threading.enumerate()}
    with open_panel("mock", PIN, ear) as again:
        again.press()
        assert ear.next() is PRESS
    assert ear.is_silent


def test_a_panel_can_be_closed_from_its_own_callback() -> None:
    panels: list[Panel] = []
    done = threading.Event()

    def shut(_told: Gesture, _pushed_for_s: float) -> None:
        panels[0].close()
        done.set()

    panels.append(open_panel("none", PIN, shut))
    panels[0].press()
    assert done.wait(PATIENCE_S)


def test_a_dropped_edge_does_not_turn_a_press_into_a_hold(
    ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = GestureConfig(debounce_s=0.005, hold_s=1.0)
    factory = use_factory(monkeypatch, MockFactory(pin_class=PinWithFaults))
    pin = factory.pin(PIN)
    with open_panel("lgpio", PIN, ear, config=config):
        pin.drive_low()
        pin._state = True  # let go, and nobody was told
        assert ear.next() is PRESS


def test_a_waiting_button_has_one_thread(ear: Ear) -> None:
    before = set(threading.enumerate())
    with open_panel("mock", PIN, ear):
        assert [each.name for each in set(threading.enumerate()) - before] == ["button"]


class PinThatIsDown(MockPin):  # type: ignore[misc]
    """A pin somebody leans on while the program starts."""

    def _set_pull(self, value: str) -> None:
        self._pull = value
        self._state = False


def test_a_button_down_at_the_start_counts_after_its_release(
    ear: Ear, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    factory = use_factory(monkeypatch, MockFactory(pin_class=PinThatIsDown))
    pin = factory.pin(PIN)
    with open_panel("mock", PIN, ear, clock=clock) as panel:
        assert panel.state == "lost"
        clock.now_s += 60
        pin.drive_high()
        clock.now_s += 60
        push(pin, clock)
        assert ear.next() is PRESS
    assert ear.is_silent
    assert "it stays pressed; ignored until" in caplog.text


def test_a_stuck_contact_is_reported_and_the_page_can_press(
    pins: MockFactory, ear: Ear, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    states: queue.SimpleQueue[str] = queue.SimpleQueue()
    pin = pins.pin(PIN)
    with open_panel("lgpio", PIN, ear, clock=clock, on_state=states.put) as panel:
        pin.drive_low()
        clock.now_s += 2
        assert ear.next() is HOLD
        clock.now_s += gesture.STUCK_S
        assert states.get(timeout=PATIENCE_S) == "lost"
        panel.press()
        assert ear.next() is PRESS, "the page's button works meanwhile"
        pin.drive_high()
        pin.drive_low()
        clock.now_s += 5
        pin.drive_high()
        clock.now_s += 2 * gesture.STUCK_S
        assert states.get(timeout=PATIENCE_S) == "ok"
        push(pin, clock)
        assert ear.next() is PRESS
    assert ear.is_silent
    assert "it stays pressed; ignored until it has been released for 10 s" in caplog.text


def test_a_pin_that_is_taken_is_refused_in_one_line(pins: MockFactory, ear: Ear) -> None:
    with (
        open_panel("mock", PIN, ear),
        pytest.raises(PinsUnavailable, match=r"^mock pins: cannot open GPIO17: .*in use"),
    ):
        open_panel("mock", PIN, ear)


def test_without_lgpio_auto_uses_mock_pins_and_gives_the_reason(
    ear: Ear, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "lgpio", None)
    with open_panel("auto", PIN, ear) as panel:
        assert panel.state == "mock"
        assert panel.note is not None
        assert "apt install python3-lgpio" in panel.note
        assert "\n" not in panel.note
        panel.press()
        assert ear.next() is PRESS
    with pytest.raises(PinsUnavailable, match=r"^lgpio pins: cannot open GPIO17: lgpio is not"):
        open_panel("lgpio", PIN, ear)


@pytest.mark.parametrize("variable", ["RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR", None])
def test_lgpio_is_given_a_directory_for_its_pipes_before_it_is_imported(
    variable: str | None, ear: Ear, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "lgpio.py").write_text("raise OSError('this chip does not exist')\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    for module in ("lgpio", "gpiozero.pins.lgpio"):
        monkeypatch.delitem(sys.modules, module, raising=False)
    for name in ("RUNTIME_DIRECTORY", "XDG_RUNTIME_DIR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LG_WD", "")
    if variable is not None:
        monkeypatch.setenv(variable, str(tmp_path))
    with pytest.raises(PinsUnavailable, match=r"GPIO17: this chip does not exist$"):
        open_panel("lgpio", PIN, ear)
    place = Path(os.environ["LG_WD"])
    assert place.is_dir()
    assert (place == tmp_path) is (variable is not None)
