"""Face classifier: scores the values of straightened top faces if the reader is uncertain.

In the reader's crop the top face is small and can have any rotation. The reader's outline
straightens it, so the network has to separate only six patterns, in quarter turns and mirrored.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.detector.crops import SHARPEST, levelled, shrunk_part
from vision.detector.models import FACE, FACE_EDGES, Scores, shared_net, softmax
from vision.reading import Pixels

INNER = slice(6, FACE - 6)
"""Rows and columns of a straightened face that set its brightness and contrast."""
_LEAST = 1e-6
"""Added to probabilities, so that their logarithms are finite."""
SQUARE = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])
"""The corners of a face, in edges from its middle."""


def straightened(
    pixels: Pixels, corners: NDArray[np.floating], size: int = FACE, edges: float = FACE_EDGES
) -> Pixels:
    """Return a top face (size, size, 3) as seen from straight above.

    Args:
        pixels: (H, W, 3) uint8, BGR.
        corners: (4, 2) of the face, in order round it.
        size: Pixels a side.
        edges: Width of the result, in edges of the face.
    """
    sides = np.hypot(*(corners - np.roll(corners, 1, axis=0)).T)
    scale = size / (edges * max(float(sides.mean()), 1.0))
    if scale < SHARPEST:
        reach = edges / 2 * float(sides.max())
        low, high = corners.min(axis=0) - reach, corners.max(axis=0) + reach
        pixels, scales, origin = shrunk_part(pixels, low, high, scale / SHARPEST)
        corners = (corners - origin) * scales
    upright = on_straightened(SQUARE, size, edges)
    turn = cv2.getPerspectiveTransform(np.asarray(corners, np.float32), upright)
    return np.asarray(
        cv2.warpPerspective(
            pixels, turn, (size, size), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        ),
        np.uint8,
    )


def on_straightened(points: NDArray[np.float64], size: int, edges: float) -> NDArray[np.float32]:
    """Convert points of a face (N, 2; edges from its middle) to px of the straightened face."""
    return np.asarray(points * (size / edges) + (size - 1) / 2, np.float32)


def values_square_on(pixels: Pixels, outlines: NDArray[np.float32]) -> Scores:
    """Probability (N, 6) of each value of N top faces, the mean over two quarter turns.

    Two turns do as well as four (docs/evaluation.md, thresholds).

    Args:
        pixels: (H, W, 3) uint8, BGR.
        outlines: (N, 4, 2) corners of the faces.
    """
    faces = np.stack([straightened(pixels, corners) for corners in outlines])
    level = levelled(faces.astype(np.float32) / np.float32(255.0), INNER)
    both = np.concatenate([level, np.rot90(level, axes=(2, 3))])
    likely = np.log(softmax(shared_net("face")(both)) + _LEAST)
    return softmax(likely.reshape(2, len(outlines), 6).mean(axis=0))
