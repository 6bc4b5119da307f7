"""Checks whether a picture is fit for reading: bright enough, not overexposed, sharp."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.reading import Pixels

LONG_SIDE_PX = 640
"""Size at which pictures are measured, so that the limits hold for every camera."""

BLACK_PEAK = 24.0
"""Grey level that one pixel in a hundred exceeds in a picture that shows something (chosen)."""

DARK_PEAK = 65.0
BLOWN_SHARE = 0.3
SOFT_EDGES = 1.55
"""Limits of a readable picture, measured on darkened, brightened and blurred rendered frames."""

PLAIN_SLOPE = 1.5
"""Grey levels per pixel below which nothing lies on a plain floor, which has at most 1.0; dice that
are blurred by ten pixels have at least 1.8."""


class PictureFault(StrEnum):
    """Faults of a picture."""

    DARK = "dark"
    OVEREXPOSED = "overexposed"
    BLURRED = "blurred"
    SMALL = "small"
    SLANTED = "slanted"


@dataclass(frozen=True, slots=True)
class Light:
    """Measurements of a picture.

    Attributes:
        peak: Grey level that one pixel in a hundred exceeds, 0 to 255.
        blown: Share of overexposed pixels.
        edges: Ratio of the sharpest slopes with little to those with more smoothing; 1.0 without
            any detail.
        slope: The sharpest slopes with more smoothing, in grey levels per pixel.
    """

    peak: float
    blown: float
    edges: float
    slope: float

    @property
    def is_plain(self) -> bool:
        """Whether nothing is there that could be sharp."""
        return self.slope < PLAIN_SLOPE

    @property
    def is_black(self) -> bool:
        """Whether the picture shows nothing."""
        return self.peak < BLACK_PEAK

    @property
    def faults(self) -> tuple[PictureFault, ...]:
        """Faults of the picture; a dark one hides whether it is sharp."""
        if self.peak < DARK_PEAK:
            return (PictureFault.DARK,)
        found = []
        if self.blown > BLOWN_SHARE:
            found.append(PictureFault.OVEREXPOSED)
        if self.edges < SOFT_EDGES:
            found.append(PictureFault.BLURRED)
        return tuple(found)


def measure_light(pixels: Pixels) -> Light:
    """Measure a picture, (H, W, 3) uint8 BGR of any size."""
    scale = LONG_SIDE_PX / max(pixels.shape[:2])
    small = pixels
    if scale < 1.0:
        small = np.asarray(
            cv2.resize(pixels, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA), np.uint8
        )
    grey = cv2.cvtColor(small, cv2.COLOR_BGR2GRAY).astype(np.float32)
    blue, green, red = cv2.split(small)
    brightest = cv2.max(cv2.max(blue, green), red)
    fine, coarse = _steepest(grey, 0.7), _steepest(grey, 2.8)
    return Light(
        peak=_exceeded(grey, 0.01),
        blown=cv2.countNonZero(cv2.inRange(brightest, 254, 255)) / grey.size,
        edges=fine / coarse if coarse > 0.5 else 1.0,
        slope=coarse,
    )


def white_balanced(pixels: Pixels, gains_bgr: tuple[float, float, float]) -> Pixels:
    """Multiply a picture's blue, green and red by gains."""
    table = np.clip(np.arange(256)[:, None] * np.array(gains_bgr), 0, 255).astype(np.uint8)
    return np.asarray(cv2.LUT(pixels, table.reshape(1, 256, 3)), np.uint8)


def _steepest(grey: NDArray[np.float32], smooth_px: float) -> float:
    """Slope, in grey levels per pixel, of the steepest two thousandths of a picture."""
    smooth = cv2.GaussianBlur(grey, (0, 0), smooth_px)
    across = cv2.Sobel(smooth, cv2.CV_32F, 1, 0, scale=1 / 8)
    down = cv2.Sobel(smooth, cv2.CV_32F, 0, 1, scale=1 / 8)
    return _exceeded(np.asarray(cv2.magnitude(across, down), np.float32), 0.002)


def _exceeded(values: NDArray[np.float32], share: float) -> float:
    """The value that a share of all exceeds."""
    at = round((1.0 - share) * (values.size - 1))
    return float(np.partition(values, at, axis=None)[at])
