"""A whole table on mock pins: buttons, lamp and buzzer plugged together as `play` does it."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from gpiozero.pins.mock import MockFactory, MockPin, MockPWMPin

import hardware.button
import hardware.lamp
from companion.app import App, build
from companion.config import Config
from companion.engine import COLOURED, Phase, Roll
from companion.errors import ConfigError
from companion.messages.announcements import Announcement
from companion.session.ports import Topic
from companion.session.session import Rejected, Session
from hardware.pins import make_factory
from tests.hardware.pin_fakes import use_factory

BUTTON, AGAIN, RED, GREEN, BLUE, BUZZER = 17, 27, 22, 23, 24, 18
PATIENCE_S = 20.0


class Wired:
    """The table, what it announces, and its pins."""

    def __init__(self, app: App, pins: MockFactory) -> None:
        self.app, self.session, self.pins = app, app.session, pins
        self._told: queue.SimpleQueue[Announcement] = queue.SimpleQueue()
        self.session.subscribe(Topic.ANNOUNCEMENT, self._told.put)

    def next(self) -> str:
        said = self._told.get(timeout=PATIENCE_S)
        return f"{said.kind}: {self.session.phrases.tell(*said.lines)}"

    def all_told(self) -> list[str]:
        """What was announced since the last call."""
        told = []
        while not self._told.empty():
            told.append(self.next())
        return told

    @property
    def phase(self) -> Phase:
        game = self.session.view().table.game
        assert game is not None
        return game.state.phase

    def pin(self, number: int) -> MockPin:
        return self.pins.pin(number)

    def push(self, number: int, *, bounces: int = 0) -> None:
        for _ in range(bounces):
            self.pin(number).drive_low()
            self.pin(number).drive_high()
        self.pin(number).drive_low()
        self.pin(number).drive_high()

    def until(self, test: Callable[[], bool]) -> bool:
        """Whether a test comes true; asked each time something can have changed."""
        give_up_s = time.monotonic() + PATIENCE_S
        while not test() and time.monotonic() < give_up_s:
            self.session.wait(self.session.view().version, 0.01)
        return test()


@pytest.fixture
def config(tmp_path: Path) -> Config:
    config = Config(data_dir=tmp_path)
    return replace(
        config,
        camera=replace(config.camera, source="none"),
        panel=replace(config.panel, factory="mock", repeat_pin=AGAIN, hold_s=0.3),
        lamp=replace(config.lamp, red_pin=RED, green_pin=GREEN, blue_pin=BLUE),
        buzzer=replace(config.buzzer, pin=BUZZER),
        web=replace(config.web, host="127.0.0.1", port=0),
        sound=replace(config.sound, enabled=False),
    )


@pytest.fixture
def wired(config: Config, monkeypatch: pytest.MonkeyPatch) -> Iterator[Wired]:
    pins = use_factory(monkeypatch, make_factory("mock"))
    app = build(config)
    wired = Wired(app, pins)
    for name in ("Ada", "Ben"):
        app.session.join(name)
    assert app.session.start(first=0) is None
    assert wired.next() == "turn: Ada throws next."
    yield wired
    app.close()


def test_a_turn_by_the_buttons(wired: Wired) -> None:
    wired.push(BUTTON)
    assert wired.next() == "refused: There is no camera. Enter the dice by hand."
    roll = Roll.of((3, 4), dict.fromkeys(COLOURED, 2))
    assert wired.session.typed_roll(roll) is None
    said = wired.next()
    assert said.startswith("roll: White 7.")
    wired.push(AGAIN)
    assert wired.next() == said
    wired.push(BUTTON, bounces=20)
    assert wired.next() == "refused: Waiting for Ada and Ben."
    wired.pin(BUTTON).drive_low()  # and held, until those who have not answered pass
    assert wired.until(lambda: wired.phase is Phase.ACTION2)
    wired.pin(BUTTON).drive_high()
    assert wired.next() == "retracted: "
    assert wired.next() == "passed: No answer, so they pass: Ada and Ben."


@pytest.fixture
def presses(monkeypatch: pytest.MonkeyPatch) -> list[None]:
    """Grows by one with every press that reaches the session."""
    found: list[None] = []
    press = Session.press

    def counted(session: Session) -> Rejected | None:
        answer = press(session)
        found.append(None)
        return answer

    monkeypatch.setattr(Session, "press", counted)
    return found


def test_two_presses_within_a_second_count_once(presses: list[None], wired: Wired) -> None:
    def push_twice() -> list[str]:
        """Two presses of 0.1 s; what is announced."""
        for _ in range(2):
            known = len(presses)
            wired.push(BUTTON)
            assert wired.until(lambda n=known: len(presses) == n + 1)  # type: ignore[misc]
        return wired.all_told()

    def pass_for_all() -> None:
        assert wired.session.close_action() is None
        wired.all_told()

    assert push_twice() == ["refused: There is no camera. Enter the dice by hand."]
    assert wired.session.typed_roll(Roll.of((3, 4), dict.fromkeys(COLOURED, 2))) is None
    wired.all_told()
    assert wired.phase is Phase.ACTION1
    assert push_twice() == ["refused: Waiting for Ada and Ben."]
    pass_for_all()
    assert wired.phase is Phase.ACTION2
    assert push_twice() == ["refused: Waiting for Ada."]
    pass_for_all()
    assert wired.session.end() is None
    wired.all_told()
    assert wired.phase is Phase.OVER
    assert [told.partition(":")[0] for told in push_twice()] == ["refused"]


def test_the_lamp_and_the_buzzer_follow(wired: Wired) -> None:
    assert wired.until(lambda: wired.pin(GREEN).state > wired.pin(RED).state > 0.0), "ready"
    wired.pin(BUZZER).clear_states()
    roll = Roll.of((3, 4), dict.fromkeys(COLOURED, 2))
    assert wired.session.typed_roll(roll) is None
    assert wired.until(lambda: wired.pin(BLUE).state == 1.0), "marks are open"
    assert wired.pin(RED).state == 0.0
    assert wired.until(lambda: any(state.state > 0.0 for state in wired.pin(BUZZER).states))


def test_the_lamp_is_reopened_with_the_buttons_chip(
    wired: Wired, monkeypatch: pytest.MonkeyPatch
) -> None:
    renewed = threading.Event()
    monkeypatch.setattr(hardware.lamp.Lamp, "renew", lambda lamp: renewed.set())
    assert wired.until(lambda: wired.pin(GREEN).state > 0.0), "ready"
    wired.session.part_is("button", "lost")
    assert wired.until(lambda: wired.pin(RED).state == 0.0 and wired.pin(BLUE).state == 0.0)
    assert not renewed.is_set()
    wired.session.part_is("button", None)
    assert renewed.wait(PATIENCE_S)


class FalliblePin(MockPWMPin):  # type: ignore[misc]
    """A pin whose chip can die."""

    is_broken = False

    def _get_state(self) -> float:
        if self.is_broken:
            raise OSError("the chip is gone")
        return float(super()._get_state())


def test_a_lost_second_button_is_reported_like_the_first(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    pins = use_factory(monkeypatch, MockFactory(pin_class=FalliblePin))
    monkeypatch.setattr(hardware.button, "CHECK_EVERY_S", 0.001)
    monkeypatch.setattr(hardware.button, "REOPEN_EVERY_S", 0.001)
    wired = Wired(build(replace(config, panel=replace(config.panel, factory="lgpio"))), pins)
    try:
        pin = wired.pin(AGAIN)
        pin.is_broken = True
        assert wired.next() == "fault: The second button isn’t responding."
        assert wired.session.view().faults == (("repeat", "lost"),)
        pin.is_broken = False
        assert wired.next() == "mended: The second button is working again."
        assert wired.session.view().faults == ()
    finally:
        wired.app.close()


def test_two_parts_on_one_pin_are_refused(config: Config) -> None:
    twice = replace(config, buzzer=replace(config.buzzer, pin=BUTTON))
    with pytest.raises(ConfigError, match="pin of its own"):
        build(twice)


@pytest.mark.parametrize(
    ("factory", "why"), [("none", "panel.factory is none"), ("auto", "no pins were found")]
)
def test_parts_that_need_pins_are_named_where_there_are_none(
    factory: str, why: str, config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hardware.button.make_factory", without_lgpio)
    app = build(replace(config, panel=replace(config.panel, factory=factory)))
    app.close()
    (note,) = [note for note in app.notes if "not used" in note]
    assert note.startswith("panel.repeat_pin, lamp.red_pin, lamp.green_pin, lamp.blue_pin, buzzer.")
    assert note.endswith(f": not used, because {why}")
    assert not any(note.startswith(("second button", "lamp:", "buzzer:")) for note in app.notes)


def without_lgpio(name: str) -> MockFactory:
    if name == "lgpio":
        raise ModuleNotFoundError("lgpio is not installed")
    return make_factory(name)
