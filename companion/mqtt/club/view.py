"""A club night as one value, and the parts of it that are computed (pure)."""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from companion.eventlog.names import name_key
from companion.history.rating import Rating, ratings_of
from companion.mqtt import payloads
from companion.mqtt.club.evening import Evening
from companion.mqtt.club.results import Played, Result, played
from companion.mqtt.club.standings import Place, standings

Ratings = Mapping[Hashable, Rating]
"""Ratings by the key of the name."""

MOST_NAMES = 200
"""Names of earlier evenings that are offered to the organiser."""


@dataclass(frozen=True, slots=True)
class TableView:
    """A table as it was published last; `board` is None before its first state."""

    id: str
    is_online: bool = False
    board: payloads.Board | None = None

    @property
    def name(self) -> str:
        """The table's name; its id until the name is known."""
        return self.board.name if self.board is not None else self.id


@dataclass(frozen=True, slots=True)
class Summary:
    """An evening's games, standings, and the ratings after it."""

    evening: Evening
    done: Played
    places: tuple[Place, ...]
    rated: Ratings


@dataclass(frozen=True, slots=True)
class View(Summary):
    """Everything that a page shows of a club night.

    Attributes:
        version: Rises with every change.
        tables: In the order of their names.
        known: Names of players of earlier evenings, the latest first.
        earlier: Ids of earlier evenings with games, the latest first.
    """

    version: int
    tables: tuple[TableView, ...]
    known: tuple[str, ...]
    earlier: tuple[str, ...]


def summary_of(evening: Evening, results: Sequence[Result], before: Ratings) -> Summary:
    """An evening's games, standings and ratings.

    Args:
        results: In their order.
        before: Ratings after earlier evenings.
    """
    done = played(evening, results)
    tonight = [each for each in results if each.evening == evening.id]
    rated = ratings_after(tonight, before)
    return Summary(evening, done, tuple(standings(evening, done)), rated)


def ratings_after(results: Iterable[Result], before: Ratings | None = None) -> Ratings:
    """Ratings after results, in their order."""
    return ratings_of(
        (
            {name_key(player.name): -player.total for player in result.known}
            for result in results
            if result.counts
        ),
        before,
    )


def known_names(
    evening: Evening, evenings: Iterable[Evening], results: Sequence[Result]
) -> list[str]:
    """Names of earlier evenings' players, the latest first, without those of this evening."""
    here = {name_key(member.name) for member in evening.members}
    names: dict[str, str] = {}
    for each in sorted(evenings, key=lambda each: each.id, reverse=True):
        for member in each.members:
            names.setdefault(name_key(member.name), member.name)
    for result in reversed(results):
        for player in result.known:
            if player.name:
                names.setdefault(name_key(player.name), player.name)
    return [name for key, name in names.items() if key not in here][:MOST_NAMES]


def by_time(result: Result) -> tuple[str, ...]:
    """Order results by evening, arrival and end."""
    return (result.evening, result.received_at, result.game.ended, result.table, result.game.game)


def by_name(table: TableView) -> tuple[list[tuple[int, str]], str]:
    """Order by name, with numbers by their value: table 2 before table 10."""
    parts = re.findall(r"\d{1,9}|\D+", table.name.casefold())
    return [
        (int(part), "") if part.isascii() and part.isdigit() else (-1, part) for part in parts
    ], table.id
