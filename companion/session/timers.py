"""When an open action closes by itself: soon after the last answer, never too soon."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

from companion.eventlog.record import Change
from companion.eventlog.state import Game, Table
from companion.session.decision import Decision
from companion.session.ports import CallLater, Cancel

GRACE_S = 1.5
"""Least seconds a tapped answer may be withdrawn once everybody has answered (E9)."""

CLOSING_GRACE_S = 4.0
"""Least seconds to change an answer after "Emma closes red" was announced (E46)."""

RETRY_S = 2.0
"""Seconds between two attempts to store the closing of an action on a full disk."""


@dataclass(frozen=True, slots=True)
class ActionTimes:
    """Times of the open action, on the session's clock.

    Attributes:
        opened_s: When it was opened.
        closings_announced_s: When it was last announced who is about to close a row, or None.
    """

    opened_s: float = -math.inf
    closings_announced_s: float | None = None


def times_after(times: ActionTimes, before: Table, decision: Decision, now_s: float) -> ActionTimes:
    """The times after a step.

    Args:
        before: The table before the step.
        now_s: When the step was taken.
    """
    was, game = before.game, decision.table.game
    if game is None:
        return replace(times, closings_announced_s=None)
    is_undo = any(isinstance(e, Change) and e.kind == "undone" for e in decision.entries)
    if is_undo or (was is not None and was.number == game.number and _turn(was) != _turn(game)):
        times = ActionTimes(now_s)
    if any("closing" in (each.kind, *each.also) for each in decision.announcements):
        times = replace(times, closings_announced_s=now_s)
    return times


def closes_at_s(
    game: Game | None, now_s: float, times: ActionTimes, take_back_s: float
) -> float | None:
    """When the open action closes, or None while an answer is missing.

    Args:
        now_s: When the newest answer came.
        take_back_s: Seconds a revocable answer may be withdrawn.
    """
    if game is None or game.state.action == 0 or game.state.waiting_for:
        return None
    state = game.state
    answering = set(range(state.players)) - state.gone if state.action == 1 else {state.active}
    at_s = now_s if game.done.issuperset(answering) else now_s + GRACE_S
    if game.revocable & answering:
        at_s = max(at_s, now_s + take_back_s)
    announced_s = times.closings_announced_s
    if announced_s is not None and state.action == 1 and len(answering) > 1:
        at_s = max(at_s, announced_s + CLOSING_GRACE_S)
    return at_s


class ActionTimer:
    """The timer that closes the open action.

    Attributes:
        closes_at_s: When it closes, on the session's clock; None while an answer is missing.
    """

    def __init__(self, call_later: CallLater, close: Callable[[Game], None]) -> None:
        """Set up the timer.

        Args:
            call_later: Must hold the session's lock while it calls.
            close: Closes the action, unless the game has gone on by then.
        """
        self.closes_at_s: float | None = None
        self._call_later, self._close = call_later, close
        self._cancel: Cancel = lambda: None

    def set(self, game: Game | None, now_s: float, times: ActionTimes, take_back_s: float) -> None:
        """Set the time anew after a step of the game; an action that is due closes at once."""
        self._cancel()
        self.closes_at_s = closes_at_s(game, now_s, times, take_back_s)
        if game is None or self.closes_at_s is None:
            return
        if self.closes_at_s <= now_s:
            self._close(game)
        else:
            self._later(self.closes_at_s - now_s, game)

    def retry(self, game: Game) -> None:
        """Try again in a while, since the closing could not be stored."""
        self._later(RETRY_S, game)

    def _later(self, seconds: float, game: Game) -> None:
        self._cancel = self._call_later(seconds, lambda: self._close(game))


def _turn(game: Game) -> tuple[int, int]:
    return game.state.turn, game.state.action
