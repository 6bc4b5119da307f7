"""Messages that a club's pages receive and send."""

from __future__ import annotations

from typing import Annotated

from companion.mqtt.club.pairing import LARGEST, SMALLEST, SYSTEMS
from companion.wire.structs import Meta, one_of
from web.wire.values import Rating, Reply, Request

Text = Annotated[str, Meta(max_length=200)]


class Pin(Request):
    """The PIN that makes a device an organiser."""

    pin: Annotated[str, Meta(max_length=64)] = ""


class Player(Request):
    """A player by name."""

    name: Text


class Form(Request):
    """How the next rounds are paired."""

    system: Annotated[str, one_of(SYSTEMS)]
    size: Annotated[int, Meta(ge=SMALLEST, le=LARGEST)]


class Number(Request):
    """The number of a round."""

    number: Annotated[int, Meta(ge=1, le=1000)]


class Me(Reply):
    """The device that asks; names of earlier evenings are for organisers."""

    organiser: bool
    known: list[str]


class Member(Reply):
    """A player of the evening."""

    name: str
    here: bool


class GroupPlayer(Reply):
    """A player of a group; the total once its game is over."""

    name: str
    total: int | None


class Group(Reply):
    """Players who share a table."""

    table_name: str
    over: bool
    players: list[GroupPlayer]


class Round(Reply):
    """The newest round."""

    number: int
    groups: list[Group]
    sat_out: list[str]


class Place(Reply):
    """A player's place, with the tie-breaks."""

    rank: int
    name: str
    points: float
    games: int
    wins: int
    opponents: float
    margin: float
    rating: Rating | None


class Roll(Reply):
    """The confirmed dice."""

    white: tuple[int, int]
    colour: dict[str, int]


class TablePlayer(Reply):
    """A player at a table; the name is empty if the table keeps names to itself."""

    seat: int
    name: str
    total: int
    misses: int
    leads: bool
    gone: bool


class Game(Reply):
    """The game on a table."""

    phase: str
    turn: int
    active: int
    players: list[TablePlayer]
    roll: Roll | None
    dice: list[str]
    closed: list[str]


class Table(Reply):
    """A table; `url` is empty if phones cannot open it, `revision` tells its states apart."""

    id: str
    revision: int
    name: str
    online: bool
    url: str
    seats: list[str]
    game: Game | None


class Finished(Reply):
    """A finished game; one that was not ended early counts if two or more people are named."""

    table_name: str
    ended: str
    round: int | None
    early: bool
    counts: bool
    players: list[GroupPlayer]


class Shared(Reply):
    """The part of a snapshot that all devices share."""

    version: int
    epoch: str
    broker: bool
    join_url: str
    evening: str
    system: str
    size: int
    drawn: int
    missing: int
    members: list[Member]
    round: Round | None
    standings: list[Place]
    tables: list[Table]
    games: list[Finished]
    earlier: list[str]
