"""The topics of tables, so that one subscription finds all tables of a house or a club (pure).

Every topic begins with `dice/1/CLUB/tables/TABLE/`; 1 is the version of the payloads, and a table
of no club is in the club `house`. No topic takes a command: nothing on MQTT changes a game.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import StrEnum

ROOT = "dice/1"
"""A change that old readers cannot read gets another number."""

HOUSE = "house"
"""The club of a table that belongs to none."""

LONGEST_CLUB = 40

ONLINE, OFFLINE = b"online", b"offline"
"""Payloads of `status`; the broker publishes the second itself when a table is gone."""

_TABLE_ID = re.compile(r"[0-9a-f]{16}")


class Kind(StrEnum):
    """The last level of a table's topic; all are retained except `event`."""

    STATUS = "status"
    """`ONLINE` or `OFFLINE`."""
    STATE = "state"
    """The whole board: `payloads.Board`."""
    EVENT = "event"
    """Something happened in the game: `payloads.GameEvent`."""
    RESULT = "results"
    """A finished game, one topic each: `payloads.Result`."""
    PICTURE = "picture"
    """The last roll as JPEG; empty when the host does not want it shown."""
    DIAGNOSTICS = "diagnostics"
    """How the table itself is: `payloads.Diagnostics`."""


_TOPIC = re.compile(
    rf"{ROOT}/(?P<club>[^/]+)/tables/(?P<table>{_TABLE_ID.pattern})/"
    rf"(?:{Kind.RESULT.value}/(?P<game>[0-9]{{1,9}}(?:-[0-9]{{14}})?)"
    rf"|(?P<kind>{'|'.join(kind.value for kind in Kind if kind is not Kind.RESULT)}))"
)


@dataclass(frozen=True, slots=True)
class TableTopics:
    """The topics of one table.

    Attributes:
        club: Level of the club, from `club_level`.
        table: The table's id, from `is_table_id`.
    """

    club: str
    table: str

    def of(self, kind: Kind) -> str:
        """A topic of the table; `Kind.RESULT` has one for each game instead."""
        return f"{ROOT}/{self.club}/tables/{self.table}/{kind.value}"

    def result(self, game: str) -> str:
        """The topic of a finished game, by `payloads.Result.game`."""
        return f"{self.of(Kind.RESULT)}/{game}"


@dataclass(frozen=True, slots=True)
class Parsed:
    """A topic of a table; `game` is empty except for a result."""

    club: str
    table: str
    kind: Kind
    game: str = ""


def club_level(name: str) -> str:
    """The topic level of a club: devices that write its name differently find each other.

    Letters are folded and other characters become hyphens, so no name can contain a wildcard.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())
    words = re.findall(r"[^\W_]+", folded)
    return "-".join(words)[:LONGEST_CLUB].strip("-") or HOUSE


def all_tables(club: str) -> str:
    """The subscription to everything that the tables of a club publish."""
    return f"{ROOT}/{club}/tables/#"


def of_kind(club: str, kind: Kind) -> str:
    """The subscription to one kind of topic of all tables of a club."""
    last = f"{kind.value}/+" if kind is Kind.RESULT else kind.value
    return f"{ROOT}/{club}/tables/+/{last}"


def evening(club: str) -> str:
    """The topic of a club's newest evening: players and rounds, written by its club process."""
    return f"{ROOT}/{club}/evening"


def parse(topic: str) -> Parsed | None:
    """Take a topic apart; None if it is no topic of a table."""
    found = _TOPIC.fullmatch(topic)
    if found is None or club_level(found["club"]) != found["club"]:
        return None
    kind = Kind(found["kind"] or Kind.RESULT)
    return Parsed(found["club"], found["table"], kind, found["game"] or "")


def is_table_id(text: str) -> bool:
    """Whether a text may be a table's id: 16 hexadecimal digits."""
    return _TABLE_ID.fullmatch(text) is not None
