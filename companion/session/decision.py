"""The result of deciding a step: what it would store and announce, or why it is rejected (pure)."""

from __future__ import annotations

from dataclasses import dataclass, replace

from companion.engine import Event, Phase, Refusal
from companion.eventlog.record import Change, Entry, Move
from companion.eventlog.reducer import reduce
from companion.eventlog.state import Table
from companion.messages.announcements import Announcement, announce_action2, announce_step
from companion.messages.catalogue import Line, Word, line
from companion.messages.refusals import refusal_line


@dataclass(frozen=True, slots=True)
class Rejected:
    """A step that is not taken: a code, an explanation, and the ruling it rests on."""

    code: str
    lines: tuple[Line, ...]
    ruling: str | None = None


@dataclass(frozen=True, slots=True)
class Decision:
    """A step that may be taken.

    Attributes:
        entries: Stored in one transaction, all or none; empty if there is nothing to do.
        table: The table after them.
        announcements: Published in this order.
        display: Replaces the displayed announcement without a notification.
        notice: Notified without replacing the displayed announcement.
    """

    entries: tuple[Entry, ...]
    table: Table
    announcements: tuple[Announcement, ...] = ()
    display: Announcement | None = None
    notice: Announcement | None = None

    def then(self, *changes: Change, announcement: Announcement | None = None) -> Decision:
        """Add changes to the same transaction.

        Raises:
            NotationError: A change does not fit the table.
        """
        table = self.table
        for change in changes:
            reduced = reduce(table, change, table.revision + 1)
            assert not isinstance(reduced, Refusal), "only moves are refused"
            table = reduced.table
        more = () if announcement is None else (announcement,)
        return replace(
            self,
            entries=(*self.entries, *changes),
            table=table,
            announcements=(*self.announcements, *more),
        )


def rejected(
    code: str, *, key: str | None = None, ruling: str | None = None, **data: Word
) -> Rejected:
    """Reject a step with the catalogue's sentence for its code, or for another key."""
    return Rejected(code, (line(key or f"declined.{code}", **data),), ruling)


def nothing(table: Table) -> Decision:
    """A step that changes nothing."""
    return Decision((), table)


def decide_move(table: Table, event: Event, **details: object) -> Decision | Rejected:
    """Decide a rule event of the running game by the rules.

    Args:
        details: JSON values stored beside the event.
    """
    game = table.game
    if game is None:
        return rejected("NO_GAME", key="press.no_game")
    move = Move(event, details)
    reduced = reduce(table, move, table.revision + 1)
    if isinstance(reduced, Refusal):
        explained = refusal_line(reduced, table.names)
        return Rejected(reduced.reason.value, (explained,), reduced.ruling)
    assert reduced.table.game is not None
    before, after = game.state, reduced.table.game.state
    announcement = announce_step(before, after, reduced.facts, table.names)
    if announcement is not None:
        return Decision((move,), reduced.table, (announcement,))
    is_quiet = after.phase is Phase.ACTION2 and before.action == 1
    display = announce_action2(after, table.names) if is_quiet else None
    return Decision((move,), reduced.table, display=display)
