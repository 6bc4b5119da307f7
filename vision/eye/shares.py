"""Shares places out among rows so that they cost least together: colours among dice."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations

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
    after, before = _ways(room)
    # rest[n]: the cheapest for the rows from n on, by the places taken; the last entry is "barred".
    rest = np.full((len(cost) + 1, len(after) + 1), np.inf)
    rest[-1, :-1] = 0.0
    ways = np.empty((len(cost), *after.shape))
    for n in range(len(cost) - 1, -1, -1):
        ways[n] = rest[n + 1][after] + cost[n]
        rest[n, :-1] = ways[n].min(axis=1)
    # so_far: the cheapest for the rows before.
    so_far = np.full(len(after) + 1, np.inf)
    so_far[0] = 0.0
    pick, taken = [], 0
    totals = np.empty_like(cost)
    for n in range(len(cost)):
        chosen = int(ways[n, taken].argmin())
        totals[n] = (so_far[:-1, None] + ways[n]).min(axis=0)
        pick.append(chosen)
        so_far[:-1] = (so_far[before] + cost[n]).min(axis=1)
        taken = int(after[taken, chosen])
    return pick, totals


def shared_with_a_pair(
    cost: Costs, room: tuple[int, ...], column: int, gain: Costs
) -> tuple[list[int], Costs]:
    """The same, where two rows that share the column with two places cost less (or more) together.

    Args:
        gain: (N, N), symmetric: what is taken off where both rows get the column.
    """
    fewer = (*room[:column], 1, *room[column + 1 :])
    pick, totals = shared_out(cost, fewer)
    best = float(totals.min()) if len(cost) else 0.0
    none = (*room[:column], 0, *room[column + 1 :])
    least = np.delete(cost, column, axis=1).min(axis=1)
    bounds = {
        (i, j): cost[i, column] + cost[j, column] - gain[i, j] + least.sum() - least[i] - least[j]
        for i, j in combinations(range(len(cost)), 2)
    }
    for i, j in sorted(bounds, key=lambda pair: float(bounds[pair])):
        if bounds[i, j] > best + _FAR:
            break
        others = [n for n in range(len(cost)) if n not in (i, j)]
        others_pick, others_totals = shared_out(cost[others], none)
        own = float(cost[i, column] + cost[j, column] - gain[i, j])
        total = own + sum(float(cost[n, k]) for n, k in zip(others, others_pick, strict=True))
        totals[others] = np.minimum(totals[others], others_totals + own)
        totals[[i, j], column] = np.minimum(totals[[i, j], column], total)
        if total < best:
            best = total
            found = dict(zip(others, others_pick, strict=True))
            pick = [found.get(n, column) for n in range(len(cost))]
    return pick, totals


@lru_cache(maxsize=64)
def _ways(room: tuple[int, ...]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """How the places taken change when a row takes one of column k (the last takes none).

    Returns:
        (S, K + 1) the state after, and the state before; S where there is none.
    """
    shape = tuple(places + 1 for places in room)
    states = np.arange(int(np.prod(shape)), dtype=np.intp).reshape(shape)
    after = np.full((states.size, len(room) + 1), states.size, np.intp)
    before = after.copy()
    after[:, -1] = before[:, -1] = states.ravel()
    for k in range(len(room)):
        low = states.take(range(room[k]), axis=k).ravel()
        high = states.take(range(1, shape[k]), axis=k).ravel()
        after[low, k], before[high, k] = high, low
    return after, before
