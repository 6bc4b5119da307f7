"""Sets a tray up from the page while the camera runs, one calibration step at a time."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from companion.engine.dice import DieColour
from companion.errors import CalibrationError, ConfigError
from vision.calibration.calibration import (
    Calibration,
    check_corners,
    save_calibration,
)
from vision.calibration.drift import Reference, compare, in_the_light_of, take_reference
from vision.calibration.light import PictureFault, measure_light
from vision.calibration.reader import CalibratedReader, Change
from vision.detector.known_dice import CustomDie
from vision.reading import Frame, Pixels, Point
from vision.setup.corners import propose_corners
from vision.setup.measure import (
    ShownDie,
    colours_played,
    faults_of,
    known_dice,
    measured_dice,
    reference_of,
    refuse_black,
)


class Live(Protocol):
    """The running camera, as far as the wizard needs it."""

    def frame(self) -> Frame | None:
        """The newest frame."""

    @property
    def controls(self) -> Mapping[str, float] | None:
        """Held exposure and colours; empty if the camera holds none, None while it measures."""

    def read_anew(self) -> None:
        """Forget what the frames before showed."""


@dataclass(frozen=True, slots=True)
class SetupState:
    """State of the set-up and of the picture.

    Attributes:
        size_wh: Size of the camera's pictures.
        change: Change since the calibration.
        corners: Kept corners, in pixels of the camera's pictures.
        controls: Values the camera holds now; `is_held` tells whether the calibration contains
            them.
    """

    size_wh: tuple[int, int]
    faults: tuple[PictureFault, ...]
    change: Change | None
    corners: tuple[Point, ...] | None
    controls: Mapping[str, float]
    is_held: bool
    dice: tuple[CustomDie, ...]


@dataclass(frozen=True, slots=True)
class LookedAt:
    """One of six measured dice, and the colour it most likely plays."""

    centre_xy: Point
    corners_xy: tuple[Point, ...]
    plays: DieColour
    is_odd: bool


Looked = tuple[int, tuple[ShownDie, ...], tuple[float, float, float] | None, Reference]
"""A measurement: its number, its dice, the white balance by the white ones, and the tray's look."""


class TraySetup:
    """Measures the tray step by step; each result is used at once and written to disk.

    Requests come on several threads. Steps may overlap; results are kept one at a time.
    """

    def __init__(self, live: Live, reader: CalibratedReader, path: Path | None) -> None:
        """Begin with the calibration in use.

        Args:
            path: Its file; None if the table is to use none.
        """
        self._live = live
        self._reader = reader
        self._path = path
        self._mutex = threading.Lock()
        self._shown: Looked | None = None

    def state(self) -> SetupState:
        """Return the state; raises CalibrationError if the camera delivers no picture."""
        frame = self._frame()
        kept = self._kept(frame)
        return SetupState(
            size_wh=kept.size_wh,
            faults=(*measure_light(frame.pixels).faults, *self._faults_of_dice(frame.pixels)),
            change=self._reader.change,
            corners=kept.tray_px,
            controls=self._live.controls or {},
            is_held=bool(kept.camera),
            dice=kept.dice,
        )

    def propose(self) -> tuple[Point, ...] | None:
        """Return proposed corners; None if no tray is found.

        Raises:
            CalibrationError: The camera delivers no picture, or a black one.
        """
        frame = self._frame()
        refuse_black(frame)
        return propose_corners(frame.pixels)

    def keep_corners(self, corners: Sequence[Point]) -> None:
        """Keep the tray's corners, and its look now; dice that were kept stay those of the light
        they were kept in.

        Raises:
            CalibrationError: They enclose no floor or lie outside the picture, or there is no
                picture, or a black one.
            ConfigError: The file cannot be written.
        """
        frame = self._frame()
        check_corners(corners, frame.size_wh)
        now = reference_of(frame, self._kept(frame))
        self._keep(frame, tray_px=tuple(corners), reference=now)

    def hold_exposure(self) -> None:
        """Keep the camera's held exposure and colours; nothing if it cannot hold any.

        Raises:
            CalibrationError: The camera is still measuring them, or delivers no picture.
            ConfigError: The file cannot be written.
        """
        frame, held = self._frame(), self._live.controls
        if held is None:
            raise CalibrationError("exposure: still being measured", reason="metering")
        if held:
            self._keep(frame, camera=dict(held))

    def look_at_dice(self) -> tuple[int, tuple[LookedAt, ...]]:
        """Measure the six dice in the tray, from left to right.

        Returns:
            The number of the measurement, and the dice.
        Raises:
            CalibrationError: There are not six, flat and apart, or there is no picture.
        """
        with self._mutex:
            self._shown = None
        frame = self._frame()
        shown, gains = measured_dice(frame, self._kept(frame))
        number = secrets.randbelow(1 << 31)
        with self._mutex:
            self._shown = number, shown, gains, take_reference(frame.pixels)
        return number, tuple(
            LookedAt(die.centre_xy, _points(die), known.plays, known.is_odd)
            for die, known in zip(shown, known_dice(shown, colours_played(shown)), strict=True)
        )

    def keep_dice(self, plays: Sequence[DieColour], number: int | None = None) -> None:
        """Keep the dice that were measured last, with the colours they play, and the light.

        Args:
            plays: One colour for each die, in the order of the measurement.
            number: Number of the measurement; another device may have measured since.
        Raises:
            CalibrationError: None were measured, the colours are not the game's, or the camera
                delivers no picture.
            ConfigError: The file cannot be written.
        """
        with self._mutex:
            looked = self._shown
        if looked is None or number not in (None, looked[0]):
            raise CalibrationError("dice: expected a look at them first", reason="not_looked")
        _, shown, gains, light = looked
        dice = known_dice(shown, plays)
        frame = self._frame()
        now = in_the_light_of(self._kept(frame).reference, light)
        self._keep(frame, dice=dice, white_balance_bgr=gains, reference=now)

    def forget(self) -> None:
        """Read without a calibration from now on, and remove its file.

        Raises:
            CalibrationError: The camera delivers no picture, so that no step can be answered, or
                the table is to use no file.
            ConfigError: The file cannot be removed.
        """
        self._frame()
        path = self._file()
        with self._mutex:
            try:
                path.unlink(missing_ok=True)
            except OSError as error:
                raise ConfigError(f"{path}: cannot be removed: {error.strerror}") from error
            self._shown = None
            self._use(None)

    def _frame(self) -> Frame:
        frame = self._live.frame()
        if frame is None:
            raise CalibrationError("camera: gives no picture", reason="no_picture")
        return frame

    def _faults_of_dice(self, pixels: Pixels) -> tuple[PictureFault, ...]:
        """Faults of the camera's place by the dice measured last, if it has not moved since."""
        with self._mutex:
            looked = self._shown
        if looked is None or compare(looked[3], pixels).has_moved:
            return ()
        return faults_of(looked[1])

    def _kept(self, frame: Frame) -> Calibration:
        kept = self._reader.calibration
        return Calibration(frame.size_wh) if kept is None else kept.resized(frame.size_wh)

    def _keep(self, frame: Frame, **measured: object) -> None:
        path = self._file()
        with self._mutex:
            calibration = replace(self._kept(frame), **measured)  # type: ignore[arg-type]
            save_calibration(path, calibration)
            self._use(calibration)

    def _file(self) -> Path:
        if self._path is None:
            text = "set-up: camera.calibration is none"
            raise CalibrationError(text, reason="switched_off")
        return self._path

    def _use(self, calibration: Calibration | None) -> None:
        self._reader.use(calibration)
        self._live.read_anew()


def _points(die: ShownDie) -> tuple[Point, ...]:
    return tuple((float(x), float(y)) for x, y in die.corners)
