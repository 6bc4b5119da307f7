"""A file of saved games that version 0.1.0 wrote opens unchanged.

The log has a record of every kind that version wrote. The JSON file beside it says what that
version read from it.
"""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from companion.engine import Phase
from companion.engine.notation import to_lines
from companion.eventlog.record import KNOWN, to_entry, to_record
from companion.eventlog.state import Game
from companion.eventlog.store import FILE_NAME, SqliteStore
from companion.history.accuracy import accuracy_of
from companion.history.replay import state_of
from tests.session.fakes import Stage

DATA = Path(__file__).parent / "data"
EXPECTED: dict[str, Any] = json.loads((DATA / "games-0.1.0.json").read_text(encoding="utf-8"))


@pytest.fixture
def old(tmp_path: Path) -> Stage:
    """The table that version 0.1.0 left behind."""
    shutil.copy(DATA / "games-0.1.0.sqlite3", tmp_path / FILE_NAME)
    return Stage(tmp_path)


def as_json(game: Game) -> dict[str, Any]:
    return {
        "number": game.number,
        "seats": list(game.seats),
        "names": list(game.names),
        "done": sorted(game.done),
        "typed": game.typed,
        "rolled": game.rolled,
        "state": state_of(game.state),
    }


def test_people_and_settings_are_as_they_were(old: Stage) -> None:
    session, table = old.session, old.session.view().table
    assert [[seat.number, seat.name] for seat in table.seats] == EXPECTED["seats"]
    assert (table.settings.hints, table.settings.sound) == (EXPECTED["hints"], EXPECTED["sound"])
    assert session.speaking.language == EXPECTED["language"]
    assert session.speaking.volume == EXPECTED["volume"]
    assert {device: session.is_host(device) for device in EXPECTED["hosts"]} == EXPECTED["hosts"]
    proved = {token: session.seats_of((token,)) for token in EXPECTED["tokens"]}
    assert proved == {
        token: () if seat is None else (seat,) for token, seat in EXPECTED["tokens"].items()
    }


def test_the_games_stand_where_they_stood(old: Stage) -> None:
    table = old.session.view().table
    assert (table.revision, table.games) == (EXPECTED["revision"], EXPECTED["games"])
    assert as_json(old.game) == EXPECTED["game"]
    assert [as_json(game) for game in table.paused] == EXPECTED["paused"]
    assert [
        {
            "number": game.number,
            "at": game.at,
            "imported": game.is_imported,
            "fault": game.fault,
            "lines": to_lines(game.start, game.events, game.names),
        }
        for game in old.session.past.games()
    ] == EXPECTED["saved"]
    assert asdict(accuracy_of(old.store.load())) == EXPECTED["accuracy"]


def test_opening_it_writes_nothing(old: Stage, tmp_path: Path) -> None:
    original = tmp_path / "original"
    original.mkdir()
    shutil.copy(DATA / "games-0.1.0.sqlite3", original / FILE_NAME)
    reader = SqliteStore(original, is_writer=False)
    assert list(old.store.load()) == list(reader.load())
    reader.close()


def test_every_record_is_written_as_it_was_read(old: Stage) -> None:
    records = list(old.store.load())
    written = {*KNOWN, "struck", "undone"} - {"lost", "resumed"}
    assert {record.kind for record in records} == written
    for record in records:
        again = to_record(to_entry(record), record.revision, record.at)
        assert json.dumps(dict(again.data)) == json.dumps(dict(record.data))
        assert again == record


def test_the_game_goes_on(old: Stage) -> None:
    for seat in old.game.seats:
        old.answer(seat, None)
    if old.state.action:
        assert old.answer(old.game.seats[old.state.active], None) == ""
    assert old.state.phase is Phase.ROLL
    assert old.session.end() is None
    assert old.session.resume(EXPECTED["paused"][0]["number"]) is None
    assert as_json(old.game)["state"] == EXPECTED["paused"][0]["state"]
