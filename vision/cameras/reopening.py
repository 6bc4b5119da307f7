"""Opens a camera again, or one that is not there yet."""

from __future__ import annotations

from typing import Protocol

from vision.cameras.camera import Camera
from vision.cameras.devices import FIRST_PICTURE_S, CameraSilent

HASTY_S = 1.5
"""Seconds to wait for the first picture of a webcam that was just plugged in. One that is opened
too early never delivers on that handle, and does so at once on the next."""


class Open(Protocol):
    """Opens a camera by its source, waiting so many seconds for its first picture."""

    def __call__(self, source: str, patience_s: float, /) -> Camera: ...


class Reopener:
    """Opens a camera by the name it had when it was last open.

    Every second silent opening gets the full time, so that a slow camera comes back too.
    """

    def __init__(self, open_named: Open, source: str) -> None:
        """Prepare to open `source`; `auto` becomes the camera that was found."""
        self._open, self._source, self._is_hasty = open_named, source, True

    def __call__(self) -> Camera:
        """Open the camera.

        Raises:
            CameraUnavailable: It is not there or delivers no picture.
        """
        try:
            camera = self._open(self._source, HASTY_S if self._is_hasty else FIRST_PICTURE_S)
        except CameraSilent:
            self._is_hasty = not self._is_hasty
            raise
        self._source, self._is_hasty = camera.source, True
        return camera
