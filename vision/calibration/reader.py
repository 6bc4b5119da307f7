"""Reads one tray with the valid part of its calibration, and with the dice learnt there."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Generic, TypeVar

from companion.engine.dice import ALL_DICE, DieColour, Roll
from companion.tray import TrayStatus
from vision.calibration.calibration import Calibration
from vision.calibration.drift import compare
from vision.calibration.learning import LearntDice, calibrated, dice_of, dice_of_roll, learn
from vision.calibration.light import PictureFault, measure_light, white_balanced
from vision.pipeline import DiceReader
from vision.reading import Frame, Reading

LOGGER = logging.getLogger(__name__)

T = TypeVar("T")

_IN_A_ROW = 2
"""Readings that must agree before a change or fault is reported: a hand passes."""


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


class Lasting(Generic[T]):
    """Something seen in pictures that holds once it was seen in some of them in a row.

    Attributes:
        value: What holds; any thread may read it.
    """

    def __init__(self, value: T) -> None:
        self.value = self._suspected = value
        self._times = 0

    def note(self, found: T) -> bool:
        """Note what the newest picture shows; returns whether another value holds now."""
        if found != self._suspected:
            self._suspected, self._times = found, 0
        self._times += 1
        is_new = self._times >= _IN_A_ROW and found != self.value
        if is_new:
            self.value = found
        return is_new


class CalibratedReader:
    """Reads frames of one tray with the valid part of its calibration.

    Attributes:
        calibration: The one in use; see `use`.
    """

    def __init__(self, reader: DiceReader, calibration: Calibration | None) -> None:
        self._reader = reader
        self._has_read_roll = False
        self._mutex = threading.Lock()
        self.use(calibration)

    def use(self, calibration: Calibration | None) -> None:
        """Use another calibration from the next frame on; any thread may call it."""
        with self._mutex:
            self.calibration = calibration
            self._learnt = _learnt_by(calibration)
            self._change = Lasting[Change | None](None)
            self._faults = {fault: Lasting(False) for fault in PictureFault}

    @property
    def change(self) -> Change | None:
        """Lasting change since the calibration, or None; any thread may ask."""
        return self._change.value

    @property
    def faults(self) -> tuple[PictureFault, ...]:
        """Lasting faults of pictures without a clear roll; any thread may ask."""
        return tuple(fault for fault, seen in self._faults.items() if seen.value)

    def read(self, frame: Frame, in_play: Sequence[DieColour] = ALL_DICE) -> Reading:
        """Read a frame; raises PictureError if it holds no pixels."""
        measured = self.calibration or Calibration(frame.size_wh)
        changes = what_changed(measured, frame)
        told = what_to_tell(measured, changes)
        change = told[0] if told else None
        if self._change.note(change) and change is not None:
            LOGGER.warning("%s", ADVICE[change])
        known = self._learnt[Change.RELIT in changes].known
        holds = replace(what_holds(measured, changes), dice=known)
        reading = self._reader.read(frame, in_play, calibration=holds)
        self._has_read_roll |= reading.status is TrayStatus.OK
        found = self._faults_of(frame, reading)
        for fault, seen in self._faults.items():  # one may waver beside another that lasts
            seen.note(fault in found)
        return reading

    def learn(self, frame: Frame, roll: Roll) -> None:
        """Learn how the dice of a confirmed roll look here, from the frame that showed it.

        Where calibrated dice play other colours than their own, nothing is learnt: two that show
        the same value would be taken for dice that play their own.
        """
        with self._mutex:
            used, learnt = self.calibration, self._learnt
        measured = used or Calibration(frame.size_wh)
        if any(die.is_renamed for die in measured.dice):
            return
        changes = what_changed(measured, frame)
        bare = replace(what_holds(measured, changes), dice=())
        scene = self._reader.read(frame, dice_of(roll), calibration=bare).evidence
        if scene is None:
            return
        pixels = frame.pixels
        if bare.white_balance_bgr is not None:
            pixels = white_balanced(pixels, bare.white_balance_bgr)
        relit = Change.RELIT in changes
        shown = dice_of_roll(pixels, scene, roll)
        learnt = {**learnt, relit: learn(learnt[relit], shown)}
        with self._mutex:
            if self.calibration is used:  # else somebody has just set the tray up anew
                self._learnt = learnt

    def _faults_of(self, frame: Frame, reading: Reading) -> tuple[PictureFault, ...]:
        """What may be to blame that a picture shows no clear roll.

        Dice in a blurred picture look as if they moved. An empty tray may be as dark, light or soft
        as it likes, but dice that are blurred too much look like one: until the first roll is read,
        this is told.
        """
        is_empty = reading.status is TrayStatus.EMPTY
        if reading.status is TrayStatus.OK or (is_empty and self._has_read_roll):
            return ()
        light = measure_light(frame.pixels)
        if not is_empty:
            return light.faults
        is_blurred = PictureFault.BLURRED in light.faults and not light.is_plain
        return (PictureFault.BLURRED,) if is_blurred else ()


def _learnt_by(calibration: Calibration | None) -> dict[bool, LearntDice]:
    """The dice known at first, in the light of the calibration (False) and in another (True)."""
    if calibration is None:
        return {False: LearntDice(), True: LearntDice()}
    relit = what_holds(calibration, (Change.RELIT,))
    return {False: calibrated(calibration.dice), True: calibrated(relit.dice)}


def what_changed(calibration: Calibration, frame: Frame) -> tuple[Change, ...]:
    """Changes that a frame shows since the calibration; moved comes before relit."""
    if calibration.reference is None:
        return ()
    drift = compare(calibration.reference, frame.pixels)
    moved = (Change.MOVED,) if drift.has_moved else ()
    return (*moved, Change.RELIT) if drift.is_relit else moved


def what_to_tell(calibration: Calibration, changes: Sequence[Change]) -> tuple[Change, ...]:
    """The changes that leave a part of the calibration invalid; others concern nobody."""
    return tuple(each for each in changes if what_holds(calibration, (each,)) != calibration)


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
