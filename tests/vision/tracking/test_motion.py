"""Motion: dice and hands count, noise and lamps do not."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.engine.dice import ALL_DICE
from tests.vision.scenes import default_scene
from vision.reading import Pixels
from vision.simulation.render import render
from vision.simulation.render_tray import draw_background
from vision.simulation.scene import Thing
from vision.tracking.motion import THUMBNAIL_WIDTH_PX, Thumbnail, changes, thumbnail


def share_moved(before: Thumbnail, now: Thumbnail) -> float:
    return float(changes(before, now).mean())


@pytest.fixture(scope="module")
def tray() -> Pixels:
    scene = default_scene([(colour, 3) for colour in ALL_DICE], seed=4)
    return render(scene, draw_background(scene))


def noisy(pixels: Pixels, sigma: float, seed: int, gain: np.ndarray | float = 1.0) -> Pixels:
    rng = np.random.default_rng(seed)
    return np.clip(pixels * gain + rng.normal(0.0, sigma, pixels.shape), 0, 255).astype(np.uint8)


@pytest.mark.parametrize("sigma", [0.0, 2.0, 6.0, 12.0])
def test_sensor_noise_is_no_motion(tray: Pixels, sigma: float) -> None:
    assert share_moved(thumbnail(noisy(tray, sigma, 1)), thumbnail(noisy(tray, sigma, 2))) == 0.0


@pytest.mark.parametrize("strength", [0.02, 0.05, 0.08])
@pytest.mark.parametrize("phase", [0.0, 2.0, 4.0])
def test_mains_flicker_in_bands_is_no_motion(tray: Pixels, strength: float, phase: float) -> None:
    rows = np.arange(tray.shape[0]) / tray.shape[0]
    bands = 1.0 + strength * np.sin(rows * 2.0 * np.pi * 1.7 + phase)[:, None, None]
    assert share_moved(thumbnail(noisy(tray, 2.0, 1)), thumbnail(noisy(tray, 2.0, 2, bands))) == 0.0


def test_a_slow_change_of_exposure_is_no_motion(tray: Pixels) -> None:
    assert share_moved(thumbnail(tray), thumbnail(noisy(tray, 1.0, 3, 1.12))) == 0.0


@pytest.mark.parametrize("step_px", [3, 6, 20])
def test_a_small_die_that_shifts_is_motion(step_px: int) -> None:
    before, now = (np.full((480, 640, 3), 70, np.uint8) for _ in range(2))
    before[200:225, 300:325] = 200
    now[200:225, 300 + step_px : 325 + step_px] = 200
    assert share_moved(thumbnail(noisy(before, 3.0, 1)), thumbnail(noisy(now, 3.0, 2))) > 0.0


def test_a_hand_over_the_tray_is_more_motion_than_a_die(tray: Pixels) -> None:
    hand, one_die = tray.copy(), tray.copy()
    hand[:300, 200:420] = (60, 90, 150)
    one_die[100:150, 100:150] = (230, 230, 230)
    assert (
        share_moved(thumbnail(tray), thumbnail(hand))
        > share_moved(thumbnail(tray), thumbnail(one_die))
        > 0.0
    )


@pytest.mark.parametrize("height_mm", [15.0, 60.0])
def test_a_hand_over_most_of_the_tray_is_motion(height_mm: float) -> None:
    scene = default_scene([(colour, 3) for colour in ALL_DICE], seed=4, size_wh=(320, 240))
    ground = draw_background(scene)
    hand = Thing("hand", (-20.0, 20.0), 60.0, 105.0, (0.2, 0.32, 0.55), height_mm)
    under = thumbnail(render(replace(scene, things=(hand,)), ground))
    without = thumbnail(render(scene, ground))
    assert share_moved(without, under) > 0.0
    assert share_moved(under, without) > 0.0


def test_pictures_of_other_shape_have_nothing_in_common(tray: Pixels) -> None:
    assert share_moved(thumbnail(tray), thumbnail(tray[:200])) == 1.0


@pytest.mark.parametrize("size_wh", [(1, 1), (8, 8), (3, 900), (4000, 3000)])
def test_any_size_of_picture_gives_a_glance(size_wh: tuple[int, int]) -> None:
    pixels = np.full((size_wh[1], size_wh[0], 3), 128, np.uint8)
    small = thumbnail(pixels)
    assert small.shape[1] == THUMBNAIL_WIDTH_PX
    assert share_moved(small, small) == 0.0


def test_black_pictures_are_still() -> None:
    black = thumbnail(np.zeros((48, 64, 3), np.uint8))
    assert share_moved(black, black) == 0.0


def test_the_recorded_throw_moves_exactly_while_it_moves(shared: Path) -> None:
    files = sorted((shared / "frames" / "streams" / "stream_a").glob("*.jpg"))
    glances = [thumbnail(cv2.imread(str(file))) for file in files]
    moved = [
        number + 1
        for number, (a, b) in enumerate(itertools.pairwise(glances))
        if share_moved(a, b) > 0.0
    ]
    # 5 to 12 dice roll in (13 differs from 12), 20 and 21 a hand takes them (its shadow in 19).
    assert [n for n in moved if n < 23] == [5, 6, 7, 8, 9, 10, 11, 12, 13, 19, 20, 21, 22]
