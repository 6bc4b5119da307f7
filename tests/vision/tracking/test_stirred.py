"""Motion beside dice that lie still: a sleeve, an arm that reaches for the button."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np
import pytest

from companion.engine.dice import ALL_DICE, DieColour
from companion.tray import TrayStatus, TrayView
from tests.vision.tracking.drawn_evidence import (
    GREEN,
    SIX,
    ListedReader,
    die,
    scene,
    tipped_over,
    with_squares,
)
from tests.vision.tray_fakes import watch
from vision.evidence import DieEvidence, SceneEvidence
from vision.reading import Pixels
from vision.tracking.motion import changes, is_near, thumbnail
from vision.tracking.stillness import RESTLESS_S
from vision.tracking.tracker import TrayTracker

FPS = 10.0
BESIDE, AT_A_DIE = 200, 125


def with_sleeve(number: int, top: int = BESIDE) -> Pixels:
    """The six dice, and a dark sleeve that never stays where it was."""
    pixels = with_squares(SIX)
    left = 60 + 40 * (number % 5)
    pixels[top : top + 30, left : left + 60] = 20
    return pixels


def lying_still(number: int) -> Pixels:
    return with_squares(SIX)


def tipped_at_80(number: int) -> Pixels:
    """The green die is tipped over then."""
    pixels = with_squares(SIX)
    if number >= 80:
        cv2.circle(pixels, (340, 100), 9, (30, 30, 30), -1)
    return pixels


def said_of(views: Sequence[TrayView]) -> list[TrayStatus]:
    return [view.status for view in views]


def tracker_of(*scenes: tuple[int, SceneEvidence]) -> TrayTracker:
    return TrayTracker(ListedReader(dict(scenes)), lambda: ALL_DICE)


@pytest.mark.parametrize(("top", "expected"), [(BESIDE, False), (AT_A_DIE, True)])
def test_a_change_is_near_a_die_or_it_is_not(top: int, *, expected: bool) -> None:
    changed = changes(thumbnail(with_sleeve(0, top)), thumbnail(with_sleeve(1, top)))
    assert changed.any()
    assert is_near(changed, scene(SIX)) is expected
    assert is_near(changed, scene([])), "no die is known to lie still"


def test_an_offer_stands_while_an_arm_moves_beside_the_dice() -> None:
    tracker = tracker_of((0, scene(SIX)))
    assert watch(tracker, range(10), lying_still)[-1].roll is not None
    assert set(said_of(watch(tracker, range(10, 60), with_sleeve))) == {TrayStatus.OK}


def test_a_doubtful_die_stays_as_it_was_read_while_an_arm_moves_beside_it() -> None:
    """A person may have corrected it, and reaches for the button."""
    unsure = die(DieColour.GREEN, 5, GREEN, sure=0.6)
    tracker = tracker_of((0, scene([*SIX[:GREEN], unsure, SIX[GREEN + 1]])))
    assert watch(tracker, range(10), lying_still)[-1].status is TrayStatus.UNCERTAIN
    assert set(said_of(watch(tracker, range(10, 25), with_sleeve))) == {TrayStatus.UNCERTAIN}


def test_a_die_that_moves_beside_an_arm_withdraws_the_offer_at_once() -> None:
    tracker = tracker_of((0, scene(SIX)), (40, tipped_over()))
    watch(tracker, range(10), lying_still)
    before = watch(tracker, range(10, 40), with_sleeve)[-1].roll

    def tipped(number: int) -> Pixels:
        return cv2.circle(with_sleeve(number), (340, 100), 9, (30, 30, 30), -1)

    rolls = [view.roll for view in watch(tracker, range(40, 80), tipped)]
    assert before not in rolls
    assert rolls[-1] is not None


def test_a_die_that_came_beside_an_arm_is_read_within_a_second() -> None:
    seven = (*SIX, replace(SIX[2], centre_xy=(600.0, 220.0)))
    tracker = tracker_of((0, scene(SIX)), (30, scene(seven)))
    watch(tracker, range(10), lying_still)
    assert watch(tracker, range(10, 40), with_sleeve)[-1].status is not TrayStatus.OK


def test_dice_are_read_though_a_sleeve_never_stops_moving() -> None:
    views = watch(tracker_of((0, scene(SIX))), range(60), with_sleeve)
    said = said_of(views)
    first = said.index(TrayStatus.OK)
    assert RESTLESS_S * FPS <= first <= (RESTLESS_S + 0.4) * FPS
    assert set(said[first:]) == {TrayStatus.OK}
    assert views[-1].roll is not None


def test_a_sleeve_that_pauses_at_each_turn_is_still_moving() -> None:
    def pausing(number: int) -> Pixels:
        return with_sleeve(number - (number % 4 == 3))  # every fourth picture equals the third

    said = said_of(watch(tracker_of((0, scene(SIX))), range(60), pausing))
    assert set(said[int((RESTLESS_S + 0.6) * FPS) :]) == {TrayStatus.OK}


def under_a_shadow(number: int, pixels: Pixels) -> Pixels:
    """The edge of a shadow moves to and fro over the dice."""
    dark = pixels.copy()
    dark[:, : 260 + 30 * (number % 5)] //= 2
    return dark


def test_dice_are_read_though_a_shadow_never_stops_moving_over_them() -> None:
    tracker = tracker_of((0, scene(SIX)), (80, tipped_over()))
    views = watch(tracker, range(140), lambda n: under_a_shadow(n, tipped_at_80(n)))
    rolls = [view.roll for view in views]
    first = said_of(views).index(TrayStatus.OK)
    assert RESTLESS_S * FPS <= first <= (RESTLESS_S + 1.5) * FPS
    assert set(rolls[first:80]) == {rolls[first]}
    assert rolls[first] not in rolls[85:], "the die tipped over half a second before"
    assert rolls[-1] is not None


@pytest.mark.parametrize("lasts", [2, 3, 5])
def test_dice_are_read_though_the_tray_trembles(lasts: int) -> None:
    """It pauses after each step, but not for long enough to be read twice."""
    fps = (lasts - 1) / 0.08

    def trembling(number: int) -> Pixels:
        return np.roll(with_squares(SIX), 3 * (number // lasts % 2), axis=1)

    numbers = range(int((RESTLESS_S + 2.0) * fps))
    said = said_of(watch(tracker_of((0, scene(SIX))), numbers, trembling, fps))
    assert set(said[-int(0.5 * fps) :]) == {TrayStatus.OK}


@pytest.mark.parametrize(("fps", "lasts", "begins"), [(12, 3, 10), (20, 5, 12), (24, 4, 0)])
def test_dice_on_a_tray_that_trembles_stay_readable(fps: int, lasts: int, begins: int) -> None:
    """Every reading that comes half a second after another is the second one of a pause."""

    def trembling(number: int) -> Pixels:
        is_aside = number >= begins and (number - begins) // lasts % 2
        return np.roll(with_squares(SIX), 3 * is_aside, axis=1)

    said = said_of(watch(tracker_of((0, scene(SIX))), range(10 * fps), trembling, fps))
    assert set(said[-3 * fps :]) == {TrayStatus.OK}


@pytest.mark.parametrize("ends_after", range(1, 6))
def test_a_die_that_was_turned_under_a_shadow_is_read_soon_after(ends_after: int) -> None:
    def shaded(number: int) -> Pixels:
        pixels = tipped_at_80(number)
        return under_a_shadow(number, pixels) if number < 80 + ends_after else pixels

    tracker = tracker_of((0, scene(SIX)), (80, tipped_over()))
    rolls = [view.roll for view in watch(tracker, range(100), shaded)]
    assert rolls[79] is not None
    assert rolls[79] not in rolls[86:], "it lies there otherwise for half a second"
    assert rolls[-1] is not None


@pytest.mark.parametrize("left", [[], [each for each in SIX if each is not SIX[GREEN]]])
@pytest.mark.parametrize("ends_after", [1, 3, 5, 20])
def test_dice_taken_out_under_a_shadow_are_offered_no_longer(
    ends_after: int, left: list[DieEvidence]
) -> None:
    def shaded(number: int) -> Pixels:
        pixels = with_squares(SIX if number < 80 else left)
        return under_a_shadow(number, pixels) if number < 80 + ends_after else pixels

    tracker = tracker_of((0, scene(SIX)), (80, scene(left)))
    rolls = [view.roll for view in watch(tracker, range(100), shaded)]
    assert rolls[79] is not None
    assert set(rolls[86:]) == {None}


def test_dice_that_tumble_for_long_are_never_offered() -> None:
    """Every reading finds them, but never as before."""
    tumbling = [
        scene([replace(die(c, 1 + (n + k) % 6, n), moving=False) for n, c in enumerate(ALL_DICE)])
        for k in range(6)
    ]
    tracker = tracker_of(*((number, tumbling[number // 3 % 6]) for number in range(120)))
    views = watch(tracker, range(120), lambda number: under_a_shadow(number, with_squares(SIX)))
    assert {view.roll for view in views} == {None}


def test_a_tray_that_never_comes_to_rest_is_no_background() -> None:
    """Two dice read beside a sleeve stay dice of the throw that the others complete."""
    tracker = tracker_of((0, scene(SIX[:2])), (50, scene(SIX)))
    watch(tracker, range(50), with_sleeve)
    assert watch(tracker, range(50, 70), lying_still)[-1].roll is not None
