"""A Raspberry Pi whose chip of pins comes after the table has started."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from pathlib import Path

import pytest
from gpiozero.pins.mock import MockFactory, MockPWMPin

import hardware.button
import hardware.buzzer
import hardware.lamp
from companion.app import build
from companion.config import Config
from companion.service import board

BUTTON, AGAIN, LAMP, BUZZER = 17, 27, 22, 18
PATIENCE_S = 20.0


@pytest.mark.parametrize("is_service", [True, False])
def test_button_lamp_and_buzzer_are_taken_when_they_come(
    is_service: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `auto` on a Pi, and with the factory named in a service anywhere."""
    is_there = threading.Event()
    made: list[MockFactory] = []

    def make(_name: str) -> MockFactory:
        if not is_there.is_set():
            raise OSError("can not open gpiochip")
        made.append(MockFactory(pin_class=MockPWMPin))
        return made[-1]

    for room in (hardware.button, hardware.lamp, hardware.buzzer):
        monkeypatch.setattr(room, "make_factory", make)
    for name in ("button.REOPEN_EVERY_S", "lamp.REOPEN_S"):
        monkeypatch.setattr(f"hardware.{name}", 0.01)
    start_as(is_service, tmp_path, monkeypatch)
    config = Config(data_dir=tmp_path)
    config = replace(
        config,
        camera=replace(config.camera, source="none"),
        panel=replace(config.panel, factory="lgpio" if is_service else "auto", repeat_pin=AGAIN),
        lamp=replace(config.lamp, led_pin=LAMP),
        buzzer=replace(config.buzzer, pin=BUZZER),
        web=replace(config.web, host="127.0.0.1", port=0),
        sound=replace(config.sound, enabled=False),
    )
    app = build(config)
    try:
        assert "button: GPIO17 is not there yet; the table waits for it" in app.notes
        assert app.session.faults == {"button": "lost", "repeat": "lost"}
        is_there.set()
        wanted = {f"GPIO{pin}" for pin in (BUTTON, AGAIN, LAMP, BUZZER)}
        give_up_s = time.monotonic() + PATIENCE_S
        while app.session.faults or not wanted <= opened(made):
            assert time.monotonic() < give_up_s, app.session.faults
            time.sleep(0.01)
        assert app.panel.state == "ok"
    finally:
        app.close()


@pytest.mark.parametrize("is_service", [True, False])
def test_a_pin_that_another_program_holds_costs_no_game(
    is_service: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither with `auto` on a Pi nor with the factory named in a service."""
    is_free = threading.Event()
    made: list[MockFactory] = []

    def make(_name: str) -> MockFactory:
        made.append(MockFactory(pin_class=MockPWMPin))
        return made[-1]

    def make_busy(name: str) -> MockFactory:
        if not is_free.is_set():
            raise OSError("GPIO busy")
        return make(name)

    monkeypatch.setattr(hardware.button, "make_factory", make)
    monkeypatch.setattr(hardware.lamp, "make_factory", make_busy)
    monkeypatch.setattr(hardware.lamp, "REOPEN_S", 0.01)
    start_as(is_service, tmp_path, monkeypatch)
    config = Config(data_dir=tmp_path)
    config = replace(
        config,
        camera=replace(config.camera, source="none"),
        panel=replace(config.panel, factory="lgpio" if is_service else "auto"),
        lamp=replace(config.lamp, led_pin=LAMP),
        web=replace(config.web, host="127.0.0.1", port=0),
        sound=replace(config.sound, enabled=False),
    )
    app = build(config)
    try:
        assert app.session.faults == {}
        is_free.set()
        give_up_s = time.monotonic() + PATIENCE_S
        while f"GPIO{LAMP}" not in opened(made):
            assert time.monotonic() < give_up_s
            time.sleep(0.01)
    finally:
        app.close()


def start_as(is_service: bool, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a service of any machine, or by hand on a Raspberry Pi."""
    if is_service:
        monkeypatch.setenv("NOTIFY_SOCKET", "/run/systemd/notify")
        return
    (folder / "model").write_bytes(b"Raspberry Pi 5 Model B Rev 1.0\0")
    monkeypatch.setattr(board, "MODEL_FILE", folder / "model")


def opened(chips: list[MockFactory]) -> set[str]:
    return {pin.info.name for chip in chips for pin in list(chip.pins.values())}
