"""Who sits at the table: seats taken, left and handed on, the proof of a seat, and who leads."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from companion.engine import Phase
from companion.eventlog.names import LONGEST_NAME, clean_name, name_fault, unproved_seat
from companion.eventlog.state import free_seat
from companion.session.view import Joined, Rejected
from companion.session.writer import Writer

OFFER_S = 300.0
"""How long a seat stays offered to another device: time enough to fetch a tablet."""


class People(Writer):
    """The session's room for people."""

    def seat_of(self, token: str) -> int | None:
        """The seat a token proves, or None."""
        return next(iter(self.seats_of((token,))), None)

    def seats_of(self, tokens: Iterable[str]) -> tuple[int, ...]:
        """The seats a device's tokens prove, in the order of the tokens."""
        digests = [_digest(token) for token in tokens]
        seats = self._table.seats
        proved = (
            seat.number
            for digest in digests
            for seat in seats
            if any(hmac.compare_digest(known, digest) for known in seat.tokens)
        )
        return tuple(dict.fromkeys(proved))

    def join(self, name: str) -> Joined | Rejected:
        """Give a newcomer a seat."""
        shown = clean_name(name)
        with self._notifier.transaction():
            waiting = unproved_seat(self._table, shown)
            if waiting is not None:  # it was kept for them when a saved game was taken up
                return self.claim(waiting.number, is_known=True)
            fault = name_fault(self._table, shown)
            if fault is not None:
                return self._no(fault, name=shown, longest=LONGEST_NAME)
            number = free_seat(self._table)
            if number is None:
                return self._no("TABLE_FULL", ruling="E40")
            token = secrets.token_hex(16)
            self._keep("seated", {"seat": number, "name": shown, "token_hash": _digest(token)})
            return Joined(number, token)

    def leave(self, seat: int) -> Rejected | None:
        """Free a seat; not while its game is running."""
        with self._notifier.transaction():
            game = self._table.game
            if game and seat in game.seats and game.state.phase is not Phase.OVER:
                return self._no("SEAT_IN_GAME")
            if self._table.seat(seat) is not None:
                self._keep("left", {"seat": seat})
            return None

    # -- a seat on another device ---------------------------------------------------------

    def offer(self, seat: int) -> Rejected | None:
        """Let another device claim a seat for a while; the game goes on meanwhile."""
        with self._notifier.transaction():
            if self._table.seat(seat) is None:
                return self._no("NO_SUCH_SEAT")
            if seat in self._offered:
                self._offered[seat]()
            self._offered[seat] = self._call_later(OFFER_S, partial(self._take_back, seat))
            self._notifier.touch()
            return None

    def claim(self, seat: int, *, is_known: bool = False) -> Joined | Rejected:
        """Give a device the proof of a seat that was offered; the old devices lose theirs.

        Args:
            is_known: The device is one that had the seat before: it needs no offer, and the
                others keep their proof.
        """
        with self._notifier.transaction():
            if self._table.seat(seat) is None:
                return self._no("NO_SUCH_SEAT")
            if not is_known and seat not in self._offered:
                return self._no("NOT_OFFERED")
            token = secrets.token_hex(16)
            proof = {"seat": seat, "token_hash": _digest(token), "alone": not is_known}
            self._keep("claimed", proof)
            self._take_back(seat)
            return Joined(seat, token)

    def _take_back(self, seat: int) -> None:
        with self._notifier.transaction():
            cancel = self._offered.pop(seat, None)
            if cancel is not None:
                cancel()
                self._notifier.touch()

    # -- the table ------------------------------------------------------------------------

    def order(self, seats: Sequence[int]) -> Rejected | None:
        """Set the order of play, clockwise; a running game keeps its own."""
        with self._notifier.transaction():
            now = [seat.number for seat in self._table.seats]
            if sorted(seats) != sorted(now):
                return self._no("BAD_ORDER")
            if list(seats) != now:
                self._keep("ordered", {"seats": list(seats)})
            return None

    def settle(self, chosen: Mapping[str, bool]) -> None:
        """Change what the table is set to: `hints`, `sound`."""
        with self._notifier.transaction():
            now = self._table.settings
            changed = {key: value for key, value in chosen.items() if getattr(now, key) != value}
            if changed:
                self._keep("set", changed)
                self._notifier.call_after_commit(self.on_set)

    def is_host(self, device: str) -> bool:
        """Whether a device may lead the table; as long as none was named, each may."""
        hosts = self._table.hosts
        return not hosts or _digest(device) in hosts

    def make_host(self, device: str) -> None:
        """Let a device lead the table, also after a restart."""
        with self._notifier.transaction():
            if _digest(device) not in self._table.hosts:
                self._keep("hosted", {"device": _digest(device)})

    def connected(self, seat: int) -> None:
        """A page of this seat is open."""
        with self._notifier.transaction():
            self._online[seat] = self._online.get(seat, 0) + 1
            self._notifier.touch()

    def disconnected(self, seat: int) -> None:
        """A page of this seat was closed."""
        with self._notifier.transaction():
            left = self._online.pop(seat, 1) - 1
            if left > 0:
                self._online[seat] = left
            self._notifier.touch()


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
