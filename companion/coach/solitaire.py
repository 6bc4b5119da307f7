"""Optimal play for one player alone: the value of every sheet, and a player who uses it.

A row of the base game is summed up by the first position that can still be crossed and the number
of crosses: 54 row states, "closed" included. Rows whose numbers ascend are interchangeable, rows
whose numbers descend too, and turning every die over (7 minus its value) turns one kind into the
other. A sheet is therefore an unordered pair of unordered pairs of row states, with 0 to 3 misses:
4.4 million sheets. Their values are the points still to come on average, computed by
`companion.coach.solve`.

The optimum from an empty sheet is 115.483 points. Another program found the same:
https://github.com/bmhowe34/qwixx-gen-single-opt
"""

from __future__ import annotations

import lzma
import math
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from itertools import combinations_with_replacement

import numpy as np
import numpy.typing as npt

from companion.coach.games import Games, Throw
from companion.coach.layout import LAST, Flags, Int8
from companion.engine import BASE

Floats = npt.NDArray[np.float32]
Ints = npt.NDArray[np.int16]
Wide = npt.NDArray[np.int32]

MISSES = BASE.misses
NO_MOVE = -1
STEPS = 16
"""Values are saved in sixteenths of a point, the spacing of float16 numbers between 64 and 128."""

FILE = "solitaire.xz"


@dataclass(frozen=True)
class RowStates:
    """The states of one row and the crosses between them.

    Attributes:
        next: (S,) the first position that may still be crossed, by state; the last one is closed.
        of: (12, 13) the state by next position and count of crosses.
        after: (S, 11) the state after crossing a position, or NO_MOVE.
        gained: (S, 11) the points that cross brings, the lock included.
    """

    next: Ints
    of: Ints
    after: Ints
    gained: Floats

    @property
    def size(self) -> int:
        """How many states there are."""
        return int(self.next.size)

    @property
    def closed(self) -> int:
        """The state of a closed row."""
        return self.size - 1


@cache
def row_states() -> RowStates:
    """The states of a row of the base game.

    A row of which only the last box is left and which has too few crosses for it is one state,
    whatever its crosses: nothing can happen in it any more.
    """
    need, dead = BASE.crosses_before_lock, (LAST, 1)
    known = [(n, c) for n in range(LAST + 1) for c in range(min(n, 1), n + 1)]
    listed = [each for each in known if each[0] < LAST or each[1] >= need or each == dead]
    size = len(listed) + 1
    of = np.full((LAST + 2, LAST + 3), size - 1, np.int16)
    for n, c in known:
        of[n, c] = listed.index((n, c) if (n, c) in listed else dead)
    after = np.full((size, LAST + 1), NO_MOVE, np.int16)
    gained = np.zeros((size, LAST + 1), np.float32)
    for state, (n, c) in enumerate(listed):
        for position in range(n, LAST + 1):
            if position == LAST and c < need:
                continue
            after[state, position] = size - 1 if position == LAST else of[position + 1, c + 1]
            gained[state, position] = c + 1 + (c + 2 if position == LAST else 0)
    firsts = np.array([n for n, _ in listed] + [LAST + 1], np.int16)
    return RowStates(firsts, of, after, gained)


@cache
def pair_numbers() -> Wide:
    """(S, S) the number of the unordered pair of two row states."""
    size = row_states().size
    table = np.empty((size, size), np.int32)
    for number, (a, b) in enumerate(combinations_with_replacement(range(size), 2)):
        table[a, b] = table[b, a] = number
    return table


def pair_members() -> Ints:
    """(C, 2) the two row states of every pair."""
    size = row_states().size
    return np.array(list(combinations_with_replacement(range(size), 2)), np.int16)


def number_of_sheet(rows: Ints | Wide) -> Wide:
    """(N,) flat index of sheets in one misses level of the table.

    Args:
        rows: (4, N) row states, the two ascending rows first.
    """
    numbers, count = pair_numbers(), row_states().size * (row_states().size + 1) // 2
    index: Wide = numbers[rows[0], rows[1]] * np.int32(count) + numbers[rows[2], rows[3]]
    return index


# -- the file -------------------------------------------------------------------------------


def packed(values: Floats) -> bytes:
    """The table as a small file: differences between neighbouring sheets, compressed.

    Args:
        values: (4, C, C) as `solve` gives them.
    """
    whole = np.round(values * STEPS).astype(np.int16)
    for axis in (0, 1, 2):
        whole = np.diff(whole, axis=axis, prepend=np.int16(0))
    half = whole[:, *np.tril_indices(values.shape[1])]
    folded = ((half << 1) ^ (half >> 15)).astype(np.uint16).ravel()
    split = np.concatenate([(folded & 255).astype(np.uint8), (folded >> 8).astype(np.uint8)])
    return lzma.compress(split.tobytes(), preset=9)


def unpacked(data: bytes) -> npt.NDArray[np.float16]:
    """(4, C, C) the values in a file made by `packed`."""
    split = np.frombuffer(lzma.decompress(data), np.uint8).reshape(2, -1)
    folded = (split[1].astype(np.uint16) << 8) | split[0]
    half = (folded >> 1).astype(np.int16) ^ -(folded & 1).astype(np.int16)
    count = math.isqrt(2 * half.size // MISSES)  # half is count * (count + 1) / 2 for each
    low = np.tril_indices(count)
    whole = np.zeros((MISSES, count, count), np.int16)
    whole[:, *low] = half.reshape(MISSES, -1)
    mirror = np.swapaxes(whole, 1, 2).copy()
    mirror[:, np.arange(count), np.arange(count)] = 0
    whole += mirror  # the second differences are symmetric, as the values are
    for axis in (2, 1, 0):
        whole = np.cumsum(whole, axis=axis, dtype=np.int16)
    return (whole / np.float32(STEPS)).astype(np.float16)


@cache
def values() -> npt.NDArray[np.float16]:
    """(4, C, C) the points still to come on average, by misses and the two pairs of rows."""
    return unpacked((files("companion.coach") / "data" / FILE).read_bytes())


# -- the player -----------------------------------------------------------------------------


def states_of(next_: Int8, count: Int8) -> Ints:
    """Row states by next position and crosses, of any shape."""
    states: Ints = row_states().of[np.minimum(next_, LAST + 1), count]
    return states


class Optimum:
    """Plays the base game as the best player alone would, and ignores the other players."""

    def __init__(self) -> None:
        self._values = values().reshape(MISSES, -1)

    def white(self, games: Games, throw: Throw, legal: Flags, seats: slice) -> Flags:
        chosen = np.zeros_like(legal)
        for s, seat in enumerate(range(games.players)[seats]):
            rows = states_of(games.next[:, seat], games.count[:, seat])
            misses = games.misses[seat].astype(np.int64)
            is_active = seat == games.active
            if is_active:
                best = self._best_coloured(games, throw, rows, misses, is_crossed=False)
            else:
                best = self._worth(rows, misses)
            answer = np.full(games.size, NO_MOVE, np.int8)
            for row in range(4):
                moved, points = _crossed(rows, row, throw.white[row])
                worth = (
                    self._best_coloured(games, throw, moved, misses, is_crossed=True)
                    if is_active
                    else self._worth(moved, misses)
                )
                worth += points
                better = legal[row, s] & (worth > best)
                best = np.where(better, worth, best)
                answer[better] = row
            for row in range(4):
                chosen[row, s] = answer == row
        return chosen

    def coloured(self, games: Games, throw: Throw, legal: Flags, crossed: Flags) -> Flags:
        seat = games.active
        rows = states_of(games.next[:, seat], games.count[:, seat])
        misses = games.misses[seat].astype(np.int64)
        best = self._without_cross(rows, misses, crossed)
        answer = np.full(games.size, NO_MOVE, np.int8)
        for o, option in enumerate(games.layout.options):
            moved, points = _crossed(rows, option.row, throw.coloured[o])
            worth = self._worth(moved, misses) + points
            better = legal[o] & (worth > best)
            best = np.where(better, worth, best)
            answer[better] = o
        chosen: Flags = answer == np.arange(len(legal), dtype=np.int8)[:, None]
        return chosen

    def _worth(self, rows: Ints, misses: npt.NDArray[np.int64]) -> Floats:
        """(N,) points still to come."""
        level = np.minimum(misses, MISSES - 1)
        found = self._values[level, number_of_sheet(rows)].astype(np.float32)
        return np.where(misses < MISSES, found, np.float32(0))

    def _without_cross(self, rows: Ints, misses: npt.NDArray[np.int64], crossed: Flags) -> Floats:
        worth = self._worth(rows, misses + ~crossed)
        return worth - BASE.miss_points * (~crossed).astype(np.float32)

    def _best_coloured(
        self,
        games: Games,
        throw: Throw,
        rows: Ints,
        misses: npt.NDArray[np.int64],
        *,
        is_crossed: bool,
    ) -> Floats:
        """(N,) the worth of a sheet before action 2, the coming cross included."""
        states = row_states()
        best = self._without_cross(rows, misses, np.full(games.size, is_crossed))
        is_over = np.count_nonzero(rows == states.closed, axis=0) >= BASE.rows_to_end
        for o, option in enumerate(games.layout.options):
            moved, points = _crossed(rows, option.row, throw.coloured[o])
            is_legal = (moved[option.row] != NO_MOVE) & ~is_over
            worth = self._worth(moved, misses) + points
            best = np.where(is_legal, np.maximum(best, worth), best)
        return best


def _crossed(rows: Ints, row: int, position: Int8) -> tuple[Ints, Floats]:
    """The rows after a cross and the points it brings; NO_MOVE where it is not possible."""
    states = row_states()
    moved = rows.copy()
    moved[row] = states.after[rows[row], position]
    return moved, states.gained[rows[row], position]
