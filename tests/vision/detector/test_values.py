"""Values fused from several crops, pips and faces, and which dice are classified again."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from tests.vision.detector.hard_pictures import dice_in, hardly_legible
from tests.vision.trays import SIX, tray
from vision.detector import classifier
from vision.detector.models import Scores
from vision.detector.search import STILL
from vision.detector.status import ANNOUNCE
from vision.detector.values import fuse_value_scores
from vision.pipeline import DiceReader
from vision.reading import Frame

FITS = np.array([9.0, 9.0, 9.0, 9.0, 0.0, 9.0], np.float32)
"""Pips that only a five explains."""


def crop_values(*each: tuple[int, float]) -> Scores:
    """One row for each crop: a value and its probability."""
    rows = np.full((len(each), 6), 0.0, np.float32)
    for row, (value, sure) in zip(rows, each, strict=True):
        row[:] = (1.0 - sure) / 5
        row[value - 1] = sure
    return rows


def pips(count: int, fits: Scores = FITS) -> Scores:
    return np.tile(fits, (count, 1))


def test_one_dissenting_crop_of_a_few_is_a_disagreement() -> None:
    assert not fuse_value_scores(crop_values((5, 0.999), (3, 0.6), (5, 0.999)), pips(3))[1]
    assert fuse_value_scores(crop_values((5, 0.999), (5, 0.99), (5, 0.999)), pips(3))[1]


def face(value: int, sure: float) -> Scores:
    """What a straightened face says."""
    return crop_values((value, sure))[0]


def test_a_rectified_face_resolves_disagreeing_crops() -> None:
    torn = crop_values((5, 0.9), (5, 0.7), (3, 0.5))
    assert not fuse_value_scores(torn, pips(3))[1]
    likely, agree = fuse_value_scores(torn, pips(3), face(5, 0.99))
    assert agree
    assert likely.argmax() == 4
    assert likely.max() > 0.99


def test_a_rectified_face_with_another_value_leaves_clear_crops_unsure() -> None:
    clear = crop_values((5, 0.99), (5, 0.99), (5, 0.99))
    for sure in (0.99, 0.999, 0.9999):
        assert fuse_value_scores(clear, pips(3), face(3, sure))[0].max() < ANNOUNCE


def test_a_clear_rectified_face_outvotes_unsure_crops() -> None:
    torn = crop_values((4, 0.86), (4, 0.5), (2, 0.5))
    for sure, is_sure in ((0.9, False), (0.9999, True)):
        likely, _ = fuse_value_scores(torn, np.zeros((3, 6), np.float32), face(2, sure))
        assert likely.argmax() == 1
        assert bool(likely.max() > ANNOUNCE) is is_sure


def test_a_rectified_face_resolves_an_unsure_value() -> None:
    even = crop_values((5, 0.3), (4, 0.31), (4, 0.3))
    likely, agree = fuse_value_scores(even, np.zeros((3, 6), np.float32), face(4, 0.97))
    assert likely.argmax() == 3
    assert agree


def test_pips_of_another_value_are_a_disagreement() -> None:
    other = FITS[[0, 1, 4, 3, 2, 5]]
    for count in (1, 3):
        assert not fuse_value_scores(crop_values(*[(5, 0.9999)] * count), pips(count, other))[1]


def test_clear_dice_are_certain_from_one_crop() -> None:
    for detection in dice_in(tray(SIX)):
        likely, agree = fuse_value_scores(detection.values, detection.pips)
        assert agree
        assert likely.max() > 0.99
        assert detection.values.shape == detection.pips.shape == (1, 6)
        assert detection.square_on is None


def test_blurred_dice_are_examined_until_their_value_is_clear() -> None:
    detections = dice_in(hardly_legible())
    fused = [fuse_value_scores(each.values, each.pips, each.square_on) for each in detections]
    sure = [int(likely.argmax()) for likely, agree in fused if agree and likely.max() > ANNOUNCE]
    assert len(set(sure)) == len(sure) >= 3, "each value lies there once"
    reading = DiceReader().read(Frame(hardly_legible()))
    assert sorted(die.value or 0 for die in reading.dice) == list(range(1, 7))
    assert max(detection.leaning for detection in detections) < -2.0
    assert {len(detection.values) for detection in detections} == {1, 3}
    assert any(
        detection.square_on is not None and len(detection.values) == 1 for detection in detections
    ), "a clear straightened face needs no more crops"
    for detection in detections:
        assert detection.values.shape == detection.pips.shape


def test_moving_dice_are_classified_once() -> None:
    line = np.zeros((45, 45), np.float32)
    line[22] = 1 / 45
    detections = dice_in(np.asarray(cv2.filter2D(tray(SIX), -1, line), np.uint8))
    assert len(detections) == 6
    assert min(detection.moving for detection in detections) > STILL
    assert all(
        len(detection.values) == 1 and detection.square_on is None for detection in detections
    )


def row(die: float = 6.0, lean: float = -6.0, moving: float = -6.0, visible: float = 6.0) -> Scores:
    logits = np.zeros(51, np.float32)
    logits[[0, 13, 14, 15]] = die, lean, moving, visible
    return logits


def test_a_doubtful_die_or_value_is_unclear() -> None:
    clear = crop_values((5, 0.985))
    assert not classifier._unclear(row(), clear, pips(1))
    assert classifier._unclear(row(die=3.75), clear, pips(1)), "0.985 times 0.977"
    assert classifier._unclear(row(die=3.0), clear, pips(1), face(5, 0.9999)), "it may be no die"


def test_an_agreeing_rectified_face_makes_a_value_clear() -> None:
    torn = crop_values((5, 0.7))
    assert classifier._unclear(row(), torn, pips(1))
    assert not classifier._unclear(row(), torn, pips(1), face(5, 0.99))
    assert classifier._unclear(row(), torn, pips(1), face(4, 0.99))


@pytest.mark.parametrize("seen", [{"moving": 2.5}, {"visible": -1.5}, {"die": -2.5}])
def test_moving_covered_or_false_dice_are_not_at_rest(seen: dict[str, float]) -> None:
    assert classifier._is_at_rest(row())
    assert not classifier._is_at_rest(row(**seen))


@pytest.mark.parametrize(
    "seen", [{"lean": -1.0}, {"moving": 1.0}, {"visible": -1.0}, {"die": -1.0}]
)
def test_only_a_flat_visible_die_at_rest_is_rectified(seen: dict[str, float]) -> None:
    calm = np.zeros(7, np.float32)
    assert classifier._is_legible(row(), calm, None)
    assert not classifier._is_legible(row(**seen), calm, None)


def test_context_and_upright_view_decide_on_flatness() -> None:
    calm, leaning = np.zeros(7, np.float32), np.zeros(7, np.float32)
    leaning[6] = 5.0
    assert not classifier._is_legible(row(), leaning, None)
    assert not classifier._is_legible(row(), calm, 5.0)
    assert classifier._is_legible(row(), leaning, -6.0), "the detection upright counts more"


@pytest.mark.parametrize(
    ("die", "sure", "may"), [(6.0, 0.3, True), (2.0, 0.5, True), (2.0, 0.4, False)]
)
def test_a_doubtful_die_must_show_some_value(die: float, sure: float, may: bool) -> None:
    assert classifier._may_show_a_value(row(die=die), crop_values((5, sure))) is may


def test_the_upright_view_outweighs_classifier_and_context() -> None:
    added = np.zeros(7, np.float32)
    added[6] = 1.0
    assert classifier._leaning(row(lean=-4.0), added, None) == pytest.approx(-3.0)
    assert classifier._leaning(row(lean=-4.0), added, 5.0) == pytest.approx(2.2)


def test_only_clearly_flat_dice_skip_the_upright_view() -> None:
    calm = np.zeros(7, np.float32)
    assert classifier._may_be_tilted(row(lean=-1.0), calm)
    assert classifier._may_be_tilted(row(lean=9.0), calm), "the reader may be wrong about that too"
    assert not classifier._may_be_tilted(row(lean=-9.0), calm)


@pytest.mark.parametrize(
    ("lean", "upright", "torn"), [(-4.0, 4.0, True), (-7.0, -6.0, False), (6.0, 5.0, False)]
)
def test_only_dice_neither_clearly_flat_nor_tilted_are_undecided(
    lean: float, upright: float, torn: bool
) -> None:
    assert classifier._is_tilt_unclear(row(lean=lean), np.zeros(7, np.float32), upright) is torn
