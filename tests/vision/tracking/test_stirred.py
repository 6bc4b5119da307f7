"""Motion beside dice that lie still: a sleeve, an arm that reaches for the button."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from companion.engine.dice import ALL_DICE, DieColour
from companion.tray import TrayStatus
from tests.vision.tracking.drawn_evidence import (
    GREEN,
    SIX,
    ListedReader,
    die,
    scene,
    tipped_over,
    with_squares,
)
from tests.vision.tray_fakes import step
from vision.evidence import DieEvidence, SceneEvidence
from vision.reading import Frame, Pixels
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


def watch(tracker: TrayTracker, numbers: range, pixels: Pixels | None = None) -> list[TrayStatus]:
    said = []
    for number in numbers:
        shown = with_sleeve(number) if pixels is None else pixels
        step(tracker, Frame(shown, number / FPS, number))
        said.append(tracker.view().status)
    return said


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
    watch(tracker, range(10), with_squares(SIX))
    assert tracker.view().roll is not None
    assert set(watch(tracker, range(10, 60))) == {TrayStatus.OK}


def test_a_doubtful_die_stays_as_it_was_read_while_an_arm_moves_beside_it() -> None:
    """A person may have corrected it, and reaches for the button."""
    unsure = die(DieColour.GREEN, 5, GREEN, sure=0.6)
    tracker = tracker_of((0, scene([*SIX[:GREEN], unsure, SIX[GREEN + 1]])))
    watch(tracker, range(10), with_squares(SIX))
    assert tracker.view().status is TrayStatus.UNCERTAIN
    assert set(watch(tracker, range(10, 25))) == {TrayStatus.UNCERTAIN}


def test_a_die_that_moves_beside_an_arm_withdraws_the_offer_at_once() -> None:
    tracker = tracker_of((0, scene(SIX)), (40, tipped_over()))
    watch(tracker, range(10), with_squares(SIX))
    watch(tracker, range(10, 40))
    before = tracker.view().roll
    for number in range(40, 80):
        pixels = with_sleeve(number)
        cv2.circle(pixels, (340, 100), 9, (30, 30, 30), -1)
        step(tracker, Frame(pixels, number / FPS, number))
        assert tracker.view().roll != before
    assert tracker.view().roll is not None


def test_a_die_that_came_beside_an_arm_is_read_within_a_second() -> None:
    seven = (*SIX, replace(SIX[2], centre_xy=(600.0, 220.0)))
    tracker = tracker_of((0, scene(SIX)), (30, scene(seven)))
    watch(tracker, range(10), with_squares(SIX))
    assert watch(tracker, range(10, 40))[-1] is not TrayStatus.OK


def test_dice_are_read_though_a_sleeve_never_stops_moving() -> None:
    tracker = tracker_of((0, scene(SIX)))
    said = watch(tracker, range(60))
    first = said.index(TrayStatus.OK)
    assert RESTLESS_S * FPS <= first <= (RESTLESS_S + 0.4) * FPS
    assert set(said[first:]) == {TrayStatus.OK}
    assert tracker.view().roll is not None


def test_a_sleeve_that_pauses_at_each_turn_is_still_moving() -> None:
    tracker = tracker_of((0, scene(SIX)))
    said = []
    for number in range(60):
        pixels = with_sleeve(number - (number % 4 == 3))  # every fourth picture equals the third
        step(tracker, Frame(pixels, number / FPS, number))
        said.append(tracker.view().status)
    assert set(said[int((RESTLESS_S + 0.6) * FPS) :]) == {TrayStatus.OK}


def under_a_shadow(number: int, pixels: Pixels) -> Pixels:
    """The edge of a shadow moves to and fro over the dice."""
    dark = pixels.copy()
    dark[:, : 260 + 30 * (number % 5)] //= 2
    return dark


def test_dice_are_read_though_a_shadow_never_stops_moving_over_them() -> None:
    tracker, said, rolls = tracker_of((0, scene(SIX)), (80, tipped_over())), [], []
    for number in range(140):
        pixels = with_squares(SIX)
        if number >= 80:
            cv2.circle(pixels, (340, 100), 9, (30, 30, 30), -1)
        step(tracker, Frame(under_a_shadow(number, pixels), number / FPS, number))
        said.append(tracker.view().status)
        rolls.append(tracker.view().roll)
    first = said.index(TrayStatus.OK)
    assert RESTLESS_S * FPS <= first <= (RESTLESS_S + 1.5) * FPS
    assert set(rolls[first:80]) == {rolls[first]}
    assert rolls[first] not in rolls[85:], "the die tipped over half a second before"
    assert rolls[-1] is not None


@pytest.mark.parametrize("lasts", [2, 3, 5])
def test_dice_are_read_though_the_tray_trembles(lasts: int) -> None:
    """It pauses after each step, but not for long enough to be read twice."""
    tracker, said, step_s = tracker_of((0, scene(SIX))), [], 0.08 / (lasts - 1)
    for number in range(int((RESTLESS_S + 2.0) / step_s)):
        pixels = np.roll(with_squares(SIX), 3 * (number // lasts % 2), axis=1)
        step(tracker, Frame(pixels, number * step_s, number))
        said.append(tracker.view().status)
    assert set(said[-int(0.5 / step_s) :]) == {TrayStatus.OK}


@pytest.mark.parametrize(("fps", "lasts", "begins"), [(12, 3, 10), (20, 5, 12), (24, 4, 0)])
def test_dice_on_a_tray_that_trembles_stay_readable(fps: int, lasts: int, begins: int) -> None:
    """Every reading that comes half a second after another is the second one of a pause."""
    tracker, said = tracker_of((0, scene(SIX))), []
    for number in range(10 * fps):
        is_aside = number >= begins and (number - begins) // lasts % 2
        pixels = np.roll(with_squares(SIX), 3 * is_aside, axis=1)
        step(tracker, Frame(pixels, number / fps, number))
        said.append(tracker.view().status)
    assert set(said[-3 * fps :]) == {TrayStatus.OK}


@pytest.mark.parametrize("ends_after", range(1, 6))
def test_a_die_that_was_turned_under_a_shadow_is_read_soon_after(ends_after: int) -> None:
    tracker, rolls = tracker_of((0, scene(SIX)), (80, tipped_over())), []
    for number in range(100):
        pixels = with_squares(SIX)
        if number >= 80:
            cv2.circle(pixels, (340, 100), 9, (30, 30, 30), -1)
        if number < 80 + ends_after:
            pixels = under_a_shadow(number, pixels)
        step(tracker, Frame(pixels, number / FPS, number))
        rolls.append(tracker.view().roll)
    assert rolls[79] is not None
    assert rolls[79] not in rolls[86:], "it lies there otherwise for half a second"
    assert rolls[-1] is not None


@pytest.mark.parametrize("left", [[], [each for each in SIX if each is not SIX[GREEN]]])
@pytest.mark.parametrize("ends_after", [1, 3, 5, 20])
def test_dice_taken_out_under_a_shadow_are_offered_no_longer(
    ends_after: int, left: list[DieEvidence]
) -> None:
    tracker, rolls = tracker_of((0, scene(SIX)), (80, scene(left))), []
    for number in range(100):
        pixels = with_squares(SIX if number < 80 else left)
        if number < 80 + ends_after:
            pixels = under_a_shadow(number, pixels)
        step(tracker, Frame(pixels, number / FPS, number))
        rolls.append(tracker.view().roll)
    assert rolls[79] is not None
    assert set(rolls[86:]) == {None}


def test_dice_that_tumble_for_long_are_never_offered() -> None:
    """Every reading finds them, but never as before."""
    tumbling = [
        scene([replace(die(c, 1 + (n + k) % 6, n), moving=False) for n, c in enumerate(ALL_DICE)])
        for k in range(6)
    ]
    tracker = tracker_of(*((number, tumbling[number // 3 % 6]) for number in range(120)))
    for number in range(120):
        pixels = under_a_shadow(number, with_squares(SIX))
        step(tracker, Frame(pixels, number / FPS, number))
        assert tracker.view().roll is None


def test_a_tray_that_never_comes_to_rest_is_no_background() -> None:
    """Two dice read beside a sleeve stay dice of the throw that the others complete."""
    tracker = tracker_of((0, scene(SIX[:2])), (50, scene(SIX)))
    watch(tracker, range(50))
    watch(tracker, range(50, 70), with_squares(SIX))
    assert tracker.view().roll is not None
