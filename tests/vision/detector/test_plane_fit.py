"""The tilt of the floor, found from the dice on it."""

from __future__ import annotations

import numpy as np

from vision.detector.tilt import off_the_floor
from vision.simulation.scene import Camera

WIDTH, HEIGHT = 640, 480


def view(tilt_deg: float, focal_px: float) -> tuple[np.ndarray, np.ndarray]:
    """Six places (6, 2) in long sides from the middle, and how the floor is tilted there."""
    camera = Camera.above((WIDTH, HEIGHT), focal_px, 300.0, tilt_deg=tilt_deg, azimuth_deg=70.0)
    pixels = np.array([[60, 50], [580, 70], [320, 240], [90, 420], [560, 400], [250, 150]], float)
    places = (pixels - np.array([WIDTH - 1, HEIGHT - 1]) / 2) / WIDTH
    return places.astype(np.float32), camera.up_at(pixels).astype(np.float32)


ALL = np.ones(6, np.float32)
EVEN = np.full(6, 0.06, np.float32)


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
