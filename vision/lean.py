"""How the floor leans against the line of sight, from the dice that lie on it.

Dice that lie flat are squares of one size in one plane; their outlines in the picture tell how
the camera looks at that plane, and one that leans stands out from the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.reading import Point

_FOCALS = np.array([0.65, 0.85, 1.15])
"""Focal lengths tried, in long sides of the picture (75, 60 and 47 degrees wide)."""
_REACH = 0.52
"""Sine of the steepest camera tried (31 degrees; the contract's frames go to 25)."""
_SKEW = 0.025
_SIZE = 0.035
"""How far outlines read from flat dice scatter: skew, and log of the size (own frames)."""
_DOUBT = 0.3
"""How far the finder's guess of the lean is off (own frames, 21.11.2026)."""


@dataclass(frozen=True, slots=True)
class Lean:
    """A camera's view of the floor: the upward normal across the middle ray, the focal length."""

    normal_xy: Point
    focal: float
    size_wh: tuple[int, int]

    def up_at(self, where: Point) -> Point:
        """How the normal leans where a pixel is (as `Camera.up_at`)."""
        x, y = self._flat(np.array([where]))[0] / self.focal
        sight = np.array([x, y, 1.0]) / np.sqrt(x * x + y * y + 1.0)
        nx, ny = self.normal_xy
        normal = np.array([nx, ny, -np.sqrt(max(0.0, 1.0 - nx * nx - ny * ny))])
        across = normal - (sight @ normal) * sight
        return float(across[0]), float(across[1])

    def _flat(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        return (points - (np.array(self.size_wh) - 1.0) / 2.0) / max(self.size_wh)


def fit_lean(
    quads: Sequence[NDArray[np.float32]], guesses: Sequence[Point], size_wh: tuple[int, int]
) -> tuple[Lean, NDArray[np.float64]]:
    """Find the view in which most outlines are squares of one size.

    Args:
        quads: Corners (4, 2) of top faces in px.
        guesses: What the finder thinks the lean is at each.
    Returns:
        The view, and per quad how badly it fits (1 is one standard deviation).
    """
    if not quads:
        return Lean((0.0, 0.0), float(_FOCALS[1]), size_wh), np.zeros(0)
    corners = np.asarray(quads, np.float64)
    flat = (corners.mean(axis=1) - (np.array(size_wh) - 1.0) / 2.0) / max(size_wh)
    skew, size = _shape(corners)
    steps = np.linspace(-_REACH, _REACH, 27)
    models = np.array(
        [(x, y, f) for f in _FOCALS for x in steps for y in steps if np.hypot(x, y) <= _REACH]
    )

    def cheapest(tried: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        misfit, lean = _misfit(tried, flat, skew, size)
        off = ((lean - np.asarray(guesses)) ** 2).sum(axis=2).mean(axis=1)
        steep = 3.0 * (tried[:, :2] ** 2).sum(axis=1)
        best = int(np.argmin(np.minimum(misfit, 9.0).sum(axis=1) + off / _DOUBT**2 + steep))
        return tried[best], misfit[best]

    coarse, _ = cheapest(models)
    near = np.linspace(-0.02, 0.02, 5)
    x, y = np.meshgrid(near, near)
    fine, misfit = cheapest(coarse + np.stack([x.ravel(), y.ravel(), np.zeros(25)], axis=1))
    return Lean((float(fine[0]), float(fine[1])), float(fine[2]), size_wh), np.sqrt(misfit)


def _shape(corners: NDArray[np.float64]) -> tuple[NDArray[np.complex128], NDArray[np.float64]]:
    """The skew and the log size of quads (N, 4, 2); see `quad_numbers` of the training."""
    z = corners[..., 0] + 1j * corners[..., 1]
    turn = np.array([1, 1j, -1, -1j])
    a, b = (z * turn.conj()).mean(axis=1), (z * turn).mean(axis=1)
    a, b = np.where(np.abs(a) >= np.abs(b), a, b), np.where(np.abs(a) >= np.abs(b), b, a)
    return a * b / (np.abs(a) ** 2 + 1e-9), np.log(np.abs(a) + 1e-6)


def _misfit(
    models: NDArray[np.float64],
    flat: NDArray[np.float64],
    skew: NDArray[np.complex128],
    size: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Squared misfit (M, N) of each outline in each view, and the lean (M, N, 2) there."""
    x = flat[None, :, 0] / models[:, 2:]
    y = flat[None, :, 1] / models[:, 2:]
    nx, ny = models[:, :1], models[:, 1:2]
    nz = -np.sqrt(np.maximum(0.0, 1.0 - nx**2 - ny**2))
    depth = 1.0 / np.maximum(-(nx * x + ny * y + nz), 0.05)
    length = np.sqrt(np.maximum(1.0 - nx**2, 1e-9))
    e1 = ((1.0 - nx * nx) / length, -nx * ny / length, -nx * nz / length)
    e2 = (e1[1] * nz - e1[2] * ny, e1[2] * nx - e1[0] * nz, e1[0] * ny - e1[1] * nx)
    xx, xy = (e1[0] - x * e1[2]) / depth, (e2[0] - x * e2[2]) / depth
    yx, yy = (e1[1] - y * e1[2]) / depth, (e2[1] - y * e2[2]) / depth
    alpha = 0.5 * ((xx + yy) + 1j * (yx - xy))
    beta = 0.5 * ((xx - yy) + 1j * (yx + xy))
    model = alpha * beta / (np.abs(alpha) ** 2 + 1e-9)
    away = size[None] - np.log(np.abs(alpha) + 1e-9)
    away = away - np.median(away, axis=1, keepdims=True)
    misfit = np.abs(skew[None] - model) ** 2 / _SKEW**2 + (away / _SIZE) ** 2
    far = np.sqrt(x * x + y * y + 1.0)
    along = (nx * x + ny * y + nz) / far
    lean = np.stack([nx - along * x / far, ny - along * y / far], axis=-1)
    return misfit, lean
