"""What the page needs besides the session: the tray's picture and the state of the equipment."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

TYPED_ONLY = ("none", "lost")
"""Cameras whose dice have to be entered by hand."""


class Tray(Protocol):
    """The camera, as far as people on the page reach it."""

    @property
    def can_throw(self) -> bool:
        """Whether `throw` works: only the simulated tray can."""

    def throw(self) -> None:
        """Throw the dice in play and return at once."""

    def jpeg(self, number: int | None = None) -> bytes | None:
        """A picture as JPEG, the newest without a number; None where there is none."""


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
