"""Bring the write-ahead log into the database file while nobody plays.

Between two checkpoints the newest records are in `games.sqlite3-wal` alone. People copy the one
file they know; once the table was quiet for a moment, that copy has everything.
"""

from __future__ import annotations

import logging
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

LOGGER = logging.getLogger(__name__)

QUIET_S = 5.0
"""Seconds without a step after which the log is brought over."""

LET_GO_S = 0.5
"""Seconds that `close` waits for a running checkpoint; SQLite takes no harm from a later end."""


class Checkpointer:
    """Thread that checkpoints a database a while after its last write; started by the first."""

    def __init__(self, path: Path) -> None:
        """Watch a database in WAL mode; nothing runs before `written`."""
        self._path = path
        self._changed = threading.Condition()
        self._is_due = self._is_closed = self._must_clear = False
        self._thread: threading.Thread | None = None

    def written(self) -> None:
        """Note a write; returns at once."""
        with self._changed:
            self._is_due = True
            if self._thread is None and not self._is_closed:
                self._thread = threading.Thread(target=self._run, name="checkpoint", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def clear(self) -> None:
        """Empty the log soon, as it has names that are to be on the disk no more."""
        with self._changed:
            self._must_clear = True
        self.written()

    def close(self) -> None:
        """Stop; may be called twice."""
        with self._changed:
            self._is_closed = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join(LET_GO_S)

    def _run(self) -> None:
        while self._is_quiet_after_writing():
            with self._changed:
                must_clear, self._must_clear = self._must_clear, False
            if not checkpoint(self._path, "TRUNCATE" if must_clear else "PASSIVE"):
                with self._changed:  # a reader was in the way: again after another pause
                    self._is_due = True
                    self._must_clear |= must_clear

    def _is_quiet_after_writing(self) -> bool:
        """Wait until the last write is `QUIET_S` old; False once closed."""
        with self._changed:
            while not self._is_closed:
                has_changed = self._changed.wait(QUIET_S if self._is_due else None)
                if self._is_due and not has_changed:
                    self._is_due = False
                    return True
            return False


def checkpoint(path: Path, mode: str = "PASSIVE") -> bool:
    """Copy what only the write-ahead log has into the database file; return whether all was.

    It delays neither readers nor writers: `PASSIVE` waits for none (sqlite.org/pragma.html,
    "wal_checkpoint"), and the connection is its own. `TRUNCATE` empties the log besides, if nobody
    reads or writes.
    """
    address = f"{path.resolve().as_uri()}?mode=rw"
    try:
        with closing(sqlite3.connect(address, uri=True, timeout=0.0)) as db:
            busy, in_log, copied = db.execute(f"PRAGMA wal_checkpoint({mode})").fetchone()
    except sqlite3.Error as error:
        LOGGER.info("%s: the log was not brought over: %s", path, error)
        return False
    return bool(in_log == copied and not busy)
