"""What the pages are given: the session, and the few things around it that a person may ask for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from companion.session import Session


def _nothing() -> None:
    return None


@dataclass(frozen=True, slots=True)
class Desk:
    """The session with its camera and button, as far as pages need them.

    Attributes:
        session: The table.
        version: Of this software.
        language: Of the table.
        press: The on-screen button; takes the way of the real one.
        throw: Throws the simulated dice; None where the dice are real.
        jpeg: A picture of the tray by its number (None for the newest); None where it is gone.
        camera: ok, simulated, none or lost.
        button: ok, mock, none or lost.
        is_on_screen_button_needed: Whether there is no real button at work.
        join_url: The address phones can open; set once the server listens.
    """

    session: Session
    version: str = ""
    language: str = "en"
    press: Callable[[], None] = _nothing
    throw: Callable[[], None] | None = None
    jpeg: Callable[[int | None], bytes | None] = lambda number: None
    camera: Callable[[], str] = lambda: "none"
    button: Callable[[], str] = lambda: "none"
    is_on_screen_button_needed: Callable[[], bool] = lambda: True
    join_url: list[str] = field(default_factory=list)
