"""The sentences that refused marks are explained with."""

from __future__ import annotations

import pytest

from companion.engine import BIG_POINTS, Answered, GameState, Refusal, apply
from companion.messages.catalogue import load_phrases
from companion.messages.refusals import refusal_line
from tests.engine.build import action1, game, go, roll

NAMES = ("Ada", "Ben", "Cleo")
OPEN = go(game(3, first=1), roll(1, 4, red=3), Answered(0, 1, None))
SECOND = action1(OPEN, None, "R5", None)
CLOSING_RED = game(plan=BIG_POINTS, sheets={1: {"R": [2, 3, 4, 5, 6]}})


@pytest.mark.parametrize(
    ("state", "answer", "says"),
    [
        (OPEN, Answered(0, 1, "R7"), "The white dice make 5, not 7."),
        (
            OPEN,
            Answered(1, 2, "R4"),
            "Action 1 is still open: Ben and Cleo still have to answer.",
        ),
        (SECOND, Answered(0, 2, "R7"), "Only Ben can use a coloured die this turn."),
        (SECOND, Answered(1, 2, "R9"), "A white die and the red die make 4 or 7, not 9."),
        (
            SECOND,
            Answered(1, 2, "R4"),
            "Red 4 is left of the 5 you crossed in action 1. Crosses go from left to right.",
        ),
        (
            action1(go(game(3, first=1), roll(1, 4, red=6, yellow=1))),
            Answered(1, 2, "Y7"),
            "You can make 7 with the red die, with the green die or with the blue die, but in the "
            "yellow row only the yellow die counts, and it makes 2 or 5.",
        ),
        (  # one sum does not give both boxes (E24, E27)
            go(game(plan=BIG_POINTS), roll(3, 4), Answered(0, 1, "R7")),
            Answered(0, 1, "RY7"),
            "Bonus 7 needs the 7 of a neighbouring row on your sheet, crossed in an earlier "
            "action.",
        ),
        (  # the red die has just left, and lies beside the tray with its 2
            action1(go(CLOSING_RED, roll(6, 6, red=2)), None, "R12"),
            Answered(0, 2, "RY8"),
            "No white die makes 8 with a coloured die in play.",
        ),
    ],
)
def test_a_refusal_names_who_and_what_is_meant(
    state: GameState, answer: Answered, says: str
) -> None:
    step = apply(state, answer)
    assert isinstance(step, Refusal)
    assert load_phrases("en").tell(refusal_line(step, NAMES)) == says
