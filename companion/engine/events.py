"""What happened at the table (events, in the past tense) and what followed from it (facts)."""

from __future__ import annotations

from dataclasses import dataclass

from companion.engine.dice import DieColour, Roll

Choice = str | None
"""A box's token, "MISS" for the miss that is due, or None for a pass."""


@dataclass(frozen=True, slots=True)
class Rolled:
    """The dice came to rest and the roll was confirmed."""

    roll: Roll


@dataclass(frozen=True, slots=True)
class Answered:
    """A player said what they cross in the open action; until it closes they may change it."""

    player: int
    action: int
    choice: Choice


@dataclass(frozen=True, slots=True)
class Withdrawn:
    """A player took their answer back and has still to answer."""

    player: int
    action: int


@dataclass(frozen=True, slots=True)
class ActionClosed:
    """The open action was closed; who had not answered passes (E9)."""

    action: int


@dataclass(frozen=True, slots=True)
class Played:
    """An action as recorded games have it: everybody's answer at once, and it is closed."""

    action: int
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class RollCorrected:
    """The dice were misread: these are the right ones; possible while marks are open."""

    roll: Roll


@dataclass(frozen=True, slots=True)
class EndedEarly:
    """The table stopped the game before the rules did."""


@dataclass(frozen=True, slots=True)
class SeatClosed:
    """A player left for good: their crosses stay and score, their turns are passed over."""

    player: int


Event = (
    Rolled | RollCorrected | Answered | Withdrawn | ActionClosed | Played | EndedEarly | SeatClosed
)


@dataclass(frozen=True, slots=True)
class WouldClose:
    """An answer that closes a row if it stands: everybody is told at once (E46)."""

    player: int
    row: str


@dataclass(frozen=True, slots=True)
class ClosingTakenBack:
    """The answer that would have closed a row was changed."""

    player: int
    row: str


@dataclass(frozen=True, slots=True)
class AnswerReturned:
    """The corrected roll does not allow this answer any more; its owner answers again."""

    player: int
    box: str


@dataclass(frozen=True, slots=True)
class Crossed:
    """A cross counts now; `lock` says that the lock cross came with it (E12)."""

    player: int
    box: str
    lock: bool


@dataclass(frozen=True, slots=True)
class RowClosed:
    """A row is shut for everyone and its die leaves (E14)."""

    row: str
    die: DieColour
    players: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MissTaken:
    """The active player crossed nothing in either action (E8)."""

    player: int
    misses: int


@dataclass(frozen=True, slots=True)
class PlayerLeft:
    """A player is out of the game; what they scored is kept."""

    player: int


@dataclass(frozen=True, slots=True)
class GameEnded:
    """The game is over; `end` is why."""

    end: str


Fact = (
    WouldClose
    | ClosingTakenBack
    | AnswerReturned
    | Crossed
    | RowClosed
    | MissTaken
    | PlayerLeft
    | GameEnded
)
