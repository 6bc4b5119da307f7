"""A misread roll is put right while marks are open, and nothing changes silently."""

from __future__ import annotations

from companion.engine import (
    ActionClosed,
    Answered,
    AnswerReturned,
    Phase,
    Refusal,
    RollCorrected,
    apply,
)
from tests.engine.build import action1, facts_of, game, go, legal, roll

FIVE = [2, 3, 4, 5, 6]


def right(low: int, high: int, **colour: int) -> RollCorrected:
    return RollCorrected(roll(low, high, **colour).roll)


def test_in_action_1_illegal_answers_go_back_and_the_others_stay() -> None:
    state = go(game(3), roll(4, 3), Answered(0, 1, "R7"), Answered(1, 1, None))
    state, facts = facts_of(state, right(4, 2))
    assert facts == [AnswerReturned(0, "R7")]
    assert state.waiting_for == (0, 1, 2)  # who passed on 7 may want the 6
    assert legal(state, 0) == {"R6", "Y6", "G6", "B6"}


def test_in_action_1_the_same_white_sum_keeps_every_answer() -> None:
    state = go(game(3), roll(4, 3, red=1), Answered(0, 1, "R7"), Answered(1, 1, None))
    state, facts = facts_of(state, right(5, 2, red=6))
    assert facts == []
    assert state.waiting_for == (2,)


def test_in_action_2_the_same_white_sum_keeps_action_1() -> None:
    state = action1(go(game(), roll(4, 3, red=4)), None, "Y7")
    state = go(state, Answered(0, 2, "R8"))
    state, facts = facts_of(state, right(4, 3, red=6))
    assert facts == [AnswerReturned(0, "R8")]
    assert state.phase is Phase.ACTION2
    assert {"R9", "R10"} <= legal(state, 0)
    assert state.plan.marks_of(state.crosses[1])["Y"] == [7]


def test_in_action_2_a_pass_on_other_sums_is_reopened() -> None:
    state = action1(go(game(), roll(3, 4, red=1)), None, None)
    passed = go(state, Answered(0, 2, None))
    state, facts = facts_of(passed, right(3, 4, red=6))
    assert facts == []
    assert state.waiting_for == (0,)
    assert {"R9", "R10"} <= legal(state, 0)
    assert go(passed, right(2, 5, red=1)).waiting_for == (0,), "the same sum of other dice"
    assert go(passed, right(4, 3, red=1)).waiting_for == (), "the same dice"


def test_in_action_2_another_white_sum_opens_action_1_again() -> None:
    state = action1(go(game(3), roll(4, 3)), "R7", None, "Y7")
    state, facts = facts_of(state, right(4, 4))
    assert facts == [AnswerReturned(0, "R7"), AnswerReturned(2, "Y7")]
    assert state.phase is Phase.ACTION1
    assert state.waiting_for == (0, 1, 2)
    assert state.crosses == (0, 0, 0)
    state = go(state, Answered(0, 1, "R8"), Answered(2, 1, None), ActionClosed(1))
    assert state.plan.marks_of(state.crosses[0])["R"] == [8]


def test_a_row_closed_on_a_misread_roll_is_open_again_and_its_die_back() -> None:
    state = game(2, sheets={1: {"R": FIVE}})
    state = action1(go(state, roll(6, 6)), None, "R12")
    assert len(state.dice) == 3
    state = go(state, right(6, 5))
    assert (state.closed, len(state.dice)) == ((), 4)


def test_the_right_dice_are_judged_like_any_roll() -> None:
    state = go(game(), roll(4, 3))
    assert isinstance(apply(state, right(4, 7)), Refusal)
    assert isinstance(apply(game(), right(4, 3)), Refusal)
    closed_now = action1(go(game(sheets={1: {"R": FIVE}}), roll(6, 6)), None, "R12")
    missing = apply(closed_now, right(6, 6, red=0))
    assert isinstance(missing, Refusal)
    assert missing.reason.value == "BAD_DICE"  # the red die was still thrown in this turn
    assert not isinstance(apply(closed_now, right(6, 6, red=1)), Refusal)
