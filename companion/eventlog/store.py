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
from typing import IO, Any, NamedTuple

from companion.errors import StoreError
from companion.eventlog.record import DAMAGED, LOST, SPARED, Record

LOGGER = logging.getLogger(__name__)

FILE_NAME = "games.sqlite3"
LOCK_NAME = "games.lock"
SALVAGED_NAME = "games.salvaged"
"""What was saved of a damaged file, whole and on the disk, until it stands in its place."""

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
        salvaged = self._path.with_name(SALVAGED_NAME)
        if salvaged.exists():  # the plug was pulled before it stood in its place
            self._put_in_place(salvaged, "damaged")
        try:
            return self._open()
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                what = "written" if "readonly" in str(error) else "opened"
                raise StoreError(f"{self._path}: cannot be {what}: {error}") from error
            self._salvage_to(salvaged)
            self._put_in_place(salvaged, str(error))
        try:
            return self._open()
        except sqlite3.DatabaseError as error:
            raise StoreError(f"{self._path}: cannot be made anew: {error}") from error

    def _open(self) -> sqlite3.Connection:
        db = sqlite3.connect(self._path, isolation_level=None, check_same_thread=False)
        try:
            db.execute("PRAGMA journal_mode=WAL")
            db.execute("PRAGMA synchronous=FULL")
            (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
            if verdict != "ok":
                raise sqlite3.DatabaseError(f"malformed: {verdict}")
            (version,) = db.execute("PRAGMA user_version").fetchone()
            _migrate(db, version)
            # an unwritable file must say so now: to begin, and not to write, is free to everybody
            db.execute("BEGIN IMMEDIATE")
            db.execute(f"PRAGMA user_version={version}")
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

    def _salvage_to(self, salvaged: Path) -> None:
        """Write what can be read of the damaged file into another, which has its name only once it
        is whole; the damaged one stays as it is."""
        part = salvaged.with_suffix(".part")
        try:
            _unlink(part)
            records = _salvage(self._path)
            with closing(sqlite3.connect(part, isolation_level=None)) as db:
                # no log beside it: what closing would have to move could be lost on a full disk
                db.execute("PRAGMA journal_mode=DELETE")
                db.execute("PRAGMA synchronous=FULL")
                _migrate(db, 0)
                _insert(db, records)
            with closing(sqlite3.connect(part)) as db:
                (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
                (count,) = db.execute("SELECT count(*) FROM log").fetchone()
            if verdict != "ok" or count != len(records):
                raise sqlite3.DatabaseError(f"{count} of {len(records)} records: {verdict}")
            with part.open("rb") as written:
                os.fsync(written.fileno())
            part.rename(salvaged)
            _sync(salvaged.parent)
        except (OSError, sqlite3.Error) as error:
            with suppress(OSError):
                _unlink(part)
            raise StoreError(
                f"{self._path}: damaged, and what can be read cannot be saved: {error}"
            ) from error

    def _put_in_place(self, salvaged: Path, why: str) -> None:
        """Set the damaged file aside and put what was saved in its place; taken up again where it
        was interrupted."""
        number = 1
        while (aside := self._path.with_suffix(f".damaged-{number}")).exists():
            if self._path.exists() and aside.samefile(self._path):
                break
            number += 1
        if not self._path.exists() and number > 1:  # it was moved there, not linked
            aside = self._path.with_suffix(f".damaged-{number - 1}")
        try:
            if self._path.exists() and not aside.exists():
                try:
                    aside.hardlink_to(self._path)
                except OSError:  # a file system without links
                    self._path.rename(aside)
            log = self._path.with_name(f"{FILE_NAME}-wal")
            if log.exists():  # newer records may be found in it by hand; the next file has its own
                log.rename(aside.with_name(f"{aside.name}-wal"))
            self._path.with_name(f"{FILE_NAME}-shm").unlink(missing_ok=True)
            _sync(salvaged.parent)
            salvaged.replace(self._path)
            _sync(salvaged.parent)
            with closing(sqlite3.connect(self._path)) as db:
                (count,) = db.execute("SELECT count(*) FROM log").fetchone()
        except (OSError, sqlite3.Error) as error:
            raise StoreError(f"{self._path}: damaged, and cannot be set aside: {error}") from error
        self.notice = (
            f"{self._path} was damaged ({why}); it is kept as {aside.name} and {count} records"
            " were taken over"
        )
        LOGGER.warning("%s", self.notice)

    def load(self, after: int = 0) -> Iterable[Record]:
        """Every record after a revision, oldest first.

        One whose data cannot be read has none, and the kind "damaged" unless its own still says
        something.

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
        try:
            _insert(self._db, records)
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
    path, in_use = directory / FILE_NAME, is_in_use(directory)
    if not os.path.isfile(path):  # pathlib's raises below a directory that may not be entered
        return Examined(None, None, in_use)
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as db:
            (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
            records = sum(data is not None for *_, data in _raw_rows(db))
            (count,) = db.execute("SELECT count(*) FROM log").fetchone()
    except sqlite3.DatabaseError as error:
        if not _is_damage(error):
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


def _migrate(db: sqlite3.Connection, version: int) -> None:
    """Bring a file of an older version up to this one's."""
    for number, script in enumerate(_MIGRATIONS[version:], version + 1):
        db.execute("BEGIN IMMEDIATE")
        db.execute(script)
        db.execute(f"PRAGMA user_version={number}")
        db.execute("COMMIT")


def _insert(db: sqlite3.Connection, records: Iterable[Record]) -> None:
    """Write records, all or none."""
    rows = [
        (r.revision, r.at, r.kind, json.dumps(dict(r.data), ensure_ascii=False)) for r in records
    ]
    db.execute("BEGIN IMMEDIATE")
    try:
        db.executemany("INSERT INTO log VALUES (?, ?, ?, ?)", rows)
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise


def _unlink(path: Path) -> None:
    """Take a database away, and the logs beside it."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _sync(directory: Path) -> None:
    """Return once the names in a directory are on the disk."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _rows(
    db: sqlite3.Connection, order: str = "ASC", *, after: int = 0, last: int | None = None
) -> Iterator[Record]:
    for revision, at, kind, data in _raw_rows(db, order, after=after, last=last):
        if data is not None:
            yield Record(revision, kind, data, at)
        else:
            is_lost = kind in ("undone", "struck", "kept")
            yield Record(revision, LOST if is_lost else kind if kind in SPARED else DAMAGED, {}, at)


def _raw_rows(
    db: sqlite3.Connection, order: str = "ASC", *, after: int = 0, last: int | None = None
) -> Iterator[tuple[int, str, str, dict[str, Any] | None]]:
    """Revision, time, kind and data of every row; None for data that cannot be read."""
    # pages have no checksum: a letter that is none costs that letter, not the evening
    db.text_factory = lambda raw: raw.decode("utf-8", "replace")
    where = "revision > ?" if last is None else "revision > ? AND revision <= ?"
    query = f"SELECT revision, at, kind, data FROM log WHERE {where} ORDER BY revision {order}"
    for revision, at, kind, text in db.execute(query, (after, last)[: where.count("?")]):
        try:
            data = json.loads(text)
        except (ValueError, TypeError, RecursionError):
            data = None
        is_readable = isinstance(data, dict) and isinstance(kind, str)
        yield revision, str(at), str(kind), data if is_readable else None


def _fill(db: sqlite3.Connection, found: dict[int, Record], revision: int, step: int) -> None:
    """Add the records that can be read one by one from a revision on."""
    while revision > 0 and revision not in found:
        try:
            record = next(_rows(db, after=revision - 1, last=revision), None)
        except sqlite3.Error:
            return
        if record is None:
            return
        found[revision] = record
        revision += step


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
    with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as db:
        # a row that fails takes the one fetched before it along: the next to a hole are asked for
        _fill(db, found, 1, 1)
        for revision in sorted(found):
            for step in (1, -1):
                _fill(db, found, revision + step, step)
    for revision in sorted(found):
        if revision > 1 and revision - 1 not in found:
            found[revision - 1] = Record(revision - 1, DAMAGED, {})
    return [found[revision] for revision in sorted(found)]
