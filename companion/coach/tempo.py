"""A player for several players: expected row points by the time that is left.

The worth of a row is the mean number of points it ends with, learnt from games of this player
against itself: by the first position that can still be crossed, the number of crosses, and the
number of turns the game is expected to go on. A choice is scored by its chance to win: the expected
lead over the best opponent, measured against its usual spread, or the certain result where the
choice ends the game.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

import numpy as np
import numpy.typing as npt

from companion.coach.games import Games, Throw, legal_coloured
from companion.coach.layout import LAST, Flags, Int8, Layout

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int64]

PHASES = 10
PHASE_TURNS = (1.0, 2.0, 3.0, 4.5, 6.0, 8.0, 10.5, 13.5, 17.0)
"""Upper limits of the expected number of turns left, in each phase but the last."""

NEXTS, COUNTS = 12, 13
"""Row states: next positions 0 to 11 (11 is closed) by crosses 0 to 12."""

FEATURES = 8
"""How many numbers the expected number of turns left is computed from."""


@dataclass(frozen=True)
class Tables:
    """Tables that one player learnt for one sheet and number of players.

    Attributes:
        left: (FEATURES,) weights of the expected number of turns left.
        worth: (R, PHASES, 12, 13) mean final points of a row, as `row_points` counts them.
        miss: (PHASES, 5) mean final misses by the misses taken.
        spread: (PHASES,) standard deviation of a lead's change until the end.
    """

    left: Floats
    worth: Floats
    miss: Floats
    spread: Floats


@cache
def tables_of(variant: str, players: int) -> Tables:
    """The tables that are shipped."""
    path = files("companion.coach") / "data" / "tempo.npz"
    with path.open("rb") as file, np.load(file) as saved:
        key = f"{variant}{players}"
        return Tables(*(saved[f"{key}_{name}"] for name in ("left", "worth", "miss", "spread")))


def row_points(layout: Layout, count: Int8) -> Floats:
    """(R, P, N) points of each row; a bonus row has what its crosses add to the rows beside it."""
    points = layout.points[count].astype(np.float32)
    for row in layout.bonus:
        points[row] = 0
        for other in layout.beside[row]:
            points[row] += layout.points[count[other] + count[row]] - layout.points[count[other]]
    return points


def features(games: Games) -> Floats:
    """(FEATURES, N) what the number of turns left depends on; who has left closes no row."""
    rows = list(games.layout.colours)
    here = [seat for seat in range(games.players) if seat not in games.gone]
    near = games.next[rows][:, here].astype(np.float32)
    need = np.maximum(5 - games.count[rows][:, here], 0).astype(np.float32)
    distance = np.minimum((11 - near) * 0.5 + need * 1.5, 13)
    distance = np.where(games.closed_at[rows][:, None] > 0, np.float32(0), distance)
    nearest = np.sort(distance.min(axis=1), axis=0)
    return np.stack(
        [
            np.ones(games.size, np.float32),
            games.count[:, here].sum(axis=(0, 1), dtype=np.float32) / len(here),
            nearest[0],
            nearest[1],
            nearest[1] ** 2 / 10,
            nearest[2],
            games.misses[here].max(axis=0).astype(np.float32),
            np.square(games.misses[here].max(axis=0).astype(np.float32)),
        ]
    )


def phases(left: Floats, seen: Floats) -> Ints:
    """(N,) the phase each game is in, from `Tables.left` and its `features`."""
    return np.searchsorted(PHASE_TURNS, left @ seen)


class Tempo:
    """Plays by its tables."""

    def __init__(
        self, tables: Tables, noise: float = 0.0, rng: np.random.Generator | None = None
    ) -> None:
        """Take the tables.

        Args:
            noise: Standard deviation of random points added to every choice, to explore and to
                play below its strength.
        """
        self._tables, self._noise = tables, noise
        self._rng = rng or np.random.default_rng()

    def white(self, games: Games, throw: Throw, legal: Flags, seats: slice) -> Flags:
        view = _View(self._tables, games)
        rows, chosen = range(games.layout.rows), np.zeros_like(legal)
        for s, seat in enumerate(range(games.players)[seats]):
            answers = view.answers(seat, rows, throw.white, legal[:, s])
            if seat == games.active:
                scores = view.scores_of_turn(seat, throw, answers)
            else:
                scores = view.scores(seat, answers, misses=None)
            scores = self._noisy(scores)
            scores[1:][~legal[:, s]] = -np.inf
            best = scores.argmax(axis=0)
            chosen[:, s] = best == np.arange(1, len(legal) + 1)[:, None]
        return chosen

    def coloured(self, games: Games, throw: Throw, legal: Flags, crossed: Flags) -> Flags:
        view = _View(self._tables, games)
        seat = games.active
        answers = view.coloured_answers(seat, throw, legal)
        scores = view.scores(seat, answers, misses=~crossed)
        scores = self._noisy(scores)
        scores[1:][~legal] = -np.inf
        chosen: Flags = scores.argmax(axis=0) == np.arange(1, len(legal) + 1)[:, None]
        return chosen

    def _noisy(self, scores: Floats) -> Floats:
        if self._noise:
            noise = self._rng.standard_normal(scores.shape, np.float32) * self._noise
            noisy: Floats = (scores + noise).astype(np.float32)
            return noisy
        return scores


@dataclass(frozen=True)
class _Answers:
    """(A, N) the points each answer adds, and the row it closes or -1; the first answer passes."""

    points: Floats
    closes: Int8


class _View:
    """Values that all answers of one moment are scored with."""

    def __init__(self, tables: Tables, games: Games) -> None:
        self.tables, self.games, layout = tables, games, games.layout
        self.phase = phases(tables.left, features(games))
        self.base = self.phase * (NEXTS * COUNTS)
        self.worth = tables.worth.reshape(layout.rows, -1)
        states = np.minimum(games.next, LAST + 1).astype(np.int64) * COUNTS + games.count
        self.rows = np.stack([self.worth[r][self.base + states[r]] for r in range(layout.rows)])
        cost = np.float32(layout.plan.miss_points)
        misses = tables.miss[self.phase, np.minimum(games.misses, 4)]
        self.expected = self.rows.sum(axis=0) - cost * misses
        self.now = games.totals().astype(np.float32)
        self.points = layout.points.astype(np.float32)

    def crossed(self, seat: int, row: int, position: Int8, extra: int = 0) -> tuple[Floats, Flags]:
        """(N,) expected points of a row after a cross, and whether that closes it."""
        games = self.games
        count = games.count[row, seat].astype(np.int64) + 1 + extra
        is_last = position == LAST
        closes = is_last & (not games.layout.beside[row])
        after = np.minimum(np.maximum(position.astype(np.int64) + 1, 0), LAST + 1)
        at = self.base + after * COUNTS
        found = self.worth[row][at + np.minimum(count, 12)]
        return np.where(closes, self.points[np.minimum(count + 1, 12)], found), closes

    def answers(self, seat: int, rows: Sequence[int], positions: Int8, legal: Flags) -> _Answers:
        """Crosses in these rows at (A - 1, N) positions, which may be legal."""
        points = np.zeros((len(rows) + 1, self.games.size), np.float32)
        closes = np.full(points.shape, -1, np.int8)
        for n, row in enumerate(rows):
            worth, is_closing = self.crossed(seat, row, positions[n])
            points[n + 1] = worth - self.rows[row, seat]
            closes[n + 1][is_closing & legal[n]] = row
        return _Answers(points, closes)

    def coloured_answers(self, seat: int, throw: Throw, legal: Flags) -> _Answers:
        rows = [option.row for option in self.games.layout.options]
        return self.answers(seat, rows, throw.coloured, legal)

    def scores(self, seat: int, answers: _Answers, misses: Flags | None) -> Floats:
        """(A, N) the leads that answers lead to, in points of equal chances to win.

        Args:
            misses: (N,) whether passing takes a miss; None when it does not.
        """
        games, plan = self.games, self.games.layout.plan
        others = [p for p in range(games.players) if p != seat]
        rival = self.expected[others].max(axis=0) if others else np.zeros(games.size, np.float32)
        lead: Floats = self.expected[seat] - rival + answers.points
        spread = self.tables.spread[self.phase]
        if misses is not None:
            taken = games.misses[seat]
            more = self.tables.miss[self.phase, np.minimum(taken + 1, 4)]
            more = more - self.tables.miss[self.phase, np.minimum(taken, 4)]
            lead[0] -= np.where(misses, plan.miss_points * more, 0)
            ends = misses & (taken == plan.misses - 1)
            self._end(lead[0], ends, seat, others, np.float32(-plan.miss_points), spread)
        if (answers.closes >= 0).any():
            for a in range(1, len(lead)):
                for row in games.layout.colours:
                    own = answers.closes[a] == row
                    if own.any():
                        self._close(lead[a], own, row, seat, others, spread)
        return lead

    def _close(
        self, lead: Floats, own: Flags, row: int, seat: int, others: list[int], spread: Floats
    ) -> None:
        games = self.games
        if others:
            lost = self.points[games.count[row]] - self.rows[row]
            rival = (self.expected + lost)[others].max(axis=0)
            before = self.expected[others].max(axis=0)
            lead += np.where(own, before - rival, 0)
        ends = own & (games.closed >= games.layout.plan.rows_to_end - 1)
        scored = [games.count[each, seat] for each in games.layout.scored_with(row)]
        count = np.sum(scored, axis=0, dtype=np.int64)
        gain = self.points[count + 2] - self.points[count]
        self._end(lead, ends, seat, others, gain, spread)

    def _end(
        self,
        lead: Floats,
        ends: Flags,
        seat: int,
        others: list[int],
        gain: Floats | np.float32,
        spread: Floats,
    ) -> None:
        """Replace the lead by a certain victory or defeat where an answer ends the game."""
        if not ends.any():
            return
        own = self.now[seat] + gain
        if not others:
            lead[ends] = own[ends]
            return
        margin = own - self.now[others].max(axis=0)
        sure = np.sign(margin) * 3 * spread + margin / 100
        lead[ends] = sure[ends]

    def scores_of_turn(self, seat: int, throw: Throw, white: _Answers) -> Floats:
        """(R + 1, N) the lead after each answer to action 1 and the best one to action 2."""
        games, layout = self.games, self.games.layout
        legal = legal_coloured(games, throw, None)
        coloured = self.coloured_answers(seat, throw, legal)
        first = self.scores(seat, white, misses=None)
        nothing = np.ones(games.size, np.bool_)
        alone = self.scores(seat, coloured, misses=nothing)
        alone[1:][~legal] = -np.inf
        result = np.empty_like(first)
        result[0] = alone.max(axis=0)
        gains = alone[1:] - first[0]
        plain = np.where(legal, gains, -np.inf)
        for row in range(layout.rows):
            best = np.zeros(games.size, np.float32)
            for o, option in enumerate(layout.options):
                if option.row != row:
                    is_open = ~(white.closes[row + 1] == option.owner)
                    best = np.maximum(best, np.where(is_open, plain[o], -np.inf))
                    continue
                position = throw.coloured[o]
                right = (position > throw.white[row]) & (games.closed_at[option.owner] == 0)
                after, _ = self.crossed(seat, row, throw.white[row])
                count = games.count[row, seat]
                enough = (position < LAST) | (count + 1 >= layout.plan.crosses_before_lock)
                if layout.beside[row]:
                    right &= legal[o]
                twice, _ = self.crossed(seat, row, position, extra=1)
                if option.white == 1:
                    right &= throw.dice[0] != throw.dice[1]
                best = np.maximum(best, np.where(right & enough, twice - after, -np.inf))
            ends = (white.closes[row + 1] >= 0) & (games.closed >= layout.plan.rows_to_end - 1)
            result[row + 1] = first[row + 1] + np.where(ends, 0, best)
        return result
