"""Rebuild the table from the whole event log (pure).

The reducer applies one entry; this module decides which records count, to which game each belongs,
and how damaged logs are read.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from companion.engine import MOST_PLAYERS, Phase, Refusal, Roll, RollCorrected, Rolled
from companion.engine.notation import is_whole_number
from companion.errors import NotationError
from companion.eventlog.record import BEGINNINGS, KNOWN, PEOPLE, Move, Record, to_entry
from companion.eventlog.reducer import reduce
from companion.eventlog.state import Game, Seat, Table


@dataclass(frozen=True, slots=True)
class Projection:
    """The result of reading a log.

    Attributes:
        table: The table after it; its revision is that of the last record, valid or not.
        skipped: Revisions of invalid records, and of later records of the same game.
        fault: The first invalid record, in words.
    """

    table: Table
    skipped: tuple[int, ...] = ()
    fault: str | None = None


def visible_records(records: Iterable[Record]) -> list[Record]:
    """The records that count: without those that a later record voids."""
    rows: list[Record] = []
    for record in records:
        if record.kind == "kept":
            kept = _revision(record)
            while rows and rows[-1].revision > kept:
                rows.pop()
        elif record.kind == "struck":
            out = struck_by(record)
            rows = [row for row in rows if row.revision not in out]
        elif record.kind == "undone":
            kept = _revision(record)
            rows = [row for row in rows if row.revision <= kept or row.kind in PEOPLE]
        else:
            rows.append(record)
    return rows


def struck_by(record: Record) -> frozenset[int]:
    """The revisions that a record of kind "struck" voids."""
    named = record.data.get("revisions")
    listed = named if isinstance(named, list) else []
    return frozenset(each for each in listed if is_whole_number(each))


def _revision(record: Record) -> int:
    """The revision a record names; its own if it names none, which voids nothing."""
    named = record.data.get("revision")
    return named if is_whole_number(named) else record.revision


_SETTLING = ("rolled", "roll_corrected", "action_closed", "played", "ended_early")


def undone_to(records: Iterable[Record]) -> int | None:
    """The last revision that counts after an undo; None if the running game has no settled step.

    Undoing a closed action also removes answers until one is missing, else it would close at once.
    """
    rows = visible_records(records)
    ends = (*BEGINNINGS, "seat_closed")  # a player who left stays away
    begin = max((i for i, row in enumerate(rows) if row.kind in ends), default=len(rows))
    if any(row.kind == "paused" for row in rows[begin:]):
        return None
    settled = [i for i in range(begin, len(rows)) if rows[i].kind in _SETTLING]
    if not settled:
        return None
    last = settled[-1]
    if rows[last].kind == "action_closed":
        while not _is_waiting(rows[:last]):
            last -= 1
            if last <= begin:
                return None  # no answer would be missing
    return rows[last - 1].revision


def _is_waiting(rows: Iterable[Record]) -> bool:
    game = project(rows).table.game
    return game is not None and bool(game.state.waiting_for)


def last_roll(records: Iterable[Record]) -> Roll | None:
    """The roll that was confirmed last, to tell its dice from newly thrown ones."""
    for record in reversed(visible_records(records)):
        if record.kind in ("rolled", "roll_corrected"):
            try:
                entry = to_entry(record)
            except NotationError:
                return None
            event = entry.event if isinstance(entry, Move) else None
            return event.roll if isinstance(event, (Rolled, RollCorrected)) else None
    return None


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


def project(records: Iterable[Record]) -> Projection:
    """Rebuild the table from a log.

    An invalid record ends its own game there and nothing else: other games and the people at the
    table go on.
    """
    everything = list(records)
    rows = visible_records(everything)
    last = everything[-1].revision if everything else 0
    table, fault = Table(), None
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
            why, after = _advanced(table, record)
            fault = fault or why
        if after is not None:
            table = after
            continue
        skipped.append(record.revision)
        if owner is not None:
            broken.add(id(owner))
            if record.kind not in KNOWN:
                holed.add(id(owner))
    return Projection(replace(table, revision=last), tuple(skipped), fault)


def _is_put_aside(record: Record, owner: GameSpan | None, table: Table) -> bool:
    """Whether a record puts the running game aside although the game is damaged."""
    game = table.game
    if record.kind != "paused" or owner is None or game is None:
        return False
    return game.number == owner.number and game.state.phase is not Phase.OVER


def _advanced(table: Table, record: Record) -> tuple[str | None, Table | None]:
    """The fault of a record, or the table after it."""
    try:
        result = reduce(table, to_entry(record), record.revision)
    except NotationError as error:
        return str(error), None
    if isinstance(result, Refusal):
        why = f"record {record.revision}: {record.kind!r} is refused: {result.reason.value}"
        return why, None
    if record.kind == "seated":
        return None, _named_once(result.table)
    return None, _seated(result.table, record.kind)


def _named_once(table: Table) -> Table:
    """Free an older seat of the newest player: the record of their leaving may be lost."""
    *older, last = table.seats
    seats = (seat for seat in older if seat.name.casefold() != last.name.casefold())
    return replace(table, seats=(*seats, last))


def _seated(table: Table, kind: str) -> Table:
    """Seat the players whom a started or resumed game names: records of people may be lost.

    A game starts with everybody at the table, so other seats are free then.
    """
    game = table.game
    if kind not in BEGINNINGS or game is None:
        return table
    gone = game.state.gone
    places = [place for n, place in enumerate(_places(game)) if n not in gone]
    named = {seat: name for seat, name in places if seat < MOST_PLAYERS}
    seats = [_seat_of(table, number, name) for number, name in named.items()]
    if kind == "resumed":
        seats = [*(seat for seat in table.seats if seat.number not in named), *seats]
    if set(seats) == set(table.seats) and kind == "resumed":
        return table
    return replace(table, seats=tuple(seats))


def _places(game: Game) -> list[tuple[int, str]]:
    return list(zip(game.seats, game.names, strict=True))


def _seat_of(table: Table, number: int, name: str) -> Seat:
    """The seat of a player; a new one if the seat has another name."""
    seat = table.seat(number)
    is_theirs = seat is not None and seat.name.casefold() == name.casefold()
    return seat if seat is not None and is_theirs else Seat(number, name)
