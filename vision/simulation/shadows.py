"""Stencils between lamp and tray: blinds, window bars, hands, leaves and random shapes."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.simulation.appearance import Rng, log_uniform
from vision.simulation.scene import Floats, Lamp, Mask

Stencil = NDArray[np.uint8]
_SIZE = 192


def _open() -> Stencil:
    return np.full((_SIZE, _SIZE), 255, np.uint8)


def blinds(rng: Rng) -> Stencil:
    """Bars of light and shade, side by side."""
    step = int(rng.integers(8, 48))
    bar = (np.arange(_SIZE) % step < step * rng.uniform(0.3, 0.7)).astype(np.uint8) * 255
    return np.ascontiguousarray(np.broadcast_to(bar, (_SIZE, _SIZE)))


def window(rng: Rng) -> Stencil:
    """A window with bars, dark outside it."""
    light = np.zeros((_SIZE, _SIZE), np.uint8)
    left, top = rng.integers(10, 70, 2).tolist()
    right, bottom = rng.integers(120, _SIZE - 8, 2).tolist()
    light[top:bottom, left:right] = 255
    thick = int(rng.integers(3, 14))
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(20, _SIZE - 20))
        if rng.random() < 0.5:
            light[at : at + thick] = 0
        else:
            light[:, at : at + thick] = 0
    return light


def hand(rng: Rng) -> Stencil:
    """An arm with spread fingers."""
    light = _open()
    palm = np.array([_SIZE * 0.5, _SIZE * 0.55])
    cv2.circle(light, tuple(palm.astype(int).tolist()), 26, 0, -1)
    cv2.line(light, tuple(palm.astype(int).tolist()), (int(rng.integers(60, 130)), _SIZE), 0, 36)
    for finger in range(5):
        angle = np.radians(-150 + 30 * finger + rng.normal(0, 6))
        tip = palm + rng.uniform(50, 75) * np.array([np.cos(angle), np.sin(angle)])
        ends = palm.astype(int).tolist(), tip.astype(int).tolist()
        cv2.line(light, ends[0], ends[1], 0, int(rng.integers(8, 15)), cv2.LINE_AA)
    return light


def clouds(rng: Rng) -> Stencil:
    """Patches of shade with ragged edges."""
    cells = int(rng.integers(3, 12))
    noise = cv2.resize(
        rng.normal(0, 1, (cells, cells)).astype(np.float32), (_SIZE, _SIZE),
        interpolation=cv2.INTER_CUBIC,
    )  # fmt: skip
    return np.where(noise > rng.uniform(-0.6, 0.6), 255, 0).astype(np.uint8)


def shapes(rng: Rng) -> Stencil:
    """A few polygons, discs and rods."""
    light = _open()
    for _ in range(int(rng.integers(1, 7))):
        middle = rng.uniform(0, _SIZE, 2)
        points = np.round(middle + rng.normal(0, rng.uniform(8, 50), (5, 2))).astype(np.int32)
        kind = int(rng.integers(3))
        if kind == 0:
            cv2.fillConvexPoly(light, cv2.convexHull(points), 0, cv2.LINE_AA)
        elif kind == 1:
            cv2.circle(light, points[0].tolist(), int(rng.integers(5, 45)), 0, -1, cv2.LINE_AA)
        else:
            ends = points[0].tolist(), points[1].tolist()
            cv2.line(light, ends[0], ends[1], 0, int(rng.integers(3, 20)), cv2.LINE_AA)
    return light


def edge(rng: Rng) -> Stencil:
    """A straight edge, as of a wall, a lamp shade or a person."""
    light = _open()
    light[:, : int(rng.integers(60, 130))] = 0
    return light


def foliage(rng: Rng) -> Stencil:
    """Many leaves on twigs."""
    light = _open()
    for _ in range(int(rng.integers(40, 160))):
        middle = rng.integers(0, _SIZE, 2).tolist()
        axes = (int(rng.integers(5, 16)), int(rng.integers(2, 7)))
        cv2.ellipse(light, middle, axes, rng.uniform(0, 180), 0, 360, 0, -1, cv2.LINE_AA)
    return light


def lattice(rng: Rng) -> Stencil:
    """A grille: round or square holes in rows."""
    light, step = np.zeros((_SIZE, _SIZE), np.uint8), int(rng.integers(12, 40))
    for x in range(0, _SIZE + step, step):
        for y in range(0, _SIZE + step, step):
            if rng.random() < 0.5:
                cv2.circle(light, (x, y), int(step * 0.38), 255, -1, cv2.LINE_AA)
            else:
                reach = int(step * 0.34)
                cv2.rectangle(light, (x - reach, y - reach), (x + reach, y + reach), 255, -1)
    return light


TRAINED: dict[str, Callable[[Rng], Stencil]] = {
    each.__name__: each for each in (blinds, window, hand, clouds, shapes, edge)
}
UNSEEN: dict[str, Callable[[Rng], Stencil]] = {each.__name__: each for each in (foliage, lattice)}
"""Held-out stencils: used for checks, never for training."""


def random_mask(rng: Rng, lamp: Lamp, family: Callable[[Rng], Stencil], view_mm: float) -> Mask:
    """Draw a stencil between a lamp and the middle of the tray, with hard or soft edges."""
    soft = log_uniform(rng, 0.3, 7.0)
    light = cv2.GaussianBlur(family(rng), (0, 0), soft).astype(np.float32) / np.float32(255.0)
    left = np.float32(rng.uniform(0.0, 0.3) if rng.random() < 0.7 else rng.uniform(0.3, 0.7))
    height = min(float(rng.uniform(60.0, 400.0)), 0.6 * lamp.position_mm[2])
    share = height / lamp.position_mm[2]
    width = view_mm * log_uniform(rng, 0.5, 2.2) * (1.0 - share)
    x, y = (p * share + rng.normal(0, 0.25 * view_mm) for p in lamp.position_mm[:2])
    passed: Floats = left + (1 - left) * light
    turn = float(rng.uniform(0, 360))
    return Mask(passed, width / _SIZE, height, turn, (float(x), float(y)))
