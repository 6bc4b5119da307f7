"""Decide steps of an evening with several games and changing people (pure)."""

from __future__ import annotations

from companion.engine import MOST_PLAYERS, GameState, Phase, SeatClosed
from companion.eventlog.names import name_key
from companion.eventlog.record import Change
from companion.eventlog.state import Table
from companion.messages.announcements import (
    Announcement,
    announce_open,
    announce_paused,
    announce_turn,
)
from companion.session.decision import Decision, Rejected, decide_move, nothing, rejected


def decide_pause(table: Table) -> Decision | Rejected:
    """Put the running game aside; it can be resumed another evening."""
    game = table.running
    if game is None:
        return rejected("NO_GAME", key="press.no_game")
    return nothing(table).then(Change("paused"), announcement=announce_paused(game.number))


def decide_resume(table: Table, number: int) -> Decision | Rejected:
    """Resume a game that was put aside.

    Its players find their seats by their names; for a missing player a seat is reserved, and a
    missing bot comes back.
    """
    if table.running is not None:
        return rejected("GAME_RUNNING")
    game = next((each for each in table.paused if each.number == number), None)
    if game is None:
        return rejected("NO_SUCH_GAME")
    known = {name_key(seat.name): seat.number for seat in table.seats}
    taken = set(known.values())
    free = [seat for seat in range(MOST_PLAYERS) if seat not in taken]
    keys = [name_key(name) for name in game.names]
    here = [player for player in range(len(keys)) if player not in game.state.gone]
    missing = [player for player in here if keys[player] not in known]
    if len(missing) > len(free):
        return rejected("NO_ROOM")
    changes = []
    for player, seat in zip(missing, free, strict=False):
        bot = {"bot": game.bots[player]} if any(game.bots) else {}
        changes.append(Change("seated", {"seat": seat, "name": game.names[player]} | bot))
        known[keys[player]] = seat
    seats = [known[key] if n in here else game.seats[n] for n, key in enumerate(keys)]
    resumed = Change("resumed", {"number": number, "seats": seats})
    where = announce_position(game.state, game.names)
    return nothing(table).then(*changes, resumed, announcement=where)


def announce_position(state: GameState, names: tuple[str, ...]) -> Announcement | None:
    """Where a game stands: the open action, or whose turn it is; None once it is over."""
    if state.action:
        return announce_open(state, names)
    return announce_turn(names[state.active]) if state.phase is Phase.ROLL else None


def decide_release(
    table: Table,
    seat: int,
    due: tuple[str, int | None] | None = None,
    *,
    is_overtaken: bool = False,
) -> Decision | Rejected:
    """Free a seat; in a running game its points stay and its turns are skipped.

    Args:
        due: Its player and the number of the running game for which it was asked, if known.
        is_overtaken: Its player has answered since.
    """
    game, decision = table.running, nothing(table)
    held = table.seat(seat)
    now = (held.name if held else None, game.number if game else None)
    if is_overtaken or due not in (None, now):
        return rejected("GONE_ON")
    if game is not None and seat in game.seats:
        closed = decide_move(table, SeatClosed(game.seats.index(seat)))
        if isinstance(closed, Rejected):
            return closed
        decision = closed
    if table.seat(seat) is None:
        return decision
    return decision.then(Change("left", {"seat": seat}))
