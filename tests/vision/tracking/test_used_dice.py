"""Whether used dice still lie in a tray that seems empty, by pictures of it."""

from __future__ import annotations

import cv2
import numpy as np

from tests.vision.tray_fakes import ok
from vision.reading import Pixels
from vision.tracking.used_dice import UsedDice

DICE = ok().dice


def tray(*, with_dice: bool) -> Pixels:
    """A plain floor that fills the picture but for a rim on the left."""
    pixels: Pixels = np.full((480, 640, 3), 150, np.uint8)
    pixels[:, :12] = 40
    for die in DICE if with_dice else ():
        x, y = (round(each) for each in die.centre_xy)
        cv2.rectangle(pixels, (x - 20, y - 20), (x + 20, y + 20), (200, 90, 40), -1)
        cv2.circle(pixels, (x, y), 5, (20, 20, 20), -1)
    return pixels


def test_dice_that_were_most_of_the_picture_are_out() -> None:
    for seen_bare in (None, tray(with_dice=False)):
        used = UsedDice.kept(DICE, tray(with_dice=True), seen_bare)
        assert not used.may_lie_there(tray(with_dice=False))


def test_a_camera_looks_past_a_tray_that_was_never_seen_bare() -> None:
    used = UsedDice.kept(DICE, tray(with_dice=True), None)
    grain = np.random.default_rng(3).normal(120.0, 60.0, (480, 640, 3))
    elsewhere = cv2.GaussianBlur(grain, (0, 0), 3.0) * 4.0 - 360.0
    assert used.may_lie_there(np.clip(elsewhere, 0, 255).astype(np.uint8))
    blurred = cv2.GaussianBlur(tray(with_dice=True), (0, 0), 8.0)
    assert used.may_lie_there(np.asarray(blurred, np.uint8))
