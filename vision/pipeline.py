"""The eye: a frame in, a reading out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.engine.dice import ALL_DICE, DieColour
from vision.finder import Overview, Spot, look_over
from vision.floor import Floor, floor_seen
from vision.known_dice import recognise
from vision.light import white_balanced
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
_LEANS = 1.9
_SURELY_LEANS = 3.0
_ODDNESS = 0.22
"""When a die is called cocked: the reader's score (log odds) and this much per deviation that its
outline is off the floor's view pass the limit (logistic fit on 160 own frames, 21.11.2026: 2.5 %
of flat dice are asked for, over half of the leaning ones found)."""
_NEAR_ZOOM = 0.4
_NEAR_EDGE = 0.14
"""A second look for dice wider than this share of the picture; the finder was trained up to 0.2."""
_STILL = 0.4
_INSIDE = 0.25
_AT_RIM = (0.1, 0.4)
"""How deep inside the floor's outline (in edges) the middle of a die in the tray lies, and where it
is not clear on which side of the rim it is: such a die is never announced unasked."""
_SMALL = 0.62
"""Least share of the usual edge that a die can have (25 degrees of tilt, the widest lens: 0.7)."""
_DISAGREE = 0.7
"""What two witnesses that disagree leave of a die's confidence: too little to announce it."""
_GUESS = 0.4
"""Least confidence to name a value at all."""
_PIPS_AGREE = 0.45
"""How far the pips counted (mean of both looks) may be from the value; 0.06 more per pip."""


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
        floor = _floor(overview, dice, calibration)
        dice = _without_ghosts(dice, floor, len(in_play))
        seen = [_seen(look, floor, (width, height)) for look, _ in dice]
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
                    value=None if die.moving or _lean_score(look) > _SURELY_LEANS else die.value,
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
    """Dice so near that the finder took them for something else; the first overview where none."""
    closer, dice = _dice(pixels, _NEAR_ZOOM)
    large = _NEAR_EDGE * max(overview.size_wh)
    dice = [(look, spot) for look, spot in dice if look.edge_px > large]
    return (closer, dice) if dice else (overview, [])


def _floor(
    overview: Overview, dice: Sequence[tuple[Look, Spot]], calibration: Calibration | None
) -> Floor:
    """The tray's floor: as measured where it was, else as seen."""
    width, height = overview.size_wh
    if calibration is not None and calibration.tray_px is not None:
        scale = np.array([width, height]) / np.array(calibration.size_wh)
        return Floor(np.asarray(np.array(calibration.tray_px) * scale, np.float32))
    edges = [look.edge_px for look, _ in dice] or [0.05 * max(width, height)]
    return floor_seen(overview, float(np.median(edges)))


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
            > 0.5 * min(look.edge_px, other.edge_px)
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
    dice: list[tuple[Look, Spot]], floor: Floor, expected: int
) -> list[tuple[Look, Spot]]:
    """Without what only looked like a blur, where as many dice as expected lie still."""
    still = [
        k for k, _ in dice if k.die > _DIE and k.moving < _STILL and floor.depth(k.centre_xy) > 0
    ]
    if len(still) < expected:
        return dice
    return [(k, s) for k, s in dice if k.die > _DIE]


def _seen(look: Look, floor: Floor, size_wh: tuple[int, int]) -> Seen:
    values = look.values.mean(axis=0)
    depth = floor.depth(look.centre_xy) / look.edge_px
    best = int(np.argmax(values)) + 1
    pips = sum(look.pips) / 2
    agree = int(look.values[0].argmax()) == int(look.values[1].argmax())
    sure = float(values[best - 1]) * look.die
    if abs(pips - best) > _PIPS_AGREE + 0.06 * best:
        sure *= _DISAGREE
    if _AT_RIM[0] < depth < _AT_RIM[1]:
        sure *= _DISAGREE
    moving = look.moving > _STILL
    return Seen(
        colours=look.colours.mean(axis=0),
        value=best if agree and look.visible > 0.5 and sure > _GUESS else None,
        sure=sure,
        centre_xy=look.centre_xy,
        edge_px=look.edge_px,
        cocked=not moving and _lean_score(look) > _LEANS,
        moving=moving,
        visible=min(look.visible, _inside_share(look, size_wh)),
        in_tray=depth > _INSIDE,
    )


def _lean_score(look: Look) -> float:
    chance = float(np.clip(look.cocked, 1e-4, 1.0 - 1e-4))
    return float(np.log(chance / (1.0 - chance))) + _ODDNESS * min(look.misfit, 6.0)


def _inside_share(look: Look, size_wh: tuple[int, int]) -> float:
    """Share of a top face within the picture's edges."""
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
    scale = float(np.hypot(*overview.to_grid[:, 0]))
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
