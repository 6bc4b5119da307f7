"""Finds candidates for dice in a whole picture, and maps the tray, foreign things and blurs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.detector.models import FINDER_CELL, FINDER_WH, Scores, shared_net, sigmoid
from vision.reading import Pixels, Point

GLANCE, _CLOSER, _CLOSEST = FINDER_WH, (448, 352), (640, 512)
"""Width and height, in multiples of 32, to which a picture is fitted: at first, in a second look,
and in a second look at small dice."""
SMALL = 0.03
"""Edge of dice in long sides of the picture below which they are small (docs/limits.md)."""
HOT, _SMEARED = 0.2, 0.5
"""Probabilities of a die's middle and of motion blur above which a peak is a candidate
(docs/limits.md)."""
_MOST = 16
"""Maximum number of candidates; ten dice lie in the fullest tray worth reading (docs/limits.md)."""
_APART = 0.45
"""Peaks nearer to each other than this share of an edge are the same die."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A place that may be the top face of a die.

    `centre_xy` and `edge_px` are in px of the picture. `heat` is the probability of a die there.
    `up` is the tilt of the floor there (see `Camera.up_at`).
    """

    centre_xy: Point
    edge_px: float
    heat: float
    up: Point = (0.0, 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class FeatureMaps:
    """The finder's outputs for a picture.

    `candidates` are the candidates. `tray` and `thing` are (h, w) probabilities on the finder's
    grid. `to_grid` is the 2x3 matrix from px of the picture to cells of the grid.
    """

    candidates: tuple[Candidate, ...]
    tray: Scores
    thing: Scores
    to_grid: Scores
    size_wh: tuple[int, int] = (0, 0)

    @property
    def cells_per_px(self) -> float:
        """Width of a px of the picture in cells of the grid."""
        return math.hypot(float(self.to_grid[0, 0]), float(self.to_grid[1, 0]))

    def around(self, field: Scores, where: Point, reach_px: float) -> float:
        """The mean of a field over a square around a point, with half a side of `reach_px`."""
        x, y = self.cells(np.array(where)).tolist()
        reach = reach_px * self.cells_per_px
        rows, columns = field.shape
        top, left = _within(y - reach, 0, rows), _within(x - reach, 0, columns)
        bottom, right = _within(y + reach, top, rows), _within(x + reach, left, columns)
        return float(field[top : bottom + 1, left : right + 1].mean())

    def cells(self, points: NDArray[np.floating]) -> NDArray[np.floating]:
        """Points (..., 2) of the picture in cells of the grid."""
        return points @ self.to_grid[:, :2].T + self.to_grid[:, 2]


def _within(value: float, low: int, count: int) -> int:
    """Round to the nearest cell from `low` to `count - 1`."""
    return min(max(round(value), low), count - 1)


def closer(edge: float) -> tuple[int, int]:
    """Width and height for a second look at dice with that edge (long sides of the picture)."""
    return _CLOSEST if edge < SMALL else _CLOSER


def propose_candidates(
    pixels: Pixels, canvas_wh: tuple[int, int] = GLANCE, least_heat: float = HOT
) -> FeatureMaps:
    """Find candidates for dice, at rest or in motion.

    Args:
        pixels: (H, W, 3) uint8, BGR.
        canvas_wh: Size at which the finder gets the picture.
        least_heat: Probability of a die's middle above which a peak is a candidate.
    """
    canvas, matrix = _fitted(pixels, canvas_wh)
    blob = np.empty((1, 3, *canvas.shape[:2]), np.float32)
    np.multiply(canvas.transpose(2, 0, 1), np.float32(1.0 / 255.0), out=blob[0])
    scores = shared_net("finder")(blob)[0]
    fine = _fine(scores)
    heat, tray, thing, smear = sigmoid(fine[[0, 4, 5, 6]])
    scale = float(np.hypot(*matrix[:, 0]))
    floor_tilt = _smooth(scores[28:30]) @ (matrix[:, :2] / scale)
    back = cv2.invertAffineTransform(matrix).tolist()
    height, width = pixels.shape[:2]
    candidates: list[Candidate] = []
    for row, column, across, down, edge in hottest(heat, smear, fine[1:4], least_heat):
        x, y = (a * across + b * down + c for a, b, c in back)
        if -1 <= x <= width and -1 <= y <= height:
            up = floor_tilt[row // 2, column // 2].tolist()
            candidates.append(
                Candidate((x, y), edge / scale, float(heat[row, column]), (up[0], up[1]))
            )
    to_grid = matrix.copy()
    to_grid[:, 2] = (matrix[:, 2] + 0.5) / FINDER_CELL - 0.5
    to_grid[:, :2] /= FINDER_CELL
    grid = np.asarray(to_grid, np.float32)
    return FeatureMaps(tuple(candidates), tray, thing, grid, (width, height))


def hottest(
    heat: Scores, smear: Scores, aim: Scores, least_heat: float = HOT
) -> list[tuple[int, int, float, float, float]]:
    """Select candidates from the cells of the finder's grid.

    Args:
        heat, smear: (h, w) probabilities of the middle of a die and of motion blur.
        aim: (3, h, w) log size of the die, and offset x and y of its middle in cells.
    Returns:
        At most `_MOST` tuples: row, column, and the middle x, y and edge in px of the canvas.
        They come in falling heat.
    """
    dice = _peaks(heat) & (heat > least_heat)
    rows, columns = np.nonzero(dice | _peaks(smear) & (smear > _SMEARED))
    hot = heat[rows, columns]
    order = np.argsort(-hot, kind="stable")
    found: list[tuple[int, int, float, float, float]] = []
    rows, columns = rows[order], columns[order]
    size, dx, dy = aim[:, rows, columns].astype(np.float64)
    across = (columns + np.clip(dx, -1.0, 1.0) + 0.5) * FINDER_CELL - 0.5
    down = (rows + np.clip(dy, -1.0, 1.0) + 0.5) * FINDER_CELL - 0.5
    edges = 16.0 * np.exp(np.clip(size, -2.0, 2.8))
    cells = (each.tolist() for each in (rows, columns, across, down, edges))
    for row, column, x, y, edge in zip(*cells, strict=True):
        if all(math.hypot(x - u, y - v) >= _APART * min(edge, e) for _, _, u, v, e in found):
            found.append((row, column, x, y, edge))
        if len(found) == _MOST:
            break
    return found


def _peaks(field: Scores) -> NDArray[np.bool_]:
    """Which cells (h, w) are not below any of their neighbours."""
    return np.asarray(field >= cv2.dilate(field, np.ones((3, 3), np.uint8)))


def _fine(scores: Scores) -> Scores:
    """Unpack seven fields (7, 2h, 2w) from the network's 28 channels of four cells (28, h, w)."""
    _, rows, columns = scores.shape
    fours = scores[:28].reshape(7, 4, rows, columns)
    fine = np.empty((7, 2 * rows, 2 * columns), np.float32)
    for quarter in range(4):
        fine[:, quarter // 2 :: 2, quarter % 2 :: 2] = fours[:, quarter]
    return fine


def _smooth(tilt: Scores) -> Scores:
    """Fit a linear field (h, w, 2) to the tilt of the floor (2, h, w)."""
    _, tall, wide = tilt.shape
    basis, inverse = _linear(tall, wide)
    return np.asarray(
        (basis @ (inverse @ tilt.reshape(2, -1).T)).reshape(tall, wide, 2), np.float32
    )


@lru_cache(maxsize=3)
def _linear(tall: int, wide: int) -> tuple[Scores, Scores]:
    y, x = np.mgrid[-1.0 : 1.0 : tall * 1j, -1.0 : 1.0 : wide * 1j]
    basis = np.stack([np.ones(x.size), x.ravel(), y.ravel()], axis=1)
    return basis.astype(np.float32), np.linalg.pinv(basis).astype(np.float32)


def _fitted(pixels: Pixels, canvas_wh: tuple[int, int]) -> tuple[Pixels, Scores]:
    """Fit the picture to a canvas, portraits turned; return it and the 2x3 matrix."""
    height, width = pixels.shape[:2]
    wide, tall = canvas_wh
    turned = height > width
    scale = min(wide / height, tall / width) if turned else min(wide / width, tall / height)
    small = (max(1, round(width * scale)), max(1, round(height * scale)))
    how = cv2.INTER_AREA if scale < 0.5 else cv2.INTER_LINEAR  # which takes in two px
    shrunk = cv2.resize(pixels, small, interpolation=how)
    sx, sy = small[0] / width, small[1] / height
    matrix = np.array([[sx, 0.0, 0.5 * sx - 0.5], [0.0, sy, 0.5 * sy - 0.5]], np.float32)
    if turned:
        shrunk = cv2.rotate(shrunk, cv2.ROTATE_90_CLOCKWISE)
        turn = np.array([[0.0, -1.0], [1.0, 0.0]], np.float32)
        matrix = np.asarray(turn @ matrix, np.float32)
        matrix[0, 2] += small[1] - 1
    left, top = (wide - shrunk.shape[1]) // 2, (tall - shrunk.shape[0]) // 2
    below, right = tall - shrunk.shape[0] - top, wide - shrunk.shape[1] - left
    canvas = cv2.copyMakeBorder(shrunk, top, below, left, right, cv2.BORDER_REPLICATE)
    matrix[:, 2] += (left, top)
    return np.asarray(canvas, np.uint8), matrix
