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
from vision.detector import classifier, search
from vision.detector.candidates import Candidate, FeatureMaps, propose_candidates
from vision.detector.classifier import AlignedCandidates, classify, classify_each
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
    def faintly(pixels: Pixels, zoom: float = 1.0) -> FeatureMaps:
        overview = propose_candidates(pixels, zoom)
        cold = replace(overview.candidates[3], heat=0.15)
        beside = replace(cold, centre_xy=(2.0, 2.0))
        candidates = overview.candidates[:3] + overview.candidates[4:]
        return replace(overview, candidates=candidates, faint=(cold, beside))

    monkeypatch.setattr(search, "propose_candidates", faintly)
    found = search.detect_dice(tray(SIX), ALL_DICE, everywhere)[1]
    values = [int(detection.values[0].argmax()) + 1 for detection, _ in found]
    assert sorted(values) == list(range(1, 7))


def test_a_die_that_left_the_game_does_not_stand_for_one_that_is_missed() -> None:
    """Six dice lie there and one glance shows five: whichever left the game, all six are found."""
    pixels = block(2.7, 9)
    overview = propose_candidates(pixels)
    assert len(overview.candidates) < 6
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


@pytest.mark.parametrize(("alike", "kept"), [(4, False), (3, True)])
def test_odd_sizes_are_discarded_only_beside_four_equal_dice(
    alike: int, kept: bool, empty_tray: FeatureMaps
) -> None:
    aligned = candidates([6.0] * alike + [6.0, 6.0], [30.0] * alike + [15.0, 60.0])
    rows = search._of_usual_size(aligned, empty_tray)
    assert rows == list(range(alike + 2 if kept else alike))


def test_a_blur_of_any_size_is_read(empty_tray: FeatureMaps) -> None:
    aligned = candidates([6.0] * 4 + [-6.0], [30.0] * 4 + [80.0], [-6.0] * 4 + [3.0])
    assert search._of_usual_size(aligned, empty_tray) == [0, 1, 2, 3, 4]


def test_candidates_beside_the_tray_do_not_set_the_usual_size(empty_tray: FeatureMaps) -> None:
    aligned = candidates([6.0] * 6, [15.0] * 4 + [30.0] * 2)
    bare = replace(empty_tray, tray=np.zeros_like(empty_tray.tray))
    assert search._of_usual_size(aligned, bare) == [0, 1, 2, 3, 4, 5]


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

    task = search._Task(CropCache(tray(SIX)), ALL_DICE[:in_play], left_part, any_colour=False)
    assert (len(lefts) - 1 not in task._worth_more(empty_tray, aligned)) is spared


def test_duplicate_candidates_do_not_set_the_usual_size(empty_tray: FeatureMaps) -> None:
    lefts = [30.0, 32.0, 80.0, 82.0, 200.0, 300.0]
    aligned = candidates([6.0] * 6, [15.0] * 4 + [30.0] * 2, lefts=lefts)
    assert search._of_usual_size(aligned, empty_tray) == [0, 1, 2, 3, 4, 5]


def test_a_die_beside_the_tray_is_not_examined_again() -> None:
    pixels = hardly_legible()
    all_six = [detection for detection, _ in search.detect_dice(pixels, ALL_DICE, everywhere)[1]]
    unclear = max(all_six, key=lambda detection: len(detection.values))
    assert len(unclear.values) == 3

    def all_but_it(overview: FeatureMaps, foot_xy: Point, edge_px: float) -> float:
        return float(math.dist(foot_xy, unclear.foot_xy) > 0.5 * edge_px)

    colour = tuple(DieColour)[int(unclear.colours.argmax())]
    in_play = list(ALL_DICE)
    in_play.remove(colour)
    detections = [detection for detection, _ in search.detect_dice(pixels, in_play, all_but_it)[1]]
    it = min(detections, key=lambda detection: math.dist(detection.centre_xy, unclear.centre_xy))
    assert (len(detections), len(it.values)) == (6, 1)


def test_dice_stand_where_their_bodies_do() -> None:
    """The foot is on the floor below the middle of the top face, an edge deep."""
    off = []
    for seed in range(3):
        scene = random_scene(np.random.default_rng([seed, 57]), Recipe((960, 720), 0.08))
        for detection, _ in search.detect_dice(render(scene), ALL_DICE, everywhere)[1]:
            for die, fact in zip(scene.dice, truth(scene), strict=True):
                gap = np.hypot(*np.subtract(detection.centre_xy, fact.centre_px)) / fact.edge_px
                if gap < 0.15 and fact.value is not None and not fact.cocked:
                    x, y, z = die.position_mm
                    foot = scene.camera.project(np.array([[x, y, z - die.size_mm / 2]]))[0]
                    off.append(np.hypot(*(np.array(detection.foot_xy) - foot)) / fact.edge_px)
    assert len(off) > 9
    assert np.median(off) < 0.09
    assert np.quantile(off, 0.9) < 0.2


def test_a_die_merged_with_its_neighbour_is_still_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pixels = block(1.0, 5)
    whole = [detection for detection, _ in search.detect_dice(pixels, ALL_DICE, everywhere)[1]]
    beside, die = min(
        ((a, b) for a in whole for b in whole if a is not b),
        key=lambda pair: np.hypot(*np.subtract(pair[0].centre_xy, pair[1].centre_xy)),
    )
    middle = np.add(beside.centre_xy, die.centre_xy) / 2

    def misplacing(close_ups: CropCache, candidates: Sequence[Candidate]) -> AlignedCandidates:
        aligned = classifier.aim(close_ups, candidates)
        for corners, candidate in zip(aligned.corners, aligned.candidates, strict=True):
            if candidate.centre_xy == known:
                corners += middle - corners.mean(axis=0)
        return aligned

    candidates = propose_candidates(pixels).candidates
    known = min(
        (candidate.centre_xy for candidate in candidates),
        key=lambda xy: float(np.hypot(*np.subtract(xy, die.centre_xy))),
    )
    monkeypatch.setattr(search, "aim", misplacing)
    found = [detection for detection, _ in search.detect_dice(pixels, ALL_DICE, everywhere)[1]]
    assert len(found) == 6
    gaps = [np.hypot(*np.subtract(detection.centre_xy, die.centre_xy)) for detection in found]
    assert min(gaps) < 0.1 * die.edge_px


@pytest.mark.parametrize("by_the_finder", [False, True])
def test_a_candidate_that_lies_half_on_a_die_is_moved_beside_it(by_the_finder: bool) -> None:
    """A close-up of a dark die beside a bright one shows the bright one's top face."""
    (die, candidate) = classify_each(
        CropCache(tray(SIX)), propose_candidates(tray(SIX)).candidates
    )[0]
    x, y = die.centre_xy
    half = (x + 0.5 * die.edge_px, y)
    aligned = candidates([6.0], [die.edge_px])
    face = np.array([[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]], np.float32)
    middle, outputs = ((x + 1.0, y), half) if by_the_finder else (half, (x - 1.0, y))
    aligned = AlignedCandidates(
        (replace(aligned.candidates[0], centre_xy=outputs),),
        aligned.outputs,
        np.asarray([face * die.edge_px + middle], np.float32),
    )
    (moved,) = search._moved_off(aligned, [(die, candidate)])
    assert moved.centre_xy == pytest.approx((x + die.edge_px, y), abs=0.1)
    assert search._moved_off(candidates([-6.0], [die.edge_px]), [(die, candidate)]) == []


def test_a_certain_die_wins_over_a_stronger_overlapping_candidate() -> None:
    detection, candidate = classify_each(
        CropCache(tray(SIX)), propose_candidates(tray(SIX)).candidates
    )[0]
    x, y = detection.centre_xy
    sure = replace(detection, die=0.999), replace(candidate, heat=0.4)
    beside = (
        replace(detection, die=0.8, centre_xy=(x + 0.5 * detection.edge_px, y)),
        replace(candidate, heat=0.6),
    )
    assert search._distinct([beside, sure]) == [sure]


@pytest.mark.parametrize("specks", [1, 2])
def test_as_many_small_look_alikes_do_not_outweigh_the_dice(
    specks: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    pixels = tray(SIX[:2])

    def with_specks(*given: object) -> list[search.Found]:
        pairs = classify(*given)  # type: ignore[arg-type]
        detection, candidate = pairs[0]
        away = [2.0 * (n + 1) * detection.edge_px for n in range(specks)]
        small = [
            replace(
                detection,
                centre_xy=(detection.centre_xy[0] + x, detection.centre_xy[1]),
                edge_px=edge,
            )
            for x, edge in zip(
                away, (0.4 * detection.edge_px, 0.45 * detection.edge_px), strict=False
            )
        ]
        return pairs + [(speck, candidate) for speck in small]

    edges = [detection.edge_px for detection, _ in search.detect_dice(pixels, TWO, everywhere)[1]]
    monkeypatch.setattr(search, "classify", with_specks)
    found = [detection.edge_px for detection, _ in search.detect_dice(pixels, TWO, everywhere)[1]]
    assert sorted(found) == sorted(edges)


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


def _values(pairs: Sequence[search.Found]) -> list[list[float]]:
    return [np.round(detection.values[0], 4).tolist() for detection, _ in pairs]
