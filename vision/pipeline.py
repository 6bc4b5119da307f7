"""The detector: reads a frame and returns a reading."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache, partial
from statistics import median
from typing import TYPE_CHECKING

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.engine.dice import ALL_DICE, DieColour
from companion.tray import Problem, ProblemCode, TrayStatus
from vision.calibration.calibration import is_same_shape
from vision.calibration.light import white_balanced
from vision.detector.candidates import (
    CLOSER,
    GLANCE,
    SMEARED,
    FeatureMaps,
    Look,
    propose_candidates,
)
from vision.detector.classifier import SURELY, Detection, aim, classify
from vision.detector.colours import tint_of
from vision.detector.known_dice import recognise
from vision.detector.mirror import mirrored_calibration, mirrored_scene
from vision.detector.models import CROP, FINDER_WH, UPRIGHT, shared_net, softmax
from vision.detector.pooling import grouped, pooled
from vision.detector.status import PALETTE, reading_of
from vision.evidence import Clutter, DieEvidence, SceneEvidence
from vision.images import as_pixels
from vision.reading import Frame, Pixels, Point, Reading

if TYPE_CHECKING:
    from vision.calibration.calibration import Calibration

_LEANS = 0.0
"""Threshold in log odds of tilt above which a die is cocked."""
_MAY_LEAN = -2.0
"""Threshold in log odds of tilt above which a die is not announced (docs/evaluation.md,
thresholds)."""
_AT_RIM = (0.1, 0.4)
"""Depths inside the measured floor (edges, at the die's middle) at which the probability of lying
in the tray is 0 and 1; a die that touches a wall is half an edge deep."""
_TRAY_BELOW, _IN_TRAY = (0.0, 0.45, 0.65, 0.8, 1.0), (0.0, 0.3, 0.5, 0.7, 1.0)
"""Values of the finder's tray map at a die's foot, and the probability of lying in the tray at each
(docs/evaluation.md, thresholds)."""
_DISAGREE = 0.9
"""Confidence multiplier when the classifiers disagree; by itself it prevents an announcement."""
_WHITE = PALETTE.index(DieColour.WHITE)
_HARDLY_WHITE = 0.001
"""Least probability of white for a die whose tint is measured."""
_COVERED, _WHOLE = 0.02, 0.997
"""Share of a top face under a thing above which it is partly hidden, unless its visible share is
at least the second number (docs/evaluation.md, thresholds)."""
_GUESS = 0.4
"""Least probability of a value to report it."""
_SMALLEST_PX = 48
"""Least side of a picture that can show a readable die in a tray (chosen, not measured)."""
STILL = 0.4
"""Probability of motion above which a die counts as moving."""
_BLURRED = 0.9
"""Probability of motion above which a candidate counts as a moving die (docs/evaluation.md,
thresholds)."""
_OUTSIDE = 0.1
"""Probability of lying in the tray up to which a candidate gets no upright view
(docs/evaluation.md, thresholds)."""
_OVERLAP = 0.8
"""Top faces nearer to each other than this share of an edge are the same die. Faces of dice side by
side are one edge apart, a little less if one is tilted."""


_UNCLEAR = (TrayStatus.MISSING, TrayStatus.EXTRA, TrayStatus.UNCERTAIN)
"""Statuses that another look may clear up (docs/evaluation.md, a second look). A second look hardly
ever finds a cocked die flat; dice in motion and under a hand are seen again in the next frame."""


class DiceReader:
    """Reads dice in single pictures; one instance may serve several threads."""

    @staticmethod
    def get_ready() -> None:
        """Load the networks and run each once, so that the first picture is read at full speed."""
        sizes = {
            "finder": FINDER_WH,
            "reader": (CROP, CROP),
            "upright": (UPRIGHT, UPRIGHT),
        }
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
            return reading_of(nothing, in_play, frame.captured_at_s)
        if calibration is not None and calibration.white_balance_bgr is not None:
            pixels = white_balanced(pixels, calibration.white_balance_bgr)
        reading = _looked_at(pixels, in_play, calibration, frame.captured_at_s)
        if frame.is_damaged and reading.status is TrayStatus.OK:
            doubt = Problem(ProblemCode.UNCERTAIN)
            problems = (doubt, *reading.problems)
            reading = replace(
                reading, status=TrayStatus.UNCERTAIN, problems=problems, roll=None, evidence=None
            )
        return reading


def _looked_at(
    pixels: Pixels, in_play: Sequence[DieColour], calibration: Calibration | None, at_s: float
) -> Reading:
    """Read the picture as it is; if it is unclear, pool that with a mirrored and closer look.

    The networks err on other dice then; a person tilts the head and bends down.
    """
    first = _evidence(pixels, calibration, GLANCE)
    reading = reading_of(first, in_play, at_s)
    if reading.status not in _UNCLEAR:
        return reading
    mirror = np.asarray(cv2.flip(pixels, 1), np.uint8)
    second = mirrored_scene(_evidence(mirror, mirrored_calibration(calibration), CLOSER))
    groups = grouped([[(die, 1.0) for die in look.dice] for look in (first, second)])
    dice = tuple(pooled(group) for group in groups)
    return reading_of(replace(first, dice=dice), in_play, at_s)


def detect_dice(
    pixels: Pixels,
    inside: Callable[[FeatureMaps, Point, float], float],
    look: Look = GLANCE,
) -> tuple[FeatureMaps, list[Detection]]:
    """Find and classify the dice of a picture.

    Args:
        pixels: (H, W, 3) uint8, BGR.
        inside: Returns the probability that a die at a point of the picture, with an edge in px,
            lies in the tray.
        look: How to search for them.
    """
    overview = propose_candidates(pixels, look)
    aligned = aim(pixels, overview.candidates)
    places = zip(aligned.feet.tolist(), aligned.edges.tolist(), strict=True)
    depths = [inside(overview, (x, y), edge) for (x, y), edge in places]
    worth = [n for n, depth in enumerate(depths) if depth > _OUTSIDE]
    detections = classify(pixels, aligned, worth)
    hot = GLANCE.least_heat  # fainter peaks are no dice at rest
    dice = [k for k in detections if k.moving > _BLURRED or (k.die > SURELY and k.heat > hot)]
    dice.sort(key=lambda die: -die.die * die.heat)
    return overview, _each_once(dice)


def _each_once(dice: Sequence[Detection]) -> list[Detection]:
    """Keep the first of all detections of the same die."""
    kept: list[Detection] = []
    for die in dice:
        if all(
            math.dist(die.centre_xy, other.centre_xy) > _OVERLAP * min(die.edge_px, other.edge_px)
            for other in kept
        ):
            kept.append(die)
    return kept


def _evidence(pixels: Pixels, calibration: Calibration | None, look: Look) -> SceneEvidence:
    """Everything that one look at a picture shows."""
    size_wh = (pixels.shape[1], pixels.shape[0])
    floor = _floor(size_wh, calibration)
    inside = cache(partial(_inside, floor))
    overview, detections = detect_dice(pixels, inside, look)
    things = bool((overview.thing > 0.5).any())
    seen = [
        _evidence_of(
            detection,
            inside(overview, detection.foot_xy, detection.edge_px),
            _covered(overview, detection) if things else 0.0,
            size_wh,
        )
        for detection in detections
    ]
    if calibration is not None and calibration.dice:
        seen = recognise(
            pixels, [detection.corners for detection in detections], seen, calibration.dice
        )
    else:
        seen = [
            _with_tint(pixels, die, detection)
            for die, detection in zip(seen, detections, strict=True)
        ]
    clutter = _clutter(overview, floor, seen, detections)
    return SceneEvidence(tuple(seen), clutter, size_wh)


def _floor(size_wh: tuple[int, int], calibration: Calibration | None) -> NDArray[np.float32] | None:
    """Outline (N, 2) in px of the calibrated floor, convex; without one the feature maps alone give
    the tray."""
    if calibration is None or calibration.tray_px is None:
        return None
    if not is_same_shape(size_wh, calibration.size_wh):
        return None
    scale = np.array(size_wh) / np.array(calibration.size_wh)
    corners = np.asarray(np.array(calibration.tray_px) * scale, np.float32)
    return np.asarray(cv2.convexHull(corners), np.float32).reshape(-1, 2)


def _inside(
    floor: NDArray[np.float32] | None, overview: FeatureMaps, foot_xy: Point, edge_px: float
) -> float:
    """Probability that a die at a point lies in the tray."""
    if floor is None:
        seen = overview.around(overview.tray, foot_xy, 0.5 * edge_px)
        return float(np.interp(seen, _TRAY_BELOW, _IN_TRAY))
    depth = cv2.pointPolygonTest(floor, foot_xy, True) / edge_px
    return float(np.interp(depth, _AT_RIM, (0.0, 1.0)))


def _evidence_of(
    detection: Detection, inside: float, covered: float, size_wh: tuple[int, int]
) -> DieEvidence:
    values = detection.values
    best = int(np.argmax(values)) + 1
    sure = float(values[best - 1]) * detection.die
    if not detection.agree:
        sure *= _DISAGREE
    if detection.leaning > _MAY_LEAN:
        sure *= _DISAGREE
    moving = detection.moving > STILL
    hidden = covered > _COVERED and detection.visible < _WHOLE
    return DieEvidence(
        colours=softmax(detection.colours),
        value=best if detection.visible > 0.5 and values[best - 1] > _GUESS else None,
        sure=sure,
        centre_xy=detection.centre_xy,
        edge_px=detection.edge_px,
        cocked=not moving and detection.leaning > _LEANS,
        moving=moving,
        visible=0.0 if hidden else min(detection.visible, _inside_share(detection, size_wh)),
        in_tray=inside > 0.5,
        values=np.asarray(values * (sure / max(float(values[best - 1]), 1e-6)), np.float32),
        leaning=detection.leaning,
        corners=detection.corners,
        die=detection.die,
    )


def _with_tint(pixels: Pixels, die: DieEvidence, detection: Detection) -> DieEvidence:
    """Return the die with the tint of its top face, if it may be white."""
    if die.colours[_WHITE] < _HARDLY_WHITE or die.value is None:
        return die
    return replace(die, tint=tint_of(pixels, detection.corners))


def _on_face(detection: Detection, steps: int) -> NDArray[np.float32]:
    """Points (steps, steps, 2) in px spread over a top face."""
    a, b = _spread(steps)
    p, q, _, r = detection.corners
    return np.asarray(p + a * (q - p) + b * (r - p), np.float32)


@cache
def _spread(steps: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    along = np.linspace(0.05, 0.95, steps, dtype=np.float32)
    a, b = np.meshgrid(along, along)
    return a[..., None], b[..., None]


def _inside_share(detection: Detection, size_wh: tuple[int, int]) -> float:
    """Share of a top face within the picture's edges."""
    last = np.array(size_wh) - 1
    if (detection.corners >= 0).all() and (detection.corners <= last).all():
        return 1.0
    points = _on_face(detection, 7)
    return float(((points >= 0) & (points <= last)).all(axis=2).mean())


def _covered(overview: FeatureMaps, detection: Detection) -> float:
    """Share of a top face that a thing covers."""
    x, y = np.moveaxis(overview.cells(_on_face(detection, 9)), 2, 0).astype(np.float32)
    thing = cv2.remap(overview.thing, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return float((thing > 0.5).mean())


def _clutter(
    overview: FeatureMaps,
    floor: NDArray[np.float32] | None,
    seen: Sequence[DieEvidence],
    detections: Sequence[Detection],
) -> Clutter:
    """Things and smears in the tray, in areas of a die's face."""
    inside = _on_grid(overview, floor)
    scale = overview.cells_per_px
    edges = [die.edge_px for die in seen] or [0.05 * max(overview.tray.shape) / scale]
    area = (median(edges) * scale) ** 2 + 1e-6
    free = inside.astype(np.uint8)
    for detection in detections:
        face = np.round(overview.cells(detection.corners)).astype(np.int32)
        cv2.fillConvexPoly(free, face, 0)
    areas = ((overview.thing > 0.5) & (free > 0), (overview.smear > SMEARED) & inside)
    return Clutter(*(float(where.sum()) / area for where in areas))


def _on_grid(overview: FeatureMaps, floor: NDArray[np.float32] | None) -> NDArray[np.bool_]:
    """The cells of the finder's grid that lie on the floor."""
    if floor is None:
        return overview.tray > 0.5
    mask = np.zeros(overview.tray.shape, np.uint8)
    cv2.fillConvexPoly(mask, np.round(overview.cells(floor)).astype(np.int32), 1)
    return mask > 0
