"""Decide who sits where, which device proves a seat, and who hosts the table."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count

from companion.audio.settings import VoiceSettings, chosen, is_possible, to_data
from companion.eventlog.names import LONGEST_NAME, clean_name, name_fault, name_key, unproved_seat
from companion.eventlog.record import Change
from companion.eventlog.state import Table, free_seat
from companion.session.decision import Decision, Rejected, nothing, rejected
from companion.session.games import decide_release
from companion.session.play import begin_again
from companion.session.ports import CallLater, Cancel

OFFER_S = 300.0
"""Seconds a seat stays offered to another device: time to fetch a tablet."""


class Offers:
    """Seats that are offered to another device for a while."""

    def __init__(self, call_later: CallLater) -> None:
        self._call_later = call_later
        self._cancels: dict[int, Cancel] = {}

    @property
    def seats(self) -> frozenset[int]:
        """The offered seats."""
        return frozenset(self._cancels)

    def add(self, seat: int, on_expired: Callable[[], None]) -> None:
        """Offer a seat, or extend its offer.

        Args:
            on_expired: Called when nobody claimed the seat in time.
        """

        def expire() -> None:
            if self.withdraw(seat):
                on_expired()

        self.withdraw(seat)
        self._cancels[seat] = self._call_later(OFFER_S, expire)

    def keep(self, seats: Iterable[int]) -> None:
        """End the offers of all other seats."""
        for gone in self.seats.difference(seats):
            self.withdraw(gone)

    def withdraw(self, seat: int) -> bool:
        """End an offer; returns whether there was one."""
        cancel = self._cancels.pop(seat, None)
        if cancel is not None:
            cancel()
        return cancel is not None


def digest(token: str) -> str:
    """The hash of a token, as the log stores it."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def proved_seats(table: Table, tokens: Iterable[str]) -> tuple[int, ...]:
    """The seats that tokens prove, in the order of the tokens."""
    digests = [digest(token) for token in tokens]
    proved = (
        seat.number
        for each in digests
        for seat in table.seats
        if any(hmac.compare_digest(known, each) for known in seat.tokens)
    )
    return tuple(dict.fromkeys(proved))


def decide_join(table: Table, name: str, token: str, device: str | None) -> Decision | Rejected:
    """Give a newcomer a seat; before the first roll they enter the running game.

    Args:
        token: Proves the seat from now on.
        device: Hosts the table if nobody does yet.
    """
    shown = clean_name(name)
    reserved = unproved_seat(table, shown)  # for a missing player of a resumed game
    if reserved is not None:
        proof = {"seat": reserved.number, "token_hash": digest(token), "alone": False}
        decision = nothing(table).then(Change("claimed", proof))
    else:
        fault = name_fault(table, name)
        if fault is not None:
            return rejected(fault, name=shown, longest=LONGEST_NAME)
        number = free_seat(table)
        if number is None:
            return rejected("TABLE_FULL", ruling="E40")
        seated = {"seat": number, "name": shown, "token_hash": digest(token)}
        decision = nothing(table).then(Change("seated", seated))
    return _with_host(begin_again(decision), device)


def decide_bot(table: Table, strength: str) -> Decision | Rejected:
    """Let a bot play a free seat from the next game on.

    Args:
        strength: One of `STRENGTHS`.
    """
    if table.running is not None:
        return rejected("GAME_RUNNING")
    number = free_seat(table)
    if number is None:
        return rejected("TABLE_FULL", ruling="E40")
    taken = {name_key(seat.name) for seat in table.seats}
    name = next(name for n in count(1) if name_key(name := f"Bot {n}") not in taken)
    return nothing(table).then(Change("seated", {"seat": number, "name": name, "bot": strength}))


def decide_leave(table: Table, seat: int) -> Decision | Rejected:
    """Free a seat, unless its game is running."""
    game = table.running
    if game is not None and seat in game.seats:
        return rejected("SEAT_IN_GAME")
    return decide_release(table, seat)


def decide_claim(
    table: Table, seat: int, token: str, *, is_offered: bool, device: str | None
) -> Decision | Rejected:
    """Let a device prove an offered seat; other devices lose their proof of it.

    Args:
        device: Hosts the table if nobody does yet.
    """
    if table.seat(seat) is None:
        return rejected("NO_SUCH_SEAT")
    if not is_offered:
        return rejected("NOT_OFFERED")
    proof = {"seat": seat, "token_hash": digest(token), "alone": True}
    return _with_host(nothing(table).then(Change("claimed", proof)), device)


def _with_host(decision: Decision, device: str | None) -> Decision:
    """Let a device host a table that nobody hosts yet."""
    if device is None or decision.table.hosts:
        return decision
    return decision.then(Change("hosted", {"device": digest(device)}))


def decide_order(table: Table, seats: Sequence[int]) -> Decision | Rejected:
    """Set the order of play, clockwise; a running game keeps its own."""
    now = [seat.number for seat in table.seats]
    if sorted(seats) != sorted(now):
        return rejected("BAD_ORDER")
    if list(seats) == now:
        return nothing(table)
    return nothing(table).then(Change("ordered", {"seats": list(seats)}))


def is_host(table: Table, device: str) -> bool:
    """Whether a device hosts the table; as long as none does, every device may."""
    return not table.hosts or digest(device) in table.hosts


def decide_host(table: Table, device: str) -> Decision:
    """Let a device host the table."""
    if digest(device) in table.hosts:
        return nothing(table)
    return nothing(table).then(Change("hosted", {"device": digest(device)}))


def decide_settings(
    table: Table,
    switches: Mapping[str, bool],
    voice: Mapping[str, str | int],
    configured: VoiceSettings,
) -> Decision:
    """Change settings of the table.

    Args:
        switches: Fields of Settings that are on or off.
        voice: Fields of VoiceSettings.
        configured: Voice settings of the configuration, which the table's choices replace.

    Raises:
        ValueError: A voice setting is impossible.
    """
    for name, value in voice.items():
        if not is_possible(name, value):
            raise ValueError(f"{name}: expected what a table can speak, got {value!r}")
    now, spoken = table.settings, chosen(configured, table.settings.speaking)
    data: dict[str, object] = {
        name: value for name, value in switches.items() if getattr(now, name) != value
    }
    changed = {name: value for name, value in voice.items() if getattr(spoken, name) != value}
    if changed:
        data["speaking"] = to_data(configured, changed)
    return nothing(table).then(Change("set", data)) if data else nothing(table)
