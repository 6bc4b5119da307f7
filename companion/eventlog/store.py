"""The event log on disk: append-only, in SQLite, synced before it is acknowledged.

WAL with synchronous=FULL: a commit survives a power cut as far as the card honours sync
(https://www.sqlite.org/pragma.html#pragma_synchronous).
"""

from __future__ import annotations

import fcntl
import logging
import os
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import IO, NamedTuple

from companion.errors import StoreError
from companion.eventlog import rows
from companion.eventlog.record import Record
from companion.eventlog.salvage import SALVAGED_NAME, replace_damaged, write_salvaged

LOGGER = logging.getLogger(__name__)

FILE_NAME = "games.sqlite3"
LOCK_NAME = "games.lock"


class SqliteStore:
    """The event log in one SQLite file of a data directory.

    Attributes:
        notice: What happened to a damaged file at opening, or None.
    """

    def __init__(self, directory: Path, *, is_writer: bool = True) -> None:
        """Open or create the log; one process writes it at a time, others may read.

        A damaged file is renamed, and its readable records go into a new file, so that a bad
        block never ends an evening.

        Raises:
            StoreError: The directory cannot be made or written, or another process is the writer.
        """
        self._lock: IO[bytes] | None = None
        self.notice: str | None = None
        self._path = directory / FILE_NAME
        if not is_writer:
            self._db = self._open_to_read()
            return
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"{directory}: cannot make the data directory: {error.strerror}"
            ) from error
        self._lock = _locked(directory / LOCK_NAME)
        try:
            self._db = self._open_or_salvage()
        except BaseException:
            self._unlock()
            raise

    def _open_to_read(self) -> sqlite3.Connection:
        """Open the log read-only: a reader creates, repairs and deletes nothing."""
        if not self._path.is_file():
            raise StoreError(f"{self._path}: expected saved games, there is no such file")
        try:
            db = sqlite3.connect(f"{self._path.resolve().as_uri()}?mode=ro", uri=True)
            db.execute("SELECT count(*) FROM log")
        except sqlite3.Error as error:
            raise StoreError(f"{self._path}: cannot be read: {error}") from error
        return db

    def _open_or_salvage(self) -> sqlite3.Connection:
        salvaged = self._path.with_name(SALVAGED_NAME)
        if salvaged.exists():  # a power cut came before it replaced the damaged file
            self._use(salvaged, "damaged")
        try:
            return self._open()
        except sqlite3.DatabaseError as error:
            if not rows.is_damage(error):
                what = "written" if "readonly" in str(error) else "opened"
                raise StoreError(f"{self._path}: cannot be {what}: {error}") from error
            write_salvaged(self._path, salvaged)
            self._use(salvaged, str(error))
        try:
            return self._open()
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{self._path}: cannot be made anew: {error}") from error

    def _use(self, salvaged: Path, why: str) -> None:
        self.notice = replace_damaged(self._path, salvaged, why)
        LOGGER.warning("%s", self.notice)

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=FULL")
            (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise sqlite3.DatabaseError(f"malformed: {verdict}")
            (version,) = db.execute("PRAGMA user_version").fetchone()
            rows.migrate(db, version)
            # a write that is rolled back: an unwritable file must fail now, not in the game
            db.execute("BEGIN IMMEDIATE")
            db.execute(f"PRAGMA user_version={version}")
            db.execute("ROLLBACK")
            known = len(rows.MIGRATIONS)
            if version > known:
                raise StoreError(
                    f"{self._path}: made by a newer version (schema {version}, known {known})"
                )
        except BaseException:
            db.close()
            raise
        return db

    def load(self, after: int = 0) -> Iterable[Record]:
        """Every record after a revision, oldest first.

        A record whose data cannot be read has none. Its kind becomes "damaged" or "lost" unless
        the kind alone is still of use.

        Raises:
            StoreError: The file cannot be read.
        """
        try:
            yield from rows.read(self._db, after=after)
        except sqlite3.Error as error:
            raise StoreError(f"{self._path}: cannot be read: {error}") from error

    def append(self, records: tuple[Record, ...]) -> None:
        """Write records, all or none, and return once they are on the disk.

        Raises:
            StoreError: They cannot be written; none of them is.
        """
        try:
            rows.insert(self._db, records)
        except sqlite3.Error as error:
            raise StoreError(f"{self._path}: cannot be written: {error}") from error

    def close(self) -> None:
        """Close the file and release its lock; may be called twice."""
        self._db.close()
        self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()


class Examined(NamedTuple):
    """The condition of a log, found without writing.

    Attributes:
        records: The number of records; None if there is no file yet.
        trouble: The damage, or None.
        in_use: Whether a table is writing it now.
    """

    records: int | None
    trouble: str | None
    in_use: bool


def examine(directory: Path) -> Examined:
    """Check a log without changing anything.

    Raises:
        StoreError: It cannot be read for lack of rights.
    """
    path, in_use = directory / FILE_NAME, is_in_use(directory)
    if not os.path.isfile(path):  # Path.is_file raises in a directory without the right to enter
        return Examined(None, None, in_use)
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as db:
            (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
            records = sum(data is not None for *_, data in rows.read_raw(db))
            (count,) = db.execute("SELECT count(*) FROM log").fetchone()
    except sqlite3.DatabaseError as error:
        if not rows.is_damage(error):
            raise StoreError(f"{path}: cannot be read: {error}") from error
        return Examined(0, str(error), in_use)
    if verdict == "ok" and records == count:
        return Examined(records, None, in_use)
    trouble = verdict if verdict != "ok" else f"{count - records} of {count} records"
    return Examined(records, str(trouble), in_use)


def copy_log(directory: Path, to: Path) -> None:
    """Copy the log of a directory into one new file, consistent while a table writes it.

    Raises:
        StoreError: There is none, or it cannot be copied.
    """
    path = directory / FILE_NAME
    if not path.is_file():
        raise StoreError(f"{path}: expected saved games, there is no such file")
    try:
        with (
            closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as source,
            closing(sqlite3.connect(to)) as copy,
        ):
            source.backup(copy)
            copy.execute("PRAGMA journal_mode=DELETE")  # one file, without a log beside it
    except sqlite3.Error as error:
        raise StoreError(f"{path}: cannot be copied: {error}") from error


def is_in_use(directory: Path) -> bool:
    """Whether a table is writing the log of a directory now."""
    try:
        with open(directory / LOCK_NAME, "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _locked(path: Path) -> IO[bytes]:
    """Lock a file for this process; the kernel releases it however the process ends."""
    try:
        lock = open(path, "ab")  # noqa: SIM115 - open as long as the store
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise StoreError(f"{path.parent}: another table is using this data directory") from error
    return lock
