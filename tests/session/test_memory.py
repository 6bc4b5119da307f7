"""A snapshot saves time at a start and is never believed against the records."""

from __future__ import annotations

import shutil
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from companion.eventlog import derived, repair
from companion.eventlog.derived import SNAPSHOT, code_version
from companion.eventlog.journal import JOURNAL_NAME
from companion.eventlog.record import Record
from companion.eventlog.store import FILE_NAME, SqliteStore
from companion.session.session import HostStep
from tests.session.conftest import rewritten
from tests.session.fakes import Stage
from tests.web.stand_in import a_roll

PATIENCE_S = 30.0


class Watched(SqliteStore):
    """Notes the revisions after which records are read."""

    def __init__(self, directory: Path) -> None:
        self.read: list[int] = []
        super().__init__(directory)

    def load(self, after: int = 0, *, moves: bool = True) -> Iterable[Record]:
        self.read.append(after)
        return super().load(after, moves=moves)


def known(directory: Path) -> tuple[object, ...]:
    """All that a start knows, and what it makes of an undo and of the game put aside."""
    stage = Stage(directory)
    session, view = stage.session, stage.session.view()
    answer = session.answer(0, 1, 1, "R3", done=True, key="a key")
    undo = session.preview(HostStep.UNDO)
    found = (view.table, view.notices, session.last_rolls, answer, undo, session.undo())
    session.end()
    session.resume(1)
    later = stage.session.view().table
    stage.store.close()
    return (*found, later)


@pytest.fixture
def expected(played: Path, tmp_path: Path) -> tuple[object, ...]:
    """What is known without a snapshot."""
    copy = Path(shutil.copytree(played, tmp_path / "bare"))
    (copy / SNAPSHOT).unlink()
    return known(copy)


def test_a_start_reads_only_what_follows_the_snapshot(
    played: Path, expected: tuple[object, ...]
) -> None:
    stage = Stage(played, store=(store := Watched(played)))
    began = max(record.revision for record in store.load() if record.kind == "started")
    assert store.read[:-1] == [began - 1]
    stage.store.close()
    assert known(played) == expected


def test_no_step_reads_the_log(played: Path) -> None:
    stage = Stage(played, store=(store := Watched(played)))
    store.read.clear()
    stage.session.precondition(HostStep.UNDO)
    stage.session.preview(HostStep.UNDO)
    assert stage.session.undo() is None
    stage.roll(3, 4)
    stage.correct(3, 5)
    assert stage.session.undo() is None
    stage.session.pause()
    stage.session.resume(1)
    assert store.read == []


def more_games(data: dict[str, Any]) -> None:
    data["value"]["table"]["games"] = 77


def no_turn(data: dict[str, Any]) -> None:
    data["value"]["table"]["paused"][0]["state"][2] = "no number"


FALSE: dict[str, Callable[[Path], object]] = {
    "empty": lambda path: path.write_bytes(b""),
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-40]),
    "one bit": lambda path: path.write_bytes(path.read_bytes().replace(b'"games":2', b'"games":6')),
    "zeros": lambda path: path.write_bytes(bytes(len(path.read_bytes()))),
    "no file": lambda path: (path.unlink(), path.mkdir()),
    "other version": lambda path: rewritten(
        path, lambda data: (more_games(data), data.update(version="0" * 32))
    ),
    "other log": lambda path: rewritten(
        path, lambda data: (more_games(data), data.update(mark=[data["mark"][0], "0" * 32]))
    ),
    "too early": lambda path: rewritten(
        path, lambda data: (more_games(data), data["mark"].__setitem__(0, 3))
    ),
    "beyond the end": lambda path: rewritten(path, lambda data: data["mark"].__setitem__(0, 999)),
    "no table": lambda path: rewritten(path, lambda data: data.update(value={"table": []})),
    "no turn": lambda path: rewritten(path, no_turn),
    "nested": lambda path: path.write_bytes(
        b"%08x\n%b" % (zlib.crc32(b"[" * 99_999), b"[" * 99_999)
    ),
}


@pytest.mark.parametrize("false", FALSE.values(), ids=FALSE.keys())
def test_a_false_snapshot_costs_only_time(
    played: Path, expected: tuple[object, ...], false: Callable[[Path], object]
) -> None:
    false(played / SNAPSHOT)
    assert known(played) == expected


def test_a_snapshot_of_another_reducer_is_ignored(
    played: Path, expected: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    rewritten(played / SNAPSHOT, more_games)
    monkeypatch.setattr(derived, "code_version", lambda: f"not {code_version()}")
    assert known(played) == expected


@pytest.mark.parametrize("name", [FILE_NAME, JOURNAL_NAME])
def test_damage_before_the_snapshot_is_still_found(played: Path, name: str) -> None:
    path = played / name
    if name == FILE_NAME:
        with sqlite3.connect(path) as db:
            db.execute("UPDATE log SET data = replace(data, 'Ada', 'Eva') WHERE revision = 1")
        db.close()
    else:
        path.write_bytes(path.read_bytes().replace(b"Ada", b"Eva", 1))
    store = SqliteStore(played)
    assert store.notice is not None
    assert next(iter(store.load())).data["name"] == "Ada"


def test_records_that_void_what_is_before_the_snapshot_count(played: Path) -> None:
    store = SqliteStore(played)
    last = store.mark.revision
    store.append((Record(last + 1, "kept", {"revision": 2}),))
    store.close()
    table = Stage(played).session.view().table
    assert (table.game, table.games, len(table.seats)) == (None, 0, 2)


@pytest.mark.parametrize("has_snapshot", [True, False])
def test_the_last_roll_of_a_game_before_is_known_at_a_start(
    stage: Stage, has_snapshot: bool
) -> None:
    stage.seat("Ada", "Ben")
    stage.session.start("base", 0)
    assert stage.type_roll(1, 2) is None
    stage.session.end()
    assert stage.session.rematch() is None
    if not has_snapshot:
        (stage.directory / SNAPSHOT).unlink()
    again = stage.again()
    assert again.session.last_rolls == (a_roll(1, 2),)
    again.store.close()


def test_a_start_reads_no_moves_of_old_games(
    played: Path, expected: tuple[object, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    (played / SNAPSHOT).unlink()
    monkeypatch.setattr(repair, "KEPT_GAMES", 1)
    with closing(SqliteStore(played)) as store:
        records, taken = list(store.load()), list[Record]()

        def load(after: int = 0, *, moves: bool = True) -> Iterator[Record]:
            for record in store.load(after, moves=moves):
                taken.append(record)
                yield record

        read = repair.without_old_moves(load)
    assert [each.kind for each in records if each not in taken] == [
        *("rolled", "answered", "roll_corrected", "ended_early")  # of the second game
    ]
    assert read == [each for each in records if each in taken]
    assert known(played) == expected


def test_moves_of_no_game_are_voided_however_old_they_are(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage.seat("Ada", "Ben")
    for _ in range(3):
        assert stage.session.rematch() is None
        assert stage.type_roll(1, 2) is None
        stage.session.end()
    stage.store.close()
    with closing(sqlite3.connect(stage.directory / FILE_NAME)) as db, db:
        db.execute("DELETE FROM log WHERE revision = 3")  # the first game's beginning
    (stage.directory / JOURNAL_NAME).unlink()
    monkeypatch.setattr(repair, "KEPT_GAMES", 1)
    with closing(Stage(stage.directory).store) as store:
        last = list(store.load())[-1]
    assert (last.kind, last.data) == ("struck", {"revisions": [4, 5]})
