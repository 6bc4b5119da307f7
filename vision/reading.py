"""What the eye takes and gives: frames in, readings out (pure values)."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from companion.engine.dice import DieColour, Roll

Pixels = NDArray[np.uint8]
"""(H, W, 3) uint8, channels blue, green, red."""

Point = tuple[float, float]
"""x right and y down in pixels of the frame, origin top left."""


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One captured picture; only the camera adapter knew another channel order."""

    pixels: Pixels
    captured_at_s: float = 0.0
    """Monotonic seconds of the capture."""
    number: int = 0


class Status(Enum):
    """The verdict on a picture: the first that applies; only OK may be announced."""

    OK = "ok"
    MOVING = "moving"
    EMPTY = "empty"
    OBSTRUCTED = "obstructed"
    COCKED = "cocked"
    MISSING = "missing"
    EXTRA = "extra"
    UNCERTAIN = "uncertain"


class ProblemCode(Enum):
    """One thing that keeps a roll from being announced, or a warning beside it."""

    MOVING = "moving"
    EMPTY = "empty"
    OBSTRUCTED = "obstructed"
    COCKED = "cocked"
    MISSING = "missing"
    EXTRA = "extra"
    UNCERTAIN = "uncertain"
    BESIDE_TRAY = "beside_tray"
    FOREIGN_OBJECT = "foreign_object"
    REMOVED_DIE_IN_TRAY = "removed_die_in_tray"


@dataclass(frozen=True, slots=True)
class Problem:
    """A named doubt; `colour` is the die meant, where one is."""

    code: ProblemCode
    colour: DieColour | None = None


@dataclass(frozen=True, slots=True)
class DieReading:
    """One die seen, judged singly.

    Attributes:
        colour: None where it is none of the five or too doubtful to say.
        value: 1 to 6; None where the eye will not commit itself.
        confidence: Probability 0.0 to 1.0 that colour and value are both right.
        centre_xy: Middle of the top face.
        corners_xy: Four corners of the top face, in order round it.
        cocked: The die does not lie flat.
        in_tray: False for a die beside the tray.
    """

    colour: DieColour | None
    value: int | None
    confidence: float
    centre_xy: Point
    corners_xy: tuple[Point, Point, Point, Point]
    cocked: bool = False
    in_tray: bool = True


@dataclass(frozen=True, slots=True)
class Reading:
    """Everything one frame told: a status, every die seen, and each doubt by name."""

    status: Status
    dice: tuple[DieReading, ...] = ()
    problems: tuple[Problem, ...] = ()
    size_wh: tuple[int, int] = (0, 0)
    captured_at_s: float = 0.0
    roll: Roll | None = field(default=None)
    """The announced values: set exactly when `status` is OK and both whites are in play."""
