"""Rows of the event log in SQLite: schema, checksums and tolerant reading."""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from companion.eventlog.record import DAMAGED, LOST, MOVES, SPARED, Record

MIGRATIONS = (
    """
    CREATE TABLE log (
        revision INTEGER PRIMARY KEY,
        at TEXT NOT NULL,
        kind TEXT NOT NULL,
        data TEXT NOT NULL
    ) STRICT
    """,
    "ALTER TABLE log ADD COLUMN checksum INTEGER",
)
"""Applied in order; their count is the file's user_version. Never change one, add one."""

COLUMNS = ("revision", "at", "kind", "data", "checksum")

_LARGEST = 2**63 - 1
"""SQLite's largest integer."""

_NO_DAMAGE = ("locked", "busy", "full", "readonly", "unable to open", "I/O error", "interrupted")
"""Words of SQLite's messages about a file that may be whole."""

_SAID = {
    sqlite3.SQLITE_IOERR_SHMSIZE: "database or disk is full",
    sqlite3.SQLITE_READONLY_ROLLBACK: "a write was interrupted; a start of the table repairs it",
}
"""What is said in place of SQLite's own words."""


class Row(NamedTuple):
    """A record as both files store it.

    Attributes:
        at: UTF-8, as are `kind` and `data`, which is a JSON object.
    """

    revision: int
    at: bytes
    kind: bytes
    data: bytes

    def packed(self) -> bytes:
        """The row as one line without its end; JSON and times contain no tabs or line breaks."""
        return b"%d\t%b\t%b\t%b" % self

    def values(self) -> tuple[int, str, str, str, int]:
        """The row in the order of the columns."""
        at, kind, data = self.at.decode(), self.kind.decode(), self.data.decode()
        return self.revision, at, kind, data, self.checksum()

    def checksum(self) -> int:
        """CRC-32 of the packed row: its number is part of it."""
        return zlib.crc32(self.packed())


def row_of(record: Record) -> Row:
    """The row that stores a record."""
    data = json.dumps(dict(record.data), ensure_ascii=False).encode("utf-8", "replace")
    return Row(record.revision, record.at.encode(), record.kind.encode(), data)


def record_of(row: Row, *, is_whole: bool = True) -> Record:
    """The record that a row stores; one that cannot be read is of kind DAMAGED or LOST."""
    at, kind = (text.decode("utf-8", "replace") for text in (row.at, row.kind))
    data: Any = None
    if is_whole:
        try:
            data = json.loads(row.data)
        except (ValueError, RecursionError):
            data = None
    if isinstance(data, dict):
        return Record(row.revision, kind, data, at)
    is_lost = kind in ("undone", "struck", "kept")
    return Record(row.revision, LOST if is_lost else kind if kind in SPARED else DAMAGED, {}, at)


def migrate(db: sqlite3.Connection, version: int) -> None:
    """Bring a file of an older schema version to the newest."""
    db.create_function("checksum_of", 4, _checksum_of)
    for number, script in enumerate(MIGRATIONS[version:], version + 1):
        db.execute("BEGIN IMMEDIATE")
        db.execute(script)
        if number == 2:  # rows without a checksum get one: they were read until now
            db.execute(
                "UPDATE log SET checksum = checksum_of(revision, CAST(at AS BLOB),"
                " CAST(kind AS BLOB), CAST(data AS BLOB))"
            )
        db.execute(f"PRAGMA user_version={number}")
        db.execute("COMMIT")


def _checksum_of(revision: int, at: bytes, kind: bytes, data: bytes) -> int:
    return Row(revision, at, kind, data).checksum()


def has_newest_schema(db: sqlite3.Connection) -> bool:
    """Whether the table is that of the newest version, whatever the file's header says."""
    return tuple(name for _, name, *_ in db.execute("PRAGMA table_info(log)")) == COLUMNS


@contextmanager
def closed_on_failure(db: sqlite3.Connection) -> Iterator[None]:
    """Close a database that cannot be made ready."""
    try:
        yield
    except BaseException:
        db.close()
        raise


@contextmanager
def damage_in_words() -> Iterator[None]:
    """Raise what SQLite says of a damaged file as its own error, even if it is not UTF-8.

    Raises:
        sqlite3.DatabaseError: Its message quotes damaged text.
        sqlite3.OperationalError: The disk is full: a reader, too, needs room for its -shm file. Or
            a write was cut off, as that of a first start: a reader may not undo its half.
    """
    try:
        yield
    except UnicodeDecodeError as error:
        raise sqlite3.DatabaseError(f"malformed: {error}") from error
    except sqlite3.OperationalError as error:
        if (said := _SAID.get(getattr(error, "sqlite_errorcode", 0))) is None:
            raise
        raise sqlite3.OperationalError(said) from error


def insert(db: sqlite3.Connection, rows: Iterable[Row]) -> None:
    """Add rows, all or none."""
    with db:  # commits, or rolls back
        db.execute("BEGIN IMMEDIATE")
        db.executemany("INSERT INTO log VALUES (?, ?, ?, ?, ?)", [row.values() for row in rows])


def read(db: sqlite3.Connection, *, after: int = 0, moves: bool = True) -> Iterator[Record]:
    """Records in the order of their revisions; an unreadable one is of kind DAMAGED or LOST."""
    for row, is_whole in read_rows(db, after=after, moves=moves):
        yield record_of(row, is_whole=is_whole)


def read_rows(
    db: sqlite3.Connection,
    order: str = "ASC",
    *,
    after: int = 0,
    last: int = _LARGEST,
    moves: bool = True,
) -> Iterator[tuple[Row, bool]]:
    """Every row, with or without moves, and whether it is as it was written.

    A row of a file without checksums counts as whole.
    """
    where = "revision > ? AND revision <= ?" + ("" if moves else f" AND kind NOT IN {MOVES}")
    texts = ", ".join(f"CAST({name} AS BLOB)" for name in COLUMNS[1:4])
    with damage_in_words():
        has_checksum = has_newest_schema(db)
        checksum = COLUMNS[4] if has_checksum else "NULL"
        columns = f"revision, {texts}, {checksum}"
        query = f"SELECT {columns} FROM log WHERE {where} ORDER BY revision {order}"
        found = db.execute(query, (after, last))
    for revision, at, kind, data, checksum in found:
        row = Row(revision, at or b"", kind or b"", data or b"")
        yield row, not has_checksum or checksum == row.checksum()


def read_lines(db: sqlite3.Connection) -> Iterator[tuple[int, bytes]]:
    """Every revision and its row as the line that the journal has for it, fast."""
    yield from db.execute(
        "SELECT revision, CAST(printf('%08x', checksum) || char(9) || revision || char(9) || at"
        " || char(9) || kind || char(9) || data || char(10) AS BLOB) FROM log ORDER BY revision"
    )


def is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether an error means a damaged file, not a lock, missing rights or a full disk."""
    if isinstance(error, sqlite3.OperationalError):
        return not any(word in str(error) for word in _NO_DAMAGE)
    return True


def is_full(error: BaseException | None) -> bool:
    """Whether an error means a disk without room."""
    return getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_FULL


def checked(db: sqlite3.Connection) -> tuple[dict[int, Row], set[int]]:
    """Return the rows with the right checksum, and the revisions of the others."""
    whole: dict[int, Row] = {}
    spoilt: set[int] = set()
    for row, is_whole in read_rows(db):
        if is_whole:
            whole[row.revision] = row
        else:
            spoilt.add(row.revision)
    return whole, spoilt
