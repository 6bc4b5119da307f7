"""A roll is read once two readings in a row agree on it; pips are measured of dice at rest."""

from __future__ import annotations

from types import SimpleNamespace

import cv2
import numpy as np
import pytest

from companion.engine.dice import ALL_DICE
from companion.errors import CalibrationError
from tests.vision.tray_fakes import FakeClock, ScriptedCamera, ScriptedReader, bad, ok, picture
from tests.vision.trays import SIX, tray
from vision.calibration.calibration import Calibration
from vision.reading import Frame, Reading
from vision.setup.measure import read_roll, shown_dice


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> ScriptedReader:
    scripted = ScriptedReader(ok())
    reader = SimpleNamespace(read=lambda frame: scripted.read(frame, ALL_DICE))
    monkeypatch.setattr("vision.setup.measure.CalibratedReader", lambda *_: reader)
    return scripted


def read_by(patience_s: float) -> tuple[Frame, Reading]:
    camera = ScriptedCamera(FakeClock(), [None, *[picture()] * 9])
    return read_roll(camera, Calibration((320, 240)), patience_s=patience_s)


def test_two_readings_in_a_row_must_agree(reader: ScriptedReader) -> None:
    right = ok("35-4225")
    reader.script = [ok("34-4225"), right, bad("uncertain"), right, right, ok("11-1111")]
    frame, reading = read_by(60.0)
    assert (frame.number, reading.roll) == (5, right.roll)


def test_readings_that_never_agree_end_with_the_patience(reader: ScriptedReader) -> None:
    reader.script = [ok("34-4225"), ok("35-4225")] * 5
    frame, _ = read_by(0.45)
    assert frame.number == 6


def test_a_camera_without_a_picture_is_named(reader: ScriptedReader) -> None:
    camera = ScriptedCamera(FakeClock(), [None] * 2001)
    with pytest.raises(CalibrationError) as caught:
        read_roll(camera, Calibration((320, 240)), patience_s=1.0)
    assert caught.value.reason == "no_picture"
    assert reader.asked == []


def test_the_smeared_pips_of_a_moving_die_are_not_measured() -> None:
    pixels = tray(SIX).copy()
    smeared = cv2.filter2D(pixels, -1, np.full((1, 19), 1 / 19))
    at_yellow = np.s_[112:202, 316:406]
    pixels[at_yellow] = smeared[at_yellow]
    dice = shown_dice(pixels, Calibration((640, 480)))
    unmeasured = [die.centre_xy for die in dice if die.pips_bgr is None]
    assert unmeasured == [pytest.approx((361.0, 157.0), abs=5.0)]
