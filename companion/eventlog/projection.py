"""Rebuild the table from the event log (pure).

The reducer applies one entry; this module decides which records count, to which game each belongs,
and how damaged logs are read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from companion.engine import Phase, Roll, RollCorrected, Rolled
from companion.engine.notation import is_whole_number
from companion.errors import NotationError
from companion.eventlog.record import BEGINNINGS, KNOWN, PEOPLE, Move, Record, kept_by, to_entry
from companion.eventlog.state import Table
from companion.eventlog.trail import EMPTY, Trail, advanced


@dataclass(frozen=True, slots=True)
class Projection:
    """The result of reading a log.

    Attributes:
        trail: The way to the table since the running game began or was resumed.
        skipped: Revisions of invalid records, and of later records of the same game.
        fault: The first invalid record, in words.
    """

    trail: Trail
    skipped: tuple[int, ...] = ()
    fault: str | None = None

    @property
    def table(self) -> Table:
        """The table at the end of the trail."""
        return self.trail.table


def visible_records(records: Iterable[Record]) -> list[Record]:
    """The records that count: without those that a later record voids."""
    rows: list[Record] = []
    for record in records:
        if record.kind == "kept":
            _popped(rows, kept_by(record))
        elif record.kind == "struck":
            out = struck_by(record)
            later = _popped(rows, min(out, default=record.revision) - 1)
            rows += [row for row in later if row.revision not in out]
        elif record.kind == "undone":
            later = _popped(rows, kept_by(record))
            rows += [row for row in later if row.kind in PEOPLE]
        else:
            rows.append(record)
    return rows


def _popped(rows: list[Record], kept: int) -> list[Record]:
    """Take the rows after a revision off the end; nothing else is touched."""
    end = len(rows)
    while end and rows[end - 1].revision > kept:
        end -= 1
    later = rows[end:]
    del rows[end:]
    return later


def struck_by(record: Record) -> frozenset[int]:
    """The revisions that a record of kind "struck" voids."""
    named = record.data.get("revisions")
    listed = named if isinstance(named, list) else []
    return frozenset(each for each in listed if is_whole_number(each))


def last_rolls(records: Iterable[Record], earlier: tuple[Roll, ...] = ()) -> tuple[Roll, ...]:
    """The roll that was confirmed last, to tell its dice from newly thrown ones.

    Its corrections stand before it: the dice may be read as before or as they are.

    Args:
        earlier: The same before these records.
    """
    found: list[Roll] = []
    for record in reversed(visible_records(records)):
        if record.kind in ("rolled", "roll_corrected"):
            try:
                entry = to_entry(record)
            except NotationError:
                break
            event = entry.event if isinstance(entry, Move) else None
            if isinstance(event, (Rolled, RollCorrected)):
                found.append(event.roll)
            if record.kind == "rolled":
                return tuple(found)
    return (*found, *earlier)


@dataclass(slots=True)
class GameSpan:
    """The records of one game.

    Attributes:
        number: Of the game; 0 if the records belong to none.
        is_alive: The game may still be played: it is running or put aside.
        is_new: The span begins with the game, not with a later part after a loss.
    """

    number: int = 0
    is_alive: bool = True
    is_new: bool = False


def spans_of(rows: Iterable[Record]) -> list[GameSpan | None]:
    """For each record the span it belongs to; None for records about people and settings."""
    owners: list[GameSpan | None] = []
    known: dict[int, GameSpan] = {}
    now = GameSpan()
    for row in rows:
        if row.kind in BEGINNINGS:
            number = row.data.get("number")
            now.is_alive = False
            is_new = row.kind == "started"
            now = GameSpan(number if is_whole_number(number) else 0, is_new=is_new)
            if row.kind == "resumed":
                now = known.get(now.number, now)
                now.is_alive = True
            if now.number:
                known[now.number] = now
        owners.append(None if row.kind in PEOPLE else now)
        if row.kind == "paused":
            now = GameSpan()
    return owners


def project(records: Iterable[Record], base: Table = EMPTY) -> Projection:
    """Rebuild the table from a log.

    An invalid record ends its own game there and nothing else: other games and the people at the
    table go on.

    Args:
        base: The table before the first of the records.
    """
    everything = list(records)
    rows = visible_records(everything)
    last = everything[-1].revision if everything else base.revision
    table, fault = base, None
    before, steps = base, list[tuple[Record, Table]]()
    skipped: list[int] = []
    broken: set[int] = set()
    holed: set[int] = set()  # the lost record may have resumed another game
    gapped: set[int] = set()  # paused games that may have lost moves
    for record, owner in zip(rows, spans_of(rows), strict=True):
        is_move = record.kind not in (*BEGINNINGS, "paused")
        is_nobodys = owner is not None and not owner.number and not owner.is_new and is_move
        is_broken = owner is not None and id(owner) in broken
        if is_nobodys or (record.kind == "paused" and id(owner) in holed):
            gapped.update(game.number for game in table.paused)
        if is_nobodys or (is_broken and not _is_put_aside(record, owner, table)):
            fault = fault or f"record {record.revision}: {record.kind!r} outside a game"
            skipped.append(record.revision)
            continue
        if owner is not None and not owner.is_alive and is_move:
            continue  # moves of a finished game have no effect
        if record.kind == "resumed" and owner is not None and owner.number in gapped:
            fault = fault or f"record {record.revision}: moves before it are lost"
            after = None
        else:
            why, after = advanced(table, record)
            fault = fault or why
        if after is not None:
            if record.kind in BEGINNINGS:
                before, steps = table, []
            table = after
            steps.append((record, table))
            continue
        skipped.append(record.revision)
        if owner is not None:
            broken.add(id(owner))
            if record.kind not in KNOWN:
                holed.add(id(owner))
    return Projection(Trail(before, tuple(steps)).at(last), tuple(skipped), fault)


def _is_put_aside(record: Record, owner: GameSpan | None, table: Table) -> bool:
    """Whether a record puts the running game aside although the game is damaged."""
    game = table.game
    if record.kind != "paused" or owner is None or game is None:
        return False
    return game.number == owner.number and game.state.phase is not Phase.OVER
