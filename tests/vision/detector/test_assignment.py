"""Sharing places out, against trying every way."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

from vision.detector.colours import Costs, shared_out, shared_with_a_pair


def every_way(
    cost: Costs, room: tuple[int, ...], extra: Callable[[tuple[int, ...]], float]
) -> dict[tuple[int, ...], float]:
    return {
        way: sum(cost[n, k] for n, k in enumerate(way)) + extra(way)
        for way in product(range(len(room) + 1), repeat=len(cost))
        if all(way.count(k) <= places for k, places in enumerate(room))
    }


def check(ways: dict[tuple[int, ...], float], pick: list[int], totals: Costs) -> None:
    best = min(ways, key=lambda way: ways[way])
    assert tuple(pick) == best
    for (n, k), total in np.ndenumerate(totals):
        least = min((cost for way, cost in ways.items() if way[n] == k), default=np.inf)
        if least < ways[best] + 12.0:
            assert total == pytest.approx(least)
        else:
            assert total >= ways[best] + 12.0


@pytest.mark.parametrize("count", range(5))
def test_places_are_shared_out_as_trying_every_way_does(count: int) -> None:
    rng = np.random.default_rng(count)
    for _ in range(20):
        room = tuple(int(n) for n in rng.integers(1, 3, int(rng.integers(1, 4))))
        cost = rng.uniform(0, 10, (count, len(room) + 1))
        check(every_way(cost, room, lambda way: 0.0), *shared_out(cost, room))


@pytest.mark.parametrize("count", range(6))
def test_a_pair_that_fits_is_counted_as_one(count: int) -> None:
    rng = np.random.default_rng(count)
    for _ in range(20):
        room = (1, 2, 1)
        cost = rng.uniform(0, 12, (count, 4))
        gain = rng.uniform(-4, 4, (count, count))
        gain = (gain + gain.T) / 2

        def together(way: tuple[int, ...], gain: Costs = gain) -> float:
            pair = [n for n, k in enumerate(way) if k == 1]
            return -float(gain[pair[0], pair[1]]) if len(pair) == 2 else 0.0

        check(every_way(cost, room, together), *shared_with_a_pair(cost, room, 1, gain))
