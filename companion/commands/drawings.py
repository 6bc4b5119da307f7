"""Drawings of readings; only earlier drawings are written over."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from companion.commands.console import complain
from companion.errors import PictureError
from companion.wire.files import open_plain

if TYPE_CHECKING:
    from vision.reading import Pixels, Reading

_COMMENT = b"drawn by dice-companion"
_DRAWN = b"\xff\xd8\xff\xfe" + (len(_COMMENT) + 2).to_bytes(2, "big") + _COMMENT
"""The first bytes of a drawing: a JPEG with this comment. No other file is written over."""


def write_drawing(wanted: Path, picture: Pixels, taken: Collection[str] = ()) -> Path:
    """Write a picture into a JPEG, with a number in its name if the wanted name is taken.

    Args:
        picture: (H, W, 3) uint8, BGR.
        taken: Real paths of further files that are not written over.
    Returns:
        Where it is.
    Raises:
        PictureError: It cannot be written.
    """
    import cv2

    target, number = wanted, 2
    while os.path.realpath(target) in taken or not _may_be_written(target):
        target = wanted.with_stem(f"{wanted.stem}_{number}")
        number += 1
    try:
        done, data = cv2.imencode(".jpg", picture)
    except cv2.error:  # newer ones than OpenCV 4.6 return False instead
        done = False
    try:
        if not done:
            raise OSError(0, "the picture is too large for a JPEG")
        target.write_bytes(_DRAWN + data.tobytes()[2:])
    except OSError as error:
        raise PictureError(f"{target}: cannot write: {error.strerror}") from error
    return target


class Drawings:
    """A directory for drawings of readings, as `read` and `bench read` do with `--annotate`.

    Attributes:
        failed: Whether a drawing could not be written.
    """

    def __init__(self, directory: Path, pictures: Iterable[str | Path] = ()) -> None:
        """Make the directory.

        Args:
            directory: Made if it is missing.
            pictures: Files still to read; none of them is written over.
        Raises:
            PictureError: The directory cannot be made.
        """
        self.failed = False
        self._directory = directory
        self._taken = {os.path.realpath(each) for each in pictures}
        try:
            directory.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            text = f"{directory}: cannot make the folder: {error.strerror}"
            raise PictureError(text) from error

    def add(self, name: str, pixels: Pixels, reading: Reading) -> None:
        """Draw a reading into a JPEG; say so on standard error if it cannot be written.

        Args:
            name: Of the drawing, without a suffix; a number is added to a name that is taken.
            pixels: (H, W, 3) uint8, BGR.
        """
        from vision.overlay import draw_reading

        drawn = draw_reading(pixels, reading)
        try:
            target = write_drawing(self._directory / f"{name}.jpg", drawn, self._taken)
        except PictureError as error:
            self.failed = True
            complain(error)
            return
        self._taken.add(os.path.realpath(target))


def _may_be_written(target: Path) -> bool:
    """Whether nothing has this name, or a drawing of an earlier run."""
    if not os.path.lexists(target):
        return True
    try:
        with open_plain(target) as file:
            return file.read(len(_DRAWN)) == _DRAWN
    except OSError:
        return False
