"""Sheets of other games than the two of Qwixx."""

from __future__ import annotations

from companion.engine import DieColour, Plan, new_game
from companion.engine.sheet import Box, Row
from tests.engine.build import action1, action2, go, roll


def test_a_mixed_sheet_is_one_more_description() -> None:
    """A row of mixed colours and a row of mixed numbers, judged by the same code."""
    red, blue = DieColour.RED, DieColour.BLUE
    colours = [red, blue, red, blue, red, red]
    plan = Plan(
        "mixed",
        (
            Row("R", "red", tuple(Box(n, c) for n, c in enumerate(colours, 2)), lock=red),
            Row("B", "blue", tuple(Box(n, blue) for n in (9, 2, 12, 5)), lock=blue),
        ),
        crosses_before_lock=2,
    )
    state = new_game(plan, 1)
    state = action1(go(state, roll(1, 1, yellow=0, green=0, red=1, blue=2)))
    assert set(plan.name_of(state.legal[0])) == {"R2", "R3"}  # red 1 + 1; blue 1 + 2
    state = action2(state, "R3")
    state = go(state, roll(3, 6, yellow=0, green=0))
    assert set(plan.name_of(state.legal[0])) == {"B9"}
    assert plan.name_of(state.open[0]) == ["R4", "R5", "R6", "B9", "B2", "B12"]
