"""Opens a camera again, or one that is not there yet."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from companion.errors import CameraUnavailable
from vision.cameras.camera import Camera
from vision.cameras.devices import FIRST_PICTURE_S, CameraSilent

LOGGER = logging.getLogger(__name__)

HASTY_S = 1.5
"""Seconds to wait for the first picture of a webcam that was just plugged in. One that is opened
too early never delivers on that handle, and does so at once on the next."""


Open = Callable[[str, float], Camera]
"""Opens a camera by its source, waiting so many seconds for its first picture."""


class Reopener:
    """Opens a camera by the name it had when it was last open.

    Every second silent opening gets the full time, so that a slow camera comes back too. While the
    camera is away, one that was plugged in since may take its place, and so may one whose place it
    took. Another that was there all the time may not: the camera of a laptop looks at no tray.
    """

    def __init__(
        self,
        open_named: Open,
        source: str,
        *,
        webcams: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        """Prepare to open `source`; `auto` becomes the camera that was found.

        Args:
            webcams: Lists those which may take its place; none may by default.
        """
        self._open, self._source, self._is_hasty = open_named, source, True
        self._webcams, self._known = webcams, frozenset(webcams())
        self._is_first = True  # attempt since it was open
        self._replaced: list[str] = []  # cameras whose places the present one took, the first first

    def __call__(self) -> Camera:
        """Open the camera.

        Raises:
            CameraUnavailable: It is not there or delivers no picture.
        """
        if self._is_first:
            self._known, self._is_first = self._known | {*self._webcams()}, False
        try:
            camera = self._open_it_or_a_new_one(HASTY_S if self._is_hasty else FIRST_PICTURE_S)
        except CameraSilent:
            self._is_hasty = not self._is_hasty
            raise
        line = [*self._replaced, self._source, camera.source]
        self._replaced = line[: line.index(camera.source)]
        self._source, self._is_hasty = camera.source, True
        self._known, self._is_first = frozenset(self._webcams()), True
        return camera

    def _open_it_or_a_new_one(self, patience_s: float) -> Camera:
        try:
            return self._open(self._source, patience_s)
        except CameraSilent:
            raise
        except CameraUnavailable as away:
            reason = away
            for path in self._webcams():
                if path not in self._known or path in self._replaced:
                    try:
                        camera = self._open(path, patience_s)
                    except CameraSilent as silent:
                        reason = silent  # it gets the full time when it is tried again
                    except CameraUnavailable:
                        continue
                    else:
                        LOGGER.warning("camera %s is away; %s takes its place", self._source, path)
                        return camera
            raise reason from away
