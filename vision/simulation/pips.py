"""The pips of a die, painted or drilled, and the light at the bottom of a hollow."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vision.simulation.geometry import dot, norm
from vision.simulation.scene import Die, Floats
from vision.simulation.symbols import ink_at

_SOFT = 0.15
"""Least width of a shadow's edge in a hollow, as a share of the hollow's radius."""


@dataclass(frozen=True, slots=True)
class Pips:
    """The P pixels of a picture (h, w) that show pips, and their places in the hollows.

    Attributes:
        cover: (h, w) share of each pixel that is pip, 0.0 to 1.0.
        where: (P,) indices of the pixels in the flat picture.
        off: Offset from the middle of the pip, three times (P,), in the die's axes (half edge = 1).
        out: Normal of the pip's face, in the same form.
        reach: (P,) radius of the pip.
        depth: Depth as a share of the radius; the hollow is a paraboloid.
    """

    cover: Floats
    where: NDArray[np.intp]
    off: tuple[Floats, Floats, Floats]
    out: tuple[Floats, Floats, Floats]
    reach: Floats
    depth: float

    def sky(self) -> Floats:
        """Share (h, w) of the ambient light that reaches each point."""
        hidden = self.depth**2 * self._below()
        return self._darkened(hidden / (1.0 + hidden))

    def lit(self, to: list[Floats], blur: float) -> Floats:
        """Share (h, w) of a lamp that is visible past the edge of the hollow.

        Args:
            to: Direction of the lamp, three times (h, w), in the die's axes.
            blur: Width of the shadow's edge (half edge = 1).
        """
        way = [each.reshape(-1)[self.where] for each in to]
        rise = sum(w * out for w, out in zip(way, self.out, strict=True))
        steps = self.depth * self.reach * self._below() / np.maximum(rise, 0.05)
        leaves = [
            off + steps * (w - rise * out)
            for off, w, out in zip(self.off, way, self.out, strict=True)
        ]
        edge = (norm(leaves) - self.reach) / (blur + _SOFT * self.reach)
        return self._darkened(np.clip(0.5 + edge, 0.0, 1.0) if self.depth else 0.0 * edge)

    def _below(self) -> Floats:
        """Relative depth below the face: 1.0 in the middle of a hollow, 0.0 at its edge."""
        away = dot(self.off, self.off) / self.reach**2
        return np.asarray(np.clip(1.0 - away, 0.0, 1.0), np.float32)

    def _darkened(self, hidden: Floats) -> Floats:
        light = np.ones(self.cover.size, np.float32)
        light[self.where] -= self.cover.reshape(-1)[self.where] * hidden
        return light.reshape(self.cover.shape)


def shows_face(die: Die, point: list[Floats], value: int) -> NDArray[np.bool_]:
    """Whether points of a die's body (three times (h, w), in its axes) are on a value's face."""
    axis, sign = die.face(value)
    side, other = np.abs(point[(axis + 1) % 3]), np.abs(point[(axis + 2) % 3])
    out = point[axis] * sign
    return np.asarray((out >= side) & (out >= other) & (out > 0))


def _distance(die: Die, du: Floats, dv: Floats) -> Floats:
    """Distance of points from the middle of a pip, in a metric in which its outline is constant."""
    if die.pip_shape == "square":
        u, v = du * du, dv * dv  # roots are many times faster than a power of 0.25
        return np.asarray(np.sqrt(np.sqrt(u * u + v * v)) * np.float32(1.12))
    return np.asarray(np.hypot(du, dv))


def pips_of(
    die: Die, point: list[Floats], normal: list[Floats], footprint: float
) -> tuple[Pips, list[Floats]]:
    """Return the pips of a die, and the normals bent by their hollows.

    Args:
        die: Gives place and depth of the pips.
        point: Points of the body, three times (h, w), in the die's axes (half edge = 1).
        normal: Normals at these points, in the same form.
        footprint: Size of a pixel on the die (half edge = 1).
    """
    cover = np.zeros(point[0].shape, np.float32)
    bent = list(normal)
    found: list[NDArray[np.intp]] = []
    rows: list[NDArray[np.float32]] = []
    offset, radius = np.float32(2.0 * die.pip_offset), 2.0 * die.pip_radius
    for value in range(1, 7):
        axis, sign = die.face(value)
        a, b = (axis + 1) % 3, (axis + 2) % 3
        on_face = shows_face(die, point, value)
        if not on_face.any():
            continue
        u, v = point[a], point[b]
        if die.symbols:
            cover += ink_at(die.symbols[value - 1], u, v * np.float32(-sign)) * on_face
            continue
        if die.is_turned(value):
            u, v = -v, u
        near_u, near_v = [], []
        if value in (4, 5, 6):
            near_u.append(u - np.copysign(offset, u))
            near_v.append(v - np.copysign(offset, v))
        if value in (2, 3):
            side = np.copysign(offset, u + v)
            near_u.append(u - side)
            near_v.append(v - side)
        if value == 6:
            near_u.append(u - np.copysign(offset, u))
            near_v.append(v)
        if value in (1, 3, 5):
            near_u.append(u)
            near_v.append(v)
        reach = radius * (die.one_scale if value == 1 else 1.0)
        away = [_distance(die, du, dv) for du, dv in zip(near_u, near_v, strict=True)]
        nearest = away[0] if len(away) == 1 else np.minimum(away[0], away[1])
        alpha = np.clip(0.5 - (nearest - reach) / footprint, 0.0, 1.0) * on_face
        if die.pip_shape == "ring":
            hollow = np.clip(0.5 - (nearest - 0.5 * reach) / footprint, 0.0, 1.0)
            alpha = np.clip(alpha - hollow, 0.0, 1.0)
        cover += alpha
        first = away[0] <= nearest
        du = np.where(first, near_u[0], near_u[-1])
        dv = np.where(first, near_v[0], near_v[-1])
        if die.is_turned(value):
            du, dv = dv, -du
        deep = alpha * np.float32(2.0 * die.pip_depth / reach)
        bent[a] = bent[a] - deep * du
        bent[b] = bent[b] - deep * dv
        inside = np.flatnonzero(alpha)
        row = np.zeros((7, len(inside)), np.float32)
        row[a], row[b] = du.reshape(-1)[inside], dv.reshape(-1)[inside]
        row[3 + axis] = sign
        row[6] = reach
        found.append(inside)
        rows.append(row)
    where = np.concatenate(found) if found else np.zeros(0, np.intp)
    x, y, z, nx, ny, nz, far = (
        np.concatenate(rows, axis=1) if rows else np.zeros((7, 0), np.float32)
    )
    return Pips(np.minimum(cover, 1.0), where, (x, y, z), (nx, ny, nz), far, die.pip_depth), bent
