"""Readings drawn into a directory, as `read` and `bench read` do with `--annotate`."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from companion.errors import PictureError
from companion.wire.files import open_plain

if TYPE_CHECKING:
    from vision.reading import Pixels, Reading

_COMMENT = b"drawn by dice-companion read"
_DRAWN = b"\xff\xd8\xff\xfe" + (len(_COMMENT) + 2).to_bytes(2, "big") + _COMMENT
"""The first bytes of a drawing: a JPEG with this comment. No other file is written over."""


class Drawings:
    """A directory for drawings of readings; only earlier drawings in it are written over.

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
        import cv2

        from vision.overlay import draw_reading

        target = self._directory / f"{name}.jpg"
        number = 2
        while os.path.realpath(target) in self._taken or not _may_be_written(target):
            target = self._directory / f"{name}_{number}.jpg"
            number += 1
        done, data = cv2.imencode(".jpg", draw_reading(pixels, reading))
        try:
            if not done:
                raise OSError(0, "the picture is too large for a JPEG")
            target.write_bytes(_DRAWN + data.tobytes()[2:])
        except OSError as error:
            self.failed = True
            text = PictureError(f"{target}: cannot write: {error.strerror}")
            click.echo(f"dice-companion: {text}", err=True)
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
