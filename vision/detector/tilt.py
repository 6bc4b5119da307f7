"""Plane fit: finds the floor's normal from the dice, and the dice that are tilted against it.

The top faces of flat dice all have the same normal. Its appearance in the picture depends on the
place and on the focal length, which is unknown. The fit averages over several focal lengths,
weighted by the agreement of the dice under each.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from vision.detector.models import (
    NORMAL,
    SPREAD,
    UPRIGHT_SPREAD,
    UPRIGHT_TILTED,
    UPRIGHT_TRAITS,
    Scores,
    dense,
    relu,
    shared_layers,
)

_SLOPES = np.array([0.65, 0.8, 0.95, 1.15, 1.4, 1.7], np.float32)
"""Inverse focal lengths, in long sides of the picture: views 36 to 81 degrees wide."""
_SLOPE = 1.05
"""Inverse focal length that the context and tilt heads receive as zero."""
_LIKELY, _LIKELY_SPREAD = 1.2, 0.25
"""Mean and standard deviation of the inverse focal length (docs/limits.md)."""
GUESS = 0.12
"""Standard deviation of the finder's estimate of the floor's normal on synthetic frames."""
_SPREADS = (0.015, 0.6)
"""Least and largest standard deviation accepted from the reader."""
FLAT = 0.03
"""Standard deviation of the normals of flat dice, added to the reader's: lenses bend lines and
floors are uneven."""
_ODD = 1.5
"""Deviation from the others, in standard deviations, at which a die has half its weight."""
_ROUNDS = 3
"""Rounds of the robust fit."""
_LEVEL = 0.05
"""Least square of the normal's component towards the camera."""
_CLEARLY = 5.0
"""Scale of the inputs for the context and tilt heads: a large deviation is about 1."""


@dataclass(frozen=True, slots=True, eq=False)
class FloorFit:
    """The plane fit: the floor's normal, and the deviation of each die.

    Attributes:
        off: (N, 2) difference of each top face's normal from the floor fitted to the others, x
            right and y down.
        floor: (2,) the floor's normal in the camera's frame.
        slope: Difference of the inverse focal length from `_SLOPE`.
        fits: (N,) agreement of each die with the others, 0 to 1; 0 for a false detection.
        odd: (N,) deviation of each in standard deviations; at most 8.
    """

    off: Scores
    floor: Scores
    slope: float
    fits: Scores
    odd: Scores

    def inputs(self, places: Scores, shares: Scores) -> Scores:
        """Return what both heads get of each die's place and pose (N, 12).

        Args:
            places: (N, 2) from the middle of the picture, in long sides of it.
            shares: (N,) edge of each die in long sides of the picture.
        """
        slope = np.full((len(self.off), 2), self.slope, np.float32)
        far = np.hypot(*self.off.T)[:, None]
        sized = (2.0 * places, np.log(shares)[:, None] + 3.0)
        floor = np.broadcast_to(2.0 * self.floor, self.off.shape)
        pose = np.concatenate([self.off, far, self.fits[:, None], slope], axis=1)
        return np.concatenate([*sized, floor, _CLEARLY * pose, self.odd[:, None]], axis=1)


def fit_floor_plane(logits: Scores, places: Scores, guessed: Scores) -> FloorFit:
    """Fit the floor to the reader's outputs (N, 51); see `off_the_floor`."""
    sure = (logits[:, 0] > 0.0).astype(np.float32)
    return off_the_floor(logits[:, NORMAL], np.exp(logits[:, SPREAD]), places, guessed, sure)


def off_the_floor(
    own: Scores, spread: Scores, places: Scores, guessed: Scores, sure: Scores
) -> FloorFit:
    """Fit the floor to the dice, robustly against tilted ones.

    Args:
        own: (N, 2) normal of each top face (see `Camera.up_at`).
        spread: (N,) its standard deviation.
        places: (N, 2) from the middle of the picture, in long sides of it.
        guessed: (N, 2) the finder's estimate of the floor's normal there.
        sure: (N,) 1 for a die, else 0.
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
    share = np.exp((cost.min() - cost) / 2.0)  # a hard choice would jump between similar ones
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
    """Normals (x and y) from their component across the line of sight (K, N, 3)."""
    depth = -(across * sight[..., :2]).sum(axis=-1, keepdims=True) / sight[..., 2:]
    sine = (across**2).sum(axis=-1, keepdims=True) + depth**2
    return np.asarray(across - np.sqrt(np.maximum(1.0 - sine, _LEVEL)) * sight[..., :2], np.float32)


def estimate_tilt(
    upright: Scores,
    selected: list[int],
    logits: Scores,
    places: Scores,
    shares: Scores,
    guessed: Scores,
) -> Scores:
    """Log odds (K,) that the selected dice are tilted, each compared with all others.

    Args:
        upright: (K, UPRIGHT_OUTPUTS) see `vision.detector.upright`.
        selected: Indices of the selected dice among N; the others keep the reader's normals.
        logits: (N, 51) the reader's outputs.
        places: (N, 2) from the middle of the picture, in long sides of it.
        shares: (N,) edge of each die in long sides of the picture.
        guessed: (N, 2) the finder's estimate of the floor's normal there.
    """
    seen = logits.copy()
    seen[selected, NORMAL], seen[selected, SPREAD] = upright[:, :2], upright[:, UPRIGHT_SPREAD]
    fit = fit_floor_plane(seen, places, guessed)
    tokens = np.concatenate(
        [
            0.25 * np.clip(upright[:, [UPRIGHT_TILTED]], -12.0, 12.0),
            np.clip(upright[:, UPRIGHT_TRAITS], -12.0, 12.0),
            upright[:, : UPRIGHT_SPREAD + 1],
            fit.inputs(places, shares)[selected],
        ],
        axis=1,
    ).astype(np.float32)
    layer = partial(dense, shared_layers("tilt_head"))
    h = relu(layer("second", relu(layer("first", tokens))))
    h = h + relu(layer("third", h))
    return np.asarray(upright[:, UPRIGHT_TILTED] + layer("fourth", h)[:, 0], np.float32)
