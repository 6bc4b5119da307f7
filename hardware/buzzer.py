"""The buzzer: short tunes for events that people must notice without looking."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from gpiozero import TonalBuzzer
from gpiozero.tones import Tone

from companion.errors import PinsUnavailable
from hardware.pins import Device, make_factory, one_line

LOGGER = logging.getLogger(__name__)

Tune = tuple[tuple[float, float], ...]
"""Notes: hertz (0 is a rest) and seconds. A TonalBuzzer plays 220 to 880 Hz."""

TUNES: Mapping[str, Tune] = {
    "roll": ((660.0, 0.08), (880.0, 0.12)),
    "corrected": ((660.0, 0.08), (550.0, 0.08), (660.0, 0.12)),
    "refused": ((260.0, 0.25),),
    "closing": ((440.0, 0.12), (0.0, 0.08), (440.0, 0.12), (0.0, 0.08), (440.0, 0.12)),
    "closed": ((440.0, 0.12), (330.0, 0.2)),
    "miss": ((330.0, 0.12), (262.0, 0.25)),
    "over": ((523.0, 0.12), (659.0, 0.12), (784.0, 0.12), (880.0, 0.35)),
    "fault": ((220.0, 0.15), (0.0, 0.1), (220.0, 0.15)),
    "mended": ((440.0, 0.08), (880.0, 0.08)),
}
"""Tunes by kind of announcement; other kinds are silent."""


class GpioSounder(Device):
    """A TonalBuzzer through gpiozero."""

    def __init__(self, pin: int, factory: Any) -> None:
        """Open the pin of a gpiozero factory; errors of the pin library are not caught."""
        super().__init__(factory, partial(TonalBuzzer, pin))

    def sound(self, hertz: float) -> None:
        """Begin a note; 0 is silence."""
        if hertz > 0.0:
            self.device.play(Tone.from_frequency(hertz))
        else:
            self.device.stop()
            self.device.pwm_device.pin.state = 0  # lgpio leaves it as the last wave had it


class Buzzer:
    """Plays one tune at a time; a newer one cuts off the older."""

    def __init__(
        self, open_sounder: Callable[[], GpioSounder], *, may_be_late: bool = False
    ) -> None:
        """Open the pin, if need be with the first tune, and wait for tunes."""
        self._open_sounder = open_sounder
        self._sounder: GpioSounder | None = None if may_be_late else open_sounder()
        self._next: Tune | None = None
        self._orders = 0
        self._has_complained = False
        self._is_closed = False
        self._changed = threading.Condition()
        self._thread = threading.Thread(target=self._run, name="buzzer", daemon=True)
        self._thread.start()

    def play(self, name: str) -> None:
        """Play a tune by name and return at once; unknown names are silent."""
        tune = TUNES.get(name)
        if tune is not None:
            with self._changed:
                self._next = tune
                self._orders += 1
                self._changed.notify_all()

    def close(self) -> None:
        """Stop for good; may be called twice."""
        with self._changed:
            self._is_closed = True
            self._orders += 1
            self._changed.notify_all()
        self._thread.join(2.0)
        sounder, self._sounder = self._sounder, None
        if sounder is not None:
            sounder.close()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._next is not None or self._is_closed)
                if self._is_closed:
                    return
                tune, self._next = self._next, None
                order = self._orders
            assert tune is not None
            try:
                self._play(tune, order)
                self._has_complained = False
            except Exception as error:  # each pin library raises a class of its own
                if not self._has_complained:
                    LOGGER.warning("buzzer: no sound: %s", one_line(error))
                self._has_complained = True
                sounder, self._sounder = self._sounder, None
                if sounder is not None:
                    sounder.close()

    def _play(self, tune: Tune, order: int) -> None:
        if self._sounder is None:
            self._sounder = self._open_sounder()
        for hertz, lasts_s in tune:
            self._sounder.sound(hertz)
            with self._changed:
                if self._changed.wait_for(lambda: self._orders != order, lasts_s):
                    break
        self._sounder.sound(0.0)


def open_buzzer(factory: str, pin: int, *, may_be_late: bool = False) -> Buzzer:
    """Open the buzzer on a pin of a factory, lgpio or mock; a late one with its first tune.

    Raises:
        PinsUnavailable: The pin cannot be opened.
    """
    try:
        return Buzzer(lambda: GpioSounder(pin, make_factory(factory)), may_be_late=may_be_late)
    except Exception as error:
        raise PinsUnavailable(f"buzzer: cannot open GPIO{pin}: {one_line(error)}") from error
