"""Finds top faces whose size differs from that expected from the other dice.

All dice of a game have one size, so the place of a die gives its size in the picture. The floor's
tilt makes nearer dice larger, and the remaining differences are linear across the picture. A face
of another size has a wrong outline: a shadow, a thing or its rounded edges cut it short, or it
includes a part of another face. Its value may then be wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from vision.reading import Point

_SPREAD = 0.03
"""Standard deviation of the log of an outline's mean edge (docs/evaluation.md, thresholds)."""
_UNEVEN = 0.15
"""Standard deviation of the remaining growth (log) over the picture's long side
(docs/evaluation.md, thresholds)."""
_FEWEST = 3
"""Least number of dice for a comparison of sizes."""
_ROUNDS = 4
"""Rounds of the robust fit."""
_NEAREST = 0.2
"""Least distance of a die to the floor's horizon; the middle of the picture is at 1."""


def oddness(
    edges_px: Sequence[float], places: Sequence[Point], grows: Point
) -> NDArray[np.float64]:
    """Deviation of the size of each of N top faces from the robust fit to the others.

    Args:
        edges_px: Mean edge of each.
        places: Place of each, from the middle of the picture, in long sides of it.
        grows: See `vision.detector.tilt.FloorFit.grows`.
    Returns:
        (N,) in standard deviations, negative for small faces; 0 for fewer than three dice.
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
