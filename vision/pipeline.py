"""The eye: a frame in, a reading out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.engine.dice import ALL_DICE, DieColour
from vision.finder import Overview, Spot, look_over
from vision.floor import Floor
from vision.known_dice import recognise
from vision.light import white_balanced
from vision.nets import Scores, softmax
from vision.picture import as_pixels
from vision.reader import Look, look_closely
from vision.reading import DieReading, Frame, Pixels, Point, Reading, Status
from vision.verdict import Clutter, Seen, judge, likeliest

if TYPE_CHECKING:
    from vision.calibration import Calibration

SMALLEST_PX = 48
"""A picture with a shorter side than this cannot show a readable die in a tray (own choice)."""
_DIE = 0.5
_SURELY = 0.97
_BLURRED = 0.95
_LEANS = 0.0
_MAY_LEAN = -1.6
_SURELY_LEANS = 3.0
"""Log odds of leaning from which a die is called cocked, is not announced, and has no value. The
second is a trade: on 5,700 own dice -1.5 doubts 2.8 % of flat ones and finds 82 % of leaning ones,
-1.0 doubts 2.0 % and finds 79 %."""
_NEAR_ZOOM = 0.4
_NEAR_EDGE = 0.14
"""A second look for dice wider than this share of the picture; the finder was trained up to 0.2."""
_STILL = 0.4
_AT_RIM = (0.1, 0.4)
"""How deep inside a measured outline of the floor (in edges) the middle of a die lies that may be
outside, and of one that must be inside."""
_AT_THE_RIM = (0.3, 0.7)
"""Where it is not clear on which side of the rim a die is, it is never announced unasked."""
_SMALL_EDGE = 0.05
_GAIN = 1.25
_AROUND = 3.0
"""Where dice are missed and those found are smaller than this share of the picture, the part of it
round them (in edges) is looked at once more, if that makes it so many times as large."""
_OVERLAP = 0.8
"""Two top faces nearer than this share of an edge are one die, or one and something between two:
the faces of dice side by side are a whole edge apart, a little less where one leans."""
_SMALL = 0.62
"""Least share of the usual edge that a die can have (25 degrees of tilt, the widest lens: 0.7)."""
_DISAGREE = 0.7
"""What two witnesses that disagree leave of a die's confidence: too little to announce it."""
_GUESS = 0.4
"""Least confidence to name a value at all."""
_PIPS_AGREE = 0.45
"""How far the pips counted (mean of the looks) may be from the value; 0.06 more per pip."""
_PIPS_SPREAD = 0.3
"""Spread of the pips counted on a one; it grows as the root of the value. Wider than the deviation
of 5,284 own dice (0.16 for ones, 0.29 for sixes): their tails are long, 1 % are off by 0.8 to 1.3.
"""


class Eye:
    """Reads dice in single pictures; one instance may serve several threads."""

    def read(
        self,
        frame: Frame,
        in_play: Sequence[DieColour] = ALL_DICE,
        *,
        calibration: Calibration | None = None,
    ) -> Reading:
        """Read a frame.

        Args:
            frame: Any picture; odd shapes and depths are taken as well.
            in_play: The dice the game expects, in any order.
            calibration: What was measured of this tray, where it was.
        Raises:
            PictureError: The frame holds no pixels.
        """
        pixels = as_pixels(frame.pixels)
        height, width = pixels.shape[:2]
        if min(height, width) < SMALLEST_PX or max(height, width) > 20 * min(height, width):
            verdict = judge([], in_play, Clutter())
            return Reading(Status.EMPTY, (), verdict.problems, (width, height), frame.captured_at_s)
        if calibration is not None and calibration.white_balance_bgr is not None:
            pixels = white_balanced(pixels, calibration.white_balance_bgr)
        overview, dice = _dice(pixels, 1.0)
        if not dice:
            overview, dice = _nearby(pixels, overview)
        floor = _floor(overview, calibration)
        depths = [_inside(overview, floor, look) for look, _ in dice]
        if dice and sum(depth > 0.5 for depth in depths) < len(in_play):
            dice = _searched(pixels, overview, dice)
            depths = [_inside(overview, floor, look) for look, _ in dice]
        dice, depths = _without_ghosts(dice, depths, len(in_play))
        seen = [
            _seen(look, depth, (width, height))
            for (look, _), depth in zip(dice, depths, strict=True)
        ]
        if calibration is not None and calibration.dice:
            seen = recognise(pixels, [look.corners for look, _ in dice], seen, calibration.dice)
        clutter = _clutter(overview, floor, seen, [look for look, _ in dice])
        verdict = judge(seen, in_play, clutter)
        readings = []
        for (look, _), die, given, joint in zip(
            dice, seen, verdict.colours, verdict.confidences, strict=True
        ):
            single = likeliest(die.colours)
            colour = given if verdict.status is Status.OK and given is not None else single
            confidence = joint if colour is not None and colour is given else _alone(die)
            readings.append(
                DieReading(
                    colour=colour,
                    value=None if die.moving or look.leaning > _SURELY_LEANS else die.value,
                    confidence=float(np.clip(confidence, 0.0, 0.9999)),
                    centre_xy=die.centre_xy,
                    corners_xy=_points(look),
                    cocked=die.cocked,
                    in_tray=die.in_tray,
                )
            )
        return Reading(
            verdict.status,
            tuple(readings),
            verdict.problems,
            (width, height),
            frame.captured_at_s,
            verdict.roll,
        )


def _dice(pixels: Pixels, zoom: float) -> tuple[Overview, list[tuple[Look, Spot]]]:
    overview = look_over(pixels, zoom)
    pairs = look_closely(pixels, overview.spots)
    return overview, _of_one_size(_distinct(pairs), overview)


def _nearby(pixels: Pixels, overview: Overview) -> tuple[Overview, list[tuple[Look, Spot]]]:
    """Dice so near that the finder took them for something else; the first overview where none.

    A tray is square and may have specks: only what both witnesses read alike is a die.
    """
    closer, dice = _dice(pixels, _NEAR_ZOOM)
    large = _NEAR_EDGE * max(overview.size_wh)
    dice = [(look, spot) for look, spot in dice if look.edge_px > large and _weighed(look)[1]]
    return (closer, dice) if dice else (overview, [])


def _searched(
    pixels: Pixels, overview: Overview, dice: list[tuple[Look, Spot]]
) -> list[tuple[Look, Spot]]:
    """The dice, after nearer looks at the parts of the picture where small ones may lie."""
    edge = float(np.median([look.edge_px for look, _ in dice]))
    found = list(overview.spots)
    for left, top, right, bottom in _nearer_parts(overview, dice, edge):
        for spot in look_over(np.ascontiguousarray(pixels[top:bottom, left:right])).spots:
            x, y = spot.centre_xy[0] + left, spot.centre_xy[1] + top
            gaps = [np.hypot(x - s.centre_xy[0], y - s.centre_xy[1]) for s in found]
            if min(gaps) > 0.6 * edge and _SMALL < spot.edge_px / edge < 1.0 / _SMALL:
                found.append(replace(spot, centre_xy=(x, y), up=found[int(np.argmin(gaps))].up))
    if len(found) == len(overview.spots):
        return dice
    return _of_one_size(_distinct(look_closely(pixels, found)), overview)


def _nearer_parts(
    overview: Overview, dice: list[tuple[Look, Spot]], edge: float
) -> list[tuple[int, int, int, int]]:
    """Where to look nearer for small dice: round those found.

    Returns:
        Left, top, right, bottom in px; none where the dice are large enough as it is.
    """
    size = np.array(overview.size_wh)
    if edge > _SMALL_EDGE * size.max():
        return []
    parts = []
    centres = np.array([look.centre_xy for look, _ in dice])
    low = np.clip(centres.min(axis=0) - _AROUND * edge, 0, None).astype(int)
    high = np.minimum(centres.max(axis=0) + _AROUND * edge, size).astype(int)
    if max(high - low) * _GAIN <= size.max():
        parts.append((low[0], low[1], high[0], high[1]))
    return [p for p in parts if min(p[2] - p[0], p[3] - p[1]) >= SMALLEST_PX]


def _floor(overview: Overview, calibration: Calibration | None) -> Floor:
    """The tray's floor as it was measured; without that the overview alone tells."""
    if calibration is None or calibration.tray_px is None:
        return Floor(None)
    scale = np.array(overview.size_wh) / np.array(calibration.size_wh)
    return Floor(np.asarray(np.array(calibration.tray_px) * scale, np.float32))


def _inside(overview: Overview, floor: Floor, look: Look) -> float:
    """How likely a die lies in the tray."""
    if floor.outline_px is None:
        return overview.around(overview.tray, look.centre_xy, 0.5 * look.edge_px)
    depth = floor.depth(look.centre_xy) / look.edge_px
    return float(np.interp(depth, (_AT_RIM[0], _AT_RIM[1]), (0.0, 1.0)))


def _alone(die: Seen) -> float:
    """Confidence of a die judged singly."""
    return float(die.colours.max()) * die.sure


def _distinct(pairs: list[tuple[Look, Spot]]) -> list[tuple[Look, Spot]]:
    """The candidates that are dice, each once, the likeliest first."""
    pairs = [(k, s) for k, s in pairs if _is_die(k) or (k.moving > _BLURRED and s.heat > 0.25)]
    pairs.sort(key=lambda pair: -pair[0].die * pair[1].heat)
    kept: list[tuple[Look, Spot]] = []
    for look, spot in pairs:
        x, y = look.centre_xy
        if all(
            np.hypot(x - other.centre_xy[0], y - other.centre_xy[1])
            > _OVERLAP * min(look.edge_px, other.edge_px)
            for other, _ in kept
        ):
            kept.append((look, spot))
    return kept


def _is_die(look: Look) -> bool:
    """Surely a die, or likely one whose top shows a value: pads, coins and knots show none."""
    return look.die > _SURELY or (look.die > _DIE and float(look.values.mean(axis=0).max()) > 0.6)


def _of_one_size(dice: list[tuple[Look, Spot]], overview: Overview) -> list[tuple[Look, Spot]]:
    """Without what is far smaller or larger than the surest dice: lint, pips, boxes of a sheet.

    A game's dice are of one size, and no camera above a tray sees one twice as large as another.
    """
    sure = [
        look.edge_px
        for look, _ in dice
        if look.die > 0.9 and overview.at(overview.tray, look.centre_xy) > 0.5
    ]
    if len(sure) < 2:
        return dice
    usual = float(np.median(sure))
    return [(k, s) for k, s in dice if _SMALL < k.edge_px / usual < 1.0 / _SMALL]


def _without_ghosts(
    dice: list[tuple[Look, Spot]], depths: list[float], expected: int
) -> tuple[list[tuple[Look, Spot]], list[float]]:
    """Without what only looked like a blur, where as many dice as expected lie still.

    Returns:
        The dice, and how likely each lies in the tray.
    """
    still = sum(
        look.die > _DIE and look.moving < _STILL and depth > 0.5
        for (look, _), depth in zip(dice, depths, strict=True)
    )
    kept = [n for n, (look, _) in enumerate(dice) if still < expected or look.die > _DIE]
    return [dice[n] for n in kept], [depths[n] for n in kept]


def _seen(look: Look, inside: float, size_wh: tuple[int, int]) -> Seen:
    values, agree = _weighed(look)
    best = int(np.argmax(values)) + 1
    sure = float(values[best - 1]) * look.die
    if not agree:
        sure *= _DISAGREE
    if _AT_THE_RIM[0] < inside < _AT_THE_RIM[1] or look.leaning > _MAY_LEAN:
        sure *= _DISAGREE
    moving = look.moving > _STILL
    return Seen(
        colours=softmax(look.colours),
        value=best if look.visible > 0.5 and values[best - 1] > _GUESS else None,
        sure=sure,
        centre_xy=look.centre_xy,
        edge_px=look.edge_px,
        cocked=not moving and look.leaning > _LEANS,
        moving=moving,
        visible=min(look.visible, _inside_share(look, size_wh)),
        in_tray=inside > 0.5,
    )


def _weighed(look: Look) -> tuple[Scores, bool]:
    """What both witnesses, the classifier and the pips counted, say of each value (6,).

    Returns:
        Probabilities, and whether every look and the count name the likeliest value alone.
    """
    pips = float(np.mean(look.pips))
    values = np.arange(1, 7)
    likely = look.values.mean(axis=0) * np.exp(
        -0.5 * ((pips - values) / (_PIPS_SPREAD * values**0.5)) ** 2
    )
    best = int(likely.argmax())
    agree = bool((look.values.argmax(axis=1) == best).all())
    agree = agree and abs(pips - best - 1) <= _PIPS_AGREE + 0.06 * (best + 1)
    return np.asarray(likely / (likely.sum() + 1e-12), np.float32), agree


def _inside_share(look: Look, size_wh: tuple[int, int]) -> float:
    """Share of a top face within the picture's edges."""
    if (look.corners >= 0).all() and (look.corners <= np.array(size_wh) - 1).all():
        return 1.0
    steps = np.linspace(0.05, 0.95, 7)
    a, b = np.meshgrid(steps, steps)
    p, q, _, r = (look.corners[n] for n in range(4))
    x = p[0] + a * (q[0] - p[0]) + b * (r[0] - p[0])
    y = p[1] + a * (q[1] - p[1]) + b * (r[1] - p[1])
    return float(((x >= 0) & (y >= 0) & (x <= size_wh[0] - 1) & (y <= size_wh[1] - 1)).mean())


def _clutter(
    overview: Overview, floor: Floor, seen: Sequence[Seen], looks: Sequence[Look]
) -> Clutter:
    """What is in the tray besides dice at rest, in areas of a die's face."""
    inside = _on_grid(overview, floor)
    scale = overview.cells_per_px
    edges = [die.edge_px for die in seen] or [0.05 * max(overview.tray.shape) / scale]
    area = (float(np.median(edges)) * scale) ** 2 + 1e-6
    free = inside.astype(np.uint8)
    for look in looks:
        corners = look.corners @ overview.to_grid[:, :2].T + overview.to_grid[:, 2]
        cv2.fillConvexPoly(free, np.round(corners).astype(np.int32), 0)
    thing = float(((overview.thing > 0.5) & (free > 0)).sum()) / area
    smear = float(((overview.smear > 0.5) & inside).sum()) / area
    return Clutter(thing, smear)


def _on_grid(overview: Overview, floor: Floor) -> NDArray[np.bool_]:
    """The cells of the finder's grid that lie on the floor."""
    if floor.outline_px is None:
        return overview.tray > 0.5
    cells = floor.outline_px @ overview.to_grid[:, :2].T + overview.to_grid[:, 2]
    mask = np.zeros(overview.tray.shape, np.uint8)
    cv2.fillConvexPoly(mask, np.round(cells).astype(np.int32), 1)
    return mask > 0


def _points(look: Look) -> tuple[Point, Point, Point, Point]:
    points = [(float(x), float(y)) for x, y in look.corners]
    return points[0], points[1], points[2], points[3]
