"""Bots at the table: they answer by themselves, people throw for them."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator

import pytest

from companion.adapters.bots import Bots
from companion.engine import COLOURED, Phase
from companion.errors import StoreError
from companion.eventlog.record import Record
from companion.history.archive import saved_games
from companion.session.session import Rejected
from tests.session.fakes import Stage
from tests.waiting import PATIENCE_S, until


@pytest.fixture
def bots(stage: Stage) -> Iterator[Bots]:
    bots = Bots(stage.session)
    yield bots
    bots.close()


def test_a_game_with_bots_gives_no_advice(stage: Stage, bots: Bots) -> None:
    stage.seat("Ada")
    assert stage.session.add_bot("easy") is None
    assert stage.session.start("base", 0) is None
    assert stage.type_roll(1, 1) is None
    until(lambda: stage.state.waiting_for == (0,))
    assert bots.advice(stage.game) == {}


@pytest.mark.usefixtures("bots")
def test_a_person_plays_against_two_bots_to_the_end(stage: Stage) -> None:
    stage.seat("Ada")
    assert stage.session.add_bot("easy") is None
    assert stage.session.add_bot("strong") is None
    assert [seat.name for seat in stage.session.view().table.seats] == ["Ada", "Bot 1", "Bot 2"]
    assert stage.session.start("base", 0) is None
    assert stage.game.bots == ("", "easy", "strong")
    while stage.state.phase is not Phase.OVER:
        if stage.state.phase is Phase.ROLL:
            out = {each.value: 0 for each in COLOURED if each not in stage.state.dice}
            assert stage.type_roll(1, 1, **out) is None
        if 0 in stage.state.waiting_for:
            stage.answer(0, None)
        until(lambda: not set(stage.state.waiting_for) - {0})
        stage.time.pass_s(10.0)
    (result,) = stage.session.past.results()
    assert result.has_bots
    game = stage.session.past.games()[0]
    assert json.loads(game.lines()[0])["bots"] == ["", "easy", "strong"]
    assert stage.session.rematch() is None
    assert stage.game.bots == ("", "easy", "strong")
    again = stage.again()
    assert again.game.bots == ("", "easy", "strong")
    again.store.close()


def test_a_bots_seat_is_nobodys_and_needs_a_person_beside_it(stage: Stage) -> None:
    assert stage.session.add_bot("medium") is None
    assert isinstance(stage.session.join("Bot 1"), Rejected)
    refused = stage.session.start("base", 0)
    assert refused is not None
    assert refused.code == "NO_PLAYERS"
    stage.seat("Ada", "Ben", "Cleo", "Dora")
    full = stage.session.add_bot("easy")
    assert full is not None
    assert full.code == "TABLE_FULL"
    assert stage.session.start("base", 1) is None
    running = stage.session.add_bot("easy")
    assert running is not None
    assert running.code == "GAME_RUNNING"


def test_a_bot_answers_once_the_disk_works_again(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("companion.adapters.follower.RETRY_S", 0.05)
    stage.seat("Ada")
    assert stage.session.add_bot("easy") is None
    assert stage.session.start("base", 1) is None
    assert stage.type_roll(1, 1) is None
    refused = threading.Event()

    def full(_records: object) -> None:
        refused.set()
        raise StoreError("the disk is full")

    with monkeypatch.context() as patched:
        patched.setattr(stage.store, "append", full)
        bots = Bots(stage.session)
        assert refused.wait(PATIENCE_S)
    until(lambda: stage.state.waiting_for == (0,))
    until(lambda: not stage.session.faults)
    bots.close()
    assert "the disk is full" in caplog.text


def test_a_practice_game_has_advice_and_counts_for_nobody(stage: Stage, bots: Bots) -> None:
    stage.seat("Ada")
    assert stage.session.start("base", 0, practice=True) is None
    assert stage.type_roll(1, 1) is None
    until(lambda: bots.advice(stage.game) != {})
    assert bots.advice(stage.game)[0] in ("R2", "Y2"), "the box nobody can do better than"
    assert stage.answer(0, None) == ""
    stage.time.pass_s(10.0)
    until(lambda: stage.state.action == 2 and 0 in bots.advice(stage.game))
    assert stage.answer(0, bots.advice(stage.game)[0]) == ""
    stage.time.pass_s(10.0)
    assert bots.advice(stage.game) == {}
    stage.play_out()
    assert stage.session.past.results()[0].has_bots
    lines = stage.session.past.games()[0].lines()
    record = Record(1, "imported", {"number": 1, "lines": lines}, "")
    assert saved_games([record])[0].practice, "written out and taken in"
    assert stage.session.rematch() is None
    assert stage.game.practice
    stage.session.end()
    assert stage.session.start("base", 0) is None
    stage.type_roll(1, 1)
    time.sleep(0.2)
    assert bots.advice(stage.game) == {}
