"""What the page needs besides the session: the tray's picture and the state of the equipment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from companion.engine import DieColour
from companion.history.pictures import KeptPicture
from companion.tray import CameraState

Point = tuple[float, float]


class Simulator(Protocol):
    """Controls of a simulated tray."""

    @property
    def mishaps(self) -> Sequence[str]:
        """Ways in which `throw` can go wrong."""

    @property
    def troubles(self) -> Sequence[str]:
        """Disturbances that `trouble` accepts."""

    def throw(self, *, mishap: str | None = None) -> None:
        """Throw the dice in play and return at once."""

    def trouble(self, name: str) -> None:
        """Disturb the camera."""


class Tray(Protocol):
    """The camera, as far as the page needs it."""

    def reoffer(self) -> None:
        """Offer the untouched dice of the last roll as a new one."""

    def jpeg(self, number: int | None = None) -> bytes | None:
        """A picture as JPEG, the newest without a number; None where there is none."""


class Pictures(Protocol):
    """The kept pictures of confirmed rolls."""

    def all(self) -> Sequence[KeptPicture]:
        """Every one, the newest first."""

    def jpeg(self, revision: int) -> bytes | None:
        """One by its roll's revision; None where it is not kept."""

    def delete(self, revision: int | None = None) -> int:
        """Delete one, or all; gives how many. Raises OSError."""


class KnownDie(Protocol):
    """A die of the household."""

    @property
    def plays(self) -> DieColour:
        """The colour it has in the game."""

    @property
    def is_odd(self) -> bool:
        """Whether it is of another colour."""


class LookedAt(KnownDie, Protocol):
    """A die that was looked at, in px of the camera's pictures."""

    @property
    def centre_xy(self) -> Point:
        """Middle of its top face."""

    @property
    def corners_xy(self) -> Sequence[Point]:
        """Corners of its top face."""


class SetupState(Protocol):
    """How far the tray is set up, and how its picture is now."""

    @property
    def size_wh(self) -> tuple[int, int]:
        """Of the camera's pictures."""

    @property
    def faults(self) -> Sequence[str]:
        """dark, overexposed, blurred."""

    @property
    def change(self) -> str | None:
        """moved or relit, since it was set up."""

    @property
    def corners(self) -> Sequence[Point] | None:
        """The tray's corners as they are kept."""

    @property
    def controls(self) -> Mapping[str, float]:
        """What the camera's exposure and colours are held at now."""

    @property
    def is_held(self) -> bool:
        """Whether they are kept."""

    @property
    def dice(self) -> Sequence[KnownDie]:
        """The household's dice as they are kept."""


class TraySetup(Protocol):
    """Sets the tray up, step by step; every step raises CalibrationError where it cannot."""

    def state(self) -> SetupState:
        """How things stand."""

    def propose(self) -> Sequence[Point] | None:
        """The corners the eye would take."""

    def keep_corners(self, corners: Sequence[Point]) -> None:
        """Keep the tray's corners."""

    def hold_exposure(self) -> None:
        """Keep what exposure and colours are held at."""

    def look_at_dice(self) -> tuple[int, Sequence[LookedAt]]:
        """Look at the six dice in the tray; the number of the look, and the dice."""

    def keep_dice(self, plays: Sequence[DieColour], number: int | None = None) -> None:
        """Keep the dice that were looked at last, if by the look of that number."""

    def forget(self) -> None:
        """Keep nothing."""


@dataclass(frozen=True, slots=True)
class Equipment:
    """How the table's parts are.

    Attributes:
        camera: State of the camera.
        button: ok, mock, none or lost; unless it is ok the page has a button of its own.
    """

    camera: CameraState = CameraState.NONE
    button: str = "none"

    @property
    def on_screen_button(self) -> bool:
        """Whether pages show a button that confirms the roll."""
        return self.button != "ok"

    @property
    def typed_rolls(self) -> bool:
        """Whether dice are entered by hand because no camera sees them."""
        return not self.camera.sees_dice
