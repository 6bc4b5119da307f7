"""Classifies candidates from crops: die or not, colour, value, and flat or tilted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from vision.detector.candidates import Candidate
from vision.detector.context import correct_by_context, fit_floor_plane
from vision.detector.crops import HALF_DIAGONAL, crop_matrix, crops_round, edges_of
from vision.detector.inference import CropCache, CropOutputs, corners_of
from vision.detector.models import (
    NORMAL,
    SPREAD,
    Scores,
    chance,
    sigmoid,
    softmax,
)
from vision.detector.tilt import FLAT, GUESS, leanings
from vision.detector.values import fuse_value_scores, margin
from vision.reading import Point

_WORTH = 0.03
"""Probability of a die in the first crop above which a candidate is kept."""
_OFF = 0.22
"""Distance of a die from the middle of its crop (in edges) above which it is cropped again
(docs/evaluation.md, thresholds)."""
_SIZE_OFF = 0.18
"""Error of a crop's size (log) above which the die is cropped again (docs/evaluation.md,
thresholds)."""
_DOUBT = 0.98
"""Probability of a die that shows its value, below which more views are classified."""
_PIPS_NEAR = -0.3
"""Margin of pip errors above which another value fits nearly as well, and more views follow."""
_MORE_LOOKS = ((float(np.radians(30.0)), 0.95), (float(np.radians(60.0)), 1.0))
"""Angle (radians) and edge scale of the extra crops for a die whose value is unclear."""
_MAY_LEAN = -8.0
"""Tilt log odds (crop classifier and context head) above which an upright view is classified
(docs/evaluation.md, thresholds)."""
_UPRIGHT = 0.65
"""Weight of the upright views in the tilt log odds (docs/evaluation.md, thresholds)."""
_TORN = (-2.5, 1.5)
"""Tilt range (log odds) in which a die gets views from all sides (docs/evaluation.md,
thresholds)."""
SURELY = 0.9
"""Probability above which a candidate is a die (docs/evaluation.md, thresholds)."""
_SOME_VALUE = 0.45
"""Probability of its best value up to which a less certain die gets no more views
(docs/evaluation.md, thresholds)."""
_ASKEW = -2.0
"""Tilt log odds from which an unclear value stays unclear (docs/evaluation.md, thresholds)."""
_NO_DIE, _RATHER_NONE = -2.0, 0.0
"""Log odds of a die below which a candidate gets no second crop, and no further views
(docs/evaluation.md, thresholds)."""
_DIE_AND_MOVING, _OUTLINE = [0, 14], slice(16, 23)


@dataclass(frozen=True, slots=True, eq=False)
class Detection:
    """The outputs of the classifiers for one candidate.

    Attributes:
        corners: (4, 2) corners of the top face in px of the picture.
        values: (L, 6) probability of each value, one row per crop.
        square_on: (6,) probability of each value on the straightened face; None if not classified.
        colours: (6,) logits of white, red, yellow, green, blue, and other.
        pips: (L, 6) pattern error of the pips for each value, see `pip_pattern_errors`.
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
    pips: Scores
    die: float
    leaning: float
    moving: float
    visible: float
    centre_xy: Point = (0.0, 0.0)
    edge_px: float = 0.0
    foot_xy: Point = (0.0, 0.0)
    heat: float = 1.0
    square_on: Scores | None = None


@dataclass(frozen=True, eq=False)
class AlignedCandidates:
    """N candidates that may be dice or blurs, with one crop each.

    Attributes:
        outputs: Outputs for crops with the top face in the middle.
        corners: (N, 4, 2) of those faces in px of the picture.
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
        return self.feet_by(self.outputs.logits)

    @cached_property
    def guessed(self) -> Scores:
        """The finder's estimate of the floor's tilt below each candidate (N, 2)."""
        return np.array([candidate.up for candidate in self.candidates], np.float32).reshape(-1, 2)

    def feet_by(self, logits: Scores) -> Scores:
        """Points of the floor (N, 2) below the candidates, from outputs (N, 51)."""
        rise = _upwards(logits, self.guessed) * self.edges[:, None]
        return np.asarray(self.middles - rise, np.float32)


def aim(close_ups: CropCache, candidates: Sequence[Candidate]) -> AlignedCandidates:
    """Classify a crop of each candidate, and a second one if the top face is off its middle.

    Candidates that are clearly neither dice nor blurs are discarded.
    """
    outputs = close_ups.outputs([crop_matrix(s.centre_xy, s.edge_px, 0.0) for s in candidates])
    chances = sigmoid(outputs.logits[:, _DIE_AND_MOVING])
    keep = [n for n, (die, moving) in enumerate(chances) if die > _WORTH or moving > 0.4]
    outputs, kept = outputs.only(keep), [candidates[n] for n in keep]
    corners = corners_of(outputs)
    off = [n for n, row in enumerate(outputs.logits) if _badly_cut(row)]
    if off:
        likely = np.array([kept[n].edge_px for n in off])
        edges = np.clip(edges_of(corners[off]), 0.6 * likely, 1.7 * likely)
        better = close_ups.outputs(crops_round(close_ups.pixels, corners[off], edges, 0.0))
        outputs.replace(off, better)
        corners[off] = corners_of(better)
    return AlignedCandidates(tuple(kept), outputs, corners)


def classify_each(close_ups: CropCache, candidates: Sequence[Candidate]) -> list[Detection]:
    """Classify candidates. Unclear ones get more crops."""
    aligned = aim(close_ups, candidates)
    return classify(close_ups, aligned, range(len(aligned.candidates)))


def classify(
    close_ups: CropCache,
    aligned: AlignedCandidates,
    worth: Sequence[int],
) -> list[Detection]:
    """Classify each candidate.

    Args:
        worth: Indices of the candidates that get more views if the first crop is unclear.
    """
    outputs, corners = aligned.outputs, aligned.corners
    if not aligned.candidates:
        return []
    edges = aligned.edges
    height, width = close_ups.pixels.shape[:2]
    long_side = max(height, width)
    centres = aligned.middles
    places = (centres - np.array([width - 1, height - 1]) / 2) / long_side
    shares = edges / long_side
    guessed = aligned.guessed
    logits = outputs.logits
    fit = fit_floor_plane(logits, places, guessed)
    added = correct_by_context(logits, fit, outputs.shades, places, shares)
    rest = [n for n in worth if _is_at_rest(logits[n])]
    where = (places, shares, guessed)
    upright = _estimate_tilt(close_ups, corners, logits, added, where, rest)
    values = list(softmax(logits[:, 1:7])[:, None])
    pips = [row[None] for row in outputs.pip_pattern_errors(corners)]
    straight: list[Scores | None] = [None] * len(logits)
    shown = [n for n in rest if _may_show_a_value(logits[n], values[n])]
    doubts = [n for n in shown if _unclear(logits[n], values[n], pips[n])]
    legible = [n for n in doubts if _is_legible(logits[n], added[n], upright[n])]
    if legible:
        for n, likely in zip(legible, close_ups.square_on(corners[legible]), strict=True):
            straight[n] = likely
    again = [n for n in doubts if _unclear(logits[n], values[n], pips[n], straight[n])]
    if again:
        logits = _classify_again(close_ups, corners, logits, again, values, pips)
        fit = fit_floor_plane(logits, places, guessed)
        added = correct_by_context(logits, fit, outputs.shades, places, shares)
    chances = sigmoid(logits[:, [0, 14, 15]])
    feet = aligned.feet_by(logits) if again else aligned.feet
    return [
        Detection(
            corners=corners[n],
            values=values[n],
            square_on=straight[n],
            colours=logits[n, 7:13] + added[n, :6],
            pips=pips[n],
            die=float(chances[n, 0]),
            leaning=_leaning(logits[n], added[n], upright[n]),
            moving=float(chances[n, 1]),
            visible=float(chances[n, 2]),
            centre_xy=(float(centres[n, 0]), float(centres[n, 1])),
            edge_px=float(edges[n]),
            foot_xy=(float(feet[n, 0]), float(feet[n, 1])),
            heat=aligned.candidates[n].heat,
        )
        for n in range(len(logits))
    ]


def _classify_again(
    close_ups: CropCache,
    corners: NDArray[np.float32],
    logits: Scores,
    again: list[int],
    values: list[Scores],
    pips: list[Scores],
) -> Scores:
    """Classify more crops of some candidates and return the outputs of all (N, 51).

    The new outputs are the means over all crops, with the outline of the first. Each crop adds a
    row to `values` and `pips`, in place.
    """
    sums = logits[again]
    for turn, zoom in _MORE_LOOKS:
        edges = edges_of(corners[again]) * zoom
        more = close_ups.outputs(crops_round(close_ups.pixels, corners[again], edges, turn))
        sums = sums + _upright(more.logits, turn)
        fits = more.pip_pattern_errors(corners[again])
        for n, likely, misfit in zip(again, softmax(more.logits[:, 1:7]), fits, strict=True):
            values[n] = np.vstack([values[n], likely])
            pips[n] = np.vstack([pips[n], misfit])
    means = sums / (1 + len(_MORE_LOOKS))
    means[:, _OUTLINE] = logits[again, _OUTLINE]
    now = logits.copy()
    now[again] = means
    return now


def _estimate_tilt(
    close_ups: CropCache,
    corners: NDArray[np.float32],
    logits: Scores,
    added: Scores,
    where: tuple[Scores, Scores, Scores],
    at_rest: list[int],
) -> list[float | None]:
    """Estimate from upright views how likely each die is tilted.

    Dice that may be tilted get one view. If one stays unclear, all dice at rest get a view, and the
    unclear ones get views from the three other sides.

    Args:
        close_ups: Crops of the picture.
        corners: (N, 4, 2) of the top faces.
        logits, added: Outputs (N, 51) of the crop classifier and (N, 7) of the context head.
        where: Place and size in the picture and the floor's tilt there (see `leanings`).
        at_rest: Indices of the dice that may get views.
    Returns:
        Log odds that each die is tilted; None for a die without a view.
    """
    odds: list[float | None] = [None] * len(logits)

    def compare(dice: list[int], views: Scores) -> None:
        for n, each in zip(dice, leanings(views, dice, logits, *where).tolist(), strict=True):
            odds[n] = each

    doubts = [n for n in at_rest if _may_be_tilted(logits[n], added[n])]
    if not doubts:
        return odds
    compare(doubts, close_ups.upright(corners[doubts]))
    unclear = [n for n in doubts if _is_tilt_unclear(logits[n], added[n], odds[n])]
    if unclear:
        views = close_ups.upright(corners[at_rest])
        sides = np.concatenate([np.roll(corners[unclear], side, axis=1) for side in (1, 2, 3)])
        more = close_ups.upright(sides).reshape(3, len(unclear), -1).sum(axis=0)
        rows = [at_rest.index(n) for n in unclear]
        views[rows] = (views[rows] + more) / 4.0
        compare(at_rest, views)
    return odds


def _upwards(logits: Scores, leans: Scores) -> Scores:
    """Directions (N, 2) in which dice rise from the floor in the picture, in edges.

    Combines the crop classifier and the finder's floor tilt, weighted by their precision.
    """
    own = 1.0 / (np.exp(logits[:, [SPREAD]]) ** 2 + FLAT**2)
    known = GUESS**-2
    return np.asarray((own * logits[:, NORMAL] + known * leans) / (own + known), np.float32)


def _badly_cut(logits: Scores) -> bool:
    """Whether a die is off the middle of its crop, or too large or small in it."""
    x, y, size = float(logits[16]), float(logits[17]), float(logits[20])
    if logits[0] < _NO_DIE:
        return False
    return math.hypot(x, y) > _OFF or abs(size - HALF_DIAGONAL) > _SIZE_OFF


def _is_at_rest(logits: Scores) -> bool:
    """Whether a candidate can be a die at rest in full view."""
    die, moving, visible = logits[[0, 14, 15]]
    return bool(die >= _RATHER_NONE and moving <= 2.0 and visible >= -1.0)


def _may_show_a_value(logits: Scores, values: Scores) -> bool:
    """Whether a candidate is surely a die, or shows some value in its first crop."""
    return bool(chance(float(logits[0])) > SURELY or values[0].max() > _SOME_VALUE)


def _unclear(logits: Scores, values: Scores, pips: Scores, square_on: Scores | None = None) -> bool:
    """Whether it is unclear that a candidate is a die, or which value it shows."""
    if square_on is not None:
        likely, agree = fuse_value_scores(values, pips, square_on)
        return bool(not agree or likely.max() * chance(float(logits[0])) < _DOUBT)
    best = int(values[0].argmax())
    sure = float(values[0, best]) * chance(float(logits[0]))
    return bool(sure < _DOUBT or margin(pips[0], best + 1) > _PIPS_NEAR)


def _leaning(logits: Scores, added: Scores, upright: float | None) -> float:
    """Log odds that a die is tilted, from the crop classifier, the context head and any upright
    views."""
    before = float(logits[13] + added[6])
    return before if upright is None else (1.0 - _UPRIGHT) * before + _UPRIGHT * upright


def _may_be_tilted(logits: Scores, added: Scores) -> bool:
    """Whether a die may be tilted, so that it needs an upright view."""
    return _leaning(logits, added, None) > _MAY_LEAN


def _is_tilt_unclear(logits: Scores, added: Scores, upright: float | None) -> bool:
    """Whether it is still unclear after an upright view that a die is tilted."""
    low, high = _TORN
    return low < _leaning(logits, added, upright) < high


def _is_legible(logits: Scores, added: Scores, upright: float | None) -> bool:
    """Whether a candidate is a die at rest, with its top in view and hardly tilted.

    The value of any other candidate is never announced, so it needs no straightened view.
    """
    die, moving, visible = logits[[0, 14, 15]]
    flat = _leaning(logits, added, upright) < _ASKEW
    return bool(die > 0.0 and moving < 0.0 and visible > 0.0 and flat)


def _upright(logits: Scores, turned_rad: float) -> Scores:
    """Outputs for turned crops, with the directions turned back."""
    c, s = np.cos(turned_rad), np.sin(turned_rad)
    upright = logits.copy()
    upright[:, NORMAL] = logits[:, NORMAL] @ np.array([[c, -s], [s, c]], np.float32)
    return upright
