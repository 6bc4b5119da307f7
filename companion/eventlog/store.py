"""The event log on disk: append-only, in SQLite and in a journal, synced before acknowledged.

WAL with synchronous=FULL: a commit survives a power cut as far as the card honours sync
(https://www.sqlite.org/pragma.html#pragma_synchronous).
"""

from __future__ import annotations

import logging
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import IO

from companion.errors import StoreError
from companion.eventlog import rows
from companion.eventlog.checkpoint import Checkpointer
from companion.eventlog.comparing import Digest
from companion.eventlog.derived import NAMES, Derived, Mark, write_derived
from companion.eventlog.journal import JOURNAL_NAME, Journal, lines_of
from companion.eventlog.opening import (
    compared,
    new_journal,
    open_database,
    open_or_salvage,
    open_to_read,
)
from companion.eventlog.place import identity, locked, put_back, sync
from companion.eventlog.record import Record
from companion.eventlog.refused import LogEnd
from companion.eventlog.rewriting import rewrite

LOGGER = logging.getLogger(__name__)

FILE_NAME = "games.sqlite3"
LOCK_NAME = "games.lock"

CLOSE_WITHIN_S = 2.0
"""Seconds that `close` waits for a running write; then it leaves the file open."""

RENEW_EVERY_S = 300.0
"""Seconds between attempts to write a journal that cannot be written: each reads the whole log."""


class SqliteStore:
    """The event log in one SQLite file of a data directory, with a journal beside it.

    Attributes:
        notice: The damage found at opening and what was read in spite of it, or None.
        lost: How many records could not be read at opening.
    """

    def __init__(self, directory: Path, *, is_writer: bool = True) -> None:
        """Open or create the log; one process writes it at a time, others may read.

        A damaged file is renamed, and every record that it or the journal still has goes into a
        new one, so that a bad block never ends an evening.

        Raises:
            StoreError: The directory cannot be made or written, or another process is the writer.
        """
        self._lock: IO[bytes] | None = None
        self._journal: Journal | None = None
        self._renew_from_s = 0.0
        self._writing = threading.Lock()
        self._digest = Digest()
        self._derived: dict[str, Derived] = {}
        self.notice: str | None = None
        self.lost = 0
        self._path = directory / FILE_NAME
        self._log_end = LogEnd(self._path)
        self._checkpointer = Checkpointer(self._path)
        if not is_writer:
            self._db = open_to_read(self._path)
            with suppress(sqlite3.Error):  # of damaged rows, which `load` gives without their data
                found, self._derived = compared(self._db, self._path)
                self._digest = found.digest
            return
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            is_there = isinstance(error, FileExistsError)
            is_lost = is_there and directory.is_symlink() and not directory.exists()
            why = "it is a link to a missing one" if is_lost else error.strerror
            raise StoreError(f"{directory}: cannot make the data directory: {why}") from error
        self._lock = locked(directory / LOCK_NAME, "another table")
        try:
            opened = open_or_salvage(self._path, self._report)
        except BaseException:
            self._unlock()
            raise
        self._db, self._journal, self._digest, self._derived, self.lost = opened
        self._file = self._put_as = identity(self._path)
        self._checkpointer.written()  # the last run may have ended before it was quiet

    def _report(self, said: str) -> None:
        self.notice = f"{self.notice}; {said}" if self.notice else said
        LOGGER.warning("%s", said)

    def load(self, after: int = 0, *, moves: bool = True) -> Iterable[Record]:
        """Every record after a revision, oldest first, with or without moves.

        A record whose data cannot be read has none. Its kind becomes "damaged" or "lost" unless
        the kind alone is still of use.

        Raises:
            StoreError: The file cannot be read.
        """
        try:
            yield from rows.read(self._db, after=after, moves=moves)
        except sqlite3.Error as error:
            raise StoreError(f"{self._path}: cannot be read: {error}") from error

    def history(self, after: int = 0) -> Iterator[Record]:
        """Every record after a revision as `load` gives it, read while steps are stored.

        It has a connection of its own: a failed write takes back what is read on the same one.

        Raises:
            StoreError: The file cannot be read.
        """
        try:
            with closing(open_to_read(self._path)) as db:
                yield from rows.read(db, after=after)
        except sqlite3.Error as error:
            raise StoreError(f"{self._path}: cannot be read: {error}") from error

    def append(self, records: tuple[Record, ...]) -> None:
        """Write records, all or none, and return once they are on the disk.

        Raises:
            StoreError: They cannot be written; none of them is.
        """
        made = [rows.row_of(record) for record in records]
        with self._writing:
            self._keep_in_place()
            try:
                rows.insert(self._db, made)
            except sqlite3.Error as error:
                self._log_end.cut(error)
                raise StoreError(f"{self._path}: cannot be written: {error}") from error
            lines = lines_of(made)
            self._digest.add(made[-1].revision, lines)
            if self._journal is not None:
                self._journal.append(lines)
        self._checkpointer.written()

    def _keep_in_place(self) -> None:
        """Make sure that the files still lie where a later start looks for them."""
        if identity(self._path) != self._file:
            self._put_back()
        elif self._journal is None or not self._journal.is_in_place:
            self._renew_journal()

    def _renew_journal(self) -> None:
        """Write the journal anew from the database; without one, a later step tries again."""
        if self._journal is not None:
            self._journal.close()
            self._journal = None
        if time.monotonic() < self._renew_from_s:
            return
        with suppress(sqlite3.Error):
            whole, _ = rows.checked(self._db)
            self._journal = new_journal(self._path, whole, self._report)
        if self._journal is None:
            self._renew_from_s = time.monotonic() + RENEW_EVERY_S

    def _put_back(self) -> None:
        """Write the files anew after somebody deleted them; the open ones still have every record.

        Raises:
            StoreError: They cannot be written, or another file has taken their place.
        """
        found = identity(self._path)
        if found not in (None, self._put_as):
            raise StoreError(f"{self._path}: was replaced; stop the table and start it again")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._unlock()
            self._lock = locked(self._path.with_name(LOCK_NAME), "another table")
            if found is None:
                put_back(self._db, self._path)
                self._put_as = identity(self._path)
            db = open_database(self._path)  # there may be no room for the files beside it yet
        except (OSError, sqlite3.Error) as error:
            what = "was deleted and cannot be made anew"
            raise StoreError(f"{self._path}: {what}: {error}") from error
        self._db.close()
        self._log_end.close()
        self._db = db
        self._renew_journal()
        self._file = identity(self._path)
        LOGGER.warning("%s was deleted while it was open; it is written anew", self._path)

    def rewrite(self, change: Callable[[Record], Record], *, erase: bool = False) -> None:
        """Change names in the log.

        Args:
            erase: Also delete the copies of damaged files, and files that a pulled plug cut off.

        Raises:
            StoreError: The log cannot be written.
        """
        with self._writing:
            self._keep_in_place()
            if self._journal is not None:
                self._journal.close()
            kinds = ("games.*damaged-*", "games.*-part") if erase else ()
            copies = (path for kind in kinds for path in self._path.parent.glob(kind))
            try:
                for path in (*map(self._path.with_name, (JOURNAL_NAME, *NAMES)), *copies):
                    path.unlink(missing_ok=True)
                sync(self._path.parent)  # else a plug pulled now could bring a copy back
                rewrite(self._db, change)
            except (OSError, sqlite3.Error) as error:
                self._log_end.cut(error)
                raise StoreError(f"{self._path}: cannot be written: {error}") from error
            finally:
                self._checkpointer.clear()  # a reader may have kept the old names in it
                self._renew_journal()
                with suppress(sqlite3.Error):
                    found, self._derived = compared(self._db, self._path)
                    self._digest = found.digest

    @property
    def has_copy(self) -> bool:
        """Whether the journal has every record, too."""
        return self._journal is not None and self._journal.is_complete

    @property
    def mark(self) -> Mark:
        """The end of the log."""
        return self._digest.mark

    def derived(self, name: str) -> Derived | None:
        """A value kept beside the log that fits its records, or None."""
        return self._derived.get(name)

    def keep(self, name: str, derived: Derived) -> None:
        """Keep a value made from the log; failing to costs only time later."""
        write_derived(self._path.with_name(name), derived)

    def close(self) -> None:
        """Close the files and release the lock; may be called twice.

        A write that hangs in a slow disk keeps them open: closing a database under a running
        statement would crash the process, and what is not on the disk was not acknowledged.
        """
        self._checkpointer.close()
        if not self._writing.acquire(timeout=CLOSE_WITHIN_S):
            LOGGER.warning("%s: a write hangs; the file stays open", self._path)
            return
        try:
            self._db.close()
            self._log_end.close()
            if self._journal is not None:
                self._journal.close()
            self._unlock()
        finally:
            self._writing.release()

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
