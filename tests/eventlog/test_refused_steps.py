"""A step whose sync failed was refused: it does not come back, although its write was whole."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from companion.errors import StoreError
from companion.eventlog import rows, store
from companion.eventlog.record import Record
from companion.eventlog.store import FILE_NAME, SqliteStore

ADA, BEN, CLEO = (
    Record(n, "seated", {"seat": n, "name": name}, "2026-11-20T20:00:00+01:00")
    for n, name in enumerate(("Ada", "Ben", "Cleo"), 1)
)


def copied(directory: Path, to: Path) -> Path:
    """The files of a running table as a kill leaves them."""
    shutil.rmtree(to, ignore_errors=True)
    return Path(shutil.copytree(directory, to))


def written_unsynced(path: Path, change: Callable[[sqlite3.Connection], object]) -> None:
    """Leave a change in the write-ahead log of an open database as a failed sync does."""
    twin = copied(path.parent, path.parent.with_name("twin")) / path.name
    log = f"{path.name}-wal"
    with closing(sqlite3.connect(twin, isolation_level=None)) as db:
        change(db)
        data = twin.with_name(log).read_bytes()
    with path.with_name(log).open("r+b") as file:
        file.write(data)
    raise sqlite3.OperationalError("disk I/O error")


def killed_and_started(directory: Path) -> tuple[list[Record], str | None]:
    """Every record after a kill and a start, and the notice."""
    after = SqliteStore(copied(directory, directory.with_name("after")))
    found, notice = list(after.load()), after.notice
    after.close()
    return found, notice


def test_a_step_whose_sync_failed_does_not_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "table"
    table, insert = SqliteStore(directory), rows.insert
    table.append((ADA,))

    def failing(_db: sqlite3.Connection, made: list[rows.Row]) -> None:
        written_unsynced(directory / FILE_NAME, lambda db: insert(db, made))

    with monkeypatch.context() as patched:
        patched.setattr(rows, "insert", failing)
        with pytest.raises(StoreError, match="disk I/O error"):
            table.append((BEN,))
    assert killed_and_started(directory) == ([ADA], None)
    other = replace(CLEO, revision=2)
    table.append((other,))
    assert killed_and_started(directory) == ([ADA, other], None)
    table.close()


def test_a_new_name_whose_sync_failed_does_not_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = tmp_path / "table"
    table = SqliteStore(directory)
    table.append((ADA,))
    made = rows.row_of(replace(ADA, data={"seat": 1, "name": "Adele"}))

    def failing(_db: sqlite3.Connection, _change: object) -> None:
        query = "UPDATE log SET data = ?, checksum = ?"
        values = (made.data.decode(), made.checksum())
        written_unsynced(directory / FILE_NAME, lambda db: db.execute(query, values))

    monkeypatch.setattr(store, "rewrite", failing)
    with pytest.raises(StoreError, match="disk I/O error"):
        table.rewrite(lambda record: record)
    assert killed_and_started(directory) == ([ADA], None)
    assert not list((tmp_path / "after").glob("*damaged*"))
    table.close()
