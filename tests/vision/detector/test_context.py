"""The context head: colours and tilt of a die, corrected by all dice of the picture."""

from __future__ import annotations

import numpy as np
import pytest

from vision.detector.context import correct_by_context
from vision.detector.models import FEATURES, SCORES, Scores
from vision.detector.tilt import fit_floor_plane

RNG = np.random.default_rng(4)


def said_of(count: int) -> dict[str, Scores]:
    logits = RNG.normal(0, 1, (count, SCORES + 1 + FEATURES)).astype(np.float32)
    logits[:, 0] = 9.0
    return {
        "logits": logits,
        "shades": RNG.normal(-1, 0.5, (count, 3)).astype(np.float32),
        "places": RNG.uniform(-0.4, 0.4, (count, 2)).astype(np.float32),
        "shares": RNG.uniform(0.03, 0.1, count).astype(np.float32),
        "guessed": RNG.normal(0, 0.2, (count, 2)).astype(np.float32),
    }


def verdict(dice: dict[str, Scores]) -> Scores:
    fit = fit_floor_plane(dice["logits"], dice["places"], dice["guessed"])
    return correct_by_context(dice["logits"], fit, dice["shades"], dice["places"], dice["shares"])


def test_the_order_of_the_dice_does_not_matter() -> None:
    dice = said_of(6)
    order = RNG.permutation(6)
    turned = {name: column[order] for name, column in dice.items()}
    assert verdict(turned) == pytest.approx(verdict(dice)[order], abs=1e-4)


def test_candidates_that_are_no_dice_carry_no_weight() -> None:
    dice = said_of(6)
    more = said_of(7)
    for name, column in dice.items():
        more[name][:6] = column
    more["logits"][6, 0] = -12.0
    assert verdict(more)[:6] == pytest.approx(verdict(dice), abs=1e-3)


def test_another_die_changes_the_verdict_on_the_first() -> None:
    dice = said_of(6)
    before = verdict(dice)[0]
    dice["logits"][5, 1:] += 4.0
    assert np.abs(verdict(dice)[0] - before).max() > 1e-3
