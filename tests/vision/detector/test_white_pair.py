"""Two white dice under one lamp are alike, whatever the lamp makes of white."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from companion.engine.dice import ALL_DICE, DieColour
from companion.tray import TrayStatus
from tests.vision.evidence import seen_die
from tests.vision.trays import SIX, lit, tray
from vision.detector.colours import likeness, tint_of
from vision.detector.status import PALETTE, decide_status
from vision.evidence import Clutter, DieEvidence
from vision.pipeline import DiceReader
from vision.reading import Frame

W, Y = DieColour.WHITE, DieColour.YELLOW
WARM = (0.06, 0.6, 1.1)
"""Gains (blue, green, red) of a lamp under which white looks as yellow does by day."""


def light_die(value: int, yellow: float, tint: tuple[float, float, float] | None) -> DieEvidence:
    row = np.full(6, 1e-4, np.float32)
    row[PALETTE.index(W)], row[PALETTE.index(Y)] = 1.0 - yellow, yellow
    measured = None if tint is None else np.array(tint, np.float32)
    return seen_die(row, value, 0.999, (50.0 * value, 100.0), tint=measured)


def others() -> list[DieEvidence]:
    dice = []
    for n, colour in enumerate(ALL_DICE):
        if colour not in (W, Y):
            row = np.full(6, 1e-5, np.float32)
            row[PALETTE.index(colour)] = 1.0
            dice.append(seen_die(row, 5, 0.999, (50.0 * n, 300.0)))
    return dice


def test_of_three_light_dice_the_two_that_are_alike_are_the_white_ones() -> None:
    same, another = (-0.9, 0.1, 80.0), (-1.9, 0.3, 30.0)
    for odd in range(3):
        tints = [another if n == odd else same for n in range(3)]
        light = [light_die(n + 1, 0.5, tint) for n, tint in enumerate(tints)]
        verdict = decide_status([*light, *others()], ALL_DICE, Clutter())
        assert verdict.status is TrayStatus.OK
        assert verdict.colours[odd] is Y
    unmeasured = [replace(die, tint=None) for die in light]
    assert (
        decide_status([*unmeasured, *others()], ALL_DICE, Clutter()).status is TrayStatus.UNCERTAIN
    )


def test_two_classifiers_that_disagree_leave_the_colours_uncertain() -> None:
    tints = [(-0.9, 0.1, 80.0), (-1.9, 0.3, 30.0), (-0.9, 0.1, 80.0)]
    light = [
        light_die(n + 1, yellow, tint)
        for n, (yellow, tint) in enumerate(zip([0.02, 0.02, 0.98], tints, strict=True))
    ]
    assert decide_status([*light, *others()], ALL_DICE, Clutter()).status is TrayStatus.UNCERTAIN
    agreeing = [replace(die, tint=None) for die in light]
    assert decide_status([*agreeing, *others()], ALL_DICE, Clutter()).status is TrayStatus.OK


def test_missing_measurements_carry_no_weight() -> None:
    tint = np.array([0.1, 0.2, 100.0], np.float32)
    says = likeness([tint, None, tint + 0.01, tint + 1.0])
    assert (says == says.T).all()
    assert not says[1].any()
    assert says[0, 2] > 0 > says[0, 3]


def test_a_lamp_with_little_blue_does_not_separate_white_and_yellow() -> None:
    dark = [np.array([-2.9 + 0.3 * n, 0.45, 5.0 + 2.0 * n], np.float32) for n in range(2)]
    light = [np.array([-0.9 + 0.3 * n, 0.45, 80.0 + 25.0 * n], np.float32) for n in range(2)]
    assert likeness(dark)[0, 1] > 3.0
    assert likeness(light)[0, 1] < 1.0


def test_white_and_yellow_that_differ_only_in_red_are_separated() -> None:
    dark = [np.array([-2.6, red, 10.0], np.float32) for red in (0.12, 0.13, 0.45)]
    says = likeness(dark)
    assert says[0, 1] > says[0, 2] + 3.0
    assert says[0, 1] > says[1, 2] + 3.0


@pytest.mark.parametrize("shade", [0.3, 0.6])
def test_shade_and_pips_do_not_change_a_tint(shade: float) -> None:
    face = np.full((60, 60, 3), (60, 150, 200), np.uint8)
    corners = np.array([[10, 10], [50, 10], [50, 50], [10, 50]], np.float32)
    plain = tint_of(face, corners)
    darker = (face * shade).astype(np.uint8)
    darker[15:45:12, 15:45:12] = darker[18:45:12, 18:45:12] = (5, 5, 5)
    assert np.hypot(*(tint_of(darker, corners) - plain)[:2]) < 0.08
    assert np.hypot(*(tint_of(face[..., ::-1].copy(), corners) - plain)[:2]) > 0.5
    assert plain[2] == 60.0


@pytest.mark.parametrize("seed", [5, 7, 9])
def test_a_tray_under_a_very_warm_lamp_is_read(seed: int) -> None:
    reading = DiceReader().read(Frame(lit(tray(SIX, seed), *WARM), 0.0))
    assert reading.status is TrayStatus.OK
    assert reading.roll is not None
    assert (reading.roll.white_sum, dict(reading.roll.coloured)[Y]) == (8, 6)
