"""The second copy of the event log: a text file to which each record is appended as one line.

A line is the CRC-32 of the row in hexadecimal digits, a tab, and the packed row. The file shares
no page with the database, so damage to one of the two is made good from the other.
"""

from __future__ import annotations

import logging
import os
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from companion.eventlog.place import identity
from companion.eventlog.rows import Row
from companion.wire.files import write_whole

LOGGER = logging.getLogger(__name__)

JOURNAL_NAME = "games.journal"


@dataclass(frozen=True, slots=True)
class Found:
    """The content of a journal.

    Attributes:
        rows: Every whole line, by revision.
        spoilt: Lines that are not whole, the last one not counted when it has no end: a power
            cut leaves such a line, and its record was never acknowledged.
        size: Bytes up to the end of the last whole line.
    """

    rows: Mapping[int, Row]
    spoilt: int
    size: int


def read_journal(path: Path) -> Found:
    """Read every whole line of a journal; a missing or unreadable file has none.

    Two different lines of one revision are both spoilt: nothing tells which is right.
    """
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return Found({}, 0, 0)
    except OSError as error:
        LOGGER.warning("%s cannot be read: %s", path, error.strerror)
        return Found({}, 1, 0)
    *lines, rest = data.split(b"\n")
    rows: dict[int, Row] = {}
    spoilt, twice = 0, set()
    for line in lines:
        row = _parsed(line)
        if row is None:
            spoilt += 1
        elif rows.setdefault(row.revision, row) != row:
            twice.add(row.revision)
    for revision in twice:
        del rows[revision]
    return Found(rows, spoilt + len(twice), len(data) - len(rest))


def _parsed(line: bytes) -> Row | None:
    digits, _, packed = line.partition(b"\t")
    try:
        if len(digits) != 8 or int(digits, 16) != zlib.crc32(packed):
            return None
        revision, at, kind, data = packed.split(b"\t")
        return Row(int(revision), at, kind, data)
    except ValueError:
        return None


def is_whole(line: bytes) -> bool:
    """Whether the checksum at the beginning of a line is that of the rest."""
    return b"%08x" % zlib.crc32(line[9:-1]) == line[:8]


def lines_of(rows: Iterable[Row]) -> bytes:
    """The lines of rows."""
    return b"".join(b"%08x\t%b\n" % (row.checksum(), row.packed()) for row in rows)


class Journal:
    """An open journal; only the process that holds the log's lock has one.

    A failure to write costs no step: the database has it, and the lines are written with the
    next record.
    """

    def __init__(self, path: Path, size: int) -> None:
        """Open a journal to append to it.

        Args:
            size: Bytes that are whole; whatever follows them is cut off.

        Raises:
            OSError: It cannot be written.
        """
        self._path = path
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        self._opened = identity(path)
        self._size = size
        self._waiting = b""
        self._is_faulty = False

    @property
    def is_in_place(self) -> bool:
        """Whether the open file is the one in the directory."""
        return identity(self._path) == self._opened

    @property
    def is_complete(self) -> bool:
        """Whether every line that was appended is on the disk."""
        return not self._waiting

    def append(self, lines: bytes) -> None:
        """Write lines and return once they are on the disk."""
        self._waiting += lines
        if not self._waiting:
            return
        try:
            os.ftruncate(self._file, self._size)
            written = os.pwrite(self._file, self._waiting, self._size)
            if written < len(self._waiting):
                raise OSError(28, "No space left on device")
            os.fdatasync(self._file)
        except OSError as error:
            if not self._is_faulty:
                LOGGER.warning("%s cannot be written: %s", self._path, error.strerror)
            self._is_faulty = True
            return
        self._size += written
        self._waiting, self._is_faulty = b"", False

    def close(self) -> None:
        """Close the file; may be called twice."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


def write_journal(path: Path, rows: Iterable[Row]) -> int:
    """Write a whole journal in the place of the one there is; return its size in bytes.

    Raises:
        OSError: It cannot be written; the one there is stays.
    """
    data = lines_of(rows)
    write_whole(path, data)
    return len(data)
