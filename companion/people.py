"""Who sits at the table: seats taken and left, the proof of a seat, whose page is open."""

from __future__ import annotations

import hashlib
import hmac
import secrets

from companion.engine import Phase
from companion.table import LONGEST_NAME, clean_name, free_seat, name_fault
from companion.view import Declined, Joined
from companion.writer import Writer


class People(Writer):
    """The session's room for people."""

    def seat_of(self, token: str) -> int | None:
        """The seat a token proves, or None."""
        digest = _digest(token)
        for seat in self._table.seats:
            if hmac.compare_digest(seat.token_hash, digest):
                return seat.number
        return None

    def join(self, name: str) -> Joined | Declined:
        """Give a newcomer a seat."""
        shown = clean_name(name)
        with self._telling.changing():
            fault = name_fault(self._table, shown)
            if fault is not None:
                return self._no(fault, name=shown, longest=LONGEST_NAME)
            number = free_seat(self._table)
            if number is None:
                return self._no("TABLE_FULL", ruling="E40")
            token = secrets.token_hex(16)
            self._keep("seated", {"seat": number, "name": shown, "token_hash": _digest(token)})
            return Joined(number, token)

    def leave(self, seat: int) -> Declined | None:
        """Free a seat; not while its game is running."""
        with self._telling.changing():
            game = self._table.game
            if game and seat in game.seats and game.state.phase is not Phase.OVER:
                return self._no("SEAT_IN_GAME")
            if self._table.seat(seat) is not None:
                self._keep("left", {"seat": seat})
            return None

    def connected(self, seat: int) -> None:
        """A page of this seat is open."""
        with self._telling.changing():
            self._online[seat] = self._online.get(seat, 0) + 1
            self._telling.touch()

    def disconnected(self, seat: int) -> None:
        """A page of this seat was closed."""
        with self._telling.changing():
            left = self._online.pop(seat, 1) - 1
            if left > 0:
                self._online[seat] = left
            self._telling.touch()


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
