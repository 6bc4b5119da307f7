"""Fuses the value classifiers: the reader, the pattern of the pips and the straightened face.

The reader decides the value unless it is uncertain. The pip pattern marks doubtful values. The
straightened face is scored only if these two are uncertain; its errors differ from theirs. Several
passes are fused by the mean of their log probabilities.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.detector.models import CROP, PIP_CELLS, Scores, softmax

_BETWEEN = (0.37, 0.63)
"""Borders between the three rows and columns of pips, in edges of the face
(docs/evaluation.md, thresholds)."""
_FADE = 0.1
"""Distance beyond the outline (edges) over which the map's weight falls to zero."""
_PATTERNS: tuple[tuple[int, tuple[int, ...]], ...] = (
    (1, (4,)),
    (2, (0, 8)),
    (2, (2, 6)),
    (3, (0, 4, 8)),
    (3, (2, 4, 6)),
    (4, (0, 2, 6, 8)),
    (5, (0, 2, 4, 6, 8)),
    (6, (0, 2, 3, 5, 6, 8)),
    (6, (0, 1, 2, 6, 7, 8)),
)
"""Each value and the places of its pips, row by row; some values have two rotations."""
_FIRST = np.unique([value for value, _ in _PATTERNS], return_index=True)[1]
_DRAWN = np.zeros((len(_PATTERNS), 9), np.float32)
for _row, (_, _places) in zip(_DRAWN, _PATTERNS, strict=True):
    _row[list(_places)] = 1.0
_FLAT = 1e-9
"""Homogeneous weight below which a point lies on no place of a face."""
_SQUARE = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)


def _cell_middles() -> NDArray[np.float64]:
    cell = CROP / PIP_CELLS
    middles = (np.arange(PIP_CELLS) + 0.5) * cell - 0.5
    x, y = np.meshgrid(middles, middles)
    return np.stack([x.ravel(), y.ravel(), np.ones(x.size)])


_MIDDLES = _cell_middles()


def pip_pattern_errors(density: Scores, corners: NDArray[np.float32]) -> Scores:
    """Error of each value's pattern on the pips of N top faces.

    Args:
        density: (N, PIP_CELLS, PIP_CELLS), pips per cell.
        corners: (N, 4, 2) of the top faces in px of the crops, in order round them.
    Returns:
        (N, 6) squared error in pips, 0 for an exact match.
    """
    count = len(corners)
    faces = np.asarray(corners, np.float32)
    to_face = np.array([cv2.getPerspectiveTransform(face, _SQUARE) for face in faces])
    x, y, w = (to_face @ _MIDDLES).transpose(1, 0, 2)
    w = np.where(np.abs(w) > _FLAT, w, np.inf)
    x, y = x / w, y / w
    depth = 0.5 - np.maximum(np.abs(x - 0.5), np.abs(y - 0.5))
    counted = density.reshape(count, -1) * np.clip(depth / _FADE + 1.0, 0.0, 1.0)
    low, high = _BETWEEN
    place = (x > low).astype(np.int64) + (x > high) + 3 * (y > low) + 3 * (y > high)
    place += 9 * np.arange(count)[:, None]
    held = np.bincount(place.ravel(), weights=counted.ravel(), minlength=9 * count)
    cost = ((held.reshape(count, 1, 9) - _DRAWN) ** 2).sum(axis=2)
    return np.asarray(np.minimum.reduceat(cost, _FIRST, axis=1), np.float32)


def margin(costs: Scores, value: int) -> float:
    """Error of this value minus that of the best other value; negative if this one is best."""
    own = float(costs[value - 1])
    return max(own - float(cost) for n, cost in enumerate(costs) if n != value - 1)


_LEAST = 1e-6
"""Added to probabilities, so that their logarithms are finite."""
_PATTERN = 0.3
"""Cost (nats) of a misfit of one squared pip (docs/evaluation.md, thresholds)."""
_SURE = 0.97
"""Probability in every pass above which the reader is confident (docs/evaluation.md,
thresholds)."""
_NEARLY = -0.3
"""Largest margin (squared pips, mean of the passes) of another value if the reader is not
confident."""
_BETTER = 0.3
"""Largest margin (squared pips, mean of the passes) of another value if the reader is confident."""
_ALONE = 0.95
"""Probability that the straightened face, or the rest, must have alone: two that hesitate may make
the same error (docs/evaluation.md, thresholds)."""


def fuse_value_scores(
    values: Scores, pips: Scores, square_on: Scores | None = None
) -> tuple[Scores, bool]:
    """Return the probability of each value of a die (6,), and whether the classifiers agree.

    Args:
        values: (L, 6) the reader's probabilities in each pass.
        pips: (L, 6) error of each value's pip pattern in each pass.
        square_on: (6,) probabilities of the straightened face, if it was scored.
    Returns:
        Probabilities, and whether every pass and the pips agree on the likeliest value. With
        `square_on`: whether it, or the mean of the passes and the pips, is sure of it alone.
    """
    misfit = _mean(pips)
    logits = _mean(np.log(values + _LEAST)) - _PATTERN * misfit
    if square_on is not None:
        likely = softmax(logits + np.log(square_on + _LEAST))
        best = int(likely.argmax())
        return likely, bool(max(square_on[best], softmax(logits)[best]) > _ALONE)
    named = int(logits.argmax())
    other = margin(misfit, named + 1)
    sure = float(values[:, named].min()) > _SURE
    agree = bool((values.argmax(axis=1) == named).all())
    return softmax(logits), agree and other <= (_BETTER if sure else _NEARLY)


def _mean(detections: Scores) -> Scores:
    """Mean (6,) over L passes (L, 6), of which there is mostly one."""
    return (
        detections[0] if len(detections) == 1 else np.asarray(detections.mean(axis=0), np.float32)
    )
