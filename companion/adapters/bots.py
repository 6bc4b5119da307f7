"""Answers for the seats that bots play."""

from __future__ import annotations

from companion.adapters.lamp import Follower
from companion.session.session import Session
from companion.session.view import View


class Bots:
    """Follows the table and answers in the open action for every bot that has not."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._follower = Follower(session, self._show, name="bots")

    def close(self) -> None:
        """Stop; may be called twice."""
        self._follower.close()

    def _show(self, view: View) -> None:
        game = view.table.game
        if game is None or not any(game.bots):
            return
        state = game.state
        waiting = [player for player in state.waiting_for if game.bots[player]]
        if not waiting:
            return
        import numpy as np

        from companion.coach.bots import choice_of

        rng = np.random.default_rng()
        for player in waiting:
            box = choice_of(state, player, game.bots[player], rng)
            # an answer that comes too late, after an undo for example, is refused
            self._session.answer(
                game.seats[player], state.turn, state.action, box, done=True, rolled=game.rolled
            )
