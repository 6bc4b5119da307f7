"""Bounds on a rate from counts: the exact ones of Clopper and Pearson (pure).

A reader that was never wrong in 300 rolls may still be wrong once in a hundred: the bounds say what
the counts can show. Source: C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial
limits illustrated in the case of the binomial", Biometrika 26 (1934).
"""

from __future__ import annotations

import math
from collections.abc import Callable

CONFIDENCE = 0.95
"""Probability that a bound holds."""
CERTIFIED = 0.0077
"""At most this share of announced rolls is wrong on looks that were never trained on, with 95 %
confidence (docs/evaluation.md, certificate)."""
_SURELY = 0.99
"""Confidence needed to call a table worse than the certificate: the question is asked often."""
_HALVINGS = 60
"""Steps of the bisection; each halves the error, which starts at 1."""


def at_most(wrong: int, trials: int) -> float:
    """The largest rate that still gives `wrong` or fewer in `trials` with a probability above
    1 - CONFIDENCE; 1.0 without a trial."""
    if wrong >= trials:
        return 1.0
    return _where(lambda rate: _up_to(wrong, trials, rate) < 1.0 - CONFIDENCE)


def at_least(wrong: int, trials: int, confidence: float = CONFIDENCE) -> float:
    """The smallest rate that still gives `wrong` or more in `trials` with a probability above
    1 - confidence; 0.0 if none was wrong."""
    if wrong <= 0:
        return 0.0
    return _where(lambda rate: 1.0 - _up_to(wrong - 1, trials, rate) > 1.0 - confidence)


def compared(wrong: int, offered: int) -> str:
    """One sentence: how often offered rolls are wrong at a table, against the certificate."""
    if not offered:
        return "no roll was offered yet"
    known = f"{wrong} of {offered} offered rolls wrong"
    measured = f"docs/evaluation.md has at most {CERTIFIED:.2%}"
    if at_least(wrong, offered, _SURELY) > CERTIFIED:
        return (
            f"{known}: this table does worse than it should, {measured};"
            " try more even light, a plain floor, or `dice-companion calibrate`"
        )
    return f"{known}: at most {upwards(at_most(wrong, offered))} with 95 % confidence; {measured}"


def upwards(rate: float) -> str:
    """A rate in percent, never rounded down: a bound has to hold."""
    digits = 1 if rate >= 0.01 else 2
    return f"{math.ceil(rate * 10 ** (digits + 2)) / 10**digits:.{digits}f}%"


def _up_to(wrong: int, trials: int, rate: float) -> float:
    """Probability of `wrong` or fewer in independent trials, each wrong at a rate in 0 to 1."""
    if rate <= 0.0 or rate >= 1.0:
        return float(rate <= 0.0 or wrong >= trials)
    log_ways = 0.0
    total = 0.0
    for k in range(wrong + 1):
        total += math.exp(log_ways + k * math.log(rate) + (trials - k) * math.log1p(-rate))
        log_ways += math.log((trials - k) / (k + 1)) if k < trials else 0.0
    return min(total, 1.0)


def _where(is_above: Callable[[float], bool]) -> float:
    """The rate in 0 to 1 from which on a condition holds."""
    low, high = 0.0, 1.0
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (low, middle) if is_above(middle) else (middle, high)
    return high
