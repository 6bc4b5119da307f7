"""The reducer: apply one entry of the event log to the table (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from companion.audio.settings import from_data
from companion.engine import (
    MOST_PLAYERS,
    PLANS,
    ActionClosed,
    Answered,
    Fact,
    GameState,
    HouseRule,
    Phase,
    Refusal,
    RollCorrected,
    Rolled,
    SeatClosed,
    Withdrawn,
    apply,
    new_game,
)
from companion.errors import NotationError
from companion.eventlog.record import Change, Entry, Move, to_record
from companion.eventlog.state import STRENGTHS, SWITCHES, Game, Seat, Table

MOST_DEVICES = 4
"""Most devices that prove one seat: a phone that opens the table under several addresses."""

MOST_HOSTS = 8
"""Most devices that may host the table; the newest stay."""


@dataclass(frozen=True, slots=True)
class Reduced:
    """The table after an entry, and the facts that followed from it."""

    table: Table
    facts: tuple[Fact, ...] = ()


def reduce(table: Table, entry: Entry, revision: int) -> Reduced | Refusal:
    """Apply an entry to the table.

    Args:
        revision: The entry's number in the log.

    Returns:
        The table after it, or the rule that forbids it.

    Raises:
        NotationError: A change cannot be understood or does not fit the table.
    """
    table = replace(table, revision=revision)
    if isinstance(entry, Move):
        return _moved(table, entry)
    try:
        return Reduced(_changed(table, entry))
    except (LookupError, ValueError, TypeError, AttributeError, StopIteration) as error:
        raise NotationError(f"record {revision}: bad {entry.kind!r}: {error}") from error


def _changed(table: Table, change: Change) -> Table:
    data = change.data
    match change.kind:
        case "seated" | "left" | "claimed" | "ordered":
            seats, game = _seats(table, change), table.game
            if change.kind == "left" and game is not None and game.state.phase is Phase.OVER:
                game = _without(game, data["seat"])
            return replace(table, seats=seats, game=game)
        case "hosted":
            hosts = tuple(host for host in table.hosts if host != data["device"])
            return replace(table, hosts=(*hosts, data["device"])[-MOST_HOSTS:])
        case "set":
            known = {key: bool(data[key]) for key in SWITCHES if key in data}
            speaking = from_data(data.get("speaking", {}), table.settings.speaking)
            return replace(table, settings=replace(table.settings, speaking=speaking, **known))
        case "started":
            order = tuple(data["seats"])
            house = [HouseRule(rule) for rule in data.get("house", [])]
            state = new_game(PLANS[data["variant"]], len(order), data["first"], house=house)
            names = tuple(str(name) for name in data["names"])
            if len(names) != len(order):
                raise ValueError(f"expected {len(order)} names, got {len(names)}")
            bots = tuple(map(_strength, data.get("bots", [""] * len(order))))
            if len(bots) != len(order):
                raise ValueError(f"expected {len(order)} bots or people, got {len(bots)}")
            practice = data.get("practice") is True
            game = Game(data["number"], order, state, names, bots, practice=practice)
            return replace(table, game=game, games=max(table.games, game.number))
        case "paused":
            return _paused(table)
        case "resumed":
            return _resumed(table, data)
        case "imported":
            return replace(table, games=max(table.games, data["number"]))
    raise NotationError(f"record {table.revision}: unknown kind {change.kind!r}")


def _moved(table: Table, move: Move) -> Reduced | Refusal:
    if table.game is None:
        kind = to_record(move, table.revision).kind
        raise NotationError(f"record {table.revision}: {kind!r} outside a game")
    step = apply(table.game.state, move.event)
    if isinstance(step, Refusal):
        return step
    game = _next(table.game, step.state, move, table.revision)
    return Reduced(replace(table, game=game), step.facts)


def _seats(table: Table, change: Change) -> tuple[Seat, ...]:
    """The seats after a change to them."""
    data, seats = change.data, table.seats
    if change.kind == "ordered":
        number = list(data["seats"])
        if sorted(number) != sorted(seat.number for seat in seats):
            raise ValueError(f"expected the taken seats, got {number!r}")
        return tuple(sorted(seats, key=lambda seat: number.index(seat.number)))
    if change.kind == "claimed":
        old = table.seat(data["seat"])
        if old is None:
            raise ValueError(f"nobody has seat {data['seat']!r}")
        kept = () if data["alone"] else old.tokens
        claimed = replace(old, tokens=(*kept, data["token_hash"])[-MOST_DEVICES:])
        return tuple(claimed if seat is old else seat for seat in seats)
    others = tuple(seat for seat in seats if seat.number != data["seat"])
    if change.kind == "left":
        return others
    tokens = (data["token_hash"],) if "token_hash" in data else ()
    return (*others, Seat(data["seat"], data["name"], tokens, _strength(data.get("bot", ""))))


def _strength(bot: object) -> str:
    """A bot's strength, or empty for a person.

    Raises:
        ValueError: It is none of them.
    """
    if bot not in ("", *STRENGTHS):
        raise ValueError(f"expected a bot's strength, got {bot!r}")
    return str(bot)


def _paused(table: Table) -> Table:
    if table.game is None:
        raise ValueError("no game to put aside")
    return replace(table, game=None, paused=(*table.paused, table.game))


def _resumed(table: Table, data: Mapping[str, Any]) -> Table:
    game = next(game for game in table.paused if game.number == data["number"])
    seats = tuple(data["seats"])
    if len(seats) != len(game.seats) or len(set(seats)) != len(seats):
        raise ValueError(f"expected {len(game.seats)} seats, got {seats!r}")
    paused = tuple(each for each in table.paused if each is not game)
    return replace(table, game=replace(game, seats=seats), paused=paused)


def next_to_begin(game: Game, seats: Sequence[int]) -> int:
    """Index of the seat that begins a rematch: the next one clockwise (E44)."""
    began = game.state.first
    following = [*game.seats[began + 1 :], *game.seats[: began + 1]]
    if game.seats[began] in seats:
        return (seats.index(game.seats[began]) + 1) % len(seats)
    return next((seats.index(seat) for seat in following if seat in seats), 0)


def _without(game: Game, seat: int) -> Game:
    """Give the player of a seat a number no seat has: the seat's next owner is somebody else.

    It is `MOST_PLAYERS` more, unless somebody left that seat before the game was resumed.
    """
    others = (MOST_PLAYERS + (seat + n) % MOST_PLAYERS for n in range(MOST_PLAYERS))
    number = next(each for each in others if each not in game.seats)
    return replace(game, seats=tuple(number if each == seat else each for each in game.seats))


def _next(game: Game, state: GameState, move: Move, revision: int) -> Game:
    done, revocable, typed = game.done, game.revocable, game.typed
    match move.event:
        case Answered(player):
            done = _with(done, player, bool(move.details.get("done")))
            revocable = _with(revocable, player, bool(move.details.get("revocable")))
        case Withdrawn(player):
            done, revocable = done - {player}, revocable - {player}
        case Rolled():
            done = revocable = frozenset()
            typed = bool(move.details.get("typed"))
            game = replace(game, rolled=revision, corrected=0)
        case RollCorrected():
            game = replace(game, corrected=revision)
        case ActionClosed():
            done = revocable = frozenset()
        case SeatClosed(player):
            game = _without(game, game.seats[player])
    return replace(game, state=state, done=done, revocable=revocable, typed=typed)


def _with(players: frozenset[int], player: int, is_in: bool) -> frozenset[int]:
    return players | {player} if is_in else players - {player}
