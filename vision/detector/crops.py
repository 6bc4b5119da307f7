"""Cuts crops out of a picture without skipping pixels (and pips)."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.detector.models import CROP, CROP_EDGES, Scores
from vision.reading import Pixels

Pair = NDArray[np.float64]
"""Values along x and along y."""
_SHARP = 0.6
"""Scale of a crop up to which the picture is shrunk by area averaging before cutting."""
SHARPEST = 0.9
"""Scale of a crop after the picture is shrunk, in px of the crop per px of the shrunk picture."""


def close_up(pixels: Pixels, matrix: Scores, size: int) -> Pixels:
    """Cut a crop (size, size, 3) by a matrix (2, 3) from px of the picture to px of the crop."""
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
    """Shrink a part of a picture by area averaging.

    Args:
        pixels: (H, W, 3) uint8.
        low, high: Corners of the part in px, clipped to the picture.
        scale: Below 1.0.
    Returns:
        The smaller part, its scale along each side (rounded to whole pixels) and its origin: x of
        the picture is x of the part divided by the scale, plus the origin.
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


def crop_matrices(centres: Scores, edges: Scores) -> Scores:
    """The matrices (N, 2, 3) from px of the picture to px of crops around points (N, 2)."""
    scales = CROP / (CROP_EDGES * np.maximum(edges, 4.0))
    moved = (CROP - 1) / 2 - scales[:, None] * centres
    turned = scales[:, None, None] * np.eye(2)
    return np.concatenate([turned, moved[..., None]], axis=2).astype(np.float32)


def straightened(
    pixels: Pixels, quad: NDArray[np.float32], side: int, share: float = 1.0
) -> Pixels:
    """Straighten a quad (4, 2) of a picture, or the inner share of it, to (side, side, 3)."""
    if share < 1.0:
        middle = quad.mean(axis=0)
        quad = (middle + share * (quad - middle)).astype(np.float32)
    square = (side - 1) * np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)
    matrix = cv2.getPerspectiveTransform(quad, square)
    face = cv2.warpPerspective(pixels, matrix, (side, side), borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(face, np.uint8)


def edges_of(corners: NDArray[np.float32]) -> NDArray[np.float32]:
    """Mean edge (N,) of quads (N, 4, 2)."""
    sides = corners - corners[:, [3, 0, 1, 2]]
    return np.asarray(np.hypot(sides[..., 0], sides[..., 1]).mean(axis=1), np.float32)
