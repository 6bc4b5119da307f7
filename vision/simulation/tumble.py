"""Dice that roll through the tray and come to rest (pure, drawn from a random generator).

The end of a throw is drawn first, values with equal chances; each die's way is then traced back
from its place of rest, so that spin, bounces and speed end exactly there.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from vision.simulation.geometry import inside_tray, turned
from vision.simulation.landing import draw_landing, level_sides, support_mm
from vision.simulation.scene import Die, Tray, Vector, vector

_LAST_TOPPLE_RAD = 0.68
"""Angle at which a die topples onto its last face; on its edge it stands at 0.79."""
_TOPPLE_S = 0.09
_ENTRY_MM = 34.0
"""Distance outside the rim at which dice enter."""
_ENTRY_HEIGHT_MM = 62.0
"""Height at which dice enter; it clears a rim of 20 mm."""


@dataclass(frozen=True, slots=True)
class Way:
    """One die's way: a straight line to its place of rest, folded at a wall.

    Attributes:
        rest: The die at rest.
        start_mm: Start of the way.
        goal_mm: Place of rest, mirrored at `wall` if it bounces there.
        wall: Axis (0 or 1) and coordinate of the wall it bounces off, or None.
        starts_s, rests_s: Seconds from the beginning of the throw.
        spin_rad: Total roll; `twist_rad` is the turn about the other axis.
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
    roll_axis: Vector
    twist_axis: Vector
    bounces_mm: tuple[float, ...]

    def die_at(self, time_s: float) -> Die | None:
        """The die at a moment of the throw; None before it enters."""
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
        """Seconds until the last die has come to rest."""
        return max((way.rests_s for way in self.ways), default=0.0)

    @property
    def at_rest(self) -> tuple[Die, ...]:
        """The dice at rest."""
        return tuple(way.rest for way in self.ways)

    def dice_at(self, time_s: float) -> tuple[Die | None, ...]:
        """Each die at a moment, None before it enters; rolling dice are pushed off others."""
        dice = [way.die_at(time_s) for way in self.ways]
        return _kept_apart(dice, [time_s >= way.rests_s for way in self.ways])


def draw_throw(
    rng: np.random.Generator,
    dice: Sequence[Die],
    tray: Tray,
    *,
    mishap: str | None = None,
) -> Throw:
    """Draw a throw of dice; arguments as for `draw_landing`."""
    rest = draw_landing(rng, dice, tray, mishap=mishap)
    side = int(rng.integers(4))
    return Throw(tuple(_way(rng, die, tray, side) for die in rest))


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
    # A die that rests near its entry must have bounced off the far wall: it could not have fallen
    # so steeply behind the rim.
    is_near = abs(goal[axis] - start[axis]) < 0.7 * (high - low)[axis] + _ENTRY_MM
    if is_inside and (rng.random() < 0.45 or is_near):
        wall = (axis, float(opposite))
        goal[axis] = 2.0 * opposite - goal[axis]
    way = goal - start
    length = float(np.linalg.norm(way))
    forward = np.array([-way[1], way[0], 0.0]) / max(length, 1.0)
    if wall is not None:
        # After the wall it rolls the other way along that axis.
        forward[1 - axis] *= -1.0
    roll_axis = _nearest_edge(rest, forward)
    starts_s = float(rng.uniform(0.0, 0.1))
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
        twist_axis=vector(twist),
        bounces_mm=(first, first * 0.35, first * 0.1),
    )


def _nearest_edge(
    die: Die, forward: np.ndarray[tuple[int, ...], np.dtype[np.float64]]
) -> tuple[float, float, float]:
    """The level edge direction of a resting die that is closest to a wanted axis."""
    best = max(level_sides(die), key=lambda side: side[0] * forward[0] + side[1] * forward[1])
    return best[0], best[1], 0.0


_BOUNCE_AT = (0.28, 0.54, 0.75, 0.88)
"""Shares of the way at which a die touches the floor."""


def _height_mm(share: float, bounces_mm: Sequence[float]) -> float:
    """Height of the lowest point above the floor: a fall, then ever lower bounces."""
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
