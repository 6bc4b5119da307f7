"""Ratings over all games that a club knows: Elo, applied to every pair of a table (pure).

Everybody begins at 1500. After a game each player's rating moves by 24 times the difference
between the share of opponents that were beaten and the share that the ratings led to expect. The
sum of all ratings stays the same. Qwixx is mostly luck, so ratings lie close together.

Source: A. E. Elo, "The Rating of Chessplayers", 1978, for two players; here the mean over the pairs
of a table, so that a game weighs the same for two players and for five.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from companion.club.results import Result
from companion.eventlog.names import name_key

START = 1500.0
STEP = 24.0
"""Most that one game moves a rating."""
_SCALE = 400.0
"""Difference at which the stronger one is expected to win ten times as often."""


@dataclass(frozen=True, slots=True)
class Rating:
    """A player's rating after all games, under the name used last."""

    name: str
    rating: float
    games: int


def ratings(results: Iterable[Result]) -> list[Rating]:
    """Rate everybody, the best first.

    Args:
        results: In the order in which they count, usually that of their evenings.
    """
    known: dict[str, Rating] = {}
    for result in results:
        if not result.counts:
            continue
        before = {
            name_key(score.name): known.get(name_key(score.name), Rating(score.name, START, 0))
            for score in result.players
        }
        for score in result.players:
            key = name_key(score.name)
            own = before[key]
            others = [each.rating for other, each in before.items() if other != key]
            expected = sum(1 / (1 + 10 ** ((other - own.rating) / _SCALE)) for other in others)
            change = STEP * (result.beaten(score.name) - expected) / len(others)
            known[key] = Rating(score.name, own.rating + change, own.games + 1)
    return sorted(known.values(), key=lambda each: (-round(each.rating, 3), name_key(each.name)))
