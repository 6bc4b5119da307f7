"""Frames and readings, as pure values."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from companion.engine.dice import Roll
from companion.tray import DieView, Point, Problem, TrayStatus
from vision.evidence import SceneEvidence

__all__ = ["Frame", "Pixels", "Point", "Reading"]

Pixels = NDArray[np.uint8]
"""(H, W, 3) uint8, channels blue, green, red."""


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Frame:
    """One captured picture, in BGR; camera adapters convert other channel orders."""

    pixels: Pixels
    captured_at_s: float = 0.0
    """Monotonic seconds of the capture."""
    number: int = 0
    """Given by the camera loop."""
    is_damaged: bool = False
    """Whether the decoder reported an error: such a frame is never announced."""

    @property
    def size_wh(self) -> tuple[int, int]:
        """Width and height in pixels."""
        height, width = self.pixels.shape[:2]
        return width, height


@dataclass(frozen=True, slots=True)
class Reading:
    """Result of reading one frame.

    Attributes:
        status: One of the first eight members of TrayStatus, up to UNCERTAIN.
        dice: Every visible die.
        roll: The announced values: set exactly when `status` is OK and both whites are in play.
        evidence: The detector's outputs for each die, if the reader keeps them.
    """

    status: TrayStatus
    dice: tuple[DieView, ...] = ()
    problems: tuple[Problem, ...] = ()
    roll: Roll | None = None
    evidence: SceneEvidence | None = field(default=None, compare=False, repr=False)
