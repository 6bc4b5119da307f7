"""A die of black and blue plastic that shows a black face is read as blue."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from companion.engine.dice import ALL_DICE, DieColour
from companion.tray import TrayStatus
from tests.vision.trays import SIX
from vision import pipeline
from vision.detector.candidates import FeatureMaps
from vision.detector.marbled import is_blue_beneath
from vision.detector.search import Found, detect_dice
from vision.detector.second_pass import read_again
from vision.pipeline import DiceReader
from vision.reading import Frame, Pixels
from vision.simulation.render import default_scene, render, truth

CORNERS = np.array([(40, 40), (80, 40), (80, 80), (40, 80)], np.float32)
FOOT = (62.0, 66.0)
BLACK, BLUE, GREY = (22, 20, 21), (150, 80, 25), (180, 184, 186)
WITHOUT_BLUE = tuple(colour for colour in ALL_DICE if colour is not DieColour.BLUE)

Bgr = tuple[int, int, int]


def die(rim: Bgr, top: Bgr = BLACK, pips: Bgr = (40, 40, 160), floor: Bgr = GREY) -> Pixels:
    picture = np.full((120, 120, 3), floor, np.uint8)
    cv2.rectangle(picture, (37, 37), (86, 92), rim, cv2.FILLED)
    cv2.rectangle(picture, (43, 43), (77, 77), top, cv2.FILLED)
    for x, y in ((50, 50), (60, 60), (70, 70)):
        cv2.circle(picture, (x, y), 4, pips, cv2.FILLED)
    return picture


def test_a_black_top_with_a_blue_rim_is_blue_beneath() -> None:
    assert is_blue_beneath(die(BLUE), CORNERS, FOOT)
    half = die(BLACK)
    half[37:93, 37:60] = die(BLUE)[37:93, 37:60]
    assert is_blue_beneath(half, CORNERS, FOOT)


@pytest.mark.parametrize(
    ("name", "picture"),
    [
        ("black", die(BLACK)),
        ("black with blue pips", die(BLACK, pips=BLUE)),
        ("purple", die((90, 20, 80))),
        ("red beneath", die((30, 25, 140))),
        ("blue all over", die(BLUE, top=BLUE)),
        ("white on top", die(BLUE, top=(200, 205, 210))),
        ("black in blue light", die((80, 45, 20), floor=(250, 150, 60))),
    ],
)
def test_others_are_not(name: str, picture: Pixels) -> None:
    assert not is_blue_beneath(picture, CORNERS, FOOT), name


@pytest.mark.parametrize("corners", [CORNERS - 60, CORNERS + 60, CORNERS * 0 + 5])
def test_an_outline_beyond_the_picture_or_without_size_is_of_no_colour(
    corners: NDArray[np.float32],
) -> None:
    assert not is_blue_beneath(die(BLUE, floor=BLACK), corners, FOOT)


@cache
def tray_with_a_black_die(rim: Bgr | None) -> tuple[Pixels, tuple[float, float]]:
    """A tray where the blue die is black, with a rim of a colour; and where that die lies."""
    scene = default_scene(SIX, seed=3)
    at = next(n for n, each in enumerate(scene.dice) if each.colour is DieColour.BLUE)
    black = replace(scene.dice[at], albedo=(0.01, 0.01, 0.01))
    dice = (*scene.dice[:at], black, *scene.dice[at + 1 :])
    picture = render(replace(scene, dice=dice)).copy()
    corners = np.array(truth(scene)[at].corners_px, np.float32)
    middle = corners.mean(axis=0)
    if rim is not None:
        ring = np.zeros(picture.shape[:2], np.uint8)
        cv2.fillConvexPoly(ring, _about(corners, 1.0), 1)
        cv2.fillConvexPoly(ring, _about(corners, 0.86), 0)
        picture[ring > 0] = rim
    return picture, (float(middle[0]), float(middle[1]))


def _about(corners: NDArray[np.float32], size: float) -> NDArray[np.int32]:
    middle = corners.mean(axis=0)
    return np.round(middle + size * (corners - middle)).astype(np.int32)


@pytest.mark.parametrize(
    ("rim", "by_its_top", "in_play", "status", "colour"),
    [
        (BLUE, -9.0, ALL_DICE, TrayStatus.UNCERTAIN, DieColour.BLUE),
        (BLUE, -0.6, ALL_DICE, TrayStatus.OK, DieColour.BLUE),
        (BLUE, -9.0, WITHOUT_BLUE, TrayStatus.EXTRA, None),
        (None, -9.0, ALL_DICE, TrayStatus.MISSING, None),
    ],
)
def test_it_is_named_and_announced_only_if_its_top_may_be_blue_too(
    rim: Bgr | None,
    by_its_top: float,
    in_play: tuple[DieColour, ...],
    status: TrayStatus,
    colour: DieColour | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    picture, (x, y) = tray_with_a_black_die(rim)

    def outputs(found: Found) -> Found:
        detection, candidate = found
        if np.hypot(detection.centre_xy[0] - x, detection.centre_xy[1] - y) > 8:
            return found
        logits = np.array([-12.0, -9.0, -12.0, -12.0, by_its_top, 0.0], np.float32)
        return replace(detection, colours=logits), candidate

    def black_on_top(*given: object, any_colour: bool) -> tuple[FeatureMaps, list[Found]]:
        overview, dice = detect_dice(*given, any_colour=any_colour)  # type: ignore[arg-type]
        return overview, [outputs(found) for found in dice]

    def still_black(pixels: Pixels, dice: Sequence[Found]) -> list[Found]:
        return [outputs(found) for found in read_again(pixels, dice)]

    monkeypatch.setattr(pipeline, "detect_dice", black_on_top)
    monkeypatch.setattr(pipeline, "read_again", still_black)
    reading = DiceReader().read(Frame(picture, 0.0), in_play)
    (odd,) = (d for d in reading.dice if np.hypot(d.centre_xy[0] - x, d.centre_xy[1] - y) < 8)
    assert odd.colour is colour
    assert odd.value == dict(SIX)[DieColour.BLUE]
    assert reading.status is status
    assert len(reading.dice) == 6
