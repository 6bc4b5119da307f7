"""An eye for one tray: it reads with the tray's calibration as long as that still holds."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Protocol

from companion.engine.dice import ALL_DICE, DieColour
from vision.calibration.calibration import Calibration
from vision.calibration.drift import compare
from vision.images import as_pixels
from vision.reading import Frame, Reading

LOGGER = logging.getLogger(__name__)

_IN_A_ROW = 2
"""So many readings must agree before it is said that something changed: a hand passes."""


class Change(StrEnum):
    """What is not as it was when the tray was calibrated."""

    MOVED = "moved"
    RELIT = "relit"


ADVICE = {
    Change.MOVED: "camera or tray were moved since they were calibrated: the measured corners are "
    "not used (dice-companion calibrate --only corners)",
    Change.RELIT: "the light is another than when the tray was calibrated: the measured colours "
    "are not used (dice-companion calibrate --only light --only corners --only exposure "
    "--only dice)",
}


class Eye(Protocol):
    """Reads single frames, with a calibration where there is one."""

    def read(
        self,
        frame: Frame,
        in_play: Sequence[DieColour] = ALL_DICE,
        *,
        calibration: Calibration | None = None,
    ) -> Reading:
        """Say what lies in the tray."""


class CalibratedReader:
    """Reads frames of one tray, with what holds of its calibration where it has one.

    Attributes:
        change: What has changed for good, or None; any thread may read it.
    """

    def __init__(self, eye: Eye, calibration: Calibration | None) -> None:
        self.change: Change | None = None
        self._eye = eye
        self._calibration = calibration
        self._suspected: Change | None = None
        self._times = 0

    @property
    def calibration(self) -> Calibration | None:
        """What it reads with."""
        return self._calibration

    def use(self, calibration: Calibration | None) -> None:
        """Read with another calibration from the next frame on; any thread may say so."""
        self._calibration = calibration
        self.change = self._suspected = None

    def read(self, frame: Frame, in_play: Sequence[DieColour] = ALL_DICE) -> Reading:
        """Read a frame; raises PictureError when it holds no pixels."""
        calibration = self._calibration
        if calibration is None:
            return self._eye.read(frame, in_play)
        found = what_changed(calibration, frame)
        self._note(found[0] if found else None)
        return self._eye.read(frame, in_play, calibration=what_holds(calibration, found))

    def _note(self, found: Change | None) -> None:
        if found is not self._suspected:
            self._suspected, self._times = found, 0
        self._times += 1
        if self._times >= _IN_A_ROW and found is not self.change:
            self.change = found
            if found is not None:
                LOGGER.warning("%s", ADVICE[found])


def what_changed(calibration: Calibration, frame: Frame) -> tuple[Change, ...]:
    """What of the tray that was calibrated a frame no longer shows; moved comes before relit."""
    if calibration.reference is None:
        return ()
    drift = compare(calibration.reference, as_pixels(frame.pixels))
    moved = (Change.MOVED,) if drift.has_moved else ()
    return (*moved, Change.RELIT) if drift.is_relit else moved


def what_holds(calibration: Calibration, changes: Sequence[Change]) -> Calibration:
    """The part of a calibration that changes leave true.

    Where camera or tray were moved, the measured corners are not; where the light is another,
    neither the white balance nor the colours of the household's dice are. But dice that play
    another colour than theirs are read by what was measured in any light: without it they would
    be announced by the colours they have.
    """
    if Change.MOVED in changes:
        calibration = replace(calibration, tray_px=None)
    if Change.RELIT in changes and not any(die.is_renamed for die in calibration.dice):
        calibration = replace(calibration, white_balance_bgr=None, dice=())
    return calibration
