"""What the page needs besides the session: the tray's picture and the state of the equipment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from companion.pictures import KeptPicture

TYPED_ONLY = ("none", "lost")
"""Cameras whose dice have to be entered by hand."""


class Tray(Protocol):
    """The camera, as far as people on the page reach it."""

    @property
    def can_throw(self) -> bool:
        """Whether `throw` works: only the simulated tray can."""

    @property
    def mishaps(self) -> Sequence[str]:
        """Ways in which a simulated throw can be told to go wrong; none of a real tray."""

    @property
    def troubles(self) -> Sequence[str]:
        """What the simulated camera can be told to suffer; nothing of a real one."""

    def throw(self, *, mishap: str | None = None) -> None:
        """Throw the dice in play and return at once."""

    def trouble(self, name: str) -> None:
        """Let the simulated camera suffer one of `troubles`."""

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


@dataclass(frozen=True, slots=True)
class Equipment:
    """How the table's parts are.

    Attributes:
        camera: ok, simulated, none or lost.
        button: ok, mock, none or lost; unless it is ok the page has a button of its own.
    """

    camera: str = "none"
    button: str = "none"

    @property
    def on_screen_button(self) -> bool:
        """Whether pages show a button that confirms the roll."""
        return self.button != "ok"

    @property
    def typed_rolls(self) -> bool:
        """Whether dice are entered by hand because no camera sees them."""
        return self.camera in TYPED_ONLY
