"""The two white dice under one lamp: alike, whatever the lamp makes of white.

A warm lamp turns white into what another turns yellow into, so each die by itself may be either.
But two of the three light dice are of one colour, and those are the white ones.
"""

from __future__ import annotations

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
_APART = (0.10, 0.15, 0.20, 0.27, 0.35)
_SAYS = (4.0, 2.0, 0.0, -2.5, -4.0)
"""What (in nats) two tints so far apart say for two white dice, and against one white and one
yellow: by 600 pairs of white ones and 1,186 of a white and a yellow one on own frames, and no more
than 4 either way."""


def tint_of(pixels: Pixels, corners: NDArray[np.float32]) -> Scores:
    """The tint (2,) of a top face: log of blue and of red over green, of its lighter half.

    Args:
        corners: (4, 2) corners of the face in px of the picture.
    """
    middle = corners.mean(axis=0)
    inner = (middle + _INNER * (corners - middle)).astype(np.float32)
    last = _SIDE - 1
    square = np.array([[0, 0], [last, 0], [last, last], [0, last]], np.float32)
    matrix = cv2.getPerspectiveTransform(inner, square)
    face = cv2.warpPerspective(pixels, matrix, (_SIDE, _SIDE), borderMode=cv2.BORDER_REPLICATE)
    colours = face.reshape(-1, 3).astype(np.float32)
    plain = colours[colours.max(axis=1) < _CLIPPED]
    colours = plain if len(plain) >= _LEAST else colours
    light = colours.sum(axis=1)
    logs = np.log(colours[light >= _median(light)] + _DARK)
    tints = logs[:, [0, 2]] - logs[:, [1]]
    return np.array([_median(tints[:, 0]), _median(tints[:, 1])], np.float32)


def _median(numbers: Scores) -> float:
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
                apart = float(np.hypot(*(one - other)))
                says[i, j] = says[j, i] = np.interp(apart, _APART, _SAYS)
    return says
