"""Picture files and odd arrays in, pixels the eye takes out."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.errors import PictureError
from vision.reading import Pixels

_JPEG = b"\xff\xd8\xff"
_PNG = b"\x89PNG\r\n\x1a\n"


def load_picture(path: str | Path) -> Pixels:
    """Decode a picture file, turned upright as its EXIF data says.

    Returns:
        (H, W, 3) uint8, BGR, whatever depth, colour or transparency the file has.
    Raises:
        PictureError: The file cannot be read, is no picture, or is cut short.
    """
    where = str(path)
    try:
        data = Path(path).read_bytes()
    except IsADirectoryError:
        raise PictureError(f"{where}: expected a picture file, got a folder") from None
    except OSError as error:
        raise PictureError(f"{where}: cannot read the file: {error.strerror}") from error
    if not data:
        raise PictureError(f"{where}: expected a picture, got an empty file")
    if data.startswith(_JPEG) and not _jpeg_is_whole(data):
        raise PictureError(f"{where}: expected a whole JPEG, got one that is cut short")
    if data.startswith(_PNG) and not _png_is_whole(data):
        raise PictureError(f"{where}: expected a whole PNG, got one that is cut short")
    try:
        pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    except cv2.error as error:
        raise PictureError(f"{where}: cannot decode the picture: {error.err}") from error
    if pixels is None:
        raise PictureError(f"{where}: expected a JPEG or PNG picture, got something else")
    return np.asarray(pixels, np.uint8)


def as_pixels(array: NDArray[Any]) -> Pixels:
    """Any picture-like array as (H, W, 3) uint8 BGR: grey, 16 bits, alpha, float 0.0 to 1.0.

    Raises:
        PictureError: It has no pixels, or a shape or type no picture has.
    """
    if array.ndim not in (2, 3) or array.size == 0 or (array.ndim == 3 and array.shape[2] > 4):
        raise PictureError(f"frame: expected (H, W, 3) pixels, got shape {array.shape}")
    if array.dtype == np.uint8:
        plain = array
    elif array.dtype == np.uint16:
        plain = (array >> 8).astype(np.uint8)
    elif array.dtype == np.bool_:
        plain = array.astype(np.uint8) * np.uint8(255)
    elif np.issubdtype(array.dtype, np.floating):
        scaled = np.nan_to_num(array.astype(np.float64), posinf=1.0, neginf=0.0) * 255.0
        plain = np.clip(scaled, 0.0, 255.0).astype(np.uint8)
    else:
        raise PictureError(f"frame: expected uint8 pixels, got {array.dtype}")
    if plain.ndim == 2:
        plain = plain[..., None]
    if plain.shape[2] == 3:
        return np.ascontiguousarray(plain)
    if plain.shape[2] == 4:
        return np.ascontiguousarray(plain[..., :3])
    return np.repeat(plain[..., :1], 3, axis=2)


def _jpeg_is_whole(data: bytes) -> bool:
    """Whether the end marker of the picture itself (not of a thumbnail in it) is there."""
    at = 2
    while at + 4 <= len(data):
        if data[at] != 0xFF:
            return False
        marker = data[at + 1]
        if marker == 0xD9:
            return True
        if marker == 0xFF:
            at += 1
            continue
        if 0xD0 <= marker <= 0xD7 or marker == 0x01:
            at += 2
            continue
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
        if marker == 0xDA:  # compressed data follows, up to a marker that is no restart or stuffing
            while True:
                at = data.find(b"\xff", at)
                if at < 0 or at + 1 >= len(data):
                    return False
                if data[at + 1] == 0 or 0xD0 <= data[at + 1] <= 0xD7:
                    at += 2
                elif data[at + 1] == 0xFF:
                    at += 1
                else:
                    break
    return data[at : at + 2] == b"\xff\xd9"


def _png_is_whole(data: bytes) -> bool:
    """Whether the chunks of a PNG reach its end chunk."""
    at = len(_PNG)
    while at + 12 <= len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        kind = data[at + 4 : at + 8]
        at += 12 + length
        if kind == b"IEND":
            return at <= len(data)
    return False
