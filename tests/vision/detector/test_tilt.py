"""Dice that may be tilted: turned upright, classified and compared with the others."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from tests.vision.scenes import default_scene
from tests.vision.trays import SIX, classified, ground, tray
from vision.detector.classifier import Detection
from vision.detector.crops import close_up
from vision.detector.models import NORMAL, SPREAD, UPRIGHT, UPRIGHT_EDGES, Scores
from vision.detector.tilt import estimate_tilt
from vision.detector.upright import classify_upright, shown, upright_turn
from vision.reading import Pixels
from vision.simulation.geometry import to_matrix
from vision.simulation.render import render

SQUARE = 40.0 * np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]])


def turned(corners: NDArray[np.float64], angle_rad: float) -> NDArray[np.float64]:
    c, s = np.cos(angle_rad), np.sin(angle_rad)
    return corners @ np.array([[c, s], [-s, c]])


@pytest.mark.parametrize("angle_rad", [0.0, 0.4, 1.6, 3.0, 5.5])
@pytest.mark.parametrize("first", [0, 1, 2, 3])
@pytest.mark.parametrize("way", [1, -1])
def test_a_face_stands_upright_whatever_way_it_lay(angle_rad: float, first: int, way: int) -> None:
    corners = np.roll(np.add(turned(SQUARE, angle_rad), (130, 70)), first, axis=0)[::way]
    turn = upright_turn(corners)
    there = corners @ turn[:, :2].T + turn[:, 2] - (UPRIGHT - 1) / 2
    assert np.abs(there) == pytest.approx(UPRIGHT / UPRIGHT_EDGES / 2, abs=1e-3)
    assert np.linalg.det(turn[:, :2]) > 0, "not mirrored: or its directions would be"


def test_a_face_seen_askew_keeps_its_form() -> None:
    askew = np.array([[90, 40], [150, 62], [128, 120], [70, 100]], np.float64)
    turn = upright_turn(askew)
    there = askew @ turn[:, :2].T + turn[:, 2]
    assert there.mean(axis=0) == pytest.approx((UPRIGHT - 1) / 2, abs=1e-3)
    before, after = (
        np.linalg.norm(points - np.roll(points, 1, axis=0), axis=1) for points in (askew, there)
    )
    assert after / after.mean() == pytest.approx(before / before.mean(), abs=1e-4)


def test_an_outline_without_size_is_no_trouble() -> None:
    assert np.isfinite(upright_turn(np.full((4, 2), 7.0))).all()


def test_a_dark_close_up_is_shown_as_a_bright_one() -> None:
    dice = np.random.default_rng(3).random((2, UPRIGHT, UPRIGHT, 3), np.float32)
    assert np.abs(shown(0.5 + 0.5 * dice) - shown(0.05 + 0.2 * dice)).max() < 0.15
    assert np.isfinite(shown(np.zeros_like(dice))).all()


def test_a_lamp_beside_a_dark_face_does_not_drown_it() -> None:
    dice = np.full((1, UPRIGHT, UPRIGHT, 3), 0.02, np.float32)
    dice[:, :5] = 1.0
    assert shown(dice).max() <= 6.0


def with_one_tilted(degrees: float) -> Pixels:
    """The six dice, the first of them turned up about a level axis."""
    scene = default_scene(SIX, seed=3)
    first, *rest = scene.dice
    tipped, _ = cv2.Rodrigues(np.array([0.6, 0.8, 0.0]) * np.radians(degrees))
    x, y, z = first.position_mm
    lift = first.size_mm * np.sin(np.radians(degrees)) * 0.5
    tilted = replace(
        first,
        rotation=to_matrix(tipped @ np.asarray(first.rotation)),
        position_mm=(x, y, z + float(lift)),
    )
    return render(replace(scene, dice=(tilted, *rest)), ground())


def seen_in(pixels: Pixels) -> list[Detection]:
    return [each for each in classified(pixels) if each.die > 0.9]


def asked_of(pixels: Pixels, detections: list[Detection], which: list[int], tell: Scores) -> Scores:
    """Outputs of the upright network for dice whose true directions are `tell` (see `NORMAL`)."""
    height, width = pixels.shape[:2]
    logits = np.zeros((len(detections), 51), np.float32)
    logits[:, 0], logits[:, SPREAD] = 9.0, np.log(0.04)
    logits[:, NORMAL] = tell
    corners = np.stack([detection.corners for detection in detections])
    middle = np.array([width - 1, height - 1]) / 2
    places = np.array([np.subtract(k.centre_xy, middle) / width for k in detections], np.float32)
    shares = np.array([detection.edge_px / width for detection in detections], np.float32)
    guessed = np.zeros((len(detections), 2), np.float32)
    return estimate_tilt(
        classify_upright(pixels, corners[which]), which, logits, places, shares, guessed
    )


NONE_TOLD = np.zeros((6, 2), np.float32)


def test_the_tilted_die_scores_highest() -> None:
    pixels = with_one_tilted(22.0)
    detections = seen_in(pixels)
    odds = asked_of(pixels, detections, list(range(6)), NONE_TOLD)
    x, y = default_scene(SIX, seed=3).camera.project(
        np.array([default_scene(SIX, seed=3).dice[0].position_mm])
    )[0]
    gaps = [
        np.hypot(detection.centre_xy[0] - x, detection.centre_xy[1] - y) for detection in detections
    ]
    one = int(np.argmin(gaps))
    assert odds[one] > 1.0
    assert np.delete(odds, one).max() < -2.0


def test_flat_dice_lie_flat_however_the_camera_is_turned() -> None:
    for quarter in range(4):
        pixels = np.ascontiguousarray(np.rot90(tray(SIX), quarter))
        detections = seen_in(pixels)
        assert asked_of(pixels, detections, list(range(6)), NONE_TOLD).max() < -2.0


def test_unexamined_dice_keep_the_classifiers_orientation() -> None:
    pixels = tray(SIX)
    detections = seen_in(pixels)
    alone = asked_of(pixels, detections, [2], NONE_TOLD)
    askew = np.zeros((6, 2), np.float32)
    askew[2] = 0.6
    assert asked_of(pixels, detections, [2], askew) == pytest.approx(alone), "its own word counts"
    others = np.full((6, 2), 0.4, np.float32)
    assert asked_of(pixels, detections, [2], others)[0] > alone[0] + 1.0, (
        "it differs from all others"
    )


def test_a_close_up_is_that_of_the_face_upright() -> None:
    pixels = np.zeros((200, 260, 3), np.uint8)
    corners = np.add(turned(SQUARE, 0.5), (130, 90))
    cv2.fillConvexPoly(pixels, np.round(corners).astype(np.int32), (255, 255, 255))
    cut = close_up(pixels, upright_turn(corners), UPRIGHT)[..., 0]
    edge = UPRIGHT / UPRIGHT_EDGES
    low, high = round((UPRIGHT - edge) / 2), round((UPRIGHT + edge) / 2)
    assert cut[low + 2 : high - 2, low + 2 : high - 2].min() > 200
    assert max(cut[: low - 2].max(), cut[:, high + 3 :].max()) < 50
