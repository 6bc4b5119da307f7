"""Saved games: listed, written out and taken in through the command line."""

from __future__ import annotations

import csv
import errno
import gc
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from companion.cli import dice_companion
from companion.engine import fold
from companion.errors import StoreError
from companion.eventlog.record import Record
from companion.eventlog.store import SqliteStore
from companion.history.archive import Archive, saved_games
from companion.history.decided import Decided, Verdicts
from tests.session.fakes import Stage


@pytest.fixture
def evening(tmp_path: Path) -> Path:
    """A finished game with an undone step, and one that is still on."""
    stage = Stage(tmp_path)
    stage.seat("Ada", "Ben")
    stage.session.start(house=["finish_turn"])
    stage.roll(4, 3)
    stage.answer(0, "R7")
    stage.answer(1, None)
    stage.session.undo()
    stage.answer(1, "Y7")
    stage.answer(0, None)
    stage.roll(6, 5)
    stage.answer(0, None)
    stage.answer(1, None)
    stage.answer(1, None)
    stage.session.end()
    stage.session.rematch()
    stage.roll(1, 1)
    stage.answer(0, "R2")
    stage.store.close()
    return tmp_path


def run(evening: Path, *args: str, given: str | None = None) -> Any:
    return CliRunner().invoke(
        dice_companion, ["games", *args, "--data-dir", str(evening)], input=given
    )


def as_a_service(monkeypatch: pytest.MonkeyPatch, games: Path, *, is_root: bool) -> None:
    for module in ("companion.service.install", "companion.commands.games"):
        monkeypatch.setattr(f"{module}.is_installed", lambda: True)
        monkeypatch.setattr(f"{module}.is_root", lambda: is_root)
    monkeypatch.setattr("companion.service.unit.DATA_DIR", games)
    monkeypatch.setenv("XDG_STATE_HOME", str(games / "nothing"))


def test_with_sudo_games_are_the_services(evening: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    as_a_service(monkeypatch, evening, is_root=True)
    listed = CliRunner().invoke(dice_companion, ["games", "list"])
    assert "Ada 1, Ben -4" in listed.stdout


@pytest.mark.parametrize("command", [("list",), ("import", "game.jsonl"), ("forget", "Ada")])
def test_without_sudo_the_services_games_are_refused(
    command: tuple[str, ...], evening: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_a_service(monkeypatch, evening, is_root=False)
    monkeypatch.chdir(evening)
    Path("game.jsonl").write_text(run(evening, "export", "1").stdout)
    refused = CliRunner().invoke(dice_companion, ["games", *command])
    assert isinstance(refused.exception, StoreError)
    assert "run this with sudo" in str(refused.exception)
    assert not (evening / "nothing").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_files_that_root_writes_belong_to_the_directorys_owner(evening: Path) -> None:
    exported = evening.with_name("game.jsonl")
    exported.write_text(run(evening, "export", "1").stdout)
    for path in (evening, *evening.iterdir()):
        os.chown(path, 1234, 1234)
    assert run(evening, "import", str(exported)).exit_code == 0
    assert run(evening, "show", "1").exit_code == 0
    assert {path.stat().st_uid for path in evening.iterdir()} == {1234}


def dated(record: str, at: object = "2024-05-01T20:00:00+02:00") -> str:
    """A record as that of another day."""
    config, *lines = record.splitlines()
    return "\n".join([json.dumps(json.loads(config) | {"at": at}), *lines])


def another(record: str) -> str:
    """A record as that of another game: the dice of its second roll lay otherwise."""
    assert '"white": [5, 6]' in record
    return record.replace('"white": [5, 6]', '"white": [6, 6]')


def test_list_names_number_end_and_totals(evening: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"
    Stage(new).store.close()
    assert run(new, "list").stdout == "no game is saved yet\n"
    head, first, second = run(evening, "list").stdout.splitlines()
    assert head.split() == ["game", "began", "end", "points"]
    assert re.fullmatch(r" +1  \d{4}-\d\d-\d\d \d\d:\d\d  ended early +Ada 1, Ben -4", first)
    assert "  not finished  " in second


def test_an_exported_game_replays_to_the_same_state(evening: Path, tmp_path: Path) -> None:
    path = tmp_path / "game.jsonl"
    path.write_text(run(evening, "export", "1").stdout)
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert lines[0]["names"] == ["Ada", "Ben"]
    assert lines[0]["house"] == ["finish_turn"]
    assert lines[2]["choices"] == ["R7", "Y7"]
    assert run(tmp_path / "other", "import", str(path)).exit_code == 0
    one, _ = saved_games(SqliteStore(evening).load())
    (other,) = saved_games(SqliteStore(tmp_path / "other").load())
    assert other.names == one.names
    assert fold(other.start, other.events) == one.state
    assert other.lines() == one.lines()
    assert other.at == one.at


def test_a_game_that_is_here_already_is_not_imported_again(evening: Path, tmp_path: Path) -> None:
    path = tmp_path / "games.jsonl"
    path.write_text(run(evening, "export").stdout)
    again = run(evening, "import", str(path))
    assert again.output == "game 1: already here\ngame 2: already here\n"
    assert again.exit_code == 0
    assert len(saved_games(SqliteStore(evening).load())) == 2
    other = tmp_path / "other"
    path.write_text(run(evening, "export", "1").stdout)
    run(other, "import", str(path))
    path.write_text(run(evening, "export").stdout)
    run(other, "rename", "Ben", "Bert")
    assert run(other, "import", str(path)).stdout == (
        "game 1: already here\ngame 2: 2 events imported\n"
    )


@pytest.mark.parametrize("at", [None, "2024-05-01T20:00:00+02:00", "2024-05-01T18:00:00+00:00"])
def test_a_game_is_known_again_whatever_its_record_says_of_the_date(
    evening: Path, tmp_path: Path, at: str | None
) -> None:
    path, other = tmp_path / "game.jsonl", tmp_path / "other"
    record = run(evening, "export", "1").stdout
    path.write_text(dated(record))
    run(other, "import", str(path))
    path.write_text(dated(record, at) + "\n" + dated(another(record), at))
    again = run(other, "import", str(path))
    assert again.output == "game 1: already here\ngame 2: 9 events imported\n"


def test_the_json_of_the_games_page_can_be_imported_too(evening: Path, tmp_path: Path) -> None:
    path = tmp_path / "games.json"
    path.write_text(run(evening, "export", "--json").stdout)
    assert run(tmp_path / "other", "import", str(path)).stderr == ""
    games = saved_games(SqliteStore(evening).load())
    others = saved_games(SqliteStore(tmp_path / "other").load())
    assert [game.lines() for game in others] == [game.lines() for game in games]


@pytest.mark.parametrize("at", [None, 7, "Friday", "2026-13-01"])
def test_a_record_without_a_date_gets_that_of_its_import(
    evening: Path, tmp_path: Path, at: object
) -> None:
    path, other = tmp_path / "game.jsonl", tmp_path / "other"
    path.write_text(dated(run(evening, "export", "1").stdout, at))
    before = datetime.now().astimezone().replace(microsecond=0)
    assert run(other, "import", str(path)).exit_code == 0
    imported = saved_games(SqliteStore(other).load())[-1]
    assert before <= datetime.fromisoformat(imported.at) <= datetime.now().astimezone()


@pytest.mark.parametrize("bots", [["\ud800", ""], ["easy"], [["easy"], ""], "easy"])
def test_bots_that_nobody_knows_are_left_out(evening: Path, tmp_path: Path, bots: object) -> None:
    path = tmp_path / "game.jsonl"
    config, *lines = run(evening, "export", "1").stdout.splitlines()
    path.write_text("\n".join([json.dumps(json.loads(config) | {"bots": bots}), *lines]))
    assert run(tmp_path / "other", "import", str(path)).exit_code == 0
    (game,) = saved_games(SqliteStore(tmp_path / "other").load())
    assert not any(game.bots)
    assert run(tmp_path / "other", "export", "--json").exit_code == 0


def test_a_game_is_shown_with_pictures_and_sentences(evening: Path, tmp_path: Path) -> None:
    shown = run(evening, "show", "1", "--pictures", str(tmp_path / "pictures")).stdout
    scores, luck, turning = (part.splitlines() for part in shown.split("\n\n")[:3])
    assert "Ada: 1 point. Crosses: 1, penalties: 0." in scores
    assert any("Ben: −5 points against the best of the others." in line for line in luck)
    assert [line.split(":")[0] for line in turning] == ["Turning points", "Turn 1", "Turn 2"]
    names = {path.name for path in (tmp_path / "pictures").iterdir()}
    assert names == {"game-1-scores.svg", "game-1-luck.svg"}
    assert len(Verdicts(evening).known) == 1


def test_pictures_that_find_no_room_are_named(
    evening: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*_: object, **__: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_text", no_room)
    refused = run(evening, "show", "1", "--pictures", str(tmp_path / "pictures")).exception
    assert str(refused) == f"{tmp_path / 'pictures'}: cannot be written: No space left on device"


def test_each_die_has_a_line_in_the_table_of_dice(evening: Path) -> None:
    title, head, *lines, verdict = run(evening, "dice").stdout.splitlines()
    assert (title, head.split()) == ("How often each face came", list("123456"))
    assert [line.split()[0] for line in lines] == ["white", "red", "yellow", "green", "blue"]
    assert lines[0].split()[1:] == ["2", "0", "1", "1", "1", "1"]
    assert verdict == "Not enough rolls yet: 3 of 60."


def test_the_text_is_for_people(evening: Path) -> None:
    text = run(evening, "export", "1", "--text").stdout
    assert "Turn 2: Ben" in text
    assert "white 5 + 6 = 11" in text
    assert "Penalty for Ben" in text
    assert "Ended early." in text
    assert "\nBen    −4  (red 0  yellow 1  green 0  blue 0  penalties −5)" in text
    assert "(not finished)" not in text
    assert "(not finished)" in run(evening, "export", "2", "--text").stdout


def test_files_for_spreadsheets_and_programs(evening: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(run(evening, "export", "--csv").stdout)))
    assert {row["game"] for row in rows} >= {"1", "2"}
    (game,) = json.loads(run(evening, "export", "1", "--json").stdout)["games"]
    assert game["number"] == 1
    german = run(evening, "export", "1", "--text", "--language", "de").stdout
    assert "Zug 2: Ben" in german


def test_standings(evening: Path) -> None:
    stage = Stage(evening)
    stage.play_out()
    stage.store.close()
    head, *rows, share = run(evening, "standings").stdout.splitlines()
    assert head.split()[:6] == ["name", "rating", "average", "best", "games", "wins"]
    assert {row.split()[0] for row in rows} >= {"Ada", "Ben"}
    assert len({len(line) for line in (head, *rows)}) == 1, "columns are aligned"
    for row in rows:
        assert re.search(r" \d+\.\d\d +\d+\.\d\d$", row), "penalties and closings as in the file"
    assert share.startswith("luck decided 0 of 0 reviewed games, choices 0, 0 cannot be told; 1")
    (second,) = [game for game in saved_games(SqliteStore(evening).load()) if game.number == 2]
    Verdicts(evening).add(second.result.played, Decided.LUCK)
    assert "luck decided 1 of 1 reviewed game," in run(evening, "standings").stdout


def test_a_damaged_record_is_taken_up_to_its_bad_line(evening: Path, tmp_path: Path) -> None:
    path = tmp_path / "game.jsonl"
    lines = run(evening, "export", "1").stdout.splitlines()
    unreadable = lines[0].replace("base", "bass")
    path.write_text("\n".join([unreadable, *lines[:3], "{broken", *lines[3:]]))
    result = run(evening, "import", str(path))
    assert result.exit_code == 1
    assert result.stdout == "game 3: 2 events imported\n"
    first, second = result.stderr.splitlines()
    assert first.startswith("dice-companion: ")
    assert second.startswith("dice-companion: ")
    assert "game 1: line 1: The variant must be" in first
    assert "game 2 imported up to here: line 4: The line is not JSON." in second
    imported = saved_games(SqliteStore(evening).load())[-1]
    assert len(imported.events) == 2
    assert imported.fault is not None


@pytest.mark.parametrize("content", [None, "", "no game at all\n"])
def test_a_file_without_a_game_is_refused(
    evening: Path, tmp_path: Path, content: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    from companion.cli import main

    path = tmp_path / "x.jsonl"
    if content is not None:
        path.write_text(content)
    before = [*SqliteStore(evening, is_writer=False).load()]
    with pytest.raises(SystemExit) as exit_info:
        main(["games", "import", str(path), "--data-dir", str(evening)])
    assert exit_info.value.code == 1
    assert "x.jsonl" in capsys.readouterr().err
    assert [*SqliteStore(evening, is_writer=False).load()] == before


def test_an_import_amid_a_paused_game_leaves_its_record_whole(
    evening: Path, tmp_path: Path
) -> None:
    (tmp_path / "g.jsonl").write_text(another(run(evening, "export", "1").stdout))
    run(evening, "import", str(tmp_path / "g.jsonl"))
    stage = Stage(evening)
    stage.answer(1, None)
    stage.answer(1, None)
    stage.session.end()
    games = saved_games(stage.store.load())
    assert [game.number for game in games] == [1, 2, 3]
    assert games[1].is_over
    assert games[1].state == stage.state


@pytest.mark.parametrize("kind", ["started", "imported"])
def test_a_damaged_beginning_costs_that_game_only(evening: Path, kind: str) -> None:
    store = SqliteStore(evening)
    last = max(record.revision for record in store.load())
    store.append((Record(last + 1, kind, {"variant": []}),))
    assert [game.number for game in saved_games(store.load())] == [1, 2]


def test_an_imported_game_leaves_the_running_one_alone(evening: Path, tmp_path: Path) -> None:
    before = Stage(evening)
    table = before.session.view().table
    before.store.close()
    (tmp_path / "g.jsonl").write_text(another(run(evening, "export", "1").stdout))
    run(evening, "import", str(tmp_path / "g.jsonl"))
    after = Stage(evening)
    assert after.session.view().table.game == table.game
    assert after.answer(1, "Y2") == ""
    after.session.end()
    assert after.session.rematch() is None
    assert after.game.number == 4


@pytest.mark.parametrize("error", [None, StoreError("unplugged")])
def test_the_first_reading_stops_no_thread_for_garbage(error: StoreError | None) -> None:
    searched: list[int] = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            searched.append(info["generation"])

    def load(after: int) -> Iterator[Record]:
        for revision in range(after + 1, after + 5001):
            yield Record(revision, "left", {"seat": 0}, "")
        if error is not None:
            raise error

    archive = Archive()
    gc.callbacks.append(note)
    try:
        with pytest.raises(StoreError) if error else nullcontext():
            archive.results(load)
        during = list(searched)
        assert gc.isenabled()
        kept = [Record(n, "left", {"seat": 0}, "") for n in range(5000)]
    finally:
        gc.callbacks.remove(note)
        gc.unfreeze()
    assert during == []
    assert searched, f"{len(kept)} records are searched otherwise"


@pytest.mark.parametrize("form", [(), ("--json",), ("--csv",)])
def test_an_export_keeps_names_that_the_terminal_cannot_show(
    tmp_path: Path, form: tuple[str, ...]
) -> None:
    stage = Stage(tmp_path)
    stage.seat("Łukasz", "Ben")
    stage.session.start("base", 0)
    stage.session.end()
    stage.store.close()
    command = [sys.executable, "-m", "companion", "games", "export", "--data-dir", str(tmp_path)]
    latin = {**os.environ, "PYTHONIOENCODING": "latin-1"}
    exported = subprocess.run([*command, *form], env=latin, capture_output=True, check=True).stdout
    assert "Łukasz" in exported.decode() or "\\u0141ukasz" in exported.decode()
