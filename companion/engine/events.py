"""Events, which happened at the table, and facts, which follow from them."""

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
    """A player answered in the open action; the answer can change until the action closes."""

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
    """The open action was closed; players without an answer pass (E9)."""

    action: int


@dataclass(frozen=True, slots=True)
class Played:
    """A whole action as in recorded games: everybody's answer, and the action is closed."""

    action: int
    choices: tuple[Choice, ...]


@dataclass(frozen=True, slots=True)
class RollCorrected:
    """A misread roll was replaced; possible while an action is open."""

    roll: Roll


@dataclass(frozen=True, slots=True)
class EndedEarly:
    """The table stopped the game before the rules did."""


@dataclass(frozen=True, slots=True)
class SeatClosed:
    """A player left the game; their crosses score, their turns are skipped."""

    player: int


Event = (
    Rolled | RollCorrected | Answered | Withdrawn | ActionClosed | Played | EndedEarly | SeatClosed
)


@dataclass(frozen=True, slots=True)
class WouldClose:
    """An answer that will close a row unless it changes; announced to all at once (E46)."""

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
    """A cross counts now; `lock` is true if the lock cross came with it (E12)."""

    player: int
    box: str
    lock: bool


@dataclass(frozen=True, slots=True)
class RowClosed:
    """A row was closed for everyone and its die leaves (E14)."""

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
    """A player left the game and keeps their points."""

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
