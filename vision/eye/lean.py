"""Which dice stand off the floor that most of them lie on.

Dice that lie flat all look the same way: up. Where each top face looks, as the camera sees it,
depends on the place in the picture by the focal length, which is not known: the one is taken
under which most dice agree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from vision.eye.nets import Scores

_SLOPES = np.array([0.65, 0.8, 0.95, 1.15, 1.4, 1.7], np.float32)
_SLOPE = 1.05
_SLOPE_SPREAD = 0.35
"""One over the focal length, in long sides of the picture: 36 to 81 degrees wide, most near 55."""
_GUESS = 0.12
"""How far the finder's guess of the floor is off (own frames)."""
_SPREAD = 0.07
"""How far the reader is off for one die (own frames)."""
_OUTLIER = 0.12
"""A die so far off the others counts half."""
_ROUNDS = 3


@dataclass(frozen=True, slots=True, eq=False)
class Standing:
    """How dice stand on the floor.

    Attributes:
        off: (N, 2) how the normal of each top face differs from the floor's, x right and y down.
        floor: (2,) the floor's normal in the camera's frame.
        slope: How one over the focal length differs from the usual.
        fits: (N,) how well each die agrees with the others, 0 to 1; 0 for what is no die.
    """

    off: Scores
    floor: Scores
    slope: float
    fits: Scores


def off_the_floor(own: Scores, places: Scores, guessed: Scores, sure: Scores) -> Standing:
    """Fit the floor to the dice, robustly against those that lean.

    Args:
        own: (N, 2) which way each top face looks (see `Camera.up_at`).
        places: (N, 2) from the middle of the picture, in long sides of it.
        guessed: (N, 2) the finder's guess of how the floor leans there.
        sure: (N,) 1 for what is a die, else 0.
    """
    sight = np.ones((len(_SLOPES), len(own), 3), np.float32)
    sight[..., :2] = places * _SLOPES[:, None, None]
    sight /= np.linalg.norm(sight, axis=-1, keepdims=True)
    mine, guess = _normals(own, sight), _normals(guessed, sight)
    start = (guess * sure[:, None]).sum(axis=1) / (sure.sum() + 1e-3)
    weight = np.broadcast_to(sure, mine.shape[:2])
    for _ in range(_ROUNDS):
        heavy = weight[..., None] * _SPREAD**-2
        floor = ((heavy * mine).sum(axis=1) + start * _GUESS**-2) / (heavy.sum(axis=1) + _GUESS**-2)
        apart = ((mine - floor[:, None]) ** 2).sum(axis=-1)
        weight = sure / (1.0 + apart / _OUTLIER**2)
    loss = (sure * np.log1p(apart / _OUTLIER**2)).sum(axis=1) * (_OUTLIER / _SPREAD) ** 2
    loss += ((floor - start) ** 2).sum(axis=-1) * _GUESS**-2
    best = int((loss + ((_SLOPES - _SLOPE) / _SLOPE_SPREAD) ** 2).argmin())
    return Standing(
        mine[best] - floor[best], floor[best], float(_SLOPES[best]) - _SLOPE, weight[best]
    )


def _normals(across: Scores, sight: Scores) -> Scores:
    """Normals (x and y) from their part across the line of sight (K, N, 3)."""
    depth = -(across * sight[..., :2]).sum(axis=-1, keepdims=True) / sight[..., 2:]
    sine = (across**2).sum(axis=-1, keepdims=True) + depth**2
    return np.asarray(across - np.sqrt(np.maximum(1.0 - sine, 0.05)) * sight[..., :2], np.float32)
