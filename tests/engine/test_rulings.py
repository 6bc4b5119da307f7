"""The rulings one by one, on positions made for them."""

from __future__ import annotations

from typing import Any

import pytest

from companion.engine import (
    BIG_POINTS,
    ActionClosed,
    Answered,
    ClosingTakenBack,
    Crossed,
    DieColour,
    End,
    EndedEarly,
    GameEnded,
    MissTaken,
    Phase,
    Refusal,
    Roll,
    RowClosed,
    Withdrawn,
    WouldClose,
    apply,
    fold,
)
from tests.engine.build import (
    action1,
    action2,
    facts_of,
    game,
    go,
    legal,
    reason,
    roll,
    ruling,
    turn,
)

FIVE = [2, 3, 4, 5, 6]
FIVE_DOWN = [12, 11, 10, 9, 8]


class TestTurn:
    def test_E1_action_2_waits_for_action_1(self) -> None:
        state = go(game(), roll(4, 1))
        assert reason(state, 0, 2, "R7") == "WRONG_PHASE"
        assert ruling(state, 0, 2, "R7") == "E1"
        assert reason(go(game(), roll(4, 1)), 0, 1, None) == ""

    def test_E2_white_dice_only_as_a_sum_in_action_1(self) -> None:
        state = go(game(), roll(4, 1, red=6))
        assert legal(state, 0) == {"R5", "Y5", "G5", "B5"} == legal(state, 1)
        assert reason(state, 0, 1, "R4") == reason(state, 0, 1, "R10") == "WRONG_SUM"

    def test_E2_one_white_and_one_colour_die_in_the_row_of_that_colour(self) -> None:
        state = action1(go(game(), roll(4, 1, red=6, yellow=2, green=3, blue=5)))
        assert legal(state, 0) == {"R7", "R10", "Y3", "Y6", "G4", "G7", "B6", "B9"}
        assert reason(state, 0, 2, "Y10") == "WRONG_DIE"
        assert reason(state, 0, 2, "R5") == "WRONG_SUM"

    def test_E3_nobody_is_obliged_and_two_crosses_are_one_too_many(self) -> None:
        state = go(game(), roll(4, 1))
        assert reason(state, 1, 1, None) == ""
        assert reason(state, 1, 1, ["R5", "Y5"]) == "TWO_MARKS"

    def test_E4_action_2_is_the_active_players(self) -> None:
        state = action1(go(game(3), roll(4, 1)))
        assert legal(state, 1) == set()
        assert reason(state, 1, 2, "R7") == "NOT_ACTIVE" == reason(state, 2, 2, None)

    @pytest.mark.parametrize(("first", "second"), [("R5", None), (None, "R7"), ("R5", "R7")])
    def test_E5_either_action_avoids_the_miss(self, first: str | None, second: str | None) -> None:
        assert turn(game(), roll(4, 1), [first], second).misses == (0, 0)

    def test_E6_both_crosses_in_one_row_when_the_second_lies_right(self) -> None:
        state = action1(go(game(), roll(1, 3, red=4)), "R4")
        assert reason(state, 0, 2, "R5") == ""
        state = action1(go(game(), roll(1, 4, red=3)), "R5")
        assert reason(state, 0, 2, "R4") == "NOT_TO_THE_RIGHT"
        assert ruling(state, 0, 2, "R4") == "E6"

    def test_E7_the_same_box_twice_is_refused_the_same_number_elsewhere_not(self) -> None:
        state = action1(go(game(), roll(3, 4, red=4, yellow=4)), "R7")
        assert reason(state, 0, 2, "R7") == "ALREADY_CROSSED"
        assert reason(state, 0, 2, "Y7") == ""

    def test_E8_a_miss_is_a_consequence(self) -> None:
        state = go(game(), roll(4, 1))
        assert reason(state, 0, 1, "MISS") == "MISS_NOT_DUE"
        assert reason(state, 1, 1, "MISS") == "MISS_NOT_ACTIVE"
        state, facts = facts_of(action1(state), Answered(0, 2, "MISS"), ActionClosed(2))
        assert facts == [MissTaken(0, 1)]
        assert state.misses == (1, 0)
        state = action1(go(game(), roll(4, 1)), "R5")
        assert reason(state, 0, 2, "MISS") == "MISS_NOT_DUE"

    def test_E8_inactive_players_never_take_a_miss(self) -> None:
        assert turn(game(3), roll(4, 1), [], None).misses == (1, 0, 0)

    def test_E9_answers_change_until_the_action_closes_and_not_later(self) -> None:
        state = go(game(), roll(4, 1), Answered(1, 1, "R5"), Answered(1, 1, "Y5"))
        assert state.crosses == (0, 0)
        assert state.waiting_for == (0,)
        state = go(state, Withdrawn(1, 1))
        assert state.waiting_for == (0, 1)
        state = go(state, Answered(1, 1, "G5"), ActionClosed(1))
        assert state.plan.marks_of(state.crosses[1])["G"] == [5]
        assert reason(state, 1, 1, "B5") == "WRONG_PHASE"
        assert ruling(state, 1, 1, "B5") == "E9"


class TestClosing:
    @pytest.mark.parametrize(
        ("crosses", "box", "dice", "want"),
        [
            ({"R": [2, 3, 4, 5]}, "R12", (6, 6), "LOCK_NEEDS_FIVE"),
            ({"R": FIVE}, "R12", (6, 6), ""),
            ({"G": [12, 11, 10, 9]}, "G2", (1, 1), "LOCK_NEEDS_FIVE"),
            ({"G": FIVE_DOWN}, "G2", (1, 1), ""),
            ({"R": [2, 3, 4, 5], "Y": FIVE}, "R12", (6, 6), "LOCK_NEEDS_FIVE"),
        ],
    )
    def test_E10_five_own_crosses(
        self, crosses: dict[str, list[int]], box: str, dice: tuple[int, int], want: str
    ) -> None:
        state = go(game(sheets={0: crosses}), roll(*dice))
        assert reason(state, 0, 1, box) == want
        assert (box in legal(state, 0)) is (want == "")

    def test_E10_also_when_somebody_else_closes_it(self) -> None:
        state = go(game(sheets={0: {"R": FIVE}, 1: {"R": [2, 3, 4, 5]}}), roll(6, 6))
        state = go(state, Answered(0, 1, "R12"))
        assert reason(state, 1, 1, "R12") == "LOCK_NEEDS_FIVE"

    def test_E11_the_fifth_in_action_1_and_the_last_box_in_action_2(self) -> None:
        state = go(game(sheets={0: {"R": [2, 3, 4, 5]}}), roll(4, 6, red=6))
        assert reason(action1(state, "R10"), 0, 2, "R12") == ""

    def test_E12_the_lock_comes_by_itself_and_counts(self) -> None:
        state = go(game(sheets={0: {"R": FIVE}}), roll(6, 6))
        assert reason(state, 0, 1, "RLOCK") == "LOCK_ALONE"
        state, facts = facts_of(state, Answered(0, 1, "R12"), ActionClosed(1))
        assert Crossed(0, "R12", lock=True) in facts
        assert state.plan.locks_of(state.crosses[0]) == ["R"]
        assert state.points(0)["red"] == 28

    def test_E12_twelve_crosses_score_78(self) -> None:
        assert game(sheets={0: {"R": [*range(2, 13)]}}).points(0)["red"] == 78

    def test_E13_several_close_a_row_together(self) -> None:
        state = go(game(3, sheets={0: {"R": FIVE}, 2: {"R": FIVE}}), roll(6, 6))
        answers = [Answered(0, 1, "R12"), Answered(2, 1, "R12")]
        state, facts = facts_of(state, *answers, ActionClosed(1))
        assert RowClosed("R", DieColour.RED, (0, 2)) in facts
        assert [len(state.plan.locks_of(own)) for own in state.crosses] == [1, 0, 1]
        assert state.phase is Phase.ACTION2

    def test_E14_the_row_is_shut_and_its_die_gone_in_action_2_already(self) -> None:
        sheets = {0: {"R": [2, 3]}, 1: {"R": FIVE}}
        state = action1(go(game(sheets=sheets), roll(6, 6, red=4)), None, "R12")
        assert state.dice == (DieColour.YELLOW, DieColour.GREEN, DieColour.BLUE)
        assert not {box for box in legal(state, 0) if box.startswith("R")}
        assert reason(state, 0, 2, "R10") == "ROW_LOCKED"
        assert ruling(state, 0, 2, "R10") == "E14"
        state = action2(state, None)
        assert isinstance(apply(state, roll(1, 1)), Refusal)
        state = go(state, roll(4, 3, red=0))
        assert reason(state, 0, 1, "R7") == "ROW_LOCKED"
        assert legal(state, 0) == {"Y7", "G7", "B7"}

    def test_E15_nobody_joins_a_row_closed_in_action_2(self) -> None:
        sheets = {0: {"R": FIVE}, 1: {"R": FIVE}}
        state = turn(game(sheets=sheets), roll(6, 1, red=6), [], "R12")
        assert [c.players for c in state.closed] == [(0,)]
        state = go(state, roll(6, 6, red=0))
        assert reason(state, 1, 1, "R12") == "ROW_LOCKED"
        assert ruling(state, 1, 1, "R12") == "E15"

    def test_E16_crosses_in_a_row_closed_by_others_still_score(self) -> None:
        state = game(sheets={0: {"R": [2, 3]}, 1: {"R": [*FIVE, 12]}}, closed=["R"])
        assert [state.total(0), state.total(1)] == [3, 28]

    def test_E46_an_answer_that_closes_is_reported_and_may_be_changed(self) -> None:
        state = go(game(sheets={0: {"R": FIVE}}), roll(6, 6))
        state, facts = facts_of(state, Answered(0, 1, "R12"))
        assert facts == [WouldClose(0, "R")]
        state, facts = facts_of(state, Answered(0, 1, "R12"))
        assert facts == []  # the same answer again is no news
        state, facts = facts_of(state, Answered(0, 1, None))
        assert facts == [ClosingTakenBack(0, "R")]
        assert action1(state).closed == ()


class TestEnd:
    def test_E17_E18_E19_two_rows_closed_in_action_1_end_it_without_action_2(self) -> None:
        sheets = {1: {"R": FIVE}, 2: {"Y": FIVE}}
        state = go(game(3, sheets=sheets), roll(6, 6))
        answers = [Answered(1, 1, "R12"), Answered(2, 1, "Y12")]
        state, facts = facts_of(state, *answers, ActionClosed(1))
        assert state.phase is Phase.OVER
        assert state.end is End.LOCKS
        assert state.misses == (0, 0, 0)
        assert facts[-1] == GameEnded("locks")
        assert reason(state, 0, 2, "B9") == "GAME_OVER"
        assert ruling(state, 0, 2, "B9") == "E18"

    def test_E18_second_and_third_row_at_once(self) -> None:
        sheets = {0: {"G": [*FIVE_DOWN, 2]}, 1: {"R": FIVE}, 2: {"Y": FIVE}}
        state = go(game(3, sheets=sheets, closed=["G"]), roll(6, 6, green=0))
        state = action1(state, "B12", "R12", "Y12")
        assert len(state.closed) == 3
        assert state.end is End.LOCKS
        assert state.total(0) == 28 + 1  # its own cross of that action counts

    def test_E20_a_second_row_closed_in_action_2_ends_it(self) -> None:
        sheets = {0: {"G": [*FIVE_DOWN, 2], "R": FIVE}}
        state = turn(game(sheets=sheets, closed=["G"]), roll(6, 1, red=6, green=0), [], "R12")
        assert (state.phase, state.end) == (Phase.OVER, End.LOCKS)
        assert (state.active, state.turn) == (0, 1)
        assert ruling(state, 0, 2, "B9") == "E20"

    def test_E20_the_fourth_miss_counts_and_ends_it(self) -> None:
        state = turn(game(misses={0: 3}), roll(4, 1), [None, "R5"], None)
        assert (state.end, state.misses, state.total(0)) == (End.MISSES, (4, 0), -20)
        assert ruling(state, 0, 1, "R5") == state.end_ruling == "E20"

    def test_E21_misses_of_different_players_do_not_add_up(self) -> None:
        state = turn(game(misses={0: 2, 1: 3}), roll(4, 1), [], None)
        assert (state.phase, state.misses) == (Phase.ROLL, (3, 3))

    def test_E22_equal_totals_share_the_rank(self) -> None:
        state = game(4, sheets={1: {"R": [2]}, 3: {"B": [12]}})
        assert state.ranking == ((1, 1), (1, 3), (3, 0), (3, 2))

    @pytest.mark.parametrize(
        ("count", "points"),
        [(0, 0), (1, 1), (2, 3), (3, 6), (4, 10), (5, 15), (6, 21), (7, 28), (8, 36), (9, 45)],
    )
    def test_E23_row_points(self, count: int, points: int) -> None:
        assert game(sheets={0: {"Y": [*range(2, 2 + count)]}}).points(0)["yellow"] == points

    def test_E23_totals_run_from_minus_20_to_266(self) -> None:
        up, down = [*range(2, 13)], [*range(12, 1, -1)]
        both = {"R": up, "Y": up, "G": down, "B": down}
        closed_by_others = {"R": up[:10], "Y": up[:10], "G": down, "B": down}
        assert game(misses={0: 4}).total(0) == -20
        assert game(sheets={0: both}).total(0) == 4 * 78
        assert game(sheets={0: closed_by_others}).total(0) == 2 * 55 + 2 * 78 == 266

    def test_ended_early_by_the_table(self) -> None:
        state = go(game(), roll(1, 1), EndedEarly())
        assert (state.phase, state.end) == (Phase.OVER, End.ENDED_EARLY)
        assert isinstance(apply(state, EndedEarly()), Refusal)


class TestTable:
    def test_E36_equal_whites_give_one_sum_per_colour(self) -> None:
        assert Roll.of((4, 4), {DieColour.RED: 3}).colour_sums(DieColour.RED) == (7,)

    @pytest.mark.parametrize("players", [1, 2, 5])
    def test_E39_E40_one_to_five_play(self, players: int) -> None:
        assert turn(game(players), roll(1, 1), [], None).active == (1 % players)

    @pytest.mark.parametrize("players", [0, 6])
    def test_E40_more_is_refused(self, players: int) -> None:
        with pytest.raises(ValueError, match="expected 1 to 5"):
            game(players)

    def test_E44_play_goes_clockwise(self) -> None:
        state, seen = game(3, 1), []
        for _ in range(4):
            seen.append(state.active)
            state = turn(state, roll(1, 1), [], None)
        assert seen == [1, 2, 0, 1]

    @pytest.mark.parametrize(
        "dice", [roll(0, 4), roll(4, 7), roll(1, 1, red=0), roll(1, 1, blue=9)]
    )
    def test_E45_a_roll_is_the_dice_in_play(self, dice: Any) -> None:
        step = apply(game(), dice)
        assert isinstance(step, Refusal)
        assert step.reason.value == "BAD_DICE"

    def test_E45_as_many_dice_but_not_those_in_play(self) -> None:
        state = game(sheets={0: {"R": [*FIVE, 12]}}, closed=["R"])
        assert not isinstance(apply(state, roll(1, 1, red=0)), Refusal)
        step = apply(state, roll(1, 1, blue=0))
        assert isinstance(step, Refusal)
        assert step.reason.value == "BAD_DICE"

    def test_the_order_of_reasons(self) -> None:
        state = game(sheets={0: {"R": [*FIVE, 12]}}, closed=["R"])
        assert isinstance(step := apply(go(state, roll(1, 1, red=0)), roll(1, 1)), Refusal)
        assert step.reason.value == "BAD_DICE"  # before WRONG_PHASE
        state = action1(go(state, roll(4, 3, red=0)))
        assert reason(state, 0, 2, "R8") == "ROW_LOCKED"  # before DIE_REMOVED and the rest
        assert reason(state, 1, 2, "nonsense") == "NOT_ACTIVE"  # before BAD_TOKEN
        assert reason(state, 7, 2, "nonsense") == "UNKNOWN_PLAYER"
        assert reason(state, 7, 1, "nonsense") == "WRONG_PHASE"

    @pytest.mark.parametrize(
        ("choice", "want"),
        [
            ("R13", "NO_SUCH_NUMBER"),
            ("R1", "NO_SUCH_NUMBER"),
            ("R", "BAD_TOKEN"),
            ("r5", "BAD_TOKEN"),
            ("R05", "BAD_TOKEN"),
            ("P5", "BAD_TOKEN"),
            ("", "BAD_TOKEN"),
            (5, "BAD_TOKEN"),
            (True, "BAD_TOKEN"),
            ({}, "BAD_TOKEN"),
            ("RY5", "NO_BONUS_ROW"),
            ("RY99", "NO_BONUS_ROW"),
            ([], "TWO_MARKS"),
            ("R" + "9" * 400, "BAD_TOKEN"),
        ],
    )
    def test_tokens(self, choice: object, want: str) -> None:
        assert reason(go(game(), roll(4, 1)), 0, 1, choice) == want

    def test_a_log_with_a_refused_event_names_it(self) -> None:
        with pytest.raises(ValueError, match=r"event 2.*WRONG_PHASE"):
            fold(game(), [roll(1, 1), roll(1, 1)])


class TestBigPoints:
    def test_E24_E27_a_bonus_box_needs_a_neighbour_from_an_earlier_action(self) -> None:
        state = go(game(plan=BIG_POINTS), roll(6, 4, green=4))
        assert reason(state, 0, 1, "GB10") == "BONUS_NEEDS_NEIGHBOUR"
        assert reason(action1(state, "G10"), 0, 2, "GB10") == ""  # E26

    def test_E25_another_green_10_but_not_another_blue_one(self) -> None:
        state = game(plan=BIG_POINTS, sheets={0: {"G": [10]}})
        by_green = action1(go(state, roll(6, 1, green=4, blue=1)))
        assert "GB10" in legal(by_green, 0)
        by_blue = action1(go(state, roll(6, 1, green=1, blue=4)))
        assert reason(by_blue, 0, 2, "GB10") == "BONUS_WRONG_DIE"

    def test_E28_E29_E30(self) -> None:
        sheets = {0: {"R": [2, 3, 4, 5], "RY": [2, 3, 5]}}
        state = game(plan=BIG_POINTS, sheets=sheets)
        assert reason(go(state, roll(1, 3)), 0, 1, "RY4") == "NOT_TO_THE_RIGHT"
        assert ruling(go(state, roll(1, 3)), 0, 1, "RY4") == "E28"
        assert reason(go(state, roll(6, 6)), 0, 1, "R12") == "LOCK_NEEDS_FIVE"
        state = game(plan=BIG_POINTS, sheets={0: {"R": [4]}})
        assert turn(state, roll(1, 3), ["RY4"], None).misses == (0, 0)

    def test_E31_E32_next_to_a_closed_row(self) -> None:
        sheets = {0: {"R": [*FIVE, 12], "Y": [7]}, 1: {"R": [7]}}
        state = go(game(plan=BIG_POINTS, sheets=sheets, closed=["R"]), roll(3, 4, red=0))
        assert "RY7" in legal(state, 0) & legal(state, 1)
        state = action1(state, None, "RY7")
        assert state.points(1) == {"red": 3, "yellow": 1, "green": 0, "blue": 0}

    def test_E32_a_die_that_left_in_action_1_opens_nothing_in_action_2(self) -> None:
        sheets = {0: {"R": [7]}, 1: {"R": FIVE}}
        state = go(game(plan=BIG_POINTS, sheets=sheets), roll(6, 6, red=1, yellow=3))
        assert "RY7" in legal(action1(state), 0)
        closed = action1(state, None, "R12")
        assert reason(closed, 0, 2, "RY7") == "DIE_REMOVED"
        assert ruling(closed, 0, 2, "RY7") == "E32"
        assert "RY7" not in legal(closed, 0)

    def test_E33_E35_the_last_bonus_box_closes_nothing(self) -> None:
        sheets = {0: {"R": [*FIVE, 12], "RY": FIVE}}
        state = go(game(plan=BIG_POINTS, sheets=sheets, closed=["R"]), roll(6, 6, red=0))
        state, facts = facts_of(state, Answered(0, 1, "RY12"), ActionClosed(1))
        assert facts == [Crossed(0, "RY12", lock=False)]
        assert len(state.closed) == 1

    def test_E34_fifteen_crosses_score_at_most(self) -> None:
        sheets = {0: {"R": [*range(2, 13)], "RY": [2, 3, 4, 5]}}
        assert game(plan=BIG_POINTS, sheets=sheets).points(0)["red"] == 120
