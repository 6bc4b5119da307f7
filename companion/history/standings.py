"""Standings and evenings of the saved games (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from companion.engine import End
from companion.engine.notation import to_lines
from companion.history.archive import SavedGame

PAUSE = timedelta(hours=6)
"""Pause between two evenings: midnight does not split an evening, a night does."""


@dataclass(frozen=True, slots=True)
class Standing:
    """A player's results over several finished games.

    Attributes:
        name: As written in the latest game.
        wins: Games won, shared victories included.
        points: Sum over all games.
        best: Highest total of one game.
    """

    name: str
    games: int
    wins: int
    points: int
    best: int
    misses: int


@dataclass(frozen=True, slots=True)
class Evening:
    """Games of one evening; `at` is when the first began."""

    at: str
    games: tuple[SavedGame, ...]


def evenings(games: Iterable[SavedGame]) -> list[Evening]:
    """Group games by evening, newest first; imported games belong to none."""
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
        return datetime.fromisoformat(game.at).astimezone()
    except (ValueError, OverflowError):  # no date, or one of the year 1 or 9999: older than all
        return datetime.fromtimestamp(0).astimezone()


def standings(games: Iterable[SavedGame]) -> list[Standing]:
    """Rank all players of finished games by wins, then by points.

    A game that was ended early counts for nobody, and one that was imported twice counts once.
    Names that differ only in capitals belong to one player.
    """
    known: dict[str, Standing] = {}
    every = list(games)
    is_any_imported = any(game.is_imported for game in every)
    played = {_played(game) for game in every if is_any_imported and not game.is_imported}
    for game in every:
        if not game.is_over or game.state.end is End.ENDED_EARLY:
            continue
        if game.is_imported:
            lines = _played(game)
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


def _played(game: SavedGame) -> tuple[str, ...]:
    """What was played, without the date: records of older versions have none."""
    return tuple(to_lines(game.start, game.events, game.names))


def remembered(games: Sequence[SavedGame]) -> list[str]:
    """Names of everybody who played here, the latest first."""
    known: dict[str, str] = {}
    for game in reversed([game for game in games if not game.is_imported]):
        for name in game.names:
            known.setdefault(name.casefold(), name)
    return list(known.values())
