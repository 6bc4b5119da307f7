"""The reader on whole pictures: golden ones, odd ones, the simulated tray, the shared sets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.engine.dice import ALL_DICE, DieColour, Roll
from companion.errors import PictureError
from companion.tray import Problem, ProblemCode, TrayStatus
from tests.vision.scenes import default_scene
from tests.vision.trays import SIX, block, dice_of, ground, tray
from vision import pipeline
from vision.benchmark.frames import case_of
from vision.benchmark.scoring import Tally, measure, score
from vision.benchmark.truth import load_cases
from vision.calibration.calibration import Calibration
from vision.images import load_picture
from vision.pipeline import DiceReader
from vision.reading import Frame, Pixels, Reading
from vision.simulation.render import render, truth
from vision.simulation.scene import Thing

IMAGES = Path(__file__).parent / "images"
READER = DiceReader()
RNG = np.random.default_rng(7)


def read(pixels: Pixels, in_play: tuple[DieColour, ...] = ALL_DICE) -> tuple[Reading, float]:
    return READER.read(Frame(pixels), in_play), 0.0


def a_page_of_text() -> Pixels:
    page = np.full((480, 640, 3), 245, np.uint8)
    for row in range(20, 470, 18):
        for column in range(20, 600, 14):
            x, y = column + int(RNG.integers(-2, 3)), row + int(RNG.integers(-2, 3))
            cv2.rectangle(page, (x, y), (x + 7, y + int(RNG.integers(4, 11))), (30, 30, 30), 1)
    return page


ODD = {
    "8 x 8": np.full((8, 8, 3), 90, np.uint8),
    "1 x 4000": np.zeros((1, 4000, 3), np.uint8),
    "4000 x 60": np.full((4000, 60, 3), 90, np.uint8),
    "grey": np.full((240, 320), 128, np.uint8),
    "16 bits": RNG.integers(0, 65535, (240, 320, 3), np.uint16),
    "alpha": np.full((240, 320, 4), 128, np.uint8),
    "black": np.zeros((480, 640, 3), np.uint8),
    "white": np.full((480, 640, 3), 255, np.uint8),
    "noise": RNG.integers(0, 255, (480, 640, 3), np.uint8),
    "coarse noise": cv2.resize(RNG.integers(0, 255, (24, 32, 3), np.uint8), (640, 480)),
    "text": a_page_of_text(),
    "12 megapixels": np.full((3000, 4000, 3), 100, np.uint8),
    "portrait": np.full((640, 360, 3), 60, np.uint8),
    "stripes": np.tile(np.repeat(np.array([40, 220], np.uint8), 20)[None, :, None], (480, 16, 3)),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_pictures_are_never_ok(name: str) -> None:
    reading, _ = read(ODD[name])
    assert reading.status is not TrayStatus.OK
    assert reading.roll is None
    assert reading.problems


def test_an_array_without_pixels_is_refused() -> None:
    with pytest.raises(PictureError):
        read(np.zeros((0, 10, 3), np.uint8))


def golden() -> list[dict[str, object]]:
    lines = (IMAGES / "truth.jsonl").read_text().splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.parametrize("case", load_cases(IMAGES), ids=lambda case: case.name)
def test_golden_pictures(case) -> None:  # type: ignore[no-untyped-def]
    outcome = score(case, read(load_picture(IMAGES / case.name), case.in_play)[0])
    assert outcome.verdict in ("exact", "not_announced")
    assert outcome.named or case.expected in (None, TrayStatus.OK)
    if case.expected in (None, TrayStatus.OK):
        assert outcome.right == outcome.dice > 0
    assert all(right for stated, right in outcome.sure if stated > 0.9), "wrong and sure"


def test_every_photo_names_its_author() -> None:
    sources = (IMAGES / "SOURCES.md").read_text()
    for line in golden():
        assert str(line["file"]) in sources


def default_throws(count: int) -> Tally:
    tally = Tally()
    for seed in range(count):
        values = np.random.default_rng(seed).integers(1, 7, 6)
        roll = [(c, int(v)) for c, v in zip(ALL_DICE, values, strict=True)]
        scene = default_scene(roll, seed=seed)
        reading, _ = read(render(scene, ground()))
        tally.outcomes.append(score(case_of(f"throw {seed}", scene), reading))
        if reading.status is TrayStatus.OK:
            assert reading.roll == Roll.of((roll[0][1], roll[1][1]), dict(roll[2:]))
    return tally


@pytest.mark.parametrize(
    ("count", "unsure"), [(24, 2), pytest.param(200, 6, marks=pytest.mark.slow)]
)
def test_the_simulated_tray_is_read(count: int, unsure: int) -> None:
    report = default_throws(count).report()
    assert report["silently_wrong"] == 0
    assert report["unsure"] <= unsure, report["unsure_files"]


def test_an_empty_tray_is_empty_and_five_dice_miss_one() -> None:
    assert read(tray())[0].status is TrayStatus.EMPTY
    five = tray(tuple((c, 3) for c in ALL_DICE if c is not DieColour.BLUE), seed=5)
    reading, _ = read(five)
    assert reading.status is TrayStatus.MISSING
    assert [p.colour for p in reading.problems] == [DieColour.BLUE]
    without_blue = tuple(c for c in ALL_DICE if c is not DieColour.BLUE)
    again, _ = read(five, without_blue)
    assert again.status is TrayStatus.OK


def test_a_hand_over_a_quarter_of_a_face_names_the_die() -> None:
    scene = default_scene(SIX, seed=7)
    x, y, _ = scene.dice[3].position_mm
    hand = Thing("hand", (x + 5.5, y + 6.9), 316.5, 18.0, (0.25, 0.35, 0.55), 20.0)
    covered = replace(scene, things=(hand,))
    assert truth(covered)[4].top_visible == pytest.approx(0.73, abs=0.02)
    reading, _ = read(render(covered, ground()))
    assert reading.status is TrayStatus.OBSTRUCTED
    assert Problem(ProblemCode.OBSTRUCTED, scene.dice[4].colour) in reading.problems


@pytest.mark.parametrize(
    ("surely", "covered", "whole"),
    [(0.99, 0.01, True), (0.99, 0.05, False), (0.999, 0.05, True), (0.6, 0.0, False)],
)
def test_a_die_next_to_a_hand_is_whole_where_the_reader_is_sure_of_it(
    surely: float, covered: float, whole: bool
) -> None:
    dice = dice_of(tray(SIX, seed=7))
    detection = replace(dice[0], visible=surely)
    assert (pipeline._evidence_of(detection, covered, (640, 480)).visible > 0.88) is whole


@pytest.mark.parametrize(("beyond_px", "share"), [(-3.0, 1.0), (0.0, 1.0), (4.0, 0.9), (20.0, 0.5)])
def test_a_face_cut_by_the_edge_of_the_picture_is_seen_in_part(
    beyond_px: float, share: float
) -> None:
    dice = dice_of(tray(SIX, seed=7))
    right = 639.5 + beyond_px
    face = [(right - 40.0, 100.0), (right, 100.0), (right, 140.0), (right - 40.0, 140.0)]
    cut = replace(dice[0], corners=np.array(face, np.float32), visible=1.0)
    seen = pipeline._evidence_of(cut, 0.0, (640, 480)).visible
    assert seen == pytest.approx(share, abs=1e-3)


def test_a_removed_die_in_the_tray_is_a_warning() -> None:
    roll = tuple((c, n + 1) for n, c in enumerate(ALL_DICE))
    reading, _ = read(tray(roll), ALL_DICE[:4])
    assert reading.status is TrayStatus.OK
    warned = {p.colour for p in reading.problems if p.code is ProblemCode.REMOVED_DIE_IN_TRAY}
    assert warned == {DieColour.GREEN, DieColour.BLUE}
    assert len(reading.dice) == 6


@pytest.mark.slow
def test_a_reading_follows_the_picture_when_it_is_scaled_or_turned() -> None:
    roll = [(c, n + 1) for n, c in enumerate(ALL_DICE)]
    scene = default_scene(roll, seed=3, size_wh=(1280, 960))
    large = render(scene)
    for pixels in (
        large,
        cv2.resize(large, (640, 480)),
        cv2.rotate(large, cv2.ROTATE_90_CLOCKWISE),
    ):
        reading, _ = read(np.ascontiguousarray(pixels))
        assert reading.roll == Roll.of((1, 2), dict(roll[2:]))
        height, width = pixels.shape[:2]
        assert reading.evidence is not None
        assert reading.evidence.size_wh == (width, height)
        for die in reading.dice:
            assert 0 < die.centre_xy[0] < width
            assert 0 < die.centre_xy[1] < height


def test_corners_and_centres_are_where_the_truth_has_them() -> None:
    scene = default_scene([(c, n + 1) for n, c in enumerate(ALL_DICE)], seed=3)
    reading, _ = read(render(scene, ground()))
    for fact in truth(scene):
        die = min(
            reading.dice,
            key=lambda d: np.hypot(*np.subtract(d.centre_xy, fact.centre_px)),
        )
        assert np.hypot(*np.subtract(die.centre_xy, fact.centre_px)) < 0.06 * fact.edge_px
        for corner in die.corners_xy:
            gaps = [np.hypot(*np.subtract(corner, c)) for c in fact.corners_px]
            assert min(gaps) < 0.15 * fact.edge_px


@pytest.mark.parametrize(
    ("away", "seeds"),
    [
        (1.5, (0,)),
        (2.0, (1,)),
        (2.5, (0,)),
        *(pytest.param(away, range(4), marks=pytest.mark.slow) for away in (1.5, 2.0, 2.5)),
    ],
)
def test_small_dice_in_a_block_are_all_found(away: float, seeds: Sequence[int]) -> None:
    for seed in seeds:
        reading, _ = read(block(away, seed))
        assert len(reading.dice) == 6, seed
        assert reading.status in (TrayStatus.OK, TrayStatus.UNCERTAIN), (seed, reading.problems)


def test_a_calibrated_tray_decides_which_dice_are_inside() -> None:
    scene = default_scene([(c, n + 1) for n, c in enumerate(ALL_DICE)], seed=3)
    corner = ((0.0, 0.0), (20.0, 0.0), (20.0, 20.0), (0.0, 20.0))
    pixels = render(scene, ground())
    elsewhere = Calibration((640, 480), tray_px=corner)
    assert READER.read(Frame(pixels), calibration=elsewhere).status is TrayStatus.EMPTY
    everywhere = Calibration((320, 240), ((0, 0), (320, 0), (320, 240), (0, 240)), (1.0, 1.0, 1.0))
    assert READER.read(Frame(pixels), calibration=everywhere).status is TrayStatus.OK


def shared_report(folder: Path, every: int) -> dict[str, object]:
    cases = load_cases(folder)[::every]
    return measure(((case, load_picture(folder / case.name)) for case in cases), read).report()


@pytest.mark.parametrize(
    ("every", "exact"), [(6, 0.9), pytest.param(1, 0.95, marks=pytest.mark.slow)]
)
def test_the_shared_frames(shared: Path, every: int, exact: float) -> None:
    folder = shared / "frames" / "dev"
    if not folder.is_dir():
        pytest.skip("the shared frames are not beside the project")
    report = shared_report(folder, every)
    ok = report["ok"]
    assert report["silently_wrong"] == 0, report["wrong_files"]
    assert ok["exact"] >= exact * ok["frames"]  # type: ignore[index]


@pytest.mark.parametrize(
    ("every", "right"), [(8, 0.92), pytest.param(1, 0.96, marks=pytest.mark.slow)]
)
def test_the_shared_photos(shared: Path, every: int, right: float) -> None:
    folder = shared / "photos"
    if not folder.is_dir():
        pytest.skip("the shared photos are not beside the project")
    dice = shared_report(folder, every)["dice"]
    assert dice["right"] >= right * dice["labelled"]  # type: ignore[index]


def test_a_damaged_picture_is_uncertain_at_best() -> None:
    case = next(case for case in load_cases(IMAGES) if case.expected is TrayStatus.OK)
    pixels = load_picture(IMAGES / case.name)
    whole = DiceReader().read(Frame(pixels), case.in_play)
    damaged = DiceReader().read(Frame(pixels, is_damaged=True), case.in_play)
    assert whole.status is TrayStatus.OK
    assert (damaged.status, damaged.roll) == (TrayStatus.UNCERTAIN, None)
    assert damaged.dice == whole.dice
