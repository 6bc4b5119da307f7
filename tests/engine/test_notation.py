"""A recorded game comes back as it was, and a damaged one up to its bad line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from companion.engine import (
    ActionClosed,
    Answered,
    EndedEarly,
    Event,
    GameState,
    HouseRule,
    RollCorrected,
    fold,
    new_game,
)
from companion.engine.notation import from_lines, to_lines
from companion.engine.variants import BIG_POINTS
from companion.errors import NotationError
from companion.history.replay import replay
from companion.messages.catalogue import load_phrases
from tests.engine.build import game, roll
from tests.engine.strategies import games


def settled(state: GameState) -> GameState:
    """The state without the memory of how action 1 came to close."""
    return state._replace(action1=None)


@settings(max_examples=60)
@given(games(), st.data())
def test_round_trip_of_any_prefix(
    drawn: tuple[GameState, list[Event]], data: st.DataObject
) -> None:
    start, events = drawn
    events = events[: data.draw(st.integers(0, len(events)))]
    names = [f"Zoë {p}" for p in range(start.players)]
    lines = to_lines(start, events, names)
    record = from_lines(lines)
    assert record.fault is None
    assert record.names == tuple(names)
    want = fold(start, events)
    if want.action and not want.waiting_for:  # a record has it closed
        want = fold(want, [ActionClosed(want.action)])
    assert settled(fold(record.start, record.events)) == settled(want)
    assert to_lines(record.start, record.events, record.names) == lines
    assert not [a for a in replay(lines, load_phrases("en")) if "refused" in a]


@settings(max_examples=40)
@given(games(6), st.data())
def test_a_damaged_record_opens_up_to_the_bad_line(
    drawn: tuple[GameState, list[Event]], data: st.DataObject
) -> None:
    lines = to_lines(*drawn)
    bad = data.draw(st.integers(1, max(1, len(lines) - 1)))
    damage = data.draw(st.sampled_from(["{", "[]", '{"t":"roll"}', '{"t":"x"}', "\x00"]))
    record = from_lines([*lines[:bad], damage, *lines[bad:]])
    assert record.fault is not None
    assert record.fault.startswith(f"line {bad + 1}: ")
    assert to_lines(record.start, record.events)[:bad] == lines[:bad]


def test_corrections_and_answers_taken_back_leave_the_settled_turn() -> None:
    start = game(2)
    right = RollCorrected(roll(4, 2).roll)
    events: list[Event] = [
        roll(4, 3),
        Answered(0, 1, "Y7"),
        Answered(0, 1, "R7"),
        ActionClosed(1),
        right,
        Answered(0, 1, "R6"),
        ActionClosed(1),
        Answered(0, 2, None),
        ActionClosed(2),
        EndedEarly(),
    ]
    lines = [json.loads(line) for line in to_lines(start, events)]
    assert [line["t"] for line in lines] == ["config", "roll", "action1", "action2", "end"]
    assert lines[1]["white"] == [2, 4]
    assert lines[2]["choices"] == ["R6", None]
    record = from_lines(to_lines(start, events))
    assert fold(record.start, record.events) == fold(start, events)


def test_house_rules_are_part_of_a_record() -> None:
    start = new_game(BIG_POINTS, 2, house=list(HouseRule))
    assert from_lines(to_lines(start, [])).start == start


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([], "the record is empty"),
        (["", "  "], "the record is empty"),
        (["", "nonsense"], "line 2: The line is not JSON"),
        (['{"t":"roll"}'], "line 1: A record begins with its config line"),
        (['{"t":"config","variant":"x","players":2,"first":0}'], "line 1: The variant must be"),
        (
            ['{"t":"config","variant":"base","players":2,"first":0,"house":["x"]}'],
            "House rules are",
        ),
        (
            ['{"t":"config","variant":"base","players":2,"first":0,"names":["A"]}'],
            "Expected 2 names, got 1",
        ),
    ],
)
def test_a_record_without_a_game_raises(lines: list[str], said: str) -> None:
    with pytest.raises(NotationError, match=said):
        from_lines(lines)
