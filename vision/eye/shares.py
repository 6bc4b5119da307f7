"""Assigns columns with limited places to rows at the least total cost: colours to dice."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Costs = NDArray[np.float64]

_FAR = 12.0
"""Cost above the best (nats) from which an assignment need not be exact: one in 160,000."""


def shared_out(cost: Costs, room: tuple[int, ...]) -> tuple[list[int], Costs]:
    """Assign a column to each row at the least cost; `room` limits all columns but the last.

    Args:
        cost: (N, K + 1) of each row in each column.
        room: (K,) places per column.
    Returns:
        The column of each row, and (N, K + 1) the least total cost with a row in a column.
    """
    ways, totals = _ways_on(cost[:, :, None], room)
    return _cheapest(ways[..., 0], room), totals[..., 0]


def shared_with_a_pair(
    cost: Costs, room: tuple[int, ...], column: int, gain: Costs
) -> tuple[list[int], Costs]:
    """Assign a column to each row, with a gain for the two rows that share `column`.

    Arguments and result are those of `shared_out`.

    Args:
        column: A column with two places.
        gain: (N, N), symmetric: subtracted from the cost if both rows get the column.
    """
    pick, totals = shared_out(cost, (*room[:column], 1, *room[column + 1 :]))
    best = float(totals.min()) if len(cost) else 0.0
    least = np.delete(cost, column, axis=1).min(axis=1)
    one, other = np.triu_indices(len(cost), 1)
    own = cost[one, column] + cost[other, column] - gain[one, other]
    near = own + least.sum() - least[one] - least[other] <= best + _FAR
    if not near.any():
        return pick, totals
    pairs, own = np.stack([one[near], other[near]], axis=1), own[near]
    others = _all_but(pairs, len(cost))
    none = (*room[:column], 0, *room[column + 1 :])
    ways, others_totals = _ways_on(cost[others].transpose(1, 2, 0), none)
    every = own + others_totals[0].min(axis=0) if len(cost) > 2 else own
    np.minimum.at(totals, others, (own + others_totals).transpose(2, 0, 1))
    np.minimum.at(totals[:, column], pairs, every[:, None])
    cheapest = int(every.argmin())
    if every[cheapest] < best:
        pick = [column] * len(cost)
        found = _cheapest(ways[..., cheapest], none)
        for n, given in zip(others[cheapest].tolist(), found, strict=True):
            pick[n] = given
    return pick, totals


def _all_but(pairs: NDArray[np.intp], count: int) -> NDArray[np.intp]:
    """The rows (P, count - 2) that are not in each pair (P, 2)."""
    rows = np.broadcast_to(np.arange(count), (len(pairs), count))
    apart = (rows != pairs[:, :1]) & (rows != pairs[:, 1:])
    return np.asarray(rows[apart].reshape(len(pairs), count - 2), np.intp)


def _ways_on(cost: Costs, room: tuple[int, ...]) -> tuple[Costs, Costs]:
    """Least costs from each row on, for B sets of rows at once.

    Args:
        cost: (N, K + 1, B).
    Returns:
        (N, K + 1, S, B) for the row and those after it, by its column and the places taken before;
        and (N, K + 1, B) the least total cost with a row in a column.
    """
    after, before = _states(room)
    count, columns, sets = cost.shape
    states = after.shape[1]
    # rest: least cost of the rows from n on, by the places taken; the last entry is "barred".
    rest = np.full((states + 1, sets), np.inf)
    rest[:-1] = 0.0
    ways = np.empty((count, columns, states, sets))
    for n in range(count - 1, -1, -1):
        np.add(rest[after], cost[n, :, None], out=ways[n])
        ways[n].min(axis=0, out=rest[:-1])
    # so_far: least cost of the rows before n.
    so_far = np.full((states + 1, sets), np.inf)
    so_far[0] = 0.0
    totals = np.empty((count, columns, sets))
    for n in range(count):
        (so_far[:-1] + ways[n]).min(axis=1, out=totals[n])
        so_far[:-1] = (so_far[before] + cost[n, :, None]).min(axis=0)
    return ways, totals


def _cheapest(ways: Costs, room: tuple[int, ...]) -> list[int]:
    """Column of each row in the cheapest assignment (see `_ways_on`; one set of rows)."""
    after, _ = _states(room)
    pick, taken = [], 0
    for row in ways:
        chosen = int(row[:, taken].argmin())
        pick.append(chosen)
        taken = int(after[chosen, taken])
    return pick


@lru_cache(maxsize=64)
def _states(room: tuple[int, ...]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """State transitions when a row takes a place of column k (the last takes none).

    Returns:
        (K + 1, S) the state after, and the state before; S if there is none.
    """
    shape = tuple(places + 1 for places in room)
    states = np.arange(int(np.prod(shape)), dtype=np.intp).reshape(shape)
    after = np.full((len(room) + 1, states.size), states.size, np.intp)
    before = after.copy()
    after[-1] = before[-1] = states.ravel()
    for k in range(len(room)):
        low = states.take(range(room[k]), axis=k).ravel()
        high = states.take(range(1, shape[k]), axis=k).ravel()
        after[k, low], before[k, high] = high, low
    return after, before
