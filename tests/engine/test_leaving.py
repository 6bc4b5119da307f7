"""A player leaves in the middle of a game: crosses stay, turns are passed over, nobody waits."""

from __future__ import annotations

import pytest

from companion.engine import (
    BASE,
    ActionClosed,
    Answered,
    AnswerReturned,
    DieColour,
    End,
    EndedEarly,
    Event,
    GameState,
    Phase,
    PlayerLeft,
    Refusal,
    Roll,
    RollCorrected,
    Rolled,
    SeatClosed,
    Step,
    apply,
    fold,
    new_game,
)
from companion.engine.notation import from_lines, to_lines
from companion.history.replay import replay
from companion.messages.catalogue import load_phrases
from tests.engine import build
from tests.engine.build import facts_of, game, go

COLOURS = (DieColour.RED, DieColour.YELLOW, DieColour.GREEN, DieColour.BLUE)


def roll(low: int, high: int) -> Rolled:
    return Rolled(Roll.of((low, high), dict.fromkeys(COLOURS, 1)))


def after(state: GameState, *events: Event) -> GameState:
    return fold(state, events)


@pytest.fixture
def three() -> GameState:
    """Three players, a turn played in which everybody crossed red 7; the second is to throw."""
    answers = [Answered(player, 1, "R7") for player in range(3)]
    done = [ActionClosed(1), ActionClosed(2)]
    return after(new_game(BASE, 3, 0), roll(3, 4), *answers, *done)


def test_the_score_of_a_player_who_left_is_kept(three: GameState) -> None:
    state = after(three, SeatClosed(2))
    assert state.total(2) == 1
    assert state.ranking == three.ranking
    step = apply(three, SeatClosed(2))
    assert isinstance(step, Step)
    assert step.facts == (PlayerLeft(2),)


def test_the_turn_of_a_player_who_left_is_skipped(three: GameState) -> None:
    state = after(three, SeatClosed(1))
    assert (state.phase, state.active, state.turn) == (Phase.ROLL, 2, 3)
    assert state.misses == (0, 0, 0)


def test_nobody_waits_for_them_and_they_cross_nothing(three: GameState) -> None:
    state = after(three, SeatClosed(2), roll(4, 4))
    assert state.waiting_for == (0, 1)
    assert state.legal[2] == 0
    refused = apply(state, Answered(2, 1, "R8"))
    assert isinstance(refused, Refusal)
    assert refused.reason.value == "UNKNOWN_PLAYER"
    state = after(state, Answered(0, 1, "R8"), Answered(1, 1, None), ActionClosed(1))
    state = after(state, ActionClosed(2))
    assert state.active == 0, "the third player's turn is passed over"
    assert state.misses == (0, 1, 0)


def test_leaving_in_action_1_drops_the_answer_and_action_2(three: GameState) -> None:
    open_ = after(three, roll(4, 4), Answered(1, 1, "R8"), Answered(0, 1, "Y8"))
    state = after(open_, SeatClosed(1))
    assert state.waiting_for == (2,)
    state = after(state, Answered(2, 1, None), ActionClosed(1))
    assert (state.phase, state.active, state.turn) == (Phase.ROLL, 2, 3)
    assert state.misses == (0, 0, 0)
    assert state.total(1) == 1


def test_leaving_in_the_own_action_2_is_no_miss(three: GameState) -> None:
    state = after(three, roll(4, 4), ActionClosed(1), SeatClosed(1))
    assert (state.phase, state.active, state.misses) == (Phase.ROLL, 2, (0, 0, 0))


def test_leaving_in_somebody_elses_action_2(three: GameState) -> None:
    state = after(three, roll(4, 4), ActionClosed(1), SeatClosed(2))
    assert (state.phase, state.active, state.waiting_for) == (Phase.ACTION2, 1, (1,))
    state = after(state, RollCorrected(roll(2, 2).roll))
    assert state.phase is Phase.ACTION1
    assert state.waiting_for == (0, 1)
    assert state.legal[2] == 0


def test_the_last_one_to_leave_ends_the_game(three: GameState) -> None:
    state = after(three, SeatClosed(0), SeatClosed(2), SeatClosed(1))
    assert (state.phase, state.end) == (Phase.OVER, End.ENDED_EARLY)


@pytest.mark.parametrize("player", [2, 3, -1, None, True])
def test_only_players_in_the_game_can_leave(three: GameState, player: object) -> None:
    refused = apply(after(three, SeatClosed(2)), SeatClosed(player))  # type: ignore[arg-type]
    assert isinstance(refused, Refusal)
    assert refused.reason.value == "UNKNOWN_PLAYER"


def test_nobody_leaves_a_finished_game(three: GameState) -> None:
    refused = apply(after(three, EndedEarly()), SeatClosed(0))
    assert isinstance(refused, Refusal)
    assert (refused.reason.value, refused.ruling) == ("GAME_OVER", None)


def test_a_game_record_contains_the_leaving(three: GameState) -> None:
    start = new_game(BASE, 3, 0)
    events: list[Event] = [
        roll(3, 4),
        *(Answered(player, 1, "R7") for player in range(3)),
        ActionClosed(1),
        ActionClosed(2),
        roll(4, 4),
        Answered(0, 1, "R8"),
        SeatClosed(1),
        ActionClosed(1),
        SeatClosed(2),
        roll(5, 5),
        ActionClosed(1),
        Answered(0, 2, None),
        ActionClosed(2),
    ]
    lines = to_lines(start, events)
    assert sum('"left"' in line for line in lines) == 2
    read = from_lines(lines)
    assert read.fault is None
    assert fold(read.start, read.events) == fold(start, events)


def told(start: GameState, events: list[Event]) -> GameState:
    """The state that the record of a game leads to."""
    read = from_lines(to_lines(start, events))
    assert read.fault is None
    return fold(read.start, read.events)


def test_a_game_record_contains_a_leaving_before_any_roll() -> None:
    start = new_game(BASE, 3, 0)
    for events in ([SeatClosed(0)], [SeatClosed(0), EndedEarly()], [SeatClosed(2), roll(3, 4)]):
        assert told(start, list(events)) == fold(start, events)


def test_a_game_record_contains_a_leaving_before_a_reopening() -> None:
    start = new_game(BASE, 4, 3)
    events = [
        roll(3, 4),
        ActionClosed(1),
        SeatClosed(0),
        RollCorrected(roll(4, 4).roll),
        SeatClosed(3),
        Answered(1, 1, "R8"),
        Answered(2, 1, None),
        ActionClosed(1),
    ]
    state = fold(start, events)
    assert (state.active, state.turn) == (1, 2)
    assert told(start, events) == state


def test_a_record_has_an_answer_of_action_2_that_is_about_to_count(three: GameState) -> None:
    start = new_game(BASE, 2, 0)
    events = [roll(3, 4), ActionClosed(1), Answered(0, 2, "R4")]
    assert told(start, events) == fold(start, [*events, ActionClosed(2)])


def test_a_record_has_the_end_that_is_about_to_come() -> None:
    start = new_game(BASE, 1, 0)
    turn = [roll(3, 4), ActionClosed(1), Answered(0, 2, None)]
    events = [*[*turn, ActionClosed(2)] * 3, *turn]
    lines = to_lines(start, events)
    assert lines == to_lines(start, [*events, ActionClosed(2)])
    assert '"end": "misses"' in lines[-1]
    assert told(start, events) == fold(start, [*events, ActionClosed(2)])


def test_in_a_game_record_the_last_leaving_closes_action_1() -> None:
    lines = [
        '{"t": "config", "variant": "base", "players": 3, "first": 0}',
        '{"t": "roll", "white": [3, 4], "colour": {"red": 1, "yellow": 1, "green": 1, "blue": 1}}',
        '{"t": "action1", "player": 0, "choice": "R7"}',
        '{"t": "action1", "player": 1, "choice": null}',
        '{"t": "left", "player": 2}',
        '{"t": "action2", "choice": null}',
    ]
    read = from_lines(lines)
    assert read.fault is None
    assert fold(read.start, read.events).turn == 2
    answers = list(replay(lines, load_phrases("en")))
    assert all("refused" not in answer for answer in answers)
    assert answers[-2]["phase"] == "action2"
    assert (answers[-1]["phase"], answers[-1]["active"]) == ("roll", 1)


def test_nobody_who_left_is_asked_to_answer_again() -> None:
    state = go(
        game(3), build.roll(4, 4), Answered(1, 1, "R8"), Answered(2, 1, "R8"), ActionClosed(1)
    )
    _, facts = facts_of(state, SeatClosed(2), RollCorrected(build.roll(4, 5).roll))
    assert [each for each in facts if isinstance(each, AnswerReturned)] == [AnswerReturned(1, "R8")]
