"""Proposes the tray's corners, for people to correct."""

from __future__ import annotations

from itertools import combinations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.detector.candidates import FeatureMaps, propose_candidates
from vision.reading import Pixels, Point

_USUAL_EDGE = 0.06
"""A die's edge as a share of the picture's longer side, for a tray without dice in it."""
_FEW = 0.008
"""Corners closer to the line between their neighbours (in shares of the outline) are dropped."""
_HOLDS, _SPARE = 0.95, 1.12
"""A tray has four sides when they hold this share of what was seen of it and enclose no more than
so many times as much: its rounded corners are the rest. An octagon's four longest sides enclose
1.2 times its area."""
_MOST_SIDES = 10
"""Number of longest sides among which those of the tray are searched."""
_MIDDLE, _BESIDE = 0.35, 0.04
"""Part of a side that is searched to place it: along it to both ways from its middle, and across
(shares of its length)."""
_LEAST = 0.15
"""Least share of the picture that a tray covers."""
_SMALLEST = 6.0
"""Smallest area of a floor, in faces of a die."""
_FINER = 4
"""Parts per side of a cell of the finder's grid, to place the rim."""


def propose_corners(pixels: Pixels) -> tuple[Point, ...] | None:
    """Return the corners of the tray's floor, in order from the upper left one.

    Returns:
        Four for a tray with four sides, more for a round one, in pixels of the picture; None if
            no tray is found.
    """
    maps = propose_candidates(pixels)
    edges = [candidate.edge_px for candidate in maps.candidates if candidate.heat > 0.5]
    edge_px = float(np.median(edges)) if edges else _USUAL_EDGE * max(maps.size_wh)
    outline = floor_seen(maps, edge_px)
    return None if outline is None else corners_of(outline, maps.size_wh)


def floor_seen(maps: FeatureMaps, edge_px: float) -> NDArray[np.float32] | None:
    """Outline (N, 2) in px of the floor by the finder's map of the tray; None if there is none.

    The finder marks the place of every die as tray, also outside the tray. Pieces no larger than a
    die are therefore removed first. The largest remaining piece is the floor.
    """
    scale = maps.cells_per_px
    size = max(3, round(1.7 * edge_px * scale)) | 1
    raw = (maps.tray > 0.5).astype(np.uint8)
    inside = np.pad(raw, size, mode="edge")
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size))
    solid = cv2.morphologyEx(inside, cv2.MORPH_OPEN, kernel)[size:-size, size:-size]
    count, labels, stats, _ = cv2.connectedComponentsWithStats(solid)
    if count < 2:
        return None
    best = 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))
    if stats[best, cv2.CC_STAT_AREA] < _SMALLEST * (edge_px * scale) ** 2:
        return None
    # Restore the corners that the kernel cut off.
    grown = cv2.dilate((labels == best).astype(np.uint8), np.ones((size // 2 | 1,) * 2, np.uint8))
    # The rim runs between cells, where the probability is one half.
    tall, wide = (n * _FINER for n in raw.shape)
    finer = cv2.resize(maps.tray, (wide, tall), interpolation=cv2.INTER_LINEAR)
    around = cv2.resize(grown, (wide, tall), interpolation=cv2.INTER_NEAREST)
    rows, columns = np.nonzero((around > 0) & (finer > 0.5))
    cells = (np.stack([columns, rows], axis=1).astype(np.float32) + 0.5) / _FINER - 0.5
    hull = cv2.convexHull(cells).reshape(-1, 2)
    back = cv2.invertAffineTransform(maps.to_grid)
    return np.asarray(hull @ back[:, :2].T + back[:, 2], np.float32)


def corners_of(
    outline_px: NDArray[np.float32], size_wh: tuple[int, int]
) -> tuple[Point, ...] | None:
    """The corners (see `propose_corners`) of an outline (N, 2) in a picture of that size."""
    hull = cv2.convexHull(outline_px.astype(np.float32))
    width, height = size_wh
    if cv2.contourArea(hull) < _LEAST * width * height:
        return None
    outer = np.asarray(hull.reshape(-1, 2), np.float32)
    few = np.asarray(
        cv2.approxPolyDP(hull, _FEW * cv2.arcLength(hull, True), True), np.float32
    ).reshape(-1, 2)
    sides = _four_sides(few.astype(np.float64))
    if sides is not None:
        sides = _along_the_rim(sides, outer)
        few = sides if _fits(sides, outer) else few
    right, below = width - 1, height - 1
    picture = np.array([(0, 0), (right, 0), (right, below), (0, below)], np.float32)
    points = cv2.intersectConvexConvex(few, picture)[1].reshape(-1, 2)
    points = np.clip(points, 0.0, (right, below))  # it may be off by a rounding error
    first = int(np.argmin(points.sum(axis=1)))
    return tuple((float(x), float(y)) for x, y in np.roll(points, -first, axis=0))


def _fits(sides: NDArray[np.float32], hull: NDArray[np.float32]) -> bool:
    """Whether four sides enclose the outline closely."""
    area = cv2.contourArea(hull)
    shared = cv2.intersectConvexConvex(sides, hull)[0]
    return bool(shared > _HOLDS * area and cv2.contourArea(sides) < _SPARE * area)


def _four_sides(polygon: NDArray[np.float64]) -> NDArray[np.float32] | None:
    """The smallest quadrilateral round a convex polygon whose sides lie on four of its own."""
    along = np.roll(polygon, -1, axis=0) - polygon
    longest = np.sort(np.argsort(-np.hypot(along[:, 0], along[:, 1]))[:_MOST_SIDES])
    best, least, own = None, np.inf, cv2.contourArea(polygon.astype(np.float32))
    for four in combinations(longest.tolist(), 4):
        corners = [
            _meeting(polygon[one], along[one], polygon[two], along[two])
            for one, two in zip((four[3], *four[:3]), four, strict=True)
        ]
        if any(corner is None for corner in corners):
            continue
        sides = np.array(corners, np.float32)
        area = cv2.contourArea(sides)
        if 0.999 * own < area < least and cv2.isContourConvex(sides):
            best, least = sides, area
    return best


def _meeting(
    a: NDArray[np.float64],
    way: NDArray[np.float64],
    b: NDArray[np.float64],
    other: NDArray[np.float64],
) -> NDArray[np.float64] | None:
    """Intersection of two lines; None if they are nearly parallel."""
    pair = np.stack([way, -other], axis=1)
    if abs(np.linalg.det(pair)) < 0.3 * np.prod(np.linalg.norm(pair, axis=0)):
        return None
    return np.asarray(a + np.linalg.solve(pair, b - a)[0] * way)


def _along_the_rim(sides: NDArray[np.float32], outer: NDArray[np.float32]) -> NDArray[np.float32]:
    """Fit each side to the middle of its outline: rims are ragged and corners round."""
    lines = []
    for a, b in zip(sides, np.roll(sides, -1, axis=0), strict=True):
        length = float(np.hypot(*(b - a)))
        way = (b - a) / length
        rim = _every_px(outer) - a
        along, beside = rim @ way, rim @ np.array([-way[1], way[0]])
        near = (abs(along / length - 0.5) < _MIDDLE) & (abs(beside) < _BESIDE * length)
        if near.sum() < 8:
            return sides
        line = cv2.fitLine(rim[near] + a, cv2.DIST_HUBER, 0, 0.01, 0.01).ravel()
        lines.append((line[2:].astype(np.float64), line[:2].astype(np.float64)))
    corners = [_meeting(*one, *two) for one, two in zip((lines[3], *lines[:3]), lines, strict=True)]
    return sides if any(c is None for c in corners) else np.array(corners, np.float32)


def _every_px(outline: NDArray[np.float32]) -> NDArray[np.float32]:
    """Points about a pixel apart along a closed outline."""
    parts = []
    for a, b in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        steps = np.linspace(0.0, 1.0, max(2, int(np.hypot(*(b - a)))), endpoint=False)
        parts.append(a + steps[:, None] * (b - a))
    return np.concatenate(parts).astype(np.float32)
