"""Top faces are straightened by their outline and named whatever way they lay."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.vision.trays import SIX, tray
from vision.detector.candidates import propose_candidates
from vision.detector.classifier import Detection, classify_each
from vision.detector.crops import levelled
from vision.detector.faces import INNER, straightened, values_square_on
from vision.detector.inference import CropCache
from vision.detector.models import FACE, FACE_EDGES
from vision.reading import Pixels

TURNED = np.array([[90, 40], [150, 62], [128, 120], [70, 100]], np.float32)
"""The outline of a face seen askew."""


def quartered(corners: NDArray[np.float32], size_wh: tuple[int, int] = (220, 160)) -> Pixels:
    """A picture of a face with a colour of its own in each quarter, black outside."""
    quarters = np.zeros((200, 200, 3), np.uint8)
    quarters[:100, :100], quarters[:100, 100:] = (200, 40, 40), (40, 200, 40)
    quarters[100:, 100:], quarters[100:, :100] = (40, 40, 200), (200, 200, 200)
    square = np.array([[0, 0], [200, 0], [200, 200], [0, 200]], np.float32) - 0.5
    turn = cv2.getPerspectiveTransform(square, corners)
    return np.asarray(cv2.warpPerspective(quarters, turn, size_wh, flags=cv2.INTER_AREA), np.uint8)


@pytest.fixture(scope="module")
def six_looks() -> list[Detection]:
    pixels = tray(SIX)
    found = classify_each(CropCache(pixels), propose_candidates(pixels).candidates)
    return [detection for detection in found if detection.die > 0.9]


def test_a_face_seen_askew_is_straightened() -> None:
    face = straightened(quartered(TURNED), TURNED)
    assert face.shape == (FACE, FACE, 3)
    edge = FACE / FACE_EDGES
    near, far = FACE / 2 - edge / 4, FACE / 2 + edge / 4
    for (x, y), colour in (
        ((near, near), (200, 40, 40)),
        ((far, near), (40, 200, 40)),
        ((far, far), (40, 40, 200)),
        ((near, far), (200, 200, 200)),
    ):
        part = face[round(y) - 5 : round(y) + 5, round(x) - 5 : round(x) + 5].reshape(-1, 3)
        assert np.abs(part.mean(axis=0) - colour).max() < 3
    margin = int((FACE - edge) / 2) - 2
    assert face[:margin].max() < 60, "what lies round the face shows as well"


def test_no_pip_is_skipped_where_a_large_face_is_made_small() -> None:
    stripes = np.zeros((900, 900, 3), np.uint8)
    stripes[:, ::2] = 255
    corners = np.array([[150, 150], [750, 150], [750, 750], [150, 750]], np.float32)
    assert np.ptp(straightened(stripes, corners).astype(int)) < 25, "an even grey, no moiré"


def test_a_large_face_is_straightened_as_a_small_one() -> None:
    small = straightened(quartered(TURNED), TURNED).astype(int)
    for zoom in (3.0, 7.0):
        corners = zoom * (TURNED + 0.5) - 0.5
        large = quartered(corners, (round(220 * zoom), round(160 * zoom)))
        apart = np.abs(straightened(large, corners).astype(int) - small)
        assert np.median(apart) < 2
        assert np.quantile(apart, 0.9) < 40, "but for the edges of the quarters"


def test_faces_at_the_edge_of_the_picture_are_straightened_too() -> None:
    for zoom, away in ((1.0, (-95, -60)), (1.0, (100, 70)), (8.0, (-95, -60))):
        corners = zoom * np.add(TURNED, away)
        face = straightened(quartered(TURNED), corners.astype(np.float32))
        assert face.shape == (FACE, FACE, 3)


def test_a_dark_face_is_levelled_as_a_bright_one() -> None:
    face = np.random.default_rng(2).random((1, FACE, FACE, 3), np.float32)
    bright, dark = levelled(0.5 + 0.5 * face, INNER), levelled(0.05 + 0.2 * face, INNER)
    assert np.abs(bright - dark).max() < 0.15
    assert 0.3 < bright.std() < 0.7
    assert np.isfinite(levelled(np.zeros_like(face), INNER)).all(), "a black one holds nothing"


def test_values_are_named_from_any_corner_and_either_way_round(six_looks: list[Detection]) -> None:
    pixels = tray(SIX)
    outlines = np.stack([detection.corners for detection in six_looks])
    first = values_square_on(pixels, outlines)
    assert (first.max(axis=1) > 0.95).all()
    assert {int(row.argmax()) + 1 for row in first} == {1, 2, 3, 4, 5, 6}
    for row, detection in zip(first, six_looks, strict=True):
        assert row.argmax() == detection.values[0].argmax()
    around = np.roll(outlines[:, ::-1], 1, axis=1)
    assert np.abs(values_square_on(pixels, around) - first).max() < 0.02


def test_values_are_named_in_a_tenth_of_the_light(six_looks: list[Detection]) -> None:
    pixels = tray(SIX)
    dim = (pixels.astype(np.float32) * 0.12).astype(np.uint8)
    outlines = np.stack([detection.corners for detection in six_looks])
    named = values_square_on(dim, outlines).argmax(axis=1)
    assert (named == values_square_on(pixels, outlines).argmax(axis=1)).all()
