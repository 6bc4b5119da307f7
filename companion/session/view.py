"""What the session shows and answers: plain values for pages, buttons and tests."""

from __future__ import annotations

from dataclasses import dataclass

from companion.eventlog.state import Table
from companion.messages.announcements import Announcement
from companion.messages.catalogue import Line
from companion.tray import TrayView


@dataclass(frozen=True, slots=True)
class Rejected:
    """A step the session did not take: a code, what to say of it, and the ruling it rests on."""

    code: str
    lines: tuple[Line, ...]
    ruling: str | None = None


@dataclass(frozen=True, slots=True)
class Joined:
    """A new seat and the secret token that proves it."""

    seat: int
    token: str


@dataclass(frozen=True, slots=True)
class View:
    """Everything pages show, at one moment.

    Attributes:
        version: Rises with every change, kept or not.
        closes_at_s: On the session's clock, when the open action closes by itself; None while
            somebody has still to answer.
        online: Seats with a page open.
        faults: What does not work: the part (camera, button) and what is wrong with it.
        offered: Seats another device may claim.
    """

    version: int
    table: Table
    tray: TrayView
    announcement: Announcement | None
    announced: int
    closes_at_s: float | None
    online: frozenset[int]
    faults: tuple[tuple[str, str], ...] = ()
    offered: frozenset[int] = frozenset()
