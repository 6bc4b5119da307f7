"""What bots cross, and how well they play."""

from __future__ import annotations

import numpy as np
import pytest

from companion.coach.bots import NOISE, advice_of, choice_of, coach_of
from companion.coach.games import new_games
from companion.coach.play import play
from companion.coach.positions import games_from
from companion.coach.tempo import Tempo, tables_of
from companion.engine import (
    COLOURED,
    PLANS,
    ActionClosed,
    Answered,
    Phase,
    Roll,
    RollCorrected,
    Rolled,
    SeatClosed,
    apply,
    new_game,
)
from companion.engine.refusal import Refusal
from companion.eventlog.state import STRENGTHS
from tests.engine.build import action1, game, go, roll


@pytest.mark.parametrize("variant", sorted(PLANS))
@pytest.mark.parametrize("players", [1, 3])
def test_the_judge_accepts_every_answer_of_whole_games(variant: str, players: int) -> None:
    rng = np.random.default_rng(2)
    state = new_game(PLANS[variant], players)
    while state.phase is not Phase.OVER:
        values = rng.integers(1, 7, 6).tolist()
        coloured = {colour: values[2 + COLOURED.index(colour)] for colour in state.dice}
        events = [Rolled(Roll.of((values[0], values[1]), coloured))]
        if state.phase is not Phase.ROLL:
            action = state.action
            events = [
                Answered(player, action, choice_of(state, player, STRENGTHS[player % 3], rng))
                for player in state.waiting_for
            ]
            events.append(ActionClosed(action))
        for event in events:
            step = apply(state, event)
            assert not isinstance(step, Refusal), (event, step)
            state = step.state


@pytest.mark.parametrize("variant", sorted(PLANS))
def test_a_game_that_somebody_has_left_is_played_to_its_end_as_well(variant: str) -> None:
    """Who has left closes no row: the game does not end sooner for it."""
    left = go(new_game(PLANS[variant], 4), SeatClosed(3))
    bots = [coach_of(variant, 4)] * 4
    went_on = play(games_from(left, 300), bots, np.random.default_rng(1)).totals()[:3].mean()
    three = [coach_of(variant, 3)] * 3
    of_three = play(new_games(variant, 3, 300), three, np.random.default_rng(1)).totals().mean()
    assert went_on > 0.8 * of_three


def test_a_strong_bot_closes_a_row_that_wins() -> None:
    rng = np.random.default_rng(1)
    near = game(closed=["B"], sheets={1: {"R": [2, 3, 4, 5, 6, 7]}})
    assert choice_of(go(near, roll(6, 6, blue=0)), 1, "strong", rng) == "R12"
    own = game(closed=["B"], sheets={0: {"R": [2, 3, 4, 5, 6, 7]}})
    second = action1(go(own, roll(6, 1, red=6, blue=0)), None, None)
    assert choice_of(second, 0, "strong", rng) == "R12"
    corrected = go(second, RollCorrected(roll(5, 2, red=6, blue=0).roll))
    assert choice_of(corrected, 0, "strong", rng) != "R12"


def test_each_strength_beats_the_one_below() -> None:
    rng = np.random.default_rng(5)
    players = [Tempo(tables_of("base", 3), NOISE[each], rng) for each in STRENGTHS]
    easy, medium, strong = play(new_games("base", 3, 1000), players, rng).winners().mean(axis=1)
    assert 0.02 < easy < medium < strong


def test_a_bot_plays_by_its_own_sheet_whoever_is_active() -> None:
    far = {"R": [2, 3, 4, 5, 6, 7, 8, 9]}
    for player in (0, 1):
        state = go(game(2, first=1 - player, sheets={player: far}), roll(4, 6))
        assert choice_of(state, player, "strong") == "R10"


def test_a_bot_alone_ends_a_game_that_can_only_get_worse() -> None:
    nearly = {"Y": [2, 3, 4, 5, 6, 7, 8, 9, 10, 11], "G": [3], "B": [3]}
    state = go(game(1, closed=["R"], sheets={0: nearly}), roll(6, 6, red=0))
    assert choice_of(state, 0, "strong") == "Y12"


def test_advice_is_the_coachs_best_every_time() -> None:
    state = go(game(2, sheets={0: {"R": [2, 3, 4]}, 1: {"R": [2, 3]}}), roll(2, 3))
    assert {advice_of(state, 0) for _ in range(20)} == {choice_of(state, 0, "strong")}
