"""The frames whose pictures people may still ask for, and a picture as JPEG."""

from __future__ import annotations

from collections import OrderedDict

import cv2
import numpy as np

from vision.reading import Frame

KEPT = 4
"""Frames that are kept besides the newest."""

JPEG_QUALITY = 82
JPEG_WIDTH_PX = 1280
"""Larger pictures are shown smaller; coordinates are shares of `size_wh` to a browser anyway."""


class FrameBuffer:
    """The newest frame, and the last few that readings were made from."""

    def __init__(self) -> None:
        self._newest: Frame | None = None
        self._by_number: OrderedDict[int, Frame] = OrderedDict()

    def keep_newest(self, frame: Frame) -> None:
        """Replace the newest frame."""
        self._newest = frame

    def keep(self, frame: Frame) -> None:
        """Keep a frame beyond the next one."""
        self._by_number[frame.number] = frame
        self._by_number.move_to_end(frame.number)
        while len(self._by_number) > KEPT:
            self._by_number.popitem(last=False)

    def get(self, number: int | None = None) -> Frame | None:
        """Give a frame by number, or the newest; None where it is not kept (any more)."""
        newest = self._newest
        if number is None or (newest is not None and newest.number == number):
            return newest
        return self._by_number.get(number)


def as_jpeg(frame: Frame) -> bytes:
    """A frame's picture as JPEG, a large one smaller."""
    pixels = frame.pixels
    height, width = pixels.shape[:2]
    if width > JPEG_WIDTH_PX:
        size_wh = (JPEG_WIDTH_PX, max(1, round(height * JPEG_WIDTH_PX / width)))
        pixels = np.asarray(cv2.resize(pixels, size_wh, interpolation=cv2.INTER_AREA), np.uint8)
    data = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, JPEG_QUALITY])[1]
    return data.tobytes()
