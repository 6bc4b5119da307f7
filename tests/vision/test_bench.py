"""The scoring itself: exact, unsure, silently wrong, special."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from companion.engine.dice import ALL_DICE, DieColour
from companion.errors import PictureError
from vision.bench import Case, Tally, TrueDie, load_cases, parse_case, scaled, score, shrunk
from vision.reading import DieReading, Reading, Status

W, R, Y, G, B = DieColour


def true_die(number: int, value: int | None = None) -> TrueDie:
    colour = ALL_DICE[number].value
    return TrueDie(colour, value or number + 1, (100.0 * number, 50.0), 40.0)


def read_die(number: int, value: int | None = None, colour: DieColour | None = None) -> DieReading:
    x = 100.0 * number + 5.0
    corners = ((x - 20, 30.0), (x + 20, 30.0), (x + 20, 70.0), (x - 20, 70.0))
    return DieReading(colour or ALL_DICE[number], value or number + 1, 0.99, (x, 50.0), corners)


OK_CASE = Case("a", Status.OK, ALL_DICE, True, tuple(true_die(n) for n in range(6)))
OK_READING = Reading(Status.OK, tuple(read_die(n) for n in range(6)))
WRONG_VALUE = replace(OK_READING, dice=(read_die(0, value=4), *OK_READING.dice[1:]))
WRONG_COLOUR = replace(
    OK_READING, dice=(*OK_READING.dice[:4], read_die(4, colour=B), read_die(5, colour=G))
)
UNSURE = Reading(Status.UNCERTAIN, OK_READING.dice)
COCKED = replace(OK_CASE, expected=Status.COCKED, readable=False)
HAND = replace(OK_CASE, expected=Status.EXTRA, readable=True)


@pytest.mark.parametrize(
    ("case", "reading", "verdict", "named"),
    [
        (OK_CASE, OK_READING, "exact", False),
        (OK_CASE, UNSURE, "unsure", False),
        (OK_CASE, WRONG_VALUE, "silently_wrong", False),
        (OK_CASE, WRONG_COLOUR, "silently_wrong", False),
        (OK_CASE, replace(OK_READING, dice=OK_READING.dice[:5]), "silently_wrong", False),
        (COCKED, OK_READING, "silently_wrong", False),
        (COCKED, replace(UNSURE, status=Status.COCKED), "not_announced", True),
        (COCKED, UNSURE, "not_announced", False),
        (HAND, OK_READING, "exact", True),
        (HAND, WRONG_VALUE, "silently_wrong", False),
        (HAND, replace(OK_READING, status=Status.EXTRA), "not_announced", True),
    ],
)
def test_the_verdict_on_a_frame(case: Case, reading: Reading, verdict: str, named: bool) -> None:
    outcome = score(case, reading)
    assert (outcome.verdict, outcome.named) == (verdict, named)


def test_a_die_beside_the_tray_is_not_announced() -> None:
    case = replace(OK_CASE, dice=(*OK_CASE.dice, replace(true_die(0, 6), centre_xy=(900.0, 0.0))))
    case = replace(case, special_dice=frozenset({6}))
    assert score(case, OK_READING).verdict == "exact"


def test_a_removed_die_in_the_tray_is_no_part_of_the_roll() -> None:
    case = replace(OK_CASE, in_play=ALL_DICE[:5])
    assert score(case, OK_READING).verdict == "exact"


def test_dice_are_matched_to_the_nearest_and_counted_once() -> None:
    ghost = replace(read_die(0), centre_xy=(400.0, 400.0))
    double = replace(read_die(1), centre_xy=(101.0, 50.0), value=6)
    outcome = score(OK_CASE, replace(UNSURE, dice=(*OK_READING.dice, ghost, double)))
    assert (outcome.dice, outcome.seen, outcome.right, outcome.false) == (6, 6, 5, 2)


def test_the_counts_add_up() -> None:
    tally = Tally()
    rows = [(OK_CASE, OK_READING), (OK_CASE, UNSURE), (OK_CASE, WRONG_VALUE), (COCKED, UNSURE),
            (HAND, OK_READING)]  # fmt: skip
    for case, reading in rows:
        tally.outcomes.append(score(case, reading))
        tally.elapsed_ms.append(10.0)
    report = tally.report()
    assert report["frames"] == 5
    parts = ("exact", "unsure", "silently_wrong", "not_announced")
    assert sum(report[key] for key in parts) == 5
    assert report["special"] == {"frames": 2, "named": 1}
    assert report["ms"] == {"median": 10.0, "p95": 10.0}
    assert report["values"]["1"] == {"1": 4, "4": 1}
    json.dumps(report)


FRAME_LINE = {
    "file": "f.jpg", "expected": "missing", "values_readable": False,
    "dice_in_play": ["white", "white", "red"],
    "dice": [{"colour": "red", "value": 3, "center_px": [10, 20], "edge_px": 12.0,
              "in_tray": False, "top_visible": 1.0},
             {"colour": "white", "value": None, "center_px": [50, 20], "edge_px": 12.0,
              "in_tray": True, "top_visible": 1.0}],
}  # fmt: skip
PHOTO_LINE = {
    "file": "p.jpg", "quality": "usable",
    "dice": [{"value": 6, "colour": "purple", "centre": [10, 10], "certain": True,
              "box": [0, 0, 20, 20]},
             {"value": 6, "colour": "red", "centre": [90, 10], "certain": False}],
}  # fmt: skip


def test_both_kinds_of_truth_lines_parse() -> None:
    frame = parse_case(FRAME_LINE)
    assert frame.expected is Status.MISSING
    assert frame.in_play == (W, W, R)
    assert frame.special_dice == {0, 1}
    assert [d.counted for d in frame.dice] == [True, False]
    photo = parse_case(PHOTO_LINE)
    assert photo.expected is None
    assert [d.counted for d in photo.dice] == [True, False]
    purple = replace(read_die(0, 6), colour=None, centre_xy=(12.0, 14.0))
    assert score(photo, Reading(Status.EXTRA, (purple,))).right == 1


def test_scaling_moves_truth_and_picture_alike() -> None:
    pixels, factor = shrunk(np.zeros((960, 1280, 3), np.uint8), (640, 480))
    assert pixels.shape == (480, 640, 3)
    case = scaled(parse_case(PHOTO_LINE), factor)
    assert case.dice[0].box == (0.0, 0.0, 10.0, 10.0)
    assert case.dice[0].centre_xy == (5.0, 5.0)


@pytest.mark.parametrize("text", [None, "{", '{"file": "a.jpg"}', "[1]"])
def test_a_bad_truth_file_is_named(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "truth.jsonl").write_text(text)
    with pytest.raises(PictureError, match=r"truth\.jsonl"):
        load_cases(tmp_path)
