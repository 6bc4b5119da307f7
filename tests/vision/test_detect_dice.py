"""Dice found in a picture: each once, small ones too, with their places on the floor."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.engine.dice import ALL_DICE, DieColour
from companion.tray import Problem, ProblemCode, TrayStatus
from tests.vision.trays import SIX, block, classified, dice_of, tray
from vision.detector.classifier import classify
from vision.pipeline import DiceReader, distinct_dice
from vision.reading import Frame
from vision.simulation.random_scenes import Recipe, random_scene
from vision.simulation.render import render, truth


@pytest.mark.parametrize("away", [0, 3])
def test_a_tray_without_other_candidates_gives_its_dice(away: int) -> None:
    assert len(dice_of(tray(SIX[: 6 - away]))) == 6 - away


def test_dice_too_small_for_the_first_look_are_read_by_a_closer_one() -> None:
    pixels = block(3.5, 2)
    assert len(dice_of(pixels)) < 6
    assert DiceReader().read(Frame(pixels)).status is TrayStatus.OK


def test_a_die_that_left_the_game_is_seen_where_it_still_lies(shared: Path) -> None:
    """What is in play decides the status and not the list."""
    for name, colour in (("dev_0084", DieColour.BLUE), ("dev_0145", DieColour.GREEN)):
        pixels = cv2.imread(str(shared / "frames" / "dev" / f"{name}.jpg"))
        assert pixels is not None
        pixels = cv2.resize(pixels, (640, 480), interpolation=cv2.INTER_AREA)
        others = tuple(c for c in ALL_DICE if c is not colour)
        reading = DiceReader().read(Frame(np.asarray(pixels, np.uint8)), others)
        assert colour in [die.colour for die in reading.dice]
        assert Problem(ProblemCode.REMOVED_DIE_IN_TRAY, colour) in reading.problems


@pytest.mark.slow
def test_dice_stand_where_their_bodies_do() -> None:
    """The foot is on the floor below the middle of the top face, an edge deep."""
    off = []
    for seed in range(3):
        scene = random_scene(np.random.default_rng([seed, 57]), Recipe((960, 720), 0.08))
        for detection in dice_of(render(scene)):
            for die, fact in zip(scene.dice, truth(scene), strict=True):
                gap = np.hypot(*np.subtract(detection.centre_xy, fact.centre_px)) / fact.edge_px
                if gap < 0.15 and fact.value is not None and not fact.cocked:
                    x, y, z = die.position_mm
                    foot = scene.camera.project(np.array([[x, y, z - die.size_mm / 2]]))[0]
                    off.append(np.hypot(*(np.array(detection.foot_xy) - foot)) / fact.edge_px)
    assert len(off) > 9
    assert np.median(off) < 0.09
    assert np.quantile(off, 0.9) < 0.2


def test_a_certain_die_wins_over_a_stronger_overlapping_candidate() -> None:
    detection = classified(tray(SIX))[0]
    x, y = detection.centre_xy
    sure = replace(detection, die=0.999, heat=0.4)
    beside = replace(detection, die=0.91, centre_xy=(x + 0.5 * detection.edge_px, y), heat=0.42)
    assert distinct_dice([beside, sure]) == [sure]


@pytest.mark.parametrize(
    ("die", "heat", "moving", "counts"),
    [
        (0.99, 0.4, 0.0, True),
        (0.10, 0.4, 0.97, True),
        (0.10, 0.4, 0.5, False),
        (0.99, 0.12, 0.0, False),
        (0.10, 0.12, 0.97, False),
    ],
)
def test_a_suspected_place_is_a_die_if_it_looks_so_or_moves(
    die: float, heat: float, moving: float, counts: bool
) -> None:
    detection = classified(tray(SIX))[0]
    place = replace(detection, die=die, heat=heat, moving=moving)
    assert distinct_dice([place]) == ([place] if counts else [])


def test_no_candidates_give_no_detections() -> None:
    assert classify(tray(SIX), ()) == []
