"""The condition of a log, and copies of it, without writing to it."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from companion.errors import StoreError
from companion.eventlog import rows
from companion.eventlog.journal import JOURNAL_NAME, read_journal
from companion.eventlog.opening import connect_to_read
from companion.eventlog.store import FILE_NAME, LOCK_NAME

_LOST = """
    SELECT max(revision) - count(*) + total(data = '{}' AND kind NOT IN ('paused', 'ended_early'))
    FROM log
"""


class Examined(NamedTuple):
    """The condition of a log, found without writing.

    Attributes:
        records: The number of records; None if there is no file yet.
        trouble: The damage, or None.
        in_use: Whether a table is writing it now.
        lost: Records that earlier damage cost.
    """

    records: int | None
    trouble: str | None
    in_use: bool
    lost: int = 0


def examine(directory: Path) -> Examined:
    """Check a log without changing anything.

    Raises:
        StoreError: The file cannot be read: permission denied, or another table locks it.
    """
    path, in_use = directory / FILE_NAME, is_in_use(directory)
    journal = read_journal(directory / JOURNAL_NAME)
    if not os.path.isfile(path):  # Path.is_file raises if the directory may not be entered
        missing = f"{FILE_NAME} is missing, {JOURNAL_NAME} has {len(journal.rows)} records"
        return Examined(None, missing if journal.rows else None, in_use)
    try:
        with (
            rows.damage_in_words(),
            closing(connect_to_read(path)) as db,
        ):
            (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
            records = sum(
                bool(rows.record_of(row, is_whole=is_whole).data) or row.data == b"{}"
                for row, is_whole in rows.read_rows(db)
            )
            (count,) = db.execute("SELECT count(*) FROM log").fetchone()
            (lost,) = db.execute(_LOST).fetchone()
    except sqlite3.DatabaseError as error:
        if not rows.is_damage(error):
            raise StoreError(f"{path}: cannot be read: {error}") from error
        return Examined(0, str(error), in_use)
    trouble = None
    if verdict != "ok":
        trouble = str(verdict)
    elif records < count:
        trouble = f"{count - records} of {count} records"
    elif journal.spoilt:
        trouble = f"{journal.spoilt} places of {JOURNAL_NAME}"
    return Examined(records, trouble, in_use, int(lost or 0))


def copy_log(directory: Path, to: Path) -> None:
    """Copy the log of a directory into one new file, consistent while a table writes it.

    Raises:
        StoreError: There is no log, or it cannot be copied.
    """
    path = directory / FILE_NAME
    if not os.path.isfile(path):
        raise StoreError(f"{path}: expected saved games, there is no file that can be read")
    copy_database(path, to)


def copy_database(path: Path, to: Path) -> None:
    """Copy a database into one new file, consistent while a program writes it.

    Raises:
        StoreError: It cannot be copied.
    """
    try:
        with (
            rows.damage_in_words(),
            closing(connect_to_read(path)) as source,
            closing(sqlite3.connect(to)) as copy,
        ):
            copy.execute("PRAGMA locking_mode=EXCLUSIVE")  # no index beside it, which needs room
            source.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")  # one file, without a log beside it
    except sqlite3.Error as error:
        raise StoreError(f"{path}: cannot be copied into {to.parent}: {error}") from error


def is_in_use(directory: Path) -> bool:
    """Whether a table is writing the log of a directory now."""
    return is_locked(directory / LOCK_NAME)


def is_locked(path: Path) -> bool:
    """Whether a running program holds a lock file."""
    try:
        with open(path, "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
