"""Saved games: found in the log, taken out of it as records, and put in (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from companion.engine import Event, GameState, Phase, Refusal, apply, fold
from companion.engine.notation import from_lines, is_whole_number, to_lines, turns_of
from companion.errors import NotationError
from companion.phrases import Phrases
from companion.records import Record, to_event
from companion.table import effective, unfold


@dataclass(frozen=True, slots=True)
class SavedGame:
    """One game of the log.

    Attributes:
        number: Its number, from 1.
        at: When it began, as the log has it.
        names: Its players in playing order.
        fault: Why it is not whole, or None.
    """

    number: int
    at: str
    names: tuple[str, ...]
    start: GameState
    events: tuple[Event, ...]
    state: GameState
    fault: str | None = None

    @property
    def is_over(self) -> bool:
        """Whether it was played to an end."""
        return self.state.phase is Phase.OVER

    def lines(self) -> list[str]:
        """The game in the form `replay` judges."""
        return to_lines(self.start, self.events, self.names)


def saved_games(records: Iterable[Record]) -> list[SavedGame]:
    """Every game of a log, the oldest first; a damaged one up to its first bad record."""
    games: list[SavedGame] = []
    of_game: list[Record] = []
    for record in effective(records):
        if record.kind == "imported":
            games += _imported(record)
        elif record.kind == "started":
            games += _from_log(of_game)
            of_game = [record]
        elif of_game:
            of_game.append(record)
    games += _from_log(of_game)
    return sorted(games, key=lambda game: game.number)


def _from_log(records: Sequence[Record]) -> list[SavedGame]:
    """The game that begins with the first record; none where that one is damaged."""
    began = unfold(records[:1]).table.game
    if began is None:
        return []
    start = state = began.state
    events: list[Event] = []
    fault = None
    for record in records[1:]:
        try:
            event = to_event(record)
        except NotationError as error:
            fault = str(error)
            break
        if event is None:
            continue
        step = apply(state, event)
        if isinstance(step, Refusal):
            fault = f"record {record.revision}: {record.kind!r} is refused: {step.reason.value}"
            break
        state = step.state
        events.append(event)
    return [SavedGame(began.number, records[0].at, began.names, start, tuple(events), state, fault)]


def _imported(record: Record) -> list[SavedGame]:
    try:
        number, lines = record.data["number"], record.data["lines"]
        read = from_lines(str(line) for line in lines)
    except (LookupError, TypeError, NotationError):
        return []
    if not is_whole_number(number):
        return []
    state = fold(read.start, read.events)
    names = read.names or tuple(f"#{player + 1}" for player in range(read.start.players))
    return [SavedGame(number, record.at, names, read.start, read.events, state, read.fault)]


def text_of(game: SavedGame, phrases: Phrases) -> str:
    """A game for people: each turn's dice and marks, closings, misses, and the final table."""
    say, names = phrases.say, game.names
    lines = [say("record.title", number=game.number, variant=game.start.plan.name, at=game.at)]
    lines.append(say("record.players", names=phrases.all_of(names)))
    turns, _ = turns_of(game.start, game.events)
    for number, turn in enumerate(turns, 1):
        dice = ", ".join(f"{phrases.colour(c.value)} {value}" for c, value in turn.roll.coloured)
        whites = " + ".join(map(str, turn.roll.white))
        lines.append("")
        lines.append(say("record.turn", number=number, name=names[turn.player]))
        lines.append("  " + say("record.roll", whites=whites, sum=turn.roll.white_sum, dice=dice))
        crossed = [
            f"{names[player]} {box}"
            for player, box in enumerate(turn.action1 or [])
            if box is not None
        ]
        if crossed:
            lines.append("  " + say("record.white", marks=", ".join(crossed)))
        if turn.action2 is not None and turn.action2[0] is not None:
            lines.append("  " + say("record.colour", name=names[turn.player], box=turn.action2[0]))
        if turn.action1 is None or turn.action2 is None:
            if not game.is_over:
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
        minus = plan.miss_points * state.misses[player]
        lines.append(
            f"{rank}. {game.names[player]:<{width}}  {state.total(player):>4}  ({rows}  -{minus})"
        )
    if game.fault:
        lines.append(phrases.say("record.fault", fault=game.fault))
    return lines
