"""Play batches of games: who answers for each seat, one turn at a time, to the end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from companion.coach.games import (
    ARRAYS,
    Dice,
    Games,
    Throw,
    cross_coloured,
    cross_white,
    end_turn,
    legal_coloured,
    legal_white,
    new_games,
    throw_of,
)
from companion.coach.layout import Flags


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
) -> Games:
    """Play every game of the batch to its end; return them in the order of their numbers.

    Finished games leave the arrays from time to time, so that the last long game does not cost as
    much as a full batch.

    Args:
        throws: How many different series of dice there are; games whose numbers differ by a
            multiple of it have the same dice. 0 for dice of its own in every game.
    """
    size = int(games.ids.max()) + 1 if games.size else 0
    ended = new_games(games.layout.plan.name, games.players, size, games.house)
    while games.size:
        dice = random_dice(rng, throws or games.size)
        play_turn(games, dice[:, games.ids % throws] if throws else dice, policies, observe)
        going = games.end == 0
        left = int(np.count_nonzero(going))
        if left < 0.85 * games.size:
            done = games.kept(~going)
            for name in ARRAYS:
                getattr(ended, name)[..., done.ids] = getattr(done, name)
            games = games.kept(going)
    return ended
