"""The log as the table it leads to: what counts of it, what undoing strikes out, whose move it is.

Pure; `companion.eventlog.state` knows what one record does, this module what a whole log comes to.
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
    """A folded log.

    Attributes:
        table: Where it leads; its revision is that of the last record, fitting or not.
        skipped: Revisions of the records that were left out because they, or a record of the same
            game before them, do not fit.
        fault: The first record that did not fit, in words.
    """

    table: Table
    skipped: tuple[int, ...] = ()
    fault: str | None = None


def visible_records(records: Iterable[Record]) -> list[Record]:
    """The records that count: what a later record struck out is left out."""
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
    """The revisions a record strikes out."""
    named = record.data.get("revisions")
    listed = named if isinstance(named, list) else []
    return frozenset(each for each in listed if is_whole_number(each))


def _revision(record: Record) -> int:
    """The revision a record names; one that names none strikes nothing out."""
    named = record.data.get("revision")
    return named if is_whole_number(named) else record.revision


_SETTLING = ("rolled", "roll_corrected", "action_closed", "played", "ended_early")


def undone_to(records: Iterable[Record]) -> int | None:
    """The revision up to which the log counts when the last settled step is taken back.

    A closed action goes back until somebody has to answer again, else it would close at once.
    None where the running game has no settled step.
    """
    rows = visible_records(records)
    ends = (*BEGINNINGS, "seat_closed")  # nobody is called back to a game
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
                return None  # nobody would be asked: it would close again at once
    return rows[last - 1].revision


def _is_waiting(rows: Iterable[Record]) -> bool:
    game = project(rows).table.game
    return game is not None and bool(game.state.waiting_for)


def precondition_of(step: str, table: Table, records: Iterable[Record]) -> str:
    """What a host's step (undo, close, correct, end) would be taken on, as a word that is another
    once the table has gone on: no step is taken on anything but what was shown."""
    game = table.game
    if step == "undo":
        return f"{undone_to(records)} {game and game.rolled}"
    if game is None or step == "end":
        return f"{game and game.number}"
    if step == "close":
        return f"{game.rolled} {game.state.action}"
    roll = game.state.roll
    faces = [*roll.white, *(value for _, value in roll.coloured)] if roll is not None else []
    return f"{game.rolled} {faces}"


def last_roll(records: Iterable[Record]) -> Roll | None:
    """The roll that was confirmed last, for telling its dice from newly thrown ones."""
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
    """The game a record belongs to; number 0 where it is none's.

    Attributes:
        is_alive: It may still be played: it is on, or put aside.
        is_new: It begins with this record, not at an earlier one that may be lost.
    """

    number: int = 0
    is_alive: bool = True
    is_new: bool = False


def spans_of(rows: Iterable[Record]) -> list[GameSpan | None]:
    """For each record the game it belongs to, or None where it is about people and settings."""
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
    """The table a log leads to.

    A record that does not fit costs its own game what came after it, and nothing else: other games
    and the people at the table go on.
    """
    everything = list(records)
    rows = visible_records(everything)
    last = everything[-1].revision if everything else 0
    table, fault = Table(), None
    skipped: list[int] = []
    broken: set[int] = set()
    holed: set[int] = set()  # where what is lost may be that another game was taken up
    gapped: set[int] = set()  # games put aside that may lack moves in between
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
            continue  # a finished game's moves lead nowhere any more
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
    """Whether a damaged game, which is on, is put aside with what is known of it."""
    game = table.game
    if record.kind != "paused" or owner is None or game is None:
        return False
    return game.number == owner.number and game.state.phase is not Phase.OVER


def _advanced(table: Table, record: Record) -> tuple[str | None, Table | None]:
    """The table after a record, or why it does not fit."""
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
    """The table without an older seat of whoever sat down last: the record of their leaving it may
    be damaged."""
    *older, last = table.seats
    seats = (seat for seat in older if seat.name.casefold() != last.name.casefold())
    return replace(table, seats=(*seats, last))


def _seated(table: Table, kind: str) -> Table:
    """The table with the people at it whom a game that begins or goes on names: what is known of
    who came and left may be damaged. A game begins with everybody who is there."""
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
    """A seat as it is, or anew for somebody of another name."""
    seat = table.seat(number)
    is_theirs = seat is not None and seat.name.casefold() == name.casefold()
    return seat if seat is not None and is_theirs else Seat(number, name)
