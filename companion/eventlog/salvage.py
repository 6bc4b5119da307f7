"""Recover the readable records of a damaged event log."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path

from companion.errors import StoreError
from companion.eventlog import rows
from companion.eventlog.record import DAMAGED, Record

SALVAGED_NAME = "games.salvaged"
"""The recovered file, complete and synced to disk, until it replaces the damaged one."""


def write_salvaged(path: Path, salvaged: Path) -> None:
    """Write every readable record of a damaged file into a new file.

    The new file gets its name once it is complete. The damaged one stays unchanged.

    Raises:
        StoreError: The new file cannot be written.
    """
    part = salvaged.with_suffix(".part")
    try:
        _unlink(part)
        records = readable_records(path)
        with closing(sqlite3.connect(part, isolation_level=None)) as db:
            # no write-ahead log: a full disk could lose the pages that closing has to move
            db.execute("PRAGMA journal_mode=DELETE")
            db.execute("PRAGMA synchronous=FULL")
            rows.migrate(db, 0)
            rows.insert(db, records)
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
            f"{path}: damaged, and what can be read cannot be saved: {error}"
        ) from error


def replace_damaged(path: Path, salvaged: Path, why: str) -> str:
    """Set the damaged file aside and put the salvaged one in its place.

    A call that was interrupted by a power cut is completed by the next one.

    Args:
        why: The damage, in words.

    Returns:
        A sentence that describes the replacement.

    Raises:
        StoreError: The files cannot be renamed.
    """
    number = 1
    while (aside := path.with_suffix(f".damaged-{number}")).exists():
        if path.exists() and aside.samefile(path):
            break
        number += 1
    if not path.exists() and number > 1:  # an interrupted call renamed it
        aside = path.with_suffix(f".damaged-{number - 1}")
    try:
        if path.exists() and not aside.exists():
            try:
                aside.hardlink_to(path)
            except OSError:  # a file system without links
                path.rename(aside)
        log = path.with_name(f"{path.name}-wal")
        if log.exists():  # it may hold newer records, and the new file has a log of its own
            log.rename(aside.with_name(f"{aside.name}-wal"))
        path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
        _sync(salvaged.parent)
        salvaged.replace(path)
        _sync(salvaged.parent)
        with closing(sqlite3.connect(path)) as db:
            (count,) = db.execute("SELECT count(*) FROM log").fetchone()
    except (OSError, sqlite3.Error) as error:
        raise StoreError(f"{path}: damaged, and cannot be set aside: {error}") from error
    return (
        f"{path} was damaged ({why}); it is kept as {aside.name} and {count} records"
        " were taken over"
    )


def readable_records(path: Path) -> list[Record]:
    """The records of a damaged file that can be read from its beginning or from its end.

    The running game needs the newest records, so a bad block among the old ones must not cost
    them. A record of kind DAMAGED stands at the end of each gap and stops the game it falls into.
    """
    found: dict[int, Record] = {}
    for order in ("ASC", "DESC"):
        with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as db:
            for record in rows.read(db, order):
                found[record.revision] = record  # one by one: an error ends the loop later
    with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as db:
        # a failing row takes the row fetched before it along: request the neighbours of each gap
        _fill(db, found, 1, 1)
        for revision in sorted(found):
            for step in (1, -1):
                _fill(db, found, revision + step, step)
    for revision in sorted(found):
        if revision > 1 and revision - 1 not in found:
            found[revision - 1] = Record(revision - 1, DAMAGED, {})
    return [found[revision] for revision in sorted(found)]


def _fill(db: sqlite3.Connection, found: dict[int, Record], revision: int, step: int) -> None:
    """Add readable records one by one, from a revision onwards."""
    while revision > 0 and revision not in found:
        try:
            record = next(rows.read(db, after=revision - 1, last=revision), None)
        except sqlite3.Error:
            return
        if record is None:
            return
        found[revision] = record
        revision += step


def _unlink(path: Path) -> None:
    """Delete a database and the logs beside it."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _sync(directory: Path) -> None:
    """Return once the directory's entries are on the disk."""
    handle = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
