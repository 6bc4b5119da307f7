"""Interfaces the page needs besides the session: the tray, its set-up and the equipment."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from companion.engine import DieColour
from companion.history.pictures import KeptPicture
from companion.messages.catalogue import Phrases
from companion.service.power import PowerStep
from companion.tray import CameraState, Point
from web.access import Access
from web.client import Client


class Site(Protocol):
    """The part of a table's and of a club's context that their common views need."""

    @property
    def name(self) -> str:
        """Name of the table or the club."""

    @property
    def phrases(self) -> Phrases:
        """The catalogue in the language of the page that sent the request."""

    @property
    def access(self) -> Access:
        """It names browsers."""

    def client(self) -> Client:
        """Return the device that sent the request."""

    def render(self, client: Client) -> tuple[int, str]:
        """Return the current version and its snapshot as JSON."""


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


class Power(Protocol):
    """The machine's switch."""

    @property
    def is_offered(self) -> bool:
        """Whether this table may switch its machine off."""

    def take(self, step: PowerStep) -> None:
        """Announce a step and take it. Raises ServiceError."""


class Pictures(Protocol):
    """The kept pictures of confirmed rolls."""

    def all(self) -> Sequence[KeptPicture]:
        """All kept pictures, the newest first."""

    def jpeg(self, revision: int) -> bytes | None:
        """The picture of a roll by its revision; None if it is not kept."""

    def delete(self, revision: int | None = None) -> int:
        """Delete one, or all, and return how many. Raises OSError."""

    def delete_games(self, numbers: Collection[int]) -> None:
        """Delete those of some games. Raises OSError."""


class CustomDie(Protocol):
    """A die of the table's own set."""

    @property
    def plays(self) -> DieColour:
        """The colour it has in the game."""

    @property
    def is_odd(self) -> bool:
        """Whether it is of another colour."""


class LookedAt(CustomDie, Protocol):
    """A measured die, in pixels of the camera's pictures."""

    @property
    def centre_xy(self) -> Point:
        """Middle of its top face."""

    @property
    def corners_xy(self) -> Sequence[Point]:
        """Corners of its top face."""


class SetupState(Protocol):
    """State of the set-up and of the picture."""

    @property
    def size_wh(self) -> tuple[int, int]:
        """Size of the camera's pictures."""

    @property
    def faults(self) -> Sequence[str]:
        """Faults of the picture: dark, overexposed, blurred, small, slanted."""

    @property
    def change(self) -> str | None:
        """moved or relit, since the set-up."""

    @property
    def corners(self) -> Sequence[Point] | None:
        """Kept corners of the tray."""

    @property
    def controls(self) -> Mapping[str, float]:
        """Held exposure and colours of the camera."""

    @property
    def is_held(self) -> bool:
        """Whether they are kept."""

    @property
    def dice(self) -> Sequence[CustomDie]:
        """Kept dice."""


class TraySetup(Protocol):
    """Sets the tray up step by step.

    Every step raises CalibrationError if it fails, and ConfigError if its file cannot be written.
    """

    def state(self) -> SetupState:
        """Return the state."""

    def propose(self) -> Sequence[Point] | None:
        """Return proposed corners, if a tray is found."""

    def keep_corners(self, corners: Sequence[Point]) -> None:
        """Keep the tray's corners."""

    def hold_exposure(self) -> None:
        """Keep the held exposure and colours."""

    def look_at_dice(self) -> tuple[int, Sequence[LookedAt]]:
        """Measure the six dice in the tray; return the measurement's number and the dice."""

    def keep_dice(self, plays: Sequence[DieColour], number: int | None = None) -> None:
        """Keep the dice measured last, if that measurement has the given number."""

    def forget(self) -> None:
        """Remove the calibration."""


@dataclass(frozen=True, slots=True)
class Equipment:
    """State of the table's equipment.

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
        """Whether people enter the dice, because no camera sees them."""
        return not self.camera.sees_dice
