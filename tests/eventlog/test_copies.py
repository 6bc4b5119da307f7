"""The log is kept twice: what one damaged file lost, the other still has."""

from __future__ import annotations

import errno
import hashlib
import io
import os
import random
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from companion.eventlog import comparing, opening
from companion.eventlog.comparing import compare
from companion.eventlog.journal import JOURNAL_NAME
from companion.eventlog.record import Record
from companion.eventlog.rows import MIGRATIONS
from companion.eventlog.store import FILE_NAME, SqliteStore

RECORDS = [
    Record(
        n,
        "answered",
        {"player": n % 5, "action": 1, "choice": f"R{n % 11 + 2}", "by": "Zoë", "key": f"{n:08}"},
        f"2026-11-20T20:{n // 60 % 60:02}:{n % 60:02}+01:00",
    )
    for n in range(1, 301)
]
WAL_NAME = f"{FILE_NAME}-wal"
FILES = (FILE_NAME, WAL_NAME, JOURNAL_NAME)


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data directory as a kill leaves it: half of the records are in the write-ahead log."""
    directory, copy = tmp_path_factory.mktemp("table"), tmp_path_factory.mktemp("killed")
    store = SqliteStore(directory)
    for record in RECORDS[:150]:
        store.append((record,))
    store.close()
    store = SqliteStore(directory)
    for record in RECORDS[150:]:
        store.append((record,))
    for name in FILES:
        shutil.copy(directory / name, copy / name)
    store.close()
    return copy


def reopened(directory: Path) -> tuple[list[Record], str | None]:
    """Every record after a start, and the notice; a second start gives the same without one."""
    store = SqliteStore(directory)
    found, notice = list(store.load()), store.notice
    store.close()
    again = SqliteStore(directory)
    assert (list(again.load()), again.notice) == (found, None)
    again.close()
    return found, notice


Mutilate = Callable[[bytearray, random.Random], bytearray]


def flip(data: bytearray, rng: random.Random) -> bytearray:
    for _ in range(rng.choice([1, 1, 3, 40])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return data


def fill(data: bytearray, rng: random.Random) -> bytearray:
    """Zeros, ones or noise from a sector to whole pages."""
    size = rng.choice([1, 512, 2048, 4096, 3 * 4096])
    start = rng.randrange(len(data)) // min(size, 512) * min(size, 512)
    end = min(start + size, len(data))
    byte = rng.choice([0, 0, 255, None])
    data[start:end] = rng.randbytes(end - start) if byte is None else bytes([byte]) * (end - start)
    return data


def cut(data: bytearray, rng: random.Random) -> bytearray:
    at = rng.choice([0, 1, len(data) - 4096, len(data) - 1, rng.randrange(len(data))])
    return data[: max(at, 0)]


def leave_out(data: bytearray, rng: random.Random) -> bytearray:
    """A page from the middle is missing."""
    start = rng.randrange(len(data)) // 4096 * 4096
    return data[:start] + data[start + 4096 :]


def mutilated(directory: Path, name: str, rng: random.Random) -> None:
    path = directory / name
    if rng.random() < 0.05:
        path.unlink()
        return
    do: Mutilate = rng.choice([flip, fill, cut, leave_out])
    path.write_bytes(do(bytearray(path.read_bytes()), rng))


@pytest.fixture
def copies(killed: Path, tmp_path: Path) -> Callable[[], Path]:
    """copies() gives a fresh copy of the killed table's directory."""

    def copy() -> Path:
        shutil.rmtree(tmp_path / "copy", ignore_errors=True)
        return Path(shutil.copytree(killed, tmp_path / "copy"))

    return copy


@pytest.mark.parametrize("count", [30, pytest.param(2000, marks=pytest.mark.slow)])
def test_damage_to_one_file_loses_nothing(copies: Callable[[], Path], count: int) -> None:
    for seed in range(count):
        directory, rng = copies(), random.Random(seed)
        name = FILES[seed % 3]
        mutilated(directory, name, rng)
        assert reopened(directory)[0] == RECORDS, (seed, name)


@pytest.mark.parametrize("count", [15, pytest.param(1000, marks=pytest.mark.slow)])
def test_damage_to_the_only_copy_makes_no_false_record(
    copies: Callable[[], Path], count: int
) -> None:
    known = {record.revision: record for record in RECORDS}
    for seed in range(count):
        directory, rng = copies(), random.Random(seed)
        (directory / JOURNAL_NAME).unlink()
        mutilated(directory, FILES[seed % 2], rng)
        for record in reopened(directory)[0]:
            assert not record.data or record == known[record.revision], (seed, record)


@pytest.mark.parametrize("pages", [1, 5])
def test_a_database_short_of_its_last_pages_keeps_the_others(tmp_path: Path, pages: int) -> None:
    store = SqliteStore(tmp_path)
    for record in RECORDS:
        store.append((record,))
    store.close()
    (tmp_path / JOURNAL_NAME).unlink()
    path = tmp_path / FILE_NAME
    path.write_bytes(path.read_bytes()[: -4096 * pages])
    found, notice = reopened(tmp_path)
    whole = [record for record in found if record.data]
    assert whole == [record for record in RECORDS if record in whole]
    assert len(whole) > len(RECORDS) - 40 * pages
    assert "are lost" in (notice or "")


def test_frames_behind_a_bad_one_in_the_write_ahead_log_are_kept(
    copies: Callable[[], Path],
) -> None:
    directory = copies()
    (directory / JOURNAL_NAME).unlink()
    path = directory / WAL_NAME
    data = bytearray(path.read_bytes())
    data[len(data) // 3] ^= 4
    path.write_bytes(data)
    found, _ = reopened(directory)
    assert found == RECORDS
    assert (directory / "games.damaged-1-wal").read_bytes() == bytes(data)


@pytest.mark.parametrize("short", [1, 100])
def test_a_step_that_a_full_disk_cut_short_does_not_come_back(tmp_path: Path, short: int) -> None:
    directory, copy = tmp_path / "table", tmp_path / "copy"
    copy.mkdir()
    store = SqliteStore(directory)
    store.append((RECORDS[0],))
    shutil.copy(directory / JOURNAL_NAME, copy)
    store.append((RECORDS[1],))
    shutil.copy(directory / FILE_NAME, copy)
    (copy / WAL_NAME).write_bytes((directory / WAL_NAME).read_bytes()[:-short])
    store.close()
    assert reopened(copy) == (RECORDS[:1], None)
    assert not list(copy.glob("*damaged*"))


def test_an_empty_database_is_filled_from_the_journal_and_reported(
    copies: Callable[[], Path],
) -> None:
    directory = copies()
    (directory / WAL_NAME).unlink()
    (directory / FILE_NAME).write_bytes(b"")
    found, notice = reopened(directory)
    assert found == RECORDS
    assert f"300 records were taken over, 300 of them from {JOURNAL_NAME}; 0 are lost" in (
        notice or ""
    )


def test_a_damaged_journal_is_kept_and_written_again(copies: Callable[[], Path]) -> None:
    directory = copies()
    path = directory / JOURNAL_NAME
    whole = path.read_bytes()
    spoilt = whole[:1000] + b"?" + whole[1001:]
    path.write_bytes(spoilt)
    _, notice = reopened(directory)
    assert "was damaged in 1 places; it is kept as games.journal-damaged-1" in (notice or "")
    assert (directory / "games.journal-damaged-1").read_bytes() == spoilt
    assert path.read_bytes() == whole


class BadBlock(io.BytesIO):
    """A file that the disk cannot read from some byte on."""

    def __init__(self, data: bytes, bad_from: int) -> None:
        super().__init__(data)
        self._bad_from = bad_from

    def read(self, size: int | None = -1) -> bytes:
        end = len(self.getvalue()) if size is None or size < 0 else self.tell() + size
        if end > self._bad_from:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return super().read(size)


@pytest.mark.parametrize("bad_from", [0, 5000])
def test_a_journal_that_the_disk_cannot_read_is_written_again(
    copies: Callable[[], Path], monkeypatch: pytest.MonkeyPatch, bad_from: int
) -> None:
    directory = copies()
    journal = directory / JOURNAL_NAME
    bad, data, really = journal.stat().st_ino, journal.read_bytes(), Path.open

    def opened(path: Path, mode: str = "r", *args: Any, **named: Any) -> Any:
        if path.exists() and path.stat().st_ino == bad and mode == "rb":
            return BadBlock(data, bad_from)
        return really(path, mode, *args, **named)

    monkeypatch.setattr(Path, "open", opened)
    found, notice = reopened(directory)
    assert (found, str(notice).count("is kept as games.journal-damaged-1")) == (RECORDS, 1)
    assert journal.stat().st_ino != bad


def test_a_line_cut_short_by_a_power_cut_is_no_damage(copies: Callable[[], Path]) -> None:
    directory = copies()
    path = directory / JOURNAL_NAME
    whole = path.read_bytes()
    path.write_bytes(whole[:-20])
    assert reopened(directory) == (RECORDS, None)
    assert path.read_bytes() == whole


def test_a_journal_of_another_table_is_set_aside(
    copies: Callable[[], Path], tmp_path: Path
) -> None:
    other = SqliteStore(tmp_path / "other")
    other.append((Record(1, "set", {"hints": False}), Record(2, "set", {"hints": True})))
    other.close()
    directory = copies()
    shutil.copy(tmp_path / "other" / JOURNAL_NAME, directory / JOURNAL_NAME)
    found, notice = reopened(directory)
    assert found == RECORDS
    assert "is of another log" in (notice or "")


def test_a_database_of_the_version_before_opens_unchanged(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / FILE_NAME) as db:
        db.execute(MIGRATIONS[0])
        db.execute("PRAGMA user_version=1")
        db.execute("""INSERT INTO log VALUES (1, 'then', 'seated', '{"seat": 0, "name": "Zoë"}')""")
        db.execute("""INSERT INTO log VALUES (3, 'then', 'set', '{"hints": true}')""")
    db.close()
    found, notice = reopened(tmp_path)
    assert notice is None
    assert found == [
        Record(1, "seated", {"seat": 0, "name": "Zoë"}, "then"),
        Record(3, "set", {"hints": True}, "then"),
    ]
    (tmp_path / FILE_NAME).unlink()
    assert reopened(tmp_path)[0][:1] == found[:1], "the journal has them too"


def test_every_row_is_compared_and_counted_in_the_digest(
    killed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows are taken in pieces; none may fall between two of them."""
    monkeypatch.setattr(comparing, "PIECE", 7)
    with closing(sqlite3.connect(killed / FILE_NAME)) as db:
        found = compare(db, killed / JOURNAL_NAME)
    lines = (killed / JOURNAL_NAME).read_bytes()
    assert found.may_go_on
    assert found.size == len(lines)
    digest = hashlib.blake2b(lines, digest_size=16).hexdigest()
    assert found.digest.mark == (len(RECORDS), digest)


def test_an_undamaged_table_is_not_taken_for_a_damaged_one(
    copies: Callable[[], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(comparing, "PIECE", 7)
    monkeypatch.setattr(opening, "_repaired", lambda *_: pytest.fail("repaired"))
    assert reopened(copies()) == (RECORDS, None)
