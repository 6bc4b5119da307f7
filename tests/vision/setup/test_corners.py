"""The corners proposed for a tray, from what the finder made out of its floor."""

import cv2
import numpy as np
import pytest

from vision.calibration.calibration import check_corners
from vision.detector.candidates import FeatureMaps
from vision.reading import Pixels
from vision.setup.corners import corners_of, floor_seen

SIZE = (640, 480)
TRAYS = [
    [[90, 60], [560, 60], [560, 420], [90, 420]],
    [[150, 70], [500, 95], [570, 430], [80, 400]],
    [[320, 30], [560, 230], [330, 450], [80, 250]],
]


def maps(mask: Pixels) -> FeatureMaps:
    """What the finder would say of a floor drawn at the picture's size (H, W), 0 to 255."""
    cells = cv2.resize(mask, (80, 60), interpolation=cv2.INTER_AREA).astype(np.float32) / 255.0
    grid = np.array([[1 / 8, 0, 0.5 / 8 - 0.5], [0, 1 / 8, 0.5 / 8 - 0.5]], np.float32)
    return FeatureMaps((), cells, np.zeros_like(cells), grid, SIZE)


@pytest.mark.parametrize("outline", TRAYS)
@pytest.mark.parametrize("round_px", [1, 61])
def test_four_sides_with_sharp_corners_or_round_ones(
    outline: list[list[int]], round_px: int
) -> None:
    mask = np.zeros(SIZE[::-1], np.uint8)
    cv2.fillConvexPoly(mask, np.array(outline, np.int32), 255)
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (round_px, round_px))
    mask = np.asarray(cv2.morphologyEx(mask, cv2.MORPH_OPEN, disc), np.uint8)
    seen = floor_seen(maps(mask), 35.0)
    assert seen is not None
    found = corners_of(seen, SIZE)
    assert found is not None
    assert len(found) == 4
    off = [min(np.hypot(*np.subtract(corner, point)) for point in outline) for corner in found]
    assert max(off) < 5, found  # a cell is 8 px wide


def test_an_unseen_corner_is_still_proposed() -> None:
    mask = np.zeros(SIZE[::-1], np.uint8)
    cv2.fillConvexPoly(mask, np.array(TRAYS[0], np.int32), 255)
    cv2.fillConvexPoly(mask, np.array([[560, 340], [560, 420], [470, 420]], np.int32), 0)
    seen = floor_seen(maps(mask), 35.0)
    assert seen is not None
    found = corners_of(seen, SIZE)
    assert found is not None
    assert len(found) == 4
    assert min(np.hypot(x - 560, y - 420) for x, y in found) < 8


@pytest.mark.parametrize(("x", "y"), [(-80, 20), (-119, -41), (-56, -32), (-49, -23)])
def test_a_corner_beyond_the_picture_costs_no_floor(x: int, y: int) -> None:
    outline = np.array([[x, 60], [560, y], [600, 460], [70, 420]], np.int32)
    mask = np.zeros(SIZE[::-1], np.uint8)
    cv2.fillConvexPoly(mask, outline, 255)
    seen = floor_seen(maps(mask), 35.0)
    assert seen is not None
    found = corners_of(seen, SIZE)
    assert found is not None
    check_corners(found, SIZE)  # it may be kept
    proposed = np.zeros_like(mask)
    cv2.fillConvexPoly(proposed, np.round(found).astype(np.int32), 255)
    assert ((mask > 0) & (proposed == 0)).sum() < 0.02 * (mask > 0).sum(), found


def test_a_round_tray_has_more_corners_than_four() -> None:
    mask = np.zeros(SIZE[::-1], np.uint8)
    cv2.circle(mask, (320, 240), 190, 255, -1)
    seen = floor_seen(maps(mask), 35.0)
    assert seen is not None
    found = corners_of(seen, SIZE)
    assert found is not None
    assert len(found) > 5
