"""Throws played to the live table, and what is counted of them."""

from __future__ import annotations

import pytest

from companion.engine.dice import Roll
from companion.tray import Problem, ProblemCode, TrayStatus, TrayView
from tests.vision.tray_fakes import ScriptedReader, bad, ok
from vision.benchmark.live import Tally, play_table
from vision.pipeline import DiceReader
from vision.simulation.default_tray import default_tray

RIGHT, WRONG = ok("34-4225").roll, ok("34-4226").roll


def view(status: str, roll: Roll | None = None, *problems: Problem) -> TrayView:
    return TrayView(TrayStatus(status), roll, 1, (640, 480), (), problems)


LEANING = Problem(ProblemCode.COCKED, ok().dice[3].colour)


@pytest.mark.parametrize(
    ("outcome", "views"),
    [
        ("in_time", [(0.3, view("moving")), (0.4, view("ok", RIGHT))]),
        ("late", [(0.5, view("uncertain")), (0.9, view("ok", RIGHT))]),
        ("silent", [(0.2, view("ok", RIGHT)), (0.9, view("reading"))]),
        ("wrong", [(0.1, view("ok", WRONG)), (0.2, view("ok", RIGHT))]),
        ("wrong", [(-0.2, view("ok", WRONG)), (0.2, view("reading"))]),
        ("named", [(0.5, view("cocked", None, LEANING))]),
        ("silent", [(0.5, view("reading"))]),
    ],
)
def test_a_throw_is_counted_by_what_was_offered(
    outcome: str, views: list[tuple[float, TrayView]]
) -> None:
    assert RIGHT is not None
    tally = Tally()
    tally.add("1/0", RIGHT, views, "exact")
    report = tally.report()
    assert {name: report[name] for name in ("in_time", "late", "named", "silent", "wrong")} == {
        **dict.fromkeys(("in_time", "late", "named", "silent", "wrong"), 0),
        outcome: 1,
    }
    assert report["throws"] == 1
    assert report["single"] == {"exact": 1}
    assert len(report["unread"]) == (outcome != "in_time")


@pytest.mark.slow
def test_a_reader_that_sees_nothing_offers_nothing() -> None:
    tally = Tally()
    play_table(ScriptedReader(bad("empty")), default_tray(), 1, 3, tally)
    report = tally.report()
    assert (report["throws"], report["silent"], report["offered_again"]) == (1, 1, 0)
    assert report["median_s"] is None


@pytest.mark.slow
def test_a_throw_with_a_leaning_die_is_special() -> None:
    tally = Tally()
    play_table(ScriptedReader(bad("empty")), default_tray(), 1, 3, tally, mishap="cocked")
    report = tally.report()
    assert (report["throws"], report["special"]) == (0, {"throws": 1, "offered": 0})


@pytest.mark.slow
def test_throws_at_a_plain_table_are_offered_in_time() -> None:
    tally = Tally()
    play_table(DiceReader(), default_tray(), 3, 3, tally)
    report = tally.report()
    assert (report["throws"], report["in_time"], report["wrong"]) == (3, 3, 0)
    assert report["offered_again"] == 0
    assert report["single"] == {"exact": 3}
