"""Waiting for what other threads or processes do."""

from __future__ import annotations

import time
from collections.abc import Callable

PATIENCE_S = 30.0
"""How long it may take on a machine that has much else to do; a wait ends as soon as it holds."""


def until(
    holds: Callable[[], object],
    what: str = "it did not happen in time",
    *,
    within_s: float = PATIENCE_S,
) -> None:
    """Wait until something holds; fail with `what` if it never does."""
    by_s = time.monotonic() + within_s
    while not holds():
        assert time.monotonic() < by_s, what
        time.sleep(0.005)
