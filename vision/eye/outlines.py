"""Outlines of top faces and crops around them, in px of the picture and px of a crop."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from vision.eye.close_ups import CropOutputs
from vision.eye.nets import CROP, CROP_EDGES, Scores
from vision.reading import Pixels, Point

HALF_DIAGONAL = float(np.log(np.sqrt(0.5)))
"""Size (log, in edges) that the crop classifier returns for a die that fits its crop."""


def crops_round(
    pixels: Pixels, corners: NDArray[np.float32], edges: Scores, angle_rad: float
) -> list[Scores]:
    """The matrices of crops around top faces, turned by an angle."""
    height, width = pixels.shape[:2]
    middles = np.clip(corners.mean(axis=1), 0, np.array([width - 1, height - 1]))
    return [
        crop_matrix((float(x), float(y)), float(edge), angle_rad)
        for (x, y), edge in zip(middles, edges, strict=True)
    ]


def crop_matrix(centre_xy: Point, edge_px: float, angle_rad: float) -> Scores:
    """The 2x3 matrix from px of the picture to px of a crop around a point."""
    scale = CROP / (CROP_EDGES * max(edge_px, 4.0))
    c, s = scale * math.cos(angle_rad), scale * math.sin(angle_rad)
    (x, y), middle = centre_xy, (CROP - 1) / 2
    return np.array([[c, -s, middle - c * x + s * y], [s, c, middle - s * x - c * y]], np.float32)


def corners_of(told: CropOutputs) -> NDArray[np.float32]:
    """Corners (N, 4, 2) in px of the picture, from the seven outputs for an outline."""
    x, y, cosine, sine, size, skew_x, skew_y = told.said[:, 16:23].T.astype(np.float64)
    angle = np.arctan2(sine, cosine) / 4.0
    a = np.exp(np.clip(size, -2.0, 1.0)) * np.exp(1j * angle)
    b = (np.clip(skew_x, -1, 1) + 1j * np.clip(skew_y, -1, 1)) * np.abs(a) ** 2 / a
    turn = np.array([1, 1j, -1, -1j])
    z = (x + 1j * y)[:, None] + a[:, None] * turn + b[:, None] * turn.conj()
    crop = z * (CROP / CROP_EDGES) + (1 + 1j) * (CROP - 1) / 2
    cuts = told.cuts.astype(np.float64)  # each matrix turns, scales and moves
    turned, moved = (cuts[:, 0] + 1j * cuts[:, 1])[:, [0, 2]].T
    points = (crop - moved[:, None]) / turned[:, None]
    return np.stack([points.real, points.imag], axis=2).astype(np.float32)


def edges_of(corners: NDArray[np.float32]) -> NDArray[np.float32]:
    """Mean edge (N,) of quads (N, 4, 2)."""
    sides = corners - corners[:, [3, 0, 1, 2]]
    return np.asarray(np.hypot(sides[..., 0], sides[..., 1]).mean(axis=1), np.float32)
