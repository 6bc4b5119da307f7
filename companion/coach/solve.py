"""Make the table of `companion.coach.solitaire` again: `python -m companion.coach.solve FILE`.

Every cross moves a row to a later state, so sheets are solved in the order of falling progress
and falling misses; all of one progress at once. For one fall of the white dice the coloured dice
are independent, and the best of all answers is the maximum of one quantity for each row and one
constant. The mean over the 6^4 falls of the coloured dice so needs 36 times 36 values, and no tree.

It takes some tens of minutes of one core.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np

from companion.coach.layout import LAST
from companion.coach.solitaire import (
    MISSES,
    Floats,
    Ints,
    Wide,
    number_of_sheet,
    packed,
    pair_members,
    row_states,
)
from companion.engine import BASE

WHITE_PAIRS = tuple(
    (a, b, 1 if a == b else 2) for a, b in combinations_with_replacement(range(1, 7), 2)
)
"""The falls of two white dice that cannot be told apart, and how often of 36 each comes."""

BLOCK = 2048
"""Sheets solved in one go: the arrays of a block fit the processor's cache."""

NEVER = np.float32(-1e9)
"""Worth of a cross that is not possible."""


def solve(progress: Callable[[float], None]) -> Floats:
    """Compute the value of every sheet.

    Args:
        progress: Called with the share that is done.
    Returns:
        (4, C, C) points still to come on average, by misses, the pair of ascending and the pair of
        descending rows. Sheets with two closed rows have value 0.
    """
    states, members = row_states(), pair_members()
    count = len(members)
    closed = (members == states.closed).sum(axis=1)
    level = states.next[members].sum(axis=1)
    values = np.zeros((MISSES + 1, count, count), np.float32)
    up, down = np.nonzero(
        np.tri(count, dtype=np.bool_) & (closed[:, None] + closed < BASE.rows_to_end)
    )
    levels = level[up] + level[down]
    order = np.argsort(-levels, kind="stable")
    cuts = np.flatnonzero(np.diff(levels[order])) + 1
    done, whole = 0, MISSES * order.size
    for misses in reversed(range(MISSES)):
        for group in np.split(order, cuts):
            for begin in range(0, group.size, BLOCK):
                part = group[begin : begin + BLOCK]
                rows = np.concatenate([members[up[part]].T, members[down[part]].T])
                found = values_of(rows, values[misses], values[misses + 1])
                values[misses, up[part], down[part]] = found
                values[misses, down[part], up[part]] = found
                done += part.size
                progress(done / whole)
    return values[:MISSES]


def values_of(rows: Ints, same: Floats, missed: Floats) -> Floats:
    """The mean over all dice of the best answer's worth.

    Args:
        rows: (4, N) row states, ascending rows first.
        same: (C, C) values with as many misses, known for sheets of higher progress.
        missed: (C, C) values with one miss more, 0 where that ends the game.
    """
    size = rows.shape[1]
    best, reach = _worth_of_answers(rows, same, missed)
    mean = np.zeros(size, np.float32)
    faces = np.arange(1, 7)
    for a, b, weight in WHITE_PAIRS:
        white_sum = a + b
        of_row = []
        for row in range(4):
            first, second = _position(row, a + faces), _position(row, b + faces)
            reached = reach[white_sum - 2, row]
            of_row.append(np.maximum(reached[first], reached[second]))
        left = np.maximum(of_row[0][:, None], of_row[1]).reshape(36, size)
        left = np.maximum(left, best[white_sum - 2])
        right = np.maximum(of_row[2][:, None], of_row[3]).reshape(36, size)
        total = np.zeros(size, np.float32)
        for each in right:
            total += np.maximum(left, each).sum(axis=0)
        mean += total * np.float32(weight / (36 * 36 * 36))
    return mean


def _position(row: int, number: int | np.ndarray[tuple[int], np.dtype[np.int64]]) -> Wide:
    """The position of a number in a row: two rows ascend from 2, two descend from 12."""
    return np.asarray(number - 2 if row < 2 else 12 - number, np.int32)


def _worth_of_answers(rows: Ints, same: Floats, missed: Floats) -> tuple[Floats, Floats]:
    """The best worth without a coloured cross and with one.

    Returns:
        (11, N) by white sum from 2, and (11, 4, 11, N) by white sum, row and position of the
        coloured cross; the best answer to action 1 is chosen for each.
    """
    states, flat, size = row_states(), same.ravel(), rows.shape[1]
    after = [states.after[own].T for own in rows]
    gained = [states.gained[own].T for own in rows]

    def worth(changes: dict[int, Ints]) -> Floats:
        own = [changes.get(row, rows[row]) for row in range(4)]
        return flat[number_of_sheet(np.array(own))]

    single = np.full((4, 11, size), NEVER)
    for row in range(4):
        for position in range(11):
            to = after[row][position]
            if (to >= 0).any():
                found = worth({row: to}) + gained[row][position]
                single[row, position] = np.where(to >= 0, found, NEVER)
    stay = missed.ravel()[number_of_sheet(rows)] - np.float32(BASE.miss_points)
    best = np.empty((11, size), np.float32)
    reach = np.repeat(single[None], 11, axis=0)
    has_closed = (rows == states.closed).any(axis=0)
    for s in range(11):
        places = [int(_position(row, s + 2)) for row in range(4)]
        best[s] = np.maximum(stay, np.max([single[row, p] for row, p in enumerate(places)], axis=0))
        for row, place in enumerate(places):
            moved = after[row][place]
            is_legal = moved >= 0
            if place == LAST:  # the second closed row ends the game before action 2
                is_legal = is_legal & ~has_closed
            if not is_legal.any():
                continue
            for other in range(4):
                for position in range(place + 1 if other == row else 0, 11):
                    if other == row:
                        to, points = states.after[moved, position], states.gained[moved, position]
                        changes = {row: to}
                    else:
                        to, points = after[other][position], gained[other][position]
                        changes = {row: moved, other: to}
                    both = is_legal & (to >= 0)
                    if both.any():
                        found = worth(changes) + points + gained[row][place]
                        reached = reach[s, other, position]
                        np.copyto(reached, np.maximum(reached, found), where=both)
    return best, reach


def main() -> None:
    """Write the table to the file named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    path: Path = parser.parse_args().file
    shown = [0]

    def show(share: float) -> None:
        if int(share * 100) > shown[0]:
            shown[0] = int(share * 100)
            print(f"{shown[0]} %", file=sys.stderr, flush=True)

    path.write_bytes(packed(solve(show)))


if __name__ == "__main__":
    main()
