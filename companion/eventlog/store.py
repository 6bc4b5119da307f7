"""The event log on disk: append-only, in SQLite and in a journal, synced before acknowledged.

WAL with synchronous=FULL: a commit survives a power cut as far as the card honours sync
(https://www.sqlite.org/pragma.html#pragma_synchronous).
"""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import IO

from companion.errors import StoreError
from companion.eventlog import rows
from companion.eventlog.checkpoint import Checkpointer
from companion.eventlog.comparing import Compared, Digest, compare
from companion.eventlog.derived import NAMES, Derived, Mark, read_derived, write_derived
from companion.eventlog.journal import (
    JOURNAL_NAME,
    Found,
    Journal,
    lines_of,
    read_journal,
    write_journal,
)
from companion.eventlog.pages import rows_in_wal
from companion.eventlog.place import identity, locked, put_back
from companion.eventlog.record import Record
from companion.eventlog.rewriting import rewrite
from companion.eventlog.rows import Row
from companion.eventlog.salvage import SALVAGED_NAME, replace_damaged, salvage, write_salvaged

LOGGER = logging.getLogger(__name__)

FILE_NAME = "games.sqlite3"
LOCK_NAME = "games.lock"

CLOSE_WITHIN_S = 2.0
"""Seconds that `close` waits for a running write; then it leaves the file open."""


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
        self._writing = threading.Lock()
        self._digest = Digest()
        self._derived: dict[str, Derived] = {}
        self.notice: str | None = None
        self.lost = 0
        self._path = directory / FILE_NAME
        self._checkpointer = Checkpointer(self._path)
        if not is_writer:
            self._db = self._open_to_read()
            return
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StoreError(
                f"{directory}: cannot make the data directory: {error.strerror}"
            ) from error
        self._lock = locked(directory / LOCK_NAME, "another table")
        try:
            self._db = self._open_or_salvage()
        except BaseException:
            self._unlock()
            raise
        self._file = identity(self._path)
        self._checkpointer.written()  # the last run may have ended before it was quiet

    def _open_to_read(self) -> sqlite3.Connection:
        """Open the log read-only: a reader creates, repairs and deletes nothing."""
        if not self._path.is_file():
            raise StoreError(f"{self._path}: expected saved games, there is no such file")
        try:
            db = sqlite3.connect(f"{self._path.resolve().as_uri()}?mode=ro", uri=True)
            db.execute("SELECT revision FROM log LIMIT 1").fetchall()
        except sqlite3.Error as error:
            raise StoreError(f"{self._path}: cannot be read: {error}") from error
        return db

    def _open_or_salvage(self) -> sqlite3.Connection:
        salvaged = self._path.with_name(SALVAGED_NAME)
        wal = b""
        with suppress(OSError):
            wal = self._path.with_name(f"{self._path.name}-wal").read_bytes()
        if salvaged.exists():  # a power cut came before it replaced the damaged file
            kept_as = replace_damaged(self._path, salvaged, wal)
            self._report(f"was damaged; it is kept as {kept_as}")
            wal = b""
        in_wal = {row.revision: row for row in rows_in_wal(wal)}
        db, why = self._open_if_whole()
        if db is not None:
            found = self._compared(db)
            if found.may_go_on and found.digest.mark.revision >= max(in_wal, default=0):
                self._continue_journal(found.size, found.missing)
                return db
        db = self._repaired(db, why, wal, in_wal)
        self._compared(db)
        return db

    def _compared(self, db: sqlite3.Connection) -> Compared:
        """Read the whole log; the values kept beside it that fit it are at hand then."""
        kept = {name: read_derived(self._path.with_name(name)) for name in NAMES}
        revisions = {each.mark.revision for each in kept.values() if each is not None}
        try:
            found = compare(db, self._path.with_name(JOURNAL_NAME), revisions)
        except sqlite3.Error:
            return Compared(is_whole=False)
        self._digest = found.digest
        self._derived = {
            name: each for name, each in kept.items() if each and each.mark in found.marks
        }
        return found

    def _repaired(
        self,
        db: sqlite3.Connection | None,
        why: str,
        wal: bytes,
        in_wal: Mapping[int, Row],
    ) -> sqlite3.Connection:
        """The log with every record that any file still has.

        Args:
            db: The database if SQLite can read it; else `why` says what is wrong with it.
            wal: The write-ahead log as it was found, and `in_wal` its rows.
        """
        salvaged = self._path.with_name(SALVAGED_NAME)
        journal = read_journal(self._path.with_name(JOURNAL_NAME))
        if db is not None:
            whole, spoilt = rows.checked(db)
            if any(whole[each] != journal.rows[each] for each in whole.keys() & journal.rows):
                journal = self._set_journal_aside("is of another log")
            missing = (in_wal.keys() | journal.rows.keys()) - whole.keys()
            if not missing and not spoilt:
                self._open_journal(journal, whole)
                return db
            db.close()
            why = f"{len(missing | spoilt)} records are missing or damaged"
        found = salvage(self._path, in_wal.values(), journal.rows)
        write_salvaged(self._path, salvaged, found.rows)
        kept_as = replace_damaged(self._path, salvaged, wal)
        self.lost = found.lost
        self._report(
            f"was damaged ({why}); it is kept as {kept_as} and {len(found.rows)} records were "
            f"taken over, {found.from_journal} of them from {JOURNAL_NAME}; {found.lost} are lost"
        )
        db, why = self._open_if_whole()
        if db is None:
            raise StoreError(f"{self._path}: cannot be made anew: {why}")
        self._open_journal(journal, {row.revision: row for row in found.rows})
        return db

    def _report(self, what: str, path: Path | None = None) -> None:
        said = f"{path or self._path} {what}"
        self.notice = f"{self.notice}; {said}" if self.notice else said
        LOGGER.warning("%s", said)

    def _open_if_whole(self) -> tuple[sqlite3.Connection | None, str]:
        """The database, or None and what is wrong with it.

        Raises:
            StoreError: It cannot be opened for another reason than damage.
        """
        files = self._path.parent.glob(f"{FILE_NAME}*")
        is_writable = all(os.access(each, os.W_OK) for each in files)
        try:
            return self._open(), ""
        except sqlite3.DatabaseError as error:
            is_read_only = "readonly" in str(error) and not is_writable
            if is_read_only or not (rows.is_damage(error) or "readonly" in str(error)):
                what = "written" if is_read_only else "opened"
                raise StoreError(f"{self._path}: cannot be {what}: {error}") from error
            return None, str(error)

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=FULL")
            (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise sqlite3.DatabaseError(f"malformed: {verdict}")
            (version,) = db.execute("PRAGMA user_version").fetchone()
            known = len(rows.MIGRATIONS)
            if version != known and rows.has_newest_schema(db):  # the header alone is damaged
                db.execute(f"PRAGMA user_version={known}")
                version = known
            rows.migrate(db, version)
            # a write that is rolled back: an unwritable file must fail now, not in the game
            db.execute("BEGIN IMMEDIATE")
            db.execute(f"PRAGMA user_version={version}")
            db.execute("ROLLBACK")
            if version > known:
                raise StoreError(
                    f"{self._path}: made by a newer version (schema {version}, known {known})"
                )
        except BaseException:
            db.close()
            raise
        return db

    def _open_journal(self, found: Found, whole: Mapping[int, Row]) -> None:
        """Open the journal once it holds every row of the database.

        Without room for it the table goes on with the database alone.
        """
        path = self._path.with_name(JOURNAL_NAME)
        if found.spoilt:
            self._set_journal_aside(f"was damaged in {found.spoilt} places")
        tail = [whole[each] for each in sorted(whole.keys() - found.rows.keys())]
        is_behind = not tail or tail[0].revision > max(found.rows, default=0)
        size = found.size
        if found.spoilt or not found.rows or not is_behind:
            try:
                size = write_journal(path, (whole[each] for each in sorted(whole)))
            except OSError as error:
                self._report(f"cannot be written: {error.strerror}", path)
                return
            tail = []
        self._continue_journal(size, lines_of(tail))

    def _continue_journal(self, size: int, missing: bytes) -> None:
        path = self._path.with_name(JOURNAL_NAME)
        try:
            self._journal = Journal(path, size)
        except OSError as error:
            self._report(f"cannot be written: {error.strerror}", path)
            return
        self._journal.append(missing)

    def _set_journal_aside(self, why: str) -> Found:
        """Rename the journal; return the content of the one there is then."""
        path = self._path.with_name(JOURNAL_NAME)
        number = 1
        while (aside := path.with_suffix(f".journal-damaged-{number}")).exists():
            number += 1
        with suppress(OSError):
            path.rename(aside)
        self._report(f"{why}; it is kept as {aside.name}", path)
        return Found({}, 0, 0)

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

    def history(self, after: int = 0) -> Iterator[Record]:
        """Every record after a revision as `load` gives it, read while steps are stored.

        It has a connection of its own: a failed write takes back what is read on the same one.

        Raises:
            StoreError: The file cannot be read.
        """
        try:
            with closing(self._open_to_read()) as db:
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
        elif self._journal is not None and not self._journal.is_in_place:
            self._journal.close()
            self._open_journal(Found({}, 0, 0), rows.checked(self._db)[0])

    def _put_back(self) -> None:
        """Write the files anew after somebody deleted them; the open ones still have every record.

        Raises:
            StoreError: They cannot be written, or another file has taken their place.
        """
        if self._path.exists():
            raise StoreError(f"{self._path}: was replaced; stop the table and start it again")
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            self._unlock()
            self._lock = locked(self._path.with_name(LOCK_NAME), "another table")
            put_back(self._db, self._path)
            db = self._open()
        except (OSError, sqlite3.Error) as error:
            what = "was deleted and cannot be made anew"
            raise StoreError(f"{self._path}: {what}: {error}") from error
        self._db.close()
        self._db = db
        if self._journal is not None:
            self._journal.close()
        self._open_journal(Found({}, 0, 0), rows.checked(db)[0])
        self._file = identity(self._path)
        LOGGER.warning("%s was deleted while it was open; it is written anew", self._path)

    def rewrite(self, change: Callable[[Record], Record], *, erase: bool = False) -> int:
        """Change names in the log; return how many records changed.

        Args:
            erase: Also delete the copies that were kept of damaged files.

        Raises:
            StoreError: The log cannot be written.
        """
        with self._writing:
            self._keep_in_place()
            if self._journal is not None:
                self._journal.close()
            copies = self._path.parent.glob("games.*damaged-*") if erase else ()
            for path in (*map(self._path.with_name, (JOURNAL_NAME, *NAMES)), *copies):
                path.unlink(missing_ok=True)
            try:
                return rewrite(self._db, change)
            except sqlite3.Error as error:
                raise StoreError(f"{self._path}: cannot be written: {error}") from error
            finally:
                self._open_journal(Found({}, 0, 0), rows.checked(self._db)[0])
                self._compared(self._db)

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
            if self._journal is not None:
                self._journal.close()
            self._unlock()
        finally:
            self._writing.release()

    def _unlock(self) -> None:
        if self._lock is not None:
            self._lock.close()
