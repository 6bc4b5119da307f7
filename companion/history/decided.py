"""Verdicts on finished games, luck or choices, as their reviews found them.

A review takes seconds, so its verdict is kept in a text file, one line for each game: what was
played (`Result.played`) and the verdict. Lines are only appended; of two lines of one game the
later one counts, and a damaged line costs its own game only.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from companion.wire.files import read_text

LOGGER = logging.getLogger(__name__)

FILE_NAME = "decided.txt"
"""Backups copy it, unlike `games.*`, which is made anew from the log."""

MOST_BYTES = 4 * 1024 * 1024
"""Of the file: 100,000 games have 2.5 MB."""


class Decided(StrEnum):
    """The larger part of the winner's lead."""

    LUCK = "luck"
    CHOICES = "choices"
    CLOSE = "close"
    """Too close to tell, a shared victory, or somebody left or ended the game early."""


_LINE = re.compile(rf"([0-9a-f]{{16}}) ({'|'.join(Decided)})$")
"""The end of a line: one before it may have been cut off."""


class Verdicts:
    """The verdicts of a table; one that cannot be kept is known until the process ends."""

    def __init__(self, directory: Path | None = None) -> None:
        """Read the file in a table's data directory; None for a table without one."""
        self._path = None if directory is None else directory / FILE_NAME
        self._known: dict[str, Decided] = {}
        if self._path is None:
            return
        try:
            text = read_text(self._path, MOST_BYTES)
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            LOGGER.warning("%s cannot be read: %s", self._path, error)
            return
        found = map(_LINE.search, text.splitlines())
        self._known = {each[1]: Decided(each[2]) for each in found if each}

    @property
    def known(self) -> Mapping[str, Decided]:
        """Verdicts by `Result.played`."""
        return self._known

    def add(self, played: str, decided: Decided) -> None:
        """Keep a verdict."""
        if self._known.get(played) is decided:
            return
        self._known = self._known | {played: decided}
        if self._path is None:
            return
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.write(f"{played} {decided}\n")
        except OSError as error:
            LOGGER.warning("%s cannot be written: %s", self._path, error.strerror)
