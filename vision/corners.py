"""The tray's corners as the eye would propose them, for people to put right."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.eye.finder import look_over
from vision.eye.floor import floor_seen
from vision.picture import as_pixels
from vision.reading import Pixels, Point

_USUAL_EDGE = 0.06
"""A die's edge as a share of the picture's longer side, for a tray without dice in it."""
_FEW = 0.008
"""Corners nearer to the line between their neighbours than this share of the outline go."""
_HOLDS, _SPARE = 0.95, 1.12
"""A tray has four sides when they hold this share of what was seen of it and enclose no more than
so many times as much: its rounded corners are the rest. An octagon's four longest sides enclose
1.2 times its area."""
_LEAST = 0.15
"""Less of the picture than this is no tray that a camera was put above."""


def propose_corners(pixels: Pixels) -> tuple[Point, ...] | None:
    """The corners of the tray's floor, in order round it from the upper left one.

    Returns:
        Four where the tray has four sides, more where it is round, in px of the picture; None
        where no tray is made out.
    """
    pixels = as_pixels(pixels)
    overview = look_over(pixels)
    edges = [spot.edge_px for spot in overview.spots if spot.heat > 0.5]
    edge_px = float(np.median(edges)) if edges else _USUAL_EDGE * max(overview.size_wh)
    outline = floor_seen(overview, edge_px).outline_px
    if outline is None:
        return None
    hull = cv2.convexHull(outline.astype(np.float32))
    width, height = overview.size_wh
    if cv2.contourArea(hull) < _LEAST * width * height:
        return None
    outer = np.asarray(hull.reshape(-1, 2), np.float32)
    few = np.asarray(
        cv2.approxPolyDP(hull, _FEW * cv2.arcLength(hull, True), True), np.float32
    ).reshape(-1, 2)
    sides = _four_sides(few.astype(np.float64))
    if sides is not None and _fits(sides, outer):
        few = sides
    points = np.clip(few, (0, 0), (width - 1, height - 1))
    first = int(np.argmin(points.sum(axis=1)))
    return tuple((float(x), float(y)) for x, y in np.roll(points, -first, axis=0))


def _fits(sides: NDArray[np.float32], hull: NDArray[np.float32]) -> bool:
    """Whether four sides hold the outline without much to spare."""
    area = cv2.contourArea(hull)
    shared = cv2.intersectConvexConvex(sides, hull)[0]
    return bool(shared > _HOLDS * area and cv2.contourArea(sides) < _SPARE * area)


def _four_sides(polygon: NDArray[np.float64]) -> NDArray[np.float32] | None:
    """Where the four longest sides of a convex polygon meet; None where they do not."""
    if len(polygon) < 4:
        return None
    along = np.roll(polygon, -1, axis=0) - polygon
    longest = np.sort(np.argsort(-np.hypot(along[:, 0], along[:, 1]))[:4])
    corners = []
    for one, two in zip(np.roll(longest, 1), longest, strict=True):
        pair = np.stack([along[one], -along[two]], axis=1)
        if abs(np.linalg.det(pair)) < 0.3 * np.prod(np.linalg.norm(pair, axis=0)):
            return None  # they run too much alike
        share = np.linalg.solve(pair, polygon[two] - polygon[one])[0]
        corners.append(polygon[one] + share * along[one])
    return np.array(corners, np.float32)
