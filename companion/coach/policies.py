"""Simple players for whole batches: random, greedy, and "skip at most so many"."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from companion.coach.games import Games, Throw
from companion.coach.layout import Flags, Int8

_NONE = np.uint8(255)


@dataclass(frozen=True)
class SkipAtMost:
    """Crosses the box that skips fewest boxes, and none that skips more than `most`.

    Among equals the first row of the sheet counts. In action 2 it crosses more than `most` rather
    than take a miss.
    """

    most: int

    def white(self, games: Games, throw: Throw, legal: Flags, seats: slice) -> Flags:
        skipped = throw.white[:, None] - games.next[:, seats]
        return _smallest(skipped, legal & (skipped <= self.most))

    def coloured(self, games: Games, throw: Throw, legal: Flags, crossed: Flags) -> Flags:
        rows = [option.row for option in games.layout.options]
        skipped = throw.coloured - games.next[rows, games.active]
        return _smallest(skipped, legal & ((skipped <= self.most) | ~crossed))


GREEDY = SkipAtMost(10)
"""Crosses whenever it can, the box that skips fewest."""

SKIP_TWO = SkipAtMost(2)


def _smallest(skipped: Int8, legal: Flags) -> Flags:
    """The legal entry with the smallest value along the first axis, the first among equals.

    Args:
        skipped: Values from 0 to 10 where they are legal, at most 16 along the first axis.
    """
    order = np.arange(len(skipped), dtype=np.uint8).reshape(-1, *[1] * (skipped.ndim - 1))
    keys = skipped.view(np.uint8) * np.uint8(16) + order
    np.copyto(keys, _NONE, where=~legal)
    chosen: Flags = keys == keys.min(axis=0)
    chosen &= legal
    return chosen


class RandomPlayer:
    """Crosses one of the legal boxes or none, all about equally likely."""

    def __init__(self, rng: np.random.Generator) -> None:
        self._rng = rng

    def white(self, games: Games, throw: Throw, legal: Flags, seats: slice) -> Flags:
        return self._any(legal)

    def coloured(self, games: Games, throw: Throw, legal: Flags, crossed: Flags) -> Flags:
        return self._any(legal)

    def _any(self, legal: Flags) -> Flags:
        keys = self._rng.integers(0, 255, (len(legal) + 1, *legal.shape[1:]), np.uint8)
        keys[1:] *= legal
        best: Flags = keys[1:] == keys.max(axis=0)
        best &= legal
        best[1:] &= ~np.logical_or.accumulate(best[:-1], axis=0)
        return best
