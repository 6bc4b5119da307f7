"""Reading accuracy at this table: offered readings against confirmed rolls (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from companion.engine import DieColour, Roll, RollCorrected, Rolled
from companion.engine.notation import parse_roll
from companion.errors import NotationError
from companion.eventlog.projection import spans_of, visible_records
from companion.eventlog.record import MOVES, Move, Record, to_entry

_OTHERS = set(MOVES) - {"rolled", "roll_corrected"}
"""Moves that name no dice; a long log is full of them."""


@dataclass(frozen=True, slots=True)
class Accuracy:
    """Counts over the rolls that a camera saw.

    Attributes:
        rolls: Rolls confirmed or entered while the reading contained dice.
        right: Offered with the right values.
        wrong: Offered with a wrong value.
        unsure: Not offered, because the reading was doubtful.
        dice_seen: Dice with a value.
        dice_right: Dice with the right value.
    """

    rolls: int = 0
    right: int = 0
    wrong: int = 0
    unsure: int = 0
    dice_seen: int = 0
    dice_right: int = 0

    def plus(self, reading: Mapping[str, Any], roll: Roll) -> Accuracy:
        """Add one roll: the reading and the confirmed values."""
        seen, right = _compare(reading, roll)
        is_offered = reading.get("status") == "ok"
        is_right = is_offered and right == 2 + len(roll.coloured)
        return Accuracy(
            self.rolls + 1,
            self.right + is_right,
            self.wrong + (is_offered and not is_right),
            self.unsure + (not is_offered),
            self.dice_seen + seen,
            self.dice_right + right,
        )


def accuracy_of(records: Iterable[Record]) -> Accuracy:
    """Count over a log; a corrected roll counts with its final values."""
    seen: list[tuple[dict[str, Any], Roll]] = []
    last: dict[int, int] = {}  # by game, its last roll: a game may be put aside before a correction
    rows = visible_records(row for row in records if row.kind not in _OTHERS)
    for record, span in zip(rows, spans_of(rows), strict=True):
        if record.kind == "rolled":
            last.pop(id(span), None)
        try:
            entry = to_entry(record)
        except NotationError:
            continue
        event = entry.event if isinstance(entry, Move) else None
        if isinstance(event, Rolled) and _is_readable(reading := record.data.get("eye")):
            last[id(span)] = len(seen)
            seen.append((reading, event.roll))
        elif isinstance(event, RollCorrected) and id(span) in last:
            place = last[id(span)]
            seen[place] = seen[place][0], event.roll
    total = Accuracy()
    for reading, roll in seen:
        total = total.plus(reading, roll)
    return total


def offered_before(reading: object, roll: Roll) -> Roll | None:
    """What the camera offered before a roll was entered or corrected by hand; None if nothing.

    A die of a closed row may still lie in the tray: it was read, but not offered.
    """
    if not _is_readable(reading) or reading.get("status") != "ok":
        return None
    in_play = {colour.value for colour in (DieColour.WHITE, *roll.colours)}
    dice = [(colour, value) for colour, value, *_ in reading["dice"] if colour in in_play]
    if any(value not in range(1, 7) for _, value in dice):  # a damaged log
        return None
    white = [value for colour, value in dice if colour == "white"]
    return parse_roll(white, {colour: value for colour, value in dice if colour != "white"})


def _compare(reading: Mapping[str, Any], roll: Roll) -> tuple[int, int]:
    """Count the dice of a confirmed roll that the reading gave a value, and those it got right."""
    truth = [("white", value) for value in roll.white]
    truth += [(colour.value, value) for colour, value in roll.coloured]
    seen = correct = 0
    for colour, value, *_ in reading["dice"]:
        if value is None or colour not in {name for name, _ in truth}:
            continue
        seen += 1
        if (colour, value) in truth:
            truth.remove((colour, value))
            correct += 1
    return seen, correct


def _is_readable(reading: object) -> TypeGuard[dict[str, Any]]:
    """Whether a stored reading can be counted; a log may be damaged or edited by hand."""
    if (
        not isinstance(reading, dict)
        or not isinstance(reading.get("dice"), list)
        or not reading["dice"]
    ):
        return False
    return all(
        isinstance(die, list) and len(die) >= 2 and isinstance(die[0], str | None)
        for die in reading["dice"]
    )
