"""Odd files get one clear line, odd arrays become pixels."""

from __future__ import annotations

import zlib
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.errors import PictureError
from vision.images import as_pixels, load_frame, load_picture

RNG = np.random.default_rng(3)
PICTURE = cv2.resize(RNG.integers(0, 255, (6, 8, 3), np.uint8), (160, 120))


def encoded(kind: str, *options: int) -> bytes:
    done, data = cv2.imencode(kind, PICTURE, list(options))
    assert done
    return data.tobytes()


def test_whole_pictures_load(tmp_path: Path) -> None:
    kinds = {
        "a.jpg": encoded(".jpg"),
        "b.jpg": encoded(".jpg", cv2.IMWRITE_JPEG_PROGRESSIVE, 1),
        "c.png": encoded(".png"),
        "d.jpg": encoded(".jpg") + b"a phone's trailer",
    }
    for name, data in kinds.items():
        (tmp_path / name).write_bytes(data)
        pixels = load_picture(tmp_path / name)
        assert pixels.shape == (120, 160, 3)
        assert pixels.dtype == np.uint8


@pytest.mark.parametrize("progressive", [0, 1])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.999])
def test_a_jpeg_cut_short_is_refused(tmp_path: Path, share: float, progressive: int) -> None:
    data = encoded(".jpg", cv2.IMWRITE_JPEG_PROGRESSIVE, progressive)
    path = tmp_path / "cut.jpg"
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(PictureError, match=r"cut short|something else"):
        load_picture(path)


def test_a_jpeg_that_lost_a_part_is_marked_as_damaged(tmp_path: Path) -> None:
    whole = Path(__file__).parent / "images" / "kamil_50.jpg"
    data = bytearray(whole.read_bytes())
    middle = len(data) * 4 // 5
    del data[middle : middle + 400]
    path = tmp_path / "broken.jpg"
    path.write_bytes(data)
    assert not load_frame(whole).is_damaged
    assert load_frame(path).is_damaged


def test_a_png_with_a_flipped_bit_is_refused(tmp_path: Path) -> None:
    data = bytearray(encoded(".png"))
    data[len(data) // 2] ^= 1
    path = tmp_path / "flipped.png"
    path.write_bytes(data)
    with pytest.raises(PictureError, match="damaged"):
        load_picture(path)


def png_of(width: int, height: int) -> bytes:
    """A small file that claims to be a large picture."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        whole = kind + data
        return len(data).to_bytes(4, "big") + whole + zlib.crc32(whole).to_bytes(4, "big")

    header = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x00\x00\x00\x00"
    rows = zlib.compress(bytes(100))
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    )


@pytest.mark.parametrize("size", [(30_000, 30_000), (2**31 - 1, 1), (5001, 5000)])
def test_a_picture_that_would_fill_the_memory_is_refused(
    tmp_path: Path, size: tuple[int, int]
) -> None:
    path = tmp_path / "huge.png"
    path.write_bytes(png_of(*size))
    with pytest.raises(PictureError, match="25 megapixels"):
        load_picture(path)


def test_a_jpeg_that_claims_too_many_pixels_is_refused(tmp_path: Path) -> None:
    data = bytearray(encoded(".jpg"))
    at = data.index(b"\xff\xc0") + 5
    data[at : at + 4] = b"\xea\x60\xea\x60"
    path = tmp_path / "huge.jpg"
    path.write_bytes(data)
    with pytest.raises(PictureError, match="60000 x 60000"):
        load_picture(path)


def test_a_file_that_never_ends_is_refused() -> None:
    with pytest.raises(PictureError, match="at most 64 MB"):
        load_picture("/dev/zero")


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "empty"),
        (b"dear camera,\nthis is no picture\n", "something else"),
        (encoded(".png")[:200], "cut short"),
        (b"\xff\xd8\xff", "cut short"),
    ],
)
def test_files_that_are_no_pictures(tmp_path: Path, data: bytes, says: str) -> None:
    path = tmp_path / "odd.jpg"
    path.write_bytes(data)
    with pytest.raises(PictureError, match=says) as caught:
        load_picture(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_folder_and_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(PictureError, match="folder"):
        load_picture(tmp_path)
    with pytest.raises(PictureError, match=r"none\.jpg"):
        load_picture(tmp_path / "none.jpg")


def test_exif_turns_the_picture_upright(tmp_path: Path) -> None:
    data = encoded(".jpg")
    exif = (
        b"\xff\xe1\x00\x22Exif\x00\x00MM\x00\x2a\x00\x00\x00\x08"
        b"\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x06\x00\x00\x00\x00\x00\x00"
    )
    path = tmp_path / "turned.jpg"
    path.write_bytes(data[:2] + exif + data[2:])
    assert load_picture(path).shape == (160, 120, 3)


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((9, 7), np.uint8),
        np.zeros((9, 7, 1), np.uint8),
        np.full((9, 7, 2), 200, np.uint8),
        np.zeros((9, 7, 4), np.uint8),
        np.full((9, 7, 3), 65535, np.uint16),
        np.full((9, 7), np.nan),
        np.ones((9, 7, 3), bool),
    ],
)
def test_odd_arrays_become_pixels(array: np.ndarray) -> None:
    pixels = as_pixels(array)
    assert pixels.shape == (9, 7, 3)
    assert pixels.dtype == np.uint8


def test_sixteen_bits_keep_their_brightness() -> None:
    assert (as_pixels(np.full((2, 2, 3), 65535, np.uint16)) == 255).all()
    assert (as_pixels(np.full((2, 2, 3), 0.5)) == 127).all()


@pytest.mark.parametrize(
    "array", [np.zeros((0, 5, 3), np.uint8), np.zeros(7, np.uint8), np.zeros((4, 4, 9), np.uint8),
              np.zeros((4, 4, 3), np.int64)],
)  # fmt: skip
def test_arrays_that_are_no_pictures(array: np.ndarray) -> None:
    with pytest.raises(PictureError, match="frame: expected"):
        as_pixels(array)
