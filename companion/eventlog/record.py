"""The table's log: what is kept of every accepted step, and how it becomes events again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
from companion.engine.notation import parse_roll, roll_to_json
from companion.errors import NotationError

PEOPLE = ("seated", "left", "claimed", "ordered", "hosted", "set", "imported")
"""Kinds that are about people and settings, and belong to no game."""

BEGINNINGS = ("started", "resumed")
MOVES = (
    "rolled",
    "roll_corrected",
    "answered",
    "withdrawn",
    "action_closed",
    "played",
    "ended_early",
    "seat_closed",
)
SPARED = (*PEOPLE, *BEGINNINGS, "paused", *MOVES)
"""Kinds that say something even where their data cannot be read: whose they are, or that a game
begins or ends there. What another struck out is not known without it."""
DAMAGED, LOST = "damaged", "lost"
"""Kinds of a record that cannot be read at all, and of one whose list of what it struck out cannot;
the table knows no such kinds, and the game they stand in stops there."""
KNOWN = (*SPARED, LOST)


@dataclass(frozen=True, slots=True)
class Record:
    """One line of the log; a `kind` once kept is never renamed.

    Attributes:
        revision: Its number, from 1.
        kind: seated, left, claimed, ordered, hosted, set; started, paused, resumed,
            imported; rolled, roll_corrected, answered, withdrawn, action_closed, played,
            ended_early, seat_closed; undone (the game's records after the revision it names are
            struck out), struck (those it lists are: they do not fit) or kept (everything after the
            one it names is).
        data: JSON values.
        at: When, as ISO 8601 text with the zone.
    """

    revision: int
    kind: str
    data: Mapping[str, Any]
    at: str = ""


def roll_from_json(data: Mapping[str, Any]) -> Roll:
    """The roll of a record.

    Raises:
        ValueError: It is not written like one.
    """
    roll = parse_roll(data.get("white"), data.get("colour"))
    if roll is None:
        raise ValueError(f"expected two white dice and named colours, got {dict(data)!r}")
    return roll


def to_record(event: Event) -> tuple[str, dict[str, Any]]:
    """Kind and data of a rule event."""
    match event:
        case Rolled(roll):
            return "rolled", roll_to_json(roll)
        case Answered(player, action, choice):
            return "answered", {"player": player, "action": action, "choice": choice}
        case Withdrawn(player, action):
            return "withdrawn", {"player": player, "action": action}
        case ActionClosed(action):
            return "action_closed", {"action": action}
        case Played(action, choices):
            return "played", {"action": action, "choices": list(choices)}
        case RollCorrected(roll):
            return "roll_corrected", roll_to_json(roll)
        case EndedEarly():
            return "ended_early", {}
        case SeatClosed(player):
            return "seat_closed", {"player": player}


def to_event(record: Record) -> Event | None:
    """The rule event of a record, or None where it is about seats and games.

    Raises:
        NotationError: The record's data is not what its kind needs.
    """
    data = record.data
    try:
        match record.kind:
            case "rolled":
                return Rolled(roll_from_json(data))
            case "answered":
                return Answered(data["player"], data["action"], data["choice"])
            case "withdrawn":
                return Withdrawn(data["player"], data["action"])
            case "action_closed":
                return ActionClosed(data["action"])
            case "played":
                return Played(data["action"], tuple(data["choices"]))
            case "roll_corrected":
                return RollCorrected(roll_from_json(data))
            case "ended_early":
                return EndedEarly()
            case "seat_closed":
                return SeatClosed(data["player"])
    except (LookupError, ValueError, TypeError) as error:
        raise NotationError(f"record {record.revision}: bad {record.kind!r}: {error}") from error
    return None
