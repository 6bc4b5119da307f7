"""The detector: reads a frame and returns a reading."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from statistics import median

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.engine.dice import ALL_DICE, DieColour
from companion.tray import Problem, ProblemCode, TrayStatus
from vision.calibration.calibration import Calibration
from vision.calibration.light import white_balanced
from vision.detector.candidates import GLANCE, HOT, FeatureMaps, closer, propose_candidates
from vision.detector.classifier import SURELY, Detection, classify
from vision.detector.colours import tint_of
from vision.detector.known_dice import CustomDie, recognise
from vision.detector.mirror import mirrored, mirrored_die
from vision.detector.models import CROP, FINDER_WH, UPRIGHT, shared_net, softmax
from vision.detector.pooling import by_both_looks, each_once
from vision.detector.status import PALETTE, reading_of
from vision.evidence import Clutter, DieEvidence, SceneEvidence
from vision.images import as_pixels
from vision.reading import Frame, Pixels, Point, Reading

Outline = NDArray[np.float32]
"""Corners (N, 2) in px of the picture."""
Mask = NDArray[np.uint8]

_MAY_BE_TILTED = -2.0
"""Threshold in log odds of tilt above which one look alone does not announce a die
(docs/limits.md)."""
_AT_RIM = (0.1, 0.4)
"""Depths inside the measured floor (edges, at the die's middle) at which the probability of lying
in the tray is 0 and 1; a die that touches a wall is half an edge deep."""
_TRAY_BELOW, _IN_TRAY = (0.0, 0.45, 0.65, 0.8, 1.0), (0.0, 0.3, 0.5, 0.7, 1.0)
"""Values of the finder's tray map at a die's foot, and the probability of lying in the tray at each
(docs/limits.md)."""
_DISAGREE = 0.9
"""Confidence multiplier when the classifiers disagree; in one look it prevents an announcement by
itself."""
_WHITE = PALETTE.index(DieColour.WHITE)
_HARDLY_WHITE = 0.001
"""Least probability of white for a die whose tint is measured."""
_COVERED, _WHOLE = 0.02, 0.997
"""Share of a top face under a thing above which it is partly hidden, unless its visible share is
at least the second number (docs/limits.md)."""
_GUESS = 0.4
"""Least probability of a value to report it."""
_SMALLEST_PX = 48
"""Least side of a picture that can show a readable die in a tray (chosen, not measured)."""
MOVING = 0.4
"""Probability of motion above which a die counts as moving."""
_BLURRED = 0.9
"""Probability of motion above which a candidate counts as a moving die (docs/limits.md)."""

_DOWN, _ACROSS = np.mgrid[0.05:0.95:9j, 0.05:0.95:9j].astype(np.float32)[..., None]
"""How far 9 x 9 points spread over a top face lie from its first side, and along it."""

_UNCLEAR = (TrayStatus.MISSING, TrayStatus.EXTRA, TrayStatus.UNCERTAIN)
"""Statuses that another look may clear up (docs/limits.md). A second look hardly ever finds a
cocked die flat; dice in motion and under a hand are seen again in the next frame."""


class DiceReader:
    """Reads dice in single pictures; one instance may serve several threads."""

    @staticmethod
    def get_ready() -> None:
        """Load the networks and run each once, so that the first picture is read at full speed."""
        sizes = {"finder": FINDER_WH, "reader": (CROP, CROP), "upright": (UPRIGHT, UPRIGHT)}
        for name, (wide, tall) in sizes.items():
            shared_net(name)(np.zeros((1, 3, tall, wide), np.float32))

    def read(
        self,
        frame: Frame,
        in_play: Sequence[DieColour] = ALL_DICE,
        *,
        calibration: Calibration | None = None,
    ) -> Reading:
        """Read a frame.

        Args:
            frame: Any picture; unusual shapes and depths are accepted.
            in_play: The dice the game expects, in any order.
            calibration: Measurements of this tray, if any.
        Raises:
            PictureError: The frame holds no pixels.
        """
        pixels = as_pixels(frame.pixels)
        height, width = pixels.shape[:2]
        if min(height, width) < _SMALLEST_PX or max(height, width) > 20 * min(height, width):
            nothing = SceneEvidence((), Clutter(), (width, height))
            return reading_of(nothing, in_play)
        calibration = calibration or Calibration((width, height))
        if calibration.white_balance_bgr is not None:
            pixels = white_balanced(pixels, calibration.white_balance_bgr)
        reading = _looked_at(pixels, in_play, calibration)
        if not frame.is_damaged or reading.status is not TrayStatus.OK:
            return reading
        problems = (Problem(ProblemCode.UNCERTAIN), *reading.problems)
        unsure = replace(reading, status=TrayStatus.UNCERTAIN, problems=problems)
        return replace(unsure, roll=None, evidence=None)


def _looked_at(pixels: Pixels, in_play: Sequence[DieColour], calibration: Calibration) -> Reading:
    """Read a picture; if it is unclear, pool that with a look at it mirrored and enlarged.

    The networks make other errors in a mirrored picture.
    """
    height, width = pixels.shape[:2]
    floor, known = _floor((width, height), calibration), calibration.dice
    first = _evidence(pixels, floor, known, GLANCE)
    reading = reading_of(first, in_play)
    if reading.status not in _UNCLEAR:
        return reading
    back = None if floor is None else mirrored(floor, width)
    canvas_wh = closer(_usual_edge(first.dice, first.size_wh) / max(width, height))
    second = _evidence(np.asarray(cv2.flip(pixels, 1), np.uint8), back, known, canvas_wh)
    dice = by_both_looks(first.dice, [mirrored_die(die, width) for die in second.dice])
    smear = max(first.clutter.smear, second.clutter.smear)
    clutter = replace(first.clutter, smear=smear)
    return reading_of(replace(first, dice=dice, clutter=clutter), in_play)


def distinct_dice(found: Sequence[Detection]) -> list[Detection]:
    """Keep each die once, the most certain first; discard candidates found only by their blur."""
    dice = [die for die in found if die.heat > HOT and (die.die > SURELY or die.moving > _BLURRED)]
    return each_once(sorted(dice, key=lambda die: -die.die * die.heat))


def _evidence(
    pixels: Pixels, floor: Outline | None, known: Sequence[CustomDie], canvas_wh: tuple[int, int]
) -> SceneEvidence:
    """Everything that one look at a picture shows."""
    size_wh = (pixels.shape[1], pixels.shape[0])
    maps = propose_candidates(pixels, canvas_wh)
    places = classify(pixels, maps.candidates, partial(_inside, floor, maps))
    smear = max((place.moving for place in places if place.in_tray > 0.5), default=0.0)
    found = distinct_dice(places)
    things = bool((maps.thing > 0.5).any())
    seen = [_evidence_of(die, _covered(maps, die) if things else 0.0, size_wh) for die in found]
    if known:
        seen = recognise(pixels, [die.corners for die in found], seen, known)
    else:
        seen = [_with_tint(pixels, die) for die in seen]
    return SceneEvidence(tuple(seen), Clutter(_things(maps, floor, seen), smear), size_wh)


def _floor(size_wh: tuple[int, int], calibration: Calibration) -> Outline | None:
    """Outline of the calibrated floor, convex; without one the feature maps alone give the tray."""
    corners = calibration.resized(size_wh).tray_px
    if corners is None:
        return None
    return np.asarray(cv2.convexHull(np.array(corners, np.float32)), np.float32).reshape(-1, 2)


def _inside(floor: Outline | None, maps: FeatureMaps, foot_xy: Point, edge_px: float) -> float:
    """Probability that a die at a point lies in the tray."""
    if floor is None:
        seen = maps.around(maps.tray, foot_xy, 0.5 * edge_px)
        return float(np.interp(seen, _TRAY_BELOW, _IN_TRAY))
    depth = cv2.pointPolygonTest(floor, foot_xy, True) / edge_px
    return float(np.interp(depth, _AT_RIM, (0.0, 1.0)))


def _evidence_of(detection: Detection, covered: float, size_wh: tuple[int, int]) -> DieEvidence:
    values = detection.values
    best = int(np.argmax(values)) + 1
    sure = float(values[best - 1]) * detection.die
    if not detection.agree:
        sure *= _DISAGREE
    if detection.tilt > _MAY_BE_TILTED:
        sure *= _DISAGREE
    visible = min(detection.visible, _inside_share(detection.corners, size_wh))
    hidden = covered > _COVERED and detection.visible < _WHOLE
    return DieEvidence(
        colours=softmax(detection.colours),
        value=best if detection.visible > 0.5 and values[best - 1] > _GUESS else None,
        sure=sure,
        centre_xy=detection.centre_xy,
        edge_px=detection.edge_px,
        moving=detection.moving > MOVING,
        visible=0.0 if hidden else visible,
        in_tray=detection.in_tray > 0.5,
        values=np.asarray(values * (sure / max(float(values[best - 1]), 1e-6)), np.float32),
        tilt=detection.tilt,
        corners=detection.corners,
        die=detection.die,
    )


def _with_tint(pixels: Pixels, die: DieEvidence) -> DieEvidence:
    """Return the die with the tint of its top face, if it may be white."""
    if die.value is None or die.colours[_WHITE] < _HARDLY_WHITE:
        return die
    return replace(die, tint=tint_of(pixels, die.corners))


def _inside_share(corners: Outline, size_wh: tuple[int, int]) -> float:
    """Share of a top face within the picture's edges."""
    right, bottom = np.array(size_wh) - 0.5
    frame = [(-0.5, -0.5), (right, -0.5), (right, bottom), (-0.5, bottom)]
    area, _ = cv2.intersectConvexConvex(corners, np.array(frame, np.float32))
    return float(area) / max(cv2.contourArea(corners), 1e-6)


def _covered(maps: FeatureMaps, detection: Detection) -> float:
    """Share of a top face that a thing covers."""
    p, q, _, r = detection.corners
    points = maps.cells(p + _ACROSS * (q - p) + _DOWN * (r - p))
    x, y = np.moveaxis(points, 2, 0).astype(np.float32)
    thing = cv2.remap(maps.thing, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return float((thing > 0.5).mean())


def _things(maps: FeatureMaps, floor: Outline | None, seen: Sequence[DieEvidence]) -> float:
    """Area of things in the tray, in faces of a die."""
    inside = maps.tray > 0.5
    if floor is not None:
        inside = _filled(np.zeros(inside.shape, np.uint8), maps.cells(floor), 1) > 0
    area = (_usual_edge(seen, maps.size_wh) * maps.cells_per_px) ** 2 + 1e-6
    free = inside.astype(np.uint8)
    for die in seen:
        _filled(free, maps.cells(die.corners), 0)
    return float(((maps.thing > 0.5) & (free > 0)).sum()) / area


def _usual_edge(dice: Sequence[DieEvidence], size_wh: tuple[int, int]) -> float:
    """Edge of most dice in px, or a usual one."""
    return median([die.edge_px for die in dice] or [0.05 * max(size_wh)])


def _filled(mask: Mask, outline: NDArray[np.floating], value: int) -> Mask:
    """Fill an outline (N, 2) of a mask (h, w), in place."""
    cv2.fillConvexPoly(mask, np.round(outline).astype(np.int32), value)
    return mask
