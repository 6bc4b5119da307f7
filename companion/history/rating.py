"""Ratings of players over games of two to five.

The rating is the Plackett-Luce model of Weng and Lin as openskill computes it: a mean and a
standard deviation, which falls with every game. It takes ranks of any number of players and ties.
Source: R. C. Weng and C.-J. Lin, "A Bayesian approximation method for online ranking", JMLR 12
(2011).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import NamedTuple

from openskill.models import PlackettLuce, PlackettLuceRating


class Rating(NamedTuple):
    """A rating: newcomers have a mean of 25 and a deviation of 8.3."""

    mean: float
    deviation: float


def ratings_of(
    games: Iterable[Mapping[Hashable, int]], before: Mapping[Hashable, Rating] | None = None
) -> dict[Hashable, Rating]:
    """Ratings after games.

    Args:
        games: Each player's rank in each game, the oldest first; a game of one rates nobody.
        before: Ratings after earlier games.
    """
    model = PlackettLuce()
    known: dict[Hashable, PlackettLuceRating] = {
        player: model.rating(mu=each.mean, sigma=each.deviation)
        for player, each in (before or {}).items()
    }
    for ranks in games:
        if len(ranks) < 2:
            continue
        players = list(ranks)
        teams = [[known.get(player) or model.rating()] for player in players]
        rated = model.rate(teams, ranks=[float(ranks[player]) for player in players])
        known |= {player: team[0] for player, team in zip(players, rated, strict=True)}
    return {player: Rating(each.mu, each.sigma) for player, each in known.items()}
