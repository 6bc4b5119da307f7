"""Rows found in the bytes of a damaged SQLite file or write-ahead log, without SQLite.

SQLite refuses a file that is short of its last page, and stops reading a write-ahead log at the
first bad frame. The rows on all other pages are still there. Only a row with the right checksum is
taken. The layout of pages, cells and frames: https://www.sqlite.org/fileformat2.html
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from companion.eventlog.rows import Row

WAL_HEADER, FRAME_HEADER = 32, 24
_LEAF, _INTERIOR = 0x0D, 0x05
_SIZES = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
"""Bytes of an integer by its serial type."""


def rows_in_database(data: bytes) -> Iterator[Row]:
    """Every whole row on the pages of a database file."""
    size = _page_size(int.from_bytes(data[16:18]))
    for start in range(0, len(data), size):
        yield from _rows_on_page(data[start : start + size], 100 if start == 0 else 0)


def rows_in_wal(data: bytes) -> Iterator[Row]:
    """Every whole row on the frames of a write-ahead log, up to its last commit.

    Frames of an earlier use of the file carry another salt and are passed over. So is one that is
    cut short: a full disk stopped its write, and its step was refused.
    """
    size = _page_size(int.from_bytes(data[8:12]))
    step = FRAME_HEADER + size
    starts = range(WAL_HEADER, len(data) - step + 1, step)
    salts = Counter(data[at + 8 : at + 16] for at in starts)
    salt = data[16:24] if data[16:24] in salts else max(salts, key=salts.__getitem__, default=b"")
    current = [at for at in starts if data[at + 8 : at + 16] == salt]
    commits = [at for at in current if int.from_bytes(data[at + 4 : at + 8])]
    for start in current:
        if commits and start <= commits[-1]:
            page = data[start + FRAME_HEADER : start + step]
            is_first = int.from_bytes(data[start : start + 4]) == 1
            yield from _rows_on_page(page, 100 if is_first else 0)


def _page_size(stored: int) -> int:
    """The page size a header names, or SQLite's usual one."""
    stored = 65536 if stored == 1 else stored
    return stored if 512 <= stored <= 65536 and stored & (stored - 1) == 0 else 4096


def _rows_on_page(page: bytes, begin: int) -> Iterator[Row]:
    if not any(page) or page[begin : begin + 1] == bytes([_INTERIOR]):
        return
    rows = []
    if page[begin : begin + 1] == bytes([_LEAF]):
        count = int.from_bytes(page[begin + 3 : begin + 5])
        first = begin + 8
        for n in range(min(count, len(page) // 4)):
            at = int.from_bytes(page[first + 2 * n : first + 2 * n + 2])
            row = _row_at(page, at)
            if row is None:
                break
            rows.append(row)
        else:
            yield from rows
            return
    # the page's list of cells is spoilt: try every place
    for at in range(begin, len(page) - 8):
        row = _row_at(page, at)
        if row is not None:
            yield row


def _row_at(page: bytes, at: int) -> Row | None:
    """The row of a cell that lies whole on a page, if its checksum is right."""
    try:
        length, at = _varint(page, at)
        revision, at = _varint(page, at)
        if not 8 <= length <= len(page) - at:
            return None
        header, types_at = _varint(page, at)
        if not 6 <= header <= 24:
            return None
        value_at = at + header
        types = []
        while types_at < at + header:
            each, types_at = _varint(page, types_at)
            types.append(each)
        if len(types) != 5 or types[0] != 0 or types[4] not in _SIZES:
            return None
        texts = []
        for each in types[1:4]:
            if each < 13 or each % 2 == 0:
                return None
            size = (each - 13) // 2
            texts.append(page[value_at : value_at + size])
            value_at += size
        checksum = int.from_bytes(page[value_at : value_at + _SIZES[types[4]]], signed=True)
    except IndexError:
        return None
    row = Row(revision, *texts)
    return row if row.checksum() == checksum else None


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for n in range(8):
        byte = data[at + n]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + n + 1
    return value << 8 | data[at + 8], at + 9
