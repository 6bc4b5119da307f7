"""Makes a part of a picture smaller so that no pixel of it is skipped, as pips would be."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.reading import Pixels

Pair = NDArray[np.float64]
"""Along x and along y."""


def shrunk_part(pixels: Pixels, low: Pair, high: Pair, scale: float) -> tuple[Pixels, Pair, Pair]:
    """A part of a picture at a smaller scale, each pixel the mean of those it stands for.

    Args:
        pixels: (H, W, 3) uint8.
        low, high: Corners of the part in px; what lies beyond the picture is left out.
        scale: Below 1.0.
    Returns:
        The smaller part, its scale along each side, rounded to whole pixels, and where its origin
        lies: x of the picture is x of the part over the scale, plus the origin.
    """
    height, width = pixels.shape[:2]
    left, top = np.clip(np.floor(low).astype(int), 0, (width - 1, height - 1))
    right, bottom = np.clip(np.ceil(high).astype(int), (left + 1, top + 1), (width, height))
    part = pixels[top:bottom, left:right]
    size_wh = np.array([right - left, bottom - top])
    small = np.maximum(1, np.round(size_wh * scale).astype(int))
    shrunk = cv2.resize(part, small.tolist(), interpolation=cv2.INTER_AREA)
    scales = small / size_wh
    return np.asarray(shrunk, np.uint8), scales, 0.5 / scales - 0.5 + (left, top)
