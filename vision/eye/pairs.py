"""The two white dice under one lamp: alike, whatever the lamp makes of white.

A warm lamp turns white into what another turns yellow into, so each die by itself may be either.
But two of the three light dice are of one colour, and those are the white ones: alike in blue, as
far as the lamp has any, and in red, of which yellow plastic gives back more than white.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.eye.nets import Scores
from vision.reading import Pixels

_SIDE = 24
_INNER = 0.9
_CLIPPED = 250
_LEAST = 60
"""A top face is looked at on so many px a side, without its rim; what is clipped says nothing of
its tint, unless fewer px than that are not."""
_DARK = 3.0
"""Added to each channel: below it there is noise alone."""
_SPREAD, _BLACK = 0.06, 5.0
"""How far the blue of two white dice differs anyhow (log), and by how many levels black does: where
a lamp has hardly any blue, what is left of it is noise."""
_BLUE = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0)
_BLUE_SAYS = (2.9, 2.7, 1.8, 0.4, -1.2, -2.6, -3.9, -4.5)
_RED = (0.0, 0.015, 0.03, 0.045, 0.06, 0.09, 0.12, 0.18)
_RED_SAYS = (1.6, 1.4, 0.85, 0.15, -0.65, -0.9, -1.5, -2.25)
_MOST = 4.0
"""What (in nats) two tints say for two white dice and against one white and one yellow, by how far
apart their blue is in such spreads and their red (log), and never more than the last. Fitted on
2,081 pairs of white ones and 3,806 of a white and a yellow one in own frames, 640 of them under
lamps of 2,100 to 3,600 K that the camera hardly allowed for."""

_REDDER = 0.12
"""A die this much redder (log) than another is not the white one of the two: of 106 own pairs in
which the yellow die may be white, no white one is redder than the yellow by more than 0.08."""


def tint_of(pixels: Pixels, corners: NDArray[np.float32]) -> Scores:
    """The tint (3,) of a top face: log of blue and of red over green, and the level of its blue
    (0 to 255), all of its lighter half.

    Args:
        corners: (4, 2) corners of the face in px of the picture.
    """
    middle = corners.mean(axis=0)
    inner = (middle + _INNER * (corners - middle)).astype(np.float32)
    last = _SIDE - 1
    square = np.array([[0, 0], [last, 0], [last, last], [0, last]], np.float32)
    matrix = cv2.getPerspectiveTransform(inner, square)
    face = cv2.warpPerspective(pixels, matrix, (_SIDE, _SIDE), borderMode=cv2.BORDER_REPLICATE)
    colours = np.array(face.reshape(-1, 3).T, np.float32, order="C")
    blue, green, red = colours
    plain = colours[:, np.maximum(np.maximum(blue, green), red) < _CLIPPED]
    blue, green, red = plain if plain.shape[1] >= _LEAST else colours
    light = blue + green + red
    lighter = np.array((blue, green, red))[:, light >= median_of(light)]
    blue, green, red = np.log(lighter + _DARK)
    return np.array(
        [median_of(blue - green), median_of(red - green), median_of(lighter[0])], np.float32
    )


def median_of(numbers: Scores) -> float:
    """The median; `np.median` takes six times as long over so few."""
    low, high = (len(numbers) - 1) // 2, len(numbers) // 2
    ordered = np.partition(numbers, (low, high))
    return float(ordered[low] + ordered[high]) / 2.0


def likeness(tints: Sequence[Scores | None]) -> NDArray[np.float64]:
    """What the tints of N dice say (N, N) for each two of them being the white ones; 0 where one
    was not measured."""
    says = np.zeros((len(tints), len(tints)))
    for i, one in enumerate(tints):
        for j, other in enumerate(tints[:i]):
            if one is not None and other is not None:
                says[i, j] = says[j, i] = _alike(one.tolist(), other.tolist())
    return says


def is_swapped(white: Scores | None, yellow: Scores | None) -> bool:
    """Whether the die taken for white is redder than the one taken for yellow, by their tints."""
    if white is None or yellow is None:
        return False
    return float(white[1] - yellow[1]) > _REDDER


def _alike(one: list[float], other: list[float]) -> float:
    spread = math.hypot(_SPREAD, _BLACK / (min(one[2], other[2]) + _DARK))
    blue = float(np.interp(abs(one[0] - other[0]) / spread, _BLUE, _BLUE_SAYS))
    red = float(np.interp(abs(one[1] - other[1]), _RED, _RED_SAYS))
    return min(max(blue + red, -_MOST), _MOST)
