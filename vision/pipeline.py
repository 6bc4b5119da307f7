"""The detector: reads a frame and returns a reading."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
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
from vision.detector.candidates import SMEARED, FeatureMaps
from vision.detector.classifier import Detection
from vision.detector.colours import tint_of
from vision.detector.flips import flip_calibration, flip_scene
from vision.detector.known_dice import recognise
from vision.detector.models import CROP, FACE, FINDER_WH, UPRIGHT, shared_net, softmax
from vision.detector.pooling import grouped, pooled
from vision.detector.search import SMALLEST_PX, STILL, detect_dice
from vision.detector.status import PALETTE, reading_of
from vision.detector.tray_area import Floor
from vision.detector.values import fuse_value_scores
from vision.evidence import Clutter, DieEvidence, SceneEvidence
from vision.images import as_pixels
from vision.reading import Frame, Pixels, Point, Reading

if TYPE_CHECKING:
    from vision.calibration.calibration import Calibration

_LEANS = 0.0
"""Threshold in log odds of tilt above which a die is cocked."""
_MAY_LEAN = -1.0
"""Threshold in log odds of tilt above which a die is not announced (docs/evaluation.md,
thresholds)."""
_AT_RIM = (0.1, 0.4)
"""Depths inside the measured floor (edges, at the die's middle) at which the probability of lying
in the tray is 0 and 1; a die that touches a wall is half an edge deep."""
_TRAY_BELOW, _IN_TRAY = (0.0, 0.45, 0.65, 0.8, 1.0), (0.0, 0.3, 0.5, 0.7, 1.0)
"""Values of the finder's tray map at a die's foot, and the probability of lying in the tray at each
(docs/evaluation.md, thresholds)."""
_DISAGREE = 0.7
"""Confidence multiplier when the classifiers disagree; it prevents an announcement."""
_WHITE = PALETTE.index(DieColour.WHITE)
_HARDLY_WHITE = 0.001
"""Least probability of white for a die whose tint is measured."""
_COVERED, _WHOLE = 0.02, 0.997
"""Share of a top face under a thing above which it is partly hidden, unless its visible share is
at least the second number (docs/evaluation.md, thresholds)."""
_SMEARED_BY_DICE = 0.6
"""Probability above which a cell counts as motion blur beside dice; in a tray without any,
`SMEARED` (docs/evaluation.md, thresholds)."""
_GUESS = 0.4
"""Least probability of a value to report it."""
_OTHER_LOOKS = (1, -1)
"""Further looks at an unclear picture, as `cv2.flip` numbers them: mirrored, and turned by half
(docs/evaluation.md, a second look)."""
_UNCLEAR = (TrayStatus.COCKED, TrayStatus.MISSING, TrayStatus.EXTRA, TrayStatus.UNCERTAIN)
"""Statuses that another look may clear up. Dice in motion and under a hand are seen again in the
next frame."""


class DiceReader:
    """Reads dice in single pictures; one instance may serve several threads."""

    @staticmethod
    def get_ready() -> None:
        """Load the networks and run each once, so that the first picture is read at full speed."""
        sizes = {
            "finder": FINDER_WH,
            "reader": (CROP, CROP),
            "face": (FACE, FACE),
            "tilt": (UPRIGHT, UPRIGHT),
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
        if min(height, width) < SMALLEST_PX or max(height, width) > 20 * min(height, width):
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
    """Read the picture as it is; if it is unclear, pool that with a mirrored and a turned look.

    The networks err on other dice then; a person tilts the head.
    """
    first = _evidence(pixels, in_play, calibration)
    reading, looks = reading_of(first, in_play, at_s), [first]
    for axis in _OTHER_LOOKS:
        if reading.status not in _UNCLEAR:
            break
        flipped = np.asarray(cv2.flip(pixels, axis), np.uint8)
        look = _evidence(flipped, in_play, flip_calibration(calibration, axis), is_first=False)
        looks.append(flip_scene(look, axis))
        groups = grouped([[(die, 1.0) for die in look.dice] for look in looks])
        often = [group for group in groups if 2 * len(group) >= len(looks)]
        for chosen in (often, groups):  # what one look alone saw may be false, or the missing die
            scene = replace(first, dice=tuple(pooled(group) for group in chosen))
            reading = reading_of(scene, in_play, at_s)
            if reading.status is TrayStatus.OK:
                break
    return reading


def _evidence(
    pixels: Pixels,
    in_play: Sequence[DieColour],
    calibration: Calibration | None,
    *,
    is_first: bool = True,
) -> SceneEvidence:
    """Evidence of one look at a picture."""
    floor = _floor((pixels.shape[1], pixels.shape[0]), calibration)
    inside = cache(partial(_inside, floor))
    overview, dice = detect_dice(pixels, in_play, inside, is_thorough=is_first)
    scene = _Scene(pixels, tuple(in_play), calibration, floor, overview, partial(inside, overview))
    return _evidence_of_scene(scene, dice)


@dataclass(frozen=True, slots=True, eq=False)
class _Scene:
    """One picture with its context: dice in play, calibration, floor and feature maps.

    Attributes:
        inside: Probability that a die at a point, with an edge in px, lies in the tray.
    """

    pixels: Pixels
    in_play: tuple[DieColour, ...]
    calibration: Calibration | None
    floor: Floor
    overview: FeatureMaps
    inside: Callable[[Point, float], float]


def _evidence_of_scene(scene: _Scene, detections: Sequence[Detection]) -> SceneEvidence:
    """Collect the outputs for each die, and the clutter around them."""
    pixels, calibration, overview = scene.pixels, scene.calibration, scene.overview
    size_wh = (pixels.shape[1], pixels.shape[0])
    depths = [scene.inside(detection.foot_xy, detection.edge_px) for detection in detections]
    things = bool((overview.thing > 0.5).any())
    seen = [
        _evidence_of(detection, depth, _covered(overview, detection) if things else 0.0, size_wh)
        for detection, depth in zip(detections, depths, strict=True)
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
    clutter = _clutter(overview, scene.floor, seen, detections)
    return SceneEvidence(tuple(seen), clutter, size_wh)


def _floor(size_wh: tuple[int, int], calibration: Calibration | None) -> Floor:
    """The calibrated floor; without one the feature maps alone give the tray."""
    if calibration is None or calibration.tray_px is None:
        return Floor(None)
    if not is_same_shape(size_wh, calibration.size_wh):
        return Floor(None)
    scale = np.array(size_wh) / np.array(calibration.size_wh)
    return Floor(np.asarray(np.array(calibration.tray_px) * scale, np.float32))


def _inside(floor: Floor, overview: FeatureMaps, foot_xy: Point, edge_px: float) -> float:
    """Probability that a die at a point lies in the tray."""
    if floor.outline_px is None:
        seen = overview.around(overview.tray, foot_xy, 0.5 * edge_px)
        return float(np.interp(seen, _TRAY_BELOW, _IN_TRAY))
    depth = floor.depth(foot_xy) / edge_px
    return float(np.interp(depth, (_AT_RIM[0], _AT_RIM[1]), (0.0, 1.0)))


def _evidence_of(
    detection: Detection, inside: float, covered: float, size_wh: tuple[int, int]
) -> DieEvidence:
    values, agree = fuse_value_scores(detection.values, detection.pips, detection.square_on)
    best = int(np.argmax(values)) + 1
    sure = float(values[best - 1]) * detection.die
    if not agree:
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
    cells = _on_face(detection, 9) @ overview.to_grid[:, :2].T + overview.to_grid[:, 2]
    x, y = np.moveaxis(cells, 2, 0).astype(np.float32)
    thing = cv2.remap(overview.thing, x, y, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return float((thing > 0.5).mean())


def _clutter(
    overview: FeatureMaps,
    floor: Floor,
    seen: Sequence[DieEvidence],
    detections: Sequence[Detection],
) -> Clutter:
    """Things and smears in the tray, in areas of a die's face."""
    inside = _on_grid(overview, floor)
    scale = overview.cells_per_px
    edges = [die.edge_px for die in seen] or [0.05 * max(overview.tray.shape) / scale]
    area = (median(edges) * scale) ** 2 + 1e-6
    free = inside.astype(np.uint8)
    corners = np.array([detection.corners for detection in detections], np.float32).reshape(
        -1, 4, 2
    )
    cells = corners @ overview.to_grid[:, :2].T + overview.to_grid[:, 2]
    for outline in np.round(cells).astype(np.int32):
        cv2.fillConvexPoly(free, outline, 0)
    smeared = _SMEARED_BY_DICE if any(die.in_tray for die in seen) else SMEARED
    areas = ((overview.thing > 0.5) & (free > 0), (overview.smear > smeared) & inside)
    return Clutter(*(float(where.sum()) / area for where in areas))


def _on_grid(overview: FeatureMaps, floor: Floor) -> NDArray[np.bool_]:
    """The cells of the finder's grid that lie on the floor."""
    if floor.outline_px is None:
        return overview.tray > 0.5
    cells = floor.outline_px @ overview.to_grid[:, :2].T + overview.to_grid[:, 2]
    mask = np.zeros(overview.tray.shape, np.uint8)
    cv2.fillConvexPoly(mask, np.round(cells).astype(np.int32), 1)
    return mask > 0
