"""A tilted die: it has no value when that is sure, and doubt about it prevents an announcement."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from companion.engine.dice import ALL_DICE
from tests.vision.detector.test_status import CLEAR, SIX
from vision.detector.classifier import Detection
from vision.detector.status import reading_of
from vision.evidence import SceneEvidence
from vision.pipeline import _evidence_of

SIZE_WH = (640, 480)


def detection(*, tilt: float = -10.0, agree: bool = True, moving: float = 0.0) -> Detection:
    corners = np.array([[100, 100], [140, 100], [140, 140], [100, 140]], np.float32)
    return Detection(
        corners=corners,
        values=np.array([0.0, 0.0, 0.999, 0.001, 0.0, 0.0], np.float32),
        agree=agree,
        colours=np.array([0, 9, 0, 0, 0, 0], np.float32),
        die=1.0,
        moving=moving,
        in_tray=1.0,
        visible=1.0,
        tilt=tilt,
        centre_xy=(120.0, 120.0),
        edge_px=40.0,
        foot_xy=(120.0, 120.0),
        heat=1.0,
    )


def test_a_strongly_tilted_die_has_no_value() -> None:
    dice = (*SIX[:2], replace(SIX[2], tilt=4.0), *SIX[3:])
    reading = reading_of(SceneEvidence(dice, CLEAR, SIZE_WH), ALL_DICE)
    assert [die.value for die in reading.dice] == [1, 2, None, 4, 5, 6]


def test_a_moving_die_is_not_called_cocked() -> None:
    assert replace(SIX[2], tilt=4.0).cocked
    assert not replace(SIX[2], tilt=4.0, moving=True).cocked


def test_a_die_moves_if_it_rather_does() -> None:
    assert not _evidence_of(detection(moving=0.3), 0.0, SIZE_WH).moving
    assert _evidence_of(detection(moving=0.6), 0.0, SIZE_WH).moving


@pytest.mark.parametrize(
    "doubtful",
    [
        pytest.param(detection(tilt=-1.0), id="it may be tilted"),
        pytest.param(detection(agree=False), id="crop and view disagree"),
    ],
)
def test_one_look_alone_announces_no_doubtful_die(doubtful: Detection) -> None:
    assert _evidence_of(detection(), 0.0, SIZE_WH).sure > 0.99
    assert _evidence_of(doubtful, 0.0, SIZE_WH).sure < 0.95
