"""The tray between two throws, with drawn evidence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import cv2
import numpy as np
import pytest

from companion.engine.dice import ALL_DICE, COLOURED, DieColour, Roll
from companion.tray import ProblemCode, TrayStatus
from tests.vision.scenes import default_scene
from tests.vision.tracking.drawn_evidence import (
    GREEN,
    SIX,
    ListedReader,
    die,
    dotted,
    frames,
    scene,
    tipped_over,
    with_green,
    with_squares,
)
from tests.vision.tray_fakes import picture, step, watch
from vision.evidence import DieEvidence
from vision.pipeline import DiceReader
from vision.reading import Frame, Pixels
from vision.simulation.render import render
from vision.simulation.render_tray import draw_background
from vision.tracking.background import Background, without_background
from vision.tracking.fusion import combine, rest_frame
from vision.tracking.tracker import TrayTracker


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
    known = rest_frame(pixels, five, 0.0, Background(picture(40), scene((), thing=3.0)))
    reading = combine([known], ALL_DICE)
    assert reading.status is TrayStatus.MISSING
    assert ProblemCode.FOREIGN_OBJECT not in {problem.code for problem in reading.problems}


def test_the_print_of_a_die_stands_for_none_that_is_missing() -> None:
    """Without the tray before the throw the printed green die would complete the roll."""
    print_ = SIX[GREEN]
    others = [each for n, each in enumerate(SIX) if n != GREEN]
    tray, thrown = dotted(), with_squares(others, dot=True)
    reader = ListedReader({0: scene([print_]), 10: scene([*others, print_])})
    tracker = TrayTracker(reader, lambda: ALL_DICE)
    view = watch(tracker, range(20), lambda number: tray if number < 10 else thrown)[-1]
    assert view.roll is None
    assert view.status is TrayStatus.MISSING
    assert view.problems[0].colour is DieColour.GREEN

    fresh = TrayTracker(reader, lambda: ALL_DICE)
    views = watch(fresh, range(10, 20), lambda _: thrown)
    assert views[-1].roll is not None, "else this could not fail"


def in_half_the_light(pixels: Pixels) -> Pixels:
    """Another lamp is switched off as the dice are thrown."""
    return (pixels * 0.5).astype(np.uint8)


def under_the_thrower(pixels: Pixels) -> Pixels:
    """A shadow lies over a third of the tray, and over the print."""
    dark = pixels.copy()
    dark[:, 300:520] //= 2
    return dark


@pytest.mark.parametrize("lit", [in_half_the_light, under_the_thrower])
def test_the_print_of_a_die_is_none_in_other_light_either(lit: Callable[[Pixels], Pixels]) -> None:
    print_ = SIX[GREEN]
    others = [each for n, each in enumerate(SIX) if n != GREEN]
    tray, thrown = dotted(), lit(with_squares(others, dot=True))
    reader = ListedReader({0: scene([print_]), 10: scene([*others, print_])})
    tracker = TrayTracker(reader, lambda: ALL_DICE)
    views = watch(tracker, range(25), lambda number: tray if number < 10 else thrown)
    assert {view.roll for view in views} == {None}
    assert views[-1].status is TrayStatus.MISSING


def test_a_floor_that_looks_like_moving_dice_is_empty_while_still() -> None:
    tracker = TrayTracker(ListedReader({0: scene([], smear=0.95)}), lambda: ALL_DICE)
    said = [view.status for view in watch(tracker, range(80), lambda _: dotted())]
    assert set(said) == {TrayStatus.WAITING, TrayStatus.EMPTY}


def test_a_die_thrown_again_completes_the_dice_that_stayed() -> None:
    """Five dice of a roll with a cocked sixth lie there before the sixth is thrown again."""
    others = [each for n, each in enumerate(SIX) if n != GREEN]
    tray, first, hand = dotted(dot=False), with_squares(SIX), with_squares(others)
    again = first.copy()
    again[90:110, 300:320] = 20
    cocked = with_green(tilt=3.0)
    five = scene(others)
    reader = ListedReader({0: scene([]), 5: cocked, 15: five, 25: scene(SIX)})
    tracker = TrayTracker(reader, lambda: ALL_DICE)
    shown = [tray] * 5 + [first] * 10 + [hand] * 10 + [again] * 10
    said = [view.status for view in watch(tracker, range(35), lambda number: shown[number])]
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

    def drawn(number: int) -> Pixels:
        lying = () if number < 5 else SIX[:2] if number < 15 else SIX
        pixels, squares = dotted(), with_squares(lying)
        if number in changed:
            pixels[where] = 20
        is_die = (squares != dotted()).any(axis=2)
        pixels[is_die] = squares[is_die]
        return pixels

    assert watch(tracker, range(25), drawn)[-1].status.value == status


def seen(
    steps: Sequence[Sequence[DieEvidence]], *, is_confirmed: bool = False, thing: float = 0.0
) -> list[str]:
    """Let dice lie in the tray for a second each time; the status at the end of each.

    Args:
        is_confirmed: The first ones are a roll that is confirmed.
        thing: Area of things that lie there all the time.
    """
    reader = ListedReader({10 * n: scene(lying, thing=thing) for n, lying in enumerate(steps)})
    tracker = TrayTracker(reader, lambda: ALL_DICE)
    said = []
    for number in range(10 * len(steps)):
        if number == 9 and is_confirmed:
            tracker.on_confirmed(tracker.view().roll)
        step(tracker, Frame(with_squares(steps[number // 10]), number / 10.0, number))
        said.append(tracker.view().status.value)
    return said[9::10]


def test_two_goes_after_dice_that_lay_there_at_the_start_are_read() -> None:
    """The dice were picked up so quickly that nobody saw the tray without any."""
    white = [die(DieColour.WHITE, 5, 6), die(DieColour.WHITE, 2, 7)]
    roll = [*white, *(die(colour, 1, n) for n, colour in enumerate(COLOURED))]
    assert seen([SIX, white, roll], is_confirmed=True)[-1] == "ok"


def test_a_print_that_a_die_hid_at_the_start_is_background() -> None:
    x, y = SIX[GREEN].centre_xy
    prints = [replace(SIX[GREEN], centre_xy=(x + 16.0, y))]
    roll = [replace(each, centre_xy=(each.centre_xy[0], 190.0)) for each in SIX]
    assert seen([SIX, prints, [*roll, *prints]], is_confirmed=True)[-1] == "ok"


def test_what_outlasts_a_roll_is_no_die_of_the_next_one() -> None:
    """A mat with pictures of dice that came unnoticed, while the floor round it stayed the same."""
    mat, roll = SIX[:2], [replace(each, centre_xy=(each.centre_xy[0], 190.0)) for each in SIX]
    said = seen([(), mat, [*mat, *roll], mat, [*mat, *roll]])
    assert said == ["empty", "missing", "extra", "empty", "ok"]


def test_dice_that_seemed_beside_a_wrongly_measured_tray_are_seen_later() -> None:
    beside = [replace(each, in_tray=False) for each in SIX]
    reader = ListedReader({0: scene(beside), 10: scene(SIX)})
    tracker = TrayTracker(reader, lambda: ALL_DICE)
    for number in range(20):
        if number == 10:
            tracker.read_anew()  # the set-up has put the corners right
        step(tracker, Frame(with_squares(SIX), number / 10.0, number))
    assert tracker.view().status is TrayStatus.OK


def test_moved_prints_are_no_dice() -> None:
    """Of a mat that was moved the floor is plain, and its pictures of dice lie elsewhere now."""
    here, there, dice = SIX[:2], SIX[2:4], SIX[4:]
    reader = ListedReader({0: scene(here), 5: scene(there), 15: scene([*there, *dice])})
    tracker = TrayTracker(reader, lambda: ALL_DICE)
    lying = [here] * 5 + [there] * 10 + [[*there, *dice]] * 10
    view = watch(tracker, range(25), lambda number: with_squares(lying[number]))[-1]
    assert [die.centre_xy for die in view.dice] == [die.centre_xy for die in dice]


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
        step(tracker, Frame(pixels, number / 10.0, number))
        said.append(tracker.view().status)
    assert [said[9], said[19], said[24]] == [TrayStatus.EMPTY, TrayStatus.OK, TrayStatus.EXTRA]
    assert said[-1] is TrayStatus.OK


def test_dice_that_cannot_be_read_do_not_become_background() -> None:
    unsure = [die(colour, n + 1, n, sure=0.5) for n, colour in enumerate(ALL_DICE)]
    reader = ListedReader({0: scene([]), 5: scene(unsure)})
    tracker = TrayTracker(reader, lambda: ALL_DICE)
    tray, thrown = dotted(dot=False), with_squares(SIX)
    view = watch(tracker, range(40), lambda number: tray if number < 5 else thrown)[-1]
    assert view.status is TrayStatus.UNCERTAIN
    assert len(view.dice) == 6


def noise(number: int) -> Pixels:
    """A picture that differs from the others by noise alone."""
    return picture() + np.random.default_rng(number).integers(0, 3, (240, 320, 3), np.uint8)


def test_a_die_that_tips_while_the_lamp_changes_withdraws_the_offer() -> None:
    tracker = TrayTracker(ListedReader({0: scene(SIX), 60: tipped_over()}), lambda: ALL_DICE)
    before = watch(tracker, range(60), lambda _: picture())[-1].roll
    assert before is not None
    tracker.on_lamp_changed()
    rolls = [view.roll for view in watch(tracker, range(60, 80), lambda _: picture(70))]
    assert before not in rolls
    assert rolls[-1] is not None


def test_dice_thrown_while_the_camera_is_frozen_are_read_by_themselves() -> None:
    tracker = TrayTracker(ListedReader({0: scene(SIX), 80: tipped_over()}), lambda: ALL_DICE)
    before = watch(tracker, range(60), noise)[-1].roll
    assert before is not None
    assert watch(tracker, range(60, 79), lambda _: noise(60))[-1].status is TrayStatus.FROZEN
    tracker.on_lamp_changed()  # the lamp tells that the camera is frozen
    watch(tracker, range(79, 80), lambda _: noise(60))
    rolls = [view.roll for view in watch(tracker, range(80, 100), noise)]
    assert before not in rolls
    assert rolls[-1] is not None


@pytest.mark.parametrize("is_damaged", [True, False])
def test_a_damaged_picture_is_not_pooled_into_a_roll(*, is_damaged: bool) -> None:
    tracker = TrayTracker(ListedReader({0: with_green(moving=True)}), lambda: ALL_DICE)
    for number in range(10):
        step(tracker, Frame(picture(), number / 10.0, number, is_damaged))
    assert (tracker.view().roll is None) is is_damaged


def test_a_used_die_that_is_taken_last_hides_none_of_the_next_throw() -> None:
    """Both throws begin with one die; the one of the first lies there longest after its roll."""
    one, two = (default_scene([(c, seed + 1) for c in ALL_DICE], seed=seed) for seed in (1, 3))
    ground = draw_background(one)
    pictures = [
        render(replace(drawn, dice=tuple(drawn.dice[n] for n in lying)), ground)
        for drawn, lying in ((one, []), (one, [1]), (one, range(6)), (one, [1]), (two, [3]))
    ]
    pictures.append(render(two, ground))
    tracker = TrayTracker(DiceReader(), lambda: ALL_DICE)
    said = []
    for number in range(12 * len(pictures)):
        if number == 36:
            tracker.on_confirmed(tracker.view().roll)
        step(tracker, Frame(pictures[number // 12], number / 10.0, number))
        said.append(tracker.view().status.value)
    assert [said[35], said[-1]] == ["ok", "ok"]


def test_used_dice_beside_a_hand_are_no_background_after_a_restart_either() -> None:
    """The hand lies over the others; it leaves the die of a closed row free."""
    confirmed = combine(frames(scene(SIX)), ALL_DICE).roll
    seen = {0: scene(SIX), 10: scene(SIX[5:], thing=8.0), 50: scene(SIX)}
    assert confirmed is not None
    tracker = TrayTracker(ListedReader(seen), lambda: ALL_DICE[:5], confirmed_rolls=(confirmed,))
    lying = [SIX] * 10 + [SIX[5:]] * 40 + [SIX] * 10
    views = watch(tracker, range(60), lambda number: with_squares(lying[number]))
    assert {view.roll for view in views} == {None}
    assert views[-1].status is TrayStatus.OLD


@pytest.mark.parametrize("thing", [0.0, 3.0], ids=["dice alone", "large letters, too"])
def test_printed_dice_are_background_from_the_first_picture_on(thing: float) -> None:
    prints = [replace(each, centre_xy=(each.centre_xy[0], 200.0)) for each in SIX[1:3]]
    said = seen([prints, [*SIX, *prints], prints, [*SIX, *prints]], thing=thing)
    assert said == ["empty", "ok", "empty", "ok"]
