"""Which parts of a picture are searched, and which candidates are examined again."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.engine.dice import ALL_DICE, DieColour
from companion.tray import Problem, ProblemCode
from tests.vision.detector.hard_pictures import hardly_legible
from tests.vision.trays import SIX, block, tray
from vision.detector import search
from vision.detector.candidates import Candidate, FeatureMaps, propose_candidates
from vision.detector.classifier import AlignedCandidates, Detection, classify_each
from vision.detector.inference import CropCache, CropOutputs
from vision.pipeline import DiceReader
from vision.reading import Frame, Pixels, Point
from vision.simulation.random_scenes import Recipe, random_scene
from vision.simulation.render import render, truth

TWO = (DieColour.WHITE, DieColour.WHITE)


def everywhere(overview: FeatureMaps, foot_xy: Point, edge_px: float) -> float:
    """All dice lie in the tray."""
    return 1.0


@pytest.mark.parametrize("away", [0, 3])
def test_a_tray_without_other_candidates_gives_its_dice(away: int) -> None:
    _, dice = search.detect_dice(tray(SIX[: 6 - away]), ALL_DICE, everywhere)
    assert len(dice) == 6 - away


def test_dice_too_small_for_one_search_are_found_in_parts_of_the_picture() -> None:
    pixels = block(3.0, 5)
    assert len(propose_candidates(pixels).candidates) < 6
    assert len(search.detect_dice(pixels, ALL_DICE, everywhere)[1]) == 6


def test_a_weak_candidate_is_examined_when_a_die_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def faintly(pixels: Pixels) -> FeatureMaps:
        overview = propose_candidates(pixels)
        cold = replace(overview.candidates[3], heat=0.15)
        beside = replace(cold, centre_xy=(2.0, 2.0))
        candidates = overview.candidates[:3] + overview.candidates[4:]
        return replace(overview, candidates=candidates, faint=(cold, beside))

    monkeypatch.setattr(search, "propose_candidates", faintly)
    found = search.detect_dice(tray(SIX), ALL_DICE, everywhere)[1]
    values = [int(detection.values[0].argmax()) + 1 for detection in found]
    assert sorted(values) == list(range(1, 7))


def test_a_die_that_left_the_game_does_not_stand_for_one_that_is_missed() -> None:
    """Six dice lie there and one glance shows fewer: whichever left the game, all are found."""
    for pixels in (block(2.7, 10), block(3.0, 11)):
        assert len(propose_candidates(pixels).candidates) < 6
        for colour in (DieColour.RED, DieColour.GREEN, DieColour.BLUE):
            in_play = tuple(c for c in ALL_DICE if c is not colour)
            assert len(search.detect_dice(pixels, in_play, everywhere)[1]) == 6


def test_a_die_that_left_the_game_is_seen_where_it_still_lies(shared: Path) -> None:
    """What is in play decides the status and not the list; one glance shows five of these six."""
    for name, colour in (("dev_0084", DieColour.BLUE), ("dev_0145", DieColour.GREEN)):
        pixels = cv2.imread(str(shared / "frames" / "dev" / f"{name}.jpg"))
        assert pixels is not None
        pixels = cv2.resize(pixels, (640, 480), interpolation=cv2.INTER_AREA)
        others = tuple(c for c in ALL_DICE if c is not colour)
        reading = DiceReader().read(Frame(np.asarray(pixels, np.uint8)), others)
        assert colour in [die.colour for die in reading.dice]
        assert Problem(ProblemCode.REMOVED_DIE_IN_TRAY, colour) in reading.problems


def candidates(
    die: Sequence[float],
    edge: Sequence[float],
    moving: Sequence[float] | None = None,
    lefts: Sequence[float] | None = None,
) -> AlignedCandidates:
    """Candidates side by side: the score of a die, edge in px, the score of a blur, and x in px."""
    count = len(die)
    logits = np.zeros((count, 51), np.float32)
    logits[:, 0] = die
    logits[:, 14] = [-6.0] * count if moving is None else moving
    outputs = CropOutputs(
        logits, np.zeros((count, 3)), np.zeros((count, 16, 16)), np.zeros((count, 2, 3))
    )
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], np.float32)
    lefts = [30.0 + 40 * n for n in range(count)] if lefts is None else lefts
    places = list(zip(lefts, edge, strict=True))
    corners = np.stack([side * square + (x, 60) for x, side in places])
    candidates = tuple(Candidate((x, 60.0), side, 0.9) for x, side in places)
    return AlignedCandidates(candidates, outputs, corners.astype(np.float32))


@pytest.fixture(scope="module")
def empty_tray() -> FeatureMaps:
    overview = propose_candidates(np.full((480, 640, 3), 90, np.uint8))
    return replace(overview, tray=np.ones_like(overview.tray))


@pytest.mark.parametrize(
    ("sure", "twice", "beside", "in_play", "spared"),
    [
        (6, 0, 0, 6, True),
        (5, 0, 0, 6, False),
        (5, 1, 0, 6, False),
        (5, 0, 1, 6, False),
        (5, 0, 0, 5, False),
        (6, 0, 0, 4, True),
    ],
)
def test_unlikely_candidates_are_skipped_only_beside_six_dice(
    sure: int, twice: int, beside: int, in_play: int, spared: bool, empty_tray: FeatureMaps
) -> None:
    last = 30.0 + 40 * (sure - 1)
    lefts = [30.0 + 40 * n for n in range(sure)] + [last + 4] * twice + [600.0] * beside + [330.0]
    aligned = candidates([6.0] * (len(lefts) - 1) + [-1.0], [30.0] * len(lefts), lefts=lefts)

    def left_part(overview: FeatureMaps, foot_xy: Point, edge_px: float) -> float:
        return float(foot_xy[0] < 580)

    task = search._Task(CropCache(tray(SIX)), ALL_DICE[:in_play], left_part)
    assert (len(lefts) - 1 not in task._worth_more(empty_tray, aligned)) is spared


def test_a_die_beside_the_tray_is_not_examined_again() -> None:
    pixels = hardly_legible()
    all_six = search.detect_dice(pixels, ALL_DICE, everywhere)[1]
    unclear = max(all_six, key=lambda detection: len(detection.values))
    assert len(unclear.values) == 3

    def all_but_it(overview: FeatureMaps, foot_xy: Point, edge_px: float) -> float:
        return float(math.dist(foot_xy, unclear.foot_xy) > 0.5 * edge_px)

    colour = tuple(DieColour)[int(unclear.colours.argmax())]
    in_play = list(ALL_DICE)
    in_play.remove(colour)
    detections = search.detect_dice(pixels, in_play, all_but_it)[1]
    it = min(detections, key=lambda detection: math.dist(detection.centre_xy, unclear.centre_xy))
    assert (len(detections), len(it.values)) == (6, 1)


@pytest.mark.slow
def test_dice_stand_where_their_bodies_do() -> None:
    """The foot is on the floor below the middle of the top face, an edge deep."""
    off = []
    for seed in range(3):
        scene = random_scene(np.random.default_rng([seed, 57]), Recipe((960, 720), 0.08))
        for detection in search.detect_dice(render(scene), ALL_DICE, everywhere)[1]:
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
    detection = classify_each(CropCache(tray(SIX)), propose_candidates(tray(SIX)).candidates)[0]
    x, y = detection.centre_xy
    sure = replace(detection, die=0.999, heat=0.4)
    beside = replace(detection, die=0.8, centre_xy=(x + 0.5 * detection.edge_px, y), heat=0.6)
    assert search._distinct([beside, sure]) == [sure]


def test_kept_crops_give_the_same_detections_as_fresh_ones() -> None:
    pixels = np.asarray(cv2.GaussianBlur(tray(SIX), (0, 0), 5.0), np.uint8)
    candidates = propose_candidates(pixels).candidates
    kept = CropCache(pixels)
    first = classify_each(kept, candidates[:4])
    both = classify_each(kept, candidates)
    assert _values(both) == _values(classify_each(CropCache(pixels), candidates))
    assert _values(both)[:4] == _values(first)


def test_no_candidates_give_no_detections() -> None:
    assert classify_each(CropCache(tray(SIX)), ()) == []


def _values(found: Sequence[Detection]) -> list[list[float]]:
    return [np.round(detection.values[0], 4).tolist() for detection in found]
