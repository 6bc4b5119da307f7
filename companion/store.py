"""The log on disk: append-only, in SQLite, safe before it is acknowledged.

WAL with synchronous=FULL: a commit survives a pulled plug as far as the card honours sync
(https://www.sqlite.org/pragma.html#pragma_synchronous).
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import IO, NamedTuple

from companion.errors import StoreError
from companion.records import Record

LOGGER = logging.getLogger(__name__)

FILE_NAME = "games.sqlite3"
LOCK_NAME = "games.lock"

DAMAGED = "damaged"
"""Kind of a record that cannot be read; the table knows no such kind and stops there."""

_MIGRATIONS = (
    """
    CREATE TABLE log (
        revision INTEGER PRIMARY KEY,
        at TEXT NOT NULL,
        kind TEXT NOT NULL,
        data TEXT NOT NULL
    ) STRICT
    """,
)
"""Applied in order; their count is the file's user_version. Never change one, add one."""


class SqliteStore:
    """The log in one SQLite file of a data directory.

    Attributes:
        notice: What happened to a damaged file at opening, or None.
    """

    def __init__(self, directory: Path, *, is_writer: bool = True) -> None:
        """Open or make the log; one process writes it at a time, others may read.

        A damaged file is set aside under another name and whatever can be read of it is taken
        over, so that an evening never ends for a bad block.

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
            self._db = self._opened()
        except BaseException:
            self._let_go()
            raise

    def _open_to_read(self) -> sqlite3.Connection:
        """The log as it is: a reader makes nothing, mends nothing and takes nothing away."""
        if not self._path.is_file():
            raise StoreError(f"{self._path}: expected saved games, there is no such file")
        try:
            db = sqlite3.connect(f"{self._path.resolve().as_uri()}?mode=ro", uri=True)
            db.execute("SELECT count(*) FROM log")
        except sqlite3.Error as error:
            raise StoreError(f"{self._path}: cannot be read: {error}") from error
        return db

    def _opened(self) -> sqlite3.Connection:
        try:
            return self._open()
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise StoreError(f"{self._path}: cannot be opened: {error}") from error
            saved = self._set_aside(error)
        self._db = self._open_fresh()
        if saved:
            self.append(tuple(saved))
        return self._db

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=FULL")
            (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise sqlite3.DatabaseError(f"malformed: {verdict}")
            (version,) = db.execute("PRAGMA user_version").fetchone()
            for number, script in enumerate(_MIGRATIONS[version:], version + 1):
                db.execute("BEGIN IMMEDIATE")
                db.execute(script)
                db.execute(f"PRAGMA user_version={number}")
                db.execute("COMMIT")
            db.execute(
                "BEGIN IMMEDIATE"
            )  # an unwritable file must say so now, not at the first mark
            db.execute("ROLLBACK")
            if version > len(_MIGRATIONS):
                raise StoreError(
                    f"{self._path}: made by a newer version (schema {version}, known"
                    f" {len(_MIGRATIONS)})"
                )
        except BaseException:
            db.close()
            raise
        return db

    def _open_fresh(self) -> sqlite3.Connection:
        try:
            return self._open()
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{self._path}: cannot be made anew: {error}") from error

    def _set_aside(self, error: sqlite3.DatabaseError) -> list[Record]:
        saved = _salvage(self._path)
        number = 1
        while (aside := self._path.with_suffix(f".damaged-{number}")).exists():
            number += 1
        try:
            self._path.rename(aside)
            for suffix in ("-wal", "-shm"):
                self._path.with_name(FILE_NAME + suffix).unlink(missing_ok=True)
        except OSError as failure:
            raise StoreError(
                f"{self._path}: damaged, and cannot be set aside: {failure}"
            ) from failure
        self.notice = (
            f"{self._path} was damaged ({error}); it is kept as {aside.name} and"
            f" {len(saved)} records were taken over"
        )
        LOGGER.warning("%s", self.notice)
        return saved

    def load(self, after: int = 0) -> Iterable[Record]:
        """Every record after a revision, oldest first.

        One that cannot be read has the kind "damaged".

        Raises:
            StoreError: The file cannot be read.
        """
        try:
            yield from _rows(self._db, after=after)
        except sqlite3.Error as error:
            raise StoreError(f"{self._path}: cannot be read: {error}") from error

    def append(self, records: tuple[Record, ...]) -> None:
        """Keep records, all or none, and return once they are on the disk.

        Raises:
            StoreError: They cannot be kept; nothing of them is.
        """
        rows = [
            (r.revision, r.at, r.kind, json.dumps(dict(r.data), ensure_ascii=False))
            for r in records
        ]
        try:
            self._db.execute("BEGIN IMMEDIATE")
            try:
                self._db.executemany("INSERT INTO log VALUES (?, ?, ?, ?)", rows)
                self._db.execute("COMMIT")
            except BaseException:
                if self._db.in_transaction:
                    self._db.execute("ROLLBACK")
                raise
        except sqlite3.Error as error:
            raise StoreError(f"{self._path}: cannot be written: {error}") from error

    def close(self) -> None:
        """Let go of the file; may be called twice."""
        self._db.close()
        self._let_go()

    def _let_go(self) -> None:
        if self._lock is not None:
            self._lock.close()


class Examined(NamedTuple):
    """What is known of a log without opening it to write.

    Attributes:
        records: How many there are; None where there is no file yet.
        trouble: What is damaged, or None.
        in_use: Whether a table is writing it now.
    """

    records: int | None
    trouble: str | None
    in_use: bool


def examine(directory: Path) -> Examined:
    """Look at a log without changing anything.

    Raises:
        StoreError: It cannot be read at all, for want of rights.
    """
    path, in_use = directory / FILE_NAME, _is_locked(directory / LOCK_NAME)
    if not os.path.isfile(path):  # pathlib's raises below a directory that may not be entered
        return Examined(None, None, in_use)
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as db:
            (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
            records = sum(record.kind != DAMAGED for record in _rows(db))
            (count,) = db.execute("SELECT count(*) FROM log").fetchone()
    except sqlite3.DatabaseError as error:
        if not _is_damage(error):
            raise StoreError(f"{path}: cannot be read: {error}") from error
        return Examined(0, str(error), in_use)
    if verdict == "ok" and records == count:
        return Examined(records, None, in_use)
    trouble = verdict if verdict != "ok" else f"{count - records} of {count} records"
    return Examined(records, str(trouble), in_use)


def _is_locked(path: Path) -> bool:
    try:
        with open(path, "rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False


def _locked(path: Path) -> IO[bytes]:
    """Hold a file as the only process; the kernel lets go of it however the process ends."""
    try:
        lock = open(path, "ab")  # noqa: SIM115 - held open as long as the store
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise StoreError(f"{path.parent}: another table is using this data directory") from error
    return lock


def _rows(db: sqlite3.Connection, order: str = "ASC", *, after: int = 0) -> Iterator[Record]:
    # pages have no checksum: a letter that is none costs that letter, not the evening
    db.text_factory = lambda raw: raw.decode("utf-8", "replace")
    query = f"SELECT revision, at, kind, data FROM log WHERE revision > ? ORDER BY revision {order}"
    for revision, at, kind, text in db.execute(query, (after,)):
        try:
            data = json.loads(text)
        except (ValueError, RecursionError):
            data = None
        if isinstance(data, dict) and isinstance(kind, str):
            yield Record(revision, kind, data, str(at))
        else:
            yield Record(revision, DAMAGED, {}, str(at))


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    if isinstance(error, sqlite3.OperationalError):
        return "malformed" in str(error)  # others are locks, rights and full disks
    return True


def _salvage(path: Path) -> list[Record]:
    """The records of a damaged file that can be reached from its beginning or from its end.

    The newest are those the running game needs, so a bad block among the old ones must not cost
    them. What lies in between is lost, and a record that says so stands in its place, so that no
    game goes on as if nothing was missing.
    """
    found: dict[int, Record] = {}
    for order in ("ASC", "DESC"):
        with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as db:
            for record in _rows(db, order):
                found[record.revision] = record  # one by one: what comes before the damage counts
    for revision in sorted(found):
        if revision > 1 and revision - 1 not in found:
            found[revision - 1] = Record(revision - 1, DAMAGED, {})
    return [found[revision] for revision in sorted(found)]
