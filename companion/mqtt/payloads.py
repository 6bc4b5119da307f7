"""Types of the messages that tables publish: JSON in UTF-8, with a bound for every field (pure).

Readers ignore unknown fields, so a field can be added at any time. `decode` refuses anything else
that does not fit: a topic can be written by anybody who knows the broker.
"""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, TypeVar

from companion.engine import MOST_PLAYERS
from companion.wire.structs import Meta, Struct, WireError, decoded, encode

VERSION = 1
"""Version of the payloads, the same as in `topics.ROOT`."""

LARGEST_BYTES = 64 * 1024
"""A board of five players has 3 kB."""

LARGEST_PICTURE_BYTES = 512 * 1024
"""A picture of a roll has 30 to 80 kB."""

MOST_ROWS = 10
MOST_BOXES = 20

Whole = Annotated[int, Meta(ge=0, le=2**53)]
Points = Annotated[int, Meta(ge=-1000, le=1000)]
MOST_SEATS = 2 * MOST_PLAYERS
"""Numbers of seats: from `MOST_PLAYERS` on, of players of the game who have left the table."""
Seat = Annotated[int, Meta(ge=0, le=MOST_SEATS - 1)]
Face = Annotated[int, Meta(ge=1, le=6)]
Percent = Annotated[float, Meta(ge=0.0, le=100.0)]
Word = Annotated[str, Meta(max_length=40)]
Text = Annotated[str, Meta(max_length=500)]
Url = Annotated[str, Meta(max_length=200)]
Time = Annotated[str, Meta(max_length=40)]
"""ISO 8601 with the offset from UTC."""
GameId = Annotated[str, Meta(pattern=r"\A[0-9]{1,9}(?:-[0-9]{14})?\Z")]
Version = Annotated[int, Meta(ge=VERSION, le=VERSION)]
Seats = Annotated[tuple[Seat, ...], Meta(max_length=MOST_PLAYERS)]
RowPoints = Annotated[dict[Word, Points], Meta(max_length=MOST_ROWS)]
Numbers = Annotated[tuple[Annotated[int, Meta(ge=0, le=99)], ...], Meta(max_length=MOST_BOXES)]
Faces = Annotated[dict[Word, Face], Meta(max_length=4)]
Words = Annotated[tuple[Word, ...], Meta(max_length=MOST_ROWS)]

T = TypeVar("T")


class Roll(Struct, frozen=True):
    """The confirmed dice: the white ones, their sum, and the others by colour."""

    white: tuple[Face, Face]
    sum: Annotated[int, Meta(ge=2, le=12)]
    coloured: Faces


class ClosedRow(Struct, frozen=True):
    """A closed row: its key on the sheet, its die's colour, and the seats that closed it."""

    row: Word
    colour: Word
    by: Seats


class PlayerState(Struct, frozen=True):
    """A player of the running game.

    Attributes:
        name: Empty unless the host lets names leave the table.
        label: The name, or "Player 2" in the table's language where names stay.
        rows: Points by the row's name.
        sheet: Crossed numbers by the row's key, from left to right.
        answered: The player has answered in the open action.
        gone: The player has left the game and keeps the points.
    """

    seat: Seat
    name: Word
    total: Points
    rows: RowPoints
    sheet: Annotated[dict[Word, Numbers], Meta(max_length=MOST_ROWS)]
    misses: Annotated[int, Meta(ge=0, le=20)]
    answered: bool = False
    gone: bool = False
    label: Word = ""


class GameBoard(Struct, frozen=True):
    """The game on the table; the last one stays until the next begins.

    Attributes:
        game: Its id, unique at this table also after a backup was restored.
        number: From 1, as the table shows it.
        phase: roll, action1, action2 or over.
        active: Seat whose turn it is.
        leaders: Seats with the most points.
        end: locks, misses or ended_early; None while it goes on.
    """

    game: GameId
    number: Whole
    variant: Word
    phase: Word
    turn: Whole
    active: Seat
    players: Annotated[tuple[PlayerState, ...], Meta(min_length=1, max_length=MOST_PLAYERS)]
    roll: Roll | None = None
    house: Words = ()
    closed: Annotated[tuple[ClosedRow, ...], Meta(max_length=MOST_ROWS)] = ()
    waiting_for: Seats = ()
    leaders: Seats = ()
    end: Word | None = None


class SeatState(Struct, frozen=True):
    """A taken seat, and whether a page of it is open."""

    seat: Seat
    name: Word
    online: bool


class Board(Struct, frozen=True):
    """Everything that a screen shows of a table.

    Attributes:
        at: When it was made.
        revision: Of the table's log; it only falls when a backup is restored.
        name: The table's name.
        url: The address that phones open; no code.
        language: Of the table and of `text`.
        text: The last announcement in that language, without names unless they may leave.
        asked: Percent of the rolls since the table was started for which people had to do more
            than throw; None before the first, or without a camera.
        faults: Parts that do not work: camera, button, storage.
    """

    at: Time
    revision: Whole
    name: Word
    language: Word
    url: Url = ""
    text: Text = ""
    seats: Annotated[tuple[SeatState, ...], Meta(max_length=MOST_PLAYERS)] = ()
    game: GameBoard | None = None
    asked: Percent | None = None
    faults: Words = ()
    v: Version = VERSION


class EventType(StrEnum):
    """Kinds of events, which are the event types of Home Assistant's entity."""

    ROLL = "roll"
    CORRECTED = "corrected"
    ROW_CLOSED = "row_closed"
    PENALTY = "penalty"
    GAME_OVER = "game_over"


class GameEvent(Struct, frozen=True):
    """Something that happened in a game.

    Attributes:
        text: As the table announces it, in its language; of events that one announcement tells, as
            of two rows that close at once, only the last has it.
        seat: The active player, from 0; of a penalty, the player who takes it; of row_closed, the
            first who closed it.
        player: That seat's `PlayerState.label`.
        roll: The dice of roll and corrected.
        colour: Of the row that closed.
        winners: Seats that won, of game_over; none if it was ended early or somebody played alone.
    """

    event_type: EventType
    at: Time
    game: GameId
    turn: Whole
    language: Word
    text: Text = ""
    seat: Seat | None = None
    player: Word = ""
    roll: Roll | None = None
    colour: Word | None = None
    winners: Seats = ()
    v: Version = VERSION


class ResultPlayer(Struct, frozen=True):
    """A player's result; equal totals share a rank."""

    seat: Seat
    name: Word
    rank: Annotated[int, Meta(ge=1, le=MOST_PLAYERS)]
    total: Points
    rows: RowPoints
    misses: Annotated[int, Meta(ge=0, le=20)]
    gone: bool = False


class Result(Struct, frozen=True):
    """A finished game. Readers keep one for each (table, game).

    That is the last one that came live. One that a broker kept replaces it unless its revision is
    lower and it ended no later: a game that ends anew after a restored backup ends later, and one
    whose players are renamed keeps its revision.

    Attributes:
        game: Its id.
        table_name: As the table is called.
        began, ended: When its first and last step were stored.
        revision: Of the table's log when this was made; it only falls when a backup is restored.
        end: locks, misses or ended_early.
        counts: False when the host took the end back, so that the game goes on.
    """

    game: GameId
    number: Whole
    table_name: Word
    began: Time
    ended: Time
    revision: Whole
    variant: Word
    end: Word
    turns: Whole
    players: Annotated[tuple[ResultPlayer, ...], Meta(min_length=1, max_length=MOST_PLAYERS)]
    house: Words = ()
    counts: bool = True
    v: Version = VERSION


DIAGNOSTICS_EVERY_S = 60.0
"""Seconds between two of a table, also while nobody plays."""


class Diagnostics(Struct, frozen=True):
    """How the table itself is.

    Attributes:
        version: Of the program.
        reading_ms: Time to read a frame; None without a camera.
        processor: Percent of all cores that this process used since the last one.
        temperature: Of the processor in degrees Celsius; None if the machine does not know.
    """

    version: Word
    reading_ms: Annotated[float, Meta(ge=0.0, le=1e6)] | None = None
    processor: Percent | None = None
    temperature: Annotated[float, Meta(ge=-100.0, le=200.0)] | None = None
    v: Version = VERSION


def encoded(payload: Struct) -> bytes:
    """A payload as the broker receives it."""
    return encode(payload).encode()


def decode(data: bytes, kind: type[T]) -> T:
    """Read a payload that anybody may have written.

    Raises:
        WireError: It is too long, no JSON, or does not fit the type.
    """
    if len(data) > LARGEST_BYTES:
        raise WireError("", f"{LARGEST_BYTES // 1024} kB at most", len(data), "range")
    payload: T = decoded(data, kind)
    return payload


def game_id(number: int, began: str) -> str:
    """The id of a game, from its number and when it began (ISO 8601).

    A restored backup can give a number twice; the time tells the two games apart.
    """
    try:
        at = datetime.fromisoformat(began).astimezone(UTC)
    except (ValueError, OverflowError):
        return f"{number}"
    return f"{number}-{at:%Y%m%d%H%M%S}"
