"""What a roll offers, as it is announced."""

from __future__ import annotations

from companion.engine import BIG_POINTS, DieColour
from companion.engine.sums import Group, offer_of
from tests.engine.build import action1, game, go, roll

FIVE = [2, 3, 4, 5, 6]


def test_nothing_is_offered_while_a_roll_is_due() -> None:
    assert offer_of(game()) is None


def test_a_roll_offers_the_white_sum_to_all_and_coloured_ones_to_the_active() -> None:
    state = game(2, first=1, sheets={0: {"R": [8]}, 1: {"B": [6], "Y": [5]}})
    offer = offer_of(go(state, roll(4, 3, red=1, yellow=1, green=1, blue=6)))
    assert offer is not None
    assert offer.white == 7
    assert offer.coloured[0] == (DieColour.RED, (4, 5))
    assert offer.coloured[3] == (DieColour.BLUE, (9, 10))
    assert [group.row for group in offer.by_white[0]] == ["yellow", "green", "blue"]
    assert offer.by_white[1] == (Group("red", (7,)), Group("yellow", (7,)), Group("green", (7,)))
    assert offer.by_colour == (Group("red", (4, 5)), Group("green", (4, 5)))


def test_equal_whites_give_one_sum_and_a_die_that_left_gives_none() -> None:
    state = action1(go(game(2, sheets={1: {"R": FIVE}}), roll(6, 6, red=1)), None, "R12")
    offer = offer_of(state)
    assert offer is not None
    assert [colour for colour, _ in offer.coloured] == [
        DieColour.YELLOW,
        DieColour.GREEN,
        DieColour.BLUE,
    ]
    assert all(sums == (9,) for _, sums in offer.coloured)


def test_bonus_rows_are_named_as_rows() -> None:
    state = game(1, plan=BIG_POINTS, sheets={0: {"G": [10]}})
    offer = offer_of(go(state, roll(6, 4, green=4)))
    assert offer is not None
    assert Group("bonus green-blue", (10,)) in offer.by_white[0]
    assert Group("bonus green-blue", (10,)) in offer.by_colour
