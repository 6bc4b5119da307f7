"""Calibration steps that read pictures: the dice shown once, and the test rolls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from companion.engine.dice import ALL_DICE, DieColour
from companion.errors import CalibrationError
from vision.calibration.calibration import Calibration
from vision.calibration.drift import Reference, in_the_light_of, take_reference
from vision.calibration.light import PictureFault, measure_light, white_balanced
from vision.calibration.reader import CalibratedReader, what_changed, what_holds
from vision.cameras.camera import Camera
from vision.detector.colours import shared_out
from vision.detector.crops import edges_of
from vision.detector.known_dice import Bgr, CustomDie, face_colour, pip_colour
from vision.detector.status import PALETTE
from vision.evidence import DieEvidence
from vision.pipeline import DiceReader
from vision.reading import Frame, Pixels, Point, Reading

_BLOWN = 250.0
"""Brightness above which a white face has lost its colour."""
_MOST_GAIN = 2.0
_SURELY = 0.9
_FEW_PX = 20.0
"""Edge of dice in px below which many rolls are doubtful (docs/evaluation.md, small dice)."""
_FLAT_SEEN = 0.89
"""Width of a top face across its length, as the camera sees it, below which many rolls are doubtful
(docs/evaluation.md, a camera beside the tray)."""


@dataclass(frozen=True, slots=True, eq=False)
class ShownDie:
    """Measurements of a die that was shown to the camera.

    Attributes:
        taken_for: (6,) the reader's probabilities, in the order of `status.PALETTE`.
    """

    centre_xy: Point
    corners: NDArray[np.float32]
    face_bgr: Bgr
    taken_for: tuple[float, ...]
    pips_bgr: Bgr | None = None


def shown_dice(pixels: Pixels, calibration: Calibration) -> tuple[ShownDie, ...]:
    """Measure the six dice in the tray, from left to right.

    Args:
        calibration: Without dice, so that the colours are those that the reader sees by itself.
    Raises:
        CalibrationError: There are not six dice that lie flat in the tray.
    """
    reading = DiceReader().read(Frame(pixels), calibration=calibration)
    assert reading.evidence is not None
    seen = {die.centre_xy: die for die in reading.evidence.dice}
    dice = sorted(
        (die for die in reading.dice if die.in_tray and not die.cocked),
        key=lambda die: die.centre_xy,
    )
    if len(dice) != len(ALL_DICE):
        raise CalibrationError(
            f"dice: expected all six flat in the tray, apart from each other, got {len(dice)}",
            reason="not_six",
            count=len(dice),
        )
    if calibration.white_balance_bgr is not None:
        pixels = white_balanced(pixels, calibration.white_balance_bgr)
    return tuple(_shown(pixels, seen[die.centre_xy], die.value) for die in dice)


def _shown(pixels: Pixels, die: DieEvidence, value: int | None) -> ShownDie:
    """Measure one die; a moving one shows no value, and its pips are smeared."""
    taken_for = tuple(float(chance) for chance in die.colours)
    pips = pip_colour(pixels, die.corners, value)
    return ShownDie(die.centre_xy, die.corners, face_colour(pixels, die.corners), taken_for, pips)


def faults_of(dice: Sequence[ShownDie]) -> tuple[PictureFault, ...]:
    """Why many rolls would be doubtful: dice of few pixels, or seen from the side."""
    corners = np.stack([die.corners for die in dice])
    found = []
    if float(np.median(edges_of(corners))) < _FEW_PX:
        found.append(PictureFault.SMALL)
    sides = corners - corners[:, [3, 0, 1, 2]]
    longest, shortest = np.linalg.svd(sides[:, :2] - sides[:, 2:], compute_uv=False).T
    if float(np.median(shortest / longest)) < _FLAT_SEEN:
        found.append(PictureFault.SLANTED)
    return tuple(found)


def colours_played(dice: Sequence[ShownDie]) -> tuple[DieColour, ...]:
    """Assign the most likely colours to six dice, each colour as often as in the game.

    An odd die receives the colour that remains.
    """
    chances = np.array([die.taken_for[: len(PALETTE)] for die in dice])
    cost = np.column_stack([-np.log(chances + 1e-3), np.full(len(dice), np.inf)])
    pick, _ = shared_out(cost, tuple(ALL_DICE.count(colour) for colour in PALETTE))
    return tuple(PALETTE[k] for k in pick)


def known_dice(dice: Sequence[ShownDie], plays: Sequence[DieColour]) -> tuple[CustomDie, ...]:
    """Return the dice for the calibration file.

    Raises:
        CalibrationError: The colours are not those of the game's six dice.
    """
    if sorted(colour.value for colour in plays) != sorted(colour.value for colour in ALL_DICE):
        raise CalibrationError(
            "dice: expected two whites, red, yellow, green and blue, got "
            + ", ".join(colour.value for colour in plays),
            reason="other_dice",
        )
    return tuple(
        CustomDie(colour, die.face_bgr, die.taken_for, die.pips_bgr)
        for die, colour in zip(dice, plays, strict=True)
    )


def measured_dice(
    frame: Frame, kept: Calibration
) -> tuple[tuple[ShownDie, ...], tuple[float, float, float] | None]:
    """As `shown_dice`, without kept dice, and the white balance by the white ones."""
    holds = what_holds(kept, what_changed(kept, frame))
    bare = replace(holds, dice=(), white_balance_bgr=None)
    gains = gains_of_white(shown_dice(frame.pixels, bare))
    return shown_dice(frame.pixels, replace(bare, white_balance_bgr=gains)), gains


def refuse_black(frame: Frame) -> None:
    """Raise CalibrationError if a picture shows nothing, such as that of a covered camera."""
    if measure_light(frame.pixels).is_black:
        raise CalibrationError("picture: it is black; is the lens covered?", reason="dark")


def reference_of(frame: Frame, kept: Calibration) -> Reference:
    """The tray's look when its corners are kept; kept dice keep the light they were measured in.

    Raises:
        CalibrationError: The picture is black.
    """
    refuse_black(frame)
    now = take_reference(frame.pixels)
    return in_the_light_of(now, kept.reference) if kept.dice and kept.reference else now


def gains_of_white(dice: Sequence[ShownDie]) -> tuple[float, float, float] | None:
    """Gains that turn the white dice grey; None if no white die is usable."""
    white = PALETTE.index(DieColour.WHITE)
    faces = [die.face_bgr for die in dice if die.taken_for[white] > _SURELY]
    if not faces:
        return None
    blue, green, red = np.mean(faces, axis=0)
    if max(blue, green, red) > _BLOWN or min(blue, green, red) < 1.0:
        return None
    gains = np.clip([green / blue, 1.0, green / red], 1 / _MOST_GAIN, _MOST_GAIN)
    return float(gains[0]), 1.0, float(gains[2])


def read_roll(
    camera: Camera, calibration: Calibration, *, patience_s: float
) -> tuple[Frame, Reading]:
    """Read until two consecutive readings agree on a roll, or time is up; return the last one.

    Raises:
        CameraUnavailable: The camera is lost.
        CalibrationError: It delivers no picture.
    """
    calibrated = CalibratedReader(DiceReader(), calibration)
    began_s: float | None = None
    last: tuple[Frame, Reading] | None = None
    for _ in range(2000):
        frame = camera.read()
        if frame is None:
            continue
        began_s = frame.captured_at_s if began_s is None else began_s
        reading = calibrated.read(frame)
        is_agreed = reading.roll is not None and last is not None and last[1].roll == reading.roll
        last = frame, reading
        if is_agreed or frame.captured_at_s - began_s > patience_s:
            break
    if last is None:
        text = "rolls: expected a picture, the camera gives none"
        raise CalibrationError(text, reason="no_picture")
    return last
