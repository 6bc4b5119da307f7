"""Photos of the confirmed rolls, kept on this machine only.

They are small files in the data directory. New ones replace the oldest, and the host can delete
them. A failure to save one does not affect the game.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from threading import Lock

LOGGER = logging.getLogger(__name__)

DIRECTORY = "pictures"

_NAME = re.compile(r"game-(\d{1,6})-turn-(\d{1,6})-(\d{1,12})\.jpg")


@dataclass(frozen=True, slots=True)
class KeptPicture:
    """The picture of one roll.

    Attributes:
        revision: Revision of the record that confirmed the roll.
        at: When it was saved, as ISO 8601 text.
        size: Bytes.
    """

    revision: int
    game: int
    turn: int
    at: str
    size: int


class Pictures:
    """The saved pictures; thread-safe."""

    def __init__(self, data_dir: Path, most: int) -> None:
        """Use `data_dir/pictures`, with at most `most` pictures after a save or `prune`."""
        self._directory = data_dir / DIRECTORY
        self._most = most
        self._mutex = Lock()
        self._has_complained = False

    def keep(self, revision: int, game: int, turn: int, jpeg: bytes) -> None:
        """Save the newest roll's picture and delete the oldest beyond the limit; never raises."""
        name = f"game-{game:04}-turn-{turn:03}-{revision:06}.jpg"
        with self._mutex:
            unfinished = self._directory / f"{name}.part"
            try:
                self._directory.mkdir(parents=True, exist_ok=True)
                self._drop_after(revision)
                unfinished.write_bytes(jpeg)
                os.replace(unfinished, self._directory / name)
                self._drop_oldest()
                self._has_complained = False
            except OSError as error:
                if not self._has_complained:
                    LOGGER.warning("pictures: cannot save the picture of a roll: %s", error)
                self._has_complained = True
                with suppress(OSError):
                    unfinished.unlink()

    def prune(self) -> None:
        """Delete the oldest beyond the limit, which may be another one now; never raises."""
        with self._mutex:
            try:
                self._drop_unfinished()
                self._drop_oldest()
            except OSError as error:
                LOGGER.warning("pictures: cannot delete the oldest: %s", error)

    def _drop_oldest(self) -> None:
        found = self._found()
        for *_, path in found[: max(0, len(found) - self._most)]:
            path.unlink(missing_ok=True)

    def _drop_after(self, revision: int) -> None:
        """Delete pictures of games that were removed: revisions only grow in one log."""
        for number, *_, path in self._found():
            if number > revision:
                path.unlink(missing_ok=True)

    def _drop_unfinished(self) -> None:
        """Delete what a pulled plug cut off: it would lie there for ever."""
        for path in self._directory.glob("*.part"):
            path.unlink(missing_ok=True)

    def all(self) -> list[KeptPicture]:
        """All saved pictures, newest first."""
        with self._mutex:
            kept = []
            for revision, game, turn, path in reversed(self._found()):
                try:
                    stat = path.stat()
                except OSError:
                    continue  # deleted since the listing
                if not stat.st_size:
                    continue  # a plug was pulled before it was on the disk
                at = (
                    datetime.fromtimestamp(stat.st_mtime).astimezone().isoformat(timespec="seconds")
                )
                kept.append(KeptPicture(revision, game, turn, at, stat.st_size))
            return kept

    def jpeg(self, revision: int) -> bytes | None:
        """The picture of a roll by its revision, or None."""
        with self._mutex:
            try:
                found = (path for number, *_, path in self._found() if number == revision)
                return next((path.read_bytes() for path in found), None)
            except OSError:
                return None

    def delete(self, revision: int | None = None) -> int:
        """Delete one picture, or all without a revision; return how many.

        Raises:
            OSError: A picture cannot be deleted.
        """
        with self._mutex:
            gone = [path for number, *_, path in self._found() if revision in (None, number)]
            for path in gone:
                path.unlink(missing_ok=True)
            return len(gone)

    def delete_games(self, numbers: Collection[int]) -> None:
        """Delete the pictures of some games.

        Raises:
            OSError: A picture cannot be deleted.
        """
        with self._mutex:
            self._drop_unfinished()
            for _, game, _, path in self._found():
                if game in numbers:
                    path.unlink(missing_ok=True)

    def _found(self) -> list[tuple[int, int, int, Path]]:
        """Revision, game, turn and file of each picture, oldest first."""
        try:
            paths = list(self._directory.iterdir())
        except OSError:
            return []
        matches = ((_NAME.fullmatch(path.name), path) for path in paths)
        return sorted((int(m[3]), int(m[1]), int(m[2]), path) for m, path in matches if m)
