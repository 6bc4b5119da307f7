"""The same scene seen in a mirror: places and values come back to the picture itself."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from tests.vision.trays import SIX, tray
from vision.detector.mirror import mirrored, mirrored_die
from vision.evidence import SceneEvidence
from vision.pipeline import DiceReader
from vision.reading import Frame, Pixels

CORNERS = ((40.0, 30.0), (600.0, 50.0), (580.0, 450.0), (30.0, 440.0))


def seen(pixels: Pixels) -> SceneEvidence:
    evidence = DiceReader().read(Frame(pixels)).evidence
    assert evidence is not None
    return evidence


def test_a_mirrored_picture_shows_the_same_dice_in_the_same_places() -> None:
    pixels = tray(SIX)
    straight = seen(pixels)
    mirror = seen(np.ascontiguousarray(cv2.flip(pixels, 1)))
    back = [mirrored_die(die, pixels.shape[1]) for die in mirror.dice]
    assert len(straight.dice) == len(back) == 6
    for die in straight.dice:
        gaps = [np.hypot(*np.subtract(die.centre_xy, other.centre_xy)) for other in back]
        same = back[int(np.argmin(gaps))]
        assert min(gaps) < 0.1 * die.edge_px
        assert same.value == die.value
        assert _area(same.corners) == pytest.approx(_area(die.corners), rel=0.2)


def test_two_mirrors_give_the_dice_and_the_tray_themselves() -> None:
    for die in seen(tray(SIX)).dice:
        same = mirrored_die(mirrored_die(die, 640), 640)
        assert same.centre_xy == pytest.approx(die.centre_xy, abs=1e-3)
        np.testing.assert_allclose(same.corners, die.corners, atol=1e-3)
    floor = np.array(CORNERS, np.float32)
    assert _area(mirrored(floor, 640)) == pytest.approx(_area(floor))
    assert mirrored(floor, 640).tolist() != floor.tolist()
    assert mirrored(mirrored(floor, 640), 640).tolist() == floor.tolist()


def _area(corners: np.ndarray) -> float:
    """Twice the signed area: its sign is the way round."""
    x, y = corners.T
    return float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y))
