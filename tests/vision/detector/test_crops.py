"""Outlines of top faces, from crops back to the picture."""

from __future__ import annotations

import numpy as np
import pytest

from vision.detector.crops import HALF_DIAGONAL, crop_matrix, crops_round, edges_of
from vision.detector.inference import CropOutputs, corners_of
from vision.detector.models import CROP, CROP_EDGES

PLACES = (((320.0, 200.0), 40.0), ((17.5, 401.25), 24.0), ((600.0, 3.0), 97.0))


def outputs(turn_rad: float, outline: tuple[float, ...]) -> CropOutputs:
    """What the reader says of three crops, the same outline of each."""
    logits = np.zeros((len(PLACES), 51), np.float32)
    logits[:, 16:23] = outline
    cuts = np.array([crop_matrix(middle, edge, turn_rad) for middle, edge in PLACES])
    count = len(PLACES)
    return CropOutputs(logits, np.zeros((count, 3)), cuts)


@pytest.mark.parametrize("turn_deg", [0.0, 30.0, -75.0])
def test_a_square_in_the_middle_of_a_crop_lies_where_it_was_cut(turn_deg: float) -> None:
    corners = corners_of(outputs(np.radians(turn_deg), (0, 0, 1, 0, HALF_DIAGONAL, 0, 0)))
    for quad, (middle, edge) in zip(corners, PLACES, strict=True):
        assert quad.mean(axis=0) == pytest.approx(middle, abs=0.01)
        right = quad[0] - middle  # the first corner lies right of the middle in the crop
        turned = np.degrees(np.arctan2(right[1], right[0]))
        assert np.hypot(*right) == pytest.approx(edge / np.sqrt(2), rel=1e-4)
        assert turned == pytest.approx(-turn_deg, abs=0.01)
    assert edges_of(corners) == pytest.approx([edge for _, edge in PLACES], rel=1e-4)


def test_an_outline_askew_comes_back_by_the_cut() -> None:
    crops = outputs(0.4, (0.11, -0.2, 0.8, 0.6, -0.2, 0.12, -0.07))
    there = corners_of(crops)
    back = there @ crops.cuts[:, :, :2].transpose(0, 2, 1) + crops.cuts[:, None, :, 2]
    assert back == pytest.approx(np.broadcast_to(back[0], back.shape), abs=0.01)
    x, y = back[0].mean(axis=0)
    middle, edge = (CROP - 1) / 2, CROP / CROP_EDGES
    assert (x, y) == pytest.approx((middle + 0.11 * edge, middle - 0.2 * edge), abs=0.01)


def test_crops_lie_round_faces_and_within_the_picture() -> None:
    corners = corners_of(outputs(0.0, (0, 0, 1, 0, HALF_DIAGONAL, 0, 0)))
    corners[2] -= (0.0, 50.0)  # its middle lies beyond the upper edge
    cuts = crops_round(np.zeros((480, 640, 3), np.uint8), corners, edges_of(corners), 0.3)
    for cut, middle in zip(cuts, [PLACES[0][0], PLACES[1][0], (600.0, 0.0)], strict=True):
        there = cut[:, :2] @ middle + cut[:, 2]
        assert there == pytest.approx([(CROP - 1) / 2] * 2, abs=0.01)
