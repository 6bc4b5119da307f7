"""House rules, each in place of one ruling, and off unless chosen."""

from __future__ import annotations

from companion.engine import (
    BASE,
    BIG_POINTS,
    ActionClosed,
    Answered,
    End,
    GameState,
    HouseRule,
    Phase,
    Plan,
    SeatClosed,
    new_game,
)
from tests.engine.build import action1, action2, go, legal, reason, roll, ruling, with_sheets

FIVE = [2, 3, 4, 5, 6]


def house(plan: Plan, rule: HouseRule, sheets: dict[int, dict[str, list[int]]]) -> GameState:
    return with_sheets(new_game(plan, 3, house=[rule]), sheets)


def test_finish_turn_plays_action_2_instead_of_ending_at_once() -> None:
    sheets = {1: {"R": FIVE}, 2: {"Y": FIVE}}
    state = house(BASE, HouseRule.FINISH_TURN, sheets)
    state = action1(go(state, roll(6, 6, green=2)), None, "R12", "Y12")
    assert state.phase is Phase.ACTION2
    assert legal(state, 0) == {"G8", "B9"}
    done = action2(state, "G8")
    assert (done.end, done.misses, done.total(0)) == (End.LOCKS, (0, 0, 0), 1)
    missed = action2(state, None)
    assert (missed.end, missed.misses) == (End.LOCKS, (1, 0, 0))
    assert missed.end_ruling is None  # E18 says that it is over without action 2
    assert ruling(missed, 0, 2, "G8") is None


def test_finish_turn_leaves_an_end_in_action_2_its_ruling() -> None:
    state = house(BASE, HouseRule.FINISH_TURN, {0: {"Y": FIVE}, 1: {"R": FIVE}})
    state = action2(action1(go(state, roll(6, 6, yellow=6)), None, "R12"), "Y12")
    assert (state.end, state.end_ruling) == (End.LOCKS, "E20")


def test_finish_turn_ends_where_nobody_is_left_to_play_action_2() -> None:
    state = house(BASE, HouseRule.FINISH_TURN, {1: {"R": FIVE}, 2: {"Y": FIVE}})
    state = go(state, roll(6, 6), SeatClosed(0), Answered(1, 1, "R12"), Answered(2, 1, "Y12"))
    state = go(state, ActionClosed(1))
    assert (state.phase, state.end, state.turn) == (Phase.OVER, End.LOCKS, 1)


def test_house_rules_name_their_rulings_and_are_off_by_default() -> None:
    assert HouseRule.FINISH_TURN.replaces == ("E18", "E19")
    assert HouseRule.BONUS_NEXT_TURN.replaces == ("E26",)
    assert new_game(BIG_POINTS, 2).setup.house == frozenset()


def test_finish_turn_changes_nothing_else() -> None:
    state = house(BASE, HouseRule.FINISH_TURN, {1: {"R": FIVE}})
    state = action2(action1(go(state, roll(6, 6)), None, "R12"), None)
    assert state.phase is Phase.ROLL


def test_bonus_next_turn_needs_a_neighbour_of_an_earlier_turn() -> None:
    state = house(BIG_POINTS, HouseRule.BONUS_NEXT_TURN, {})
    state = action1(go(state, roll(6, 4, green=4)), "G10")
    assert "GB10" not in legal(state, 0)
    assert reason(state, 0, 2, "GB10") == "BONUS_WRONG_DIE"
    assert ruling(state, 0, 2, "GB10") == "E26"  # E25 would allow it
    state = action2(state, None)
    assert "GB10" in legal(go(state, roll(6, 4)), 0)


def test_bonus_next_turn_leaves_boxes_of_earlier_turns_open() -> None:
    state = house(BIG_POINTS, HouseRule.BONUS_NEXT_TURN, {0: {"B": [10]}})
    state = action1(go(state, roll(6, 4, green=1, blue=4)), "G10")
    assert "GB10" in legal(state, 0)
    assert reason(go(state, Answered(0, 2, "GB10")), 0, 2, "GB10") == ""
