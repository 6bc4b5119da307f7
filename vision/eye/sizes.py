"""Which top faces are not as large as the other dice tell.

The dice of a game are of one size, so where each lies tells how large it is seen: nearer ones are
larger by how the floor leans, and what that leaves grows evenly across the picture. A face taken
for much smaller or larger was cut short by a shadow, a thing or its own rounded edges, or goes on
into another; what was read in it may be another value.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vision.reading import Point

_SPREAD = 0.03
"""How far the outlines of dice differ (log of their mean edge) beside that: with this the oddness
of 5,600 flat own dice and of 960 of another renderer has a standard deviation of 0.9."""
_UNEVEN = 0.15
"""How far (standard deviation) the growth that the floor's lean leaves reaches across the picture's
longer side (log; of 0.08, 0.15, 0.25 and 0.45 the one that tells odd faces best from others)."""
_FEWEST = 3
_ROUNDS = 4
_NEAREST = 0.2
"""No die is nearer to the floor's horizon than this share of the way from the middle to it."""


def oddness(
    edges_px: Sequence[float], places: Sequence[Point], grows: Point
) -> NDArray[np.float64]:
    """How far the size of each of N top faces is from what the others tell, robustly against odd
    ones among those.

    Args:
        edges_px: Mean edge of each.
        places: Where each is, from the middle of the picture, in long sides of it.
        grows: See `vision.eye.lean.Standing.grows`.
    Returns:
        (N,) in standard deviations, negative for what is too small; 0 for fewer than three.
    """
    count = len(edges_px)
    if count < _FEWEST:
        return np.zeros(count)
    where = np.array(places, np.float64)
    near = np.maximum(1.0 + where @ np.array(grows), _NEAREST)
    size = np.log(np.array(edges_px, np.float64) / near)
    terms = np.column_stack([np.ones(count), where])
    even = np.diag([0.0, _UNEVEN**-2, _UNEVEN**-2])
    others = 1.0 - np.eye(count)
    weight = others
    for _ in range(_ROUNDS):
        heavy = weight[:, None] * terms.T / _SPREAD**2
        known = heavy @ terms + even
        fits = np.linalg.solve(known, (heavy @ size)[..., None])[..., 0]
        weight = others / (1.0 + ((size - fits @ terms.T) / _SPREAD) ** 2)
    unsure = (terms * np.linalg.solve(known, terms[..., None])[..., 0]).sum(axis=1)
    off = size - (fits * terms).sum(axis=1)
    return np.asarray(off / np.sqrt(_SPREAD**2 + unsure), np.float64)
