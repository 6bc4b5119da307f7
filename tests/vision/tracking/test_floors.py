"""Throws onto spotted, striped and printed floors: the right roll in time, or the die named."""

from __future__ import annotations

import pytest

from tests.vision.tracking.floors import FLOORS, play_throw, printed_tray
from vision.pipeline import DiceReader

SEEDS = range(3)


@pytest.mark.slow
@pytest.mark.parametrize("sees_the_throw", [True, False], ids=["moving", "still"])
@pytest.mark.parametrize("floor", FLOORS)
def test_a_printed_floor_leaves_the_roll_readable(floor: str, sees_the_throw: bool) -> None:
    ground, reader = printed_tray(FLOORS[floor]), DiceReader()
    offered = 0
    for seed in SEEDS:
        played = play_throw(reader, ground, seed, sees_the_throw=sees_the_throw)
        assert played.wrong == []
        view = played.at_deadline
        offered += view.roll == played.roll
        named = any(problem.colour is not None for problem in view.problems)
        assert view.roll == played.roll or named, (seed, view.status, view.problems)
    if sees_the_throw:
        assert offered >= 2
