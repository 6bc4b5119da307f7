"""Picture files and odd arrays in, pixels the detector takes out."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import simplejpeg
from numpy.typing import NDArray

from companion.errors import PictureError
from companion.wire.files import open_plain
from vision.reading import Frame, Pixels

PICTURE_SUFFIXES = frozenset({".jpg", ".jpeg", ".png"})
"""Ends of the names of files that `load_frame` decodes."""

LARGEST_PX = 25_000_000
"""Pixels of the largest picture that is decoded: with it a reading stays below 300 MB."""

LARGEST_BYTES = 64_000_000
"""Bytes of the largest file that is read; no picture of 25 megapixels comes near it."""

_JPEG = b"\xff\xd8\xff"
_PNG = b"\x89PNG\r\n\x1a\n"
_IHDR_END = len(_PNG) + 8 + 13
_BAND = 32
"""Rows in a band (chosen, not measured)."""


def bands(height: int) -> Iterator[slice]:
    """Yield a picture's rows in bands, for work that would take a lot of memory for all at once."""
    for start in range(0, height, _BAND):
        yield slice(start, min(start + _BAND, height))


def load_picture(path: str | Path) -> Pixels:
    """Decode a picture file; see `load_frame`."""
    return load_frame(path).pixels


def load_frame(path: str | Path) -> Frame:
    """Decode a JPEG or PNG file, turned upright as its EXIF data says.

    Returns:
        A frame of (H, W, 3) uint8, BGR, whatever depth, colour or transparency the file has. A
        JPEG of which the decoder complains is marked as damaged.
    Raises:
        PictureError: The file cannot be read, is no JPEG or PNG, is cut short, or is too large.
    """
    where = str(path)
    data = _content(Path(path), where)
    if data.startswith(_JPEG):
        is_damaged = _check_jpeg(data, where)
    elif data.startswith(_PNG):
        _check_png(data, where)
        is_damaged = False
    else:
        raise PictureError(f"{where}: expected a JPEG or PNG picture, got something else")
    try:
        pixels = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_COLOR)
    except cv2.error as error:
        raise PictureError(f"{where}: cannot decode the picture: {error.err}") from error
    if pixels is None:
        raise PictureError(f"{where}: cannot decode the picture: it is damaged")
    return Frame(np.asarray(pixels, np.uint8), is_damaged=is_damaged)


def _content(path: Path, where: str) -> bytes:
    try:
        with open_plain(path) as file:
            data = file.read(LARGEST_BYTES + 1)
    except IsADirectoryError:
        raise PictureError(f"{where}: expected a picture file, got a folder") from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise PictureError(f"{where}: cannot read the file: {reason}") from error
    if not data:
        raise PictureError(f"{where}: expected a picture, got an empty file")
    if len(data) > LARGEST_BYTES:
        limit = LARGEST_BYTES // 1_000_000
        raise PictureError(f"{where}: expected a picture of at most {limit} MB, got a larger file")
    return data


def _check_jpeg(data: bytes, where: str) -> bool:
    """Return whether the decoder complains of a JPEG; raise if it cannot be a whole picture."""
    if not _jpeg_is_whole(data):
        raise PictureError(f"{where}: expected a whole JPEG, got one that is cut short")
    try:
        height, width, _, _ = simplejpeg.decode_jpeg_header(data, strict=False)
    except ValueError as error:
        raise PictureError(f"{where}: cannot decode the picture: {error}") from error
    _check_size(width, height, where)
    try:
        # at an eighth of its size, where all of the compressed data is still looked at
        simplejpeg.decode_jpeg(data, "GRAY", min_height=1, min_width=1, min_factor=8)
    except ValueError:
        return True
    return False


def _check_png(data: bytes, where: str) -> None:
    width, height = (int.from_bytes(data[n : n + 4], "big") for n in (16, 20))
    if len(data) < _IHDR_END or not _png_is_whole(data):
        raise PictureError(f"{where}: expected a whole PNG, got one that is cut short or damaged")
    _check_size(width, height, where)


def _check_size(width: int, height: int, where: str) -> None:
    if width * height > LARGEST_PX:
        limit = LARGEST_PX // 1_000_000
        raise PictureError(
            f"{where}: expected at most {limit} megapixels, got {width} x {height} pixels"
        )


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
    """Whether the chunks of a PNG reach its end chunk, each as its checksum says."""
    at = len(_PNG)
    while at + 12 <= len(data):
        length = int.from_bytes(data[at : at + 4], "big")
        end = at + 8 + length
        if end + 4 > len(data):
            return False
        if zlib.crc32(data[at + 4 : end]) != int.from_bytes(data[end : end + 4], "big"):
            return False
        if data[at + 4 : at + 8] == b"IEND":
            return True
        at = end + 4
    return False
