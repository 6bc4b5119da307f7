"""The shape of a die as a mesh: rounded edges, corners cut by a ball, pips as hollows or paint."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from vision.scene import Die, pip_centres

GRID = 64
"""Cells along a die's edge; a pip is then some twelve across."""


@lru_cache(maxsize=1)
def _cube() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Points (N, 3) on a cube from -1 to 1, each once, and its quads (M, 4), seen from outside."""
    steps = np.arange(GRID + 1)
    v, u = (each.ravel() for each in np.meshgrid(steps, steps, indexing="ij"))
    cells = np.arange(GRID)
    row, column = (each.ravel() for each in np.meshgrid(cells, cells, indexing="ij"))
    first = row * (GRID + 1) + column
    quad = np.stack([first, first + 1, first + GRID + 2, first + GRID + 1], 1)
    points: list[NDArray[np.int64]] = []
    quads: list[NDArray[np.int64]] = []
    for axis in range(3):
        for sign in (1, -1):
            grid = np.empty((len(u), 3), np.int64)
            grid[:, axis] = GRID if sign > 0 else 0
            grid[:, (axis + 1) % 3], grid[:, (axis + 2) % 3] = u, v
            quads.append((quad if sign > 0 else quad[:, ::-1]) + len(points) * len(u))
            points.append(grid)
    once, where = np.unique(np.concatenate(points), axis=0, return_inverse=True)
    corners = where.reshape(-1)[np.concatenate(quads)]
    return np.asarray(once * (2.0 / GRID) - 1.0), np.asarray(corners, np.int64)


def die_body(die: Die) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """A die's surface in its axes (half edge = 1): points (N, 3), how much each is of which paint
    (N, 2: the usual, the other), and quads."""
    cube, quads = _cube()
    way = cube / np.linalg.norm(cube, axis=1, keepdims=True)
    radius, ball = 2.0 * die.edge_radius, 2.0 * die.ball
    low, high = np.zeros(len(way)), np.full(len(way), 2.0)
    for _ in range(24):
        middle = (low + high) / 2
        over = np.maximum(np.abs(way * middle[:, None]) - (1.0 - radius), 0.0)
        beyond = (np.linalg.norm(over, axis=1) > radius) | (middle > ball)
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    points = way * low[:, None]
    paint = np.zeros((len(points), 2))
    plain = replace(
        die,
        position_mm=(0.0, 0.0, 0.0),
        rotation=((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
        size_mm=2.0,
    )
    deep = np.zeros_like(points)
    for value in range(1, 7):
        axis, sign = die.face(value)
        side = cube[:, axis] * sign > 1.0 - 1e-9
        reach = 2.0 * die.pip_radius * (die.one_scale if value == 1 else 1.0)
        for middle in pip_centres(plain, value):
            off = points - middle
            off[:, axis] = 0.0
            away = np.linalg.norm(off, axis=1)
            inside = np.clip(0.5 + (reach - away) * GRID / 2.0, 0.0, 1.0) * side
            kind = int(value in die.other_pips[0])
            paint[:, kind] = np.maximum(paint[:, kind], inside)
            hollow = die.pip_depth * reach * np.clip(1.0 - (away / reach) ** 2, 0.0, 1.0)
            deep[:, axis] -= sign * hollow * side
    return points + deep, paint, quads
