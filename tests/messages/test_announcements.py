"""What a step led to is told whole, once, and never untrue."""

from __future__ import annotations

import pytest

from companion.engine import (
    ActionClosed,
    Answered,
    ClosingTakenBack,
    Event,
    GameState,
    HouseRule,
    PlayerLeft,
    Refusal,
    RollCorrected,
    SeatClosed,
    Withdrawn,
    apply,
    new_game,
)
from companion.engine.variants import BASE, BIG_POINTS
from companion.eventlog.state import Game
from companion.messages.announcements import (
    Announcement,
    announce_closings,
    announce_open,
    announce_step,
    announce_undone,
    end_lines,
)
from companion.messages.catalogue import load_phrases
from companion.messages.refusals import refusal_line
from companion.session.preview import differences
from tests.engine.build import action1, facts_of, game, go, roll, with_sheets

EN = load_phrases("en")
NAMES = ("Ada", "Ben", "Cleo")
FIVE = [2, 3, 4, 5, 6]
Told = tuple[str, str]


def after(state: GameState, event: Event) -> Told:
    """Headline and text of what one step is told as."""
    step = apply(state, event)
    assert not isinstance(step, Refusal), step
    said = announce_step(state, step.state, step.facts, NAMES)
    return ("", "") if said is None else shown(said)


def shown(said: Announcement) -> Told:
    return EN.tell(said.headline), EN.tell(*said.lines)


@pytest.fixture
def closing() -> GameState:
    """Action 1 of 6+6; Ada may close red, Ben red and yellow, and Ada has said she does."""
    sheets = {0: {"R": FIVE}, 1: {"R": FIVE, "Y": FIVE}}
    return go(game(3, sheets=sheets), roll(6, 6), Answered(0, 1, "R12"))


def test_a_closing_in_action_2_is_not_for_others_to_answer() -> None:
    state = go(game(2, sheets={0: {"R": FIVE}}), roll(6, 1, red=6), ActionClosed(1))
    assert after(state, Answered(0, 2, "R12")) == ("", "")
    assert announce_closings(go(state, Answered(0, 2, "R12")), NAMES) is None


def test_a_lone_player_gets_no_hint_that_everybody_may_change() -> None:
    state = go(game(1, sheets={0: {"R": FIVE}}), roll(6, 6))
    assert after(state, Answered(0, 1, "R12")) == ("Ada is closing red", "Ada is closing red.")


def test_two_closings_are_both_announced(closing: GameState) -> None:
    assert after(closing, Answered(1, 1, "Y12")) == (
        "Ada is closing red and Ben is closing yellow",
        "Ada is closing red. Ben is closing yellow. You can all still change your answer.",
    )


def test_two_players_who_close_one_row_share_a_sentence(closing: GameState) -> None:
    assert after(closing, Answered(1, 1, "R12")) == (
        "Ada and Ben are closing red",
        "Ada and Ben are closing red. You can all still change your answer.",
    )


def test_one_taken_back_leaves_the_other_standing(closing: GameState) -> None:
    state = go(closing, Answered(1, 1, "Y12"))
    assert after(state, Withdrawn(1, 1)) == (
        "Ada is closing red",
        "Ben isn’t closing yellow after all. Ada is closing red. "
        "You can all still change your answer.",
    )
    assert after(closing, Withdrawn(0, 1))[0] == "Ada isn’t closing red after all."


def test_a_changed_closing_is_announced_with_the_new_row(closing: GameState) -> None:
    state = go(closing, Withdrawn(0, 1), Answered(1, 1, "R12"))
    headline, text = after(state, Answered(1, 1, "Y12"))
    assert headline == "Ben is closing yellow"
    assert text.startswith("Ben isn’t closing red after all. Ben is closing yellow.")


def test_a_correction_announces_the_closings_that_remain(closing: GameState) -> None:
    headline, text = after(closing, RollCorrected(roll(6, 6, red=1).roll))
    assert headline == "12"
    assert text.endswith("Ada is closing red. You can all still change your answer.")


def test_a_correction_or_undo_announces_the_reopened_row(closing: GameState) -> None:
    state = go(closing, ActionClosed(1))
    assert state.closed
    again = "The red row is open again: put the red die back."
    assert again in after(state, RollCorrected(roll(5, 6).roll))[1]
    assert again in shown(announce_undone(state, closing))[1]
    assert shown(announce_undone(closing, closing))[1] == "Last step undone."


def test_an_undo_of_a_correction_closes_the_row_again(closing: GameState) -> None:
    state = go(closing, ActionClosed(1))
    corrected = go(state, RollCorrected(roll(5, 6).roll))
    said = shown(announce_undone(corrected, state))[1]
    assert said == "Last step undone. The red row closes. Take the red die out."


def test_after_the_end_nobody_puts_back_a_die_they_never_took_out() -> None:
    state = go(
        game(2, sheets={0: {"R": FIVE}, 1: {"Y": FIVE}}),
        roll(6, 6),
        Answered(0, 1, "R12"),
        Answered(1, 1, "Y12"),
    )
    said = shown(announce_undone(go(state, ActionClosed(1)), state))[1]
    assert said == ("Last step undone. The red row is open again. The yellow row is open again.")


def test_the_status_of_an_open_action_has_roll_and_closings(closing: GameState) -> None:
    headline, text = shown(announce_open(closing, NAMES))
    assert headline == "12"
    assert text.startswith("White 12. ")
    assert text.endswith("Ada is closing red. You can all still change your answer.")


def test_no_options_are_announced_for_a_player_who_left() -> None:
    state = go(game(3), roll(3, 4), SeatClosed(0))
    assert "Ada may" not in after(state, RollCorrected(roll(3, 4, red=6).roll))[1]


class TestTheEnd:
    """Each sentence about the end is true of this end."""

    def end(self, *events: Event, state: GameState) -> str:
        *before, last = events
        return after(go(state, *before), last)[1].partition(" wins")[0].rpartition(".")[0]

    def test_two_rows_in_action_1(self) -> None:
        state = game(2, sheets={1: {"R": FIVE, "Y": FIVE}}, closed=["G"])
        assert self.end(
            roll(6, 6, green=0), Answered(1, 1, "R12"), ActionClosed(1), state=state
        ) == (
            "The red row has been closed by Ben. Two rows are closed. "
            "The game ends immediately, and Ada gets no penalty"
        )

    def test_three_rows(self) -> None:
        state = game(2, sheets={0: {"R": FIVE}, 1: {"Y": FIVE}}, closed=["G"])
        answers = [Answered(0, 1, "R12"), Answered(1, 1, "Y12")]
        said = self.end(roll(6, 6, green=0), *answers, ActionClosed(1), state=state)
        assert "3 rows are closed. The game ends immediately." in f"{said}."
        assert "Take" not in said

    def test_under_the_house_rule_the_turn_was_played(self) -> None:
        sheets = {1: {"R": FIVE}, 0: {"Y": FIVE}}
        start = new_game(BASE, 2, 0, house=[HouseRule.FINISH_TURN])
        state = go(
            with_sheets(start, sheets),
            roll(6, 6),
            Answered(0, 1, "Y12"),
            Answered(1, 1, "R12"),
            ActionClosed(1),
        )
        said = after(state, ActionClosed(2))[1]
        assert "immediately" not in said
        assert "The turn was played to the end, and now the game is over." in said

    def test_a_fourth_miss_is_announced_once(self) -> None:
        state = action1(go(game(2, misses={0: 3}), roll(3, 4)), None, None)
        said = after(state, ActionClosed(2))[1]
        assert said.casefold().count("penalty") == 1
        assert said.startswith("Fourth penalty for Ada: the game ends immediately.")

    def test_a_player_who_left_takes_no_miss_and_is_not_named(self) -> None:
        state = game(3, sheets={1: {"R": FIVE}, 2: {"Y": FIVE}})
        state = go(state, roll(6, 6), SeatClosed(0), Answered(1, 1, "R12"), Answered(2, 1, "Y12"))
        state = go(state, ActionClosed(1))
        said = EN.tell(*end_lines(state, NAMES))
        assert said == "Two rows are closed. The game ends immediately."


def test_two_rows_closed_together_are_both_in_the_headline() -> None:
    start = new_game(BASE, 2, 0, house=[HouseRule.FINISH_TURN])
    start = with_sheets(start, {0: {"R": FIVE}, 1: {"Y": FIVE}})
    state = go(start, roll(6, 6), Answered(0, 1, "R12"), Answered(1, 1, "Y12"))
    assert after(state, ActionClosed(1))[0] == "Red and yellow closed"


def test_undoing_the_end_promises_no_die_that_never_left() -> None:
    start = with_sheets(game(2), {0: {"R": FIVE}, 1: {"Y": FIVE}})
    state = go(start, roll(6, 6), Answered(0, 1, "R12"), Answered(1, 1, "Y12"))
    over = go(state, ActionClosed(1))
    both = (Game(1, (0, 1), each, NAMES[:2], ("", "")) for each in (over, state))
    told = EN.tell(*differences(*both))
    assert "The red row is open again. The yellow row is open again." in told
    assert "comes back" not in told


def test_white_dice_of_the_same_sum_are_named_by_their_faces() -> None:
    state = go(game(2), roll(3, 4))
    other = go(state, RollCorrected(roll(2, 5).roll))
    was, now = (Game(1, (0, 1), each, NAMES[:2], ("", "")) for each in (state, other))
    lines = differences(was, now)
    assert EN.tell(*lines) == "White dice: 3 and 4 become 2 and 5."


@pytest.mark.parametrize(
    ("house", "says"),
    [([HouseRule.BONUS_NEXT_TURN], "By your house rule"), ([], "")],
)
def test_a_bonus_of_this_turn_is_declined_by_the_house_rule(
    house: list[HouseRule], says: str
) -> None:
    state = go(new_game(BIG_POINTS, 2, 0, house=house), roll(3, 4, red=4), Answered(0, 1, "R7"))
    step = apply(go(state, ActionClosed(1)), Answered(0, 2, "RY7"))
    assert isinstance(step, Refusal) == bool(house)
    if isinstance(step, Refusal):
        assert says in EN.tell(refusal_line(step, NAMES))


def test_a_bonus_whose_row_was_never_crossed_has_the_old_reason() -> None:
    state = new_game(BIG_POINTS, 2, 0, house=[HouseRule.BONUS_NEXT_TURN])
    step = apply(go(state, roll(3, 4, red=4), ActionClosed(1)), Answered(0, 2, "RY7"))
    assert isinstance(step, Refusal)
    assert "neighbouring row where you have crossed 7" in EN.tell(refusal_line(step, NAMES))


def test_the_end_names_all_winners_and_the_scores_from_the_best_down() -> None:
    state = game(3, misses={0: 3}, sheets={1: {"R": [2, 3]}, 2: {"G": [12, 11]}})
    state = action1(go(state, roll(3, 4)), None, None, None)
    assert after(state, ActionClosed(2))[1].endswith(
        "Ben and Cleo share the victory with 3 points each. Ben: 3, Cleo: 3, Ada: −20."
    )


def test_a_closing_ends_with_the_player_who_leaves() -> None:
    state = go(game(3, sheets={1: {"R": FIVE}}), roll(6, 6), Answered(1, 1, "R12"))
    _, facts = facts_of(state, SeatClosed(1))
    assert facts == [ClosingTakenBack(1, "R"), PlayerLeft(1)]
    assert after(state, SeatClosed(1))[1].startswith("Ben isn’t closing red after all.")
