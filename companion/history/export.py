"""Saved games as text, JSON and CSV (pure, but for the time zone)."""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from companion.engine import PLANS, End, HouseRule
from companion.engine.notation import games_in, turns_of
from companion.history.archive import SavedGame
from companion.history.results import Result
from companion.messages.announcements import box_line, row_term
from companion.messages.catalogue import Phrases, isolated, numeral

FORMS = ("text", "json", "csv")
"""Formats that games can be exported in."""

MARK = "\ufeff"
"""Before a CSV file that people open: without it, spreadsheets take "ë" for two letters."""

COLUMNS = ("game", "date", "variant", "end", "player", "rank", "total")
ROWS = ("red", "yellow", "green", "blue")


def written(games: Iterable[SavedGame], form: str, phrases: Phrases) -> str:
    """Export games in one of `FORMS`; of an iterator, one game is held at a time."""
    if form == "csv":
        return as_csv(game.result for game in games)
    return as_json(games) if form == "json" else as_text(games, phrases)


def summary(game: Result) -> dict[str, Any]:
    """A game's result as plain values."""
    return {
        "number": game.number,
        "at": game.at,
        "variant": game.variant,
        "house": list(game.house),
        "imported": game.is_imported,
        "over": game.is_over,
        "end": game.end,
        "turns": game.turns,
        "fault": game.fault,
        "players": [
            {
                "name": game.names[player],
                "rank": rank if game.is_over else None,
                "total": game.totals[player],
                "rows": game.rows[player],
                "misses": game.misses[player],
                "minus": PLANS[game.variant].miss_points * game.misses[player],
            }
            for rank, player in game.ranking
        ],
    }


def as_text(games: Iterable[SavedGame], phrases: Phrases) -> str:
    """Games as text, one after the other."""
    texts = [text_of(game, phrases) for game in games]
    return "\n\n".join(texts) + ("\n" if texts else "")


def as_json(games: Iterable[SavedGame]) -> str:
    """Games with results and records as one JSON object, a game in each line."""
    texts = []
    for game in games:
        told = summary(game.result) | {"record": [json.loads(line) for line in game.lines()]}
        texts.append(json.dumps(told, ensure_ascii=False))
    return '{"games": [\n' + ",\n".join(texts) + "\n]}\n"


def records_in(lines: Iterable[str]) -> list[list[str]]:
    """The lines of each game of a file: of its record, or of the object that `as_json` makes."""
    read = list(lines)
    try:
        games = json.loads("".join(read))["games"]
        return [[json.dumps(line) for line in game["record"]] for game in games]
    except (ValueError, RecursionError, LookupError, TypeError):
        return games_in(read)


def as_csv(games: Iterable[Result]) -> str:
    """One line for each player of each game, for a spreadsheet."""
    lines: list[Sequence[object]] = [[*COLUMNS, *ROWS, "misses", "minus"]]
    for game in games:
        told = summary(game)
        for player in told["players"]:
            lines.append(
                [
                    told["number"],
                    told["at"],
                    told["variant"],
                    told["end"] or "open",
                    player["name"],
                    player["rank"] or "",
                    player["total"],
                    *(player["rows"].get(row, 0) for row in ROWS),
                    player["misses"],
                    player["minus"],
                ]
            )
    return spreadsheet(lines)


def spreadsheet(lines: Iterable[Iterable[object]]) -> str:
    """Lines of cells as CSV; no text in it is taken for a formula."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\r\n")  # RFC 4180
    for cells in lines:
        table.writerow(harmless(each) if isinstance(each, str) else each for each in cells)
    return out.getvalue()


def harmless(text: str) -> str:
    """Escape a text that a spreadsheet would run as a formula.

    Some separate cells by semicolons or tabs: what follows one begins a cell, too.

    Source: https://owasp.org/www-community/attacks/CSV_Injection
    """
    return re.sub(r"(\A|[;\t\r\n]\s*)(?=[=+\-@\t\r])", r"\1'", text)


def text_of(game: SavedGame, phrases: Phrases) -> str:
    """A game as text: each turn's dice and crosses, penalties, closings and the final table."""
    say, names = phrases.say, game.names
    variant = say(f"page.variant.{game.start.plan.name}")
    at = _dated(game.at, phrases)
    lines = [say("record.title", number=game.number, variant=variant, at=at)]
    lines.append(say("record.players", names=phrases.all_of(names)))
    house = [rule for rule in HouseRule if rule in game.start.setup.house]
    lines += [say("record.house", rule=say(f"page.house.{rule.value}")) for rule in house]

    def left(players: Iterable[int]) -> list[str]:
        return [say("fact.left", name=names[player]) for player in players]

    turns, _, early = turns_of(game.start, game.events)
    lines += left(turns[0].left[0] if turns else early)
    for turn in turns:
        dice = ", ".join(f"{phrases.colour(c.value)} {value}" for c, value in turn.roll.coloured)
        whites = " + ".join(map(str, turn.roll.white))
        lines.append("")
        lines.append(say("record.turn", number=turn.number, name=names[turn.player]))
        lines.append("  " + say("record.roll", whites=whites, sum=turn.roll.white_sum, dice=dice))
        crossed = [
            f"{isolated(names[player])} {phrases.tell(box_line(game.start, box))}"
            for player, box in enumerate(turn.action1 or [])
            if box is not None
        ]
        if crossed:
            lines.append("  " + say("record.white", marks=", ".join(crossed)))
        if turn.action2 is not None and turn.action2[0] is not None:
            box = box_line(game.start, turn.action2[0])
            lines.append("  " + say("record.colour", name=names[turn.player], box=box))
        if turn.action1 is None or turn.action2 is None:
            if game.state.action and turn is turns[-1]:
                lines.append("  " + say("record.open"))
        elif turn.action1[turn.player] is None and turn.action2[0] is None:
            lines.append("  " + say("record.miss", name=names[turn.player]))
        lines += [f"  {each}" for players in turn.left[1:] for each in left(players)]
    return "\n".join([*lines, "", *_final_table(game, phrases)])


def _dated(at: str, phrases: Phrases) -> str:
    """A date as the language writes it, in this machine's zone; other text stays as it is."""
    try:
        when = datetime.fromisoformat(at).astimezone()
    except (ValueError, OverflowError):
        return at
    month = phrases.say("date.months").split()[when.month - 1]
    clock = f"{when:%H:%M}"
    return phrases.say("date.full", day=when.day, month=month, year=when.year, clock=clock)


def _final_table(game: SavedGame, phrases: Phrases) -> list[str]:
    state, plan = game.state, game.state.plan
    closed = [
        phrases.say(
            "record.closed",
            row=row_term(plan.rows[closing.row].name),
            names=phrases.all_of([game.names[p] for p in closing.players]),
        )
        for closing in state.closed
    ]
    ended = phrases.say(f"record.end.{state.end.value if state.end else 'open'}", n=len(closed))
    lines = [*closed, ended]
    width = max(len(name) for name in game.names)
    for rank, player in state.ranking:
        rows = "  ".join(
            f"{phrases.row(name)} {points}" for name, points in state.points(player).items()
        )
        lost = numeral(-plan.miss_points * state.misses[player])
        minus = phrases.say("record.misses", minus=lost)
        total = numeral(state.total(player))
        place = "" if state.end in (None, End.ENDED_EARLY) else f"{rank}. "
        name = game.names[player]
        shown = isolated(name) + " " * (width - len(name))
        lines.append(f"{place}{shown}  {total:>4}  ({rows}  {minus})")
    if game.fault:
        lines.append(phrases.say("record.fault", fault=game.fault))
    return lines
