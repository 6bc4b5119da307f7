"""Which dice stand off the floor that most of them lie on.

Dice that lie flat all look the same way: up. Where each top face looks, as the camera sees it,
depends on the place in the picture by the focal length, which is not known: each has a say by how
well dice agree under it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from vision.eye.nets import Scores
from vision.reading import Point

_SLOPES = np.array([0.65, 0.8, 0.95, 1.15, 1.4, 1.7], np.float32)
_SLOPE = 1.05
"""One over the focal length, in long sides of the picture: 36 to 81 degrees wide; the slope that
jury and bench get is told from this one on."""
_LIKELY, _LIKELY_SPREAD = 1.2, 0.25
"""Which of them cameras have: the Raspberry Pi's are 53.5, 62.2 and 66 degrees wide (1.01, 1.21 and
1.30; its documentation), webcams are made from 55 to 70 or so."""
GUESS = 0.12
"""How far the finder's guess of the floor is off (own frames)."""
_SPREADS = (0.015, 0.6)
FLAT = 0.03
"""How far off the reader may say it is for one die, and how far dice that lie flat differ beside
that: a lens bends, a floor is not even."""
_ODD = 1.5
"""A die so many times as far off the others as it should be counts half."""
_ROUNDS = 3
_LEVEL = 0.05
"""No floor is seen so much from the side that its normal's part towards the camera has a smaller
square than this."""
_CLEARLY = 5.0
"""What is far off is about one in what jury and bench get."""


@dataclass(frozen=True, slots=True, eq=False)
class FloorFit:
    """How dice stand on the floor.

    Attributes:
        off: (N, 2) how the normal of each top face differs from the floor that the others tell of,
            x right and y down.
        floor: (2,) the floor's normal in the camera's frame.
        slope: How one over the focal length differs from `_SLOPE`.
        fits: (N,) how well each die agrees with the others, 0 to 1; 0 for what is no die.
        odd: (N,) how far off each is for how surely that is known; at most 8.
    """

    off: Scores
    floor: Scores
    slope: float
    fits: Scores
    odd: Scores

    def told(self) -> Scores:
        """How each die stands (N, 7), as jury and bench get it."""
        slope = np.full((len(self.off), 2), self.slope, np.float32)
        far = np.hypot(*self.off.T)[:, None]
        told = np.concatenate([self.off, far, self.fits[:, None], slope], axis=1)
        return np.concatenate([_CLEARLY * told, self.odd[:, None]], axis=1)

    def grows(self) -> Point:
        """By how much a die is seen larger, as a share of its size in the middle of the picture,
        where it lies one long side to the right or further down."""
        x, y = self.floor.tolist()
        long_sides = -(self.slope + _SLOPE) / math.sqrt(max(1.0 - x * x - y * y, _LEVEL))
        return x * long_sides, y * long_sides


def off_the_floor(
    own: Scores, spread: Scores, places: Scores, guessed: Scores, sure: Scores
) -> FloorFit:
    """Fit the floor to the dice, robustly against those that lean.

    Args:
        own: (N, 2) which way each top face looks (see `Camera.up_at`).
        spread: (N,) how far off that may be.
        places: (N, 2) from the middle of the picture, in long sides of it.
        guessed: (N, 2) the finder's guess of how the floor leans there.
        sure: (N,) 1 for what is a die, else 0.
    """
    sight = np.ones((len(_SLOPES), len(own), 3), np.float32)
    sight[..., :2] = places * _SLOPES[:, None, None]
    sight /= np.linalg.norm(sight, axis=-1, keepdims=True)
    mine, guess = _normals(own, sight), _normals(guessed, sight)
    start = (guess * sure[:, None]).sum(axis=1) / (sure.sum() + 1e-3)
    wide = np.clip(spread, *_SPREADS) ** 2 + FLAT**2
    known = GUESS**-2
    weight = np.broadcast_to(sure, mine.shape[:2])
    for _ in range(_ROUNDS):
        heavy = (weight / wide)[..., None]
        floor = ((heavy * mine).sum(axis=1) + start * known) / (heavy.sum(axis=1) + known)
        apart = ((mine - floor[:, None]) ** 2).sum(axis=-1) / (_ODD**2 * wide)
        weight = sure / (1.0 + apart)
    loss = (sure * np.log1p(apart)).sum(axis=1) * _ODD**2
    loss += ((floor - start) ** 2).sum(axis=-1) * known
    cost = loss + ((_SLOPES - _LIKELY) / _LIKELY_SPREAD) ** 2
    share = np.exp((cost.min() - cost) / 2.0)  # all on one would leap where two are nearly alike
    share /= share.sum()
    heavy = (weight / wide)[..., None]
    mass = heavy.sum(axis=1, keepdims=True) + known - heavy
    others = (floor[:, None] * (mass + heavy) - heavy * mine) / mass
    off = mine - others
    odd = np.sqrt((off**2).sum(axis=-1) / (wide + 1.0 / mass[..., 0]) + 1e-6)
    return FloorFit(
        np.tensordot(share, off, 1),
        share @ floor,
        float(share @ _SLOPES) - _SLOPE,
        share @ weight,
        share @ np.minimum(odd, 8.0),
    )


def _normals(across: Scores, sight: Scores) -> Scores:
    """Normals (x and y) from their part across the line of sight (K, N, 3)."""
    depth = -(across * sight[..., :2]).sum(axis=-1, keepdims=True) / sight[..., 2:]
    sine = (across**2).sum(axis=-1, keepdims=True) + depth**2
    return np.asarray(across - np.sqrt(np.maximum(1.0 - sine, _LEVEL)) * sight[..., :2], np.float32)
