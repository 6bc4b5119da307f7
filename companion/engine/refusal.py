"""Why a step was refused: a reason code, its ruling, and data for a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum


class Reason(Enum):
    """The reasons, the most fundamental first: when several apply, the first is given."""

    BAD_DICE = "BAD_DICE"
    GAME_OVER = "GAME_OVER"
    WRONG_PHASE = "WRONG_PHASE"
    UNKNOWN_PLAYER = "UNKNOWN_PLAYER"
    NOT_ACTIVE = "NOT_ACTIVE"
    TWO_MARKS = "TWO_MARKS"
    BAD_TOKEN = "BAD_TOKEN"
    LOCK_ALONE = "LOCK_ALONE"
    NO_BONUS_ROW = "NO_BONUS_ROW"
    NO_SUCH_NUMBER = "NO_SUCH_NUMBER"
    ROW_LOCKED = "ROW_LOCKED"
    DIE_REMOVED = "DIE_REMOVED"
    WRONG_SUM = "WRONG_SUM"
    WRONG_DIE = "WRONG_DIE"
    BONUS_WRONG_DIE = "BONUS_WRONG_DIE"
    ALREADY_CROSSED = "ALREADY_CROSSED"
    NOT_TO_THE_RIGHT = "NOT_TO_THE_RIGHT"
    LOCK_NEEDS_FIVE = "LOCK_NEEDS_FIVE"
    BONUS_NEEDS_NEIGHBOUR = "BONUS_NEEDS_NEIGHBOUR"
    MISS_NOT_ACTIVE = "MISS_NOT_ACTIVE"
    MISS_NOT_DUE = "MISS_NOT_DUE"


ORDER = {reason: place for place, reason in enumerate(Reason)}
"""The place of each reason, the most fundamental first."""

RULING = {
    Reason.BAD_DICE: "E45",
    Reason.WRONG_PHASE: "E1",
    Reason.UNKNOWN_PLAYER: "E40",
    Reason.NOT_ACTIVE: "E4",
    Reason.TWO_MARKS: "E3",
    Reason.BAD_TOKEN: "E42",
    Reason.LOCK_ALONE: "E12",
    Reason.NO_BONUS_ROW: "E47",
    Reason.NO_SUCH_NUMBER: "E42",
    Reason.ROW_LOCKED: "E14",
    Reason.DIE_REMOVED: "E14",
    Reason.WRONG_SUM: "E2",
    Reason.WRONG_DIE: "E2",
    Reason.BONUS_WRONG_DIE: "E25",
    Reason.ALREADY_CROSSED: "E7",
    Reason.NOT_TO_THE_RIGHT: "E41",
    Reason.LOCK_NEEDS_FIVE: "E10",
    Reason.BONUS_NEEDS_NEIGHBOUR: "E24",
    Reason.MISS_NOT_ACTIVE: "E8",
    Reason.MISS_NOT_DUE: "E8",
}
"""The ruling behind each reason, unless a refusal names a closer one.

`GAME_OVER` has none: that depends on how the game ended.
"""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A step that was rejected and changed nothing.

    Attributes:
        reason: The most fundamental reason.
        ruling: Number of the ruling that decides it; None for a game that people ended.
        data: What a sentence about it may name: player, row, number, last, sums, ...
    """

    reason: Reason
    ruling: str | None
    data: Mapping[str, object] = field(default_factory=dict)


def refuse(
    reason: Reason,
    what: Mapping[str, object] | None = None,
    /,
    *,
    ruling: str | None = None,
    **data: object,
) -> Refusal:
    """Make a refusal about `what`, with the reason's own ruling unless another is closer."""
    return Refusal(reason, ruling or RULING.get(reason), {**(what or {}), **data})
