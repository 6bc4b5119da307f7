"""The status table: what was seen against what is in play."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from companion.engine.dice import ALL_DICE, DieColour, Roll
from companion.tray import Problem, ProblemCode, TrayStatus
from tests.vision.evidence import seen_die
from vision.detector.status import PALETTE, decide_status, likeliest, reading_of
from vision.evidence import Clutter, DieEvidence, SceneEvidence

W, R, Y, G, B = DieColour
CLEAR = Clutter()


def chances(colour: DieColour | None, sure: float = 0.995) -> np.ndarray:
    row = np.full(6, (1.0 - sure) / 5, np.float32)
    row[5 if colour is None else PALETTE.index(colour)] = sure
    return row


def die(colour: DieColour | None, value: int | None = 3, sure: float = 0.999) -> DieEvidence:
    return seen_die(chances(colour), value, sure)


SIX = [die(c, n + 1) for n, c in enumerate(ALL_DICE)]


def test_six_clear_dice_are_ok_and_make_the_roll() -> None:
    verdict = decide_status(SIX, ALL_DICE, CLEAR)
    assert verdict.status is TrayStatus.OK
    assert verdict.problems == ()
    assert verdict.roll == Roll.of((1, 2), {R: 3, Y: 4, G: 5, B: 6})


@pytest.mark.parametrize("sure", [0.8, 0.95, 0.98])
def test_a_removed_die_in_the_tray_does_not_replace_a_missing_one(
    sure: float,
) -> None:
    blue = np.full(6, 1e-5, np.float32)
    blue[PALETTE.index(B)], blue[PALETTE.index(G)] = sure, 1.0 - sure
    left_in = replace(die(B), colours=blue)
    verdict = decide_status([*SIX[:4], left_in], [W, W, R, Y, G], CLEAR)
    assert verdict.status is not TrayStatus.OK


@pytest.mark.parametrize("odd", [0.95, 0.98, 0.999])
def test_a_foreign_die_does_not_replace_a_missing_one(odd: float) -> None:
    foreign = np.full(6, 1e-5, np.float32)
    foreign[5], foreign[PALETTE.index(Y)] = odd, 1.0 - odd
    seen = [*SIX[:3], replace(die(Y), colours=foreign), *SIX[4:]]
    assert decide_status(seen, ALL_DICE, CLEAR).status is not TrayStatus.OK


def test_the_other_dice_are_as_sure_with_one_removed() -> None:
    verdict = decide_status(SIX[:5], [W, W, R, Y, G], CLEAR)
    assert verdict.status is TrayStatus.OK
    assert min(verdict.confidences) > 0.98


def test_with_no_die_in_play_none_is_announced() -> None:
    verdict = decide_status(SIX, (), CLEAR)
    assert verdict.status is not TrayStatus.OK or verdict.roll is None


@pytest.mark.parametrize(
    ("change", "status", "problem"),
    [
        ({"moving": True}, TrayStatus.MOVING, Problem(ProblemCode.MOVING, R)),
        ({"visible": 0.5}, TrayStatus.OBSTRUCTED, Problem(ProblemCode.OBSTRUCTED, R)),
        ({"tilt": 1.0}, TrayStatus.COCKED, Problem(ProblemCode.COCKED, R)),
        ({"in_tray": False}, TrayStatus.MISSING, Problem(ProblemCode.MISSING, R)),
        ({"value": None}, TrayStatus.UNCERTAIN, Problem(ProblemCode.UNCERTAIN, R)),
        ({"sure": 0.9}, TrayStatus.UNCERTAIN, Problem(ProblemCode.UNCERTAIN, R)),
    ],
)
def test_one_bad_die_names_itself(
    change: dict[str, object], status: TrayStatus, problem: Problem
) -> None:
    dice = [*SIX[:2], replace(SIX[2], **change), *SIX[3:]]  # type: ignore[arg-type]
    verdict = decide_status(dice, ALL_DICE, CLEAR)
    assert verdict.status is status
    assert verdict.problems[0] == problem
    assert verdict.roll is None


def test_the_first_that_applies_is_the_status() -> None:
    dice = [
        replace(SIX[0], tilt=1.0), replace(SIX[1], visible=0.3), replace(SIX[2], moving=True),
        die(None),
    ]  # fmt: skip
    order = [
        TrayStatus.MOVING,
        TrayStatus.OBSTRUCTED,
        TrayStatus.COCKED,
        TrayStatus.MISSING,
        TrayStatus.EXTRA,
    ]
    for status in order:
        assert decide_status(dice, ALL_DICE, CLEAR).status is status
        if status is TrayStatus.MOVING:
            dice[2] = SIX[2]
        elif status is TrayStatus.OBSTRUCTED:
            dice[1] = SIX[1]
        elif status is TrayStatus.COCKED:
            dice[0] = SIX[0]
        elif status is TrayStatus.MISSING:
            dice += SIX[3:]


def test_an_empty_tray() -> None:
    beside = replace(SIX[0], in_tray=False)
    for dice in ([], [beside]):
        verdict = decide_status(dice, ALL_DICE, CLEAR)
        assert verdict.status is TrayStatus.EMPTY
    assert Problem(ProblemCode.BESIDE_TRAY, W) in verdict.problems


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"die": 0.6}, TrayStatus.OK),
        ({"die": 0.6, "tilt": 1.0, "moving": True, "visible": 0.1}, TrayStatus.OK),
        ({"die": 0.999}, TrayStatus.EXTRA),
    ],
)
def test_beside_a_whole_roll_only_a_sure_die_is_one_too_many(
    change: dict[str, object], status: TrayStatus
) -> None:
    verdict = decide_status([*SIX, replace(die(R, 5), **change)], ALL_DICE, CLEAR)  # type: ignore[arg-type]
    assert verdict.status is status
    if status is TrayStatus.OK:
        assert verdict.problems == (Problem(ProblemCode.FOREIGN_OBJECT),)
        assert verdict.discarded == {6}


def test_a_die_of_the_colour_that_another_hardly_has_is_not_discarded() -> None:
    brown = np.full(6, 0.01, np.float32)
    brown[5], brown[PALETTE.index(R)] = 0.82, 0.14
    red = replace(die(R, 5), die=0.8, visible=0.6)
    verdict = decide_status(
        [*SIX[:2], replace(SIX[2], colours=brown), *SIX[3:], red], ALL_DICE, CLEAR
    )
    assert verdict.discarded == frozenset()
    assert Problem(ProblemCode.OBSTRUCTED, R) in verdict.problems


def test_where_a_die_is_missing_nothing_is_discarded() -> None:
    doubtful = replace(die(R, 5), die=0.6, visible=0.3)
    verdict = decide_status([*SIX[:2], *SIX[3:], doubtful], ALL_DICE, CLEAR)
    assert verdict.status is TrayStatus.OBSTRUCTED
    assert verdict.discarded == frozenset()


def test_a_smear_is_motion_and_a_hand_over_a_missing_die_obstructs() -> None:
    assert decide_status(SIX[:5], ALL_DICE, Clutter(smear=0.9)).status is TrayStatus.MOVING
    assert decide_status(SIX, ALL_DICE, Clutter(smear=0.9)).status is TrayStatus.OK, (
        "none of the dice is it"
    )
    assert decide_status(SIX[:5], ALL_DICE, Clutter(thing=3.0)).status is TrayStatus.OBSTRUCTED
    small = decide_status(SIX[:5], ALL_DICE, Clutter(thing=1.0))
    assert small.status is TrayStatus.MISSING, "a coin hides no die"
    assert ProblemCode.FOREIGN_OBJECT in [problem.code for problem in small.problems]
    four = decide_status(SIX[:2], ALL_DICE, Clutter(thing=3.0))
    assert four.status is TrayStatus.MISSING, "a pencil hides no four dice"
    assert decide_status(SIX[:5], ALL_DICE, CLEAR).status is TrayStatus.MISSING


def test_a_thing_that_hides_nothing_is_a_warning() -> None:
    verdict = decide_status(SIX, ALL_DICE, Clutter(thing=1.0))
    assert verdict.status is TrayStatus.OK
    assert verdict.problems == (Problem(ProblemCode.FOREIGN_OBJECT),)


def test_one_missing_white_is_named_and_a_third_is_extra() -> None:
    verdict = decide_status(SIX[1:], ALL_DICE, CLEAR)
    assert verdict.problems == (Problem(ProblemCode.MISSING, W),)
    verdict = decide_status([*SIX, die(W, 5)], ALL_DICE, CLEAR)
    assert verdict.status is TrayStatus.EXTRA
    assert verdict.problems == (Problem(ProblemCode.EXTRA, W),)


def test_a_removed_die_warns_and_hides_nothing() -> None:
    in_play = (W, W, R, Y, G)
    verdict = decide_status(SIX, in_play, CLEAR)
    assert verdict.status is TrayStatus.OK
    assert verdict.problems == (Problem(ProblemCode.REMOVED_DIE_IN_TRAY, B),)
    assert verdict.roll == Roll.of((1, 2), {R: 3, Y: 4, G: 5})


def test_colours_are_weighed_against_each_other() -> None:
    """Alone the ivory die is more likely yellow; beside a real yellow one it is the other white."""
    ivory = np.array([0.35, 0.0, 0.65, 0.0, 0.0, 0.0], np.float32) * 0.99 + 0.01 / 6
    dice = [SIX[0], replace(SIX[1], colours=ivory), *SIX[2:]]
    assert likeliest(ivory) is Y
    verdict = decide_status(dice, ALL_DICE, CLEAR)
    assert verdict.colours[1] is W
    assert verdict.colours[3] is Y


def test_one_die_too_many_is_as_sure_as_alone() -> None:
    scene = SceneEvidence((*SIX, SIX[4]), CLEAR, (640, 480))
    reading = reading_of(scene, ALL_DICE)
    assert reading.status is TrayStatus.EXTRA
    assert min(die.confidence for die in reading.dice) > 0.98


def test_two_dice_that_could_each_be_the_other_are_uncertain() -> None:
    both = np.array([0.0, 0.0, 0.0, 0.5, 0.5, 0.0], np.float32)
    dice = [*SIX[:4], replace(SIX[4], colours=both), replace(SIX[5], colours=both)]
    verdict = decide_status(dice, ALL_DICE, CLEAR)
    assert verdict.status is TrayStatus.UNCERTAIN
    assert {p.colour for p in verdict.problems} == {G, B}


def test_without_both_whites_in_play_there_is_no_roll() -> None:
    verdict = decide_status(SIX[2:], ALL_DICE[2:], CLEAR)
    assert verdict.status is TrayStatus.OK
    assert verdict.roll is None
