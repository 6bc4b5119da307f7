"""The player for several players and what it learnt."""

from __future__ import annotations

import numpy as np
import pytest

from companion.coach.games import Games, new_games
from companion.coach.play import Step, play
from companion.coach.policies import SKIP_TWO
from companion.coach.tempo import Tempo, tables_of
from companion.coach.train import learn
from companion.commands.bench_coach import at_one_table
from companion.engine import PLANS


@pytest.mark.parametrize("variant", PLANS)
@pytest.mark.parametrize("players", [1, 2, 3, 4, 5])
def test_it_crosses_legal_boxes_only(variant: str, players: int) -> None:
    def check(games: Games, step: Step) -> None:
        assert not (step.chosen1 & ~step.legal1).any()
        assert not (step.chosen2 & ~step.legal2).any()
        assert (step.chosen1.sum(axis=0) <= 1).all()
        assert (step.chosen2.sum(axis=0) <= 1).all()

    player = Tempo(tables_of(variant, players))
    results = play(
        new_games(variant, players, 60), [player] * players, np.random.default_rng(1), check
    )
    assert results.totals().mean() > 40


def test_it_beats_everybody_at_one_table() -> None:
    result = at_one_table(games=2000)
    assert min(result.beats.values()) > 0.6
    assert result.wins["coach"] > 0.5


@pytest.mark.slow
def test_it_beats_everybody_over_20000_games() -> None:
    result = at_one_table()
    assert min(result.beats.values()) > 0.6
    assert result.wins["coach"] == max(result.wins.values())


def test_learning_from_weak_games_makes_a_better_player() -> None:
    rng = np.random.default_rng(9)
    learnt = Tempo(learn("base", 2, [SKIP_TWO, SKIP_TWO], rng, games=5000))
    results = play(new_games("base", 2, 2000), [learnt, SKIP_TWO], rng)
    assert results.winners()[0].mean() > 0.55
