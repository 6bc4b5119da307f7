"""Who sits where and which game is on: the state the log folds to (pure)."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from companion.audio.settings import VoiceOverride, from_data
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

LONGEST_NAME = 20
"""Characters of a name: what fits beside a score on a phone of 360 pixels."""

MOST_DEVICES = 4
"""Devices that may prove one seat: a phone under the table's several addresses."""

MOST_HOSTS = 8
"""Devices that may lead the table; the newest stay."""


@dataclass(frozen=True, slots=True)
class Seat:
    """A player's place; the tokens that prove it, one for each device, are kept as hashes only."""

    number: int
    name: str
    tokens: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Settings:
    """What a table is set to.

    Attributes:
        hints: Boxes that may be crossed now stand out on the sheets.
        sound: Announcements are said aloud.
        speaking: How they are said, as far as that was chosen at the table.
    """

    hints: bool = True
    sound: bool = True
    speaking: tuple[VoiceOverride, ...] = ()


@dataclass(frozen=True, slots=True)
class Game:
    """One game of the evening.

    Attributes:
        number: From 1.
        seats: Seat numbers in playing order; a player of `state` is a place in it.
        names: The players' names when the game began.
        done: Players who have nothing more to change in the open action.
        typed: The roll of this turn was entered by hand.
        rolled: Revision of the record that confirmed the roll of this turn.
    """

    number: int
    seats: tuple[int, ...]
    state: GameState
    names: tuple[str, ...] = ()
    done: frozenset[int] = frozenset()
    typed: bool = False
    rolled: int = 0


@dataclass(frozen=True, slots=True)
class Table:
    """Everything that must survive a pulled plug.

    Attributes:
        seats: In playing order, clockwise.
        hosts: The devices that may lead the table, as hashes.
        paused: Games put aside, to be taken up another time.
    """

    revision: int = 0
    seats: tuple[Seat, ...] = ()
    game: Game | None = None
    games: int = 0
    settings: Settings = Settings()
    hosts: tuple[str, ...] = ()
    paused: tuple[Game, ...] = ()

    def seat(self, number: int) -> Seat | None:
        """A seat by its number."""
        return next((seat for seat in self.seats if seat.number == number), None)

    def name(self, number: int) -> str:
        """The name at a seat, or who sat there when the game began."""
        seat = self.seat(number)
        if seat is not None:
            return seat.name
        if self.game is not None and number in self.game.seats:
            return self.game.names[self.game.seats.index(number)]
        return f"#{number + 1}"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the game's players in playing order."""
        return self.game.names if self.game else ()


_BLANK = frozenset("\u115f\u1160\u2800\u3164\uffa0")
"""Letters and signs that show nothing (Unicode: Hangul fillers, the empty braille pattern)."""
_JOINERS = frozenset("\u200c\u200d")
"""What some scripts, and emoji of several parts, need between two letters."""


def clean_name(name: str) -> str:
    """A name as it is shown: composed, without what cannot be seen and doubled spaces."""
    composed = unicodedata.normalize("NFC", name)
    shown = "".join(_shown(c) for c in composed)
    return " ".join(" ".join(word.strip("\u200c\u200d") for word in shown.split()).split())


def _shown(c: str) -> str:
    # Cc control, Cs surrogate, Zl and Zp line breaks; Cf turns text round or shows nothing, but
    # for the joiners and the tags (U+E0020 to U+E007F) that make flags of countries' parts
    category = unicodedata.category(c)
    if c in _BLANK or category in ("Cc", "Cs", "Zl", "Zp"):
        return " "
    is_needed = c in _JOINERS or 0xE0020 <= ord(c) <= 0xE007F
    return "" if category == "Cf" and not is_needed else c


def _seen(name: str) -> str:
    """What two names are told apart by: what is seen of them, in whichever case."""
    return "".join(c for c in name.casefold() if unicodedata.category(c) != "Cf")


def name_fault(table: Table, name: str) -> str | None:
    """Why nobody can sit down under a cleaned name, as a code, or None when they can."""
    if not any(unicodedata.category(c)[0] in "LNPS" for c in name):
        return "NAME_EMPTY"
    if len(name) > LONGEST_NAME:
        return "NAME_TOO_LONG"
    if any(_seen(seat.name) == _seen(name) for seat in table.seats):
        return "NAME_TAKEN"
    return None


def unproved_seat(table: Table, name: str) -> Seat | None:
    """A seat of this name that no device has proved, or None."""
    named = (seat for seat in table.seats if _seen(seat.name) == _seen(name))
    return next((seat for seat in named if not seat.tokens), None)


def free_seat(table: Table) -> int | None:
    """The lowest seat number nobody has, or None when all are taken (E40)."""
    taken = {seat.number for seat in table.seats}
    return next((number for number in range(MOST_PLAYERS) if number not in taken), None)


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
