"""Changes of a player's sheet that the player did not make (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from companion.eventlog.projection import project
from companion.eventlog.record import BEGINNINGS, Record
from companion.eventlog.state import Game, Table
from companion.eventlog.trail import EMPTY, Trail

KINDS = ("corrected", "undone", "closed", "answered")
"""Reasons of a notice."""

MOST_KEPT = 4
"""Steps whose notices are kept: a phone that sleeps longer shows the newest ones."""


@dataclass(frozen=True, slots=True)
class Notice:
    """A change of one player's sheet by somebody else.

    Attributes:
        revision: Number of the record that made the change.
        game: Number of the game.
        player: Index of the player in the game.
        kind: corrected, undone, closed (by the host) or answered (by the host), as in KINDS.
        lost: Crosses and answers that are gone.
        crossed: The box that the host crossed for the player.
        misses: Misses gained, or lost if negative.
    """

    revision: int
    game: int
    player: int
    kind: str
    lost: tuple[str, ...] = ()
    crossed: str | None = None
    misses: int = 0


def notices_between(before: Game | None, after: Game | None, record: Record) -> tuple[Notice, ...]:
    """Return the notices of one step, given the game before and after it."""
    kind = _kind(record)
    if kind is None or before is None or after is None or before.number != after.number:
        return ()
    return tuple(
        _notice(kind, before, after, player, record)
        for player in range(after.state.players)
        if player not in after.state.gone and _concerns(kind, before, player, record)
    )


def with_step(
    kept: Sequence[Notice], before: Game | None, after: Game | None, record: Record
) -> tuple[Notice, ...]:
    """Return the kept notices after one more step; those of another game are discarded, and of the
    same one that begins again: it may have other players."""
    number = after.number if after is not None and record.kind not in BEGINNINGS else 0
    own = [notice for notice in kept if notice.game == number]
    own += notices_between(before, after, record)
    newest = sorted({notice.revision for notice in own})[-MOST_KEPT:]
    return tuple(notice for notice in own if notice.revision in newest)


def notices_of(records: Iterable[Record], base: Table = EMPTY) -> tuple[Notice, ...]:
    """Return the notices of the running game from the event log.

    Args:
        base: The table before the first of the records.
    """
    rows = list(records)
    start = max((n for n, row in enumerate(rows) if row.kind in BEGINNINGS), default=len(rows))
    kept: tuple[Notice, ...] = ()
    if not any(_kind(row) for row in rows[start:]):
        return kept
    trail = Trail(project(rows[:start], base).table)
    for row in rows[start:]:
        before, trail = trail.table.game, trail.after((row,))
        kept = with_step(kept, before, trail.table.game, row)
    return kept


def _kind(record: Record) -> str | None:
    by = record.data.get("by")
    match record.kind:
        case "roll_corrected":
            return "corrected"
        case "undone":
            return "undone"
        case "action_closed" if by == "table":
            return "closed"
        case "answered" if by == "host":
            return "answered"
    return None


def _concerns(kind: str, before: Game, player: int, record: Record) -> bool:
    if kind == "closed":
        return player in before.state.waiting_for
    return kind != "answered" or player == record.data.get("player")


def _notice(kind: str, before: Game, after: Game, player: int, record: Record) -> Notice:
    plan = after.state.plan
    lost = _crossed(before, player) & ~_crossed(after, player)
    crossed = record.data.get("choice") if kind == "answered" else None
    return Notice(
        record.revision,
        after.number,
        player,
        kind,
        tuple(plan.name_of(lost)),
        crossed if isinstance(crossed, str) else None,
        after.state.misses[player] - before.state.misses[player],
    )


def _crossed(game: Game, player: int) -> int:
    """Crosses of a player as bits, with the box of the open answer."""
    answer = game.state.answers[player] if game.state.action else None
    return game.state.crosses[player] | (answer or 0)
