"""Dice off the floor: tilted on a coin, a pencil, a wall or another die, or on top of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from vision.simulation.appearance import Rng, jitter, pick, uniform
from vision.simulation.geometry import die_corners, inside_tray, level_axes, turned
from vision.simulation.scene import Die, Thing, Tray, vector

LEAST_DEG, MOST_DEG = 8.5, 44.5
"""Range of tilt: from just above `COCKED_DEG` to a die on its edge."""
_BY = ("nothing", "coin", "pencil", "wall", "die")
_SHARES = (0.35, 0.2, 0.15, 0.15, 0.15)
"""Supports of tilted dice, and how often each is drawn."""
_TRIES = 8
_COIN_MM, _COIN_THICK_MM = (8.0, 13.0), (1.4, 3.3)
"""Radius and thickness of coins. Euros, cents and pennies have 8 to 14 and 1.4 to 2.8 mm; two coins
on each other and game tokens are thicker."""
_PENCIL_MM = 3.6
_METALS = ((0.06, 0.17, 0.33), (0.32, 0.34, 0.36), (0.12, 0.33, 0.42), (0.03, 0.08, 0.18))
"""Copper, nickel, brass and worn copper, linear (chosen by eye)."""


def _lean(rng: Rng, die: Die) -> Die:
    """Tilt a die on an edge or a corner, without a visible support."""
    angle = np.radians(LEAST_DEG + (MOST_DEG - LEAST_DEG) * uniform(rng, 0.0, 1.0) ** 1.3)
    about = uniform(rng, 0, 2 * np.pi)
    leaning = _lifted(die, np.array([-np.sin(about), np.cos(about)]), angle)
    x, y, z = leaning.position_mm
    return replace(leaning, position_mm=(x, y, z * uniform(rng, 0.9, 1.0)))


def held_up(rng: Rng, tray: Tray, dice: Sequence[Die], index: int) -> tuple[Die, Thing | None]:
    """Tilt a flat die on a random support; return it, and the support if one is drawn.

    If there is no room for the support, the die is tilted without a visible one; if there is none
    for that either, it stays flat.
    """
    die, others = dice[index], [d for n, d in enumerate(dice) if n != index]
    by = str(rng.choice(_BY, p=_SHARES))
    for _ in range(_TRIES):
        if by == "coin":
            leaning, thing = _on_a_coin(rng, die)
            if _lies_free(thing, tray, others) and stands_alone([*others, leaning], -1):
                return leaning, thing
        elif by == "pencil":
            leaning, thing = _on_a_pencil(rng, die)
            if _lies_free(thing, tray, others) and stands_alone([*others, leaning], -1):
                return leaning, thing
        elif by == "wall":
            leaning = _on_a_wall(rng, die, tray)
            if _stands_free(leaning, tray, others):
                return leaning, None
        elif by == "die" and others:
            neighbour = pick(rng, others)
            leaning = _on_a_die(rng, die, neighbour)
            if _stands_free(leaning, tray, [d for d in others if d is not neighbour]):
                return leaning, None
    return (_lean(rng, die) if stands_alone(dice, index) else die), None


def stacked(rng: Rng, tray: Tray, dice: Sequence[Die]) -> list[Die]:
    """Lay one of the flat dice in the tray on another one, so far off its middle that it stays."""
    inside = [n for n, die in enumerate(dice) if inside_tray(tray, *die.position_mm[:2])]
    placed = list(dice)
    if len(inside) > 1:
        upper, lower = rng.permutation(inside)[:2]
        x, y, z = dice[lower].position_mm
        one, two = level_axes(dice[lower])
        dx, dy = (
            one * uniform(rng, -_STAYS, _STAYS) + two * uniform(rng, -_STAYS, _STAYS)
        ).tolist()
        size = dice[lower].size_mm
        height = z + (size + dice[upper].size_mm) / 2
        where = (x + dx * size, y + dy * size, height)
        placed[upper] = replace(dice[upper], position_mm=where)
    return placed


_STAYS = 0.48
"""Farthest that the middle of a die may be from that of the one below it (edges): it falls from one
half on."""


_TILTED = 0.8
"""Farthest reach of a tilted die from its middle, to the side (edges)."""


def stands_alone(dice: Sequence[Die], index: int) -> bool:
    """Whether a die has room to tilt without touching another."""
    die = dice[index]
    others = [d for d in dice if d is not die]
    return _is_clear(others, np.array(die.position_mm[:2]), _TILTED * die.size_mm)


def beside(rng: Rng, tray: Tray, dice: Sequence[Die]) -> Thing | None:
    """Draw a coin or a pencil that touches a flat die and supports none; None without room."""
    for _ in range(_TRIES if dice else 0):
        die = pick(rng, dice)
        towards = _way(uniform(rng, 0, 360))
        gap = _reach(np.asarray(die.rotation), die.size_mm, towards) + abs(rng.normal(0, 1.5))
        start = np.array(die.position_mm[:2])
        others = [d for d in dice if d is not die]
        if rng.random() < 0.6:
            thing = _coin(rng, uniform(rng, *_COIN_THICK_MM))
            where = start + towards * (gap + thing.size_mm)
        else:
            thing = _pencil(rng, np.degrees(np.arctan2(towards[0], -towards[1])))
            along = _way(thing.angle_deg)
            where = start + towards * (gap + _PENCIL_MM) + along * uniform(rng, -30, 30)
        if _lies_free(_at(thing, where), tray, others):
            return _at(thing, where)
    return None


def _way(angle_deg: float) -> NDArray[np.float64]:
    return np.array([np.cos(np.radians(angle_deg)), np.sin(np.radians(angle_deg))])


def _reach(rotation: NDArray[np.float64], size_mm: float, towards: NDArray[np.float64]) -> float:
    """Distance from a die's middle to its outline along a level direction (2,), in mm."""
    return float(np.abs(towards @ rotation[:2]).sum()) * size_mm / 2


def _is_clear(dice: Sequence[Die], where: NDArray[np.float64], reach_mm: float) -> bool:
    """Whether no die is within a distance of a place (2,)."""
    gaps = [np.hypot(*(where - d.position_mm[:2])) - 0.72 * d.size_mm for d in dice]
    return all(gap > reach_mm for gap in gaps)


def _stands_free(die: Die, tray: Tray, others: Sequence[Die]) -> bool:
    """Whether a die is inside the tray and overlaps neither its wall nor another die."""
    inside = all(inside_tray(tray, *spot) for spot in die_corners(die, 0.99)[:, :2])
    return inside and _is_clear(others, np.array(die.position_mm[:2]), 0.7 * die.size_mm)


def _lies_free(thing: Thing, tray: Tray, dice: Sequence[Die]) -> bool:
    """Whether a coin or a pencil is inside the tray and under none of the dice."""
    steps, reach = np.zeros(1), thing.size_mm
    if thing.kind == "pencil":
        steps, reach = np.linspace(-thing.size_mm, thing.size_mm, 9), _PENCIL_MM
    spots = np.array(thing.position_mm) + steps[:, None] * _way(thing.angle_deg)
    return all(inside_tray(tray, *spot) and _is_clear(dice, spot, reach) for spot in spots)


def _side(rng: Rng, die: Die) -> NDArray[np.float64]:
    """Draw the direction (2,) in which a flat die is lifted, mostly one of its sides."""
    side = pick(rng, level_axes(die)) * rng.choice([-1.0, 1.0])
    turn = np.radians(uniform(rng, -45, 45) if rng.random() < 0.4 else rng.normal(0, 6))
    c, s = np.cos(turn), np.sin(turn)
    way = np.array([[c, -s], [s, c]]) @ side
    return np.asarray(way / np.hypot(*way))


def _lifted(die: Die, side: NDArray[np.float64], angle_rad: float) -> Die:
    """Lift a side of a flat die, with its lowest point on the floor."""
    rotation = turned(die.rotation, np.array([side[1], -side[0], 0.0]) * angle_rad)
    x, y, _z = die.position_mm
    lift = float(np.abs(rotation[2]).sum()) * die.size_mm / 2
    return replace(die, position_mm=(x, y, lift), rotation=rotation)


def _pivot(die: Die, side: NDArray[np.float64]) -> NDArray[np.float64]:
    """Point (2,) of the floor that a lifted die stands on, on the line through its middle."""
    m = np.asarray(die.rotation)
    lowest = m @ -np.sign(m[2]) * die.size_mm / 2
    return np.asarray(np.array(die.position_mm[:2]) + side * (lowest[:2] @ side))


def _on_a_coin(rng: Rng, die: Die) -> tuple[Die, Thing]:
    side = _side(rng, die)
    thick = uniform(rng, *_COIN_THICK_MM)
    longest = min(0.97 * die.size_mm, thick / np.tan(np.radians(LEAST_DEG)))
    away = uniform(rng, min(0.3 * die.size_mm, 0.9 * longest), longest)
    angle = float(np.arctan2(thick, away))
    leaning = _lifted(die, side, angle)
    coin = _coin(rng, thick)
    across = np.array([-side[1], side[0]]) * uniform(rng, -0.35, 0.35) * coin.size_mm
    return leaning, _at(coin, _pivot(leaning, side) + side * (away + coin.size_mm) + across)


def _on_a_pencil(rng: Rng, die: Die) -> tuple[Die, Thing]:
    side = _side(rng, die)
    away = die.size_mm * uniform(rng, 0.6, 1.1)
    angle = float(min(2.0 * np.arctan2(_PENCIL_MM, away), np.radians(MOST_DEG)))
    leaning = _lifted(die, side, angle)
    pencil = _pencil(rng, float(np.degrees(np.arctan2(side[0], -side[1])) + rng.normal(0, 8)))
    along = _way(pencil.angle_deg) * uniform(rng, -0.8, 0.8) * pencil.size_mm
    return leaning, _at(pencil, _pivot(leaning, side) + side * away + along)


def _on_a_wall(rng: Rng, die: Die, tray: Tray) -> Die:
    """Tilt a die against the nearest wall, lifted on it or with its foot away from it."""
    outline = np.array(tray.outline_mm)
    edge = np.roll(outline, -1, axis=0) - outline
    inwards = np.c_[-edge[:, 1], edge[:, 0]] / np.hypot(edge[:, 0], edge[:, 1])[:, None]
    where = np.array(die.position_mm[:2])
    depth = ((where - outline) * inwards).sum(axis=1)
    nearest = int(depth.argmin())
    normal = inwards[nearest]
    up = -normal if rng.random() < 0.75 else normal
    angle = np.radians(uniform(rng, LEAST_DEG + 1.5, MOST_DEG))
    turn = _way(float(rng.normal(0, 12)))
    side = np.array([up[0] * turn[0] - up[1] * turn[1], up[0] * turn[1] + up[1] * turn[0]])
    leaning = _lifted(die, side, angle)
    gap = _reach(np.asarray(leaning.rotation), die.size_mm, normal) + abs(rng.normal(0, 0.3))
    x, y = where + normal * (gap - depth[nearest])
    return replace(leaning, position_mm=(float(x), float(y), leaning.position_mm[2]))


def _on_a_die(rng: Rng, die: Die, neighbour: Die) -> Die:
    """Tilt a die against a side of another, lifted towards it or away from it."""
    m = np.asarray(neighbour.rotation)
    normal = pick(rng, level_axes(neighbour) or [m[:2, 0]]) * rng.choice([-1.0, 1.0])
    normal = normal / np.hypot(*normal)
    angle = np.radians(uniform(rng, LEAST_DEG + 1.5, 40.0))
    leaning = _lifted(die, -normal if rng.random() < 0.7 else normal, angle)
    gap = (
        _reach(m, neighbour.size_mm, normal)
        + _reach(np.asarray(leaning.rotation), die.size_mm, normal)
        + abs(rng.normal(0, 0.3))
    )
    across = np.array([-normal[1], normal[0]]) * uniform(rng, -0.7, 0.7) * die.size_mm
    x, y = np.array(neighbour.position_mm[:2]) + normal * gap + across
    return replace(leaning, position_mm=(float(x), float(y), leaning.position_mm[2]))


def _coin(rng: Rng, thick_mm: float) -> Thing:
    metal = jitter(rng, pick(rng, _METALS), 0.25)
    if rng.random() < 0.2:  # a game token
        metal = vector(rng.uniform(0.02, 0.6, 3))
    seed = int(rng.integers(1 << 20))
    return Thing(
        "coin", (0.0, 0.0), 0.0, uniform(rng, *_COIN_MM), metal, thick_mm, seed, under=True
    )


def _pencil(rng: Rng, angle_deg: float) -> Thing:
    paint = vector(rng.uniform(0.02, 0.6, 3))
    size, angle_deg = uniform(rng, 22.0, 65.0), angle_deg + float(rng.choice([0.0, 180.0]))
    seed = int(rng.integers(1 << 20))
    return Thing("pencil", (0.0, 0.0), angle_deg, size, paint, _PENCIL_MM, seed, under=True)


def _at(thing: Thing, where: NDArray[np.float64]) -> Thing:
    return replace(thing, position_mm=(float(where[0]), float(where[1])))
