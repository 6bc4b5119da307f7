"""Outlines of top faces, from crops back to the picture."""

from __future__ import annotations

import numpy as np
import pytest

from vision.detector.crops import crop_matrices, edges_of
from vision.detector.inference import CropOutputs, corners_of
from vision.detector.models import CROP, CROP_EDGES

FITS = float(np.log(np.sqrt(0.5)))
"""Size (log, in edges) that the reader says of a die that fits its crop."""
PLACES = (((320.0, 200.0), 40.0), ((17.5, 401.25), 24.0), ((600.0, 3.0), 97.0))


def outputs(outline: tuple[float, ...]) -> CropOutputs:
    """What the reader says of three crops, the same outline of each."""
    logits = np.zeros((len(PLACES), 51), np.float32)
    logits[:, 16:23] = outline
    middles, edges = (np.array(each) for each in zip(*PLACES, strict=True))
    cuts = crop_matrices(middles, edges)
    count = len(PLACES)
    return CropOutputs(logits, np.zeros((count, 3)), cuts)


def test_a_square_in_the_middle_of_a_crop_lies_where_it_was_cut() -> None:
    corners = corners_of(outputs((0, 0, 1, 0, FITS, 0, 0)))
    for quad, (middle, edge) in zip(corners, PLACES, strict=True):
        assert quad.mean(axis=0) == pytest.approx(middle, abs=0.01)
        right = quad[0] - middle  # the first corner lies right of the middle
        assert right == pytest.approx((edge / np.sqrt(2), 0.0), rel=1e-4, abs=0.01)
    assert edges_of(corners) == pytest.approx([edge for _, edge in PLACES], rel=1e-4)


def test_an_outline_askew_comes_back_by_the_cut() -> None:
    crops = outputs((0.11, -0.2, 0.8, 0.6, -0.2, 0.12, -0.07))
    there = corners_of(crops)
    back = there @ crops.cuts[:, :, :2].transpose(0, 2, 1) + crops.cuts[:, None, :, 2]
    assert back == pytest.approx(np.broadcast_to(back[0], back.shape), abs=0.01)
    x, y = back[0].mean(axis=0)
    middle, edge = (CROP - 1) / 2, CROP / CROP_EDGES
    assert (x, y) == pytest.approx((middle + 0.11 * edge, middle - 0.2 * edge), abs=0.01)
