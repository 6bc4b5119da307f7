"""Compares a tray with its calibration: was it moved, has the light changed?"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.reading import Pixels

GREY_WH = (96, 72)
"""Size of the kept grey picture; a rim that moves by a hundredth of the picture shows."""
COLOUR_WH = (16, 12)
"""Cells of the kept colours; dice cover few of them."""

_BETWEEN_PX = 320
"""Width to which pictures are shrunk first, three times that of `GREY_WH`."""
_BLOCK = 12
_SLOW = 3.0
_DETAIL = 2.0
"""Least variation of grey levels in a block that is compared."""
_FILLED = 0.25
"""Share of blocks with detail that a plain tray has not, whatever its shadows (chosen)."""
_LIKE = 0.6
"""Least correlation of a block that did not move."""
STAYED = 0.45
"""Least share of unmoved blocks if the camera did not move."""
RELIT = 1.5
TINTED = 1.25
"""Factor by which brightness, or blue or red against green, changes in another light."""


@dataclass(frozen=True, slots=True)
class Reference:
    """The tray's look at the time of its calibration.

    Attributes:
        grey: Grey levels of `GREY_WH` pixels, row by row.
        colours: Blue, green and red of `COLOUR_WH` cells, row by row.
    """

    grey: bytes
    colours: bytes


@dataclass(frozen=True, slots=True)
class Drift:
    """Changes since the calibration.

    Attributes:
        stayed: Share of the blocks with detail that are unchanged.
        brighter: Ratio of the brightness now to then.
        tint: Factor by which blue or red changed against green, whichever is larger.
        is_plain: All detail is gone, as through a covered lens; that is no sign of a movement.
        is_filled: There was no detail, and now there is much, as beside a plain tray; six dice in
            it may do the same.
    """

    stayed: float
    brighter: float
    tint: float
    is_plain: bool
    is_filled: bool

    @property
    def has_moved(self) -> bool:
        """Whether camera or tray were moved."""
        return self.stayed < STAYED

    @property
    def is_relit(self) -> bool:
        """Whether the light has changed."""
        return not 1.0 / RELIT < self.brighter < RELIT or self.tint > TINTED


def take_reference(pixels: Pixels) -> Reference:
    """Reduce a picture to a reference."""
    times = max(1, pixels.shape[1] // _BETWEEN_PX)
    if times > 1:  # OpenCV shrinks by whole numbers several times as fast
        less = (max(1, pixels.shape[1] // times), max(1, pixels.shape[0] // times))
        pixels = np.asarray(cv2.resize(pixels, less, interpolation=cv2.INTER_AREA), np.uint8)
    grey = cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY)
    small = cv2.resize(grey, GREY_WH, interpolation=cv2.INTER_AREA)
    cells = cv2.resize(pixels, COLOUR_WH, interpolation=cv2.INTER_AREA)
    return Reference(small.tobytes(), cells.tobytes())


def in_the_light_of(place: Reference | None, light: Reference) -> Reference:
    """Combine the position from one picture and the colours from another."""
    return light if place is None else Reference(place.grey, light.colours)


def compare(reference: Reference, pixels: Pixels) -> Drift:
    """Measure the changes from the reference to a picture; dice and hands hardly matter."""
    now = take_reference(pixels)
    ratios = (_colours(now) + 8.0) / (_colours(reference) + 8.0)
    tints = np.median(ratios[:, [0, 2]] / ratios[:, [1]], axis=0)
    before, after = _blocks(_grey(reference)), _blocks(_grey(now))
    showed, shows = _spread(before) > _DETAIL, _spread(after) > _DETAIL
    is_plain = bool(showed.any()) and not (shows & showed).any()
    return Drift(
        stayed=_stayed(before[showed], after[showed]) if (shows & showed).any() else 1.0,
        brighter=float(np.median(ratios[:, 1])),
        tint=float(np.maximum(tints, 1.0 / tints).max()),
        is_plain=is_plain,
        is_filled=not showed.any() and float(shows.mean()) > _FILLED,
    )


def _stayed(before: NDArray[np.float32], now: NDArray[np.float32]) -> float:
    """Share of the blocks with detail that correlate with the reference."""
    likeness = (before * now).mean(axis=1) / (_spread(before) * _spread(now) + 1e-6)
    return float((likeness > _LIKE).mean())


def _spread(blocks: NDArray[np.float32]) -> NDArray[np.float32]:
    """Variation (N,) of the grey levels in each block."""
    return np.asarray(np.sqrt((blocks**2).mean(axis=1)), np.float32)


def _blocks(grey: NDArray[np.float32]) -> NDArray[np.float32]:
    """(N, pixels) blocks of the picture, without their means."""
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
