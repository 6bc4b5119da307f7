"""The second pass: what it adds to each die, and when it runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from companion.engine.dice import ALL_DICE, DieColour
from companion.tray import ProblemCode, TrayStatus
from tests.vision.trays import SIX, tray
from vision import pipeline
from vision.detector import second_pass
from vision.detector.candidates import FeatureMaps
from vision.detector.classifier import Detection
from vision.detector.models import softmax
from vision.detector.search import Found, detect_dice
from vision.detector.second_pass import mean_detection, read_again, search_again
from vision.pipeline import DiceReader
from vision.reading import Frame, Pixels, Point, Reading
from vision.simulation.render import default_scene, render

Change = Callable[[list[Found]], list[Found]]


def everywhere(*_: object) -> float:
    """All dice lie in the tray."""
    return 1.0


@pytest.fixture(scope="module")
def large() -> Pixels:
    return render(default_scene(SIX, seed=3, size_wh=(1280, 960)))


@pytest.fixture
def found() -> list[Found]:
    return detect_dice(tray(SIX), ALL_DICE, everywhere)[1]


def where(dice: Sequence[Found]) -> list[Point]:
    return [detection.centre_xy for detection, _ in dice]


def changed(**fields: object) -> Change:
    """Makes the first die found another."""

    def change(dice: list[Found]) -> list[Found]:
        (detection, candidate), *others = dice
        return [(replace(detection, **fields), candidate), *others]  # type: ignore[arg-type]

    return change


class TestTheMeanOfTwoLooks:
    def test_both_passes_weigh_the_same(self, found: list[Found]) -> None:
        one = replace(found[0][0], leaning=-0.5, die=0.9, visible=0.5, moving=0.2)
        other = replace(one, leaning=-6.5, die=0.999, visible=0.99, moving=0.01)
        mean = mean_detection(one, other)
        assert mean.leaning == -3.5
        assert mean.die == pytest.approx(1 / (1 + math.sqrt(1 / 9 * 1 / 999)), abs=1e-3)
        assert one.visible < mean.visible < other.visible
        assert other.moving < mean.moving < one.moving
        assert mean.die == pytest.approx(mean_detection(other, one).die)

    def test_values_and_pips_of_both_passes_are_kept(self, found: list[Found]) -> None:
        one, other = found[0][0], found[1][0]
        mean = mean_detection(one, other)
        assert np.array_equal(mean.values, np.vstack([one.values, other.values]))
        assert np.array_equal(mean.pips, np.vstack([one.pips, other.pips]))
        assert mean.centre_xy == one.centre_xy
        assert np.array_equal(mean.corners, one.corners)

    def test_passes_that_contradict_each_other_stay_uncertain(self, found: list[Found]) -> None:
        red = replace(found[0][0], colours=np.array([0, 8, 0, 0, 0, 0], np.float32))
        none = replace(red, colours=np.array([0, 0, 0, 0, 0, 8], np.float32))
        likely = softmax(mean_detection(red, none).colours)
        assert likely[1] == pytest.approx(likely[5])

    @pytest.mark.parametrize("swapped", [False, True])
    def test_a_face_rectified_in_one_pass_counts(self, found: list[Found], swapped: bool) -> None:
        likely = np.array([0.9, 0.02, 0.02, 0.02, 0.02, 0.02], np.float32)
        two = [replace(found[0][0], square_on=None), replace(found[0][0], square_on=likely)]
        first, second = reversed(two) if swapped else two
        seen = mean_detection(first, second).square_on
        assert seen is not None
        assert np.array_equal(seen, likely)
        other = replace(second, square_on=likely[::-1].copy())
        both = mean_detection(replace(first, square_on=likely), other).square_on
        assert both is not None
        assert both[0] == pytest.approx(both[5])
        assert both.sum() == pytest.approx(1.0)


class TestWhatIsLookedAt:
    def test_the_second_pass_keeps_the_places_of_the_dice(self, found: list[Found]) -> None:
        again = read_again(tray(SIX), found)
        assert where(again) == where(found)
        for (before, _), (after, _) in zip(found, again, strict=True):
            assert len(after.values) > len(before.values)
            assert (after.values.argmax(axis=1) == before.values[0].argmax()).all()
            assert after.colours.argmax() == before.colours.argmax()

    def test_a_die_lost_in_the_second_pass_keeps_the_first(self, found: list[Found]) -> None:
        empty = read_again(tray(), found)
        assert [a is b for (a, _), (b, _) in zip(empty, found, strict=True)] == [True] * 6

    def test_a_second_pass_over_no_dice_finds_none(self) -> None:
        assert read_again(tray(), []) == []

    def test_a_missing_die_is_found_where_it_lies(self, large: Pixels) -> None:
        dice = detect_dice(large, ALL_DICE, everywhere)[1]
        again = search_again(large, ALL_DICE, everywhere, dice[1:])
        assert len(again) == 6
        assert where(again[:5]) == where(dice[1:])
        detection, lost = again[5][0], dice[0][0]
        assert math.dist(detection.centre_xy, lost.centre_xy) < 0.1 * lost.edge_px
        assert math.dist(detection.foot_xy, lost.foot_xy) < 0.2 * lost.edge_px
        assert np.abs(detection.corners.mean(axis=0) - lost.corners.mean(axis=0)).max() < 3.0
        assert detection.edge_px == pytest.approx(lost.edge_px, rel=0.1)

    def test_the_tray_is_asked_in_px_of_the_whole_picture(self, large: Pixels) -> None:
        selected: list[tuple[Point, float]] = []

        def inside(foot_xy: Point, edge_px: float) -> float:
            selected.append((foot_xy, edge_px))
            return 1.0

        dice = detect_dice(large, ALL_DICE, everywhere)[1]
        search_again(large, ALL_DICE, inside, dice)
        for detection, _ in dice:
            near = min(selected, key=lambda each: math.dist(each[0], detection.foot_xy))
            assert math.dist(near[0], detection.foot_xy) < 0.2 * detection.edge_px
            assert near[1] == pytest.approx(detection.edge_px, rel=0.1)


class TestWhenItIsTaken:
    """The first pass is made doubtful; the second one is real."""

    @pytest.fixture
    def read(self, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Reading, list[str]]]:
        def reading(pixels: Pixels, change: Change) -> tuple[Reading, list[str]]:
            taken: list[str] = []

            def first(
                shown: Pixels,
                in_play: Sequence[DieColour],
                inside: Callable[[FeatureMaps, Point, float], float],
                *,
                any_colour: bool,
            ) -> tuple[FeatureMaps, list[Found]]:
                overview, dice = detect_dice(shown, in_play, inside, any_colour=any_colour)
                return overview, change(dice)

            def noted(name: str) -> Callable[..., list[Found]]:
                def detection(*selected: object, **options: object) -> list[Found]:
                    taken.append(name)
                    dice: list[Found] = getattr(second_pass, name)(*selected, **options)
                    return dice

                return detection

            monkeypatch.setattr(pipeline, "detect_dice", first)
            for name in ("read_again", "search_again"):
                monkeypatch.setattr(pipeline, name, noted(name))
            return DiceReader().read(Frame(pixels)), taken

        return reading

    def test_a_clear_picture_gets_one_pass(
        self, read: Callable[..., tuple[Reading, list[str]]], large: Pixels
    ) -> None:
        reading, taken = read(large, list)
        assert (reading.status, taken) == (TrayStatus.OK, [])

    @pytest.mark.parametrize("leaning", [-0.5, 0.5])
    def test_a_slight_tilt_denied_by_the_second_pass_is_announced(
        self, read: Callable[..., tuple[Reading, list[str]]], large: Pixels, leaning: float
    ) -> None:
        reading, taken = read(large, changed(leaning=leaning))
        assert (reading.status, taken) == (TrayStatus.OK, ["read_again"])
        assert reading.roll is not None

    def test_a_tilt_in_both_passes_is_not_announced(
        self,
        read: Callable[..., tuple[Reading, list[str]]],
        large: Pixels,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        read_again = second_pass.read_again

        def leaning(pixels: Pixels, dice: Sequence[Found]) -> list[Found]:
            return changed(leaning=0.6)(read_again(pixels, dice))

        monkeypatch.setattr(second_pass, "read_again", leaning)
        reading, taken = read(large, changed(leaning=0.6))
        assert (reading.status, taken) == (TrayStatus.COCKED, ["read_again"])

    @pytest.mark.parametrize("leaning", [1.6, 5.0])
    def test_a_strong_tilt_gets_no_second_pass(
        self, read: Callable[..., tuple[Reading, list[str]]], large: Pixels, leaning: float
    ) -> None:
        reading, taken = read(large, changed(leaning=leaning))
        assert (reading.status, taken) == (TrayStatus.COCKED, [])

    def test_beside_a_strong_tilt_no_missing_die_is_searched(
        self, read: Callable[..., tuple[Reading, list[str]]], large: Pixels
    ) -> None:
        reading, taken = read(large, lambda dice: changed(leaning=1.6)(dice[1:]))
        assert (reading.status, taken) == (TrayStatus.COCKED, [])

    def test_an_uncertain_colour_gets_a_second_pass(
        self, read: Callable[..., tuple[Reading, list[str]]], large: Pixels
    ) -> None:
        def doubted(dice: list[Found]) -> list[Found]:
            n = next(n for n, (detection, _) in enumerate(dice) if detection.colours.argmax() == 4)
            detection, candidate = dice[n]
            colours = detection.colours.copy()
            colours[5] = colours[4] + 4.0
            return [*dice[:n], (replace(detection, colours=colours), candidate), *dice[n + 1 :]]

        reading, taken = read(large, doubted)
        assert (reading.status, taken) == (TrayStatus.OK, ["read_again"])

    def test_a_missing_die_gets_a_second_search(
        self, read: Callable[..., tuple[Reading, list[str]]], large: Pixels
    ) -> None:
        reading, taken = read(large, lambda dice: dice[1:])
        assert (reading.status, taken) == (TrayStatus.OK, ["search_again"])
        assert reading.roll is not None

    @pytest.mark.parametrize(
        ("status", "change"),
        [
            (TrayStatus.MISSING, lambda dice: dice[1:]),
            (TrayStatus.COCKED, changed(leaning=0.5)),
        ],
    )
    def test_a_small_picture_gets_one_pass_for_missing_or_tilted_dice(
        self, read: Callable[..., tuple[Reading, list[str]]], status: TrayStatus, change: Change
    ) -> None:
        reading, taken = read(tray(SIX), change)
        assert (reading.status, taken) == (status, [])

    def test_an_uncertain_small_picture_gets_a_second_pass(
        self, read: Callable[..., tuple[Reading, list[str]]]
    ) -> None:
        reading, taken = read(tray(SIX), changed(leaning=-0.5))
        assert (reading.status, taken) == (TrayStatus.OK, ["read_again"])
        assert reading.roll is not None

    def test_an_absent_die_is_missing_in_both_passes(
        self, read: Callable[..., tuple[Reading, list[str]]]
    ) -> None:
        picture = render(default_scene(SIX[:5], seed=3, size_wh=(1280, 960)))
        reading, taken = read(picture, list)
        assert (reading.status, taken) == (TrayStatus.MISSING, ["search_again"])
        assert [p.colour for p in reading.problems if p.code is ProblemCode.MISSING] == [
            DieColour.BLUE
        ]
        assert len(reading.dice) == 5


def test_looks_are_of_one_type(found: list[Found]) -> None:
    again = read_again(tray(SIX), found)
    for (before, _), (after, _) in zip(found, again, strict=True):
        assert isinstance(after, Detection)
        assert after.values.dtype == before.values.dtype
        assert after.corners.dtype == before.corners.dtype
        assert after.colours.dtype == before.colours.dtype
