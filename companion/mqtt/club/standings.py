"""Standings of an evening, with their tie-breaks (pure).

The winner of a table gets 12 points, the last one 0, the others in equal steps: with four players
12, 8, 4 and 0. A win is worth the same at a table of two and of five, and the mean is 6 at every
table, so groups of different sizes are fair. Equal totals share the points of their places (E22).
Whoever had to sit out gets the mean.

Players with equal points are ranked by

1. wins, because winning is what everybody plays for;
2. the mean points of their opponents, because in Swiss the same points against stronger players
   are worth more;
3. the margin: their totals on the score sheet above the mean of their table. Totals themselves
   depend on how early the rows of that table were closed.

Players who are equal in all of them share the place.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from companion.eventlog.names import name_key
from companion.mqtt.club.evening import Evening
from companion.mqtt.club.results import Played, Result

MOST_POINTS = 12
"""Points of a table's winner: it divides by 2, 3 and 4, so only ties of five give halves."""
MEAN_POINTS = MOST_POINTS / 2

TIE_BREAKS = ("points", "wins", "opponents", "margin")
"""Fields of `Place` that decide, in this order."""

_DIGITS = 3
"""Decimals of means that are compared: sums in another order differ in the last bits."""


@dataclass(frozen=True, slots=True)
class Place:
    """A player's place.

    Attributes:
        rank: From 1; shared by players who are equal in all `TIE_BREAKS`.
        points: Sum over all rounds, with 6 for each round without a seat.
        wins: Games won, shared victories included.
        opponents: Mean points for each game of everybody played against, for each meeting.
        margin: Sum of totals above the mean of their table.
        best: Highest total of one game; None without a game.
        total: Sum of totals.
    """

    rank: int
    name: str
    games: int
    sat_out: int
    points: float
    wins: int
    opponents: float
    margin: float
    best: int | None
    total: int


@dataclass(slots=True)
class _Sum:
    name: str
    games: int = 0
    sat_out: int = 0
    points: float = 0.0
    wins: int = 0
    margin: float = 0.0
    totals: list[int] = field(default_factory=list)
    met: list[str] = field(default_factory=list)


def points_of(result: Result, name: str) -> float:
    """A player's points for one game, 0 to 12."""
    return MOST_POINTS * result.beaten(name) / (len(result.players) - 1)


def standings(evening: Evening, done: Played) -> list[Place]:
    """Rank an evening's players: over its rounds, or over all its games if it has no round."""
    games: Sequence[Result] = done.of_rounds if evening.rounds else done.free
    sums = {name_key(member.name): _Sum(member.name) for member in evening.members}
    for round_ in evening.rounds:
        for name in round_.sat_out:
            each = sums.setdefault(name_key(name), _Sum(name))
            each.sat_out += 1
            each.points += MEAN_POINTS
    for game in games:
        if game.counts:
            _add(sums, game)
    return _ranked(sums)


def _add(sums: dict[str, _Sum], game: Result) -> None:
    keys = [name_key(score.name) for score in game.known]
    mean = sum(score.total for score in game.players) / len(game.players)
    most = max(score.total for score in game.players)
    for key, score in zip(keys, game.known, strict=True):
        each = sums.setdefault(key, _Sum(score.name))
        each.games += 1
        each.points += points_of(game, score.name)
        each.wins += score.total == most
        each.margin += score.total - mean
        each.totals.append(score.total)
        each.met += [other for other in keys if other != key]


def _ranked(sums: dict[str, _Sum]) -> list[Place]:
    def strength(met: Iterable[str]) -> float:
        means = [sums[key].points / (sums[key].games + sums[key].sat_out) for key in met]
        return round(sum(means) / len(means), _DIGITS) if means else 0.0

    places = [
        Place(
            0,
            each.name,
            each.games,
            each.sat_out,
            round(each.points, _DIGITS),
            each.wins,
            strength(each.met),
            round(each.margin, _DIGITS),
            max(each.totals, default=None),
            sum(each.totals),
        )
        for each in sums.values()
    ]
    places.sort(key=lambda place: ([-value for value in _decisive(place)], name_key(place.name)))
    found: list[Place] = []
    for n, place in enumerate(places):
        is_equal = bool(found) and _decisive(found[-1]) == _decisive(place)
        found.append(replace(place, rank=found[-1].rank if is_equal else n + 1))
    return found


def _decisive(place: Place) -> list[float]:
    return [getattr(place, name) for name in TIE_BREAKS]
