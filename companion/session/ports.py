"""What the session needs from the outside, and the plain values that cross its edge."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from companion.eventlog.record import Record
from companion.messages.announcements import Announcement


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
