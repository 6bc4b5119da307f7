"""Classifies candidates from crops: die or not, colour, value, and flat or tilted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vision.detector.candidates import Candidate
from vision.detector.context import correct_by_context
from vision.detector.crops import crop_matrix, edges_of
from vision.detector.inference import CropOutputs, classify_crops, corners_of
from vision.detector.models import (
    NORMAL,
    SPREAD,
    UPRIGHT_DIE,
    UPRIGHT_VALUES,
    Scores,
    chance,
    sigmoid,
    softmax,
)
from vision.detector.tilt import FLAT, GUESS, fit_floor_plane, leanings
from vision.detector.upright import classify_upright
from vision.reading import Pixels, Point

_WORTH = 0.03
"""Probability of a die above which a candidate is kept."""
_DOUBT = 0.98
"""Probability of a die that shows its value, below which it gets views from all sides."""
_UPRIGHT = 0.65
"""Weight of the upright views in the tilt log odds (docs/evaluation.md, thresholds)."""
_BY_CROP, _BY_VIEW = 0.6, 1.2
"""Weights of crop and upright view in the log probability of a value (docs/evaluation.md,
thresholds)."""
_TORN = (-4.0, 2.0)
"""Tilt range (log odds) in which a die gets views from all sides (docs/evaluation.md,
thresholds)."""
SURELY = 0.7
"""Probability above which a candidate is a die (docs/evaluation.md, thresholds)."""
_RATHER_NONE = 0.0
"""Log odds of a die below which a candidate gets no upright view (docs/evaluation.md,
thresholds)."""
_LEAST = 1e-6
"""Added to probabilities, so that their logarithms are finite."""
_DIE_AND_MOVING, _VALUES = [0, 14], slice(1, 7)


@dataclass(frozen=True, slots=True, eq=False)
class Detection:
    """The outputs of the classifiers for one candidate.

    Attributes:
        corners: (4, 2) corners of the top face in px of the picture.
        values: (6,) probability of each value.
        agree: Whether the crop classifier and the upright views find the same value likeliest.
        colours: (6,) logits of white, red, yellow, green, blue, and other.
        die, moving: Probabilities.
        visible: Share of the top face in view.
        leaning: Log odds that the die is tilted.
        centre_xy, edge_px: Middle of the top face, and its mean edge.
        foot_xy: Point of the floor below the middle of the die.
        heat: The finder's probability of a die there.
    """

    corners: NDArray[np.float32]
    values: Scores
    colours: Scores
    die: float
    leaning: float
    moving: float
    visible: float
    agree: bool = True
    centre_xy: Point = (0.0, 0.0)
    edge_px: float = 0.0
    foot_xy: Point = (0.0, 0.0)
    heat: float = 1.0


@dataclass(frozen=True, eq=False)
class AlignedCandidates:
    """N candidates that may be dice or blurs, with one crop each.

    Attributes:
        outputs: Outputs for these crops.
        corners: (N, 4, 2) of the top faces in px of the picture.
    """

    candidates: tuple[Candidate, ...]
    outputs: CropOutputs
    corners: NDArray[np.float32]

    @cached_property
    def edges(self) -> NDArray[np.float32]:
        """Mean edge (N,) of the top faces in px."""
        return edges_of(self.corners)

    @cached_property
    def middles(self) -> NDArray[np.float32]:
        """The middles (N, 2) of the top faces in px."""
        return np.asarray(self.corners.mean(axis=1), np.float32)

    @cached_property
    def chances(self) -> Scores:
        """Probability of a die, and of a moving one (N, 2)."""
        return sigmoid(self.outputs.logits[:, _DIE_AND_MOVING])

    @cached_property
    def feet(self) -> Scores:
        """Points of the floor (N, 2) below the middles of the top faces."""
        rise = _upwards(self.outputs.logits, self.guessed) * self.edges[:, None]
        return np.asarray(self.middles - rise, np.float32)

    @cached_property
    def guessed(self) -> Scores:
        """The finder's estimate of the floor's tilt below each candidate (N, 2)."""
        return np.array([candidate.up for candidate in self.candidates], np.float32).reshape(-1, 2)


def aim(pixels: Pixels, candidates: Sequence[Candidate]) -> AlignedCandidates:
    """Classify a crop of each candidate; discard those that are clearly neither dice nor blurs."""
    outputs = classify_crops(pixels, [crop_matrix(s.centre_xy, s.edge_px) for s in candidates])
    chances = sigmoid(outputs.logits[:, _DIE_AND_MOVING])
    keep = [n for n, (die, moving) in enumerate(chances) if die > _WORTH or moving > 0.4]
    outputs, kept = outputs.only(keep), [candidates[n] for n in keep]
    return AlignedCandidates(tuple(kept), outputs, corners_of(outputs))


def classify_each(pixels: Pixels, candidates: Sequence[Candidate]) -> list[Detection]:
    """Classify candidates. Unclear ones get views from all sides."""
    aligned = aim(pixels, candidates)
    return classify(pixels, aligned, range(len(aligned.candidates)))


def classify(
    pixels: Pixels,
    aligned: AlignedCandidates,
    worth: Sequence[int],
) -> list[Detection]:
    """Classify each candidate.

    Args:
        worth: Indices of the candidates that get an upright view if they may be dice at rest, and
            views from all sides if that leaves value or tilt unclear.
    """
    if not aligned.candidates:
        return []
    outputs, corners = aligned.outputs, aligned.corners
    edges, centres, guessed = aligned.edges, aligned.middles, aligned.guessed
    height, width = pixels.shape[:2]
    long_side = max(height, width)
    places = (centres - np.array([width - 1, height - 1]) / 2) / long_side
    shares = edges / long_side
    logits = outputs.logits
    fit = fit_floor_plane(logits, places, guessed)
    added = correct_by_context(logits, fit, outputs.shades, places, shares)
    reads = [Estimate.by_crop(row, more) for row, more in zip(logits, added, strict=True)]
    rest = [n for n in worth if _is_at_rest(logits[n])]
    if rest:
        views = classify_upright(pixels, corners[rest])

        def take() -> None:
            odds = leanings(views, rest, logits, places, shares, guessed)
            for n, view, tilt in zip(rest, views, odds.tolist(), strict=True):
                reads[n] = Estimate.by_both(logits[n], added[n], view, tilt)

        take()
        unclear = [k for k, n in enumerate(rest) if reads[n].is_unclear()]
        if unclear:
            faces = corners[[rest[k] for k in unclear]]
            sides = np.concatenate([np.roll(faces, side, axis=1) for side in (1, 2, 3)])
            more = classify_upright(pixels, sides).reshape(3, len(unclear), -1).sum(axis=0)
            views[unclear] = (views[unclear] + more) / 4.0
            take()
    chances = sigmoid(logits[:, [14, 15]])
    return [
        Detection(
            corners=corners[n],
            values=read.values,
            agree=read.agree,
            colours=logits[n, 7:13] + added[n, :6],
            die=read.die,
            leaning=read.leaning,
            moving=float(chances[n, 0]),
            visible=float(chances[n, 1]),
            centre_xy=(float(centres[n, 0]), float(centres[n, 1])),
            edge_px=float(edges[n]),
            foot_xy=(float(aligned.feet[n, 0]), float(aligned.feet[n, 1])),
            heat=aligned.candidates[n].heat,
        )
        for n, read in enumerate(reads)
    ]


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """What crops and views tell of one candidate: `Detection` describes the fields."""

    die: float
    values: Scores
    agree: bool
    leaning: float

    @classmethod
    def by_crop(cls, logits: Scores, added: Scores) -> Estimate:
        """By the crop classifier and the context head alone."""
        leaning = float(logits[13] + added[6])
        return cls(chance(float(logits[0])), softmax(logits[_VALUES]), True, leaning)

    @classmethod
    def by_both(cls, logits: Scores, added: Scores, view: Scores, tilt: float) -> Estimate:
        """With an upright view (or the mean of several), and its log odds of tilt."""
        one, other = softmax(logits[_VALUES]), softmax(view[UPRIGHT_VALUES])
        likely = softmax(_BY_CROP * np.log(one + _LEAST) + _BY_VIEW * np.log(other + _LEAST))
        agree = bool(one.argmax() == other.argmax())
        leaning = (1.0 - _UPRIGHT) * float(logits[13] + added[6]) + _UPRIGHT * tilt
        die = chance((float(logits[0]) + float(view[UPRIGHT_DIE])) / 2.0)
        return cls(die, likely, agree, leaning)

    def is_unclear(self) -> bool:
        """Whether value or tilt are in doubt."""
        low, high = _TORN
        return (
            not self.agree
            or float(self.values.max()) * self.die < _DOUBT
            or low < self.leaning < high
        )


def _upwards(logits: Scores, leans: Scores) -> Scores:
    """Directions (N, 2) in which dice rise from the floor in the picture, in edges.

    Combines the crop classifier and the finder's floor tilt, weighted by their precision.
    """
    own = 1.0 / (np.exp(logits[:, [SPREAD]]) ** 2 + FLAT**2)
    known = GUESS**-2
    return np.asarray((own * logits[:, NORMAL] + known * leans) / (own + known), np.float32)


def _is_at_rest(logits: Scores) -> bool:
    """Whether a candidate can be a die at rest in full view."""
    die, moving, visible = logits[[0, 14, 15]]
    return bool(die >= _RATHER_NONE and moving <= 2.0 and visible >= -1.0)
