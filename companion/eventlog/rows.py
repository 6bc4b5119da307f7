"""Rows of the event log in SQLite: schema, insert and tolerant reading."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator
from typing import Any

from companion.eventlog.record import DAMAGED, LOST, SPARED, Record

MIGRATIONS = (
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


def migrate(db: sqlite3.Connection, version: int) -> None:
    """Bring a file of an older schema version to the newest."""
    for number, script in enumerate(MIGRATIONS[version:], version + 1):
        db.execute("BEGIN IMMEDIATE")
        db.execute(script)
        db.execute(f"PRAGMA user_version={number}")
        db.execute("COMMIT")


def insert(db: sqlite3.Connection, records: Iterable[Record]) -> None:
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


def read(
    db: sqlite3.Connection, order: str = "ASC", *, after: int = 0, last: int | None = None
) -> Iterator[Record]:
    """Records in the order of their revisions; an unreadable one is of kind DAMAGED or LOST."""
    for revision, at, kind, data in read_raw(db, order, after=after, last=last):
        if data is not None:
            yield Record(revision, kind, data, at)
        else:
            is_lost = kind in ("undone", "struck", "kept")
            yield Record(revision, LOST if is_lost else kind if kind in SPARED else DAMAGED, {}, at)


def read_raw(
    db: sqlite3.Connection, order: str = "ASC", *, after: int = 0, last: int | None = None
) -> Iterator[tuple[int, str, str, dict[str, Any] | None]]:
    """Revision, time, kind and data of every row; None for data that cannot be read."""
    # SQLite pages have no checksum: one invalid byte costs one character, not the whole log
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


def is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether an error means a damaged file, not a lock, missing rights or a full disk."""
    if isinstance(error, sqlite3.OperationalError):
        return "malformed" in str(error)
    return True
