"""Chances to win a game that goes on."""

from __future__ import annotations

import pytest

from companion.coach.chances import chances, position_of
from companion.coach.policies import GREEDY, SKIP_TWO
from companion.coach.proof import recorded
from companion.engine import PLANS, EndedEarly, Phase, RollCorrected, SeatClosed, fold
from tests.engine.build import action1, game, go, roll


@pytest.mark.parametrize("variant", sorted(PLANS))
def test_chances_sum_to_one_and_point_at_the_winner(variant: str) -> None:
    ((start, events),) = recorded(variant, [SKIP_TWO, GREEDY, GREEDY], 1, seed=4)
    last = fold(start, events)
    assert position_of(last) is None
    near_the_end = fold(start, events[:-1])
    for state in (start, near_the_end):
        position = position_of(state)
        assert position is not None
        found = chances(position, 100)
        assert sum(each.share for each in found) == pytest.approx(1)
        assert all(0 <= each.error <= 0.05 for each in found)
    assert last.ranking[0][1] == max(range(3), key=lambda player: found[player].share)


def test_answers_and_a_closed_action_keep_the_position() -> None:
    rolled = go(game(), roll(3, 4))
    position = position_of(rolled)
    assert position is not None
    assert position.roll == rolled.roll
    closed = action1(rolled, "R7", None)
    assert closed.phase is Phase.ACTION2
    assert position_of(closed) == position
    other = roll(3, 3).roll
    corrected = position_of(go(closed, RollCorrected(other)))
    assert corrected == position._replace(roll=other)
    assert position_of(go(closed, EndedEarly())) is None


def test_a_roll_that_wins_at_once_is_won_in_every_game() -> None:
    near = game(
        closed=["B"],
        sheets={0: {"Y": [2, 3, 4, 5]}, 1: {"R": [2, 3, 4, 5, 6, 7]}},
    )
    before, rolled = position_of(near), position_of(go(near, roll(6, 6, blue=0)))
    assert before is not None
    assert rolled is not None
    assert chances(before)[1].share < 1
    assert chances(rolled)[1].share == 1
    assert 0.002 < chances(rolled)[1].error < 0.004, "400 games won of 400 are not all games"
    assert chances(before) == chances(before), "the same position has the same chances"


def test_whoever_leaves_on_an_own_roll_gets_no_miss() -> None:
    state = go(game(3, misses={0: 3}, sheets={1: {"R": [2, 3]}}), roll(3, 4), SeatClosed(0))
    position = position_of(state)
    assert position is not None
    assert max(each.share for each in chances(position, 200)) < 1


def test_a_player_who_left_keeps_points_and_has_a_smaller_chance() -> None:
    ahead = game(3, sheets={1: {"R": [2, 3, 4, 5]}})
    stays, leaves = position_of(ahead), position_of(go(ahead, SeatClosed(1)))
    assert stays is not None
    assert leaves is not None
    assert chances(leaves, 200)[1].share < 0.1 < chances(stays, 200)[1].share
