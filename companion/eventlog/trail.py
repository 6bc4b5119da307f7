"""The records of the running game with the table after each, and the way back along them (pure).

An undo goes back to a table that is kept here, so its cost does not grow with the log: the games
before are over or put aside, and no undo reaches them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from companion.engine import MOST_PLAYERS, Refusal
from companion.errors import NotationError
from companion.eventlog.names import name_key
from companion.eventlog.record import BEGINNINGS, PEOPLE, Record, kept_by, to_entry
from companion.eventlog.reducer import reduce
from companion.eventlog.state import Game, Seat, Table

EMPTY = Table()
"""A table before anything happened."""

_SETTLING = ("rolled", "roll_corrected", "action_closed", "ended_early")


@dataclass(frozen=True, slots=True)
class Trail:
    """The records that count since the running game began or was resumed.

    Attributes:
        base: The table before them.
        steps: Each with the table after it.
    """

    base: Table = EMPTY
    steps: tuple[tuple[Record, Table], ...] = ()

    @property
    def table(self) -> Table:
        """The table now."""
        return self.steps[-1][1] if self.steps else self.base

    def at(self, revision: int) -> Trail:
        """The same trail with another number of the last record of the log."""
        if not self.steps:
            return replace(self, base=replace(self.base, revision=revision))
        *before, (record, table) = self.steps
        return replace(self, steps=(*before, (record, replace(table, revision=revision))))

    def after(self, records: Iterable[Record]) -> Trail:
        """The trail after more records; one that does not fit changes nothing."""
        trail = self
        for record in records:
            trail = trail._after(record)
        return trail

    def _after(self, record: Record) -> Trail:
        if record.kind == "undone":
            return self.back_to(kept_by(record)).at(record.revision)
        _, table = advanced(self.table, record)
        if table is None:
            return self.at(record.revision)
        if record.kind in BEGINNINGS:
            return Trail(self.table, ((record, table),))
        return replace(self, steps=(*self.steps, (record, table)))

    def back_to(self, revision: int) -> Trail:
        """The trail after an undo to a revision; what happened to people and settings stays."""
        kept = tuple(step for step in self.steps if step[0].revision <= revision)
        people = (record for record, _ in self.steps[len(kept) :] if record.kind in PEOPLE)
        return replace(self, steps=kept).after(people)

    @property
    def settled(self) -> int | None:
        """Revision of the last settled step: an ending, a closed action, a roll, a correction."""
        revisions = (record.revision for record, _ in self.steps if record.kind in _SETTLING)
        return max(revisions, default=None)

    @property
    def undone_to(self) -> int | None:
        """The last revision that counts after an undo; None if there is no settled step.

        Undoing a closed action also removes answers until a person's is missing, else it would
        close at once: a bot answers again by itself.
        """
        kinds = [record.kind for record, _ in self.steps]
        ends = (*BEGINNINGS, "seat_closed")  # a player who left stays away
        begin = max((i for i, kind in enumerate(kinds) if kind in ends), default=len(kinds))
        settled = [i for i in range(begin, len(kinds)) if kinds[i] in _SETTLING]
        if "paused" in kinds[begin:] or not settled:
            return None
        last = settled[-1]
        if kinds[last] == "action_closed":
            while not self._is_waiting_before(last):
                last -= 1
                if last <= begin:
                    return None  # no answer would be missing
        return self.steps[last - 1][0].revision

    def _is_waiting_before(self, step: int) -> bool:
        game = self.steps[step - 1][1].game
        if game is None:
            return False
        return any(not game.bots[player] for player in game.state.waiting_for)


def advanced(table: Table, record: Record) -> tuple[str | None, Table | None]:
    """The fault of a record, or the table after it.

    People whose records are lost are seated as the game that names them needs it.
    """
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
    seats = (seat for seat in older if name_key(seat.name) != name_key(last.name))
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
    is_theirs = seat is not None and name_key(seat.name) == name_key(name)
    return seat if seat is not None and is_theirs else Seat(number, name)
