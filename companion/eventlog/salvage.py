"""Recover the readable records of a damaged event log."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import NamedTuple

from companion.errors import StoreError
from companion.eventlog.pages import rows_in_database
from companion.eventlog.place import sync
from companion.eventlog.record import DAMAGED, Record
from companion.eventlog.rows import Row, insert, migrate, read_rows, record_of, row_of

SALVAGED_NAME = "games.salvaged"
"""The recovered file, complete and synced to disk, until it replaces the damaged one."""


def write_salvaged(path: Path, salvaged: Path, rows: Sequence[Row]) -> None:
    """Write rows into a new file beside a damaged one.

    The new file gets its name once it is complete. The damaged one stays unchanged.

    Raises:
        StoreError: The new file cannot be written.
    """
    part = salvaged.with_suffix(".part")
    try:
        _unlink(part)
        with closing(sqlite3.connect(part, isolation_level=None)) as db:
            # no write-ahead log: a full disk could lose the pages that closing has to move
            db.execute("PRAGMA journal_mode=DELETE")
            db.execute("PRAGMA synchronous=FULL")
            migrate(db, 0)
            insert(db, rows)
        with closing(sqlite3.connect(part)) as db:
            (verdict,) = db.execute("PRAGMA quick_check(1)").fetchone()
            (count,) = db.execute("SELECT count(*) FROM log").fetchone()
        if verdict != "ok" or count != len(rows):
            raise sqlite3.DatabaseError(f"{count} of {len(rows)} records: {verdict}")
        sync(part)
        part.rename(salvaged)
        sync(salvaged.parent)
    except (OSError, sqlite3.Error) as error:
        with suppress(OSError):
            _unlink(part)
        raise StoreError(
            f"{path}: damaged, and what can be read cannot be saved: {error}"
        ) from error


def replace_damaged(path: Path, salvaged: Path, wal: bytes) -> str:
    """Set the damaged file aside and put the salvaged one in its place.

    A call that was interrupted by a power cut is completed by the next one.

    Args:
        wal: The write-ahead log as it was found, to be kept beside the damaged file.

    Returns:
        The name of the file that was set aside.

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
        log, kept_log = (path.with_name(f"{each.name}-wal") for each in (path, aside))
        if wal and not kept_log.exists():
            kept_log.write_bytes(wal)
        elif log.exists() and log.stat().st_size and not kept_log.exists():
            log.rename(kept_log)  # the disk cannot read it
        log.unlink(missing_ok=True)  # the new file has a log of its own
        path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
        sync(salvaged.parent)
        salvaged.replace(path)
        sync(salvaged.parent)
    except OSError as error:
        raise StoreError(f"{path}: damaged, and cannot be set aside: {error}") from error
    return aside.name


class Salvaged(NamedTuple):
    """The readable rows of a damaged log.

    Attributes:
        rows: Every whole row by revision. A row of kind DAMAGED stands at the end of each gap and
            stops the game it falls into.
        from_journal: How many of them only the journal had.
        lost: How many revisions between the first and the last have no whole row.
    """

    rows: list[Row]
    from_journal: int
    lost: int


def salvage(path: Path, wal: Iterable[Row], journal: Mapping[int, Row]) -> Salvaged:
    """Read every row that is whole, wherever it is: pages, write-ahead log or journal.

    The running game needs the newest records, so a bad block among the old ones must not cost
    them. Where two places hold one revision, they agree or the journal is right: a rolled back
    step may have left its row on a page, but is never in the journal.

    Args:
        wal: The rows of the write-ahead log, read before SQLite could shorten it.
        journal: The rows of the journal by revision.
    """
    whole: dict[int, Row] = {}
    marked: dict[int, Row] = {}
    for row, is_whole in _readable(path):
        (whole if is_whole else marked).setdefault(row.revision, row)
    for row in (*wal, *_raw(path)):
        whole.setdefault(row.revision, row)
    from_journal = len(journal.keys() - whole.keys())
    whole |= journal
    last = max(whole, default=0)
    while last + 1 in marked:
        last += 1
    lost = last - len(whole)
    for revision, row in marked.items():
        # the kind shows where games begin and end; a revision beyond the last is damage itself
        if revision not in whole and revision <= last:
            whole[revision] = row_of(record_of(row, is_whole=False))
    for revision in sorted(whole):
        if revision > 1 and revision - 1 not in whole:
            whole[revision - 1] = row_of(Record(revision - 1, DAMAGED, {}))
    return Salvaged([whole[revision] for revision in sorted(whole)], from_journal, lost)


def _readable(path: Path) -> list[tuple[Row, bool]]:
    """The rows that SQLite can still read, from the beginning, the end and around each gap."""
    found: dict[int, tuple[Row, bool]] = {}
    for order in ("ASC", "DESC"):
        with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as db:
            for row, is_whole in read_rows(db, order):
                found[row.revision] = row, is_whole  # kept at once: an error may end the loop
    with suppress(sqlite3.Error), closing(sqlite3.connect(path)) as db:
        # an error on a row also loses the row before it: read the neighbours of each gap again
        _fill(db, found, 1, 1)
        for revision in sorted(found):
            for step in (1, -1):
                _fill(db, found, revision + step, step)
    return [pair for pair in found.values() if pair[0].revision > 0]


def _fill(
    db: sqlite3.Connection, found: dict[int, tuple[Row, bool]], revision: int, step: int
) -> None:
    """Add readable rows one by one, from a revision onwards."""
    while revision > 0 and revision not in found:
        try:
            pair = next(read_rows(db, after=revision - 1, last=revision), None)
        except sqlite3.Error:
            return
        if pair is None:
            return
        found[revision] = pair
        revision += step


def _raw(path: Path) -> Iterator[Row]:
    """Whole rows from the bytes of the file."""
    with suppress(OSError):
        yield from rows_in_database(path.read_bytes())


def _unlink(path: Path) -> None:
    """Delete a database and the logs beside it."""
    for suffix in ("", "-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
