"""Saved games, rebuilt from the event log (pure)."""

from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace

from companion.engine import Event, GameState, Phase, Refusal, Rolled, apply, fold
from companion.engine.notation import (
    GameRecord,
    from_lines,
    is_whole_number,
    to_lines,
)
from companion.errors import NotationError
from companion.eventlog.names import clean_name
from companion.eventlog.projection import GameSpan, project, spans_of, visible_records
from companion.eventlog.record import BEGINNINGS, Change, Record, to_entry


@dataclass(frozen=True, slots=True)
class SavedGame:
    """One game of the log.

    Attributes:
        number: From 1.
        at: When it began, as ISO 8601 text; for an imported game whose record has no date, when
            it was imported.
        names: The players in playing order.
        fault: Why the game is incomplete, or None.
        is_imported: Whether it was imported from a file.
    """

    number: int
    at: str
    names: tuple[str, ...]
    start: GameState
    events: tuple[Event, ...]
    state: GameState
    fault: str | None = None
    is_imported: bool = False

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.state.phase is Phase.OVER

    def after_turn(self, turn: int) -> SavedGame:
        """The game as it stood after a turn, which counts from 1."""
        rolls = [n for n, event in enumerate(self.events) if isinstance(event, Rolled)]
        if turn >= len(rolls):
            return self
        events = self.events[: rolls[turn]]
        return replace(self, events=events, state=fold(self.start, events))

    def lines(self) -> list[str]:
        """The game as lines that `replay` reads."""
        return to_lines(self.start, self.events, self.names, self.at)


def saved_games(records: Iterable[Record]) -> list[SavedGame]:
    """All games of a log, oldest first; a damaged one up to its first bad record."""
    archive = Archive()
    archive.take(records)
    return archive.games()


class Archive:
    """All games of a growing log; each record is read once.

    Attributes:
        seen: Revision of the last record read.
    """

    def __init__(self) -> None:
        self.seen = 0
        self._mutex = threading.Lock()
        self._finished: list[SavedGame] = []
        self._rows: list[Record] = []

    def brought_up_to_date(self, load: Callable[[int], Iterable[Record]]) -> list[SavedGame]:
        """All games, including the records that `load` returns after `seen`; thread-safe."""
        with self._mutex, nullcontext() if self.seen else _no_collection():
            self.take(load(self.seen))
            return self.games()

    def take(self, records: Iterable[Record]) -> None:
        """Add records newer than `seen`."""
        for record in records:
            self._rows.append(record)
            self.seen = record.revision

    def games(self) -> list[SavedGame]:
        """All games, oldest first; a damaged one up to its first bad record."""
        groups: dict[int, tuple[GameSpan, list[Record]]] = {}
        rows = visible_records(self._rows)
        for record, owner in zip(rows, spans_of(rows), strict=True):
            if record.kind == "imported":
                self._finished += _imported(record)
            elif owner is not None and owner.number:
                groups.setdefault(id(owner), (owner, []))[1].append(record)
        going_on: list[SavedGame] = []
        self._rows = []
        numbers = [owner.number for owner, _ in groups.values()]
        for n, (owner, records) in enumerate(groups.values(), 1):
            if owner.is_alive:
                going_on += _from_log(records)
                self._rows += records
            elif not (owner.number in numbers[n:] and _is_unplayed(records)):
                self._finished += _from_log(records)
        self._rows.sort(key=lambda record: record.revision)
        return sorted((*self._finished, *going_on), key=lambda game: game.number)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Make many lasting objects without searching them for garbage, now or later.

    Such a search stops every thread; over 150,000 records it takes half a second.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()


def _is_unplayed(records: Iterable[Record]) -> bool:
    """Whether a game has no roll; a latecomer restarts such a game under its number."""
    return all(record.kind not in ("rolled", "played") for record in records)


def _from_log(records: Sequence[Record]) -> list[SavedGame]:
    """The game that begins with the first record; empty if that record is damaged."""
    began = project(records[:1]).table.game
    if began is None:
        return []
    start = state = began.state
    events: list[Event] = []
    fault = None
    for record in records[1:]:
        try:
            entry = to_entry(record)
        except NotationError as error:
            fault = str(error)
            break
        if isinstance(entry, Change):
            if record.kind in (*BEGINNINGS, "paused"):
                continue
            fault = f"record {record.revision}: {record.kind!r} is no move"
            break
        step = apply(state, entry.event)
        if isinstance(step, Refusal):
            fault = f"record {record.revision}: {record.kind!r} is refused: {step.reason.value}"
            break
        state = step.state
        events.append(entry.event)
    return [SavedGame(began.number, records[0].at, began.names, start, tuple(events), state, fault)]


def _names_of(read: GameRecord) -> tuple[str, ...]:
    """The cleaned names of a record; players without a name get a number."""
    named = read.names or ("",) * read.start.players
    return tuple(clean_name(name) or f"#{player + 1}" for player, name in enumerate(named))


def _imported(record: Record) -> list[SavedGame]:
    try:
        number, lines = record.data["number"], record.data["lines"]
        read = from_lines(str(line) for line in lines)
    except (LookupError, TypeError, NotationError):
        return []
    if not is_whole_number(number):
        return []
    state = fold(read.start, read.events)
    names = _names_of(read)
    at, start, events = read.at or record.at, read.start, read.events
    return [SavedGame(number, at, names, start, events, state, read.fault, is_imported=True)]
