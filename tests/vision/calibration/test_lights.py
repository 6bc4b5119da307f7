"""Dice that are learnt in one light and read in another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from companion.engine.dice import ALL_DICE, DieColour, Roll
from tests.vision.trays import SIX, lit, tray
from vision.calibration.calibration import Calibration
from vision.calibration.drift import take_reference
from vision.calibration.learning import FEWEST
from vision.calibration.reader import CalibratedReader
from vision.pipeline import DiceReader
from vision.reading import Frame, Reading
from vision.setup.measure import colours_played, gains_of_white, known_dice, shown_dice

READER = DiceReader()
WHITES, COLOURED = [v for _, v in SIX[:2]], dict(SIX[2:])
ROLL = Roll.of((WHITES[0], WHITES[1]), COLOURED)


class Noted:
    """The reader, and the calibration it was asked with last."""

    used: Calibration | None = None

    def read(
        self,
        frame: Frame,
        in_play: Sequence[DieColour] = ALL_DICE,
        *,
        calibration: Calibration | None = None,
    ) -> Reading:
        self.used = calibration
        return READER.read(frame, in_play, calibration=calibration)


def test_dice_learnt_in_another_light_leave_the_calibrated_ones_alone() -> None:
    shown = shown_dice(tray(SIX), Calibration((640, 480)))
    ordinary = known_dice(shown, colours_played(shown))
    dice = tuple(replace(die, taken_for=(*die.taken_for[:5], 1.0)) for die in ordinary)
    dice = tuple(replace(die, taken_for=tuple(0.5 * p for p in die.taken_for)) for die in dice)
    noted = Noted()
    table = CalibratedReader(
        noted, Calibration((640, 480), dice=dice, reference=take_reference(tray()))
    )
    evening = Frame(lit(tray(SIX), 0.6, 0.6, 0.6))
    for _ in range(FEWEST):
        table.learn(evening, ROLL)
    table.read(Frame(tray(SIX)))
    assert noted.used is not None
    assert noted.used.dice == dice
    table.read(evening)
    brightest = max(max(die.face_bgr) for die in noted.used.dice)
    assert brightest < 0.8 * max(max(die.face_bgr) for die in dice)


def test_ordinary_dice_seen_once_are_not_known_before_they_are_learnt() -> None:
    """A face may have mirrored the lamp when they were measured."""
    shown = shown_dice(tray(SIX), Calibration((640, 480)))
    noted = Noted()
    dice = known_dice(shown, colours_played(shown))
    table = CalibratedReader(noted, Calibration((640, 480), dice=dice))
    known = []
    for _ in range(FEWEST):
        table.read(Frame(tray(SIX)))
        known.append(noted.used is not None and len(noted.used.dice))
        table.learn(Frame(tray(SIX)), ROLL)
    assert known == [0, 0, 6]


def test_dice_are_learnt_in_the_white_balance_that_they_are_read_in() -> None:
    warm = Frame(lit(tray(SIX), 0.6, 0.75, 0.8))
    gains = gains_of_white(shown_dice(warm.pixels, Calibration((640, 480))))
    noted = Noted()
    table = CalibratedReader(noted, Calibration((640, 480), white_balance_bgr=gains))
    for _ in range(FEWEST):
        table.learn(warm, ROLL)
    table.read(warm)
    assert noted.used is not None
    whites = [die for die in noted.used.dice if die.plays is DieColour.WHITE]
    assert len(whites) == 2
    assert all(max(die.face_bgr) - min(die.face_bgr) < 20 for die in whites)
