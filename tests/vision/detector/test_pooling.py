"""Two looks at one picture, and frames of one roll, as one set of dice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from companion.engine.dice import ALL_DICE
from companion.tray import TrayStatus
from tests.vision.tracking.drawn_evidence import EDGE, SIX
from vision.detector.pooling import by_both_looks, pooled
from vision.detector.status import decide_status
from vision.evidence import Clutter, DieEvidence


def status_of(dice: Sequence[DieEvidence]) -> TrayStatus:
    return decide_status(dice, ALL_DICE, Clutter()).status


@pytest.mark.parametrize("away", [0.0, 0.155, 0.3, 0.5, 0.75])
def test_a_die_that_two_looks_place_differently_stands_for_no_missing_one(away: float) -> None:
    one_white = SIX[1:]
    x, y = one_white[0].centre_xy
    shifted = replace(one_white[0], centre_xy=(x + away * EDGE, y))
    dice = by_both_looks(one_white, (shifted, *one_white[1:]))
    assert len(dice) == 5
    assert status_of(dice) is TrayStatus.MISSING


def test_dice_side_by_side_remain_two() -> None:
    x, y = SIX[0].centre_xy
    beside = replace(SIX[1], centre_xy=(x + 0.95 * EDGE, y))
    assert len(by_both_looks((SIX[0], beside), (beside, SIX[0]))) == 2


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({}, TrayStatus.OK),
        ({"moving": True}, TrayStatus.MOVING),
        ({"in_tray": False}, TrayStatus.EMPTY),
        ({"die": 0.7}, TrayStatus.OK),
    ],
)
def test_what_either_look_doubts_is_doubted(change: dict[str, bool], status: TrayStatus) -> None:
    doubting = [replace(each, **change) for each in SIX]  # type: ignore[arg-type]
    for looks in ((SIX, doubting), (doubting, SIX)):
        dice = by_both_looks(*looks)
        assert status_of(dice) is status
        assert dice[0].die == doubting[0].die


def test_looks_with_other_second_guesses_make_no_die_surer() -> None:
    looks = []
    for guess in (3, 4):
        values = np.full(6, 1e-4, np.float32)
        values[0], values[guess - 1] = 0.6, 0.4
        looks.append(replace(SIX[0], sure=0.6, values=values))
    both = pooled([(each, 1.0) for each in looks])
    assert both.value == 1
    assert both.sure == pytest.approx(0.6)
    assert float(both.values.max()) == pytest.approx(0.6)
