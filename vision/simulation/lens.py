"""Lens and sensor: linear light in, pixels out."""

from __future__ import annotations

from functools import lru_cache

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.images import bands
from vision.reading import Pixels
from vision.simulation.scene import Floats, Lens

_LEVELS = 4096


def expose(light: Floats, lens: Lens) -> Pixels:
    """Turn linear light (H, W, 3) into pixels of a camera."""
    height, width = light.shape[:2]
    if lens.blur_px > 0.05:
        soft = cv2.GaussianBlur(light, (0, 0), lens.blur_px, borderType=cv2.BORDER_REPLICATE)
        light = np.asarray(soft, np.float32)
    gain = np.asarray(lens.white_balance, np.float32) * np.float32(2.0**lens.exposure_ev)
    gains = _vignette(width, height, round(lens.vignette, 2))
    rng = np.random.default_rng(lens.seed)
    top, left = (int(v) for v in rng.integers(0, 256, 2))
    pixels = np.empty((height, width, 3), np.uint8)
    for rows in bands(height):
        balanced = light[rows] * (gains[rows, :, None] * gain)
        pixels[rows] = _developed(balanced, lens, (top + rows.start, left))
    return pixels


def _developed(light: Floats, lens: Lens, grain: tuple[int, int]) -> Pixels:
    """A band of the picture; `grain` is the row and column of the noise tile where it begins."""
    if lens.saturation != 1.0:
        grey = cv2.transform(light, np.array([[0.1, 0.6, 0.3]], np.float32))
        light = np.maximum(grey[..., None] + (light - grey[..., None]) * lens.saturation, 0.0)
    if lens.noise > 0.0:
        light = light + _noise(light, lens.noise, grain)
    steps = np.clip(light * (_LEVELS / 2), 0.0, _LEVELS - 1.0).astype(np.uint16)
    return np.asarray(np.take(_curve(round(lens.contrast, 2)), steps), np.uint8)


def _noise(light: Floats, strength: float, grain: tuple[int, int]) -> Floats:
    """Shot and read noise, strongest in bright areas as on a sensor before its tone curve."""
    tile = _noise_tile()
    rows, columns = (
        np.arange(start, start + size) % repeat
        for start, size, repeat in zip(grain, light.shape[:2], tile.shape[:2], strict=True)
    )
    patch = tile[np.ix_(rows, columns)]
    return np.asarray(patch * (strength * np.sqrt(np.maximum(light, 0.0) + 0.01)), np.float32)


@lru_cache(maxsize=1)
def _noise_tile() -> NDArray[np.float16]:
    rng = np.random.default_rng(5)
    tile = np.empty((769, 1283, 3), np.float16)
    for row in tile:
        row[...] = rng.standard_normal(row.shape)
    return tile


@lru_cache(maxsize=4)
def _vignette(width: int, height: int, strength: float) -> Floats:
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    radius = ((x - width / 2) ** 2 + (y - height / 2) ** 2) / (width**2 + height**2) * 4.0
    return np.asarray(1.0 - np.float32(strength) * radius, np.float32)


@lru_cache(maxsize=64)
def _curve(contrast: float) -> NDArray[np.uint8]:
    """Table from linear light (0 to 2, softly clipped above white) to 8 bits."""
    linear = np.arange(_LEVELS) * (2.0 / _LEVELS)
    soft = np.where(linear < 0.8, linear, 0.8 + 0.2 * (1.0 - np.exp(-(linear - 0.8) / 0.2)))
    tone = np.where(soft <= 0.0031308, 12.92 * soft, 1.055 * soft ** (1 / 2.4) - 0.055)
    bent = tone + contrast * (tone - 0.5) * tone * (1.0 - tone) * 2.0
    return np.asarray(np.clip(bent * 255.0 + 0.5, 0, 255), np.uint8)
