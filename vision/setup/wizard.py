"""Setting a tray up from the page while the camera runs: the steps of a calibration, one by one."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from companion.engine.dice import DieColour
from companion.errors import CalibrationError, ConfigError
from vision.calibration.calibration import Calibration, is_same_shape, save_calibration
from vision.calibration.drift import in_the_light_of, take_reference
from vision.calibration.light import PictureFault, measure_light
from vision.calibration.reader import CalibratedReader, Change
from vision.eye.known_dice import KnownDie
from vision.pipeline import Eye
from vision.reading import Frame, Point
from vision.setup.corners import propose_corners
from vision.setup.measure import (
    ShownDie,
    colours_played,
    gains_of_white,
    known_dice,
    shown_dice,
)


class Live(Protocol):
    """The camera at work, as far as setting up needs it."""

    def frame(self) -> Frame | None:
        """The newest frame."""

    @property
    def controls(self) -> Mapping[str, float]:
        """What its exposure and colours are held at."""


@dataclass(frozen=True, slots=True)
class SetupState:
    """How far a tray is set up, and how its picture is now.

    Attributes:
        size_wh: Of the camera's pictures.
        change: What is not as it was when the tray was calibrated.
        corners: As they are kept, in px of the camera's pictures.
        controls: What the camera holds now; `is_held` says that the calibration keeps them.
    """

    size_wh: tuple[int, int]
    faults: tuple[PictureFault, ...]
    change: Change | None
    corners: tuple[Point, ...] | None
    controls: Mapping[str, float]
    is_held: bool
    dice: tuple[KnownDie, ...]


@dataclass(frozen=True, slots=True)
class LookedAt:
    """One of six dice that were looked at, and the colour it most likely plays."""

    centre_xy: Point
    corners_xy: tuple[Point, ...]
    plays: DieColour
    is_odd: bool


Looked = tuple[int, tuple[ShownDie, ...], tuple[float, float, float] | None]
"""The number of a look, the dice it showed, and the white balance by the white ones."""


class TraySetup:
    """Measures the tray step by step; what is kept counts at once and is on the disk.

    Requests come on several threads: one step is taken at a time.
    """

    def __init__(self, live: Live, eye: CalibratedReader, path: Path) -> None:
        """Begin with what the eye reads with now; `path` is the calibration's file."""
        self._live = live
        self._eye = eye
        self._bare = Eye()
        self._path = path
        self._mutex = threading.Lock()
        self._shown: Looked | None = None

    def state(self) -> SetupState:
        """How things stand; raises CalibrationError when the camera gives no picture."""
        pixels = self._frame().pixels
        kept = self._kept((pixels.shape[1], pixels.shape[0]))
        return SetupState(
            size_wh=kept.size_wh,
            faults=measure_light(pixels).faults,
            change=self._eye.change,
            corners=kept.tray_px,
            controls=self._live.controls,
            is_held=bool(kept.camera),
            dice=kept.dice,
        )

    def propose(self) -> tuple[Point, ...] | None:
        """The corners the eye would take; None where it makes no tray out."""
        return propose_corners(self._frame().pixels)

    def keep_corners(self, corners: Sequence[Point]) -> None:
        """Keep the tray's corners, and how the tray looks now; dice that were kept stay those of
        the light they were kept in.

        Raises:
            CalibrationError: They are too few or lie outside the picture.
        """
        frame = self._frame()
        height, width = frame.pixels.shape[:2]
        inside = [0 <= x <= width and 0 <= y <= height for x, y in corners]
        if len(corners) < 3 or not all(inside):
            text = f"corners: expected three or more points of a {width} x {height} picture"
            raise CalibrationError(text, reason="outside")
        now = take_reference(frame.pixels)
        kept = self._kept((width, height))
        if kept.dice and kept.reference is not None:
            now = in_the_light_of(now, kept.reference)
        self._keep(frame, tray_px=tuple(corners), reference=now)

    def hold_exposure(self) -> None:
        """Keep what the camera's exposure and colours are held at; nothing where they are not."""
        held = dict(self._live.controls)
        frame = self._frame()
        if held:
            self._keep(frame, camera=held)

    def look_at_dice(self) -> tuple[int, tuple[LookedAt, ...]]:
        """Look at the six dice in the tray, from left to right.

        Returns:
            The number of the look, which no other has, and the dice.
        Raises:
            CalibrationError: There are not six, flat and apart.
        """
        pixels = self._frame().pixels
        kept = self._kept((pixels.shape[1], pixels.shape[0]))
        bare = replace(kept, dice=(), white_balance_bgr=None)
        gains = gains_of_white(shown_dice(pixels, bare, self._bare))
        shown = shown_dice(pixels, replace(bare, white_balance_bgr=gains), self._bare)
        number = secrets.randbelow(1 << 31)
        with self._mutex:
            self._shown = number, shown, gains
        return number, tuple(
            LookedAt(die.centre_xy, _points(die), known.plays, known.is_odd)
            for die, known in zip(shown, known_dice(shown, colours_played(shown)), strict=True)
        )

    def keep_dice(self, plays: Sequence[DieColour], number: int | None = None) -> None:
        """Keep the dice that were looked at last, with the colours they play, and the light.

        Args:
            plays: One colour for each die, in the order of the look.
            number: The look's; another device may have looked since.
        Raises:
            CalibrationError: None were looked at, or the colours are not the game's.
        """
        with self._mutex:
            looked = self._shown
        if looked is None or number not in (None, looked[0]):
            raise CalibrationError("dice: expected a look at them first", reason="not_looked")
        _, shown, gains = looked
        dice = known_dice(shown, plays)
        frame = self._frame()
        kept = self._kept((frame.pixels.shape[1], frame.pixels.shape[0]))
        now = in_the_light_of(kept.reference, take_reference(frame.pixels))
        self._keep(frame, dice=dice, white_balance_bgr=gains, reference=now)

    def forget(self) -> None:
        """Read without any calibration from now on, and keep none.

        Raises:
            ConfigError: Its file cannot be removed.
        """
        with self._mutex:
            try:
                self._path.unlink(missing_ok=True)
            except OSError as error:
                raise ConfigError(f"{self._path}: cannot be removed: {error.strerror}") from error
            self._eye.use(None)

    def _frame(self) -> Frame:
        frame = self._live.frame()
        if frame is None:
            raise CalibrationError("camera: gives no picture", reason="no_picture")
        return frame

    def _kept(self, size_wh: tuple[int, int]) -> Calibration:
        kept = self._eye.calibration
        if kept is None or kept.size_wh == size_wh:
            return kept or Calibration(size_wh)
        return _resized(kept, size_wh)

    def _keep(self, frame: Frame, **measured: object) -> None:
        size_wh = (frame.pixels.shape[1], frame.pixels.shape[0])
        with self._mutex:
            calibration = replace(self._kept(size_wh), **measured)  # type: ignore[arg-type]
            save_calibration(self._path, calibration)
            self._eye.use(calibration)


def _resized(calibration: Calibration, size_wh: tuple[int, int]) -> Calibration:
    """The calibration for pictures of another size."""
    x, y = (now / then for now, then in zip(size_wh, calibration.size_wh, strict=True))
    corners = calibration.tray_px
    if corners is None or not is_same_shape(size_wh, calibration.size_wh):
        return replace(calibration, size_wh=size_wh, tray_px=None)
    moved = tuple((px * x, py * y) for px, py in corners)
    return replace(calibration, size_wh=size_wh, tray_px=moved)


def _points(die: ShownDie) -> tuple[Point, ...]:
    return tuple((float(x), float(y)) for x, y in die.corners)
