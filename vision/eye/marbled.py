"""A die of black and blue plastic mixed, that a black top face would be taken for none of the five.

People name such a die by the colour in it. Its rim and sides show that colour where the top is
black; a black die has none of it there, whatever the colour of its pips, for pips keep off the rim.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.eye.pairs import median_of
from vision.reading import Pixels, Point

_RIM = (0.84, 0.88, 0.92, 0.96, 1.0)
"""Outlines of the top face, by its size, on which the rim is looked at: pips end before them."""
_MIDDLE = (0.1, 0.3, 0.5, 0.7)
_AROUND = 1.45
"""Size of the body's outline on which the floor round it is looked at."""
_STEPS = 12
_BLUE_HUES = (190.0, 250.0)
"""Hues (in degrees) of blue: on the shared photos those of teal and cyan dice have medians from 90
to 188, of purple ones from 267 on."""
_CHROMA, _SATURATION = 0.12, 0.3
"""A pixel says its colour from so far (0 to 1) between its channels, and so much of the largest
(own choices, as the next two)."""
_BLACK, _BLACK_CHROMA = 0.4, 0.18
"""Medians of a top face that may be black: its brightest channel, and how far its channels lie
apart."""
_ON_RIM, _ON_FLOOR = 0.03, 0.1
"""Least share of the rim that is blue, and the most of the floor: under a lamp that makes the floor
blue black plastic is blue too. Of 1,804 own dice of other colours 26 pass for blue, and 14 of 101
dark blue ones that the reader took for none do."""


def is_blue_beneath(pixels: Pixels, corners: NDArray[np.float32], foot_xy: Point) -> bool:
    """Whether a die with a black top face is blue at its rim.

    Args:
        corners: (4, 2) corners of the top face in px of the picture.
        foot_xy: Where it stands on the floor, below the middle of that face.
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
    """Points (N, 2) evenly on an outline of some corners (K, 2), made smaller or larger."""
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
