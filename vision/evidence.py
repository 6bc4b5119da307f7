"""Evidence of one frame: the detector's outputs for each die, before a status is decided."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from companion.tray import Point

Scores = NDArray[np.float32]
"""Probabilities or log odds, float32."""


@dataclass(frozen=True, slots=True, eq=False)
class DieEvidence:
    """The detector's outputs for one die, as `decide_status` receives them.

    Attributes:
        colours: (6,) probabilities of the five colours and of none of them.
        value: None if the top face is hardly visible or no value likely.
        sure: Probability that the value is right.
        tint: (3,) of the top face, if it may be white.
        values: (6,) probabilities of the values, scaled so that the largest is `sure`.
        corners: (4, 2) corners of the top face in pixels.
        tilt: Log odds that the die does not lie flat.
        die: Probability that it is a die.
    """

    colours: Scores
    value: int | None
    sure: float
    centre_xy: Point
    edge_px: float
    values: Scores
    corners: NDArray[np.float32]
    moving: bool = False
    visible: float = 1.0
    in_tray: bool = True
    tint: Scores | None = None
    tilt: float = -10.0
    die: float = 1.0

    @property
    def cocked(self) -> bool:
        """Whether it is at rest, but more likely tilted than flat."""
        return not self.moving and self.tilt > 0.0


@dataclass(frozen=True, slots=True)
class Clutter:
    """Everything else in the tray.

    Attributes:
        thing: Area of objects that are no dice, in faces of a die.
        smear: Probability that something is a die in motion.
    """

    thing: float = 0.0
    smear: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class SceneEvidence:
    """All dice of a frame, in the tray or beside it, and the clutter in the tray."""

    dice: tuple[DieEvidence, ...]
    clutter: Clutter
    size_wh: tuple[int, int]
