"""Finds the two white dice by their equal tint under one lamp.

White under a warm lamp can look like yellow under another lamp, so a single die is ambiguous. Two
of the three light dice have the same colour, and they are the white ones. They agree in blue, if
the lamp has any, and in red. Yellow plastic reflects more red than white plastic.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from vision.detector.crops import straightened
from vision.detector.models import Scores
from vision.reading import Pixels

_SIDE = 24
"""Pixels per side of a straightened top face."""
_INNER = 0.9
"""Size of the sampled part, in sizes of the top face; the rim is discarded."""
_CLIPPED = 250
"""Level from which a pixel is clipped; clipped pixels are discarded."""
_LEAST = 60
"""Least number of pixels that are not clipped; with fewer, the clipped ones count too."""
_DARK = 3.0
"""Level added to each channel, about that of the noise."""
_SPREAD, _BLACK = 0.06, 5.0
"""Standard deviation of blue between two white dice (log), and of the black level: with a lamp of
little blue the rest is noise."""
_BLUE = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0)
"""Differences in blue of two dice, in standard deviations."""
_BLUE_SAYS = (2.9, 2.7, 1.8, 0.4, -1.2, -2.6, -3.9, -4.5)
"""Log likelihood ratio (nats) of two white dice against a white and a yellow one, at each of
`_BLUE` (docs/limits.md)."""
_RED = (0.0, 0.015, 0.03, 0.045, 0.06, 0.09, 0.12, 0.18)
"""Differences in red of two dice (log)."""
_RED_SAYS = (1.6, 1.4, 0.85, 0.15, -0.65, -0.9, -1.5, -2.25)
"""Log likelihood ratio (nats) of two white dice against a white and a yellow one, at each of
`_RED` (docs/limits.md)."""
_MOST = 4.0
"""Largest absolute value (nats) of the two ratios' sum."""


def tint_of(pixels: Pixels, corners: NDArray[np.float32]) -> Scores:
    """Tint (3,) of a top face's lighter half: log of blue and of red over green, level of blue.

    The level is 0 to 255.

    Args:
        corners: (4, 2) corners of the face in px of the picture.
    """
    face = straightened(pixels, corners, _SIDE, _INNER)
    colours = np.array(face.reshape(-1, 3).T, np.float32, order="C")
    blue, green, red = colours
    plain = colours[:, np.maximum(np.maximum(blue, green), red) < _CLIPPED]
    blue, green, red = plain if plain.shape[1] >= _LEAST else colours
    light = blue + green + red
    lighter = np.array((blue, green, red))[:, light >= median_of(light)]
    blue, green, red = np.log(lighter + _DARK)
    return np.array(
        [median_of(blue - green), median_of(red - green), median_of(lighter[0])], np.float32
    )


def median_of(numbers: Scores) -> float:
    """The upper median; `np.median` takes six times as long on small arrays."""
    middle = len(numbers) // 2
    return float(np.partition(numbers, middle)[middle])


def likeness(tints: Sequence[Scores | None]) -> NDArray[np.float64]:
    """Log likelihood ratio (nats) that each pair of N dice is the white pair, by their tints.

    Returns:
        (N, N); 0 if the tint of either die was not measured.
    """
    says = np.zeros((len(tints), len(tints)))
    for i, one in enumerate(tints):
        for j, other in enumerate(tints[:i]):
            if one is not None and other is not None:
                says[i, j] = says[j, i] = _alike(one.tolist(), other.tolist())
    return says


def _alike(one: list[float], other: list[float]) -> float:
    spread = math.hypot(_SPREAD, _BLACK / (min(one[2], other[2]) + _DARK))
    blue = float(np.interp(abs(one[0] - other[0]) / spread, _BLUE, _BLUE_SAYS))
    red = float(np.interp(abs(one[1] - other[1]), _RED, _RED_SAYS))
    return min(max(blue + red, -_MOST), _MOST)


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
    after, before = _states(room)
    ways = np.empty((*cost.shape, after.shape[1]))
    # rest: least cost of the rows from n on, by the places taken; the last entry is "barred".
    rest = np.full(after.shape[1] + 1, np.inf)
    rest[:-1] = 0.0
    for n in range(len(cost) - 1, -1, -1):
        np.add(rest[after], cost[n, :, None], out=ways[n])
        ways[n].min(axis=0, out=rest[:-1])
    # so_far: least cost of the rows before n.
    so_far = np.full_like(rest, np.inf)
    so_far[0] = 0.0
    totals = np.empty(cost.shape)
    pick, taken = [], 0
    for n, row in enumerate(ways):
        (so_far[:-1] + row).min(axis=1, out=totals[n])
        so_far[:-1] = (so_far[before] + cost[n, :, None]).min(axis=0)
        pick.append(int(row[:, taken].argmin()))
        taken = int(after[pick[-1], taken])
    return pick, totals


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
    best = cheapest = float(totals.min()) if len(cost) else 0.0
    least = np.delete(cost, column, axis=1).min(axis=1)
    none = (*room[:column], 0, *room[column + 1 :])
    for pair in combinations(range(len(cost)), 2):
        own = cost[pair, column].sum() - gain[pair]
        others = [n for n in range(len(cost)) if n not in pair]
        if own + least[others].sum() > best + _FAR:
            continue
        given, rest = shared_out(cost[others], none)
        every = own + (rest[0].min() if others else 0.0)
        totals[others] = np.minimum(totals[others], own + rest)
        totals[pair, column] = np.minimum(totals[pair, column], every)
        if every < cheapest:
            cheapest = every
            pick = [column] * len(cost)
            for n, k in zip(others, given, strict=True):
                pick[n] = k
    return pick, totals


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
