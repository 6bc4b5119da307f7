"""Plastics of more than one colour: speckled, marbled, metallic, worn ...; and worn paint."""

from __future__ import annotations

import numpy as np

from vision.simulation.geometry import dot
from vision.simulation.materials import noise_at
from vision.simulation.pips import pips_of
from vision.simulation.scene import Die, Finish, Floats

KINDS = (
    "speckled", "marbled", "gradient", "flecks", "confetti", "veined", "two_tone", "worn",
    "brushed", "pearl", "glitter", "clear",
)  # fmt: skip


_WIDE = ("gradient", "two_tone", "worn", "clear")
"""Finishes without details of the size of `scale_mm`."""
_THIN = 0.25
"""Mean cover of veins for each share."""


def body_albedo(die: Die, point: list[Floats], facing: Floats, footprint: float) -> Floats:
    """Albedo of a die (h, w, 3), or (3,) if it is the same everywhere.

    Args:
        die: Its plastic and its finish.
        point: Points of its body in its axes, three times (h, w), half edge = 1.
        facing: Cosine (h, w) between the face and the line of sight.
        footprint: Size of a pixel on the die (half edge = 1).
    """
    body = np.asarray(die.albedo, np.float32)
    finish = die.finish
    if finish is None:
        return body
    half = die.size_mm / 2
    fade = min(1.0, 1.5 * finish.scale_mm / (footprint * half))  # details below a pixel fade
    if finish.kind in _WIDE:
        fade = 1.0
    if finish.kind == "clear":
        cover = _far_pips(die, finish, point, footprint)
    else:
        cover = _cover(finish, point, facing, half)
    mean = finish.share * (_THIN if finish.kind == "veined" else 1.0)
    cover = finish.amount * (mean + fade * (cover - mean))
    paint = np.asarray(finish.paint, np.float32)
    if finish.kind == "pearl":
        paint = paint * (0.7 + 0.6 * facing[..., None] ** 2)
    return np.asarray(body + cover[..., None] * (paint - body), np.float32)


def _cover(finish: Finish, point: list[Floats], facing: Floats, half_mm: float) -> Floats:
    """Share (h, w) of the second plastic at points of the body."""
    rng = np.random.default_rng(finish.seed)
    way = rng.normal(size=3)
    way = (way / np.linalg.norm(way)).astype(np.float32)
    depth = dot(way, point)
    limit = np.float32(_QUANTILES[int(np.clip(finish.share, 0.0, 0.99) * len(_QUANTILES))])
    noise = _noise_of(finish, point, half_mm)
    if finish.kind == "gradient":
        cover = 0.5 + 0.45 * depth
    elif finish.kind == "two_tone":
        edge = depth + 0.25 * noise * np.float32(rng.uniform(0.0, 1.0))
        cover = 0.5 + 8.0 * (edge - 0.4 * limit)
    elif finish.kind == "worn":
        size = np.sort(np.abs(np.stack(point)), axis=0)
        cover = 0.5 + 9.0 * (size[1] - 0.87 + 0.06 * noise)
    elif finish.kind == "confetti":
        cover = _dots(finish, point, half_mm)
    elif finish.kind == "veined":
        cover = 0.5 + 8.0 * (0.3 * finish.share - np.abs(noise))
    elif finish.kind == "marbled":
        bent = noise + 1.2 * _noise_of(finish, point, 3.0 * half_mm)
        hard = np.float32(rng.uniform(0.8, 4.0))
        cover = 1.0 / (1.0 + np.exp(-hard * (bent / 1.5 - limit)))
    elif finish.kind == "brushed":
        cover = 0.5 + 0.35 * noise
    elif finish.kind == "pearl":
        cover = 0.35 + 0.25 * noise + 0.5 * (1.0 - facing)
    else:
        hard = np.float32(20.0 if finish.kind in ("flecks", "glitter") else rng.uniform(3.0, 9.0))
        cover = 0.5 + hard * (noise - limit)
    return np.asarray(np.clip(cover, 0.0, 1.0), np.float32)


_QUANTILES = (
    3.0, 2.05, 1.75, 1.55, 1.4, 1.28, 1.17, 1.08, 0.99, 0.92, 0.84, 0.77, 0.71, 0.64, 0.58, 0.52,
    0.47, 0.41, 0.36, 0.31, 0.25, 0.2, 0.15, 0.1, 0.05, 0.0, -0.05, -0.1, -0.15, -0.2, -0.25, -0.31,
    -0.36, -0.41, -0.47, -0.52, -0.58, -0.64, -0.71, -0.77, -0.84, -0.92, -0.99, -1.08, -1.17,
    -1.28, -1.4, -1.55, -1.75, -2.05,
)  # fmt: skip
"""Quantiles of normal noise: the values that 0, 2, 4 ... 98 % of it exceed."""


def _dots(finish: Finish, point: list[Floats], half_mm: float) -> Floats:
    """Share (h, w) of round dots of many sizes, at most one in each cell of a grid."""
    u, v, apart = _on_faces(point)
    wide = np.float32(half_mm / (2.5 * finish.scale_mm))
    x, y = u * wide + np.float32(finish.seed % 97) + apart, v * wide + 2 * apart
    column, row = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
    drawn = _DRAWN[(column * 73 + row * 151 + finish.seed) % len(_DRAWN)]
    radius = 0.1 + 0.35 * drawn[..., 0]
    gap_x = x - column - radius - (1.0 - 2.0 * radius) * drawn[..., 1]
    gap_y = y - row - radius - (1.0 - 2.0 * radius) * drawn[..., 2]
    inside = (radius - np.hypot(gap_x, gap_y)) * np.float32(2.5 * finish.scale_mm / 0.3)
    is_dot = drawn[..., 3] < 3.0 * finish.share
    return np.asarray(np.clip(0.5 + inside, 0.0, 1.0) * is_dot, np.float32)


_DRAWN = np.random.default_rng(5).random((4093, 4)).astype(np.float32)
"""Size, place and presence of the dots of a grid, from 0 to 1."""


def paint_left(die: Die, point: list[Floats]) -> Floats:
    """Share (h, w) of the paint that is left in the pips of a die, at points of its body."""
    if die.wear is None:
        return np.ones(point[0].shape, np.float32)
    noise = _noise(die.wear.seed, point, die.size_mm / 2 / die.wear.scale_mm)
    gone = die.wear.amount * (1.0 + _PATCHY * noise)
    return np.asarray(np.clip(1.0 - gone, _LEAST_PAINT, 1.0), np.float32)


_PATCHY = 1.8
"""How much the loss of paint differs from place to place (chosen by eye)."""
_LEAST_PAINT = 0.25
"""Share of the paint that stays everywhere (chosen by eye): without any, no pip would be left."""


def _noise_of(finish: Finish, point: list[Floats], half_mm: float) -> Floats:
    """Noise (h, w) as a finish needs it."""
    return _noise(finish.seed, point, half_mm / finish.scale_mm, finish.kind == "brushed")


def _noise(seed: int, point: list[Floats], scale: float, brushed: bool = False) -> Floats:
    """Noise (h, w) on the faces of a die, different on each."""
    u, v, apart = _on_faces(point)
    fine = np.float32(scale * 4 * 0.7)
    stretch = np.float32(0.08 if brushed else 1.0)
    start = np.float32(seed % 389)
    return noise_at(seed, 4, u * fine + apart + start, v * fine * stretch + 2 * apart)


def _far_pips(die: Die, finish: Finish, point: list[Floats], footprint: float) -> Floats:
    """Share (h, w) of pips on the far faces, which are seen softly through clear plastic."""
    rng = np.random.default_rng(finish.seed)
    shift, size, blur = rng.uniform(-0.2, 0.2, 3), rng.uniform(0.75, 0.95), rng.uniform(0.03, 0.25)
    axis = np.abs(np.stack(point)).argmax(axis=0)
    far = [
        np.asarray(np.where(axis == a, -p, size * p + by), np.float32)
        for a, (p, by) in enumerate(zip(point, shift, strict=True))
    ]
    pips, _ = pips_of(die, far, far, footprint + blur)
    return pips.cover


def _on_faces(point: list[Floats]) -> tuple[Floats, Floats, Floats]:
    """Two coordinates (h, w) on the face that each point is on, and a number of that face."""
    size = np.abs(np.stack(point))
    axis = size.argmax(axis=0)
    stacked = np.stack([*point, *point])
    u, v = (np.take_along_axis(stacked, (axis + k)[None], axis=0)[0] for k in (1, 2))
    side = np.take_along_axis(stacked, axis[None], axis=0)[0]
    apart = (axis * 2 + (side > 0)) * np.float32(71.0)
    return u, v, apart
