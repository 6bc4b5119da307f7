"""The lamp and the buzzer on mock pins: patterns turned by hand, dead chips, steady light."""

from __future__ import annotations

import logging
import queue
import threading

import pytest
from gpiozero.pins.mock import MockFactory

from companion.adapters.lamp import LampState
from companion.errors import PinsUnavailable
from hardware.buzzer import TUNES, Buzzer, open_buzzer
from hardware.lamp import PATTERNS, SEEN_AFTER_S, Colour, GpioLight, Lamp, LampPins, open_lamp
from tests.hardware.pin_fakes import PATIENCE_S, Clock

RGB = LampPins(red_pin=5, green_pin=6, blue_pin=13)


class Shining:
    """A light that remembers, and breaks when told."""

    def __init__(self) -> None:
        self.shone: list[tuple[Colour, float]] = []
        self.is_broken = False
        self.opened = 0
        self.closed = 0

    def __call__(self) -> Shining:
        self.opened += 1
        if self.is_broken:
            raise OSError("no such chip")
        return self

    def shine(self, colour: Colour, level: float) -> None:
        if self.is_broken:
            raise OSError("the chip is gone")
        self.shone.append((colour, level))

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def lamp() -> tuple[Lamp, Shining, Clock]:
    light, clock = Shining(), Clock()
    return Lamp(light, clock=clock), light, clock


def test_every_state_has_a_pattern_and_no_two_blink_alike() -> None:
    assert set(PATTERNS) == set(LampState)
    blinking = [pattern.steps for name, pattern in PATTERNS.items() if name != "idle"]
    assert len(set(blinking)) == len(blinking)
    on_and_off = [tuple((level >= 0.5, lasts_s) for level, lasts_s in steps) for steps in blinking]
    assert len(set(on_and_off)) == len(on_and_off), "on a plain LED neither"


def test_while_the_reader_makes_up_its_mind_the_light_stands_still() -> None:
    assert len(PATTERNS["reading"].steps) == 1
    for name, pattern in PATTERNS.items():
        steady_s = pattern.steps[0][1]
        assert name == "over" or steady_s >= 0.9, "time for the reader between two blinks"


def test_a_pattern_is_played_over_and_over(lamp: tuple[Lamp, Shining, Clock]) -> None:
    shown, light, clock = lamp
    shown.show("marks")
    waits = []
    for _ in range(5):
        waits.append(shown.turn())
        clock.now_s += waits[-1]
    assert waits == pytest.approx([1.2, 0.6, 1.2, 0.6, 1.2])
    assert [level for _, level in light.shone] == [1.0, 0.0, 1.0, 0.0, 1.0]
    shown.show("marks")
    assert shown.turn() == pytest.approx(0.6), "told the same again, it goes on undisturbed"


def test_another_pattern_begins_at_once(lamp: tuple[Lamp, Shining, Clock]) -> None:
    shown, light, clock = lamp
    shown.show("marks")
    shown.turn()
    clock.now_s += 0.3
    shown.show("reading")
    shown.turn()
    assert light.shone[-1] == (PATTERNS["reading"].colour, 1.0)


def test_frames_record_the_steady_light_they_were_taken_in(
    lamp: tuple[Lamp, Shining, Clock],
) -> None:
    shown, _, clock = lamp
    shown.show("marks")
    shown.turn()
    began_s = clock.now_s
    assert shown.light_at(began_s + 0.05) is None, "exposed before the change, perhaps"
    assert shown.light_at(began_s + SEEN_AFTER_S + 0.01) == "marks"
    clock.now_s += 1.2
    shown.turn()  # dark now
    assert shown.light_at(clock.now_s + 0.3) is None
    assert shown.light_at(clock.now_s - 0.1) == "marks", "a frame from before"
    clock.now_s += 0.6
    shown.turn()
    assert shown.light_at(clock.now_s + 0.5) == "marks"
    shown.show("reading")
    shown.turn()
    assert shown.light_at(clock.now_s + 60.0) == "reading"


def test_a_dead_chip_is_reported_once_and_retried(
    lamp: tuple[Lamp, Shining, Clock], caplog: pytest.LogCaptureFixture
) -> None:
    shown, light, clock = lamp
    light.is_broken = True
    shown.show("ready")
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            assert shown.turn() > 0.0
            clock.now_s += 2.0
        light.is_broken = False
        for _ in range(3):
            clock.now_s += shown.turn()
    assert [record.getMessage() for record in caplog.records] == [
        "lamp: cannot be lit: the chip is gone",
        "lamp: working again",
    ]
    assert [level for _, level in light.shone] == [0.3, 1.0, 0.3]


def test_pins_are_reopened_after_their_chip_returns(
    lamp: tuple[Lamp, Shining, Clock],
) -> None:
    shown, light, clock = lamp
    shown.show("reading")
    shown.turn()
    clock.now_s += 0.5
    shown.renew()
    shown.turn()
    assert light.shone == [(PATTERNS["reading"].colour, 1.0)] * 2
    assert light.closed == 1


def test_an_rgb_led_is_dimmed_by_pulse_width(pins: MockFactory) -> None:
    light = GpioLight(LampPins(red_pin=5, green_pin=6, blue_pin=13, brightness=0.5), pins)
    light.shine((1.0, 0.5, 0.0), 1.0)
    assert [round(pins.pin(n).state, 2) for n in (5, 6, 13)] == [0.5, 0.25, 0.0]
    light.close()


def test_a_common_anode_shines_when_its_pins_are_low(pins: MockFactory) -> None:
    wiring = LampPins(red_pin=5, green_pin=6, blue_pin=13, dimmed=False, common_anode=True)
    light = GpioLight(wiring, pins)
    light.shine((1.0, 0.2, 0.0), 1.0)
    assert [bool(pins.pin(n).state) for n in (5, 6, 13)] == [False, True, True]
    light.close()


@pytest.mark.parametrize(("is_dimmed", "states"), [(True, [0.3, 1.0]), (False, [0, 1])])
def test_a_single_led(pins: MockFactory, is_dimmed: bool, states: list[float]) -> None:
    light = GpioLight(LampPins(led_pin=12, dimmed=is_dimmed), pins)
    seen = []
    for level, _ in PATTERNS["ready"].steps:
        light.shine(PATTERNS["ready"].colour, level)
        seen.append(round(float(pins.pin(12).state), 2))
    assert seen == states
    light.close()


@pytest.mark.parametrize("named", ["red", "red green", "led red green blue"])
def test_a_lamp_that_is_half_wired_is_refused_in_one_line(named: str) -> None:
    with pytest.raises(PinsUnavailable, match="expected led_pin alone"):
        LampPins(**{f"{name}_pin": n for n, name in enumerate(named.split())})


def test_the_thread_shines_until_it_is_closed(pins: MockFactory) -> None:
    lamp = open_lamp("mock", RGB)
    lamp.start()
    green = pins.pin(6)
    lit = threading.Event()
    change = green._change_state
    green._change_state = lambda value: (change(value), value > 0.5 and lit.set())[0]
    lamp.show("readable")
    assert lit.wait(PATIENCE_S)
    lamp.close()
    lamp.close()
    assert "lamp" not in {thread.name for thread in threading.enumerate()}


class Sounding:
    """A sounder that remembers, and breaks when told."""

    def __init__(self) -> None:
        self.notes: queue.SimpleQueue[float] = queue.SimpleQueue()
        self.is_broken = False

    def __call__(self) -> Sounding:
        return self

    def sound(self, hertz: float) -> None:
        is_broken = self.is_broken
        self.notes.put(hertz)
        if is_broken:
            raise OSError("the chip is gone")

    def close(self) -> None: ...


def heard(sounding: Sounding, tune: str) -> list[float]:
    return [sounding.notes.get(timeout=PATIENCE_S) for _ in range(len(TUNES[tune]) + 1)]


def test_a_tune_is_played_and_ends_in_silence(caplog: pytest.LogCaptureFixture) -> None:
    sounding = Sounding()
    buzzer = Buzzer(sounding)
    buzzer.play("turn")
    buzzer.play("roll")
    assert heard(sounding, "roll") == [660.0, 880.0, 0.0]
    sounding.is_broken = True
    for _ in range(2):
        buzzer.play("refused")
        assert sounding.notes.get(timeout=PATIENCE_S) == 260.0
    sounding.is_broken = False
    buzzer.play("mended")
    assert heard(sounding, "mended") == [440.0, 880.0, 0.0]
    buzzer.close()
    buzzer.close()
    assert [record.getMessage() for record in caplog.records] == [
        "buzzer: no sound: the chip is gone"
    ]


def test_a_newer_tune_cuts_the_older_one_off() -> None:
    sounding = Sounding()
    buzzer = Buzzer(sounding)
    buzzer.play("closing")  # it would go on for half a second
    assert sounding.notes.get(timeout=PATIENCE_S) == 440.0
    buzzer.play("mended")
    notes = [sounding.notes.get(timeout=PATIENCE_S) for _ in range(4)]
    buzzer.close()
    assert notes == [0.0, 440.0, 880.0, 0.0]


def test_every_note_is_one_the_buzzer_can_play(pins: MockFactory) -> None:
    for tune in TUNES.values():
        assert all(hertz == 0.0 or 220.0 <= hertz <= 880.0 for hertz, _ in tune)
    buzzer = open_buzzer("mock", 18)
    pin = pins.pin(18)
    sounded = threading.Event()
    change = pin._set_frequency
    pin._set_frequency = lambda value: (change(value), value and sounded.set())[0]
    buzzer.play("refused")
    assert sounded.wait(PATIENCE_S)
    buzzer.close()


def test_no_current_flows_through_a_silent_buzzer(pins: MockFactory) -> None:
    """A wave that lgpio ends may leave its pin high."""
    buzzer = open_buzzer("mock", 18)
    pin = pins.pin(18)
    written: queue.SimpleQueue[float] = queue.SimpleQueue()
    change = pin._set_state
    pin._set_state = lambda value: (change(value), written.put(value))[0]
    pin._set_frequency = lambda value: setattr(pin, "_frequency", value)
    buzzer.play("refused")
    assert written.get(timeout=PATIENCE_S) == 0.5
    while written.get(timeout=PATIENCE_S) != 0:
        pass
    buzzer.close()


def test_pins_that_are_taken_are_refused_in_one_line(pins: MockFactory) -> None:
    lamp = open_lamp("mock", LampPins(led_pin=12))
    with pytest.raises(PinsUnavailable, match=r"^buzzer: cannot open GPIO12: .*in use"):
        open_buzzer("mock", 12)
    with pytest.raises(PinsUnavailable, match=r"^lamp: cannot open its pins: .*in use"):
        open_lamp("mock", LampPins(led_pin=12))
    lamp.close()
