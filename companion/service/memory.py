"""Return memory to the system that a start or a busy moment needed.

glibc keeps freed memory for later; after the start that is some 80 MB that a small machine misses.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable

FIRST_S, EVERY_S = 10.0, 60.0
"""Seconds after the start, and between two times, at which memory is returned."""


def give_back() -> bool:
    """Return what is free; False where the C library cannot (malloc_trim(3) is glibc's)."""
    try:
        ctypes.CDLL(None).malloc_trim(0)
    except (AttributeError, OSError):
        return False
    return True


class Trimmer:
    """Returns memory now and then; call it every second or so."""

    def __init__(
        self,
        clock: Callable[[], float] = time.monotonic,
        give_back: Callable[[], object] = give_back,
    ) -> None:
        self._clock, self._give_back = clock, give_back
        self._due_s = clock() + FIRST_S

    def __call__(self) -> None:
        """Return memory when it is time."""
        if self._clock() >= self._due_s:
            self._due_s = self._clock() + EVERY_S
            self._give_back()
