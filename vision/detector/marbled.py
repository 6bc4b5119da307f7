"""Finds dice of mixed black and blue plastic whose top face is black.

Players call such a die blue. Its rim and sides show blue even if the top is black. The rim of a
black die shows no blue, whatever the colour of its pips, because pips do not reach the rim.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.detector.colours import median_of
from vision.reading import Pixels, Point

_RIM = (0.84, 0.88, 0.92, 0.96, 1.0)
"""Sizes of the outlines that sample the rim, in sizes of the top face; no pips reach them."""
_MIDDLE = (0.1, 0.3, 0.5, 0.7)
"""Sizes of the outlines that sample the top face, in its sizes."""
_AROUND = 1.45
"""Size of the outline that samples the floor around the die, in sizes of its body."""
_STEPS = 12
"""Sample points per side of an outline."""
_BLUE_HUES = (190.0, 250.0)
"""Hues (degrees) of blue (docs/evaluation.md, thresholds)."""
_CHROMA, _SATURATION = 0.12, 0.3
"""Least chroma (range of the channels, 0 to 1) and least saturation of a coloured pixel."""
_BLACK, _BLACK_CHROMA = 0.4, 0.18
"""Largest medians of a black top face: of the brightest channel, and of the chroma."""
_ON_RIM, _ON_FLOOR = 0.03, 0.1
"""Least blue share of the rim, and largest of the floor: a lamp that turns the floor blue turns
black plastic blue too (docs/evaluation.md, thresholds)."""


def is_blue_beneath(pixels: Pixels, corners: NDArray[np.float32], foot_xy: Point) -> bool:
    """Whether a die with a black top face is blue at its rim.

    Args:
        corners: (4, 2) corners of the top face in px of the picture.
        foot_xy: Point on the floor below the middle of that face.
    """
    middle = corners.mean(axis=0)
    _, saturation, light = _hsv(pixels, _outlines(corners, _MIDDLE))
    if median_of(light) > _BLACK or median_of(saturation * light) > _BLACK_CHROMA:
        return False
    base = corners + (np.asarray(foot_xy, np.float32) - middle)
    hull = cv2.convexHull(np.concatenate([corners, base]).astype(np.float32))
    body = np.asarray(hull[:, 0], np.float32)
    rim, floor = _outlines(corners, _RIM), _outlines(body, (_AROUND,))
    return _blue_share(pixels, rim) > _ON_RIM and _blue_share(pixels, floor) < _ON_FLOOR


def _outlines(corners: NDArray[np.float32], sizes: tuple[float, ...]) -> NDArray[np.float32]:
    """Evenly spaced points (N, 2) on the outline of K corners (K, 2), at several sizes."""
    middle = corners.mean(axis=0)
    along = np.arange(_STEPS, dtype=np.float32)[:, None, None] / _STEPS
    outline = (corners + along * (np.roll(corners, -1, axis=0) - corners)).reshape(-1, 2) - middle
    return np.concatenate([middle + size * outline for size in sizes]).astype(np.float32)


def _hsv(pixels: Pixels, points: NDArray[np.float32]) -> NDArray[np.float32]:
    """Hue in degrees, saturation and value (3, N), 0 to 1, at some points."""
    x, y = points.T[:, None]
    there = cv2.remap(pixels, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    hsv = cv2.cvtColor(there.astype(np.float32) / 255.0, cv2.COLOR_BGR2HSV)
    return np.asarray(hsv[0].T, np.float32)


def _blue_share(pixels: Pixels, points: NDArray[np.float32]) -> float:
    hue, saturation, light = _hsv(pixels, points)
    coloured = (saturation * light > _CHROMA) & (saturation > _SATURATION)
    return float((coloured & (hue > _BLUE_HUES[0]) & (hue < _BLUE_HUES[1])).mean())
