"""Exact bounds on a rate from counts."""

from __future__ import annotations

import pytest

from companion.history.risk import at_least, at_most, compared


@pytest.mark.parametrize(
    ("wrong", "trials", "low", "high"),
    [
        # Tables of the binomial distribution; both bounds hold with 95 % each.
        (0, 10, 0.0, 0.2589),
        (1, 10, 0.0051, 0.3942),
        (5, 10, 0.2224, 0.7776),
        (10, 10, 0.7411, 1.0),
        (0, 2995, 0.0, 0.001),
    ],
)
def test_the_bounds_are_those_of_the_tables(
    wrong: int, trials: int, low: float, high: float
) -> None:
    assert at_least(wrong, trials) == pytest.approx(low, abs=6e-5)
    assert at_most(wrong, trials) == pytest.approx(high, abs=6e-5)


def test_nothing_tried_shows_nothing() -> None:
    assert (at_least(0, 0), at_most(0, 0)) == (0.0, 1.0)


def test_more_trials_narrow_the_bounds() -> None:
    few, many = (2, 212), (200, 21_200)
    assert at_least(*few) < at_least(*many) < 2 / 212 < at_most(*many) < at_most(*few)


@pytest.mark.parametrize(
    ("wrong", "offered", "is_worse"),
    [(0, 0, False), (0, 400, False), (1, 2, False), (9, 100, True), (3, 3, True)],
)
def test_a_table_is_called_worse_only_where_chance_cannot_explain_it(
    wrong: int, offered: int, is_worse: bool
) -> None:
    assert ("worse than it should" in compared(wrong, offered)) is is_worse


@pytest.mark.parametrize(
    ("wrong", "offered", "most"), [(0, 6000, "0.05%"), (0, 700, "0.43%"), (1, 2, "97.5%")]
)
def test_a_bound_is_never_rounded_down(wrong: int, offered: int, most: str) -> None:
    assert f"at most {most} with 95 %" in compared(wrong, offered)
