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
from vision.detector.known_dice import recognise
from vision.detector.marbled import is_blue_beneath
from vision.detector.models import CROP, FACE, FINDER_WH, UPRIGHT, shared_net, softmax
from vision.detector.search import SMALLEST_PX, STILL, Found, detect_dice
from vision.detector.second_pass import read_again, search_again
from vision.detector.sizes import oddness
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
_AT_THE_RIM = (0.3, 0.7)
"""Probabilities of lying in the tray between which a die is not announced."""
_DISAGREE = 0.7
"""Confidence multiplier when the classifiers disagree; it prevents an announcement."""
_WHITE, _BLUE = PALETTE.index(DieColour.WHITE), PALETTE.index(DieColour.BLUE)
_HARDLY_WHITE = 0.001
"""Least probability of white for a die whose tint is measured."""
_COVERED, _WHOLE = 0.02, 0.997
"""Share of a top face under a thing above which it is partly hidden, unless its visible share is
at least the second number (docs/evaluation.md, thresholds)."""
_TELLS_SIZE = 0.9
"""Least probability of a die that takes part in the comparison of sizes."""
_ODD_SIZE = 4.2
"""Deviation from the size expected by the other dice (standard deviations) above which an outline
is not that of a whole top face (docs/evaluation.md, thresholds)."""
_MARBLED, _HARDLY_BLUE = 0.6, 0.25
"""Probability of blue for a die with a black top and a blue rim, and the probability of blue by the
top alone above which such a die may be announced."""
_HARDLY_WHOLE, _HARDLY_ODD = 0.95, 2.5
"""Visible share below which a face may be partly hidden, and the deviation of its size (standard
deviations) above which it is not announced then (docs/evaluation.md, thresholds)."""
_LARGE_PX = 800
"""Least long side (px) for a second pass if a die is cocked or missing; an uncertain picture of any
size gets one (docs/evaluation.md, thresholds)."""
_LEANS_MUCH = 1.5
"""Threshold in log odds of tilt above which no second pass runs (docs/evaluation.md,
thresholds)."""
_GUESS = 0.4
"""Least probability of a value to report it."""


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
        floor = _floor((width, height), calibration)
        inside = cache(partial(_inside, floor))
        known = calibration is not None and bool(calibration.dice)
        overview, dice = detect_dice(pixels, in_play, inside, any_colour=known)
        around = partial(inside, overview)
        scene = _Scene(pixels, tuple(in_play), calibration, floor, overview, around)
        evidence = _evidence(scene, dice)
        reading = reading_of(evidence, in_play, frame.captured_at_s)
        if _may_be_settled(reading.status, dice, max(width, height)):
            if reading.status is TrayStatus.MISSING:
                dice = search_again(pixels, in_play, around, dice, any_colour=known)
            else:
                dice = read_again(pixels, dice)
            evidence = _evidence(scene, dice)
            reading = reading_of(evidence, in_play, frame.captured_at_s)
        if frame.is_damaged and reading.status is TrayStatus.OK:
            doubt = Problem(ProblemCode.UNCERTAIN)
            problems = (doubt, *reading.problems)
            reading = replace(
                reading, status=TrayStatus.UNCERTAIN, problems=problems, roll=None, evidence=None
            )
        return reading


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


def _evidence(scene: _Scene, dice: Sequence[Found]) -> SceneEvidence:
    """Collect the outputs for each die, and the clutter around them."""
    pixels, calibration, overview = scene.pixels, scene.calibration, scene.overview
    size_wh = (pixels.shape[1], pixels.shape[0])
    detections = [detection for detection, _ in dice]
    depths = [scene.inside(detection.foot_xy, detection.edge_px) for detection in detections]
    things = bool((overview.thing > 0.5).any())
    seen = [
        _evidence_of(
            detection, depth, _covered(overview, detection) if things else 0.0, size, size_wh
        )
        for detection, depth, size in zip(
            detections, depths, _odd_sizes(detections, depths, size_wh), strict=True
        )
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
        if DieColour.BLUE in scene.in_play:
            seen = [
                _with_blue_rim(pixels, die, detection)
                for die, detection in zip(seen, detections, strict=True)
            ]
    clutter = _clutter(overview, scene.floor, seen, detections)
    return SceneEvidence(tuple(seen), clutter, size_wh)


def _may_be_settled(status: TrayStatus, dice: Sequence[Found], long_side: int) -> bool:
    """Whether a second pass may settle the status.

    It may settle an uncertain value or colour, and in a large picture a cocked or missing die.
    """
    if status is TrayStatus.UNCERTAIN:
        return True
    if status not in (TrayStatus.COCKED, TrayStatus.MISSING) or long_side < _LARGE_PX:
        return False
    return not any(
        detection.leaning > _LEANS_MUCH and detection.moving < STILL for detection, _ in dice
    )


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


def _odd_sizes(
    detections: Sequence[Detection], depths: Sequence[float], size_wh: tuple[int, int]
) -> list[float]:
    """Deviation of the size of each top face from that of the other dice at rest in the tray.

    It is 0 for detections that are not dice at rest in the tray.
    """
    outputs = [
        n for n, (detection, inside) in enumerate(zip(detections, depths, strict=True))
        if detection.die > _TELLS_SIZE and detection.moving < STILL and inside > 0.5
    ]  # fmt: skip
    width, height = size_wh
    long_side = max(size_wh)
    places = [
        ((x - (width - 1) / 2) / long_side, (y - (height - 1) / 2) / long_side)
        for x, y in (detections[n].centre_xy for n in outputs)
    ]
    grows = detections[outputs[0]].grows if outputs else (0.0, 0.0)
    odd = [0.0] * len(detections)
    for n, far in zip(
        outputs, oddness([detections[n].edge_px for n in outputs], places, grows), strict=True
    ):
        odd[n] = float(far)
    return odd


def _evidence_of(
    detection: Detection, inside: float, covered: float, odd_size: float, size_wh: tuple[int, int]
) -> DieEvidence:
    values, agree = fuse_value_scores(detection.values, detection.pips, detection.square_on)
    best = int(np.argmax(values)) + 1
    sure = float(values[best - 1]) * detection.die
    if not agree:
        sure *= _DISAGREE
    if _AT_THE_RIM[0] < inside < _AT_THE_RIM[1] or detection.leaning > _MAY_LEAN:
        sure *= _DISAGREE
    if abs(odd_size) > (_HARDLY_ODD if detection.visible < _HARDLY_WHOLE else _ODD_SIZE):
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
        is_odd_size=abs(odd_size) > _ODD_SIZE,
    )


def _with_tint(pixels: Pixels, die: DieEvidence, detection: Detection) -> DieEvidence:
    """Return the die with the tint of its top face, if it may be white."""
    if die.colours[_WHITE] < _HARDLY_WHITE or die.value is None:
        return die
    return replace(die, tint=tint_of(pixels, detection.corners))


def _with_blue_rim(pixels: Pixels, die: DieEvidence, detection: Detection) -> DieEvidence:
    """Return the die with a higher probability of blue, if its top is black and its rim blue."""
    none = float(die.colours[-1])
    if (
        none <= _MARBLED
        or die.moving
        or not is_blue_beneath(pixels, detection.corners, detection.foot_xy)
    ):
        return die
    colours = die.colours.copy()
    colours[-1] = none * (1.0 - _MARBLED)
    colours[_BLUE] += none * _MARBLED
    sure = die.sure if die.colours[_BLUE] > _HARDLY_BLUE else die.sure * _DISAGREE
    return replace(die, colours=colours, sure=sure)


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
    areas = ((overview.thing > 0.5) & (free > 0), (overview.smear > SMEARED) & inside)
    return Clutter(*(float(where.sum()) / area for where in areas))


def _on_grid(overview: FeatureMaps, floor: Floor) -> NDArray[np.bool_]:
    """The cells of the finder's grid that lie on the floor."""
    if floor.outline_px is None:
        return overview.tray > 0.5
    cells = floor.outline_px @ overview.to_grid[:, :2].T + overview.to_grid[:, 2]
    mask = np.zeros(overview.tray.shape, np.uint8)
    cv2.fillConvexPoly(mask, np.round(cells).astype(np.int32), 1)
    return mask > 0
