"""The scoring itself: exact, unsure, silently wrong, special."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from companion.engine.dice import ALL_DICE, DieColour
from companion.errors import PictureError
from companion.tray import DieView, TrayStatus
from vision.benchmark.scoring import Tally, score
from vision.benchmark.truth import Case, TrueDie, load_cases, parse_case, pictures, scaled, shrunk
from vision.reading import Reading

W, R, Y, G, B = DieColour


def true_die(number: int, value: int | None = None) -> TrueDie:
    colour = ALL_DICE[number].value
    return TrueDie(colour, value or number + 1, (100.0 * number, 50.0), 40.0)


def read_die(number: int, value: int | None = None, colour: DieColour | None = None) -> DieView:
    x = 100.0 * number + 5.0
    corners = ((x - 20, 30.0), (x + 20, 30.0), (x + 20, 70.0), (x - 20, 70.0))
    return DieView(colour or ALL_DICE[number], value or number + 1, 0.99, (x, 50.0), corners)


OK_CASE = Case("a", TrayStatus.OK, ALL_DICE, True, tuple(true_die(n) for n in range(6)))
OK_READING = Reading(TrayStatus.OK, tuple(read_die(n) for n in range(6)))
WRONG_VALUE = replace(OK_READING, dice=(read_die(0, value=4), *OK_READING.dice[1:]))
WRONG_COLOUR = replace(
    OK_READING, dice=(*OK_READING.dice[:4], read_die(4, colour=B), read_die(5, colour=G))
)
UNSURE = Reading(TrayStatus.UNCERTAIN, OK_READING.dice)
COCKED = replace(OK_CASE, expected=TrayStatus.COCKED, readable=False)
HAND = replace(OK_CASE, expected=TrayStatus.EXTRA, readable=True)


@pytest.mark.parametrize(
    ("case", "reading", "verdict", "named"),
    [
        (OK_CASE, OK_READING, "exact", False),
        (OK_CASE, UNSURE, "unsure", False),
        (OK_CASE, WRONG_VALUE, "silently_wrong", False),
        (OK_CASE, WRONG_COLOUR, "silently_wrong", False),
        (OK_CASE, replace(OK_READING, dice=OK_READING.dice[:5]), "silently_wrong", False),
        (COCKED, OK_READING, "silently_wrong", False),
        (COCKED, replace(UNSURE, status=TrayStatus.COCKED), "not_announced", True),
        (COCKED, UNSURE, "not_announced", False),
        (HAND, OK_READING, "exact", True),
        (HAND, WRONG_VALUE, "silently_wrong", False),
        (HAND, replace(OK_READING, status=TrayStatus.EXTRA), "not_announced", True),
    ],
)
def test_the_verdict_on_a_frame(case: Case, reading: Reading, verdict: str, named: bool) -> None:
    outcome = score(case, reading)
    assert (outcome.verdict, outcome.named) == (verdict, named)


def test_readable_frames_are_counted_by_their_looks() -> None:
    looks = (("floor felt", "pips ring"), ("floor felt",), ("pips ring",))
    readings = (OK_READING, UNSURE, OK_READING)
    cases = [replace(OK_CASE, looks=each) for each in looks]
    special = replace(COCKED, looks=("floor felt",))
    outcomes = [score(case, read) for case, read in zip(cases, readings, strict=True)]
    assert Tally([*outcomes, score(special, UNSURE)]).report()["looks"] == {
        "floor felt": {"frames": 2, "exact": 1},
        "pips ring": {"frames": 2, "exact": 2},
    }


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


def test_a_frame_with_a_faint_die_counts_only_if_announced_wrong() -> None:
    faint = replace(OK_CASE, faint=True)
    readings = [OK_READING, UNSURE, WRONG_VALUE]
    report = Tally([score(faint, each) for each in readings], [1.0] * 3).report()
    assert (report["frames"], report["exact"], report["unsure"]) == (1, 0, 0)
    assert report["silently_wrong"] == 1
    assert report["faint"] == {"frames": 2, "exact": 1}


def test_an_announced_special_frame_is_counted_as_one() -> None:
    tally = Tally([score(HAND, OK_READING), score(COCKED, UNSURE)], [1.0, 1.0])
    assert tally.report()["announced_special"] == 1


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
    assert frame.expected is TrayStatus.MISSING
    assert frame.in_play == (W, W, R)
    assert frame.special_dice == {0, 1}
    assert [d.counted for d in frame.dice] == [True, False]
    photo = parse_case(PHOTO_LINE)
    assert photo.expected is None
    assert [d.counted for d in photo.dice] == [True, False]
    purple = replace(read_die(0, 6), colour=None, centre_xy=(12.0, 14.0))
    assert score(photo, Reading(TrayStatus.EXTRA, (purple,))).right == 1


def test_scaling_moves_truth_and_picture_alike() -> None:
    pixels, factor = shrunk(np.zeros((960, 1280, 3), np.uint8), (640, 480))
    assert pixels.shape == (480, 640, 3)
    case = scaled(parse_case(PHOTO_LINE), factor)
    assert case.dice[0].box == (0.0, 0.0, 10.0, 10.0)
    assert case.dice[0].centre_xy == (5.0, 5.0)


def test_a_photo_is_exact_where_all_values_and_colours_are_right() -> None:
    red = {"value": 6, "colour": "red", "centre": [10, 10], "certain": True, "box": [0, 0, 20, 20]}
    photo = parse_case({"file": "p.jpg", "quality": "usable", "dice": [red]})
    die = replace(read_die(2, 6), centre_xy=(10.0, 10.0))
    seen = Reading(TrayStatus.MISSING, (die,))
    assert score(photo, seen).verdict == "exact"
    wrong = score(photo, replace(seen, dice=(replace(die, colour=B),)))
    assert (wrong.verdict, wrong.misread) == ("unsure", ("red 6 as blue 6",))
    assert score(photo, replace(seen, dice=())).misread == ("red 6 not seen",)
    assert score(photo, replace(seen, dice=(die, read_die(3)))).false == 1


def test_a_photo_without_a_sure_label_is_not_counted() -> None:
    hard = parse_case(PHOTO_LINE | {"quality": "hard"})
    tally = Tally([score(hard, UNSURE), score(OK_CASE, OK_READING)], [1.0, 1.0])
    report = tally.report()
    assert (report["frames"], report["exact"], report["not_counted"]) == (1, 1, 1)
    assert report["dice"]["false"] == 0


@pytest.mark.parametrize("factor", [1.0, 4.0])
def test_a_die_without_a_box_is_as_wide_as_the_one_seen(factor: float) -> None:
    label = {"value": 1, "colour": "white", "centre": [18, 50]}
    photo = scaled(parse_case({"file": "p.jpg", "dice": [label]}), factor)
    die = read_die(0)
    corners = tuple((x * factor, y * factor) for x, y in die.corners_xy)
    large = replace(
        die,
        centre_xy=(die.centre_xy[0] * factor, die.centre_xy[1] * factor),
        corners_xy=corners,  # type: ignore[arg-type]
    )
    assert score(photo, Reading(TrayStatus.MISSING, (large,))).right == 1


def test_dice_that_have_all_but_settled_may_be_announced() -> None:
    line = FRAME_LINE | {
        "expected": "moving", "almost_settled": True, "values": [["white", 2], ["red", 3]],
    }  # fmt: skip
    case = parse_case(line)
    assert case.readable
    assert sorted((die.colour, die.value) for die in case.dice) == [("red", 3), ("white", 2)]


@pytest.mark.parametrize("text", ["\ufeff{}", "{}\r\n{}", "\n{}\n\n"])
def test_marks_and_ends_of_lines_of_other_systems_are_taken(tmp_path: Path, text: str) -> None:
    name = "a\u2028b.jpg"
    line = json.dumps({"file": name, "expected": "empty", "dice": []}, ensure_ascii=False)
    (tmp_path / "truth.jsonl").write_bytes(text.replace("{}", line).encode())
    assert {case.name for case in load_cases(tmp_path)} == {name}


def test_a_set_without_truths_is_none(tmp_path: Path) -> None:
    (tmp_path / "truth.jsonl").write_text("\n")
    with pytest.raises(PictureError, match="expected truth objects, got none"):
        load_cases(tmp_path)


def test_an_unreadable_picture_is_reported_and_the_rest_read(tmp_path: Path) -> None:
    line = json.dumps({"file": "a.jpg", "expected": "empty", "dice": []})
    (tmp_path / "truth.jsonl").write_text(line)
    told: list[PictureError] = []
    assert list(pictures(tmp_path, unread=told.append)) == []
    assert len(told) == 1
    with pytest.raises(PictureError):
        next(pictures(tmp_path))


BAD_DIE = {"value": 6, "colour": "red", "centre": [10, 10]}


@pytest.mark.parametrize(
    "change",
    [
        {"box": [1, 2]},
        {"centre": [5]},
        {"colour": ["red"]},
        {"value": "6"},
        {"value": 7},
        {"centre": [10**400, 1]},
    ],
)
def test_a_bad_die_in_a_truth_file_is_named(tmp_path: Path, change: dict[str, object]) -> None:
    line = {"file": "p.jpg", "quality": "usable", "dice": [BAD_DIE | change]}
    (tmp_path / "truth.jsonl").write_text(json.dumps(line))
    with pytest.raises(PictureError, match=r"truth\.jsonl:1"):
        load_cases(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "{",
        '{"file": "a.jpg"}',
        "[1]",
        '{"file": 5, "dice": []}',
        '{"file": "a", "expected": "ok", "dice_in_play": [], "dice": []}',
    ],
)
def test_a_bad_truth_file_is_named(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "truth.jsonl").write_text(text)
    with pytest.raises(PictureError, match=r"truth\.jsonl"):
        load_cases(tmp_path)
