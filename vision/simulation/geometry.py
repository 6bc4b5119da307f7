"""Geometry of a scene: pips and corners of a die, its pose, the tray's outline (mm)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import ArrayLike, NDArray

from vision.simulation.scene import Die, Floats, Matrix, Tray, vector

PIPS = {
    1: ((0, 0),),
    2: ((1, 1), (-1, -1)),
    3: ((1, 1), (-1, -1), (0, 0)),
    4: ((1, 1), (-1, -1), (1, -1), (-1, 1)),
    5: ((1, 1), (-1, -1), (1, -1), (-1, 1), (0, 0)),
    6: ((1, 1), (-1, -1), (1, -1), (-1, 1), (1, 0), (-1, 0)),
}
"""Places of the pips of each value, as multiples of their offset from the middle of the face."""


def pip_centres(die: Die, value: int) -> NDArray[np.float64]:
    """Middles of the pips of a value, as world points (N, 3) in mm."""
    spots = 2.0 * die.pip_offset * np.array(PIPS[value])
    if die.is_turned(value):
        spots = spots[:, ::-1] * (1, -1)
    return on_face(die, value, spots)


def on_face(die: Die, value: int, spots: NDArray[np.float64]) -> NDArray[np.float64]:
    """World points (N, 3) in mm of points (N, 2) of the face with a value (half edge = 1)."""
    axis, sign = die.face(value)
    local = np.empty((len(spots), 3))
    local[:, axis] = sign
    local[:, (axis + 1) % 3], local[:, (axis + 2) % 3] = spots.T
    return _to_world(die, local)


def _to_world(die: Die, local: NDArray[np.float64]) -> NDArray[np.float64]:
    """World points (N, 3) in mm of points in the die's axes (half edge = 1)."""
    return np.asarray(local * (die.size_mm / 2) @ np.asarray(die.rotation).T + die.position_mm)


_CUBE = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], np.float64)


def die_corners(die: Die, share: float = 1.0) -> NDArray[np.float64]:
    """Corners of a die's cube, or of a smaller cube inside it, as world points (8, 3) in mm."""
    return _to_world(die, _CUBE * share)


def level_axes(die: Die) -> list[NDArray[np.float64]]:
    """The level axes of a die that lies flat, (2,) each."""
    m = np.asarray(die.rotation)
    return [m[:2, a] for a in range(3) if abs(m[2, a]) < 0.5]


def footprint(die: Die, margin_mm: float = 0.0) -> NDArray[np.float64]:
    """Corners (4, 2) of the ground under a die that lies flat."""
    one, two = (side * (die.size_mm / 2 + margin_mm) for side in level_axes(die))
    return np.asarray(np.array([one + two, two - one, -one - two, one - two]) + die.position_mm[:2])


def resting_die(value: int, xy_mm: tuple[float, float], angle_deg: float, like: Die) -> Die:
    """Return a die like another, flat on the floor with a value on top."""
    axis, sign = like.face(value)
    up = np.zeros(3)
    up[axis] = sign
    side = np.roll(np.abs(up), 1)
    third = np.cross(up, side)
    level = np.array([side, third, up])  # rows: the die's axes that point along world x, y, z
    a = np.radians(angle_deg)
    turn = np.array([[np.cos(a), -np.sin(a), 0.0], [np.sin(a), np.cos(a), 0.0], [0.0, 0.0, 1.0]])
    return replace(
        like,
        position_mm=(xy_mm[0], xy_mm[1], like.size_mm / 2),
        rotation=to_matrix(turn @ level),
        motion=None,
    )


def to_matrix(rotation: NDArray[np.floating]) -> Matrix:
    """Convert a 3x3 array to the nested tuples of a scene."""
    one, two, three = (vector(row) for row in rotation)
    return one, two, three


def turned(rotation: Matrix, turn_rad: ArrayLike) -> Matrix:
    """Turn a rotation about a world axis whose length is the angle."""
    step, _ = cv2.Rodrigues(np.asarray(turn_rad, float).reshape(3, 1))
    return to_matrix(step @ np.asarray(rotation))


def dot(a: Sequence[Floats] | Floats, b: Sequence[Floats] | Floats) -> Floats:
    """Scalar products of vectors: three times (h, w), or (3,)."""
    return np.asarray(a[0] * b[0] + a[1] * b[1] + a[2] * b[2])


def norm(v: Sequence[Floats]) -> Floats:
    """Lengths (h, w) of vectors, three times (h, w)."""
    return np.asarray(np.sqrt(dot(v, v)))


def inside_tray(tray: Tray, x_mm: float, y_mm: float) -> bool:
    """Whether a point of the floor lies within the inner outline."""
    points = np.array(tray.outline_mm)
    edge = np.roll(points, -1, axis=0) - points
    return bool(
        np.all(edge[:, 0] * (y_mm - points[:, 1]) - edge[:, 1] * (x_mm - points[:, 0]) >= 0.0)
    )
