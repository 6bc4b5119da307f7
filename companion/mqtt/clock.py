"""A clock that nobody sets."""

from __future__ import annotations

import time


def elapsed_s() -> float:
    """Monotonic seconds, those of a suspended machine included where the system counts them."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()
