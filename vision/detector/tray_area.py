"""Outline of the tray's floor.

The outline is convex, and it does not follow the places of single dice: a die outside the tray must
not count as a part of the floor.
"""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.detector.candidates import FeatureMaps
from vision.reading import Point

_LEAST = 6.0
"""Smallest area of a floor, in faces of a die."""

_FINER = 4
"""Parts per side of a cell of the finder's grid, to place the rim."""


class Floor:
    """The outline of the floor in the picture.

    `outline_px` is (N, 2) and convex. It is None if no tray was found: then every point is inside.
    """

    def __init__(
        self, outline_px: NDArray[np.float32] | None, size_wh: tuple[int, int] | None = None
    ) -> None:
        """Build the floor; with a picture size, sides along the picture's edges are open."""
        self.outline_px: NDArray[np.float32] | None = None
        self._sides: list[tuple[float, float, float]] = []
        if outline_px is None:
            return
        # The corners may be in any order.
        hull = cv2.convexHull(outline_px.astype(np.float32)).reshape(-1, 2).astype(np.float64)
        self.outline_px = hull.astype(np.float32)
        middle = hull.mean(axis=0)
        for a, b in zip(hull, np.roll(hull, -1, axis=0), strict=True):
            length = float(np.hypot(*(b - a)))
            if length < 1e-6 or (size_wh is not None and _along_edge(a, b, size_wh)):
                continue
            x, y = (a[1] - b[1]) / length, (b[0] - a[0]) / length
            if x * (middle[0] - a[0]) + y * (middle[1] - a[1]) < 0:
                x, y = -x, -y
            self._sides.append((float(x), float(y), float(-x * a[0] - y * a[1])))

    def depth(self, where: Point) -> float:
        """Distance of a point inside the outline, in px; negative outside."""
        return min((x * where[0] + y * where[1] + c for x, y, c in self._sides), default=np.inf)


def _along_edge(a: NDArray[np.float64], b: NDArray[np.float64], size_wh: tuple[int, int]) -> bool:
    """Whether a side of an outline runs along an edge of the picture."""
    near = 0.012 * max(size_wh)
    for axis in (0, 1):
        if max(a[axis], b[axis]) < near or min(a[axis], b[axis]) > size_wh[axis] - 1 - near:
            return True
    return False


def floor_seen(overview: FeatureMaps, edge_px: float) -> Floor:
    """Return the floor from the finder's map of the tray.

    The finder marks the place of every die as tray, also outside the tray. Pieces no larger than a
    die are therefore removed first. The largest remaining piece is the floor.
    """
    scale = overview.cells_per_px
    size = max(3, round(1.7 * edge_px * scale)) | 1
    raw = (overview.tray > 0.5).astype(np.uint8)
    inside = np.pad(raw, size, mode="edge")
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (size, size))
    solid = cv2.morphologyEx(inside, cv2.MORPH_OPEN, kernel)[size:-size, size:-size]
    count, labels, stats, _ = cv2.connectedComponentsWithStats(solid)
    if count < 2:
        return Floor(None)
    best = 1 + int(np.argmax(stats[1:, cv2.CC_STAT_AREA]))
    if stats[best, cv2.CC_STAT_AREA] < _LEAST * (edge_px * scale) ** 2:
        return Floor(None)
    # Restore the corners that the kernel cut off.
    grown = cv2.dilate((labels == best).astype(np.uint8), np.ones((size // 2 | 1,) * 2, np.uint8))
    # The rim runs between cells, where the probability is one half.
    tall, wide = (n * _FINER for n in raw.shape)
    finer = cv2.resize(overview.tray, (wide, tall), interpolation=cv2.INTER_LINEAR)
    around = cv2.resize(grown, (wide, tall), interpolation=cv2.INTER_NEAREST)
    rows, columns = np.nonzero((around > 0) & (finer > 0.5))
    cells = (np.stack([columns, rows], axis=1).astype(np.float32) + 0.5) / _FINER - 0.5
    hull = cv2.convexHull(cells).reshape(-1, 2)
    back = cv2.invertAffineTransform(overview.to_grid)
    outline = np.asarray(hull @ back[:, :2].T + back[:, 2], np.float32)
    return Floor(outline, overview.size_wh)
