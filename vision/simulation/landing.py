"""Places and values of thrown dice at rest (pure, drawn from a random generator)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from vision.simulation.appearance import pick
from vision.simulation.geometry import footprint, inside_tray, level_axes, resting_die, turned
from vision.simulation.scene import Die, Tray

MISHAPS = ("cocked", "off", "touching")
"""Mishaps of a throw: a die propped against another, one over the rim, a pile."""

_USUAL_GAP_MM = 4.0
"""Least distance between most dice at rest."""


def draw_landing(
    rng: np.random.Generator,
    dice: Sequence[Die],
    tray: Tray,
    *,
    mishap: str | None,
) -> list[Die]:
    """Draw dice at rest, every value with the same chance.

    Args:
        dice: The dice, wherever they are.
        mishap: One of MISHAPS.
    """
    thrown = [(die, int(rng.integers(1, 7))) for die in dice]
    rest = _places(rng, thrown, tray, touching=mishap == "touching")
    if mishap in ("cocked", "off") and rest:
        unlucky = int(rng.integers(len(rest)))
        change = _leaning if mishap == "cocked" else _lost
        rest[unlucky] = change(rng, rest, unlucky, tray)
    return rest


def support_mm(die: Die) -> float:
    """Height of a die's middle above the floor it touches, however it is turned."""
    half, rounding = die.size_mm / 2, die.edge_radius * die.size_mm
    up = np.abs(np.asarray(die.rotation)[2]).sum()
    corners = (half - rounding) * float(up) + rounding
    return min(corners, die.ball * die.size_mm)


def _places(
    rng: np.random.Generator,
    thrown: Sequence[tuple[Die, int]],
    tray: Tray,
    *,
    touching: bool,
) -> list[Die]:
    """Draw dice flat on the floor without overlap; a few rest against a neighbour."""
    outline = np.array(tray.outline_mm)
    low, high = outline.min(axis=0), outline.max(axis=0)
    middle = rng.uniform(-0.12, 0.12, 2) * (high - low)
    spread = (high - low) * rng.uniform(0.20, 0.30)
    placed: list[Die] = []
    for like, value in thrown:
        chosen: Die | None = None
        for _ in range(300):
            gap_mm = 0.0 if rng.random() < 0.1 else _USUAL_GAP_MM
            if placed and rng.random() < (0.9 if touching else 0.01):
                die, gap_mm = _beside(rng, pick(rng, placed), value, like), 0.0
            else:
                x, y = (float(v) for v in rng.normal(middle, spread))
                die = resting_die(value, (x, y), float(rng.uniform(0.0, 360.0)), like)
            chosen = die
            if _fits(die, placed, tray, gap_mm):
                break
        if chosen is not None:
            placed.append(chosen)
    return placed


def _beside(rng: np.random.Generator, other: Die, value: int, like: Die) -> Die:
    """A die flush against a side of another."""
    x, y = level_axes(other)[0]
    angle = math.degrees(math.atan2(y, x)) + 90.0 * int(rng.integers(4))
    gap, along = other.size_mm + 0.3, float(rng.uniform(-0.5, 0.5)) * other.size_mm
    c, s = math.cos(math.radians(angle)), math.sin(math.radians(angle))
    x, y, _ = other.position_mm
    return resting_die(value, (x + gap * c - along * s, y + gap * s + along * c), angle, like)


def _fits(die: Die, placed: Sequence[Die], tray: Tray, gap_mm: float) -> bool:
    x, y, _ = die.position_mm
    m = 0.9 * die.size_mm
    around = ((x - m, y - m), (x + m, y - m), (x + m, y + m), (x - m, y + m))
    return all(inside_tray(tray, *p) for p in around) and not any(
        _overlap(die, d, gap_mm) for d in placed
    )


def _overlap(one: Die, other: Die, gap_mm: float) -> bool:
    """Whether two dice lying flat are closer than a gap (separating axis test)."""
    a, b = footprint(one, 0.1), footprint(other, 0.1)
    for corners in (a, b):
        for normal in (corners[1] - corners[0], corners[2] - corners[1]):
            unit = normal / np.linalg.norm(normal)
            along_a, along_b = a @ unit, b @ unit
            apart = max(along_b.min() - along_a.max(), along_a.min() - along_b.max())
            if apart >= gap_mm:
                return False
    return True


def _leaning(rng: np.random.Generator, rest: Sequence[Die], which: int, tray: Tray) -> Die:
    """A die propped against the outer side of another, or against a wall if there is no room."""
    die = rest[which]
    others = [d for number, d in enumerate(rest) if number != which]
    tilt = math.radians(float(rng.uniform(22.0, 34.0)))
    reach = die.size_mm / 2 * (math.cos(tilt) + math.sin(tilt)) - 0.6
    # It tilts outwards, away from the lens above the middle: tilted towards the lens it would look
    # almost flat.
    props = [
        (float(other.position_mm[0] * side[0] + other.position_mm[1] * side[1]), other, side)
        for other in others
        for side in level_sides(other)
    ]
    for _, other, side in sorted(props, key=lambda prop: -prop[0]):
        far = other.size_mm / 2 + reach
        spot = (other.position_mm[0] + far * side[0], other.position_mm[1] + far * side[1])
        rest_of = [d for d in others if d is not other]
        if _has_room(spot, 0.8 * die.size_mm, rest_of, tray):
            return _tipped(die, spot, math.atan2(side[1], side[0]), tilt)
    x = max(x for x, _ in tray.outline_mm) - reach
    spots = [(x, float(y)) for y in rng.uniform(-40.0, 40.0, 60)]
    spot = next((s for s in spots if _has_room(s, 0.0, others, tray)), spots[0])
    return _tipped(die, spot, math.pi, tilt)


def _tipped(die: Die, spot: tuple[float, float], towards_rad: float, tilt_rad: float) -> Die:
    """Tilt a die on one bottom edge, with its top towards a direction of the floor."""
    flat = resting_die(die.top[0], (0.0, 0.0), math.degrees(towards_rad), die)
    axis = (-math.sin(towards_rad) * tilt_rad, math.cos(towards_rad) * tilt_rad, 0.0)
    tipped = replace(flat, rotation=turned(flat.rotation, axis))
    return replace(tipped, position_mm=(*spot, support_mm(tipped)))


def level_sides(die: Die) -> list[tuple[float, float]]:
    """The level directions of the four sides of a die at rest."""
    turned_axes = np.asarray(die.rotation).T
    level = [axis for axis in turned_axes if abs(axis[2]) < 0.6]
    return [(float(s * a[0]), float(s * a[1])) for a in level for s in (1.0, -1.0)]


def _has_room(
    spot: tuple[float, float], margin_mm: float, others: Sequence[Die], tray: Tray
) -> bool:
    x, y = spot
    around = [(x + dx, y + dy) for dx in (-margin_mm, margin_mm) for dy in (-margin_mm, margin_mm)]
    return all(inside_tray(tray, *p) for p in around) and all(
        math.dist(spot, d.position_mm[:2]) > 1.5 * d.size_mm for d in others
    )


def _lost(rng: np.random.Generator, rest: Sequence[Die], which: int, tray: Tray) -> Die:
    """A die that rolled off the table."""
    x, y, z = rest[which].position_mm
    angle = math.atan2(y, x) + float(rng.normal(0.0, 0.3))
    return replace(rest[which], position_mm=(400.0 * math.cos(angle), 400.0 * math.sin(angle), z))
