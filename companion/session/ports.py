"""What the session needs from the outside, and the plain values that cross its edge."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from companion.engine import DieColour, Roll
from companion.eventlog.record import Record
from companion.messages.announcements import Announcement
from companion.messages.catalogue import Line
from companion.messages.equipment import Doubt


@dataclass(frozen=True, slots=True)
class SeenDie:
    """One die the eye saw, in pixels of the tray's picture; unknowns are None.

    `by_hand` is true where a person put its value right.
    """

    colour: str | None
    value: int | None
    confidence: float
    centre: tuple[float, float]
    corners: tuple[tuple[float, float], ...]
    cocked: bool = False
    in_tray: bool = True
    by_hand: bool = False


BLIND = frozenset({"lost", "dark", "blocked", "frozen"})
"""What becomes of a tray whose camera sees nothing."""


@dataclass(frozen=True, slots=True)
class TrayView:
    """What the tray looks like now.

    Attributes:
        status: A reading's status, or waiting, reading, old (the dice of the last roll); lost,
            dark, blocked or frozen (the camera shows nothing); none (there is no camera).
        roll: The settled roll the button would confirm, or None.
        frame: Number of the picture the dice were read from.
        size_wh: Its size in pixels.
        notes: What the camera has to say, such as that its last picture is shown.
        fault: What is wrong with the camera: lost, dark, blocked, frozen or slow; or None.
    """

    status: str
    roll: Roll | None = None
    frame: int = 0
    size_wh: tuple[int, int] = (0, 0)
    dice: tuple[SeenDie, ...] = ()
    doubts: tuple[Doubt, ...] = ()
    notes: tuple[Line, ...] = ()
    fault: str | None = None

    @property
    def is_blind(self) -> bool:
        """Whether the camera shows nothing of the dice: they can only be entered by hand."""
        return self.status in BLIND

    def is_outdated(self, dice: Sequence[DieColour]) -> bool:
        """Whether the roll on offer has a die that is not among the coloured ones in play now."""
        return self.roll is not None and not {c for c, _ in self.roll.coloured} <= set(dice)


@dataclass(frozen=True, slots=True)
class RollKept:
    """A confirmed roll the eye has seen: the record's revision, its game and turn, the picture."""

    revision: int
    game: int
    turn: int
    frame: int


class Store(Protocol):
    """Keeps the table's records; `append` returns only once they are safe."""

    def load(self, after: int = 0) -> Iterable[Record]:
        """Every record after a revision, oldest first."""

    def append(self, records: tuple[Record, ...]) -> None:
        """Keep records, all or none; raises StoreError when they cannot be kept."""

    def close(self) -> None:
        """Let go of the file; may be called twice."""


class Speaker(Protocol):
    """Says a text aloud; the newest text wins."""

    def say(self, text: str, language: str) -> None:
        """Begin to speak and return at once."""


Cancel = Callable[[], None]
CallLater = Callable[[float, Callable[[], None]], Cancel]
"""Call a function after some seconds, on any thread; the result cancels it."""

Listener = Callable[[Announcement], None]
