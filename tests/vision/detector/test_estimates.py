"""Crop classifier and upright views combined: when they agree, and when a die is in doubt."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from tests.vision.trays import SIX, classified, tray
from vision.detector.candidates import HOT
from vision.detector.classifier import Estimates, estimates
from vision.detector.models import UPRIGHT_DIE, UPRIGHT_OUTPUTS, UPRIGHT_VALUES, Scores
from vision.detector.status import ANNOUNCE
from vision.pipeline import MOVING, DiceReader
from vision.reading import Frame, Pixels

_IN_DOUBT = 0.96
"""Probability of the value below which a die is in doubt, whatever the table's own limit."""
CALM = np.zeros(7, np.float32)
"""A context head that corrects nothing."""


def odds(value: int, sure: float) -> Scores:
    """Logits of six values, one of them with a probability."""
    likely = np.full(6, (1.0 - sure) / 5)
    likely[value - 1] = sure
    return np.log(likely).astype(np.float32)


def crop(value: int, sure: float, *, die: float = 6.0, tilt: float = -6.0) -> Scores:
    logits = np.zeros(51, np.float32)
    logits[0], logits[1:7], logits[13], logits[14:16] = die, odds(value, sure), tilt, (-6.0, 6.0)
    return logits


def view(value: int, sure: float, *, die: float = 6.0) -> Scores:
    outputs = np.zeros(UPRIGHT_OUTPUTS, np.float32)
    outputs[UPRIGHT_DIE], outputs[UPRIGHT_VALUES] = die, odds(value, sure)
    return outputs


def by_both(crop: Scores, view: Scores, tilt: float, added: Scores = CALM) -> Estimates:
    """One candidate with an upright view."""
    return estimates(crop[None], added[None], [0], view[None], np.array([tilt], np.float32))


def test_crop_and_view_that_agree_are_surer_together() -> None:
    both = by_both(crop(5, 0.9), view(5, 0.9), -6.0)
    assert both.agree.all()
    assert both.values.argmax() == 4
    assert both.values.max() > 0.95


@pytest.mark.parametrize("sure", [0.9, 0.99, 0.9999])
def test_a_view_with_another_value_leaves_the_die_in_doubt(sure: float) -> None:
    torn = by_both(crop(5, 0.99), view(3, sure), -6.0)
    assert not torn.agree.any()
    assert torn.unclear.all()


def test_a_clear_flat_die_is_clear_and_a_doubtful_one_is_not() -> None:
    assert not by_both(crop(5, 0.995), view(5, 0.995), -6.0).unclear.all()
    assert by_both(crop(5, 0.5), view(5, 0.5), -6.0).unclear.all()
    doubtful = by_both(crop(5, 0.995, die=2.0), view(5, 0.995, die=3.0), -6.0)
    assert doubtful.unclear.all(), "it may be no die"


@pytest.mark.parametrize(("tilt", "torn"), [(1.0, True), (-7.0, False), (6.0, False)])
def test_only_a_die_neither_clearly_flat_nor_tilted_is_torn(tilt: float, torn: bool) -> None:
    estimate = by_both(crop(5, 0.999, tilt=tilt), view(5, 0.999), tilt)
    assert bool(estimate.unclear.all()) is torn


def test_the_upright_view_outweighs_crop_and_context_on_tilt() -> None:
    added = CALM.copy()
    added[6] = 1.0
    two = np.stack([crop(5, 0.9, tilt=-4.0)] * 2)
    tilt = np.array([5.0], np.float32)
    seen = estimates(two, np.stack([added] * 2), [1], view(5, 0.9)[None], tilt)
    assert seen.tilt == pytest.approx([-3.0, 2.2]), "only the second has a view"


def test_clear_dice_are_certain() -> None:
    for detection in classified(tray(SIX)):
        assert detection.agree
        assert detection.values.max() * detection.die > ANNOUNCE


def hardly_legible() -> Pixels:
    """The six dice, blurred just so far that one of them is in doubt."""
    for spread in np.arange(3.0, 8.0, 0.25):
        pixels = np.asarray(cv2.GaussianBlur(tray(SIX), (0, 0), float(spread)), np.uint8)
        if any(die.values.max() * die.die < _IN_DOUBT for die in classified(pixels)):
            return pixels
    raise AssertionError("no blur makes a die unclear")


def test_blurred_dice_are_read_right_or_not_at_all() -> None:
    pixels = hardly_legible()
    sure = [
        int(each.values.argmax()) + 1
        for each in classified(pixels)
        if each.agree and each.values.max() * each.die > ANNOUNCE
    ]
    assert len(set(sure)) == len(sure) >= 3, "each value lies there once"
    reading = DiceReader().read(Frame(pixels))
    assert sorted(die.value or 0 for die in reading.dice) == list(range(1, 7))


def test_moving_dice_are_found_to_move() -> None:
    line = np.zeros((45, 45), np.float32)
    line[22] = 1 / 45
    places = classified(np.asarray(cv2.filter2D(tray(SIX), -1, line), np.uint8))
    detections = [place for place in places if place.heat > HOT]
    assert len(detections) == 6
    assert min(detection.moving for detection in detections) > MOVING
