"""Learn the tables of `companion.coach.tempo`: `python -m companion.coach.train FILE`.

Each round plays games of the latest player, with some random points added to its choices so that
it sees more than its own favourites, and replaces the tables by the means of those games. The first
round is played by "skip at most two".
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from companion.coach.games import Games, new_games
from companion.coach.layout import LAST, Int8, Layout, layout_of
from companion.coach.play import Policy, Step, play
from companion.coach.policies import SKIP_TWO
from companion.coach.tempo import (
    COUNTS,
    FEATURES,
    NEXTS,
    PHASES,
    Floats,
    Tables,
    Tempo,
    features,
    phases,
    row_points,
)
from companion.engine import MOST_PLAYERS, PLANS

ROUNDS = 4
GAMES = 15_000
"""Games of a round, in batches of BATCH."""
BATCH = 5_000
NOISE = 1.0
BONUS_POINTS = 10.0
"""First guess of what a bonus cross brings."""

PRIOR = 20.0
"""Games by which a state's mean is drawn towards that of the phase before."""


@dataclass(frozen=True, slots=True)
class Page:
    """The N games that go on after a turn.

    Attributes:
        ids: (N,).
        turn: How many turns came before.
        seen: (FEATURES, N).
        states: (R, P, N) row states.
        misses: (P, N).
    """

    ids: npt.NDArray[np.int64]
    turn: int
    seen: Floats
    states: npt.NDArray[np.int16]
    misses: Int8


class Diary:
    """Observer that keeps every turn's sheets."""

    def __init__(self) -> None:
        self.turns: list[Page] = []

    def __call__(self, games: Games, step: Step) -> None:
        going = games.end == 0
        states = np.minimum(games.next, LAST + 1).astype(np.int16) * COUNTS + games.count
        self.turns.append(
            Page(
                games.ids[going],
                games.turn,
                features(games)[:, going],
                states[:, :, going],
                games.misses[:, going],
            )
        )


def learn(
    variant: str,
    players: int,
    seats: Sequence[Policy],
    rng: np.random.Generator,
    games: int = GAMES,
) -> Tables:
    """The tables that follow from games of these players."""
    played = []
    for _ in range(max(1, games // BATCH)):
        diary = Diary()
        results = play(new_games(variant, players, BATCH), seats, rng, diary)
        played.append((diary.turns, results))
    left = _fit_turns_left(played)
    tables = _means(layout_of(variant), left, played)
    return replace(tables, spread=_spread(layout_of(variant), tables, played))


Played = list[tuple[list[Page], Games]]


def _fit_turns_left(played: Played) -> Floats:
    """Weights that predict how many turns are left, by least squares."""
    moment, cross = np.eye(FEATURES) * 1e-3, np.zeros(FEATURES)
    for turns, results in played:
        for page in turns:
            moment += page.seen @ page.seen.T
            cross += page.seen @ (results.turns[page.ids] - page.turn - 1)
    return np.linalg.solve(moment, cross).astype(np.float32)


def _means(layout: Layout, left: Floats, played: Played) -> Tables:
    size = PHASES * NEXTS * COUNTS
    total, number = np.zeros((2, layout.rows, size))
    missed, counted = np.zeros((2, PHASES * 5))
    for turns, results in played:
        final = row_points(layout, results.count)
        for page in turns:
            phase = phases(left, page.seen)
            for row in range(layout.rows):
                at = (phase * (NEXTS * COUNTS) + page.states[row]).ravel()
                number[row] += np.bincount(at, minlength=size)
                total[row] += np.bincount(at, final[row][:, page.ids].ravel(), size)
            at = (phase * 5 + page.misses).ravel()
            counted += np.bincount(at, minlength=PHASES * 5)
            missed += np.bincount(at, results.misses[:, page.ids].ravel(), PHASES * 5)
    miss = (missed + np.tile(np.arange(5), PHASES) * PRIOR) / (counted + PRIOR)
    return Tables(
        left,
        _smooth(layout, total, number),
        miss.reshape(PHASES, 5).astype(np.float32),
        np.ones(PHASES, np.float32),
    )


def _spread(layout: Layout, tables: Tables, played: Played) -> Floats:
    """The standard deviation of a lead's change until the end, by phase."""
    squares, number = np.full(PHASES, 25.0), np.ones(PHASES)
    flat = tables.worth.reshape(layout.rows, -1)
    for turns, results in played[:2]:
        totals = results.totals()
        for page in turns:
            phase = phases(tables.left, page.seen)
            at = phase * (NEXTS * COUNTS) + page.states
            expected = np.sum([flat[row][at[row]] for row in range(layout.rows)], axis=0)
            expected -= layout.plan.miss_points * tables.miss[phase, page.misses]
            change = totals[:, page.ids] - expected
            lead = change[0] - change[1:].max(axis=0) if len(change) > 1 else change[0]
            squares += np.bincount(phase, lead**2, PHASES)
            number += np.bincount(phase, minlength=PHASES)
    return np.sqrt(squares / number).astype(np.float32)


def _smooth(
    layout: Layout, total: npt.NDArray[np.float64], number: npt.NDArray[np.float64]
) -> Floats:
    """Means by state; rare states lean on the next shorter phase, and there on their points."""
    shape = (layout.rows, PHASES, NEXTS, COUNTS)
    total, number = total.reshape(shape), number.reshape(shape)
    worth = np.empty(shape, np.float32)
    for rows in (list(layout.colours), list(layout.bonus)):
        if not rows:
            continue
        sums, counts = total[rows].mean(axis=0), number[rows].mean(axis=0)
        crosses = np.arange(COUNTS)
        mean = np.tile(
            BONUS_POINTS * crosses if rows[0] in layout.bonus else layout.points[crosses],
            (NEXTS, 1),
        )
        for phase in range(PHASES):
            mean = (sums[phase] + PRIOR * mean) / (counts[phase] + PRIOR)
            worth[rows, phase] = mean
        if rows[0] in layout.colours:
            worth[rows, :, LAST + 1] = layout.points[crosses]
    return worth


def train(
    variant: str,
    players: int,
    rng: np.random.Generator,
) -> Tables:
    """Learn from games of each round's player against itself."""
    seats: list[Policy] = [SKIP_TWO] * players
    tables = learn(variant, players, seats, rng, GAMES)
    for _ in range(ROUNDS - 1):
        tables = learn(variant, players, [Tempo(tables, NOISE, rng)] * players, rng, GAMES)
    return tables


def main() -> None:
    """Write the tables of every number of players to the file named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    path: Path = parser.parse_args().file
    saved = {}
    rng = np.random.default_rng(1)
    for variant in PLANS:
        for players in range(1, MOST_PLAYERS + 1):
            tables = train(variant, players, rng)
            for each in fields(tables):
                saved[f"{variant}{players}_{each.name}"] = getattr(tables, each.name)
            print(f"{variant}, {players} players", file=sys.stderr, flush=True)
    with path.open("wb") as file:
        np.savez_compressed(file, **saved)


if __name__ == "__main__":
    main()
