"""What a roll offers, as it is announced."""

from __future__ import annotations

from companion.engine import BIG_POINTS, DieColour, HouseRule, new_game
from companion.engine.offers import Group, dice_for, offer_of
from tests.engine.build import action1, game, go, roll, with_sheets

FIVE = [2, 3, 4, 5, 6]


def test_nothing_is_offered_while_a_roll_is_due() -> None:
    assert offer_of(game()) is None


def test_all_are_offered_the_white_sum_and_the_active_player_more() -> None:
    state = game(2, first=1, sheets={0: {"R": [8]}, 1: {"B": [6], "Y": [5]}})
    offer = offer_of(go(state, roll(4, 3, red=1, yellow=1, green=1, blue=6)))
    assert offer is not None
    assert offer.white == 7
    assert offer.coloured[0] == (DieColour.RED, (4, 5))
    assert offer.coloured[3] == (DieColour.BLUE, (9, 10))
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
    assert Group("bonus green-blue", (10,)) in offer.by_colour


def test_every_legal_box_names_its_two_dice() -> None:
    white, yellow = DieColour.WHITE, DieColour.YELLOW
    state = game(2, plan=BIG_POINTS, sheets={0: {"Y": [9]}})
    assert dice_for(state, 0) == {}
    state = go(state, roll(3, 5, red=6, yellow=6, green=1, blue=2))
    first = dice_for(state, 0)
    assert set(first) == set(state.plan.name_of(state.legal[0]))
    assert set(first.values()) == {((white, 3), (white, 5))}
    state = action1(state, None, None)
    made = dice_for(state, 0)
    assert set(made) == set(state.plan.name_of(state.legal[0]))
    assert made["R9"] == ((white, 3), (DieColour.RED, 6))
    assert made["B7"] == ((white, 5), (DieColour.BLUE, 2))
    assert made["RY9"] == ((white, 3), (yellow, 6))  # red 9 is not crossed: its die opens nothing
    assert dice_for(state, 1) == {}


def test_a_die_that_left_makes_no_box() -> None:
    state = go(game(2, sheets={1: {"R": FIVE}}), roll(6, 6, red=1, yellow=1, green=1, blue=1))
    made = dice_for(action1(state, None, "R12"), 0)
    assert made["Y7"] == ((DieColour.WHITE, 6), (DieColour.YELLOW, 1))
    assert not any(token.startswith("R") for token in made)


def test_a_bonus_box_names_the_dice_that_open_it_under_the_house_rule() -> None:
    rule = HouseRule.BONUS_NEXT_TURN
    state = with_sheets(new_game(BIG_POINTS, 2, house=[rule]), {0: {"Y": [7]}})
    state = action1(go(state, roll(3, 4, red=3, yellow=4)), "R7", None)
    assert dice_for(state, 0)["RY7"] == ((DieColour.WHITE, 3), (DieColour.YELLOW, 4))
