"""Results: which games are due, what acknowledging changes, and damage to the file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from companion.mqtt.payloads import Result, decode, encoded
from companion.mqtt.results import FILE_NAME, Due, Ledger, result_of
from tests.session.fakes import Stage

CLUB = "house"


def due(ledger: Ledger, stage: Stage, *, shows_names: bool = True) -> list[Due]:
    return ledger.due(CLUB, stage.session.past.results(), name="Table 1", shows_names=shows_names)


def made(stage: Stage, due: Due, *, shows_names: bool = True) -> Result:
    """The result that is published."""
    saved = stage.session.past.game(due.number)
    assert saved is not None
    revision = stage.session.view().table.revision
    result = result_of(
        saved, name="Table 1", shows_names=shows_names, revision=revision, ended=saved.ended
    )
    assert decode(encoded(result), Result) == result
    assert result.game == due.game
    return result


def finish(stage: Stage) -> None:
    if stage.session.view().table.game is None:
        stage.seat("Ada", "Ben")
        assert stage.session.start() is None
    else:
        assert stage.session.rematch() is None
    stage.play_out()


@pytest.fixture
def ledger(tmp_path: Path, stage: Stage) -> Ledger:
    made = Ledger(tmp_path)
    made.join(CLUB, stage.session.past.results())
    return made


def test_a_finished_game_is_due_until_it_is_acknowledged(stage: Stage, ledger: Ledger) -> None:
    finish(stage)
    (first,) = due(ledger, stage)
    result = made(stage, first)
    assert result.game == "1-20261120191500"
    assert (result.end, result.counts, result.ended) == ("misses", True, stage.now)
    assert [(each.seat, each.name, each.rank, each.total) for each in result.players] == [
        (1, "Ben", 1, -15),
        (0, "Ada", 2, -20),
    ]
    assert due(Ledger(stage.directory), stage) == [first], "also after a restart"
    ledger.acknowledge(CLUB, first)
    assert due(ledger, stage) == []
    assert due(Ledger(stage.directory), stage) == []
    finish(stage)
    assert [each.number for each in due(ledger, stage)] == [2]


def test_a_result_tells_who_left_the_game(stage: Stage, ledger: Ledger) -> None:
    stage.seat("Ada", "Ben", "Cleo")
    assert stage.session.start() is None
    stage.session.let_go(1)
    stage.play_out()
    (first,) = due(ledger, stage)
    assert {each.name: each.gone for each in made(stage, first).players} == {
        "Ada": False,
        "Ben": True,
        "Cleo": False,
    }


def test_games_with_bots_and_practice_games_are_nobodys_results(
    stage: Stage, ledger: Ledger
) -> None:
    stage.seat("Ada", "Ben")
    assert stage.session.start(practice=True) is None
    stage.session.end()
    assert stage.session.add_bot("easy") is None
    assert stage.session.start() is None
    stage.session.end()
    assert due(ledger, stage) == []


def test_an_undone_end_does_not_count_until_it_ends_again(stage: Stage, ledger: Ledger) -> None:
    finish(stage)
    (first,) = due(ledger, stage)
    before = made(stage, first)
    ledger.acknowledge(CLUB, first)
    assert stage.session.undo() is None
    (undone,) = due(ledger, stage)
    between = made(stage, undone)
    assert (between.game, between.counts) == (before.game, False)
    ledger.acknowledge(CLUB, undone)
    assert due(ledger, stage) == []
    stage.play_out()
    (again,) = due(ledger, stage)
    after = made(stage, again)
    assert after.counts
    assert after.revision > between.revision > before.revision


def test_an_end_is_undone_before_its_result_is_acknowledged(stage: Stage, ledger: Ledger) -> None:
    finish(stage)
    (first,) = due(ledger, stage)
    assert stage.session.undo() is None
    (undone,) = due(ledger, stage)
    assert not made(stage, undone).counts
    ledger.acknowledge(CLUB, first)
    ledger.acknowledge(CLUB, undone)
    assert due(ledger, stage) == []


def test_games_before_joining_are_not_the_clubs_own(stage: Stage, tmp_path: Path) -> None:
    finish(stage)
    ledger = Ledger(tmp_path)
    ledger.join(CLUB, stage.session.past.results())
    assert due(ledger, stage) == []
    finish(stage)
    ledger.join(CLUB, stage.session.past.results())
    assert [each.number for each in due(ledger, stage)] == [2]


def test_games_count_after_the_saved_ones_were_removed(stage: Stage, tmp_path: Path) -> None:
    finish(stage)
    ledger = Ledger(tmp_path)
    ledger.join(CLUB, stage.session.past.results())
    (tmp_path / "anew").mkdir()
    anew = Stage(tmp_path / "anew")
    ledger.join(CLUB, anew.session.past.results())
    finish(anew)
    assert [each.number for each in due(ledger, anew)] == [1]


def test_games_that_another_house_has_are_none_of_the_clubs(stage: Stage, ledger: Ledger) -> None:
    finish(stage)
    at_the_club = due(ledger, stage)
    games = stage.session.past.results
    ledger.join("family", games())
    finish(stage)
    (home,) = ledger.due("family", games(), name="Table 1", shows_names=True)
    ledger.acknowledge("family", home)
    finish(stage)
    assert home.number == 2
    assert due(ledger, stage)[: len(at_the_club)] == at_the_club
    assert [each.number for each in due(ledger, stage)] == [1, 3]


def test_a_game_played_while_its_broker_was_away_stays_at_home(
    stage: Stage, ledger: Ledger, tmp_path: Path
) -> None:
    games = stage.session.past.results
    ledger.join("family", games())
    finish(stage)
    assert ledger.due("family", games(), name="Table 1", shows_names=True)
    restarted = Ledger(tmp_path)  # and taken to the club
    assert due(restarted, stage) == []
    (home,) = restarted.due("family", games(), name="Table 1", shows_names=True)
    assert home.number == 1


def test_a_game_that_was_open_when_joining_counts(stage: Stage, tmp_path: Path) -> None:
    stage.seat("Ada", "Ben")
    assert stage.session.start() is None
    stage.roll(3, 4)
    assert stage.session.pause() is None
    assert stage.session.start() is None
    stage.play_out()
    ledger = Ledger(tmp_path)
    ledger.join(CLUB, stage.session.past.results())
    assert stage.session.resume(1) is None
    stage.play_out()
    assert [each.number for each in due(ledger, stage)] == [1]


def test_names_are_taken_back_from_results(stage: Stage, ledger: Ledger) -> None:
    finish(stage)
    (named,) = due(ledger, stage)
    ledger.acknowledge(CLUB, named)
    (hidden,) = due(ledger, stage, shows_names=False)
    result = made(stage, hidden, shows_names=False)
    assert {each.name for each in result.players} == {""}
    assert "Ada" not in repr(result)


def test_a_new_connection_gets_the_newest_results_again(stage: Stage, ledger: Ledger) -> None:
    for _ in range(3):
        finish(stage)
    for each in due(ledger, stage):
        ledger.acknowledge(CLUB, each)
    ledger.forget(CLUB, 2)
    assert [each.number for each in due(ledger, stage)] == [2, 3]


def test_a_new_connection_does_not_write_the_file_again(
    stage: Stage, ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(3):
        finish(stage)
    for each in due(ledger, stage):
        ledger.acknowledge(CLUB, each)
    monkeypatch.setattr("companion.mqtt.results.write_whole", lambda *_: pytest.fail("written"))
    ledger.forget(CLUB, 2)
    for each in due(ledger, stage):
        ledger.acknowledge(CLUB, each)
    assert due(ledger, stage) == []


@pytest.mark.parametrize("content", [b"", b"{", b'{"table":"../x"}', b"\xff", b"[" * 100_000])
def test_a_damaged_file_makes_a_new_table(
    content: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / FILE_NAME).write_bytes(content)
    ledger = Ledger(tmp_path)
    assert "cannot be read" in caplog.text
    assert Ledger(tmp_path).table == ledger.table


def test_a_disk_that_takes_nothing_is_logged_once(
    stage: Stage, ledger: Ledger, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    finish(stage)
    (first,) = due(ledger, stage)
    ledger.acknowledge(CLUB, first)
    ledger.acknowledge(CLUB, first)
    assert caplog.text.count("cannot be written") == 1
    assert due(ledger, stage) == [], "as long as the table runs"
