"""Return memory to the system that a start or a busy moment needed.

glibc keeps freed memory for later; after the start that is some 80 MB that a small machine misses.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable

LARGE_BYTES = 1 << 18
"""Blocks of this size and above go back to the system as soon as they are free: what drawing and
reading a picture needs in between. With 1 MB the simulated table takes 6 MB more at its most."""

_M_MMAP_THRESHOLD = -3  # of mallopt(3)

FIRST_S, EVERY_S = 10.0, 60.0
"""Seconds after the start, and between two times, at which memory is returned."""


def return_large_blocks() -> bool:
    """Return blocks of `LARGE_BYTES` whenever they are free; False where the C library cannot.

    By itself glibc raises that limit with every large block that is freed, up to 32 MB, and then
    keeps the holes that pictures leave in its heap.
    """
    try:
        return bool(ctypes.CDLL(None).mallopt(_M_MMAP_THRESHOLD, LARGE_BYTES))
    except (AttributeError, OSError):
        return False


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
