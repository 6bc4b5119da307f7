"""Values the session returns to pages, buttons and tests."""

from __future__ import annotations

from dataclasses import dataclass

from companion.eventlog.state import Table
from companion.history.notices import Notice
from companion.messages.announcements import Announcement
from companion.tray import TrayView


@dataclass(frozen=True, slots=True)
class Joined:
    """A new seat and the secret token that proves it."""

    seat: int
    token: str


@dataclass(frozen=True, slots=True)
class View:
    """Everything a page shows, as one snapshot.

    Attributes:
        version: Rises with every change, stored or not.
        announced: Number of announcements so far.
        closes_at_s: Time on the session's clock when the open action closes by itself; None
            while an answer is missing.
        online: Seats with a page open.
        faults: Parts that do not work, such as camera, button or storage, each with its fault.
        offered: Seats another device may claim: the host handed them on, or they wait.
        notices: Changes of sheets by others than their players.
        lost: Saved steps that could not be read at the start.
        heard: The latest announcements for the ear, numbered.
        has_copy: The second copy of the saved steps can be written.
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
    notices: tuple[Notice, ...] = ()
    lost: int = 0
    has_copy: bool = True
    heard: tuple[tuple[int, Announcement], ...] = ()
