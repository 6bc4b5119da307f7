"""Top faces that are not as large as the other dice tell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from companion.engine.dice import ALL_DICE
from companion.tray import Problem, ProblemCode, TrayStatus
from tests.vision.trays import SIX, tray
from vision import pipeline
from vision.detector.candidates import FeatureMaps
from vision.detector.search import Found, detect_dice
from vision.detector.sizes import oddness
from vision.pipeline import DiceReader
from vision.reading import Frame, Pixels

PLACES = [(-0.3, -0.2), (0.3, -0.25), (0.0, 0.0), (-0.35, 0.2), (0.25, 0.3), (0.1, -0.1)]


def seen(grows: tuple[float, float], noise: float = 0.02) -> list[float]:
    rng = np.random.default_rng(5)
    near = 1.0 + np.array(PLACES) @ np.array(grows)
    return list(30.0 * near * np.exp(rng.normal(0, noise, len(PLACES))))


@pytest.mark.parametrize("grows", [(0.0, 0.0), (0.5, -0.3)])
@pytest.mark.parametrize("off", [0.1, -0.1])
def test_dice_of_one_size_are_not_odd_from_wherever_they_are_seen(
    grows: tuple[float, float], off: float
) -> None:
    outputs = (grows[0] + off, grows[1] - off)
    assert np.abs(oddness(seen(grows), PLACES, outputs)).max() < 2.5


@pytest.mark.parametrize("share", [0.75, 1.3])
def test_a_face_of_another_size_is_odd_and_makes_no_other_so(share: float) -> None:
    edges = seen((0.4, 0.2))
    edges[2] *= share
    odd = oddness(edges, PLACES, (0.4, 0.2))
    assert np.sign(odd[2]) == np.sign(share - 1.0)
    assert abs(odd[2]) > 4.2 > 3.0 > np.abs(np.delete(odd, 2)).max()


def test_two_dice_set_no_size() -> None:
    assert oddness([30.0, 60.0], PLACES[:2], (0.0, 0.0)).tolist() == [0.0, 0.0]
    assert oddness([], [], (0.0, 0.0)).tolist() == []


@pytest.mark.parametrize(
    ("share", "visible", "is_read"),
    [(0.75, 1.0, False), (0.95, 1.0, True), (0.89, 1.0, True), (0.89, 0.93, False)],
)
def test_a_die_with_a_far_too_small_face_is_uncertain(
    share: float, visible: float, is_read: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A face that is cut short shows fewer pips; a second pass sees the same."""

    def cut_short(*given: object, any_colour: bool) -> tuple[FeatureMaps, list[Found]]:
        overview, dice = detect_dice(*given, any_colour=any_colour)  # type: ignore[arg-type]
        detection, candidate = dice[0]
        return overview, [
            (replace(detection, edge_px=share * detection.edge_px, visible=visible), candidate),
            *dice[1:],
        ]

    monkeypatch.setattr(pipeline, "detect_dice", cut_short)
    monkeypatch.setattr(pipeline, "read_again", lambda _, dice: dice)
    pixels: Pixels = tray(SIX)
    reading = DiceReader().read(Frame(pixels), ALL_DICE)
    assert (reading.status is TrayStatus.OK) is is_read
    doubted = [die.colour for die in reading.dice if die.confidence < 0.98]
    assert reading.problems == tuple(Problem(ProblemCode.UNCERTAIN, colour) for colour in doubted)
    assert len(doubted) == (0 if is_read else 1)
