"""A club's evenings and results on disk, in one SQLite file.

WAL with synchronous=FULL: a commit survives a power cut. A damaged file is set aside: the broker
still has the results and the newest evening.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from companion.errors import StoreError
from companion.eventlog.place import locked
from companion.eventlog.refused import LogEnd
from companion.eventlog.rows import closed_on_failure, damage_in_words, is_damage
from companion.mqtt import payloads
from companion.mqtt.club.evening import Evening
from companion.mqtt.club.results import Result
from companion.wire.structs import WireError, decoded, encode

LOGGER = logging.getLogger(__name__)

T = TypeVar("T")

FILE_NAME = "club.sqlite3"
LOCK_NAME = "club.lock"
SCHEMA = 2
"""1 had no column for the end of a game."""

_TABLES = f"""
CREATE TABLE IF NOT EXISTS evening (id TEXT PRIMARY KEY, document TEXT NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS result (
    table_id TEXT NOT NULL, game TEXT NOT NULL, evening TEXT NOT NULL, received_at TEXT NOT NULL,
    document TEXT NOT NULL, ended_at TEXT NOT NULL DEFAULT '', PRIMARY KEY (table_id, game)
) STRICT;
PRAGMA user_version={SCHEMA};
"""

_FROM_1 = "ALTER TABLE result ADD COLUMN ended_at TEXT NOT NULL DEFAULT '';"

_EVENINGS = "SELECT id, document FROM evening ORDER BY id"
_RESULTS = "SELECT table_id, evening, received_at, document, ended_at FROM result"


class ClubStore:
    """The file of one club process; thread-safe.

    Attributes:
        notice: The damage that was found at opening, or None.
    """

    def __init__(self, directory: Path) -> None:
        """Open or create the file; one process has it at a time.

        Raises:
            StoreError: It cannot be made or written, or another process has it.
        """
        self.notice: str | None = None
        self._path = directory / FILE_NAME
        self._log_end = LogEnd(self._path)
        self._mutex = threading.Lock()
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(f"{directory}: cannot be made: {error.strerror}") from error
        self._lock = locked(directory / LOCK_NAME, "another club")
        try:
            self._db = self._opened()
        except BaseException:
            self._lock.close()
            raise

    def _opened(self) -> sqlite3.Connection:
        try:
            return self._open()
        except sqlite3.DatabaseError as error:
            if not self._path.is_file() or not is_damage(error):
                raise StoreError(f"{self._path}: cannot be opened: {error}") from error
        number = 1
        while (aside := self._path.with_suffix(f".damaged-{number}")).exists():
            number += 1
        _move(self._path, aside)
        try:
            db = self._open()
        except sqlite3.Error as error:
            _move(aside, self._path)  # else the next start would find nothing and say nothing
            raise StoreError(f"{self._path}: cannot be opened: {error}") from error
        self.notice = f"{self._path} was damaged; it is kept as {aside.name}"
        return db

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        with closed_on_failure(db), damage_in_words():
            (version,) = db.execute("PRAGMA user_version").fetchone()
            if version > SCHEMA:
                raise StoreError(f"{self._path}: made by a newer version (schema {version})")
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=FULL")
            (state,) = db.execute("PRAGMA quick_check(1)").fetchone()
            if state != "ok":
                raise sqlite3.DatabaseError(state)
            db.executescript(f"BEGIN; {_FROM_1 if version == 1 else ''} {_TABLES} COMMIT;")
            for query in (_EVENINGS, _RESULTS):  # a damaged name of a column passes the check
                db.execute(query).fetchone()
        return db

    def evenings(self) -> list[Evening]:
        """Every readable evening, oldest first.

        Raises:
            StoreError: The file cannot be read.
        """
        rows = self._rows(_EVENINGS)
        return [each for name, text in rows if (each := self._read(name, text, Evening))]

    def results(self) -> list[Result]:
        """Every readable result.

        Raises:
            StoreError: The file cannot be read.
        """
        rows = self._rows(_RESULTS)
        return [
            Result(table, game, received_at, evening, ended_at or received_at)
            for table, evening, received_at, text, ended_at in rows
            if (game := self._read(table, text, payloads.Result))
        ]

    def keep_evening(self, evening: Evening) -> None:
        """Write an evening, and return once it is on the disk.

        Raises:
            StoreError: It cannot be written.
        """
        row = (evening.id, encode(evening))
        self._write("INSERT OR REPLACE INTO evening VALUES (?, ?)", [row])

    def keep_results(self, results: Iterable[Result]) -> None:
        """Write results, each in place of an older one of its game, all or none.

        Raises:
            StoreError: They cannot be written.
        """
        rows = [
            (
                each.table,
                each.game.game,
                each.evening,
                each.received_at,
                encode(each.game),
                each.ended_at,
            )
            for each in results
        ]
        if rows:
            self._write("INSERT OR REPLACE INTO result VALUES (?, ?, ?, ?, ?, ?)", rows)

    def close(self) -> None:
        """Close the file; may be called twice."""
        with self._mutex:
            self._db.close()
            self._log_end.close()
            self._lock.close()

    def _read(self, name: str, text: str, kind: type[T]) -> T | None:
        try:
            found: T = decoded(text.encode(), kind)
        except WireError as error:
            LOGGER.warning("%s: %s cannot be read: %s", self._path, name, error)
            return None
        return found

    def _rows(self, query: str) -> list[tuple[str, ...]]:
        try:
            with self._mutex:
                return self._db.execute(query).fetchall()
        except sqlite3.Error as error:
            raise StoreError(f"{self._path}: cannot be read: {error}") from error

    def _write(self, query: str, rows: Sequence[tuple[str, ...]]) -> None:
        with self._mutex:
            try:
                with self._db:  # one transaction
                    self._db.execute("BEGIN")
                    self._db.executemany(query, rows)
            except sqlite3.Error as error:
                self._log_end.cut(error)
                raise StoreError(f"{self._path}: cannot be written: {error}") from error


def _move(path: Path, to: Path) -> None:
    """Give a database another name, with its log; in the place of what is there."""
    for end in ("-wal", "-shm"):
        log, kept = (each.with_name(f"{each.name}{end}") for each in (path, to))
        with suppress(OSError):
            kept.unlink(missing_ok=True)
            log.rename(kept)
    path.replace(to)
