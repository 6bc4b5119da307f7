"""Reads one tray with its calibration as long as that holds."""

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
"""Readings that must agree before a change is reported: a hand passes."""


class Change(StrEnum):
    """Changes since the calibration."""

    MOVED = "moved"
    RELIT = "relit"


ADVICE = {
    Change.MOVED: "camera or tray were moved since they were calibrated: the measured corners are "
    "not used (dice-companion calibrate --only corners)",
    Change.RELIT: "the light is another than when the tray was calibrated: the measured colours "
    "are not used (dice-companion calibrate --only light --only corners --only exposure "
    "--only dice)",
}


class DiceReader(Protocol):
    """Reads single frames, with a calibration if there is one."""

    def read(
        self,
        frame: Frame,
        in_play: Sequence[DieColour] = ALL_DICE,
        *,
        calibration: Calibration | None = None,
    ) -> Reading:
        """Read the dice of a frame."""


class CalibratedReader:
    """Reads frames of one tray with the valid part of its calibration.

    Attributes:
        change: Lasting change since the calibration, or None; any thread may read it.
    """

    def __init__(self, eye: DiceReader, calibration: Calibration | None) -> None:
        self.change: Change | None = None
        self._eye = eye
        self._calibration = calibration
        self._suspected: Change | None = None
        self._times = 0

    @property
    def calibration(self) -> Calibration | None:
        """Calibration in use."""
        return self._calibration

    def use(self, calibration: Calibration | None) -> None:
        """Use another calibration from the next frame on; any thread may call it."""
        self._calibration = calibration
        self.change = self._suspected = None

    def read(self, frame: Frame, in_play: Sequence[DieColour] = ALL_DICE) -> Reading:
        """Read a frame; raises PictureError if it holds no pixels."""
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
    """Changes that a frame shows since the calibration; moved comes before relit."""
    if calibration.reference is None:
        return ()
    drift = compare(calibration.reference, as_pixels(frame.pixels))
    moved = (Change.MOVED,) if drift.has_moved else ()
    return (*moved, Change.RELIT) if drift.is_relit else moved


def what_holds(calibration: Calibration, changes: Sequence[Change]) -> Calibration:
    """Return the part of a calibration that is still valid.

    A moved camera or tray invalidates the corners; another light invalidates the white balance and
    the colours of the table's dice. Dice that play another colour than their own keep theirs in any
    light: otherwise they would be announced by their own colour.
    """
    if Change.MOVED in changes:
        calibration = replace(calibration, tray_px=None)
    if Change.RELIT in changes and not any(die.is_renamed for die in calibration.dice):
        calibration = replace(calibration, white_balance_bgr=None, dice=())
    return calibration
