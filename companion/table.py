"""Who sits where and which game is on: the state the log folds to (pure)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from companion.engine import (
    MOST_PLAYERS,
    PLANS,
    Fact,
    GameState,
    HouseRule,
    Refusal,
    Roll,
    RollCorrected,
    Rolled,
    apply,
    new_game,
)
from companion.engine.notation import is_whole_number
from companion.errors import NotationError
from companion.records import Record, to_event
from companion.speaking import Choice, from_data

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
    speaking: tuple[Choice, ...] = ()


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


def clean_name(name: str) -> str:
    """A name as it is shown: composed, without control characters or doubled spaces."""
    composed = unicodedata.normalize("NFC", name)
    # Cc control, Cs surrogate, Zl and Zp line breaks; Cf stays, joined emoji need it
    kept = (c if unicodedata.category(c) not in ("Cc", "Cs", "Zl", "Zp") else " " for c in composed)
    return " ".join("".join(kept).split())


def name_fault(table: Table, name: str) -> str | None:
    """Why nobody can sit down under a cleaned name, as a code, or None when they can."""
    if not name:
        return "NAME_EMPTY"
    if len(name) > LONGEST_NAME:
        return "NAME_TOO_LONG"
    if any(seat.name.casefold() == name.casefold() for seat in table.seats):
        return "NAME_TAKEN"
    return None


def unproved_seat(table: Table, name: str) -> Seat | None:
    """A seat of this name that no device has proved, or None."""
    named = (seat for seat in table.seats if seat.name.casefold() == name.casefold())
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
                return Advance(replace(table, seats=_seats(table, record)))
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
                return Advance(replace(table, game=game, games=game.number))
            case "paused" | "resumed":
                put = _put_aside(table) if record.kind == "paused" else _taken_up(table, data)
                return Advance(put)
            case "imported":
                return Advance(replace(table, games=data["number"]))
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
        case "seat_closed":  # a number no seat has stands for who is gone
            player = record.data["player"]
            seats = (*game.seats[:player], MOST_PLAYERS + player, *game.seats[player + 1 :])
            game = replace(game, seats=seats)
    return replace(game, state=state, done=done, typed=typed)


@dataclass(frozen=True, slots=True)
class Unfolded:
    """A folded log.

    Attributes:
        table: Where it leads; its revision is that of the last record, fitting or not.
        kept: Revision of the last record that counts.
        fault: The first record that did not fit, in words; everything after it is left out.
    """

    table: Table
    kept: int = 0
    fault: str | None = None


def effective(records: Iterable[Record]) -> list[Record]:
    """The records that count: what a later record struck out is left out."""
    rows: list[Record] = []
    for record in records:
        if record.kind == "kept":
            kept = _revision(record)
            while rows and rows[-1].revision > kept:
                rows.pop()
        elif record.kind == "undone":
            kept = _revision(record)
            rows = [row for row in rows if row.revision <= kept or row.kind in _PEOPLE]
        else:
            rows.append(record)
    return rows


def _revision(record: Record) -> int:
    """The revision a record names; one that names none strikes nothing out."""
    named = record.data.get("revision")
    return named if is_whole_number(named) else record.revision


_PEOPLE = ("seated", "left", "claimed", "ordered", "hosted", "set", "imported")
_BEGINNINGS = ("started", "resumed")
_SETTLING = ("rolled", "roll_corrected", "action_closed", "played", "ended_early")


def undone_to(records: Iterable[Record]) -> int | None:
    """The revision up to which the log counts when the last settled step is taken back.

    A closed action goes back until somebody has to answer again, else it would close at once.
    None where the running game has no settled step.
    """
    rows = effective(records)
    ends = (*_BEGINNINGS, "seat_closed")  # nobody is called back to a game
    begin = max((i for i, row in enumerate(rows) if row.kind in ends), default=len(rows))
    if any(row.kind == "paused" for row in rows[begin:]):
        return None
    settled = [i for i in range(begin, len(rows)) if rows[i].kind in _SETTLING]
    if not settled:
        return None
    last = settled[-1]
    if rows[last].kind == "action_closed":
        while last > begin + 1:
            game = unfold(rows[:last]).table.game
            if game is not None and game.state.waiting_for:
                break
            last -= 1
    return rows[last - 1].revision


def last_roll(records: Iterable[Record]) -> Roll | None:
    """The roll that was confirmed last, for telling its dice from newly thrown ones."""
    for record in reversed(effective(records)):
        if record.kind in ("rolled", "roll_corrected"):
            try:
                event = to_event(record)
            except NotationError:
                return None
            return event.roll if isinstance(event, (Rolled, RollCorrected)) else None
    return None


@dataclass(slots=True)
class Owner:
    """The game a record belongs to; number 0 where it is none's.

    Attributes:
        is_alive: It may still be played: it is on, or put aside.
    """

    number: int = 0
    is_alive: bool = True


def owners_of(rows: Iterable[Record]) -> list[Owner | None]:
    """For each record the game it belongs to, or None where it is about people and settings."""
    owners: list[Owner | None] = []
    known: dict[int, Owner] = {}
    now = Owner()
    for row in rows:
        if row.kind in _BEGINNINGS:
            number = row.data.get("number")
            now.is_alive = False
            now = Owner(number if is_whole_number(number) else 0)
            if row.kind == "resumed":
                now = known.get(now.number, now)
                now.is_alive = True
            known[now.number] = now
        owners.append(None if row.kind in _PEOPLE else now)
        if row.kind == "paused":
            now = Owner()
    return owners


def unfold(records: Iterable[Record]) -> Unfolded:
    """The table a log leads to, up to the first record that does not fit."""
    everything = list(records)
    rows = effective(everything)
    last = everything[-1].revision if everything else 0
    table, fault = Table(), None
    for record, owner in zip(rows, owners_of(rows), strict=True):
        is_move = record.kind not in (*_BEGINNINGS, "paused")
        if owner is not None and not owner.is_alive and is_move:
            continue  # a finished game's moves lead nowhere any more
        try:
            result = advance(table, record)
        except NotationError as error:
            fault = str(error)
            break
        if isinstance(result, Refusal):
            fault = f"record {record.revision}: {record.kind!r} is refused: {result.reason.value}"
            break
        table = result.table
    return Unfolded(replace(table, revision=last), table.revision, fault)
