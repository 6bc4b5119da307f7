"""Whether used dice still lie in a tray that seems empty, by pictures of it."""

from __future__ import annotations

import cv2
import numpy as np

from tests.vision.tray_fakes import ok
from vision.reading import Pixels
from vision.tracking.used_dice import UsedDice

DICE = ok().dice


def tray(*, with_dice: bool, with_rim: bool = True) -> Pixels:
    """A plain floor that fills the picture but for a rim on the left."""
    pixels: Pixels = np.full((480, 640, 3), 150, np.uint8)
    pixels[:, : 12 if with_rim else 0] = 40
    for die in DICE if with_dice else ():
        x, y = (round(each) for each in die.centre_xy)
        cv2.rectangle(pixels, (x - 20, y - 20), (x + 20, y + 20), (200, 90, 40), -1)
        cv2.circle(pixels, (x, y), 5, (20, 20, 20), -1)
    return pixels


def elsewhere() -> Pixels:
    """A table top with a grain."""
    grain = np.random.default_rng(3).normal(120.0, 60.0, (480, 640, 3))
    return np.clip(cv2.GaussianBlur(grain, (0, 0), 3.0) * 4.0 - 360.0, 0, 255).astype(np.uint8)


def test_dice_that_were_most_of_the_picture_are_out() -> None:
    for seen_bare in (None, tray(with_dice=False)):
        used = UsedDice.kept(DICE, tray(with_dice=True), seen_bare)
        assert not used.may_lie_there(tray(with_dice=False))


def test_a_camera_looks_past_a_tray_that_was_never_seen_bare() -> None:
    used = UsedDice.kept(DICE, tray(with_dice=True), None)
    assert used.may_lie_there(elsewhere())
    blurred = cv2.GaussianBlur(tray(with_dice=True), (0, 0), 8.0)
    assert used.may_lie_there(np.asarray(blurred, np.uint8))


def test_a_camera_looks_past_a_tray_without_any_detail() -> None:
    bare = tray(with_dice=False, with_rim=False)
    for seen_bare in (None, bare):
        used = UsedDice.kept(DICE, tray(with_dice=True, with_rim=False), seen_bare)
        assert used.may_lie_there(elsewhere())
        assert not used.may_lie_there(bare)


def test_a_wall_seen_before_the_dice_is_not_taken_for_the_tray() -> None:
    floor = elsewhere()
    lying = floor.copy()
    for die in DICE:
        x, y = (round(each) for each in die.centre_xy)
        cv2.rectangle(lying, (x - 20, y - 20), (x + 20, y + 20), (200, 90, 40), -1)
    used = UsedDice.kept(DICE, lying, np.full_like(lying, 150))
    assert used.may_lie_there(np.asarray(floor[::-1], np.uint8))
    assert not used.may_lie_there(floor)
