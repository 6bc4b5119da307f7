"""The club's time of day, which a clock that is set during an evening does not break."""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from threading import Lock

from companion.mqtt.clock import LARGEST_STEP
from companion.mqtt.club.results import evening_id

LOGGER = logging.getLogger(__name__)


class EveningClock:
    """Returns the time of day; thread-safe.

    Attributes:
        under_way: Id of the evening that goes on though the wall clock is set. One that is set soon
            after the machine was switched on says which evening it is.
    """

    def __init__(self, now: Callable[[], datetime], elapsed_s: Callable[[], float]) -> None:
        """Begin with the wall clock's time.

        Args:
            now: The wall clock, with its zone.
            elapsed_s: Monotonic seconds, those of a suspended machine included.
        """
        self.under_way = ""
        self._now, self._elapsed_s = now, elapsed_s
        self._looked: tuple[datetime, float] | None = None  # both clocks when they were last read
        self._ahead = timedelta()  # by how much the wall clock was set forward in this evening
        self._mutex = Lock()

    def __call__(self) -> datetime:
        """The time, with its zone."""
        with self._mutex:
            now, at_s = self._now(), self._elapsed_s()
            was, was_s = self._looked or (now, at_s)
            self._looked = now, at_s
            tonight = evening_id((was - self._ahead).isoformat())
            step = now - was - timedelta(seconds=at_s - was_s)
            if abs(step) > LARGEST_STEP and tonight == self.under_way:
                self._ahead += step
                LOGGER.warning("club: the clock was set from %s to %s in the evening", was, now)
            elif self._ahead and evening_id((now - self._ahead).isoformat()) != tonight:
                self._ahead = timedelta()
            return now - self._ahead
