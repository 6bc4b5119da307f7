"""Classifies candidates from crops: die or not, colour, value, and flat or tilted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.detector.candidates import SMALL, Candidate
from vision.detector.context import correct_by_context
from vision.detector.crops import crop_matrices, edges_of
from vision.detector.inference import classify_crops, corners_of
from vision.detector.models import (
    NORMAL,
    SPREAD,
    UPRIGHT_DIE,
    UPRIGHT_VALUES,
    Scores,
    sigmoid,
    softmax,
)
from vision.detector.tilt import FLAT, GUESS, estimate_tilt, fit_floor_plane
from vision.detector.upright import classify_upright
from vision.reading import Pixels, Point

_WORTH = (0.03, 0.4)
"""Probabilities of a die and of motion above which a candidate is kept."""
_DOUBT = 0.98
"""Probability of a die that shows its value, below which it gets views from all sides."""
_UPRIGHT = 0.65
"""Weight of the upright views in the tilt log odds (docs/limits.md)."""
_BY_CROP, _BY_VIEW = 0.6, 1.2
"""Weights of crop and upright view in the log probability of a value (docs/limits.md)."""
_TORN = (-4.0, 2.0)
"""Tilt range (log odds) in which a die gets views from all sides (docs/limits.md)."""
SURELY = 0.7
"""Probability above which a candidate is a die (docs/limits.md)."""
_RATHER_NONE, _MOVES, _HIDDEN = 0.0, 2.0, -1.0
"""Log odds of a die, of motion and of full view beyond which a candidate gets no upright view."""
_OUTSIDE = 0.1
"""Probability of lying in the tray up to which a candidate gets no upright view."""
_LEAST = 1e-6
"""Added to probabilities, so that their logarithms are finite."""
_DIE, _VALUES, _COLOURS, _TILTED, _MOVING, _VISIBLE = 0, slice(1, 7), slice(7, 13), 13, 14, 15
"""Columns of the crop classifier."""

Inside = Callable[[Point, float], float]
"""Returns the probability that a die lies in the tray, by its foot and its edge in px."""


@dataclass(frozen=True, slots=True, eq=False)
class Detection:
    """The outputs of the classifiers for one candidate.

    Attributes:
        corners: (4, 2) corners of the top face in px of the picture.
        values: (6,) probability of each value.
        agree: Whether the crop classifier and the upright views find the same value likeliest.
        colours: (6,) logits of white, red, yellow, green, blue, and other.
        die, moving, in_tray: Probabilities.
        visible: Share of the top face in view.
        tilt: Log odds that the die is tilted.
        centre_xy, edge_px: Middle of the top face, and its mean edge.
        foot_xy: Point of the floor below the middle of the die.
        heat: The finder's probability of a die there.
    """

    corners: NDArray[np.float32]
    values: Scores
    agree: bool
    colours: Scores
    die: float
    moving: float
    in_tray: float
    visible: float
    tilt: float
    centre_xy: Point
    edge_px: float
    foot_xy: Point
    heat: float


def classify(
    pixels: Pixels, candidates: Sequence[Candidate], inside: Inside = lambda *_: 1.0
) -> list[Detection]:
    """Classify candidates; discard those that are clearly neither dice nor blurs.

    Dice that may lie at rest in the tray get an upright view, and views from all sides if that
    leaves value or tilt unclear.
    """
    if not candidates:
        return []
    aims = np.array([(*each.centre_xy, each.edge_px) for each in candidates], np.float32)
    crops = classify_crops(pixels, crop_matrices(aims[:, :2], aims[:, 2]))
    chances = sigmoid(crops.logits[:, [_DIE, _MOVING]])
    keep = np.flatnonzero((chances > _WORTH).any(axis=1)).tolist()
    if not keep:
        return []
    kept = [candidates[n] for n in keep]
    crops = crops.only(keep)
    corners = corners_of(crops)
    edges, middles = edges_of(corners), corners.mean(axis=1)
    height, width = pixels.shape[:2]
    long_side = max(height, width)
    if np.median(edges) < SMALL * long_side:  # the finder aims less well at them
        is_die = crops.logits[:, _DIE, None, None] > 0.0
        crops = classify_crops(pixels, np.where(is_die, crop_matrices(middles, edges), crops.cuts))
        corners = corners_of(crops)
        edges, middles = edges_of(corners), corners.mean(axis=1)
    logits = crops.logits
    guessed = np.array([candidate.up for candidate in kept], np.float32)
    feet = (middles - _upwards(logits, guessed) * edges[:, None]).tolist()
    in_tray = [inside((x, y), edge) for (x, y), edge in zip(feet, edges.tolist(), strict=True)]
    places = (middles - np.array([width - 1, height - 1]) / 2) / long_side
    shares = edges / long_side
    fit = fit_floor_plane(logits, places, guessed)
    added = correct_by_context(logits, fit, crops.shades, places, shares)
    rest = np.flatnonzero(_may_rest(logits) & (np.array(in_tray) > _OUTSIDE)).tolist()
    views = classify_upright(pixels, corners[rest])

    def estimated() -> Estimates:
        tilts = estimate_tilt(views, rest, logits, places, shares, guessed)
        return estimates(logits, added, rest, views, tilts)

    seen = estimated()
    unclear = [k for k, n in enumerate(rest) if seen.unclear[n]]
    if unclear:
        faces = corners[[rest[k] for k in unclear]]
        sides = np.concatenate([np.roll(faces, side, axis=1) for side in (1, 2, 3)])
        more = classify_upright(pixels, sides).reshape(3, len(unclear), -1).sum(axis=0)
        views[unclear] = (views[unclear] + more) / 4.0
        seen = estimated()
    colours = logits[:, _COLOURS] + added[:, :6]
    chances = sigmoid(logits[:, [_MOVING, _VISIBLE]]).tolist()
    return [
        Detection(
            corners=corners[n],
            values=seen.values[n],
            agree=bool(seen.agree[n]),
            colours=colours[n],
            die=float(seen.die[n]),
            moving=moving,
            in_tray=in_tray[n],
            visible=visible,
            tilt=float(seen.tilt[n]),
            centre_xy=(float(middles[n, 0]), float(middles[n, 1])),
            edge_px=float(edges[n]),
            foot_xy=(feet[n][0], feet[n][1]),
            heat=kept[n].heat,
        )
        for n, (moving, visible) in enumerate(chances)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """Outputs of crops and views together for N candidates; `Detection` describes the first four.

    Attributes:
        unclear: (N,) whether value or tilt are in doubt.
    """

    die: Scores
    values: Scores
    agree: NDArray[np.bool_]
    tilt: Scores
    unclear: NDArray[np.bool_]


def estimates(
    logits: Scores, added: Scores, viewed: Sequence[int], views: Scores, tilts: Scores
) -> Estimates:
    """Combine crops, the context head and upright views.

    Args:
        logits, added: (N, 51) of the crops, (N, 7) of the context head.
        viewed: Indices of the K candidates with views.
        views, tilts: (K, UPRIGHT_OUTPUTS) of the views, and (K,) log odds of tilt by them.
    """
    rows = np.array(viewed, np.intp)
    die, values = logits[:, _DIE].copy(), softmax(logits[:, _VALUES])
    tilt = logits[:, _TILTED] + added[:, 6]
    agree = np.ones(len(logits), np.bool_)
    one, other = values[rows], softmax(views[:, UPRIGHT_VALUES])
    agree[rows] = one.argmax(axis=1) == other.argmax(axis=1)
    values[rows] = softmax(_BY_CROP * np.log(one + _LEAST) + _BY_VIEW * np.log(other + _LEAST))
    tilt[rows] = (1.0 - _UPRIGHT) * tilt[rows] + _UPRIGHT * tilts
    die[rows] = (die[rows] + views[:, UPRIGHT_DIE]) / 2.0
    chances = sigmoid(die)
    low, high = _TORN
    doubted = ~agree | (values.max(axis=1) * chances < _DOUBT)
    return Estimates(chances, values, agree, tilt, doubted | (low < tilt) & (tilt < high))


def _upwards(logits: Scores, guessed: Scores) -> Scores:
    """Directions (N, 2) in which dice rise from the floor in the picture, in edges.

    Combines the crop classifier and the finder's floor tilt, weighted by their precision.
    """
    own = 1.0 / (np.exp(logits[:, [SPREAD]]) ** 2 + FLAT**2)
    known = GUESS**-2
    return np.asarray((own * logits[:, NORMAL] + known * guessed) / (own + known), np.float32)


def _may_rest(logits: Scores) -> NDArray[np.bool_]:
    """Whether each candidate (N,) can be a die at rest in full view."""
    die, moving, visible = logits[:, [_DIE, _MOVING, _VISIBLE]].T
    return np.asarray((die >= _RATHER_NONE) & (moving <= _MOVES) & (visible >= _HIDDEN))
