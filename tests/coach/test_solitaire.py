"""The table for one player alone and the player who uses it."""

from __future__ import annotations

import numpy as np
import pytest

from companion.coach import solitaire
from companion.coach.games import new_games
from companion.coach.play import play
from companion.coach.solve import values_of

PUBLISHED_OPTIMUM = 115.48


def test_the_table_has_the_published_optimum() -> None:
    empty = np.zeros((4, 1), np.int16)
    table = solitaire.values().astype(np.float32)
    found = values_of(empty, table[0], table[1])
    assert float(found[0]) == pytest.approx(PUBLISHED_OPTIMUM, abs=0.05)
    assert float(table[0, 0, 0]) == pytest.approx(PUBLISHED_OPTIMUM, abs=0.05)


def test_every_value_follows_from_those_after_it() -> None:
    table = solitaire.values().astype(np.float32)
    table = np.concatenate([table, np.zeros_like(table[:1])])
    states, rng = solitaire.row_states(), np.random.default_rng(4)
    for misses in range(4):
        rows = rng.integers(0, states.size, (4, 64)).astype(np.int16)
        rows = rows[:, (rows == states.closed).sum(axis=0) < 2]
        found = values_of(rows, table[misses], table[misses + 1])
        stored = table[misses].ravel()[solitaire.number_of_sheet(rows)]
        assert np.abs(found - stored).max() < 0.2  # float16 has steps of 0.125 above 128


def test_a_table_survives_packing() -> None:
    rng = np.random.default_rng(1)
    count = 40
    half = np.tril(rng.integers(0, 2000, (4, count, count)))
    made = ((half + np.swapaxes(np.tril(half, -1), 1, 2)) / solitaire.STEPS).astype(np.float32)
    assert (solitaire.unpacked(solitaire.packed(made)) == made.astype(np.float16)).all()


def play_alone(games: int, seed: int) -> np.ndarray:
    rng, player = np.random.default_rng(seed), solitaire.Optimum()
    batches = [play(new_games("base", 1, 5000), [player], rng) for _ in range(games // 5000)]
    return np.concatenate([batch.totals()[0] for batch in batches])


def test_the_optimum_scores_its_value() -> None:
    totals = play_alone(5000, seed=7)
    assert abs(totals.mean() - PUBLISHED_OPTIMUM) < 4 * totals.std() / np.sqrt(totals.size)


@pytest.mark.slow
def test_the_optimum_scores_its_value_over_100000_games() -> None:
    assert play_alone(100_000, seed=3).mean() == pytest.approx(PUBLISHED_OPTIMUM, abs=0.3)
