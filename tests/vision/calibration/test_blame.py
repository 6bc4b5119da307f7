"""What is said of a picture whose dice cannot be read, and when nothing is said."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from companion.adapters.camera import with_causes
from companion.engine.dice import ALL_DICE
from companion.messages.equipment import tray_lines
from companion.tray import ProblemCode, TrayStatus, TrayView
from tests.vision.trays import SIX, tray
from vision.calibration.light import PictureFault
from vision.calibration.reader import CalibratedReader
from vision.pipeline import DiceReader
from vision.reading import Frame, Pixels
from vision.tracking.tracker import TrayTracker

ROLL = tray(SIX)
EMPTY = tray()


def blurred(pixels: Pixels, by_px: float) -> Pixels:
    return np.asarray(cv2.GaussianBlur(pixels, (0, 0), by_px), np.uint8)


def lit(pixels: Pixels, gain: float, noise: float = 0.0) -> Pixels:
    seen = pixels * gain + np.random.default_rng(1).normal(0.0, noise, pixels.shape)
    return np.asarray(np.clip(seen, 0.0, 255.0), np.uint8)


@pytest.fixture
def table() -> CalibratedReader:
    return CalibratedReader(DiceReader(), None)


def told(table: CalibratedReader, pixels: Pixels, times: int = 2) -> list[str]:
    """What the table says of the tray once it has read a picture some times."""
    for _ in range(times):
        reading = table.read(Frame(pixels))
    view = with_causes(TrayView(reading.status), table.change, table.faults)
    return [line.key for line in tray_lines(view.status, view.problems)]


@pytest.mark.parametrize(
    ("spoilt", "why"),
    [
        (blurred(ROLL, 7.0), "tray.picture_blurred"),
        (lit(ROLL, 0.06, noise=9.0), "tray.picture_dark"),
        (lit(ROLL, 4.0), "tray.picture_overexposed"),
    ],
    ids=["blurred", "dark", "overexposed"],
)
def test_a_roll_that_cannot_be_read_comes_with_what_helps(
    table: CalibratedReader, spoilt: Pixels, why: str
) -> None:
    assert told(table, ROLL) == ["tray.ok"]
    status, *causes = told(table, spoilt)
    assert status not in ("tray.ok", "tray.empty")
    assert causes == [why]
    assert told(table, ROLL) == ["tray.ok"]


def test_one_picture_blames_nothing(table: CalibratedReader) -> None:
    assert len(told(table, blurred(ROLL, 7.0), times=1)) == 1


def test_dice_that_seem_to_move_in_every_picture_are_blurred(table: CalibratedReader) -> None:
    soft = Frame(blurred(tray(SIX, seed=4), 8.0))
    assert table.read(soft).status is TrayStatus.MOVING
    tracker = TrayTracker(table, lambda: ALL_DICE)
    for at_s in (0.0, 0.1, 0.2, 0.3):
        frame = replace(soft, captured_at_s=at_s)
        tracker.update(tracker.read(tracker.measure_motion(frame)))
    view = with_causes(tracker.view(), table.change, table.faults)
    assert view.status.names_a_die
    assert view.problems[-1].code is ProblemCode.PICTURE_BLURRED


def test_a_fault_that_wavers_hides_no_lasting_one(table: CalibratedReader) -> None:
    light = lit(ROLL, 4.0)
    for spoilt in (light, blurred(light, 7.0)) * 2:
        status, *causes = told(table, spoilt, times=1)
    assert status not in ("tray.ok", "tray.empty")
    assert causes == ["tray.picture_overexposed"]


def test_a_roll_that_can_be_read_is_not_blamed(table: CalibratedReader) -> None:
    soft = blurred(ROLL, 3.5)
    assert told(table, soft) == ["tray.ok"]
    assert table.faults == ()


def test_a_blurred_empty_tray_is_blamed_until_a_roll_was_read(table: CalibratedReader) -> None:
    lost = blurred(ROLL, 12.0)
    assert told(table, lost) == ["tray.empty", "tray.picture_blurred"]
    assert told(table, ROLL) == ["tray.ok"]
    assert told(table, lost) == ["tray.empty"]


def test_an_empty_tray_may_be_plain_or_dark(table: CalibratedReader) -> None:
    plain = np.full_like(EMPTY, 120)
    assert told(table, plain) == ["tray.empty"]
    assert told(table, EMPTY) == ["tray.empty"]
    assert told(table, lit(EMPTY, 0.1)) == ["tray.empty"]


def test_nothing_is_blamed_while_dice_roll() -> None:
    rolling = with_causes(TrayView(TrayStatus.MOVING), None, (PictureFault.BLURRED,))
    assert rolling.problems == ()
