"""Apply one record to the table (pure)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from companion.audio.settings import from_data
from companion.engine import (
    MOST_PLAYERS,
    PLANS,
    Fact,
    GameState,
    HouseRule,
    Phase,
    Refusal,
    apply,
    new_game,
)
from companion.errors import NotationError
from companion.eventlog.record import Record, to_event
from companion.eventlog.state import Game, Seat, Table

MOST_DEVICES = 4
"""Devices that may prove one seat: a phone under the table's several addresses."""


MOST_HOSTS = 8
"""Devices that may lead the table; the newest stay."""


@dataclass(frozen=True, slots=True)
class Advance:
    """The table after a record, and what followed from it."""

    table: Table
    facts: tuple[Fact, ...] = ()


def advance(table: Table, record: Record) -> Advance | Refusal:
    """Fold one record into the table.

    Raises:
        NotationError: The record cannot be understood or does not fit the table.
    """
    data = record.data
    table = replace(table, revision=record.revision)
    try:
        match record.kind:
            case "seated" | "left" | "claimed" | "ordered":
                seats, game = _seats(table, record), table.game
                if record.kind == "left" and game is not None and game.state.phase is Phase.OVER:
                    game = _without(game, data["seat"])
                return Advance(replace(table, seats=seats, game=game))
            case "hosted":
                hosts = tuple(host for host in table.hosts if host != data["device"])
                return Advance(replace(table, hosts=(*hosts, data["device"])[-MOST_HOSTS:]))
            case "set":
                known = {key: bool(data[key]) for key in ("hints", "sound") if key in data}
                speaking = from_data(data.get("speaking", {}), table.settings.speaking)
                settings = replace(table.settings, speaking=speaking, **known)
                return Advance(replace(table, settings=settings))
            case "started":
                order = tuple(data["seats"])
                house = [HouseRule(rule) for rule in data.get("house", [])]
                state = new_game(PLANS[data["variant"]], len(order), data["first"], house=house)
                names = tuple(str(name) for name in data["names"])
                if len(names) != len(order):
                    raise ValueError(f"expected {len(order)} names, got {len(names)}")
                game = Game(data["number"], order, state, names)
                return Advance(replace(table, game=game, games=max(table.games, game.number)))
            case "paused" | "resumed":
                put = _put_aside(table) if record.kind == "paused" else _taken_up(table, data)
                return Advance(put)
            case "imported":
                return Advance(replace(table, games=max(table.games, data["number"])))
    except (LookupError, ValueError, TypeError, AttributeError, StopIteration) as error:
        raise NotationError(f"record {record.revision}: bad {record.kind!r}: {error}") from error
    event = to_event(record)
    if event is None:
        raise NotationError(f"record {record.revision}: unknown kind {record.kind!r}")
    if table.game is None:
        raise NotationError(f"record {record.revision}: {record.kind!r} outside a game")
    step = apply(table.game.state, event)
    if isinstance(step, Refusal):
        return step
    return Advance(replace(table, game=_next(table.game, step.state, record)), step.facts)


def _seats(table: Table, record: Record) -> tuple[Seat, ...]:
    """The seats after a record about them."""
    data, seats = record.data, table.seats
    if record.kind == "ordered":
        number = list(data["seats"])
        if sorted(number) != sorted(seat.number for seat in seats):
            raise ValueError(f"expected the taken seats, got {number!r}")
        return tuple(sorted(seats, key=lambda seat: number.index(seat.number)))
    if record.kind == "claimed":
        old = table.seat(data["seat"])
        if old is None:
            raise ValueError(f"nobody has seat {data['seat']!r}")
        kept = () if data["alone"] else old.tokens
        claimed = replace(old, tokens=(*kept, data["token_hash"])[-MOST_DEVICES:])
        return tuple(claimed if seat is old else seat for seat in seats)
    others = tuple(seat for seat in seats if seat.number != data["seat"])
    if record.kind == "left":
        return others
    tokens = (data["token_hash"],) if "token_hash" in data else ()
    return (*others, Seat(data["seat"], data["name"], tokens))


def _put_aside(table: Table) -> Table:
    if table.game is None:
        raise ValueError("no game to put aside")
    return replace(table, game=None, paused=(*table.paused, table.game))


def _taken_up(table: Table, data: Mapping[str, Any]) -> Table:
    game = next(game for game in table.paused if game.number == data["number"])
    seats = tuple(data["seats"])
    if len(seats) != len(game.seats) or len(set(seats)) != len(seats):
        raise ValueError(f"expected {len(game.seats)} seats, got {seats!r}")
    paused = tuple(each for each in table.paused if each is not game)
    return replace(table, game=replace(game, seats=seats), paused=paused)


def next_to_begin(game: Game, seats: Sequence[int]) -> int:
    """The place of who begins a rematch: the next seat, clockwise (E44)."""
    began = game.state.first
    following = [*game.seats[began + 1 :], *game.seats[: began + 1]]
    if game.seats[began] in seats:
        return (seats.index(game.seats[began]) + 1) % len(seats)
    return next((seats.index(seat) for seat in following if seat in seats), 0)


def _without(game: Game, seat: int) -> Game:
    """The game with a number no seat has for who is gone: whoever sits there next is another."""
    seats = (MOST_PLAYERS + n if each == seat else each for n, each in enumerate(game.seats))
    return replace(game, seats=tuple(seats))


def _next(game: Game, state: GameState, record: Record) -> Game:
    done, typed = game.done, game.typed
    match record.kind:
        case "answered":
            player = record.data["player"]
            done = done | {player} if record.data.get("done") else done - {player}
        case "withdrawn":
            done = done - {record.data["player"]}
        case "rolled":
            done, typed = frozenset(), bool(record.data.get("typed"))
            game = replace(game, rolled=record.revision)
        case "action_closed":
            done = frozenset()
        case "seat_closed":
            game = _without(game, game.seats[record.data["player"]])
    return replace(game, state=state, done=done, typed=typed)
