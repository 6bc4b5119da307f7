"""A snapshot saves time at a start and is never believed against the records."""

from __future__ import annotations

import json
import shutil
import sqlite3
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from companion.errors import StoreError
from companion.eventlog import derived, repair
from companion.eventlog.derived import RESULTS, SNAPSHOT, Derived, code_version
from companion.eventlog.journal import JOURNAL_NAME
from companion.eventlog.record import Record
from companion.eventlog.store import FILE_NAME, SqliteStore
from companion.history import archive
from companion.history.archive import Archive, saved_games
from companion.session.session import HostStep
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


@pytest.fixture
def played(tmp_path: Path) -> Path:
    """A table in its third game: the first was put aside, the second ended early."""
    stage = Stage(tmp_path / "table")
    stage.seat("Ada", "Ben")
    stage.session.start("big_points", house=("finish_turn",))
    stage.close_red()
    stage.session.pause()
    stage.session.start()
    stage.roll(2, 3)
    stage.answer(0, "R5")
    stage.correct(2, 4)
    stage.session.end()
    stage.session.change_settings({"hints": False}, {"volume": 40})
    stage.session.rematch()
    stage.roll(1, 2)
    stage.answer(0, "R3", key="a key")
    stage.session.close_action()
    stage.session.change_settings({"sound": False})
    stage.store.close()
    return tmp_path / "table"


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


class Slow(SqliteStore):
    """Reads the first record of its history, then waits to be told to go on."""

    def __init__(self, directory: Path) -> None:
        self.has_begun, self.goes_on = Event(), Event()
        self.is_told = False
        super().__init__(directory)

    def history(self, after: int = 0) -> Iterator[Record]:
        for n, record in enumerate(super().history(after)):
            if n == 1:
                self.has_begun.set()
                self.is_told = self.goes_on.wait(PATIENCE_S)
            yield record


def test_steps_are_stored_while_a_long_history_is_read(played: Path) -> None:
    stage = Stage(played, store=(store := Slow(played)))
    reading = Thread(target=stage.session.past.results)
    reading.start()
    assert store.has_begun.wait(PATIENCE_S)
    assert stage.session.undo() is None
    with pytest.raises(StoreError):  # this revision is there already; the write is taken back
        store.append((Record(1, "left", {"seat": 0}),))
    store.goes_on.set()
    reading.join()
    assert store.is_told, "a step waited for the reader"
    whole = saved_games(store.load())
    assert [replace(each, spans=()) for each in stage.session.past.results()] == [
        game.result for game in whole
    ]
    assert [stage.session.past.game(game.number) for game in whole] == whole
    assert len(stage.session.past.games()) == 3
    stage.store.close()


def rewritten(path: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change what a kept value says, with the right checksum."""
    data = json.loads(path.read_bytes().partition(b"\n")[2])
    change(data)
    packed = json.dumps(data).encode()
    path.write_bytes(b"%08x\n%b" % (zlib.crc32(packed), packed))


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


def test_a_start_takes_over_kept_results_and_reads_on(played: Path) -> None:
    stage = Stage(played)
    before = stage.session.past.results()
    again = stage.again()
    asked: list[int] = []
    history = again.store.history

    def watched(after: int = 0) -> Iterator[Record]:
        asked.append(after)
        return history(after)

    again.store.history = watched  # type: ignore[method-assign]
    assert again.session.past.results() == before
    assert asked == [again.store.mark.revision]
    again.session.end()
    again.session.rematch()
    games = saved_games(history())
    assert [replace(each, spans=()) for each in again.session.past.results()] == [
        game.result for game in games
    ]
    assert [again.session.past.game(game.number) for game in games] == games
    again.store.close()


def no_results(data: dict[str, Any]) -> None:
    data["value"]["results"] = data["value"]["rows"] = []


FALSE_RESULTS: dict[str, Callable[[Path], object]] = {
    "cut": FALSE["cut"],
    "no object": lambda path: rewritten(path, lambda data: data.update(value=[])),
    "another type": lambda path: rewritten(path, lambda data: data["value"].update(results=[1])),
    "other log": lambda path: rewritten(
        path, lambda data: (no_results(data), data.update(mark=[data["mark"][0], "0" * 32]))
    ),
    "other version": lambda path: rewritten(
        path, lambda data: (no_results(data), data.update(version="0" * 32))
    ),
}


@pytest.mark.parametrize("false", FALSE_RESULTS.values(), ids=FALSE_RESULTS.keys())
def test_false_results_are_read_again_from_the_log(
    played: Path, false: Callable[[Path], object]
) -> None:
    stage = Stage(played)
    expected = stage.session.past.results()
    stage.store.close()
    false(played / RESULTS)
    again = Stage(played)
    assert again.session.past.results() == expected
    again.store.close()


def test_records_that_void_what_results_are_kept_of_count(played: Path) -> None:
    stage = Stage(played)
    assert len(stage.session.past.results()) == 3
    stage.store.close()
    store = SqliteStore(played)
    second = next(r.revision for r in store.load() if r.kind == "started" and r.data["number"] == 2)
    store.append((Record(store.mark.revision + 1, "kept", {"revision": second - 1}),))
    store.close()
    again = Stage(played)
    assert [game.number for game in again.session.past.results()] == [1]
    again.store.close()


def test_the_first_page_does_not_wait_for_old_games(played: Path) -> None:
    stage = Stage(played, store=(store := Slow(played)))
    assert stage.session.past.results_within(0.01) == []
    store.goes_on.set()
    assert stage.session.past.results_within(PATIENCE_S) == stage.session.past.results()
    stage.store.close()


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


def test_results_are_not_kept_as_of_before_what_another_thread_read(played: Path) -> None:
    with closing(SqliteStore(played)) as store:
        archive, mark = Archive(), store.mark
        archive.results(store.load, mark.revision)
        store.append((Record(mark.revision + 1, "paused", {}),))
        archive.results(store.load)
        assert archive.kept(mark) is None
        assert archive.kept(store.mark) is not None


def test_results_are_the_same_however_much_is_read_at_once(
    played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(SqliteStore(played)) as store:
        last = store.mark.revision
        voiding = Record(last + 1, "kept", {"revision": last - 1})
        store.append((voiding, Record(last + 2, "ended_early", {})))
        whole = Archive().results(store.load)
        assert whole[-1].fault is None
        for piece in (1, 2, 7):
            monkeypatch.setattr(archive, "PIECE", piece)
            assert Archive().results(store.load) == whole


def test_old_results_are_not_written_again_after_every_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(tmp_path / "table")
    stage.seat("Ada", "Ben")
    stage.session.start()
    kept: list[str] = []
    keep = stage.store.keep

    def watched(name: str, derived: Derived) -> None:
        kept.append(name)
        keep(name, derived)

    monkeypatch.setattr(stage.store, "keep", watched)
    for number in range(1, 104):
        stage.session.end()
        stage.session.rematch()
        if number >= 100:
            stage.session.past.results()
            assert kept.count(RESULTS) == (1 if number < 103 else 2)
    stage.store.close()
