"""Change a player's name in the log, or take it out (pure, but for the database).

The log is append-only in all other respects. A new record could only hide a name: it would stay in
the files.
"""

from __future__ import annotations

import json
import logging
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from companion.eventlog import rows
from companion.eventlog.names import clean_name, name_key
from companion.eventlog.record import Record

LOGGER = logging.getLogger(__name__)

NAMING = ("seated", "started", "imported")
"""Kinds of records that hold names."""

READER_MS = 200
"""Milliseconds that others may take to read on while what is written anew leaves no trace."""


def with_name(record: Record, old: str, new: str | None) -> Record:
    """A record in which a player, who has left, has another name in the games.

    A seat they once had gets their number for a name: with a name that somebody at the table has
    it would be taken for the seat of that one.

    Args:
        old: The name; capitals do not matter.
        new: The other name; None for the player's number, as for players without a name.
    """
    key, data = name_key(clean_name(old)), dict(record.data)

    def renamed(name: object, number: int, new: str | None = new) -> object:
        # imported lines hold names as their file had them
        if not isinstance(name, str) or name_key(clean_name(name)) != key:
            return name
        return f"#{number + 1}" if new is None else new

    if record.kind == "seated":
        data["name"] = renamed(data.get("name"), data.get("seat", 0), None)
    elif record.kind == "started" and isinstance(data.get("names"), list):
        data["names"] = [renamed(name, n) for n, name in enumerate(data["names"])]
    elif record.kind == "imported" and isinstance(data.get("lines"), list):
        data["lines"] = [_line_with_names(line, renamed) for line in data["lines"]]
    return replace(record, data=data)


def _line_with_names(line: object, renamed: Callable[[object, int], object]) -> object:
    try:
        found: Any = json.loads(line) if isinstance(line, str) else None
    except ValueError:
        return line
    if not isinstance(found, dict) or not isinstance(found.get("names"), list):
        return line
    names = [renamed(name, n) for n, name in enumerate(found["names"])]
    if names == found["names"]:
        return line
    return json.dumps(found | {"names": names}, ensure_ascii=False)


def rewrite(db: sqlite3.Connection, change: Callable[[Record], Record]) -> None:
    """Change the records that hold names, all or none.

    What they were is overwritten in the file: free pages are filled with zeros.

    Raises:
        sqlite3.Error: They cannot be written; none of them is.
    """
    db.execute("PRAGMA secure_delete=ON")
    changed: list[tuple[str, int, int]] = []
    for row, is_whole in rows.read_rows(db):
        if not is_whole or row.kind.decode() not in NAMING:
            continue
        before = rows.record_of(row)
        after = change(before)
        if dict(before.data) != dict(after.data):
            made = rows.row_of(after)
            changed.append((made.data.decode(), made.checksum(), made.revision))
    with db:  # commits, or rolls back
        db.execute("BEGIN IMMEDIATE")
        db.executemany("UPDATE log SET data = ?, checksum = ? WHERE revision = ?", changed)
    # a reader is not waited for: the table is, and the write-ahead log is emptied later
    (patience_ms,) = db.execute("PRAGMA busy_timeout").fetchone()
    db.execute(f"PRAGMA busy_timeout={READER_MS}")
    for step in ("PRAGMA wal_checkpoint(TRUNCATE)", "VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"):
        # the names are changed by now; the first step takes the old ones off a disk that is too
        # full for the second
        try:
            db.execute(step)
        except sqlite3.Error:
            LOGGER.warning("saved games: %s failed", step, exc_info=True)
    db.execute(f"PRAGMA busy_timeout={patience_ms}")
