"""Standings and evenings of the saved games (pure)."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from companion.eventlog.names import is_nameless, name_key
from companion.history.results import Result

PAUSE = timedelta(hours=6)
"""Pause between two evenings: midnight does not split an evening, a night does."""


@dataclass(slots=True)
class Standing:
    """A player's results over several finished games.

    Attributes:
        name: As written in the latest game.
        wins: Games won, shared victories included; nobody wins alone.
        points, misses, closings: Sums over all games.
        best: Highest total of one game, and `best_game` its number.
        streak: Most games in a row that they won; `streak_now` is the one that goes on.
    """

    name: str
    best: int
    best_game: int
    games: int = 0
    wins: int = 0
    points: int = 0
    misses: int = 0
    closings: int = 0
    streak: int = 0
    streak_now: int = 0


@dataclass(frozen=True, slots=True)
class Evening:
    """Games of one evening; `at` is when the first began."""

    at: str
    games: tuple[Result, ...]


def evenings(games: Iterable[Result]) -> list[Evening]:
    """Group games by evening, newest first; imported games belong to none.

    They stay in the order in which they were played: a clock may have been wrong for an evening.
    """
    found: list[list[Result]] = []
    last: datetime | None = None
    for game in (each for each in games if not each.is_imported):
        at = _began(game)
        if last is None or abs(at - last) > PAUSE:
            found.append([])
        found[-1].append(game)
        last = at
    return [Evening(each[0].at, tuple(each)) for each in reversed(found)]


def _began(game: Result) -> datetime:
    try:
        return datetime.fromisoformat(game.at).astimezone()
    except (ValueError, OverflowError):  # no date, or one of the year 1 or 9999: older than all
        return datetime.fromtimestamp(0).astimezone()


def standings(games: Iterable[Result]) -> list[Standing]:
    """Rank all players of finished games by wins, then by points.

    A game that was ended early counts for nobody, and one that was imported twice counts once.
    Names that differ only in capitals belong to one player.
    """
    found = sums_of(counted(games)).values()
    return sorted(found, key=lambda each: (-each.wins, -each.points, each.name))


def sums_of(games: Iterable[Result]) -> dict[str, Standing]:
    """What each player has of these games, in this order, by the key of the name.

    Players without a name cannot be told apart over several games.
    """
    found: dict[str, Standing] = {}
    for game in games:
        for player, (name, total) in enumerate(zip(game.names, game.totals, strict=True)):
            if is_nameless(name):
                continue
            each = found.setdefault(name_key(name), Standing(name, total, game.number))
            if total > each.best:
                each.best, each.best_game = total, game.number
            each.name = name
            each.games += 1
            each.points += total
            each.misses += game.misses[player]
            each.closings += game.closings[player]
            is_won = player in game.winners
            each.wins += is_won
            if len(game.names) > 1:  # nobody wins or loses alone
                each.streak_now = each.streak_now + 1 if is_won else 0
            each.streak = max(each.streak, each.streak_now)
    return found


def counted(games: Iterable[Result], *, bots: bool = False) -> list[Result]:
    """The games that count: over, not ended early, each only once, and played by people.

    Games are compared without the date, which records of older versions do not have, and without
    the names: an export may be older than a rename.

    Args:
        bots: Also games with bots and practice games.
    """
    every = [game for game in games if game.counts and (bots or not game.has_bots)]
    courses = {game.course for game in every if not game.is_imported}
    found: list[Result] = []
    for game in every:
        if game.is_imported:
            if game.course in courses:
                continue
            courses.add(game.course)
        found.append(game)
    return found


def as_played(games: Sequence[Result]) -> list[Result]:
    """Games in the order in which they were played: imported ones by their dates.

    Those of this table keep their order: a clock may have been wrong for an evening.
    """
    own = [game for game in games if not game.is_imported]
    others = sorted((game for game in games if game.is_imported), key=_began)
    return list(heapq.merge(own, others, key=_began))


def remembered(games: Sequence[Result], *, imported: bool = False) -> list[str]:
    """Names of everybody who played here, the latest first.

    Args:
        imported: Also in games of another table.
    """
    known: dict[str, str] = {}
    for game in reversed([game for game in games if imported or not game.is_imported]):
        for name in game.names:
            if is_nameless(name) or (game.has_bots and name.startswith("Bot ")):
                continue
            known.setdefault(name_key(name), name)
    return list(known.values())
