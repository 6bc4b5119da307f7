"""Play batches of games: who answers for each seat, one turn at a time, to the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from companion.coach.games import (
    Dice,
    Games,
    Throw,
    cross_coloured,
    cross_white,
    end_turn,
    legal_coloured,
    legal_white,
    throw_of,
)
from companion.coach.layout import Bits, Flags, Int8


class Policy(Protocol):
    """Players of one kind: they answer for some seats in all games at once."""

    def white(self, games: Games, throw: Throw, legal: Flags, seats: slice) -> Flags:
        """Choose crosses of action 1.

        Args:
            legal: (R, S, N) the rows in which each seat may cross the white sum.
            seats: The S seats to answer for.
        Returns:
            (R, S, N) true for at most one row of each seat and game, a subset of `legal`.
        """

    def coloured(self, games: Games, throw: Throw, legal: Flags, crossed: Flags) -> Flags:
        """Choose the active seat's cross of action 2.

        Args:
            legal: (O, N) the options that are legal.
            crossed: (N,) whether the seat crossed a box in action 1.
        Returns:
            (O, N) true for at most one option of each game, a subset of `legal`.
        """


@dataclass(frozen=True, slots=True)
class Step:
    """One turn of a batch, for observers; legal boxes and choices as the judge would have them.

    Attributes:
        legal1, chosen1: (R, P, N).
        legal2, chosen2: (O, N).
        alive1: (N,) games that went on before the turn.
        alive2: (N,) games in which action 2 was played.
    """

    throw: Throw
    legal1: Flags
    chosen1: Flags
    legal2: Flags
    chosen2: Flags
    alive1: Flags
    alive2: Flags


Observer = Callable[[Games, Step], None]


def play_turn(
    games: Games, dice: Dice, policies: Sequence[Policy], observe: Observer | None = None
) -> None:
    """Play one turn in every game of the batch that goes on.

    Args:
        policies: One for each seat; neighbours that are the same object answer in one call.
    """
    throw = throw_of(games.layout, dice)
    alive1 = games.end == 0
    legal1 = legal_white(games, throw)
    chosen1 = _answers(games, throw, legal1, policies)
    cross_white(games, throw, chosen1)
    marked = chosen1[:, games.active]
    crossed: Flags = np.any(marked, axis=0)
    legal2 = legal_coloured(games, throw, marked)
    chosen2 = policies[games.active].coloured(games, throw, legal2, crossed)
    alive2 = games.end == 0
    cross_coloured(games, throw, chosen2)
    end_turn(games, np.logical_or(crossed, np.any(chosen2, axis=0)))
    if observe:
        observe(games, Step(throw, legal1, chosen1, legal2, chosen2, alive1, alive2))
    games.turn += 1
    games.active = (games.active + 1) % games.players
    while games.active in games.gone and len(games.gone) < games.players:
        games.active = (games.active + 1) % games.players


def _answers(games: Games, throw: Throw, legal: Flags, policies: Sequence[Policy]) -> Flags:
    if all(policy is policies[0] for policy in policies):
        return policies[0].white(games, throw, legal, slice(0, games.players))
    chosen = np.empty_like(legal)
    begin = 0
    while begin < games.players:
        end = begin + 1
        while end < games.players and policies[end] is policies[begin]:
            end += 1
        seats = slice(begin, end)
        chosen[:, seats] = policies[begin].white(games, throw, legal[:, seats], seats)
        begin = end
    return chosen


@dataclass(slots=True)
class Results:
    """How the games of a batch ended, in the order in which they began.

    Attributes:
        sheet: (R, P, N) crosses as bits.
        count: (R, P, N).
        misses: (P, N).
        closed_at: (R, N) as in `Games`.
        end: (N,) BY_LOCKS or BY_MISSES.
        turns: (N,) turns played.
        totals: (P, N).
    """

    sheet: Bits
    count: Int8
    misses: Int8
    closed_at: npt.NDArray[np.int16]
    end: Int8
    turns: npt.NDArray[np.int16]
    totals: npt.NDArray[np.int16]

    def winners(self) -> npt.NDArray[np.float64]:
        """(P, N) each seat's share of the victory; ties are split."""
        best = self.totals == self.totals.max(axis=0)
        shares: npt.NDArray[np.float64] = best / np.sum(best, axis=0)
        return shares


def random_dice(rng: np.random.Generator, size: int) -> Dice:
    """(6, size) fair dice."""
    return rng.integers(1, 7, (6, size), np.int8)


def play(
    games: Games,
    policies: Sequence[Policy],
    rng: np.random.Generator,
    observe: Observer | None = None,
    *,
    throws: int = 0,
) -> Results:
    """Play every game of the batch to its end.

    Finished games leave the arrays from time to time, so that the last long game does not cost as
    much as a full batch.

    Args:
        throws: How many different series of dice there are; games whose numbers differ by a
            multiple of it have the same dice. 0 for dice of its own in every game.
    """
    layout, size = games.layout, int(games.ids.max()) + 1 if games.size else 0
    results = Results(
        np.zeros((layout.rows, games.players, size), np.uint16),
        np.zeros((layout.rows, games.players, size), np.int8),
        np.zeros((games.players, size), np.int8),
        np.zeros((layout.rows, size), np.int16),
        np.zeros(size, np.int8),
        np.zeros(size, np.int16),
        np.zeros((games.players, size), np.int16),
    )
    while games.size:
        dice = random_dice(rng, throws or games.size)
        play_turn(games, dice[:, games.ids % throws] if throws else dice, policies, observe)
        going = games.end == 0
        left = int(np.count_nonzero(going))
        if left < 0.85 * games.size:
            _store(results, games.kept(~going))
            games = games.kept(going)
    return results


def _store(results: Results, games: Games) -> None:
    ids = games.ids
    results.sheet[:, :, ids] = games.sheet
    results.count[:, :, ids] = games.count
    results.misses[:, ids] = games.misses
    results.closed_at[:, ids] = games.closed_at
    results.end[ids] = games.end
    results.turns[ids] = games.turns
    results.totals[:, ids] = games.totals()
