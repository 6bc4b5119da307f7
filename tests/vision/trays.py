"""Pictures of one tray, drawn once: empty, and with dice; and the dice of a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import cv2
import numpy as np

from companion.engine.dice import ALL_DICE, DieColour
from tests.vision.scenes import default_scene
from vision.detector.candidates import propose_candidates
from vision.detector.classifier import Detection, classify
from vision.pipeline import distinct_dice
from vision.reading import Pixels
from vision.simulation.geometry import resting_die
from vision.simulation.render import render
from vision.simulation.render_tray import draw_background
from vision.simulation.scene import Background, Camera

SIX = tuple(zip(ALL_DICE, (3, 5, 2, 6, 1, 4), strict=True))


@cache
def ground() -> Background:
    """The empty tray, which takes nine tenths of the time of a picture."""
    return draw_background(default_scene())


@cache
def tray(dice: Sequence[tuple[DieColour, int]] = (), seed: int = 3) -> Pixels:
    """A 640 x 480 picture of the tray, seen by the one camera above it; not to be written to."""
    return render(default_scene(dice, seed=seed), ground())


def painted(pixels: Pixels, hue: int) -> Pixels:
    """The picture with its blue dice in another hue (OpenCV's, 0 to 179)."""
    hsv = cv2.cvtColor(pixels, cv2.COLOR_BGR2HSV)
    is_blue = (np.abs(hsv[..., 0].astype(int) - 110) < 14) & (hsv[..., 1] > 90)
    hsv[..., 0][is_blue] = hue
    return np.asarray(cv2.cvtColor(hsv, cv2.COLOR_HSV2BGR), np.uint8)


@cache
def tray_from(dice: Sequence[tuple[DieColour, int]], tilt_deg: float, azimuth_deg: float) -> Pixels:
    """A picture by a camera beside the tray, so far from straight down."""
    scene = default_scene(dice, seed=3)
    above = scene.camera
    camera = Camera.above(
        above.size_wh, above.focal_px, above.position_mm[2],
        tilt_deg=tilt_deg, azimuth_deg=azimuth_deg,
    )  # fmt: skip
    return render(replace(scene, camera=camera))


@cache
def with_red_pips(dice: Sequence[tuple[DieColour, int]], seed: int = 3) -> Pixels:
    """The picture with a white die with red pips where the red one lies."""
    scene = default_scene(dice, seed=seed)
    white = next(die for die in scene.dice if die.colour is DieColour.WHITE)
    odd = (
        replace(die, albedo=white.albedo, pip_albedo=(0.03, 0.03, 0.35))
        if die.colour is DieColour.RED
        else die
        for die in scene.dice
    )
    return render(replace(scene, dice=tuple(odd)), ground())


@cache
def block(away: float, seed: int) -> Pixels:
    """1280 x 960 px: six dice side by side in two rows, from so many times as far as usual."""
    rng = np.random.default_rng(seed)
    scene = default_scene([(c, int(rng.integers(1, 7))) for c in ALL_DICE], size_wh=(1280, 960))
    x, y, z = scene.camera.position_mm
    a = float(rng.uniform(0.0, 90.0))
    c, s = np.cos(np.radians(a)), np.sin(np.radians(a))
    dice = []
    for n, die in enumerate(scene.dice):
        u, v = (n % 3 - 1.0) * die.size_mm * 1.02, (n // 3 - 0.5) * die.size_mm * 1.02
        quarter = 90.0 * int(rng.integers(4))
        place = (float(u * c - v * s), float(u * s + v * c))
        dice.append(resting_die(die.top[0], place, a + quarter, die))
    camera = replace(scene.camera, position_mm=(x, y, away * z))
    return render(replace(scene, camera=camera, dice=tuple(dice)))


def shifted(pixels: Pixels, x: float, y: float = 0.0, angle: float = 0.0) -> Pixels:
    """The picture of a camera that was moved by so many px and degrees."""
    height, width = pixels.shape[:2]
    matrix = cv2.getRotationMatrix2D((width / 2, height / 2), angle, 1.0)
    matrix[:, 2] += (x, y)
    moved = cv2.warpAffine(pixels, matrix, (width, height), borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(moved, np.uint8)


def from_afar(pixels: Pixels, scale: float = 0.4) -> Pixels:
    """The picture of a camera that sees so much more, the table going on all round."""
    height, width = pixels.shape[:2]
    matrix = np.array([[scale, 0, (1 - scale) * width / 2], [0, scale, (1 - scale) * height / 2]])
    seen = cv2.resize(pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    matrix[:, :2] /= scale
    seen = cv2.warpAffine(seen, matrix, (width, height), borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(seen, np.uint8)


def lit(pixels: Pixels, *gains_bgr: float) -> Pixels:
    """The picture in another light."""
    return np.asarray(np.clip(pixels * np.array(gains_bgr), 0, 255), np.uint8)


def classified(pixels: Pixels) -> list[Detection]:
    """The candidates of one look; all of them lie in the tray."""
    return classify(pixels, propose_candidates(pixels).candidates)


def dice_of(pixels: Pixels) -> list[Detection]:
    """The dice of one look."""
    return distinct_dice(classified(pixels))
