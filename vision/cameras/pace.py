"""Keeps frames a steady time apart, by a clock that tests can set."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

Clock = Callable[[], float]
"""Returns monotonic seconds."""

Sleep = Callable[[float], object]
"""Waits for some seconds."""


class Pace:
    """Waits until the next frame is due; late frames cause no burst."""

    def __init__(
        self, fps: float, *, clock: Clock = time.monotonic, sleep: Sleep = time.sleep
    ) -> None:
        self.step_s = 1.0 / max(fps, 0.1)
        self._clock = clock
        self._sleep = sleep
        self._due_s = -math.inf

    def wait(self) -> float:
        """Wait until the next frame is due, and return the time."""
        now = self._clock()
        if self._due_s > now:
            self._sleep(self._due_s - now)
            now = max(self._clock(), self._due_s)
        # A small lateness is carried over so that the rate holds; a large one is forgotten.
        is_on_time = now - self._due_s < self.step_s
        self._due_s = (self._due_s if is_on_time else now) + self.step_s
        return now
