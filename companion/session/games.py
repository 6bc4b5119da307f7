"""Many games with changing people: put aside, taken up again, remembered."""

from __future__ import annotations

from companion.engine import MOST_PLAYERS, Phase, SeatClosed
from companion.eventlog.record import Record
from companion.eventlog.state import Game
from companion.history.archive import SavedGame
from companion.messages.announcements import announce_paused
from companion.session.play import GameSteps
from companion.session.view import Rejected


class GameNight(GameSteps):
    """The session's room for more than one game."""

    def games(self) -> list[SavedGame]:
        """Every game there ever was at this table, the oldest first."""
        return self._archive.brought_up_to_date(self._fresh)

    def _fresh(self, seen: int) -> list[Record]:
        with self._notifier.transaction():
            return list(self._store.load(seen))

    def pause(self) -> Rejected | None:
        """Put the running game aside; it can be taken up another evening."""
        with self._notifier.transaction():
            game = self._table.game
            if game is None or game.state.phase is Phase.OVER:
                return self._no("NO_GAME", key="press.no_game")
            self._keep("paused", {})
            self._closing_told_s = None
            self._notifier.publish(announce_paused(game.number))
            return None

    def resume(self, number: int) -> Rejected | None:
        """Take up a game that was put aside.

        Its players find their seats by their names; one who is not there yet gets a seat that
        waits for them.
        """
        with self._notifier.transaction():
            now = self._table.game
            if now is not None and now.state.phase is not Phase.OVER:
                return self._no("GAME_RUNNING")
            game = next((each for each in self._table.paused if each.number == number), None)
            if game is None:
                return self._no("NO_SUCH_GAME")
            seats = self._seats_for(game)
            if seats is None:
                return self._no("NO_ROOM")
            self._keep("resumed", {"number": number, "seats": seats})
            self._tell_where_it_stands(game)
            return None

    def let_in(self) -> None:
        """Take everybody seated into a game that has not seen its first roll."""
        with self._notifier.transaction():
            game = self._table.game
            if game is None or game.rolled or game.state.phase is not Phase.ROLL:
                return
            seats = [seat.number for seat in self._table.seats]
            gone = [game.seats[player] for player in game.state.gone]
            first = game.seats[game.state.active]
            if first in seats and set(seats) > set(game.seats).difference(gone):
                house = [rule.value for rule in game.state.setup.house]
                plan = game.state.plan.name
                self._begin(plan, seats, seats.index(first), house, game.number)

    def let_go(self, seat: int) -> Rejected | None:
        """Free a seat; in a running game its points are kept and its turns are passed over."""
        with self._notifier.transaction():
            game = self._table.game
            is_on = game is not None and game.state.phase is not Phase.OVER
            if game is not None and is_on and seat in game.seats:
                rejected = self._play_locked(SeatClosed(game.seats.index(seat)), data={})
                if rejected is not None:
                    return rejected
            if self._table.seat(seat) is not None:
                self._keep("left", {"seat": seat})
            return None

    def _seats_for(self, game: Game) -> list[int] | None:
        """Seats for a saved game's players; None where the table has no room for them all."""
        known = {seat.name.casefold(): seat.number for seat in self._table.seats}
        taken = set(known.values())
        free = [number for number in range(MOST_PLAYERS) if number not in taken]
        gone = [game.names[player] for player in game.state.gone]
        names = [name for name in game.names if name not in gone]
        missing = [name for name in names if name.casefold() not in known]
        if len(missing) > len(free):
            return None
        for name, number in zip(missing, free, strict=False):
            self._keep("seated", {"seat": number, "name": name})
            known[name.casefold()] = number
        return [
            game.seats[player] if name in gone else known[name.casefold()]
            for player, name in enumerate(game.names)
        ]
