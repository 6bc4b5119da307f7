"""The tilt of the floor, found from the dice on it."""

from __future__ import annotations

import numpy as np
import pytest

from vision.detector.tilt import off_the_floor
from vision.simulation.render import Camera

WIDTH, HEIGHT = 640, 480


def view(tilt_deg: float, focal_px: float) -> tuple[np.ndarray, np.ndarray]:
    """Six places (6, 2) in long sides from the middle, and how the floor leans there."""
    camera = Camera.above((WIDTH, HEIGHT), focal_px, 300.0, tilt_deg=tilt_deg, azimuth_deg=70.0)
    pixels = np.array([[60, 50], [580, 70], [320, 240], [90, 420], [560, 400], [250, 150]], float)
    places = (pixels - np.array([WIDTH - 1, HEIGHT - 1]) / 2) / WIDTH
    return places.astype(np.float32), camera.up_at(pixels).astype(np.float32)


ALL = np.ones(6, np.float32)
EVEN = np.full(6, 0.06, np.float32)


@pytest.mark.parametrize("tilt_deg", [0.0, 12.0, 24.0])
@pytest.mark.parametrize("focal_px", [420.0, 560.0, 800.0])
def test_flat_dice_agree_under_any_camera(tilt_deg: float, focal_px: float) -> None:
    places, up = view(tilt_deg, focal_px)
    noise = np.random.default_rng(1).normal(0, 0.02, up.shape).astype(np.float32)
    fit = off_the_floor(up + noise, EVEN, places, up + 0.08, ALL)
    assert np.hypot(*fit.off.T).max() < 0.1
    assert fit.fits.min() > 0.55
    assert np.hypot(*fit.floor) == pytest.approx(np.sin(np.radians(tilt_deg)), abs=0.06)
    assert abs(fit.slope + 1.05 - 640 / focal_px) < 0.35


@pytest.mark.parametrize("tilt_deg", [0.0, 12.0, 24.0])
def test_a_tilted_die_does_not_distort_the_floor_plane(tilt_deg: float) -> None:
    places, up = view(tilt_deg, 560.0)
    own = up.copy()
    own[2] += (0.3, -0.3)
    fit = off_the_floor(own, EVEN, places, up + 0.05, ALL)
    away = np.hypot(*fit.off.T)
    assert away[2] > 0.3 > 0.12 > np.delete(away, 2).max()
    assert fit.fits[2] < 0.2 < 0.5 < np.delete(fit.fits, 2).min()


def test_a_blurred_outline_is_no_evidence_of_a_tilt() -> None:
    places, up = view(10.0, 560.0)
    own = up.copy()
    own[2] += (0.2, -0.1)
    doubtful = EVEN.copy()
    doubtful[2] = 0.3
    known, guessed = (off_the_floor(own, spread, places, up, ALL) for spread in (EVEN, doubtful))
    assert known.odd[2] > 2.5 > 1.0 > guessed.odd[2]
    # ... and it hardly moves the floor that the others lie on
    assert np.abs(guessed.floor - off_the_floor(up, EVEN, places, up, ALL).floor).max() < 0.01


def test_each_die_is_held_against_the_others_alone() -> None:
    places, up = view(10.0, 560.0)
    own = up.copy()
    own[0] += (0.1, 0.1)
    pair = np.array([1, 1, 0, 0, 0, 0], np.float32)
    off = off_the_floor(own, EVEN, places, up, pair).off
    assert np.hypot(*off[0]) > 0.1


def test_one_die_alone_is_held_against_the_guess() -> None:
    places, up = view(15.0, 610.0)
    only = np.array([1, 0, 0, 0, 0, 0], np.float32)
    assert np.hypot(*off_the_floor(up, EVEN, places, up, only).off[0]) < 0.05
    assert np.hypot(*off_the_floor(up + 0.3, EVEN, places, up, only).off[0]) > 0.1


def test_without_dice_nothing_fits() -> None:
    places, up = view(0.0, 610.0)
    assert off_the_floor(up, EVEN, places, up, np.zeros(6, np.float32)).fits.max() == 0.0


@pytest.mark.parametrize("tilt_deg", [0.0, 12.0, 24.0])
def test_dice_grow_across_the_picture_with_the_floors_slope(tilt_deg: float) -> None:
    """Nearer ones are larger: by the share of the distance to the camera that they are nearer."""
    places, up = view(tilt_deg, 560.0)
    grows = np.array(off_the_floor(up, EVEN, places, up, ALL).grows())
    camera = Camera.above((WIDTH, HEIGHT), 560.0, 300.0, tilt_deg=tilt_deg, azimuth_deg=70.0)
    flat = np.c_[places * WIDTH / 560.0, np.ones(6)]
    away = camera.position_mm[2] / -(flat @ np.asarray(camera.rotation))[:, 2]
    assert 1.0 + places @ grows == pytest.approx(300.0 / away, abs=0.07)


def test_nothing_leaps_where_two_focal_lengths_explain_dice_as_well() -> None:
    """A die near the limit would be doubted or not by what hardly differs."""
    places, tele = view(20.0, 900.0)
    _, wide = view(20.0, 380.0)
    steps = np.linspace(0.0, 1.0, 60, dtype=np.float32)
    stands = [off_the_floor(tele + step * (wide - tele), EVEN, places, tele, ALL) for step in steps]
    slopes = np.array([fit.slope for fit in stands])
    assert slopes[-1] - slopes[0] > 0.4, "both ends are outputs apart"
    assert np.abs(np.diff(slopes)).max() < 0.05
    assert np.abs(np.diff([fit.off for fit in stands], axis=0)).max() < 0.01
