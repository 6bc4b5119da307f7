"""The second witness of a value: where the pips of a top face lie."""

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from vision.detector.models import CROP, PIP_CELLS, Scores
from vision.detector.values import margin, pip_pattern_errors

RNG = np.random.default_rng(5)
FACES: dict[int, list[tuple[float, float]]] = {
    1: [(0.5, 0.5)],
    2: [(0.25, 0.25), (0.75, 0.75)],
    3: [(0.25, 0.25), (0.5, 0.5), (0.75, 0.75)],
    4: [(0.25, 0.25), (0.25, 0.75), (0.75, 0.25), (0.75, 0.75)],
    5: [(0.25, 0.25), (0.25, 0.75), (0.75, 0.25), (0.75, 0.75), (0.5, 0.5)],
    6: [(0.25, 0.25), (0.25, 0.5), (0.25, 0.75), (0.75, 0.25), (0.75, 0.5), (0.75, 0.75)],
}


def outline(turn_deg: float, edge_px: float = 30.0) -> NDArray[np.float32]:
    """A top face seen a little from the side, in px of the crop."""
    a = np.radians(turn_deg)
    turn = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    square = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]]) * edge_px
    flat = square @ turn.T * (1.0, 0.85)
    return np.asarray(flat + (CROP - 1) / 2, np.float32)


def drawn(points: NDArray[np.float64]) -> NDArray[np.float32]:
    """One pip of mass 1 at each point (N, 2) in px of the crop."""
    density = np.zeros((PIP_CELLS, PIP_CELLS), np.float32)
    for x, y in points:
        u, v = ((c + 0.5) * PIP_CELLS / CROP - 0.5 for c in (x, y))
        i, j = int(u), int(v)
        for di, dj in ((0, 0), (0, 1), (1, 0), (1, 1)):
            if j + dj == PIP_CELLS:
                continue
            density[j + dj, i + di] += abs(1 - di - (u - i)) * abs(1 - dj - (v - j))
    return density


def on_face(
    corners: NDArray[np.float32], candidates: list[tuple[float, float]]
) -> NDArray[np.float64]:
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)
    there = cv2.getPerspectiveTransform(square, corners)
    points = np.array(candidates, np.float32)[:, None]
    return np.asarray(cv2.perspectiveTransform(points, there)[:, 0], np.float64)


def misfits_of(seen: NDArray[np.float64], corners: NDArray[np.float32]) -> Scores:
    return pip_pattern_errors(seen[None].astype(np.float32), corners[None])[0]


@pytest.mark.parametrize("value", FACES)
@pytest.mark.parametrize("turn_deg", [0, 20, 45, 100, 250])
@pytest.mark.parametrize("first", [0, 1])
def test_every_value_is_recognised_by_its_pattern(value: int, turn_deg: float, first: int) -> None:
    corners = outline(turn_deg)
    seen = drawn(on_face(corners, FACES[value])) + RNG.normal(0, 0.003, (PIP_CELLS,) * 2)
    costs = misfits_of(seen, np.roll(corners, first, axis=0))
    assert int(costs.argmin()) + 1 == value
    assert margin(costs, value) < -0.4
    assert all(margin(costs, other) > 0.4 for other in FACES if other != value)


def test_pips_of_side_faces_do_not_count() -> None:
    corners = outline(0, 26.0)
    side = on_face(corners, [(x, y + 1.12) for x, y in FACES[5]])
    seen = drawn(np.concatenate([on_face(corners, FACES[1]), side]))
    assert seen.sum() > 5.0
    assert margin(misfits_of(seen, corners), 1) < -0.4


def test_half_visible_pips_fit_no_value_well() -> None:
    corners = outline(30)
    five = drawn(on_face(corners, FACES[4])) + 0.5 * drawn(on_face(corners, FACES[1]))
    costs = misfits_of(five, corners)
    assert margin(costs, 4) > -0.3
    assert margin(costs, 5) > -0.3


def test_faces_are_scored_independently_of_each_other() -> None:
    faces = [outline(10), outline(200), np.full((4, 2), 32.0, np.float32)]
    seen = np.stack([drawn(on_face(faces[0], FACES[value])) for value in (2, 6, 3)])
    together = pip_pattern_errors(seen.astype(np.float32), np.stack(faces))
    alone = [misfits_of(one, face) for one, face in zip(seen, faces, strict=True)]
    assert np.allclose(together, alone, atol=1e-5)
    assert np.isfinite(together).all()
