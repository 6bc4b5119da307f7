"""Files of the log that go while a table runs, and a disk without room."""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from companion.errors import StoreError
from companion.eventlog.derived import RESULTS, Derived
from companion.eventlog.examine import copy_log, examine
from companion.eventlog.journal import JOURNAL_NAME
from companion.eventlog.store import FILE_NAME, RENEW_EVERY_S, SqliteStore
from tests.eventlog.test_store import RECORDS


class TestFilesThatAreDeletedWhileATableRuns:
    def test_the_directory_comes_back_with_every_record(self, tmp_path: Path) -> None:
        place = tmp_path / "data"
        store = SqliteStore(place)
        store.append(RECORDS[:2])
        shutil.rmtree(place)
        store.append(RECORDS[2:])
        with pytest.raises(StoreError, match="using this data directory"):
            SqliteStore(place)
        store.close()
        (place / FILE_NAME).unlink()  # the journal has them, too
        assert tuple(SqliteStore(place).load()) == RECORDS

    def test_a_step_is_refused_while_they_cannot_be_made_anew(self, tmp_path: Path) -> None:
        place = tmp_path / "data"
        store = SqliteStore(place)
        store.append(RECORDS[:2])
        shutil.rmtree(place)
        place.write_text("in the way", encoding="utf-8")
        with pytest.raises(StoreError, match="deleted and cannot be made anew"):
            store.append(RECORDS[2:])
        place.unlink()
        store.append(RECORDS[2:])
        store.close()
        assert tuple(SqliteStore(place).load()) == RECORDS

    def test_the_database_alone_comes_back_without_its_old_log(self, tmp_path: Path) -> None:
        store = SqliteStore(tmp_path)
        store.append(RECORDS[:2])
        (tmp_path / FILE_NAME).unlink()
        store.append(RECORDS[2:])
        store.close()
        assert tuple(SqliteStore(tmp_path).load()) == RECORDS

    def test_the_journal_alone_comes_back(self, tmp_path: Path) -> None:
        store = SqliteStore(tmp_path)
        store.append(RECORDS[:2])
        (tmp_path / JOURNAL_NAME).unlink()
        store.append(RECORDS[2:])
        store.close()
        assert len((tmp_path / JOURNAL_NAME).read_bytes().splitlines()) == len(RECORDS)

    def test_a_journal_that_cannot_be_written_is_tried_again(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        now_s = 100.0
        monkeypatch.setattr("time.monotonic", lambda: now_s)
        journal = tmp_path / JOURNAL_NAME
        journal.mkdir()
        store = SqliteStore(tmp_path)
        assert "games are saved without a second copy" in (store.notice or "")
        store.append(RECORDS[:1])
        assert not store.has_copy
        journal.rmdir()
        store.append(RECORDS[1:2])
        assert not journal.exists(), "an attempt reads the whole log"
        now_s += RENEW_EVERY_S
        store.append(RECORDS[2:])
        assert store.has_copy
        store.close()
        assert len(journal.read_bytes().splitlines()) == len(RECORDS)

    def test_a_journal_without_room_gets_its_lines_with_a_later_step(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        journal = tmp_path / JOURNAL_NAME
        with closing(SqliteStore(tmp_path)) as store:
            with monkeypatch.context() as full:
                write = os.pwrite
                full.setattr("os.pwrite", lambda fd, data, at: write(fd, data[:-9], at))
                for record in RECORDS[:2]:
                    store.append((record,))
                    assert not store.has_copy
            assert len(caplog.messages) == 1, "it says so once"
            assert "No space left on device" in caplog.text
            store.append(RECORDS[2:])
            assert store.has_copy
        assert len(journal.read_bytes().splitlines()) == len(RECORDS)

    def test_another_file_in_its_place_is_not_written_over(self, tmp_path: Path) -> None:
        store = SqliteStore(tmp_path)
        store.append(RECORDS[:2])
        (tmp_path / FILE_NAME).unlink()
        (tmp_path / FILE_NAME).write_bytes(b"another game")
        with pytest.raises(StoreError, match="was replaced"):
            store.append(RECORDS[2:])
        assert (tmp_path / FILE_NAME).read_bytes() == b"another game"


@contextmanager
def room_of(size: int) -> Iterator[None]:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, limits[1]))  # bytes
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_deleted_log_comes_back_though_there_was_room_for_a_part_of_it(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path)) as store:
        store.append(RECORDS[:2])
        (tmp_path / FILE_NAME).unlink()
        with room_of(16384):  # for the database, not for the index beside it
            for _ in range(2):
                with pytest.raises(StoreError, match="deleted and cannot be made anew"):
                    store.append(RECORDS[2:])
        store.append(RECORDS[2:])
    assert tuple(SqliteStore(tmp_path).load()) == RECORDS


def test_a_second_copy_without_room_leaves_the_room_there_is_to_the_steps(tmp_path: Path) -> None:
    with closing(SqliteStore(tmp_path)) as store:
        store.append(RECORDS[:2])
        (tmp_path / JOURNAL_NAME).unlink()
        with room_of(50), pytest.raises(StoreError):
            store.append(RECORDS[2:])
        assert not list(tmp_path.glob("*-part"))
        with room_of(50):
            store.keep(RESULTS, Derived(store.mark, "long" * 50))
        assert not list(tmp_path.glob("*-part"))


def test_a_reader_on_a_full_disk_reads_the_games_of_a_table_that_ended(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    store.append(RECORDS)
    store.close()
    with room_of(100):
        assert tuple(SqliteStore(tmp_path, is_writer=False).load()) == RECORDS
        assert examine(tmp_path).records == len(RECORDS)


def readers_of(directory: Path) -> tuple[Callable[[], object], ...]:
    """What reads a table's log: each command's way."""
    return (
        lambda: SqliteStore(directory, is_writer=False),
        lambda: copy_log(directory, directory.with_name("copy")),
        lambda: examine(directory),
    )


def test_a_reader_without_room_says_that_the_disk_is_full(tmp_path: Path) -> None:
    """After a cut of the power, that is: the write-ahead log has steps of its own."""
    with closing(SqliteStore(tmp_path / "table")) as store:
        store.append(RECORDS)
        (tmp_path / "cut").mkdir()
        for name in (FILE_NAME, f"{FILE_NAME}-wal"):
            shutil.copy(tmp_path / "table" / name, tmp_path / "cut")
    with room_of(100):
        for read in readers_of(tmp_path / "cut"):
            with pytest.raises(StoreError, match="disk is full"):
                read()


def test_a_reader_says_what_to_do_after_a_first_start_that_was_cut_off(tmp_path: Path) -> None:
    """A restored backup has no write-ahead log before its first start."""
    with closing(SqliteStore(tmp_path / "table")) as store:
        store.append(RECORDS)
    (tmp_path / "cut").mkdir()
    copy_log(tmp_path / "table", tmp_path / "cut" / FILE_NAME)
    with closing(sqlite3.connect(tmp_path / "cut" / FILE_NAME, isolation_level=None)) as db:
        db.execute("PRAGMA cache_size=1")
        db.execute("BEGIN")
        db.execute("CREATE TABLE half AS SELECT hex(zeroblob(99999))")
        shutil.copytree(tmp_path / "cut", tmp_path / "left")
    for read in readers_of(tmp_path / "left"):
        with pytest.raises(StoreError, match="a start of the table repairs it"):
            read()
    with closing(SqliteStore(tmp_path / "left")) as store:
        assert tuple(store.load()) == RECORDS
    assert examine(tmp_path / "left").records == len(RECORDS)
