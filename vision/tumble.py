"""How dice thrown into the tray roll and come to rest (pure, drawn from a random generator).

The end of a throw is drawn first, values with equal chances; each die's way is then led back
from where it will lie, so that spin, bounces and speed all run out exactly there.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from companion.engine.dice import DieColour
from vision.scene import Die, Tray, inside_tray, resting_die, turned
from vision.scene_throw import default_die

MISHAPS = ("cocked", "off", "touching")
"""What a throw can be told to do: lean a die on the wall, lose one over the rim, pile up."""

TAKE_UP_S = 0.25
"""The tray is empty for so long before new dice come in: somebody took up the old ones."""

_LAST_TOPPLE_RAD = 0.68
"""A die falls onto its last face from a little before standing on its edge (0.79)."""
_TOPPLE_S = 0.09
_USUAL_GAP_MM = 4.0
"""Most dice come to rest at least so far from each other."""

_ENTRY_MM = 45.0
"""Dice come over the rim from this far outside it ..."""
_ENTRY_HEIGHT_MM = 62.0
"""... and this high, which clears a rim of 20 mm."""


@dataclass(frozen=True, slots=True)
class Way:
    """One die's way: a straight line to where it would lie without a wall, folded at the wall.

    Attributes:
        rest: The die as it lies in the end.
        start_mm: Where it comes from.
        goal_mm: Where it rests, mirrored at `wall` when it bounces there.
        wall: Axis (0 or 1) and coordinate of the wall it bounces off, or None.
        starts_s, rests_s: From the beginning of the throw.
        spin_rad: How far it rolls in all; `twist_rad` how far it turns about its other axis.
        roll_axis, twist_axis: World axes of both.
        bounces_mm: Heights of its bounces.
    """

    rest: Die
    start_mm: tuple[float, float]
    goal_mm: tuple[float, float]
    wall: tuple[int, float] | None
    starts_s: float
    rests_s: float
    spin_rad: float
    twist_rad: float
    roll_axis: tuple[float, float, float]
    twist_axis: tuple[float, float, float]
    bounces_mm: tuple[float, ...]

    def die_at(self, time_s: float) -> Die | None:
        """The die at a moment of the throw; None before it has come in."""
        if time_s >= self.rests_s:
            return self.rest
        if time_s < self.starts_s:
            return None
        lasts_s = self.rests_s - self.starts_s
        share = (time_s - self.starts_s) / lasts_s
        topple = 1.0 - _TOPPLE_S / lasts_s
        if share < topple:
            left = (1.0 - share / topple) ** 1.6
            rolled = _LAST_TOPPLE_RAD + (self.spin_rad - _LAST_TOPPLE_RAD) * left
        else:
            fallen = (share - topple) / (1.0 - topple)
            rolled = _LAST_TOPPLE_RAD * (1.0 - fallen**2)
        twisted = self.twist_rad * max(0.0, 1.0 - share / (0.85 * topple)) ** 2
        rotation = turned(self.rest.rotation, tuple(-twisted * a for a in self.twist_axis))
        rotation = turned(rotation, tuple(-rolled * a for a in self.roll_axis))
        x, y = self._spot(share)
        die = replace(self.rest, rotation=rotation)
        z = support_mm(die) + _height_mm(share / topple, self.bounces_mm)
        return replace(die, position_mm=(x, y, z))

    def _spot(self, share: float) -> tuple[float, float]:
        gone = 1.0 - (1.0 - share) ** 1.7
        spot = [a + (b - a) * gone for a, b in zip(self.start_mm, self.goal_mm, strict=True)]
        if self.wall is not None:
            axis, where = self.wall
            beyond = spot[axis] - where
            if beyond * where > 0.0:
                spot[axis] = where - beyond
        return spot[0], spot[1]


@dataclass(frozen=True, slots=True)
class Throw:
    """A throw from its first moment to its rest."""

    ways: tuple[Way, ...]

    @property
    def rests_s(self) -> float:
        """When the last die has come to rest."""
        return max((way.rests_s for way in self.ways), default=0.0)

    @property
    def at_rest(self) -> tuple[Die, ...]:
        """The dice in the end."""
        return tuple(way.rest for way in self.ways)

    def dice_at(self, time_s: float) -> tuple[Die | None, ...]:
        """Each die at a moment, None before it has come in; rolling dice give way to others."""
        dice = [way.die_at(time_s) for way in self.ways]
        return _kept_apart(dice, [time_s >= way.rests_s for way in self.ways])


def draw_throw(
    rng: np.random.Generator,
    in_play: Sequence[DieColour],
    tray: Tray,
    *,
    mishap: str | None = None,
) -> Throw:
    """Draw a throw of the dice in play.

    Raises:
        ValueError: `mishap` is none of MISHAPS.
    """
    if mishap is not None and mishap not in MISHAPS:
        raise ValueError(f"mishap: expected one of {', '.join(MISHAPS)}, got {mishap!r}")
    dice = [(colour, int(rng.integers(1, 7))) for colour in in_play]
    rest = _places(rng, dice, tray, touching=mishap == "touching")
    if mishap in ("cocked", "off") and rest:
        unlucky = int(rng.integers(len(rest)))
        change = _leaning if mishap == "cocked" else _lost
        rest[unlucky] = change(rng, rest, unlucky, tray)
    side = int(rng.integers(4))
    return Throw(tuple(_way(rng, die, tray, side) for die in rest))


def support_mm(die: Die) -> float:
    """How high the middle of a die is above the floor it touches, however it is turned."""
    half, rounding = die.size_mm / 2, die.edge_radius * die.size_mm
    up = np.abs(np.asarray(die.rotation)[2]).sum()
    corners = (half - rounding) * float(up) + rounding
    return min(corners, die.ball * die.size_mm)


def _places(
    rng: np.random.Generator,
    dice: Sequence[tuple[DieColour, int]],
    tray: Tray,
    *,
    touching: bool,
) -> list[Die]:
    """Dice flat on the floor, none into another; a few rest against a neighbour."""
    outline = np.array(tray.outline_mm)
    low, high = outline.min(axis=0), outline.max(axis=0)
    middle = rng.uniform(-0.12, 0.12, 2) * (high - low)
    spread = (high - low) * rng.uniform(0.20, 0.30)
    placed: list[Die] = []
    for colour, value in dice:
        like = default_die(colour)
        chosen: Die | None = None
        for _ in range(300):
            gap_mm = 0.0 if rng.random() < 0.1 else _USUAL_GAP_MM
            if placed and rng.random() < (0.9 if touching else 0.01):
                die, gap_mm = _beside(rng, placed[int(rng.integers(len(placed)))], value, like), 0.0
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
    flat = np.asarray(other.rotation)
    axis = next(a for a in range(3) if abs(flat[2, a]) < 0.5)
    angle = math.degrees(math.atan2(flat[1, axis], flat[0, axis])) + 90.0 * int(rng.integers(4))
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
    """Whether two dice lying flat are closer than a gap (by the axis that separates them)."""
    a, b = _footprint(one), _footprint(other)
    for corners in (a, b):
        for normal in (corners[1] - corners[0], corners[2] - corners[1]):
            unit = normal / np.linalg.norm(normal)
            along_a, along_b = a @ unit, b @ unit
            apart = max(along_b.min() - along_a.max(), along_a.min() - along_b.max())
            if apart >= gap_mm:
                return False
    return True


def _footprint(die: Die) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    flat = np.asarray(die.rotation)
    sides = [flat[:2, a] for a in range(3) if abs(flat[2, a]) < 0.5]
    u, v = (side / np.linalg.norm(side) * (die.size_mm / 2 + 0.1) for side in sides[:2])
    middle = np.asarray(die.position_mm[:2])
    return np.array([middle + u + v, middle - u + v, middle - u - v, middle + u - v])


def _leaning(rng: np.random.Generator, rest: Sequence[Die], which: int, tray: Tray) -> Die:
    """A die that leans on the wall at the far side of the tray."""
    outline = np.array(tray.outline_mm)
    die = rest[which]
    value, _ = die.top
    tilt = math.radians(float(rng.uniform(20.0, 34.0)))
    side = 1.0 if rng.random() < 0.5 else -1.0
    flat = resting_die(value, (0.0, 0.0), 90.0 * int(rng.integers(4)), die)
    tipped = replace(flat, rotation=turned(flat.rotation, (0.0, -side * tilt, 0.0)))
    reach = die.size_mm / 2 * (math.cos(tilt) + math.sin(tilt)) - 0.8
    x = side * (float(outline[:, 0].max()) - reach)
    others = [d for number, d in enumerate(rest) if number != which]
    for _ in range(60):
        y = float(rng.uniform(-0.6, 0.6)) * float(outline[:, 1].max())
        if all(math.dist((x, y), d.position_mm[:2]) > 1.6 * die.size_mm for d in others):
            break
    return replace(tipped, position_mm=(x, y, support_mm(tipped)))


def _lost(rng: np.random.Generator, rest: Sequence[Die], which: int, tray: Tray) -> Die:
    """A die that rolled off the table."""
    x, y, z = rest[which].position_mm
    angle = math.atan2(y, x) + float(rng.normal(0.0, 0.3))
    return replace(rest[which], position_mm=(400.0 * math.cos(angle), 400.0 * math.sin(angle), z))


def _way(rng: np.random.Generator, rest: Die, tray: Tray, side: int) -> Way:
    outline = np.array(tray.outline_mm)
    low, high = outline.min(axis=0), outline.max(axis=0)
    axis, end = side // 2, (low, high)[side % 2]
    start = np.empty(2)
    outward = 1.0 if side % 2 else -1.0
    start[axis] = end[axis] + outward * (_ENTRY_MM + float(rng.uniform(0.0, 14.0)))
    start[1 - axis] = float(rng.normal(0.0, 0.13)) * (high - low)[1 - axis]
    goal = np.asarray(rest.position_mm[:2], float).copy()
    wall: tuple[int, float] | None = None
    opposite = (high, low)[side % 2][axis] + outward * 0.62 * rest.size_mm
    is_inside = inside_tray(tray, float(goal[0]), float(goal[1]))
    if is_inside and rng.random() < 0.55:
        wall = (axis, float(opposite))
        goal[axis] = 2.0 * opposite - goal[axis]
    way = goal - start
    length = float(np.linalg.norm(way))
    forward = np.array([-way[1], way[0], 0.0]) / max(length, 1.0)
    if wall is not None:
        # It comes back from the wall, so in the end it rolls the other way along that axis.
        forward[1 - axis] *= -1.0
    roll_axis = _nearest_edge(rest, forward)
    starts_s = TAKE_UP_S + float(rng.uniform(0.0, 0.12))
    lasts_s = float(rng.uniform(0.72, 1.0)) + (0.15 if wall is not None else 0.0)
    first = float(rng.uniform(10.0, 18.0))
    twist = rng.normal(size=3)
    twist /= np.linalg.norm(twist)
    return Way(
        rest=rest,
        start_mm=(float(start[0]), float(start[1])),
        goal_mm=(float(goal[0]), float(goal[1])),
        wall=wall,
        starts_s=starts_s,
        rests_s=starts_s + lasts_s,
        spin_rad=length / (0.9 * rest.size_mm) * float(rng.uniform(0.8, 1.15)),
        twist_rad=float(rng.uniform(2.0, 6.0)),
        roll_axis=roll_axis,
        twist_axis=(float(twist[0]), float(twist[1]), float(twist[2])),
        bounces_mm=(first, first * 0.35, first * 0.1),
    )


def _nearest_edge(
    die: Die, forward: np.ndarray[tuple[int, ...], np.dtype[np.float64]]
) -> tuple[float, float, float]:
    """The level edge direction of a resting die that is closest to a wanted axis."""
    turned_axes = np.asarray(die.rotation).T
    edges = [sign * axis for axis in turned_axes if abs(axis[2]) < 0.6 for sign in (1.0, -1.0)]
    best = max(edges, key=lambda edge: float(edge @ forward))
    return float(best[0]), float(best[1]), float(best[2])


_BOUNCE_AT = (0.24, 0.52, 0.74, 0.88)
"""Shares of the way at which a die meets the floor."""


def _height_mm(share: float, bounces_mm: Sequence[float]) -> float:
    """Height of the lowest point above the floor: a fall, then lower and lower hops."""
    if share < _BOUNCE_AT[0]:
        return _ENTRY_HEIGHT_MM * (1.0 - (share / _BOUNCE_AT[0]) ** 2)
    for (begin, end), top in zip(itertools.pairwise(_BOUNCE_AT), bounces_mm, strict=False):
        if share < end:
            along = (share - begin) / (end - begin)
            return top * 4.0 * along * (1.0 - along)
    return 0.0


def _kept_apart(dice: Sequence[Die | None], rests: Sequence[bool]) -> tuple[Die | None, ...]:
    """Push rolling dice out of each other; those at rest stay where they are."""
    moved = list(dice)
    for _ in range(2):
        for i, j in itertools.combinations(range(len(moved)), 2):
            one, other = moved[i], moved[j]
            if one is None or other is None or (rests[i] and rests[j]):
                continue
            gap_x, gap_y, gap_z = np.subtract(other.position_mm, one.position_mm)
            least = 0.5 * (one.size_mm + other.size_mm)
            flat = math.hypot(gap_x, gap_y)
            if abs(gap_z) > least or flat >= least or flat < 1e-6:
                continue
            push = (least - flat) / flat
            share = 1.0 if rests[i] else 0.0 if rests[j] else 0.5
            moved[j] = _shifted(other, gap_x * push * share, gap_y * push * share)
            moved[i] = _shifted(one, gap_x * push * (share - 1.0), gap_y * push * (share - 1.0))
    return tuple(moved)


def _shifted(die: Die, x_mm: float, y_mm: float) -> Die:
    x, y, z = die.position_mm
    return replace(die, position_mm=(float(x + x_mm), float(y + y_mm), z))
