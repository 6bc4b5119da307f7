"""Take the steps of a failed write out of SQLite's write-ahead log.

A commit whose sync fails is refused, but its frames lie whole in the file: the next start would
find them there and take the step over. SQLite itself has not counted them. How many it counts
stands in the index beside the log: https://www.sqlite.org/walformat.html
"""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path

from companion.eventlog.pages import FRAME_HEADER, WAL_HEADER

LOGGER = logging.getLogger(__name__)

_HEADER = 48
"""Bytes of the index's header, of which there are two copies."""

_VERSION = 3007000


class LogEnd:
    """The end of an open database's write-ahead log, as SQLite counts it."""

    def __init__(self, path: Path) -> None:
        """Name a database that this process has open."""
        self._log, self._index = (path.with_name(f"{path.name}{end}") for end in ("-wal", "-shm"))
        self._opened: int | None = None

    def cut(self, error: Exception) -> None:
        """Cut off what follows the last commit that counts; never raises.

        The index stays open: closing it would drop SQLite's locks on it
        (sqlite.org/howtocorrupt.html, "Posix advisory locks").

        Args:
            error: Of the write that failed.
        """
        if "locked" in str(error):
            return  # somebody's own program is writing
        try:
            if self._opened is None:
                self._opened = os.open(self._index, os.O_RDONLY | os.O_CLOEXEC)
            both = os.pread(self._opened, 2 * _HEADER, 0)
            header = both[:_HEADER]
            if both != 2 * header or _number(header[:4]) != _VERSION:
                return
            page, frames = _number(header[14:16]), _number(header[16:20])
            end = WAL_HEADER + frames * (FRAME_HEADER + (65536 if page == 1 else page))
            if self._log.stat().st_size > end:
                os.truncate(self._log, end)
        except OSError as trouble:
            LOGGER.warning("%s: a refused step cannot be cut off: %s", self._log, trouble.strerror)

    def close(self) -> None:
        """Close the index, after the database; may be called twice."""
        if self._opened is not None:
            os.close(self._opened)
            self._opened = None


def _number(data: bytes) -> int:
    return int.from_bytes(data, sys.byteorder)
