"""Chances to win for a table view, computed in a process that yields to the reader."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from companion.adapters.follower import Follower
from companion.coach.worker import Worker, WorkerError
from companion.session.session import Session
from companion.session.view import View

if TYPE_CHECKING:
    from companion.coach.chances import Chance, Position

WITHIN_S = 0.4
"""A batch that takes longer is halved the next time, so that slow machines keep up. One that takes
less than a third is doubled."""

MOST_GAMES, FEWEST_GAMES = 400, 100


class LiveChances:
    """Follows the table and knows the chances of the running game while its host wants them."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._known: tuple[int, Position, tuple[Chance, ...]] | None = None
        self._games = MOST_GAMES
        self._worker = Worker()
        self._follower = Follower(session, self._show, name="chances")

    def of(self, number: int) -> tuple[Chance, ...]:
        """By player, the newest chances in a game; empty while there are none."""
        known = self._known
        return known[2] if known is not None and known[0] == number else ()

    def close(self) -> None:
        """Stop; may be called twice."""
        self._worker.close()
        self._follower.close()

    def _show(self, view: View) -> None:
        game = view.table.game
        if game is None or not view.table.settings.chances or game.state.players < 2:
            self._know(None)
            return
        from companion.coach.chances import chances, position_of

        position = position_of(game.state)
        if position is None:
            self._know(None)
            return
        if self._known is not None and self._known[:2] == (game.number, position):
            return
        began_s = time.monotonic()
        try:
            found = self._worker.call(chances, position, self._games)
        except WorkerError:
            if self._worker.is_closed:
                return
            self._know(None)  # those of an earlier roll are no longer true
            raise
        took_s = time.monotonic() - began_s
        if took_s > WITHIN_S:
            self._games = max(FEWEST_GAMES, self._games // 2)
        elif took_s < WITHIN_S / 3:
            self._games = min(MOST_GAMES, self._games * 2)
        self._know((game.number, position, found))

    def _know(self, known: tuple[int, Position, tuple[Chance, ...]] | None) -> None:
        if known != self._known:
            self._known = known
            self._session.show_anew()
