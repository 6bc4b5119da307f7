"""The lamp: an RGB LED, a dimmed or a plain one, whose colour and blinking show the state.

Patterns are data. No two blink alike, so that nobody has to tell colours apart. While dice are
being read the light is steady, and `Lamp.light_at` returns the steady light at a given time, so
that frames captured during a change can be discarded.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from gpiozero import LED, PWMLED, RGBLED

from companion.errors import PinsUnavailable
from hardware.pins import Device, make_factory, one_line

LOGGER = logging.getLogger(__name__)

Colour = tuple[float, float, float]
"""Red, green and blue, 0.0 to 1.0."""

SEEN_AFTER_S = 0.15
"""Seconds after a change from which frames show the new light: cameras deliver up to two frames
late."""

REOPEN_S = 2.0
"""Seconds between two attempts to reopen the pins of a dead chip."""


@dataclass(frozen=True, slots=True)
class Pattern:
    """A colour and how it blinks.

    Attributes:
        steps: Levels 0.0 to 1.0 with how many seconds each lasts, over and over; the first is the
            steady light. A single one does not blink.
    """

    colour: Colour
    steps: tuple[tuple[float, float], ...] = ((1.0, 1.0),)


PATTERNS: Mapping[str, Pattern] = {
    "idle": Pattern((0.0, 0.0, 0.0), ((0.0, 1.0),)),
    "ready": Pattern((0.6, 0.8, 1.0), ((0.3, 2.8), (1.0, 0.2))),
    "reading": Pattern((1.0, 0.6, 0.0)),
    "readable": Pattern((0.0, 1.0, 0.1), ((1.0, 1.6), (0.0, 0.1), (1.0, 0.2), (0.0, 0.1))),
    "unreadable": Pattern(
        (1.0, 0.1, 0.0),
        ((1.0, 0.9), (0.0, 0.1), (1.0, 0.1), (0.0, 0.1), (1.0, 0.1), (0.0, 0.1)),
    ),
    "marks": Pattern((0.0, 0.2, 1.0), ((1.0, 1.2), (0.0, 0.6))),
    "over": Pattern((1.0, 1.0, 1.0), ((1.0, 0.4), (0.3, 0.4))),
    "fault": Pattern((1.0, 0.0, 0.8), ((0.0, 1.5), (1.0, 0.15), (0.0, 0.15), (1.0, 0.15))),
}
"""Patterns by the state names of `companion.adapters.lamp`."""


@dataclass(frozen=True, slots=True)
class LampPins:
    """Wiring of the lamp: no pin, one, or three. BCM numbers.

    Attributes:
        dimmed: Dims by pulse width; otherwise on and off only.
        common_anode: The LED lights when its pin is low.
        brightness: Share of the full brightness, 0.0 to 1.0.
    Raises:
        PinsUnavailable: Some of three are missing, or there is a single LED besides.
    """

    led_pin: int | None = None
    red_pin: int | None = None
    green_pin: int | None = None
    blue_pin: int | None = None
    dimmed: bool = True
    common_anode: bool = False
    brightness: float = 1.0

    def __post_init__(self) -> None:
        allowed = (0, 3) if self.led_pin is None else (1,)
        if len(self.pins) not in allowed:
            raise PinsUnavailable(
                "lamp: expected led_pin alone, or red_pin, green_pin and blue_pin together"
            )

    @property
    def pins(self) -> list[int]:
        """The pins in use: none, one, or those of red, green and blue."""
        named = (self.led_pin, self.red_pin, self.green_pin, self.blue_pin)
        return [pin for pin in named if pin is not None]


class GpioLight(Device):
    """An LED, or three in one, through gpiozero."""

    def __init__(self, wiring: LampPins, factory: Any) -> None:
        """Open the pins of a gpiozero factory; errors of the pin library are not caught."""
        self._wiring = wiring
        if wiring.led_pin is None:
            make = partial(RGBLED, *wiring.pins, pwm=wiring.dimmed)
        else:
            make = partial(PWMLED if wiring.dimmed else LED, wiring.led_pin)
        super().__init__(factory, partial(make, active_high=not wiring.common_anode))

    def shine(self, colour: Colour, level: float) -> None:
        """Shine in a colour at a level; a plain LED is on from half the light on."""
        level *= self._wiring.brightness if self._wiring.dimmed else 1.0
        parts = [level * part for part in colour]
        if not self._wiring.dimmed:
            parts = [float(part >= 0.5) for part in parts]
        self.device.value = tuple(parts) if self._wiring.led_pin is None else max(parts)


@dataclass(frozen=True, slots=True)
class _Lit:
    """A light and the time it began; `name` is None between two steady ones."""

    name: str | None
    since_s: float


class Lamp:
    """Shows one pattern until the next; a dead chip is retried for ever."""

    def __init__(
        self,
        open_light: Callable[[], GpioLight],
        *,
        clock: Callable[[], float] = time.monotonic,
        may_be_late: bool = False,
    ) -> None:
        """Open the light; nothing blinks before `start`.

        Args:
            open_light: Opens the pins, again and again while they are away.
            clock: Monotonic seconds.
            may_be_late: Its pins are opened with the first pattern, or later.
        """
        self._open_light = open_light
        self._clock = clock
        self._light: GpioLight | None = None if may_be_late else open_light()
        self._wanted = "idle"
        self._shown: str | None = None
        self._step = 0
        self._due_s = 0.0
        self._before = _Lit(None, clock())
        self._now = _Lit(None, clock())
        self._has_complained = False
        self._is_stale = False
        self._changed = threading.Condition()
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="lamp", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def show(self, name: str) -> None:
        """Show a pattern from now on; the same one continues undisturbed."""
        with self._changed:
            if name != self._wanted:
                self._wanted = name
                self._changed.notify_all()

    def renew(self) -> None:
        """Reopen the pins after their chip was away: pulses on a dead chip raise no error."""
        with self._changed:
            self._is_stale = True
            self._changed.notify_all()

    def light_at(self, at_s: float) -> str | None:
        """Steady light that fell into a frame captured at a time; None during a change."""
        before, now = self._before, self._now
        if at_s > now.since_s + SEEN_AFTER_S:
            return now.name
        return before.name if before.since_s + SEEN_AFTER_S < at_s <= now.since_s else None

    def turn(self) -> float:
        """Do what is due; return the seconds until the next step."""
        if self._is_stale:
            self._is_stale, self._shown = False, None
            self._let_go()
        now_s, name = self._clock(), self._wanted
        pattern = PATTERNS[name]
        if name != self._shown:
            self._shown, self._step, self._due_s = name, 0, now_s
        elif now_s >= self._due_s and len(pattern.steps) > 1:
            self._step = (self._step + 1) % len(pattern.steps)
        else:
            return max(0.0, self._due_s - now_s) if len(pattern.steps) > 1 else REOPEN_S
        level, lasts_s = pattern.steps[self._step]
        self._before, self._now = self._now, _Lit(name if self._step == 0 else None, now_s)
        self._due_s = now_s + lasts_s
        if not self._shine(pattern.colour, level):
            self._shown = None  # all of it again once the pins are back
            return REOPEN_S
        return lasts_s

    def close(self) -> None:
        """Switch off; may be called twice."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
        if self._thread.is_alive():
            self._thread.join(2.0)
        self._let_go()

    def _let_go(self) -> None:
        light, self._light = self._light, None
        if light is not None:
            light.close()

    def _shine(self, colour: Colour, level: float) -> bool:
        try:
            if self._light is None:
                self._light = self._open_light()
            self._light.shine(colour, level)
        except Exception as error:  # each pin library raises a class of its own
            if not self._has_complained:
                LOGGER.warning("lamp: cannot be lit: %s", one_line(error))
            self._has_complained = True
            self._let_go()
            return False
        if self._has_complained:
            LOGGER.warning("lamp: working again")
        self._has_complained = False
        return True

    def _run(self) -> None:
        while not self._is_closed:
            shown = self._wanted
            try:
                wait_s = self.turn()
            except Exception:
                LOGGER.exception("lamp: a pattern failed; the lamp goes on")
                wait_s = REOPEN_S
            with self._changed:
                if self._wanted == shown and not self._is_closed and not self._is_stale:
                    self._changed.wait(wait_s)


def open_lamp(factory: str, wiring: LampPins, *, may_be_late: bool = False) -> Lamp:
    """Open the lamp on the pins of a factory, lgpio or mock.

    Args:
        may_be_late: Pins that are not there yet are waited for.
    Raises:
        PinsUnavailable: The pins cannot be opened.
    """
    try:
        return Lamp(lambda: GpioLight(wiring, make_factory(factory)), may_be_late=may_be_late)
    except Exception as error:
        raise PinsUnavailable(f"lamp: cannot open its pins: {one_line(error)}") from error
