"""Interfaces the session needs from outside, and the values that cross them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from companion.engine.dice import Roll
from companion.eventlog.derived import Derived, Mark
from companion.eventlog.record import Record


class Store(Protocol):
    """Stores the event log; `append` returns once the records are safe."""

    def load(self, after: int = 0, *, moves: bool = True) -> Iterable[Record]:
        """Every record after a revision, oldest first, with or without moves."""

    def history(self, after: int = 0) -> Iterable[Record]:
        """The same, on any thread and while records are appended."""

    def rewrite(self, change: Callable[[Record], Record], *, erase: bool = False) -> None:
        """Change names in the log."""

    @property
    def lost(self) -> int:
        """How many records could not be read at opening."""

    @property
    def has_copy(self) -> bool:
        """Whether a second copy has every record, too."""

    @property
    def mark(self) -> Mark:
        """The end of the log."""

    def derived(self, name: str) -> Derived | None:
        """A value kept beside the log that fits its records, or None."""

    def keep(self, name: str, derived: Derived) -> None:
        """Keep a value made from the log; failing to costs only time later."""

    def append(self, records: tuple[Record, ...]) -> None:
        """Write records, all or none; raises StoreError if they cannot be written."""

    def close(self) -> None:
        """Close the file; may be called twice."""


class TrayPort(Protocol):
    """State of the camera loop that a press of the button depends on."""

    @property
    def is_reading(self) -> bool:
        """Whether the dice lie still and their reading is due any moment."""

    @property
    def is_unwatched(self) -> bool:
        """Whether frames are discarded at present, so that a die may be moved unseen."""


@dataclass(frozen=True, slots=True)
class NoTrayPort:
    """A table without a camera."""

    is_reading: bool = False
    is_unwatched: bool = False


@dataclass(frozen=True, slots=True)
class RollKept:
    """A confirmed roll that the camera saw.

    Attributes:
        revision: Of the roll's record.
        frame: Number of the frame its dice were read from.
        roll: As it was confirmed.
    """

    revision: int
    game: int
    turn: int
    frame: int
    roll: Roll


class Topic(Enum):
    """Topics of the session's callbacks, with the argument each callback receives."""

    ANNOUNCEMENT = "announcement"
    """Every announcement: Announcement."""
    CONFIRMED = "confirmed"
    """A roll was confirmed: Roll."""
    CORRECTED = "corrected"
    """A confirmed roll was corrected: Roll."""
    SEEN_ROLL = "seen_roll"
    """A roll was confirmed that the camera saw: RollKept."""
    ROLL_DUE_AGAIN = "roll_due_again"
    """A confirmed roll was undone: no argument."""
    SETTINGS = "settings"
    """The table's settings changed: no argument."""


Cancel = Callable[[], None]
CallLater = Callable[[float, Callable[[], None]], Cancel]
"""Call a function after some seconds, on any thread; the result cancels it."""
