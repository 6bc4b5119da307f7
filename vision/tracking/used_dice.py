"""Whether used dice still lie in a tray that seems empty (pure)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.tray import DieView
from vision.calibration.drift import compare, take_reference
from vision.reading import Pixels

_FACE, _RING = 0.5, (1.1, 1.7)
"""Radius of a disc on a die's face, and of a ring of floor around it, in edges (chosen)."""
_STANDS_OUT = 0.25
"""Share of a die's contrast to the floor that is left if it lies there out of focus
(docs/limits.md)."""
_NOISE = 2.0
"""Grey levels of noise."""


@dataclass(frozen=True, slots=True, eq=False)
class UsedDice:
    """Pictures of the dice of a confirmed roll.

    Attributes:
        dice: The dice; empty if the roll was typed.
        lying: The picture in which they were read.
        tray: The tray without them, as seen or as made from `lying`: dice may be most of a picture.
    """

    dice: tuple[DieView, ...] = ()
    lying: Pixels | None = None
    tray: Pixels | None = None

    @classmethod
    def kept(cls, dice: tuple[DieView, ...], lying: Pixels | None, tray: Pixels | None) -> UsedDice:
        """Keep pictures, but none of a tray that the camera was pushed away from since."""
        if lying is not None:
            bare = _without(lying, dice)
            drift = None if tray is None else compare(take_reference(tray), bare)
            if drift is None or drift.has_moved or drift.is_filled:
                tray = bare
        return cls(dice, lying, tray)

    def may_lie_there(self, pixels: Pixels) -> bool:
        """Whether the camera looks past the tray, or shows the dice out of focus.

        Args:
            pixels: (H, W, 3) uint8, BGR, in which no die was found.
        """
        if self.lying is not None and _stand_out(self.lying, pixels, self.dice):
            return True
        if self.tray is None:
            return False
        drift = compare(take_reference(self.tray), pixels)
        return drift.has_moved or drift.is_plain or drift.is_filled


def _without(pixels: Pixels, dice: Sequence[DieView]) -> Pixels:
    """The picture with the colour of the floor around it in the place of each die."""
    bare = pixels.copy()
    for die in dice:
        _, floor = _face_and_floor(pixels, die)
        if len(floor):
            x, y = (round(each) for each in die.centre_xy)
            colour = np.median(floor, axis=0).tolist()
            cv2.circle(bare, (x, y), round(_RING[0] * die.edge_px), colour, -1)
    return bare


def _stand_out(before: Pixels, pixels: Pixels, dice: Sequence[DieView]) -> bool:
    """Whether dice stand out from the floor around them as they did before, sharp or not."""
    if before.shape != pixels.shape or not dice:
        return False
    shares = []
    for die in dice:
        was, now = _contrast(before, die), _contrast(pixels, die)
        shares.append(float(was @ now / (was @ was + _NOISE**2)))
    return float(np.median(shares)) > _STANDS_OUT


def _contrast(pixels: Pixels, die: DieView) -> NDArray[np.float64]:
    """Blue, green and red (3,) of a die's face less those of the floor around it."""
    face, floor = _face_and_floor(pixels, die)
    if not len(face) or not len(floor):
        return np.zeros(3)
    return np.asarray(face.mean(axis=0) - np.median(floor, axis=0))


def _face_and_floor(
    pixels: Pixels, die: DieView
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The pixels (N, 3) of a die's face, and those of the floor around it."""
    (x, y), reach = die.centre_xy, _RING[1] * die.edge_px
    top, left = max(0, int(y - reach)), max(0, int(x - reach))
    part = pixels[top : int(y + reach) + 1, left : int(x + reach) + 1].astype(np.float64)
    rows, columns = np.ogrid[: part.shape[0], : part.shape[1]]
    away = np.hypot(columns + left - x, rows + top - y) / die.edge_px
    return part[away < _FACE], part[(away > _RING[0]) & (away < _RING[1])]
