"""The lamp's state for each state of the table (pure)."""

from __future__ import annotations

from enum import StrEnum

from companion.engine import Phase
from companion.session.view import View


class LampState(StrEnum):
    """Signals of the lamp."""

    IDLE = "idle"
    """No game."""
    READY = "ready"
    """Ready to throw."""
    READING = "reading"
    READABLE = "readable"
    """The button would confirm."""
    UNREADABLE = "unreadable"
    MARKS = "marks"
    """An action is open."""
    OVER = "over"
    FAULT = "fault"
    """The camera or the button does not work."""


def lamp_state(view: View) -> LampState:
    """The lamp's signal for a view."""
    game = view.table.game
    if game is None:
        return LampState.IDLE
    if game.state.phase is Phase.OVER:
        return LampState.OVER
    if any(code != "slow" for _, code in view.faults):
        return LampState.FAULT
    if game.state.action:
        return LampState.MARKS
    if view.tray.roll is not None:
        return LampState.READABLE
    if view.tray.status.is_busy:
        return LampState.READING
    return LampState.READY if view.tray.status.is_ready else LampState.UNREADABLE
