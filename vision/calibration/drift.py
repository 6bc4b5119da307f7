"""Whether a tray still lies where it was calibrated, in the same light: compared in small."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.reading import Pixels

GREY_WH = (96, 72)
"""Pixels of the kept picture: enough to see a rim move by a hundredth of the picture."""
COLOUR_WH = (16, 12)
"""Cells of the kept colours: the dice cover few of them."""

_BETWEEN_PX = 320
"""Pictures are shrunk to about this width first (own choice: three times `GREY_WH`)."""
_BLOCK = 12
_SLOW = 3.0
_DETAIL = 2.0
"""Blocks whose grey levels vary by less show nothing that could move."""
_LIKE = 0.6
"""A block whose correlation with its former self is higher stayed where it was ..."""
STAYED = 0.45
"""... and the camera did when so many of the blocks with detail did. Own simulated tray and a
rendered throw, 21.11.2026: 0.7 and more with dice at rest, 0.5 with a hand, 0.55 at the least when
moved by 5 px of 640; 0.3 and less when moved by 10 to 15 px or drawn near by a twentieth."""
RELIT = 1.5
TINTED = 1.25
"""The light is another when brightness, or blue or red against green, changed by this factor."""


@dataclass(frozen=True, slots=True)
class Reference:
    """The tray as it was.

    Attributes:
        grey: Grey levels of `GREY_WH` pixels, row by row.
        colours: Blue, green and red of `COLOUR_WH` cells, row by row.
    """

    grey: bytes
    colours: bytes


@dataclass(frozen=True, slots=True)
class Drift:
    """What has changed since.

    Attributes:
        stayed: Share of the blocks with detail that show what they showed.
        brighter: How many times brighter the picture is.
        tint: By which factor blue or red changed against green, whichever more.
    """

    stayed: float
    brighter: float
    tint: float

    @property
    def has_moved(self) -> bool:
        """Whether camera or tray were moved."""
        return self.stayed < STAYED

    @property
    def is_relit(self) -> bool:
        """Whether the light is another."""
        return not 1.0 / RELIT < self.brighter < RELIT or self.tint > TINTED


def take_reference(pixels: Pixels) -> Reference:
    """Keep a picture in small."""
    times = max(1, pixels.shape[1] // _BETWEEN_PX)
    if times > 1:  # OpenCV shrinks by whole numbers several times as fast
        less = (max(1, pixels.shape[1] // times), max(1, pixels.shape[0] // times))
        pixels = np.asarray(cv2.resize(pixels, less, interpolation=cv2.INTER_AREA), np.uint8)
    grey = cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY)
    small = cv2.resize(grey, GREY_WH, interpolation=cv2.INTER_AREA)
    cells = cv2.resize(pixels, COLOUR_WH, interpolation=cv2.INTER_AREA)
    return Reference(small.tobytes(), cells.tobytes())


def in_the_light_of(place: Reference | None, light: Reference) -> Reference:
    """A reference to where one picture shows the tray, and to the colours of another."""
    return light if place is None else Reference(place.grey, light.colours)


def compare(reference: Reference, pixels: Pixels) -> Drift:
    """What has changed from the reference to a picture; dice and hands in it do little harm."""
    now = take_reference(pixels)
    ratios = (_colours(now) + 8.0) / (_colours(reference) + 8.0)
    tints = np.median(ratios[:, [0, 2]] / ratios[:, [1]], axis=0)
    return Drift(
        stayed=_stayed(_grey(reference), _grey(now)),
        brighter=float(np.median(ratios[:, 1])),
        tint=float(np.maximum(tints, 1.0 / tints).max()),
    )


def _stayed(before: NDArray[np.float32], now: NDArray[np.float32]) -> float:
    """The share of blocks with detail that correlate with their former selves."""
    one, two = _blocks(before), _blocks(now)
    spread = np.sqrt((one**2).mean(axis=1))
    likeness = (one * two).mean(axis=1) / (spread * np.sqrt((two**2).mean(axis=1)) + 1e-6)
    shows = spread > _DETAIL
    return float((likeness[shows] > _LIKE).mean()) if shows.any() else 1.0


def _blocks(grey: NDArray[np.float32]) -> NDArray[np.float32]:
    """(N, pixels) blocks of the picture, each less its mean."""
    height, width = grey.shape
    edges = grey - cv2.GaussianBlur(grey, (0, 0), _SLOW)  # without the light's slow fall
    tiles = edges.reshape(height // _BLOCK, _BLOCK, width // _BLOCK, _BLOCK).swapaxes(1, 2)
    flat = tiles.reshape(-1, _BLOCK * _BLOCK)
    return np.asarray(flat - flat.mean(axis=1, keepdims=True), np.float32)


def _grey(reference: Reference) -> NDArray[np.float32]:
    width, height = GREY_WH
    return np.frombuffer(reference.grey, np.uint8).reshape(height, width).astype(np.float32)


def _colours(reference: Reference) -> NDArray[np.float64]:
    return np.frombuffer(reference.colours, np.uint8).reshape(-1, 3).astype(np.float64)
