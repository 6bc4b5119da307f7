"""Saved games, rebuilt from the event log."""

from __future__ import annotations

import gc
import hashlib
import json
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from itertools import islice, takewhile

from companion.engine import Event, GameState, HouseRule, Phase, Refusal, Roll, Rolled, apply, fold
from companion.engine.notation import (
    GameRecord,
    from_lines,
    is_whole_number,
    to_lines,
    turns_of,
)
from companion.errors import NotationError
from companion.eventlog.derived import Derived, Mark
from companion.eventlog.names import clean_name
from companion.eventlog.projection import GameSpan, project, spans_of, visible_records
from companion.eventlog.record import BEGINNINGS, Change, Record, to_entry
from companion.eventlog.state import STRENGTHS
from companion.history.accuracy import offered_before
from companion.history.results import Result, rolls_and_misread, spans_of_revisions
from companion.wire.structs import WireError, convert, plain

PIECE = 10_000
"""Records read at once: all of a long log would fill the memory of a small computer."""


@dataclass(frozen=True, slots=True)
class SavedGame:
    """One game of the log.

    Attributes:
        number: From 1.
        at: When it began, as ISO 8601 text; for an imported game whose record has no date, when
            it was imported.
        names: The players in playing order.
        ended: When its last step was stored; empty for an imported game.
        seats: The players' seats when it began; empty for an imported game.
        bots: By player, the bot's strength, or empty for a person.
        practice: The coach suggested answers.
        typed: Numbers of the rolls that were entered by hand, from 1.
        offered: Number and what the camera had offered, None for nothing, of each roll that was
            entered or corrected by hand before it was confirmed.
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
    ended: str = ""
    seats: tuple[int, ...] = ()
    bots: tuple[str, ...] = ()
    practice: bool = False
    typed: tuple[int, ...] = ()
    offered: tuple[tuple[int, Roll | None], ...] = ()

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.state.phase is Phase.OVER

    @property
    def result(self) -> Result:
        """How it stands or ended."""
        state, players = self.state, range(self.state.players)
        moves = "\n".join(to_lines(self.start, self.events))
        rolls, misread = rolls_and_misread(self.events, dict(self.offered))
        return Result(
            number=self.number,
            at=self.at,
            names=self.names,
            variant=state.plan.name,
            house=tuple(rule.value for rule in HouseRule if rule in state.setup.house),
            first=state.first,
            turns=state.turn,
            end=state.end.value if state.end else None,
            fault=self.fault,
            is_imported=self.is_imported,
            has_bots=any(self.bots) or self.practice,
            ranking=state.ranking,
            totals=tuple(state.total(p) for p in players),
            misses=state.misses,
            crosses=tuple(state.crosses[p].bit_count() for p in players),
            closings=tuple(sum(p in closing.players for closing in state.closed) for p in players),
            rows=tuple(state.points(p) for p in players),
            played=hashlib.blake2b(moves.encode(), digest_size=8).hexdigest(),
            rolls=rolls,
            misread=misread,
        )

    def after_turn(self, turn: int) -> SavedGame:
        """The game as it stood after the turn that the table gave this number."""
        rolls = [n for n, event in enumerate(self.events) if isinstance(event, Rolled)]
        turns, _, _ = turns_of(self.start, self.events)
        later = [n for n, each in zip(rolls, turns, strict=True) if each.number > turn]
        if not later:
            return self
        events = self.events[: later[0]]
        return replace(self, events=events, state=fold(self.start, events))

    def lines(self) -> list[str]:
        """The game as lines that `replay` reads."""
        config, *lines = to_lines(self.start, self.events, self.names, self.at)
        kind: dict[str, object] = {"bots": self.bots} if any(self.bots) else {}
        if self.practice:
            kind["practice"] = True
        if kind:
            config = json.dumps(json.loads(config) | kind, ensure_ascii=False)
        return [config, *lines]


def saved_games(records: Iterable[Record]) -> list[SavedGame]:
    """All games of a log, oldest first; a damaged one up to its first bad record."""
    found = [game for group in _groups(list(records)) if (game := group.game()) is not None]
    return sorted(found, key=lambda game: game.number)


class Archive:
    """The results of all games of a growing log; each record is read once.

    Attributes:
        seen: Revision of the last record read.
    """

    def __init__(self, kept: Derived | None = None) -> None:
        """Begin with the results that were kept beside the log, if there are any."""
        self.seen = 0
        self._mutex = threading.Lock()
        self._finished: list[Result] = []
        self._rows: list[Record] = []
        if kept is not None:
            self._take_kept(kept)

    def results(
        self, load: Callable[[int], Iterable[Record]], last: int | None = None
    ) -> list[Result]:
        """All results, the oldest first, including the records that `load` returns after `seen`.

        Args:
            last: The last revision that counts; all if None.
        """
        with self._mutex, nullcontext() if self.seen else _no_collection():
            rest = _until(load(self.seen), last)
            while True:
                new = list(islice(rest, PIECE))
                if self.seen and any(record.kind in ("kept", "struck") for record in new):
                    new, rest = list(_until(load(0), last)), iter(())
                    self._finished, self._rows = [], []  # they may void what was read
                self.seen = new[-1].revision if new else self.seen
                going_on = self._brought_up_to_date(new)
                if len(new) < PIECE:
                    return sorted((*self._finished, *going_on), key=lambda each: each.number)

    def game(self, number: int, load: Callable[[int], Iterable[Record]]) -> SavedGame | None:
        """A game with its moves, read from the log again; call `results` before."""
        with self._mutex:
            spans = next((each.spans for each in self._finished if each.number == number), ())
            going_on = list(self._rows)
        if spans:
            records = _until(load(spans[0][0] - 1), spans[-1][1])
            own = [row for row in records if any(a <= row.revision <= b for a, b in spans)]
            going_on = [row for row in own if row.kind not in _VOIDING]
        games = (group.game() for group in _groups(going_on))
        return next((game for game in games if game and game.number == number), None)

    def kept(self, mark: Mark) -> Derived | None:
        """Results and rows to keep beside the log; None if more than up to the mark was read."""
        with self._mutex:
            if self.seen != mark.revision:
                return None
            return Derived(mark, plain({"results": self._finished, "rows": self._rows}))

    @property
    def finished(self) -> int:
        """Number of games that can not go on any more."""
        return len(self._finished)

    def _take_kept(self, kept: Derived) -> None:
        try:
            self._finished = convert(kept.value["results"], list[Result])
            self._rows = convert(kept.value["rows"], list[Record])
            self.seen = kept.mark.revision
        except (WireError, LookupError, TypeError):
            self._finished, self._rows, self.seen = [], [], 0

    def _brought_up_to_date(self, new: list[Record]) -> list[Result]:
        """Read on; the results of the games that may still go on."""
        groups = _groups(self._rows + new)
        self._rows = []
        going_on: list[Result] = []
        for group in groups:
            if group.is_alive:
                self._rows += group.records
            if (game := group.game()) is not None:
                found = going_on if group.is_alive else self._finished
                spans = spans_of_revisions([record.revision for record in group.records])
                found.append(replace(game.result, spans=spans))
        self._rows.sort(key=lambda record: record.revision)
        return going_on


_VOIDING = ("kept", "struck", "undone")
"""Kinds that void other records; spans hold none that was voided."""


def _until(records: Iterable[Record], last: int | None) -> Iterator[Record]:
    return takewhile(lambda record: last is None or record.revision <= last, records)


@dataclass(frozen=True, slots=True)
class _Group:
    """The records of one game.

    Attributes:
        is_alive: It may go on: it is running or put aside.
    """

    records: list[Record]
    is_alive: bool

    def game(self) -> SavedGame | None:
        """The game; None if its first record is damaged."""
        if self.records[0].kind == "imported":
            return _imported(self.records[0])
        return _from_log(self.records)


def _groups(records: Sequence[Record]) -> list[_Group]:
    """The records of each game, those of games that were begun again unplayed left out."""
    found: list[_Group] = []
    spans: dict[int, tuple[GameSpan, list[Record]]] = {}
    rows = visible_records(records)
    for record, owner in zip(rows, spans_of(rows), strict=True):
        if record.kind == "imported":
            found.append(_Group([record], is_alive=False))
        elif owner is not None and owner.number:
            spans.setdefault(id(owner), (owner, []))[1].append(record)
    numbers = [owner.number for owner, _ in spans.values()]
    for n, (owner, own) in enumerate(spans.values(), 1):
        if owner.is_alive or not (owner.number in numbers[n:] and _is_unplayed(own)):
            found.append(_Group(own, owner.is_alive))
    return found


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
    return all(record.kind != "rolled" for record in records)


def _from_log(records: Sequence[Record]) -> SavedGame | None:
    """The game that begins with the first record; None if that record is damaged."""
    began = project(records[:1]).table.game
    if began is None:
        return None
    start = state = began.state
    seats = began.seats
    events: list[Event] = []
    typed: list[int] = []
    offered: list[tuple[int, Roll | None]] = []
    rolls, fault = 0, None
    for record in records[1:]:
        try:
            entry = to_entry(record)
        except NotationError as error:
            fault = str(error)
            break
        if isinstance(entry, Change):
            if record.kind == "resumed":  # with other people beside them, perhaps
                seats = tuple(entry.data["seats"])
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
        if isinstance(entry.event, Rolled):
            rolls += 1
            is_typed = entry.details.get("typed")
            typed += [rolls] if is_typed else []
            if is_typed or entry.details.get("by_hand"):
                offered.append((rolls, offered_before(entry.details.get("eye"), entry.event.roll)))
    return SavedGame(
        began.number,
        records[0].at,
        began.names,
        start,
        tuple(events),
        state,
        fault,
        ended=records[-1].at,
        seats=seats,
        bots=began.bots,
        practice=began.practice,
        typed=tuple(typed),
        offered=tuple(offered),
    )


def _names_of(read: GameRecord) -> tuple[str, ...]:
    """The cleaned names of a record; players without a name get a number."""
    named = read.names or ("",) * read.start.players
    return tuple(clean_name(name) or f"#{player + 1}" for player, name in enumerate(named))


def _imported(record: Record) -> SavedGame | None:
    try:
        number, lines = record.data["number"], record.data["lines"]
        read = from_lines(str(line) for line in lines)
    except (LookupError, TypeError, NotationError):
        return None
    if not is_whole_number(number):
        return None
    state = fold(read.start, read.events)
    names = _names_of(read)
    at, start, events = read.at or record.at, read.start, read.events
    game = SavedGame(number, at, names, start, events, state, read.fault, is_imported=True)
    config = json.loads(next(line for line in map(str, lines) if line.strip()))
    bots = config.get("bots")
    known = [bot for bot in bots if bot in ("", *STRENGTHS)] if isinstance(bots, list) else []
    if bots == known and len(known) == start.players:
        game = replace(game, bots=tuple(known))
    return replace(game, practice=config.get("practice") is True)
