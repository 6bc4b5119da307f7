"""A family's games: by evenings, by players, and out as tables (pure)."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from companion.engine import HouseRule, Rolled
from companion.history.archive import SavedGame, text_of
from companion.messages.catalogue import Phrases

PAUSE = timedelta(hours=6)
"""Games so far apart are of different evenings: midnight parts none, a night's sleep does."""

FORMS = ("text", "json", "csv")
"""What games can be written out as."""


@dataclass(frozen=True, slots=True)
class Standing:
    """What a player did over several finished games.

    Attributes:
        wins: Games won, shared victories included.
        points: Of all games together.
        best: The most points in one game.
    """

    name: str
    games: int
    wins: int
    points: int
    best: int
    misses: int


@dataclass(frozen=True, slots=True)
class Evening:
    """Games that were begun one after another; `at` is when the first was."""

    at: str
    games: tuple[SavedGame, ...]


def evenings(games: Iterable[SavedGame]) -> list[Evening]:
    """The games by evenings, the newest evening first; games taken in belong to none."""
    found: list[list[SavedGame]] = []
    last: datetime | None = None
    for game in sorted((g for g in games if not g.is_imported), key=_began):
        at = _began(game)
        if last is None or at - last > PAUSE:
            found.append([])
        found[-1].append(game)
        last = at
    return [Evening(each[0].at, tuple(each)) for each in reversed(found)]


def _began(game: SavedGame) -> datetime:
    try:
        at = datetime.fromisoformat(game.at)
    except ValueError:
        at = datetime.fromtimestamp(0)  # a log without a date is older than all others
    return at.astimezone()


def standings(games: Iterable[SavedGame]) -> list[Standing]:
    """What everybody did in the games that are over: most wins first, then most points.

    One that was ended before any dice were thrown was none, and one that was taken in again counts
    once.

    A player is known by the name, however it is capitalized.
    """
    known: dict[str, Standing] = {}
    every = list(games)
    is_any_imported = any(game.is_imported for game in every)
    played = {tuple(game.lines()) for game in every if is_any_imported and not game.is_imported}
    for game in every:
        if not game.is_over or not any(isinstance(each, Rolled) for each in game.events):
            continue
        if game.is_imported:
            lines = tuple(game.lines())
            if lines in played:
                continue
            played.add(lines)
        for rank, player in game.state.ranking:
            name, total = game.names[player], game.state.total(player)
            old = known.get(name.casefold(), Standing(name, 0, 0, 0, total, 0))
            known[name.casefold()] = Standing(
                name,
                old.games + 1,
                old.wins + (rank == 1),
                old.points + total,
                max(old.best, total),
                old.misses + game.state.misses[player],
            )
    return sorted(known.values(), key=lambda each: (-each.wins, -each.points, each.name))


def remembered(games: Sequence[SavedGame]) -> list[str]:
    """Names of those who played here, the latest first."""
    known: dict[str, str] = {}
    for game in reversed([game for game in games if not game.is_imported]):
        for name in game.names:
            known.setdefault(name.casefold(), name)
    return list(known.values())


# -- out ------------------------------------------------------------------------------------


def summary(game: SavedGame) -> dict[str, Any]:
    """A game's result as plain values."""
    state = game.state
    return {
        "number": game.number,
        "at": game.at,
        "variant": state.plan.name,
        "house": [rule.value for rule in HouseRule if rule in state.setup.house],
        "imported": game.is_imported,
        "over": game.is_over,
        "end": state.end.value if state.end else None,
        "turns": state.turn,
        "fault": game.fault,
        "players": [
            {
                "name": game.names[player],
                "rank": rank if game.is_over else None,
                "total": state.total(player),
                "rows": state.points(player),
                "misses": state.misses[player],
                "minus": state.plan.miss_points * state.misses[player],
            }
            for rank, player in state.ranking
        ],
    }


def as_text(games: Sequence[SavedGame], phrases: Phrases) -> str:
    """Games for people, one after the other."""
    return "\n\n".join(text_of(game, phrases) for game in games) + ("\n" if games else "")


def as_json(games: Sequence[SavedGame]) -> str:
    """Games with their results and records, as one JSON object."""
    told = [
        summary(game) | {"record": [json.loads(line) for line in game.lines()]} for game in games
    ]
    return json.dumps({"games": told}, ensure_ascii=False, indent=1) + "\n"


COLUMNS = ("game", "date", "variant", "end", "player", "rank", "total")
ROWS = ("red", "yellow", "green", "blue")


def as_csv(games: Sequence[SavedGame]) -> str:
    """A line for each player of each game, for a spreadsheet."""
    out = io.StringIO()
    table = csv.writer(out, lineterminator="\r\n")  # as RFC 4180 has it
    table.writerow([*COLUMNS, *ROWS, "misses", "minus"])
    for game in games:
        told = summary(game)
        for player in told["players"]:
            rows: Mapping[str, int] = player["rows"]
            table.writerow(
                [
                    told["number"],
                    told["at"],
                    told["variant"],
                    told["end"] or "open",
                    _harmless(player["name"]),
                    player["rank"] or "",
                    player["total"],
                    *(rows.get(row, 0) for row in ROWS),
                    player["misses"],
                    player["minus"],
                ]
            )
    return out.getvalue()


def _harmless(text: str) -> str:
    """A text that no spreadsheet takes for a formula.

    Source: https://owasp.org/www-community/attacks/CSV_Injection
    """
    return f"'{text}" if text.startswith(("=", "+", "-", "@", "\t", "\r")) else text


def written(games: Sequence[SavedGame], form: str, phrases: Phrases) -> str:
    """Games in one of FORMS."""
    if form == "csv":
        return as_csv(games)
    return as_json(games) if form == "json" else as_text(games, phrases)
