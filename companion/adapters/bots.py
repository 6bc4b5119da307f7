"""Answers for the seats that bots play, and the coach's advice in practice games."""

from __future__ import annotations

from collections.abc import Mapping

from companion.adapters.follower import Follower
from companion.engine import Choice, GameState
from companion.eventlog.state import Game
from companion.session.session import Session
from companion.session.view import View


class Bots:
    """Follows the table, answers for every bot, and knows what the coach would answer."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._advice: dict[tuple[int, GameState], dict[int, Choice]] = {}
        self._follower = Follower(session, self._show, name="bots")

    def advice(self, game: Game) -> Mapping[int, Choice]:
        """By player, what the coach would cross in the open action; empty outside practice."""
        return self._advice.get((game.number, _asked(game.state)), {})

    def close(self) -> None:
        """Stop; may be called twice."""
        self._follower.close()

    def _show(self, view: View) -> None:
        game = view.table.game
        if game is None or not (any(game.bots) or game.practice):
            self._advice = {}
            return
        state = game.state
        if game.practice:
            self._advise(game)
        waiting = [player for player in state.waiting_for if game.bots[player]]
        if not waiting:
            return
        from companion.coach.bots import choice_of

        for player in waiting:
            box = choice_of(state, player, game.bots[player])
            # an answer that comes too late, after an undo for example, is refused
            seat, since = game.seats[player], game.dice_since
            self._session.answer(seat, state.turn, state.action, box, done=True, dice_since=since)

    def _advise(self, game: Game) -> None:
        key = (game.number, _asked(game.state))
        if not game.state.action or key in self._advice:
            return
        from companion.coach.bots import advice_of

        asked = [game.state.active] if game.state.action == 2 else range(game.state.players)
        people = [p for p in asked if not game.bots[p] and p not in game.state.gone]
        self._advice = {key: {player: advice_of(game.state, player) for player in people}}
        self._session.show_anew()


def _asked(state: GameState) -> GameState:
    """The state that advice depends on: answers do not change it."""
    return state._replace(answers=(None,) * state.players)
