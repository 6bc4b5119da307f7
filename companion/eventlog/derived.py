"""Values made from the log and kept beside it, so that a start need not read all of it again.

Such a file is never believed against the records. It counts only if its checksum is right, the same
version of the rules and the reducer made it, and the log up to its mark is byte for byte the one
that it was made from. Otherwise it is ignored, and made again from the records.
"""

from __future__ import annotations

import hashlib
import json
import logging
import zlib
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

LOGGER = logging.getLogger(__name__)

SNAPSHOT = "games.snapshot"
"""The file of the table before the newest game."""

RESULTS = "games.results"
"""The file of the results of all games."""

NAMES = (SNAPSHOT, RESULTS)
"""All such files."""

_PACKAGE = Path(__file__).resolve().parent.parent
_SOURCES = (
    "engine/*.py",
    "eventlog/*.py",
    "history/*.py",
    "audio/settings.py",
    "session/memory.py",
)
"""The code that turns records into values."""


class Mark(NamedTuple):
    """A place in the log.

    Attributes:
        revision: Of the last record before it.
        digest: BLAKE2b of all records up to there, as the journal's lines.
    """

    revision: int
    digest: str


class Derived(NamedTuple):
    """A value made from the records up to a mark."""

    mark: Mark
    value: Any


@cache
def code_version() -> str:
    """A digest of the code that makes such values: any change of it makes them anew."""
    digest = hashlib.blake2b(digest_size=16)
    for pattern in _SOURCES:
        for path in sorted(_PACKAGE.glob(pattern)):
            digest.update(path.read_bytes())
    return digest.hexdigest()


def write_derived(path: Path, derived: Derived) -> None:
    """Write a value in the place of the one there is; failing to costs only time later.

    It is not synced: what a power cut leaves of it has a wrong checksum.
    """
    kept = {"version": code_version(), "mark": derived.mark, "value": derived.value}
    data = json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode()
    part = path.with_name(f"{path.name}-part")
    try:
        part.write_bytes(b"%08x\n%b" % (zlib.crc32(data), data))
        part.replace(path)
    except OSError as error:
        LOGGER.info("%s: cannot be written: %s", path, error.strerror)
        with suppress(OSError):
            part.unlink()  # steps need the room that is left


def read_derived(path: Path) -> Derived | None:
    """The value of a file; None if it is missing, damaged or of another version."""
    try:
        digits, _, data = path.read_bytes().partition(b"\n")
        if int(digits, 16) != zlib.crc32(data):
            return None
        kept = json.loads(data)
        if kept["version"] != code_version():
            return None
        revision, digest = kept["mark"]
        return Derived(Mark(int(revision), str(digest)), kept["value"])
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return None
