"""The machine's switch: who may use it, what is said, and what happens when logind refuses."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace

import pytest
from flask import Flask

from companion.adapters.gpio import open_button
from companion.config import Config, PanelConfig
from companion.engine import Phase
from companion.errors import ServiceError
from companion.service.power import Power, PowerStep
from hardware.gesture import Gesture
from tests.session.fakes import Stage
from tests.web.stand_in import StandInTray
from web import create_app

SERVICE = {"NOTIFY_SOCKET": "/run/systemd/notify"}
PATIENCE_S = 10.0


class Machine:
    """Answers as busctl and systemctl do."""

    def __init__(self) -> None:
        self.answer, self.refuses = 's "yes"\n', False
        self.switched: list[list[str]] = []

    def ask(self, command: Sequence[str]) -> str:
        assert command[-1] == "CanPowerOff"
        return self.answer

    def run(self, command: Sequence[str]) -> str:
        if self.refuses:
            raise ServiceError("power: Access denied")
        self.switched.append(list(command))
        return ""


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def open_power(machine: Machine, stage: Stage) -> Iterator[Callable[..., Power]]:
    """Opens the switch and waits for the first answer."""
    opened: list[Power] = []

    def open_it(environ: dict[str, str] = SERVICE) -> Power:
        power = Power(
            lambda step: stage.session.part_is("machine", step),
            ask=machine.ask,
            run=machine.run,
            environ=environ,
        )
        opened.append(power)
        power.start()
        give_up_s = time.monotonic() + (PATIENCE_S if environ else 0.0)
        while machine.answer == 's "yes"\n' and not power.is_offered:
            if time.monotonic() > give_up_s:
                break
        return power

    yield open_it
    for power in opened:
        power.close()


def test_a_service_that_may_switches_the_machine_off_and_says_so(
    open_power: Callable[..., Power], machine: Machine, stage: Stage
) -> None:
    open_power().take(PowerStep.OFF)
    assert machine.switched == [["systemctl", "--no-ask-password", "poweroff"]]
    assert stage.told[-1].text.startswith("The table is switching off.")
    machine.refuses = True
    with pytest.raises(ServiceError, match="denied"):
        open_power().take(PowerStep.RESTART)
    assert stage.told[-1].text == "The table stays on."


@pytest.mark.parametrize(("environ", "answer"), [({}, 's "yes"\n'), (SERVICE, 's "challenge"\n')])
def test_it_is_offered_only_where_it_works(
    environ: dict[str, str], answer: str, open_power: Callable[..., Power], machine: Machine
) -> None:
    machine.answer = answer
    power = open_power(environ)
    assert not power.is_offered
    with pytest.raises(ServiceError, match="the machine's service"):
        power.take(PowerStep.OFF)
    assert machine.switched == []


def test_only_the_host_may_switch_it(
    open_power: Callable[..., Power], machine: Machine, stage: Stage
) -> None:
    def status(app: Flask, device: str, step: str) -> int:
        client = app.test_client()
        client.environ_base["REMOTE_ADDR"] = device
        client.get("/")
        return client.post("/api/power", json={"step": step}).status_code

    app = create_app(stage.session, tray=StandInTray(), power=open_power())
    assert app.test_client().get("/api/state").get_json()["table"]["can_power"] is True
    assert status(app, "192.168.1.66", "off") == 403
    assert status(app, "127.0.0.1", "explode") == 400
    assert machine.switched == []
    assert status(app, "127.0.0.1", "restart") == 200
    assert machine.switched == [["systemctl", "--no-ask-password", "reboot"]]
    machine.refuses = True
    assert status(app, "127.0.0.1", "off") == 503
    without = create_app(stage.session, tray=StandInTray())
    assert without.test_client().get("/api/state").get_json()["table"]["can_power"] is False
    assert status(without, "127.0.0.1", "off") == 409


def test_a_hold_is_as_long_as_it_was_where_a_long_one_switches_off(
    open_power: Callable[..., Power], machine: Machine, two: Stage
) -> None:
    panel = PanelConfig(factory="mock", hold_s=0.05, power_off_s=20.0)
    two.roll(3, 4)
    two.time.pass_s(5.0)
    with ExitStack() as stack:
        opened = open_button(replace(Config(), panel=panel), two.session, stack, [], open_power())
        assert opened._wire is not None
        pin = opened._wire._opened.device.pin
        pin.drive_low()
        time.sleep(0.1)
        pin.drive_high()
        until_s = time.monotonic() + PATIENCE_S
        while two.state.phase is Phase.ACTION1:
            assert time.monotonic() < until_s
            time.sleep(0.01)
    assert machine.switched == []


def test_a_long_hold_switches_off_where_that_is_set(
    open_power: Callable[..., Power],
    machine: Machine,
    stage: Stage,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    config = Config()
    config = replace(config, panel=replace(config.panel, factory="none", power_off_s=6.0))
    with ExitStack() as stack:
        notes: list[str] = []
        open_button(config, stage.session, stack, notes)
        assert notes[0].startswith("panel.power_off_s: not used")
        panel = open_button(config, stage.session, stack, [], open_power())
        panel._on_gesture(Gesture.HOLD, 2.0)
        assert machine.switched == []
        panel._on_gesture(Gesture.LONG_HOLD, 6.0)
        assert [command[-1] for command in machine.switched] == ["poweroff"]
