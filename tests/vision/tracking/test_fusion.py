"""Frames of one roll combined, and the tray between two throws, with drawn evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np
import pytest

from companion.engine.dice import ALL_DICE, COLOURED, DieColour, Roll
from companion.tray import ProblemCode, TrayStatus
from tests.vision.evidence import seen_die
from tests.vision.tray_fakes import picture
from vision.detector.status import PALETTE
from vision.evidence import Clutter, DieEvidence, SceneEvidence
from vision.reading import Frame, Pixels, Reading
from vision.tracking.background import Background, without_background
from vision.tracking.fusion import RestFrame, best_reading, combine, rest_frame
from vision.tracking.tracker import TrayTracker

EDGE = 40.0


def die(colour: DieColour, value: int, n: int, *, sure: float = 0.995) -> DieEvidence:
    """The n-th die in a row, its outputs as sure as told."""
    colours = np.full(6, 0.0002, np.float32)
    colours[PALETTE.index(colour)] = 0.999
    return seen_die(colours, value, sure, (60.0 + 70.0 * n, 100.0), EDGE, leaning=-5.0)


SIX = tuple(die(colour, n + 1, n) for n, colour in enumerate(ALL_DICE))
GREEN = 4


def scene(dice: Sequence[DieEvidence], **clutter: float) -> SceneEvidence:
    return SceneEvidence(tuple(dice), Clutter(**clutter), (640, 480))


def frames(*scenes: SceneEvidence, quality: Sequence[float] | None = None) -> list[RestFrame]:
    """Frames 0.1 s apart, all dice of a frame equally sharp."""
    sharp = quality or [1.0] * len(scenes)
    return [
        RestFrame(each, n * 0.1, (sharp[n],) * len(each.dice), each.clutter)
        for n, each in enumerate(scenes)
    ]


def with_green(**changes: object) -> SceneEvidence:
    dice = list(SIX)
    dice[GREEN] = replace(dice[GREEN], **changes)  # type: ignore[arg-type]
    return scene(dice)


def test_a_frame_alone_is_read_as_it_is() -> None:
    reading = combine(frames(scene(SIX)), ALL_DICE)
    assert reading.status is TrayStatus.OK
    assert [view.value for view in reading.dice] == [1, 2, 3, 4, 5, 6]


def test_a_sharp_frame_outweighs_a_blurred_one() -> None:
    blurred = die(DieColour.GREEN, 3, GREEN, sure=0.6)
    doubtful = scene([*SIX[:GREEN], blurred, *SIX[GREEN + 1 :]])
    alike = frames(doubtful, scene(SIX), scene(SIX), quality=[1.0, 1.0, 1.0])
    assert combine(alike, ALL_DICE).status is TrayStatus.UNCERTAIN
    weighted = frames(doubtful, scene(SIX), scene(SIX), quality=[0.01, 1.0, 1.0])
    reading = combine(weighted, ALL_DICE)
    assert reading.status is TrayStatus.OK
    assert reading.dice[GREEN].value == 5


def test_sure_frames_that_contradict_each_other_leave_the_die_in_doubt() -> None:
    other = die(DieColour.GREEN, 3, GREEN)
    contradiction = scene([*SIX[:GREEN], other, *SIX[GREEN + 1 :]])
    reading = combine(frames(scene(SIX), contradiction, scene(SIX)), ALL_DICE)
    assert reading.status is TrayStatus.UNCERTAIN
    assert {problem.colour for problem in reading.problems} == {DieColour.GREEN}


def test_pooling_is_never_surer_than_the_surest_frame() -> None:
    unsure = [die(colour, n + 1, n, sure=0.9) for n, colour in enumerate(ALL_DICE)]
    reading = combine(frames(*[scene(unsure)] * 6), ALL_DICE)
    assert reading.status is TrayStatus.UNCERTAIN
    assert max(view.confidence for view in reading.dice) <= 0.9


def test_a_scene_that_does_not_change_is_not_moving() -> None:
    blurred = with_green(moving=True)
    assert combine(frames(blurred), ALL_DICE).status is TrayStatus.MOVING
    assert combine(frames(blurred, blurred), ALL_DICE).status is TrayStatus.OK


def test_a_die_that_creeps_is_moving_though_no_pixel_seems_to() -> None:
    x, y = SIX[GREEN].centre_xy
    steps = [with_green(moving=True, centre_xy=(x + 8.0 * n, y)) for n in range(3)]
    assert combine(frames(*steps), ALL_DICE).status is TrayStatus.MOVING


def test_a_leaning_die_stays_cocked_once_its_blur_is_no_motion() -> None:
    leaning = with_green(moving=True, leaning=2.0)
    reading = combine(frames(leaning, leaning), ALL_DICE)
    assert reading.status is TrayStatus.COCKED
    assert reading.problems[0].colour is DieColour.GREEN


def test_a_false_die_of_one_frame_in_three_is_dropped() -> None:
    false = scene([*SIX, die(DieColour.RED, 1, 7)])
    assert combine(frames(false), ALL_DICE).status is TrayStatus.EXTRA
    assert combine(frames(scene(SIX), false, scene(SIX)), ALL_DICE).status is TrayStatus.OK
    assert combine(frames(false, scene(SIX), false), ALL_DICE).status is TrayStatus.EXTRA


def test_a_clear_newest_frame_counts_after_a_bad_first_one() -> None:
    hidden = with_green(visible=0.2, value=None)
    rest = frames(hidden, hidden, scene(SIX))
    assert combine(rest, ALL_DICE).status is not TrayStatus.OK
    assert best_reading(rest, ALL_DICE).status is TrayStatus.OK


@pytest.mark.parametrize(
    ("doubtful", "status"),
    [
        (scene([*SIX[:GREEN], die(DieColour.GREEN, 3, GREEN, sure=0.93), *SIX[GREEN + 1 :]]),
         TrayStatus.UNCERTAIN),
        (scene([*SIX, die(DieColour.RED, 6, 7)]), TrayStatus.EXTRA),
        (with_green(leaning=2.0), TrayStatus.COCKED),
    ],
)  # fmt: skip
def test_one_or_two_clear_frames_settle_no_doubt(
    doubtful: SceneEvidence, status: TrayStatus
) -> None:
    clear = with_green(leaning=-2.1)
    rest = frames(doubtful, doubtful, doubtful, doubtful, clear, clear)
    for count in (5, 6):
        assert best_reading(rest[:count], ALL_DICE).status is status


def test_a_die_at_two_places_by_turns_counts_once() -> None:
    x, y = SIX[GREEN].centre_xy
    elsewhere = with_green(centre_xy=(x + 0.2 * EDGE, y))
    reading = combine(frames(scene(SIX), elsewhere, scene(SIX), elsewhere), ALL_DICE)
    assert len(reading.dice) == 6
    assert reading.status is TrayStatus.OK


def dotted(level: int = 150, *, dot: bool = True) -> Pixels:
    """A grey picture with a printed square of four dots at the place of the green die."""
    pixels: Pixels = np.full((240, 640, 3), level, np.uint8)
    x, y = (round(v) for v in SIX[GREEN].centre_xy)
    if dot:
        cv2.rectangle(pixels, (x - 20, y - 20), (x + 20, y + 20), (60, 160, 60), -1)
        for dx, dy in ((-9, -9), (9, -9), (9, 9), (-9, 9)):
            cv2.circle(pixels, (x + dx, y + dy), 3, (20, 20, 20), -1)
    return pixels


def with_squares(dice: Sequence[DieEvidence], *, dot: bool = False) -> Pixels:
    """The grey picture with a square for each of some dice."""
    pixels = dotted(dot=dot)
    for each in dice:
        x, y = (round(v) for v in each.centre_xy)
        cv2.rectangle(pixels, (x - 20, y - 20), (x + 20, y + 20), (200, 90, 40), -1)
    return pixels


@pytest.mark.parametrize(
    ("now", "expected"),
    [
        pytest.param(dotted(), True, id="as before"),
        pytest.param((dotted() * 0.8).astype(np.uint8), True, id="in less light"),
        pytest.param(np.roll(dotted(), 12, axis=1), False, id="moved by a third of its edge"),
        pytest.param(dotted(dot=False), False, id="gone"),
    ],
)
def test_what_looks_as_before_the_throw_is_background(now: Pixels, expected: bool) -> None:
    left = without_background(Background(dotted()), now, [SIX[GREEN]])
    assert (left == ()) is expected


def test_a_die_with_one_pip_on_a_floor_of_its_colour_is_none() -> None:
    floor: Pixels = np.full((240, 640, 3), 230, np.uint8)
    thrown = floor.copy()
    x, y = (round(v) for v in SIX[GREEN].centre_xy)
    cv2.circle(thrown, (x, y), 4, (30, 30, 30), -1)
    assert without_background(Background(floor), thrown, [SIX[GREEN]]) == (SIX[GREEN],)


def test_a_pale_die_with_pale_pips_on_a_pale_floor_is_no_background() -> None:
    """Blue, green and red as measured on a glossy red die that lay on pale wool."""
    floor: Pixels = np.full((240, 640, 3), (198, 200, 211), np.uint8)
    thrown = floor.copy()
    x, y = (round(v) for v in SIX[GREEN].centre_xy)
    cv2.rectangle(thrown, (x - 20, y - 20), (x + 20, y + 20), (203, 202, 250), -1)
    for away in (-9, 0, 9):
        cv2.circle(thrown, (x + away, y + away), 3, (239, 237, 252), -1)
    assert without_background(Background(floor), thrown, [SIX[GREEN]]) == (SIX[GREEN],)


def test_dice_of_an_unconfirmed_roll_are_never_background() -> None:
    kept = Background(dotted(), dice=(SIX[GREEN].centre_xy,))
    assert without_background(kept, dotted(), [SIX[GREEN]]) == (SIX[GREEN],)


def test_a_thing_that_lay_there_before_the_throw_is_no_obstacle() -> None:
    pixels = picture()
    five = scene(SIX[:5], thing=3.0)
    fresh = rest_frame(pixels, five, 0.0, Background())
    assert combine([fresh], ALL_DICE).status is TrayStatus.OBSTRUCTED
    known = rest_frame(pixels, five, 0.0, Background(picture(40), Clutter(thing=3.0)))
    reading = combine([known], ALL_DICE)
    assert reading.status is TrayStatus.MISSING
    assert ProblemCode.FOREIGN_OBJECT not in {problem.code for problem in reading.problems}


class ListedReader:
    """Returns the evidence that a list holds for each frame number."""

    def __init__(self, scenes: dict[int, SceneEvidence]) -> None:
        self.scenes = scenes

    def read(self, frame: Frame, in_play: Sequence[DieColour]) -> Reading:
        number = max(n for n in self.scenes if n <= frame.number)
        here = self.scenes[number]
        return replace(combine(frames(here), in_play), evidence=here)


def test_the_print_of_a_die_stands_for_none_that_is_missing() -> None:
    """Without the tray before the throw the printed green die would complete the roll."""
    print_ = SIX[GREEN]
    others = [each for n, each in enumerate(SIX) if n != GREEN]
    tray, thrown = dotted(), with_squares(others, dot=True)
    reader = ListedReader({0: scene([print_]), 10: scene([*others, print_])})
    tracker = TrayTracker(reader, lambda: ALL_DICE)
    for number in range(20):
        tracker.step(Frame(tray if number < 10 else thrown, number / 10.0, number))
    view = tracker.view()
    assert view.roll is None
    assert view.status is TrayStatus.MISSING
    assert view.problems[0].colour is DieColour.GREEN

    fresh = TrayTracker(reader, lambda: ALL_DICE)
    for number in range(10, 20):
        fresh.step(Frame(thrown, number / 10.0, number))
    assert fresh.view().roll is not None, "else this could not fail"


def test_a_floor_that_looks_like_moving_dice_is_empty_while_still() -> None:
    tracker = TrayTracker(ListedReader({0: scene([], smear=0.95)}), lambda: ALL_DICE)
    said = set()
    for number in range(80):
        tracker.step(Frame(dotted(), number / 10.0, number))
        said.add(tracker.view().status)
    assert said == {TrayStatus.WAITING, TrayStatus.EMPTY}


def test_a_die_thrown_again_completes_the_dice_that_stayed() -> None:
    """Five dice of a roll with a cocked sixth lie there before the sixth is thrown again."""
    others = [each for n, each in enumerate(SIX) if n != GREEN]
    tray, first, hand = dotted(dot=False), with_squares(SIX), with_squares(others)
    again = np.ascontiguousarray(first[:, ::1]).copy()
    again[90:110, 300:320] = 20
    cocked = with_green(leaning=3.0)
    five = scene(others)
    reader = ListedReader({0: scene([]), 5: cocked, 15: five, 25: scene(SIX)})
    tracker = TrayTracker(reader, lambda: ALL_DICE)
    said = []
    for number in range(35):
        pixels = tray if number < 5 else first if number < 15 else hand if number < 25 else again
        tracker.step(Frame(pixels, number / 10.0, number))
        said.append(tracker.view().status)
    assert said[12] is TrayStatus.COCKED
    assert said[22] is TrayStatus.MISSING
    assert said[-1] is TrayStatus.OK


BESIDE, MAT = (slice(180, 220), slice(100, 400)), (slice(20, 180), slice(0, 400))
"""Rows and columns far from all dice, and round the first ones."""


@pytest.mark.parametrize(
    ("changed", "where", "thing", "status"),
    [
        pytest.param(range(0), BESIDE, 0.0, "ok", id="dice alone"),
        pytest.param(range(5, 15), BESIDE, 3.0, "ok", id="a hand for a while"),
        pytest.param(range(5, 25), BESIDE, 0.0, "ok", id="a score pad beside them"),
        pytest.param(range(5, 25), MAT, 0.0, "missing", id="a mat with pictures of dice came"),
    ],
)
def test_dice_thrown_in_two_goes_are_read_and_prints_that_came_are_none(
    changed: range, where: tuple[slice, slice], thing: float, status: str
) -> None:
    reader = ListedReader({0: scene([]), 5: scene(SIX[:2], thing=thing), 15: scene(SIX)})
    tracker = TrayTracker(reader, lambda: ALL_DICE)
    for number in range(25):
        lying = () if number < 5 else SIX[:2] if number < 15 else SIX
        pixels, squares = dotted(), with_squares(lying)
        if number in changed:
            pixels[where] = 20
        is_die = (squares != dotted()).any(axis=2)
        pixels[is_die] = squares[is_die]
        tracker.step(Frame(pixels, number / 10.0, number))
    assert tracker.view().status.value == status


def test_what_outlasts_a_roll_is_no_die_of_the_next_one() -> None:
    """A mat with pictures of dice that came unnoticed, while the floor round it stayed the same."""
    mat, roll = SIX[:2], [replace(each, centre_xy=(each.centre_xy[0], 190.0)) for each in SIX]
    steps = [(), mat, [*mat, *roll], mat, [*mat, *roll]]
    reader = ListedReader({10 * n: scene(lying) for n, lying in enumerate(steps)})
    tracker = TrayTracker(reader, lambda: ALL_DICE)
    said = []
    for number in range(10 * len(steps)):
        tracker.step(Frame(with_squares(steps[number // 10]), number / 10.0, number))
        said.append(tracker.view().status.value)
    assert said[9::10] == ["empty", "missing", "extra", "empty", "ok"]


def test_dice_that_seemed_beside_a_wrongly_measured_tray_are_seen_later() -> None:
    beside = [replace(each, in_tray=False) for each in SIX]
    reader = ListedReader({0: scene(beside), 10: scene(SIX)})
    tracker = TrayTracker(reader, lambda: ALL_DICE)
    for number in range(20):
        if number == 10:
            tracker.read_anew()  # the set-up has put the corners right
        tracker.step(Frame(with_squares(SIX), number / 10.0, number))
    assert tracker.view().status is TrayStatus.OK


def test_moved_prints_are_no_dice() -> None:
    """Of a mat that was moved the floor is plain, and its pictures of dice lie elsewhere now."""
    here, there, dice = SIX[:2], SIX[2:4], SIX[4:]
    reader = ListedReader({0: scene(here), 5: scene(there), 15: scene([*there, *dice])})
    tracker = TrayTracker(reader, lambda: ALL_DICE)
    for number in range(25):
        lying = here if number < 5 else there if number < 15 else [*there, *dice]
        tracker.step(Frame(with_squares(lying), number / 10.0, number))
    assert [die.centre_xy for die in tracker.view().dice] == [die.centre_xy for die in dice]


def test_a_print_is_background_again_once_the_dice_are_taken_after_a_kick() -> None:
    """It counts as a die of the roll that was typed, and lies there still when they are gone."""
    print_ = replace(SIX[GREEN], centre_xy=(300.0, 200.0))
    kicked = [replace(each, centre_xy=(each.centre_xy[0] + 12.0, 100.0)) for each in SIX]
    there = replace(print_, centre_xy=(312.0, 200.0))
    thrown = [replace(each, centre_xy=(each.centre_xy[0], 40.0)) for each in SIX]
    steps: list[list[DieEvidence]] = [
        [print_],
        [*SIX, print_],
        [*kicked, there],
        [there],
        [*thrown, there],
    ]
    reader = ListedReader({10 * n: scene(dice) for n, dice in enumerate(steps)})
    tracker = TrayTracker(reader, lambda: ALL_DICE)
    said = []
    for number in range(10 * len(steps)):
        pixels = with_squares(steps[number // 10])
        for x in range(20 if number < 20 else 32, 640, 90):
            pixels[130:176, x : x + 12] = 60  # the floor moves with the camera
        if number == 25:
            tracker.on_confirmed(Roll.of((6, 6), dict.fromkeys(COLOURED, 6)))
        tracker.step(Frame(pixels, number / 10.0, number))
        said.append(tracker.view().status)
    assert [said[9], said[19], said[24]] == [TrayStatus.EMPTY, TrayStatus.OK, TrayStatus.EXTRA]
    assert said[-1] is TrayStatus.OK


def test_dice_that_cannot_be_read_do_not_become_background() -> None:
    unsure = [die(colour, n + 1, n, sure=0.5) for n, colour in enumerate(ALL_DICE)]
    reader = ListedReader({0: scene([]), 5: scene(unsure)})
    tracker = TrayTracker(reader, lambda: ALL_DICE)
    tray, thrown = dotted(dot=False), with_squares(SIX)
    for number in range(40):
        tracker.step(Frame(tray if number < 5 else thrown, number / 10.0, number))
    view = tracker.view()
    assert view.status is TrayStatus.UNCERTAIN
    assert len(view.dice) == 6


def tipped_over() -> SceneEvidence:
    """The six dice, the green one tipped over to another value."""
    x, y = SIX[GREEN].centre_xy
    return with_green(centre_xy=(x, y + EDGE), values=SIX[0].values, value=1)


def noise(number: int) -> Pixels:
    """A picture that differs from the others by noise alone."""
    return picture() + np.random.default_rng(number).integers(0, 3, (240, 320, 3), np.uint8)


def test_a_die_that_tips_while_the_lamp_changes_withdraws_the_offer() -> None:
    tracker = TrayTracker(ListedReader({0: scene(SIX), 60: tipped_over()}), lambda: ALL_DICE)
    for number in range(60):
        tracker.step(Frame(picture(), number / 10.0, number))
    before = tracker.view().roll
    assert before is not None
    tracker.on_lamp_changed()
    for number in range(60, 80):
        tracker.step(Frame(picture(70), number / 10.0, number))
        assert tracker.view().roll != before
    assert tracker.view().roll is not None


def test_dice_thrown_while_the_camera_is_frozen_are_read_by_themselves() -> None:
    tracker = TrayTracker(ListedReader({0: scene(SIX), 80: tipped_over()}), lambda: ALL_DICE)
    for number in range(60):
        tracker.step(Frame(noise(number), number / 10.0, number))
    before = tracker.view().roll
    assert before is not None
    for number in range(60, 100):
        tracker.step(Frame(noise(60 if number < 80 else number), number / 10.0, number))
        if number == 78:
            assert tracker.view().status is TrayStatus.FROZEN
            tracker.on_lamp_changed()  # the lamp tells that the camera is frozen
        assert number < 80 or tracker.view().roll != before
    assert tracker.view().roll is not None


@pytest.mark.parametrize("is_damaged", [True, False])
def test_a_damaged_picture_is_not_pooled_into_a_roll(*, is_damaged: bool) -> None:
    tracker = TrayTracker(ListedReader({0: with_green(moving=True)}), lambda: ALL_DICE)
    for number in range(10):
        tracker.step(Frame(picture(), number / 10.0, number, is_damaged))
    assert (tracker.view().roll is None) is is_damaged
