"""Types for the state of the tray, from the camera to the page (leaf, pure values)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum
from math import dist

from companion.engine.dice import DieColour, Roll

Point = tuple[float, float]
"""x right and y down in pixels of the frame, origin top left."""


SAME_PLACE = 0.35
"""A die that moved by less than this share of its edge was not touched (chosen, not measured)."""


class TrayStatus(StrEnum):
    """State of the tray; only OK carries a roll.

    The first eight are results of reading one frame, the others come from watching the tray.
    """

    OK = "ok"
    MOVING = "moving"
    EMPTY = "empty"
    OBSTRUCTED = "obstructed"
    COCKED = "cocked"
    MISSING = "missing"
    EXTRA = "extra"
    UNCERTAIN = "uncertain"
    WAITING = "waiting"
    """Nothing has been seen yet."""
    READING = "reading"
    """Everything is still; the reading is not settled yet."""
    OLD = "old"
    """The dice of the last roll lie there untouched."""
    LOST = "lost"
    """The camera delivers no frames."""
    DARK = "dark"
    """The frames are black."""
    BLOCKED = "blocked"
    """Something covers the lens."""
    FROZEN = "frozen"
    """The camera repeats one frame."""
    NONE = "none"
    """The table has no camera."""

    @property
    def is_blind(self) -> bool:
        """Whether a camera is there but shows nothing of the dice."""
        return self in (TrayStatus.LOST, TrayStatus.DARK, TrayStatus.BLOCKED, TrayStatus.FROZEN)

    @property
    def is_undecided(self) -> bool:
        """Whether a result may follow any moment."""
        return self in (TrayStatus.WAITING, TrayStatus.MOVING, TrayStatus.READING)

    @property
    def is_busy(self) -> bool:
        """Whether dice roll or are being read."""
        return self in (TrayStatus.MOVING, TrayStatus.READING)

    @property
    def is_ready(self) -> bool:
        """Whether the table waits for a throw."""
        return self in (TrayStatus.WAITING, TrayStatus.EMPTY, TrayStatus.OLD, TrayStatus.NONE)

    @property
    def is_prompt(self) -> bool:
        """Whether its text asks for a throw or for the button."""
        return self in (TrayStatus.WAITING, TrayStatus.OLD, TrayStatus.OK)

    @property
    def is_correctable(self) -> bool:
        """Whether all dice in play may be visible, so that correcting some completes the roll."""
        return self in (
            TrayStatus.OK,
            TrayStatus.UNCERTAIN,
            TrayStatus.COCKED,
            TrayStatus.OBSTRUCTED,
        )

    @property
    def is_judged(self) -> bool:
        """Whether the reading is about the dice thrown last."""
        return self.is_correctable or self in (TrayStatus.MISSING, TrayStatus.EXTRA)

    @property
    def names_a_die(self) -> bool:
        """Whether its text can name the die that is meant."""
        return self.is_judged and self is not TrayStatus.OK


class ProblemCode(StrEnum):
    """A reason why a roll is not announced, or a warning beside it."""

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
    TRAY_MOVED = "tray_moved"
    """Camera or tray were moved since the calibration."""
    TRAY_RELIT = "tray_relit"
    """The light changed since the calibration."""
    PICTURE_DARK = "picture_dark"
    PICTURE_OVEREXPOSED = "picture_overexposed"
    PICTURE_BLURRED = "picture_blurred"
    """What makes dice hard to read, beside a reading that is no roll."""

    @property
    def bars_roll(self) -> bool:
        """Whether no roll is offered while this problem lasts, whatever the tray's status."""
        return self in (
            ProblemCode.MOVING,
            ProblemCode.OBSTRUCTED,
            ProblemCode.COCKED,
            ProblemCode.MISSING,
            ProblemCode.EXTRA,
            ProblemCode.UNCERTAIN,
        )


@dataclass(frozen=True, slots=True)
class Problem:
    """A named problem; `colour` is the die meant, if there is one."""

    code: ProblemCode
    colour: DieColour | None = None


@dataclass(frozen=True, slots=True)
class DieView:
    """One visible die, judged on its own.

    Attributes:
        colour: None if it is none of the five, or too uncertain.
        value: 1 to 6; None if too uncertain.
        confidence: Probability 0.0 to 1.0 that colour and value are both right.
        centre_xy: Middle of the top face.
        corners_xy: Four corners of the top face, in order round it.
        cocked: The die does not lie flat.
        in_tray: False for a die beside the tray.
        by_hand: A person corrected its value.
    """

    colour: DieColour | None
    value: int | None
    confidence: float
    centre_xy: Point
    corners_xy: tuple[Point, Point, Point, Point]
    cocked: bool = False
    in_tray: bool = True
    by_hand: bool = False

    @property
    def edge_px(self) -> float:
        """Mean length of the sides of its top face."""
        a, b, c, d = self.corners_xy
        return (dist(a, b) + dist(b, c) + dist(c, d) + dist(d, a)) / 4.0


class NoteCode(StrEnum):
    """Messages of a camera to the people at the table; the words are in the catalogue."""

    VIDEO_OVER = "video_over"
    """The video has ended; its last frame stays."""
    FOLDER_OVER = "folder_over"
    """That was the folder's last picture; it stays."""
    SKIPPED = "skipped"
    """Some files of the folder are no pictures."""
    FAILED = "failed"
    """Reading the tray failed unexpectedly; details are in the log."""


@dataclass(frozen=True, slots=True)
class Note:
    """One message of a camera.

    Attributes:
        names: Files it is about.
        more: Number of further files that are not named.
    """

    code: NoteCode
    names: tuple[str, ...] = ()
    more: int = 0


class CameraState(StrEnum):
    """State of the table's camera."""

    OK = "ok"
    SIMULATED = "simulated"
    NONE = "none"
    LOST = "lost"
    """It delivers no frames, or they show nothing."""

    @property
    def sees_dice(self) -> bool:
        """Whether dice can be read; otherwise people enter them."""
        return self in (CameraState.OK, CameraState.SIMULATED)


class CameraFault(StrEnum):
    """Faults of the camera."""

    LOST = "lost"
    DARK = "dark"
    FROZEN = "frozen"
    BLOCKED = "blocked"
    SLOW = "slow"

    @property
    def is_blind(self) -> bool:
        """Whether nothing can be read; a slow camera still sees."""
        return self is not CameraFault.SLOW


@dataclass(frozen=True, slots=True)
class TrayView:
    """The state of the tray now.

    Attributes:
        roll: The settled roll the button would confirm, or None.
        frame: Number of the frame the dice were read from.
        size_wh: Size of that frame in pixels, the frame of all coordinates.
        notes: Messages of the camera, such as that its last picture is shown.
        camera: State of the camera.
        fault: What is wrong with the camera; None while all is well.
    """

    status: TrayStatus
    roll: Roll | None = None
    frame: int = 0
    size_wh: tuple[int, int] = (0, 0)
    dice: tuple[DieView, ...] = ()
    problems: tuple[Problem, ...] = ()
    notes: tuple[Note, ...] = ()
    camera: CameraState = CameraState.OK
    fault: CameraFault | None = None

    def is_outdated(self, dice: Collection[DieColour]) -> bool:
        """Whether the offered roll was read for other coloured dice than those in play."""
        return self.roll is not None and self.roll.colours != set(dice)


NO_CAMERA = TrayView(TrayStatus.NONE, camera=CameraState.NONE)
"""The tray of a table without a camera."""
