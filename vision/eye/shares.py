"""Shares places out among rows so that they cost least together: colours among dice."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

Costs = NDArray[np.float64]

_FAR = 12.0
"""A way dearer than the best by more (in nats: one in 160,000) need not be known exactly."""


def shared_out(cost: Costs, room: tuple[int, ...]) -> tuple[list[int], Costs]:
    """The cheapest way to share `room` places per column out among the rows; the last is free.

    Args:
        cost: (N, K + 1) of each row in each column.
        room: (K,) places.
    Returns:
        Per row its column, and (N, K + 1) what the cheapest way costs that gives a row a column.
    """
    ways, totals = _ways_on(cost[:, :, None], room)
    return _cheapest(ways[..., 0], room), totals[..., 0]


def shared_with_a_pair(
    cost: Costs, room: tuple[int, ...], column: int, gain: Costs
) -> tuple[list[int], Costs]:
    """The same, where two rows that share the column with two places cost less (or more) together.

    Args:
        gain: (N, N), symmetric: what is taken off where both rows get the column.
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
    """The other rows (P, count - 2) beside each pair (P, 2)."""
    rows = np.broadcast_to(np.arange(count), (len(pairs), count))
    apart = (rows != pairs[:, :1]) & (rows != pairs[:, 1:])
    return np.asarray(rows[apart].reshape(len(pairs), count - 2), np.intp)


def _ways_on(cost: Costs, room: tuple[int, ...]) -> tuple[Costs, Costs]:
    """What it costs at least to go on from each row, of B sets of rows at once.

    Args:
        cost: (N, K + 1, B).
    Returns:
        (N, K + 1, S, B) for the row itself and those after it, by the column it gets and the places
        taken before; and (N, K + 1, B) what the cheapest way costs that gives a row a column.
    """
    after, before = _states(room)
    count, columns, sets = cost.shape
    states = after.shape[1]
    # rest: the cheapest for the rows from n on, by the places taken; the last entry is "barred".
    rest = np.full((states + 1, sets), np.inf)
    rest[:-1] = 0.0
    ways = np.empty((count, columns, states, sets))
    for n in range(count - 1, -1, -1):
        np.add(rest[after], cost[n, :, None], out=ways[n])
        ways[n].min(axis=0, out=rest[:-1])
    # so_far: the cheapest for the rows before.
    so_far = np.full((states + 1, sets), np.inf)
    so_far[0] = 0.0
    totals = np.empty((count, columns, sets))
    for n in range(count):
        (so_far[:-1] + ways[n]).min(axis=1, out=totals[n])
        so_far[:-1] = (so_far[before] + cost[n, :, None]).min(axis=0)
    return ways, totals


def _cheapest(ways: Costs, room: tuple[int, ...]) -> list[int]:
    """The column of each row in the cheapest way (see `_ways_on`; one set of rows)."""
    after, _ = _states(room)
    pick, taken = [], 0
    for row in ways:
        chosen = int(row[:, taken].argmin())
        pick.append(chosen)
        taken = int(after[chosen, taken])
    return pick


@lru_cache(maxsize=64)
def _states(room: tuple[int, ...]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """How the places taken change when a row takes one of column k (the last takes none).

    Returns:
        (K + 1, S) the state after, and the state before; S where there is none.
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
