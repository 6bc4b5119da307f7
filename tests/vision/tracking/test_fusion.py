"""Frames of one roll combined."""

from __future__ import annotations

import numpy as np
import pytest

from companion.engine.dice import ALL_DICE, DieColour
from companion.session.corrections import Fix, doubtful_dice, with_fixes
from companion.tray import TrayStatus, TrayView
from tests.vision.tracking.drawn_evidence import (
    EDGE,
    GREEN,
    SIX,
    die,
    frames,
    scene,
    with_green,
)
from vision.detector.status import PALETTE
from vision.evidence import SceneEvidence
from vision.tracking.fusion import best_reading, combine


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


@pytest.mark.parametrize("other", [PALETTE.index(DieColour.YELLOW), len(PALETTE)])
def test_a_die_that_looks_like_another_can_be_told(other: int) -> None:
    """A green die that looks yellow, or like none of the five, is meant where green is named."""
    colours = np.full(6, 0.002, np.float32)
    colours[[other, PALETTE.index(DieColour.GREEN)]] = 0.8, 0.19
    unsure = die(DieColour.GREEN, 5, GREEN, sure=0.8)
    odd = with_green(colours=colours, sure=unsure.sure, values=unsure.values)
    reading = combine(frames(odd), ALL_DICE)
    tray = TrayView(reading.status, frame=1, dice=reading.dice, problems=reading.problems)
    assert tray.status is TrayStatus.UNCERTAIN
    asked = [(each, each.colour) for each in doubtful_dice(tray)]
    assert DieColour.GREEN in [colour for _, colour in asked]
    fixes = [Fix(each.centre_xy, EDGE / 3, colour, 2) for each, colour in asked if colour]
    assert with_fixes(tray, fixes, ALL_DICE).roll is not None


def test_a_scene_that_does_not_change_is_not_moving() -> None:
    blurred = with_green(moving=True)
    assert combine(frames(blurred), ALL_DICE).status is TrayStatus.MOVING
    assert combine(frames(blurred, blurred), ALL_DICE).status is TrayStatus.OK


def test_a_die_that_creeps_is_moving_though_no_pixel_seems_to() -> None:
    x, y = SIX[GREEN].centre_xy
    steps = [with_green(moving=True, centre_xy=(x + 8.0 * n, y)) for n in range(3)]
    assert combine(frames(*steps), ALL_DICE).status is TrayStatus.MOVING


def test_a_die_that_came_in_between_is_not_still_because_the_others_are() -> None:
    before = scene([*SIX[:GREEN], *SIX[GREEN + 1 :]])
    rolling = with_green(moving=True)
    reading = combine(frames(before, before, rolling, rolling), ALL_DICE)
    assert reading.status is TrayStatus.MOVING


def test_a_leaning_die_stays_cocked_once_its_blur_is_no_motion() -> None:
    tilted = with_green(moving=True, tilt=2.0)
    reading = combine(frames(tilted, tilted), ALL_DICE)
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
        (with_green(tilt=2.0), TrayStatus.COCKED),
    ],
)  # fmt: skip
def test_one_or_two_clear_frames_settle_no_doubt(
    doubtful: SceneEvidence, status: TrayStatus
) -> None:
    clear = with_green(tilt=-2.1)
    rest = frames(doubtful, doubtful, doubtful, doubtful, clear, clear)
    for count in (5, 6):
        assert best_reading(rest[:count], ALL_DICE).status is status


def test_a_die_at_two_places_by_turns_counts_once() -> None:
    x, y = SIX[GREEN].centre_xy
    elsewhere = with_green(centre_xy=(x + 0.2 * EDGE, y))
    reading = combine(frames(scene(SIX), elsewhere, scene(SIX), elsewhere), ALL_DICE)
    assert len(reading.dice) == 6
    assert reading.status is TrayStatus.OK
