"""A clock that nobody sets, and when another one was set."""

from __future__ import annotations

import time
from datetime import timedelta

LARGEST_STEP = timedelta(minutes=10)
"""A larger difference between the time of day and `elapsed_s` means that the clock was set
(chosen): one that is corrected all the time runs off by seconds."""


def elapsed_s() -> float:
    """Monotonic seconds, those of a suspended machine included where the system counts them."""
    if hasattr(time, "CLOCK_BOOTTIME"):
        return time.clock_gettime(time.CLOCK_BOOTTIME)
    return time.monotonic()
