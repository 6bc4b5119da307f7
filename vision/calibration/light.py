"""Whether a picture of the tray is fit to read dice in: bright enough, not blown out, sharp."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.reading import Pixels

LONG_SIDE_PX = 640
"""Pictures are measured at this size, so that the limits hold for every camera."""

DARK_PEAK = 65.0
BLOWN_SHARE = 0.3
SOFT_EDGES = 1.55
"""Limits measured on 40 frames of a rendered set of 200 (21.11.2026): darkened to a quarter of
their light (peak 62 in the darkest twentieth) all were read as before, at a sixteenth (peak 57 in
the middle) a third less; brightened sixfold (a third of the picture blown out) a quarter less;
blurred by 2 px (1.55 in the middle) a quarter less. As they were, all but one in fifty had a peak
over 116, under 0.1 blown out and edges over 2.1; photos of dice over 2.0."""


class PictureFault(StrEnum):
    """What makes a picture hard to read."""

    DARK = "dark"
    OVEREXPOSED = "overexposed"
    BLURRED = "blurred"


@dataclass(frozen=True, slots=True)
class Light:
    """What was measured of a picture.

    Attributes:
        peak: Grey level that one pixel in a hundred is brighter than, 0 to 255.
        blown: Share of pixels with a channel at its end.
        edges: How much steeper the sharpest edges get when the picture is less smoothed; 1.0 for
            a picture without any detail.
    """

    peak: float
    blown: float
    edges: float

    @property
    def faults(self) -> tuple[PictureFault, ...]:
        """What is wrong; a dark picture hides whether it is sharp."""
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
    fine, coarse = _steepest(grey, 0.7), _steepest(grey, 2.8)
    return Light(
        peak=float(np.percentile(grey, 99)),
        blown=float((small.max(axis=2) >= 254).mean()),
        edges=fine / coarse if coarse > 0.5 else 1.0,
    )


def white_balanced(pixels: Pixels, gains_bgr: tuple[float, float, float]) -> Pixels:
    """The picture with its blue, green and red so many times brighter."""
    table = np.clip(np.arange(256)[:, None] * np.array(gains_bgr), 0, 255).astype(np.uint8)
    return np.asarray(cv2.LUT(pixels, table.reshape(1, 256, 3)), np.uint8)


def _steepest(grey: NDArray[np.float32], smooth_px: float) -> float:
    """The slope, in grey levels per px, of the steepest two thousandths of a picture."""
    smooth = cv2.GaussianBlur(grey, (0, 0), smooth_px)
    across = cv2.Sobel(smooth, cv2.CV_32F, 1, 0, scale=1 / 8)
    down = cv2.Sobel(smooth, cv2.CV_32F, 0, 1, scale=1 / 8)
    return float(np.percentile(np.hypot(across, down), 99.8))
