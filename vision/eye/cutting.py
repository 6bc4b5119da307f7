"""Cuts close-ups out of a picture so that no pixel is skipped, as pips would be, and levels their
light."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.eye.nets import Scores
from vision.reading import Pixels

Pair = NDArray[np.float64]
"""Along x and along y."""
_SHARP = 0.6
"""A close-up of a smaller scale than this is cut from a picture that was shrunk by area ..."""
SHARPEST = 0.9
"""... to so many px of it a px of the close-up."""
_LEAST_CONTRAST = 0.01


def close_up(pixels: Pixels, matrix: Scores, size: int) -> Pixels:
    """The close-up (size, size, 3) of a picture (H, W, 3): a matrix (2, 3) leads from its px."""
    scale = float(np.hypot(*matrix[:, 0]))
    if scale <= _SHARP:
        back = cv2.invertAffineTransform(matrix)
        middle = back[:, :2] @ np.full(2, (size - 1) / 2) + back[:, 2]
        reach = 0.72 * size / scale + 2
        shrink = max(1e-3, scale / SHARPEST)
        pixels, scales, origin = shrunk_part(pixels, middle - reach, middle + reach, shrink)
        matrix = np.c_[matrix[:, :2] / scales, matrix[:, :2] @ origin + matrix[:, 2]]
    return np.asarray(
        cv2.warpAffine(
            pixels,
            matrix.astype(np.float32),
            (size, size),
            flags=cv2.INTER_LINEAR,
            borderMode=cv2.BORDER_REPLICATE,
        ),
        np.uint8,
    )


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


def levelled(close_ups: Scores, inner: slice) -> Scores:
    """Close-ups (N, H, W, 3) in 0.0-1.0 as a network gets them: (N, 3, H, W), their inner rows and
    columns about zero and of one contrast, however dark they lay."""
    level = np.array(close_ups.transpose(0, 3, 1, 2), np.float32, order="C")
    middle = level[:, :, inner, inner]
    mean = middle.mean(axis=(2, 3), keepdims=True)
    apart = np.sqrt(((middle - mean) ** 2).mean(axis=(1, 2, 3), keepdims=True))
    level -= mean
    level *= 1.0 / (2.0 * apart + _LEAST_CONTRAST)
    return level
