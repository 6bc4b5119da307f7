"""Open the event log: check it against its journal, and repair the one that is damaged."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, TypeAlias

from companion.errors import StoreError
from companion.eventlog import rows
from companion.eventlog.comparing import Compared, Digest, compare
from companion.eventlog.derived import NAMES, Derived, read_derived
from companion.eventlog.journal import (
    JOURNAL_NAME,
    Found,
    Journal,
    lines_of,
    read_journal,
    write_journal,
)
from companion.eventlog.pages import rows_in_wal
from companion.eventlog.rows import Row
from companion.eventlog.salvage import SALVAGED_NAME, replace_damaged, salvage, write_salvaged

Report: TypeAlias = Callable[[str], None]
"""Receives a sentence about damage, or about a journal that cannot be written."""


class Opened(NamedTuple):
    """A log that is open to be written.

    Attributes:
        journal: None if it cannot be written: the database is the only copy for now.
        digest: Of the whole log.
        derived: The values kept beside the log that fit it, by their file's name.
        lost: How many records could not be read.
    """

    db: sqlite3.Connection
    journal: Journal | None
    digest: Digest
    derived: dict[str, Derived]
    lost: int = 0


_NO_PLACE_FOR_AN_INDEX = {
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_READONLY_CANTINIT,
    sqlite3.SQLITE_READONLY_DIRECTORY,
    sqlite3.SQLITE_IOERR_SHMSIZE,  # the disk is full
}


_BAD_BLOCK = {sqlite3.SQLITE_IOERR_READ, sqlite3.SQLITE_IOERR_CORRUPTFS}


def connect_to_read(path: Path) -> sqlite3.Connection:
    """Connect to a database and write nothing into it.

    SQLite wants to make an index beside it. Where it cannot, on a disk that is full or read-only,
    a database without steps in its write-ahead log is read as it is.

    Raises:
        sqlite3.Error: It cannot be read.
    """
    address = f"{path.resolve().as_uri()}?mode=ro"
    db = sqlite3.connect(address, uri=True)
    try:
        with rows.closed_on_failure(db):
            db.execute("PRAGMA user_version").fetchall()  # looks for the write-ahead log
    except sqlite3.OperationalError as error:
        steps = path.with_name(f"{path.name}-wal")
        is_whole = not steps.exists() or steps.stat().st_size == 0
        if error.sqlite_errorcode not in _NO_PLACE_FOR_AN_INDEX or not is_whole:
            raise
        db = sqlite3.connect(f"{address}&immutable=1", uri=True)
    return db


def open_to_read(path: Path) -> sqlite3.Connection:
    """Open a log read-only: a reader creates, repairs and deletes nothing.

    Raises:
        StoreError: There is no log, or it cannot be read.
    """
    if not path.is_file():
        raise StoreError(f"{path}: expected saved games, there is no such file")
    try:
        with rows.damage_in_words(), rows.closed_on_failure(db := connect_to_read(path)):
            db.execute("SELECT revision FROM log LIMIT 1").fetchall()
    except sqlite3.Error as error:
        raise StoreError(f"{path}: cannot be read: {error}") from error
    return db


def open_or_salvage(path: Path, report: Report) -> Opened:
    """Open or create a log to write it; the caller holds its lock.

    A damaged file is renamed, and every record that it, its write-ahead log or the journal still
    has goes into a new one.

    Raises:
        StoreError: It cannot be opened though it is whole, or the repaired log cannot be written.
    """
    salvaged = path.with_name(SALVAGED_NAME)
    wal = b""
    with suppress(OSError):
        wal = path.with_name(f"{path.name}-wal").read_bytes()
    if salvaged.exists():  # a power cut came before it replaced the damaged file
        kept_as = replace_damaged(path, salvaged, wal)
        report(f"{path} was damaged; it is kept as {kept_as}")
        wal = b""
    in_wal = {row.revision: row for row in rows_in_wal(wal)}
    db, why = _open_if_whole(path)
    found = Compared(may_go_on=False)
    derived: dict[str, Derived] = {}
    if db is not None:
        with suppress(sqlite3.Error):
            found, derived = compared(db, path)
        if found.may_go_on and found.digest.mark.revision >= max(in_wal, default=0):
            journal = _continued(path, found.size, found.missing, report)
            return Opened(db, journal, found.digest, derived)
    db, journal, lost = _repaired(path, db, why, wal, in_wal, report)
    with suppress(sqlite3.Error):
        found, derived = compared(db, path)
    return Opened(db, journal, found.digest, derived, lost)


def compared(db: sqlite3.Connection, path: Path) -> tuple[Compared, dict[str, Derived]]:
    """Read a whole log; return it with the values kept beside it that fit it.

    Raises:
        sqlite3.Error: The database cannot be read.
    """
    kept = {name: read_derived(path.with_name(name)) for name in NAMES}
    revisions = {each.mark.revision for each in kept.values() if each is not None}
    found = compare(db, path.with_name(JOURNAL_NAME), revisions)
    return found, {name: each for name, each in kept.items() if each and each.mark in found.marks}


def _repaired(
    path: Path,
    db: sqlite3.Connection | None,
    why: str,
    wal: bytes,
    in_wal: Mapping[int, Row],
    report: Report,
) -> tuple[sqlite3.Connection, Journal | None, int]:
    """The log with every record that any file still has, its journal, and how many are lost.

    Args:
        db: The database if SQLite can read it; else `why` says what is wrong with it.
        wal: The write-ahead log as it was found, and `in_wal` its rows.
    """
    salvaged = path.with_name(SALVAGED_NAME)
    journal = read_journal(path.with_name(JOURNAL_NAME))
    if db is not None:
        whole, spoilt = rows.checked(db)
        if any(whole[each] != journal.rows[each] for each in whole.keys() & journal.rows):
            _set_journal_aside(path, "is of another log", report)
            journal = Found({}, 0, 0)
        missing = (in_wal.keys() | journal.rows.keys()) - whole.keys()
        if not missing and not spoilt:
            return db, _open_journal(path, journal, whole, report), 0
        db.close()
        why = f"{len(missing | spoilt)} records are missing or damaged"
    found = salvage(path, in_wal.values(), journal.rows)
    write_salvaged(path, salvaged, found.rows)
    kept_as = replace_damaged(path, salvaged, wal)
    report(
        f"{path} was damaged ({why}); it is kept as {kept_as} and {len(found.rows)} records were "
        f"taken over, {found.from_journal} of them from {JOURNAL_NAME}; {found.lost} are lost"
    )
    db, why = _open_if_whole(path)
    if db is None:
        raise StoreError(f"{path}: cannot be made anew: {why}")
    whole = {row.revision: row for row in found.rows}
    with rows.closed_on_failure(db):
        return db, _open_journal(path, journal, whole, report), found.lost


def _open_if_whole(path: Path) -> tuple[sqlite3.Connection | None, str]:
    """The database, or None and what is wrong with it.

    Raises:
        StoreError: It cannot be opened for another reason than damage.
    """
    is_writable = all(os.access(each, os.W_OK) for each in path.parent.glob(f"{path.name}*"))
    try:
        return open_database(path), ""
    except sqlite3.DatabaseError as error:
        is_read_only = "readonly" in str(error) and not is_writable
        is_damage = rows.is_damage(error) or "readonly" in str(error)
        if is_read_only or not (is_damage or _is_a_bad_block(error, path)):
            what = "written" if is_read_only else "opened"
            raise StoreError(f"{path}: cannot be {what}: {error}") from error
        return None, str(error)


def _is_a_bad_block(error: sqlite3.DatabaseError, path: Path) -> bool:
    """Whether the disk cannot read a place of the database or its log, but the journal."""
    if getattr(error, "sqlite_errorcode", 0) not in _BAD_BLOCK:
        return False
    journal = read_journal(path.with_name(JOURNAL_NAME))
    return bool(journal.rows) and not journal.spoilt


def open_database(path: Path) -> sqlite3.Connection:
    """Open or create the database of a log, in the newest schema.

    Raises:
        StoreError: A newer version made it.
        sqlite3.DatabaseError: It is damaged or cannot be written.
    """
    db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    with rows.closed_on_failure(db), rows.damage_in_words():
        _prepare(db, path)
    return db


def _prepare(db: sqlite3.Connection, path: Path) -> None:
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
        raise StoreError(f"{path}: made by a newer version (schema {version}, known {known})")
    if not rows.has_newest_schema(db):
        raise sqlite3.DatabaseError("malformed: its table has other columns")


def _open_journal(
    path: Path, found: Found, whole: Mapping[int, Row], report: Report
) -> Journal | None:
    """The journal with every row of the database, or None if it cannot be written."""
    if found.spoilt:
        _set_journal_aside(path, f"was damaged in {found.spoilt} places", report)
    tail = [whole[each] for each in sorted(whole.keys() - found.rows.keys())]
    is_behind = not tail or tail[0].revision > max(found.rows, default=0)
    if found.spoilt or not found.rows or not is_behind:
        return new_journal(path, whole, report)
    return _continued(path, found.size, lines_of(tail), report)


def new_journal(path: Path, whole: Mapping[int, Row], report: Report) -> Journal | None:
    """Write a log's journal anew and open it; None if it cannot be written.

    Args:
        whole: Every whole row of the database, by revision.
    """
    journal = path.with_name(JOURNAL_NAME)
    try:
        size = write_journal(journal, (whole[each] for each in sorted(whole)))
    except OSError as error:
        report(_unwritable(journal, error))
        return None
    return _continued(path, size, b"", report)


def _continued(path: Path, size: int, missing: bytes, report: Report) -> Journal | None:
    name = path.with_name(JOURNAL_NAME)
    try:
        journal = Journal(name, size)
    except OSError as error:
        report(_unwritable(name, error))
        return None
    journal.append(missing)
    return journal


def _unwritable(journal: Path, error: OSError) -> str:
    return f"{journal} cannot be written: {error.strerror}; games are saved without a second copy"


def _set_journal_aside(path: Path, why: str, report: Report) -> None:
    journal = path.with_name(JOURNAL_NAME)
    number = 1
    while (aside := journal.with_suffix(f".journal-damaged-{number}")).exists():
        number += 1
    with suppress(OSError):
        journal.rename(aside)
    report(f"{journal} {why}; it is kept as {aside.name}")
