"""Entries of the event log, and the rows they are stored as."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from companion.engine import (
    ActionClosed,
    Answered,
    EndedEarly,
    Event,
    Played,
    Roll,
    RollCorrected,
    Rolled,
    SeatClosed,
    Withdrawn,
)
from companion.engine.notation import is_whole_number, parse_roll, roll_to_json
from companion.errors import NotationError

PEOPLE = ("seated", "left", "claimed", "ordered", "hosted", "set", "imported")
"""Kinds about people and settings; they belong to no game."""

BEGINNINGS = ("started", "resumed")
MOVES = (
    "rolled",
    "roll_corrected",
    "answered",
    "withdrawn",
    "action_closed",
    "ended_early",
    "seat_closed",
)
SPARED = (*PEOPLE, *BEGINNINGS, "paused", *MOVES)
"""Kinds that are of use even without readable data: they show where games begin, continue and end.
All others need their data."""
DAMAGED, LOST = "damaged", "lost"
"""Kinds of an unreadable record, and of one whose list of voided revisions is unreadable. The
reducer rejects both, so the game they belong to stops there."""
KNOWN = (*SPARED, LOST)


@dataclass(frozen=True, slots=True)
class Record:
    """One row of the log; a `kind` once stored is never renamed.

    A new kind needs a new schema version: an older program would void its records.

    Attributes:
        revision: Its number, from 1.
        kind: seated, left, claimed, ordered, hosted, set; started, paused, resumed,
            imported; rolled, roll_corrected, answered, withdrawn, action_closed,
            ended_early, seat_closed; undone (voids the game's records after the revision it
            names), struck (voids the records it lists: they do not fit) or kept (voids every
            record after the one it names).
        data: JSON values.
        at: Time of day, as ISO 8601 text with the zone.
    """

    revision: int
    kind: str
    data: Mapping[str, Any]
    at: str = ""


@dataclass(frozen=True, slots=True)
class Move:
    """A rule event of the running game.

    Attributes:
        details: JSON values stored beside the event: typed, by_hand and eye of a roll; done, by
            and key of an answer.
    """

    event: Event
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Change:
    """A change that is no rule event: to seats, hosts, settings, or to which game is on."""

    kind: str
    data: Mapping[str, Any] = field(default_factory=dict)


Entry = Move | Change
"""One step of the log, before it has a revision and a time."""


def to_record(entry: Entry, revision: int, at: str = "") -> Record:
    """The row that stores an entry."""
    if isinstance(entry, Change):
        return Record(revision, entry.kind, entry.data, at)
    kind, data = _event_data(entry.event)
    return Record(revision, kind, {**data, **entry.details}, at)


def to_entry(record: Record) -> Entry:
    """The entry that a row stores.

    Raises:
        NotationError: A move's data is not what its kind needs.
    """
    if record.kind not in MOVES:
        return Change(record.kind, record.data)
    try:
        event = _event_of(record.kind, record.data)
    except (LookupError, ValueError, TypeError) as error:
        raise NotationError(f"record {record.revision}: bad {record.kind!r}: {error}") from error
    _, own = _event_data(event)
    return Move(event, {key: value for key, value in record.data.items() if key not in own})


def kept_by(record: Record) -> int:
    """The revision that an "undone" or "kept" record names; its own if it names none.

    Its own voids nothing.
    """
    named = record.data.get("revision")
    return named if is_whole_number(named) else record.revision


def _event_data(event: Event) -> tuple[str, dict[str, Any]]:
    match event:
        case Rolled(roll):
            return "rolled", roll_to_json(roll)
        case Answered(player, action, choice):
            return "answered", {"player": player, "action": action, "choice": choice}
        case Withdrawn(player, action):
            return "withdrawn", {"player": player, "action": action}
        case ActionClosed(action):
            return "action_closed", {"action": action}
        case Played():
            raise ValueError("a table stores each answer; only exports have whole actions")
        case RollCorrected(roll):
            return "roll_corrected", roll_to_json(roll)
        case EndedEarly():
            return "ended_early", {}
        case SeatClosed(player):
            return "seat_closed", {"player": player}


def _event_of(kind: str, data: Mapping[str, Any]) -> Event:
    match kind:
        case "rolled":
            return Rolled(_roll_of(data))
        case "answered":
            return Answered(data["player"], data["action"], data["choice"])
        case "withdrawn":
            return Withdrawn(data["player"], data["action"])
        case "action_closed":
            return ActionClosed(data["action"])
        case "roll_corrected":
            return RollCorrected(_roll_of(data))
        case "ended_early":
            return EndedEarly()
        case "seat_closed":
            return SeatClosed(data["player"])
    raise ValueError("unknown kind")


def _roll_of(data: Mapping[str, Any]) -> Roll:
    roll = parse_roll(data.get("white"), data.get("colour"))
    if roll is None:
        raise ValueError(f"expected two white dice and named colours, got {dict(data)!r}")
    return roll
