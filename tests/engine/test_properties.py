"""What holds in every legal game."""

from __future__ import annotations

from hypothesis import given, settings

from companion.engine import (
    BIG_POINTS,
    Answered,
    Event,
    GameState,
    Phase,
    Refusal,
    apply,
    fold,
)
from tests.engine.build import crosses_of, go
from tests.engine.strategies import games


@settings(max_examples=60)
@given(games())
def test_marks_only_advance_and_scores_stay_possible(drawn: tuple[GameState, list[Event]]) -> None:
    state, events = drawn
    highest = 480 if state.plan is BIG_POINTS else 266
    for event in events:
        after = go(state, event)
        for before_crosses, crosses in zip(state.crosses, after.crosses, strict=True):
            assert crosses & before_crosses == before_crosses
            assert (crosses ^ before_crosses).bit_count() <= 2  # a box, and its lock
        assert all(-20 <= after.total(player) <= highest for player in range(after.players))
        assert sum(after.misses) - sum(state.misses) in (0, 1)
        assert (after.end is not None) == (after.phase is Phase.OVER)
        assert len(after.closed) >= len(state.closed)
        state = after


@settings(max_examples=30)
@given(games(12))
def test_legal_boxes_are_exactly_those_that_are_accepted(
    drawn: tuple[GameState, list[Event]],
) -> None:
    state, events = drawn
    for event in events:
        if state.action:
            for player in range(state.players):
                legal = set(state.plan.name_of(state.legal[player]))
                for token in state.plan.bits:
                    step = apply(state, Answered(player, state.action, token))
                    assert (token in legal) is not isinstance(step, Refusal), token
        state = go(state, event)


@settings(max_examples=40)
@given(games())
def test_kept_open_boxes_are_those_the_sheet_gives(drawn: tuple[GameState, list[Event]]) -> None:
    state = fold(*drawn)
    shut = sum(state.plan.row_bits[closing.row] for closing in state.closed)
    assert state.open == tuple(state.plan.open_boxes(own, shut) for own in state.crosses)
    for player in range(state.players):
        crosses = state.crosses[player]
        assert crosses_of(state.plan, state.plan.marks_of(crosses)) == crosses
        assert not state.plan.lost_boxes(crosses, shut) & (crosses | state.open[player])
