"""Steps that reopen an action announce again who is about to close a row (E46)."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from companion.engine import Phase
from companion.eventlog.record import Record
from companion.history.standings import standings
from companion.session.session import HostStep, Rejected
from companion.session.timers import CLOSING_GRACE_S
from tests.session.fakes import Stage


@pytest.fixture
def closing(tmp_path: Path) -> Stage:
    """Ada's answer is about to close red, and Ben has not answered."""
    stage = Stage(tmp_path)
    stage.seat("Ada", "Ben")
    assert stage.session.start("base", 0) is None
    stage.close_red()
    assert stage.told[-1].kind == "closing"
    return stage


def goes_on(stage: Stage) -> None:
    """Everybody has heard of it, and may still change their answer for a while."""
    assert "Ada is closing red. You can all still change your answer." in stage.told[-1].text
    assert stage.answer(1, None) == ""
    assert stage.state.phase is Phase.ACTION1
    stage.time.pass_s(CLOSING_GRACE_S + 0.1)
    assert stage.state.phase is Phase.ACTION2


def test_a_resumed_game_announces_pending_closings(closing: Stage) -> None:
    assert closing.session.pause() is None
    closing.time.pass_s(3600.0)
    assert closing.session.resume(1) is None
    goes_on(closing)


def test_an_undone_closing_is_about_to_close_again(closing: Stage) -> None:
    closing.answer(1, None)
    closing.time.pass_s(CLOSING_GRACE_S + 0.1)
    assert closing.state.phase is Phase.ACTION2
    assert closing.session.undo() is None
    assert closing.state.phase is Phase.ACTION1
    goes_on(closing)


def test_a_preview_promises_no_refused_step(closing: Stage) -> None:
    closing.session.end()
    closing.session.let_go(1)
    foreseen = closing.session.preview(HostStep.UNDO)
    assert isinstance(foreseen, Rejected)
    assert foreseen.code == "SEAT_EMPTY"


def test_a_game_that_was_ended_early_counts_for_nobody(closing: Stage) -> None:
    closing.play_out()
    before = standings(closing.session.past.results())
    closing.session.start()
    closing.session.end()
    assert standings(closing.session.past.results()) == before
    assert [each.games for each in before] == [1, 1]


def test_a_game_imported_twice_counts_once(closing: Stage) -> None:
    closing.play_out()
    once = standings(closing.session.past.results())
    lines = closing.session.past.games()[0].lines()
    revision = closing.session.view().table.revision
    for n, names in enumerate((["Ada", "Ben"], ["Ada", "Ben"], ["Zoe\u0308 ", "B\tC"]), 1):
        config = json.loads(lines[0]) | {"names": names}
        moves = lines[1:] if n < 3 else [lines[1].replace('"red": 3', '"red": 4'), *lines[2:]]
        taken = {"number": 1 + n, "lines": [json.dumps(config), *moves]}
        closing.store.append((Record(revision + n, "imported", taken),))
    games = closing.again().session.past.games()
    assert len(games) == 4
    assert games[3].names == ("Zoë", "B C")
    by_name = {each.name: each for each in standings(game.result for game in games)}
    assert [by_name[each.name] for each in once] == once
    assert by_name["Zoë"].games == 1


def test_an_undo_before_a_bots_answer_asks_for_the_die_that_is_out(stage: Stage) -> None:
    stage.seat("Ada")
    assert stage.session.add_bot("easy") is None
    assert stage.session.start(first=0) is None
    for low, high in ((1, 1), (1, 2), (2, 2), (1, 4), (2, 4)):
        stage.type_roll(low, high)
        stage.answer(0, f"R{low + high}")
        stage.answer(1, f"Y{low + high}")
        stage.time.pass_s(CLOSING_GRACE_S)
        stage.answer(stage.state.active, None)
        stage.time.pass_s(CLOSING_GRACE_S)
    stage.type_roll(6, 6, yellow=6)
    stage.answer(1, None)
    stage.answer(0, "R12")
    stage.time.pass_s(CLOSING_GRACE_S)
    assert stage.told[-1].text.endswith("Take the red die out.")
    stage.answer(1, "Y12")
    assert stage.state.phase is Phase.OVER
    foreseen = stage.session.preview(HostStep.UNDO)
    assert not isinstance(foreseen, Rejected)
    told = stage.session.phrases.tell(*foreseen)
    assert told.endswith(
        "The red row is open again, and its die comes back. The yellow row is open again."
    )
    stage.session.undo()
    assert stage.told[-1].text.endswith(
        "The red row is open again: put the red die back. The yellow row is open again."
    )
