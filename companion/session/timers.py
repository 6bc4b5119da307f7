"""When an open action closes by itself (pure): soon after the last answer, never too soon."""

from __future__ import annotations

from companion.eventlog.state import Game

GRACE_S = 1.5
"""How long a tapped answer may still be taken back once everybody has answered (E9)."""

CLOSING_GRACE_S = 4.0
"""How long after "Emma closes red" everybody may at least change their answer (E46)."""


def closes_at_s(game: Game | None, now_s: float, closing_told_s: float | None) -> float | None:
    """The time the open action closes, or None while somebody has still to answer.

    Args:
        now_s: When the newest answer came.
        closing_told_s: When it was last told that somebody is about to close a row.
    """
    if game is None or game.state.action == 0 or game.state.waiting_for:
        return None
    state = game.state
    answering = set(range(state.players)) - state.gone if state.action == 1 else {state.active}
    at_s = now_s if game.done.issuperset(answering) else now_s + GRACE_S
    if closing_told_s is not None and state.action == 1 and len(answering) > 1:
        at_s = max(at_s, closing_told_s + CLOSING_GRACE_S)
    return at_s
