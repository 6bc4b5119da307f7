"""Deciders are pure: a table in, a decision or a rejection out, no lock, store or clock."""

from __future__ import annotations

import pytest

from companion.engine import DieColour, Phase, Roll
from companion.eventlog.record import Change, Move
from companion.eventlog.state import Table
from companion.session.confirm import decide_press, decide_roll
from companion.session.corrections import CorrectedTray
from companion.session.decision import Decision, Rejected
from companion.session.games import decide_pause, decide_release, decide_resume
from companion.session.play import Given, decide_answer, decide_close, decide_start
from companion.session.preview import preview
from companion.session.seats import decide_join, decide_leave
from companion.tray import NO_CAMERA

TRAY = CorrectedTray(NO_CAMERA, NO_CAMERA)
ROLL = Roll.of((3, 4), dict.fromkeys(list(DieColour)[1:], 2))


def decided(decision: Decision | Rejected) -> Decision:
    assert isinstance(decision, Decision), decision
    return decision


@pytest.fixture
def table() -> Table:
    """Ada and Ben play, and Ada has just rolled."""
    table = Table()
    for name in ("Ada", "Ben"):
        table = decided(decide_join(table, name, f"token of {name}", None)).table
    table = decided(decide_start(table, "base", 0, (), lambda n: 0)).table
    return decided(decide_roll(table, ROLL, TRAY, typed=True)).table


def test_a_decision_has_its_entries_and_the_table_after_them(table: Table) -> None:
    before = table
    decision = decided(decide_answer(table, Given(0, 1), (), 1, "R7", done=True))
    (entry,) = decision.entries
    assert isinstance(entry, Move)
    assert entry.details == {"done": True}
    assert decision.table.revision == table.revision + 1
    assert decision.table.game is not None
    assert decision.table.game.state.waiting_for == (1,)
    assert table == before, "the table it was decided on is unchanged"


def test_a_rejection_has_a_code_and_its_ruling(table: Table) -> None:
    refused = decide_answer(table, Given(0, 1), (), 1, "R12", done=True)
    assert isinstance(refused, Rejected)
    assert (refused.code, refused.ruling) == ("WRONG_SUM", "E2")
    leaving = decide_leave(table, 0)
    assert isinstance(leaving, Rejected)
    assert leaving.code == "SEAT_IN_GAME"
    unreadable = decide_press(decided(decide_pause(table)).table, TRAY)
    assert isinstance(unreadable, Rejected)
    assert unreadable.code == "NO_GAME"


def test_a_retry_decides_nothing(table: Table) -> None:
    retry = decided(decide_answer(table, Given(0, 1, key="k"), ("k",), 1, "R12", done=True))
    assert retry.entries == ()
    assert retry.table is table


def test_several_entries_are_one_decision(table: Table) -> None:
    released = decided(decide_release(table, 1))
    assert [type(entry) for entry in released.entries] == [Move, Change]
    assert released.table.revision == table.revision + 2
    table = decided(decide_pause(table)).table
    for seat in (0, 1):
        table = decided(decide_leave(table, seat)).table
    resumed = decided(decide_resume(table, 1))
    kinds = [entry.kind for entry in resumed.entries if isinstance(entry, Change)]
    assert kinds == ["seated", "seated", "resumed"]


def test_a_preview_is_a_decision_that_is_not_stored(table: Table) -> None:
    decision = decided(decide_close(table))
    assert decision.table.game is not None
    assert decision.table.game.state.phase is Phase.ACTION2
    lines = preview(table, decision)
    assert isinstance(lines, list)
    assert [line.key for line in lines] == ["preview.moment.action2"]
