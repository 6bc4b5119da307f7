"""What the lamp is to say, by how things stand (pure)."""

from __future__ import annotations

from companion.engine import Phase
from companion.session.view import View

LAMP_STATES = (
    "idle",
    "ready",
    "reading",
    "readable",
    "unreadable",
    "marks",
    "over",
    "fault",
)
"""No game; ready to throw; the eye is at work; the button would confirm; it cannot be read;
marks are open; the game is over; the camera or the button does not work."""


def lamp_state(view: View) -> str:
    """One of LAMP_STATES."""
    game = view.table.game
    if game is None:
        return "idle"
    if game.state.phase is Phase.OVER:
        return "over"
    if any(code != "slow" for _, code in view.faults):
        return "fault"
    if game.state.action:
        return "marks"
    if view.tray.roll is not None:
        return "readable"
    if view.tray.status.is_busy:
        return "reading"
    return "ready" if view.tray.status.is_ready else "unreadable"
