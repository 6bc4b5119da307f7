"""Saved games: found in the log, taken out of it as records, and put in (pure)."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from companion.engine import Event, GameState, Phase, Refusal, apply, fold
from companion.engine.notation import (
    GameRecord,
    from_lines,
    is_whole_number,
    to_lines,
    turns_of,
)
from companion.errors import NotationError
from companion.eventlog.names import clean_name
from companion.eventlog.projection import GameSpan, project, spans_of, visible_records
from companion.eventlog.record import BEGINNINGS, Change, Record, to_entry
from companion.messages.announcements import box_line
from companion.messages.catalogue import Phrases, numeral


@dataclass(frozen=True, slots=True)
class SavedGame:
    """One game of the log.

    Attributes:
        number: Its number, from 1.
        at: When it began, as the log has it.
        names: Its players in playing order.
        fault: Why it is not whole, or None.
        is_imported: It was played elsewhere, and `at` is when it was taken in.
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
        """Whether it was played to an end."""
        return self.state.phase is Phase.OVER

    def lines(self) -> list[str]:
        """The game in the form `replay` judges."""
        return to_lines(self.start, self.events, self.names)


def saved_games(records: Iterable[Record]) -> list[SavedGame]:
    """Every game of a log, the oldest first; a damaged one up to its first bad record."""
    archive = Archive()
    archive.take(records)
    return archive.games()


class Archive:
    """Every game of a growing log: what was read once is not read again.

    Attributes:
        seen: Revision of the last record taken.
    """

    def __init__(self) -> None:
        self.seen = 0
        self._mutex = threading.Lock()
        self._finished: list[SavedGame] = []
        self._rows: list[Record] = []

    def brought_up_to_date(self, load: Callable[[int], Iterable[Record]]) -> list[SavedGame]:
        """Every game, after taking what `load` gives beyond the revision seen; from any thread."""
        with self._mutex:
            self.take(load(self.seen))
            return self.games()

    def take(self, records: Iterable[Record]) -> None:
        """Take records newer than those seen."""
        for record in records:
            self._rows.append(record)
            self.seen = record.revision

    def games(self) -> list[SavedGame]:
        """The games, the oldest first; a damaged one up to its first bad record."""
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


def _is_unplayed(records: Iterable[Record]) -> bool:
    """Whether a game had seen no roll, as when it is begun again under its number for somebody who
    came late."""
    return all(record.kind not in ("rolled", "played") for record in records)


def _from_log(records: Sequence[Record]) -> list[SavedGame]:
    """The game that begins with the first record; none where that one is damaged."""
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
    """The names in a record as a table would show them; a number for who has none."""
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
    return [
        SavedGame(
            number, record.at, names, read.start, read.events, state, read.fault, is_imported=True
        )
    ]


def text_of(game: SavedGame, phrases: Phrases) -> str:
    """A game for people: each turn's dice and marks, closings, misses, and the final table."""
    say, names = phrases.say, game.names
    variant = say(f"page.variant.{game.start.plan.name}")
    at = game.at[:16].replace("T", " ")
    lines = [say("record.title", number=game.number, variant=variant, at=at)]
    lines.append(say("record.players", names=phrases.all_of(names)))
    turns, _, _ = turns_of(game.start, game.events)
    for number, turn in enumerate(turns, 1):
        dice = ", ".join(f"{phrases.colour(c.value)} {value}" for c, value in turn.roll.coloured)
        whites = " + ".join(map(str, turn.roll.white))
        lines.append("")
        lines.append(say("record.turn", number=number, name=names[turn.player]))
        lines.append("  " + say("record.roll", whites=whites, sum=turn.roll.white_sum, dice=dice))
        crossed = [
            f"{names[player]} {phrases.tell(box_line(game.start, box))}"
            for player, box in enumerate(turn.action1 or [])
            if box is not None
        ]
        if crossed:
            lines.append("  " + say("record.white", marks=", ".join(crossed)))
        if turn.action2 is not None and turn.action2[0] is not None:
            box = box_line(game.start, turn.action2[0])
            lines.append("  " + say("record.colour", name=names[turn.player], box=box))
        if turn.action1 is None or turn.action2 is None:
            if not game.is_over and number == len(turns):
                lines.append("  " + say("record.open"))
        elif turn.action1[turn.player] is None and turn.action2[0] is None:
            lines.append("  " + say("record.miss", name=names[turn.player]))
    return "\n".join([*lines, "", *_final_table(game, phrases)])


def _final_table(game: SavedGame, phrases: Phrases) -> list[str]:
    state, plan = game.state, game.state.plan
    closed = [
        phrases.say(
            "record.closed",
            row=phrases.row(plan.rows[closing.row].name),
            names=phrases.all_of([game.names[p] for p in closing.players]),
        )
        for closing in state.closed
    ]
    lines = [*closed, phrases.say(f"record.end.{state.end.value if state.end else 'open'}")]
    width = max(len(name) for name in game.names)
    for rank, player in state.ranking:
        rows = "  ".join(
            f"{phrases.row(name)} {points}" for name, points in state.points(player).items()
        )
        lost = numeral(-plan.miss_points * state.misses[player])
        minus = phrases.say("record.misses", minus=lost)
        total = numeral(state.total(player))
        lines.append(f"{rank}. {game.names[player]:<{width}}  {total:>4}  ({rows}  {minus})")
    if game.fault:
        lines.append(phrases.say("record.fault", fault=game.fault))
    return lines
