"""Players over all evenings: averages, records, streaks, ratings, who beats whom (pure)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from companion.eventlog.names import is_nameless, name_key
from companion.history.decided import Decided
from companion.history.export import spreadsheet
from companion.history.rating import Rating, ratings_of
from companion.history.results import Result
from companion.history.standings import Standing, as_played, counted, sums_of

BEST_GAMES = 5

NONE_DECIDED: Mapping[str, Decided] = {}


@dataclass(frozen=True, slots=True)
class PlayerStatistics:
    """One player over the chosen games.

    Attributes:
        name: As written in the latest game.
        average: Mean total.
        best: Highest total, and `best_game` its number.
        streak: Most games in a row that they won; `streak_now` is the one that goes on.
        misses, closings: Per game.
        rating: Over all games that count, whatever is chosen; None after games alone only.
    """

    name: str
    games: int
    wins: int
    average: float
    best: int
    best_game: int
    streak: int
    streak_now: int
    misses: float
    closings: float
    rating: Rating | None


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two players who met: in how many games each had more points; the rest were ties."""

    one: str
    other: str
    games: int
    one_ahead: int
    other_ahead: int


@dataclass(frozen=True, slots=True)
class BestGame:
    """One of the highest totals."""

    name: str
    total: int
    game: int
    at: str


@dataclass(frozen=True, slots=True)
class LuckShare:
    """How often luck decided games with two or more players.

    Attributes:
        games: How many there are.
        luck, choices, close: Of those that were reviewed, by `Decided`.
    """

    games: int
    luck: int
    choices: int
    close: int

    @property
    def reviewed(self) -> int:
        """How many games were reviewed."""
        return self.luck + self.choices + self.close


@dataclass(frozen=True, slots=True)
class Statistics:
    """The chosen games.

    Attributes:
        games: How many.
        players: The highest rating first.
        pairs: Those who met most often first.
        names: Everybody who ever played a game that counts, to choose from.
    """

    games: int
    players: tuple[PlayerStatistics, ...]
    pairs: tuple[Meeting, ...]
    best: tuple[BestGame, ...]
    names: tuple[str, ...]
    decided: LuckShare


def statistics(
    games: Iterable[Result],
    *,
    variant: str | None = None,
    together: Sequence[str] = (),
    bots: bool = False,
    decided: Mapping[str, Decided] = NONE_DECIDED,
) -> Statistics:
    """Statistics of the games that count.

    Args:
        games: By number.
        decided: What decided the games that were reviewed, by `Result.played`.
        variant: Only games on this sheet.
        together: Only games in which all of these played; capitals do not matter.
        bots: Also games with bots and practice games.
    """
    every = as_played(counted(games, bots=bots))
    wanted = {name_key(name) for name in together}
    chosen = [
        game
        for game in every
        if variant in (None, game.variant) and wanted <= {name_key(name) for name in game.names}
    ]
    rated = ratings_of(
        {
            name_key(game.names[player]): rank
            for rank, player in game.ranking
            if _is_known(game, player)
        }
        for game in every
    )
    players = [_player(each, rated.get(key)) for key, each in sums_of(chosen).items()]
    players.sort(key=lambda each: (-(each.rating or Rating(0, 0)).mean, name_key(each.name)))
    best = sorted(
        (
            BestGame(game.names[player], game.totals[player], game.number, game.at)
            for game in chosen
            for player in range(len(game.names))
            if _is_known(game, player)
        ),
        key=lambda each: (-each.total, each.game),
    )
    names = {name_key(name): name for game in every for name in game.names if not is_nameless(name)}
    return Statistics(
        len(chosen),
        tuple(players),
        _meetings(chosen, names),
        tuple(best[:BEST_GAMES]),
        tuple(sorted(names.values(), key=name_key)),
        _luck_share(chosen, decided),
    )


def _luck_share(games: Sequence[Result], decided: Mapping[str, Decided]) -> LuckShare:
    met = [game for game in games if len(game.names) > 1]
    found = Counter(decided.get(game.played) for game in met)
    return LuckShare(len(met), found[Decided.LUCK], found[Decided.CHOICES], found[Decided.CLOSE])


def _is_known(game: Result, player: int) -> bool:
    return not is_nameless(game.names[player])


def _player(each: Standing, rating: Rating | None) -> PlayerStatistics:
    count = each.games
    return PlayerStatistics(
        each.name,
        count,
        each.wins,
        round(each.points / count, 1),
        each.best,
        each.best_game,
        each.streak,
        each.streak_now,
        round(each.misses / count, 2),
        round(each.closings / count, 2),
        rating,
    )


def _meetings(games: Sequence[Result], names: dict[str, str]) -> tuple[Meeting, ...]:
    met: dict[tuple[str, str], list[int]] = {}
    for game in games:
        keys = [name_key(name) for name in game.names]
        for a, one in enumerate(keys):
            for b, other in enumerate(keys):
                if one < other and {one, other} <= names.keys():
                    sums = met.setdefault((one, other), [0, 0, 0])
                    sums[0] += 1
                    sums[1] += game.totals[a] > game.totals[b]
                    sums[2] += game.totals[b] > game.totals[a]
    meetings = [Meeting(names[one], names[other], *sums) for (one, other), sums in met.items()]
    return tuple(sorted(meetings, key=lambda each: (-each.games, each.one, each.other)))


def as_json(found: Statistics) -> str:
    """Everything as one JSON object."""
    told = asdict(found)
    for each, own in zip(told["players"], found.players, strict=True):
        each["rating"] = None if own.rating is None else own.rating._asdict()
    return json.dumps(told, ensure_ascii=False, indent=1) + "\n"


def as_csv(found: Statistics) -> str:
    """One line for each player, for a spreadsheet."""
    columns = [name for name in PlayerStatistics.__slots__ if name != "rating"]
    lines: list[Sequence[object]] = [[*columns, "rating", "deviation"]]
    for each in found.players:
        rating = each.rating
        lines.append(
            [
                *(getattr(each, name) for name in columns),
                "" if rating is None else round(rating.mean, 2),
                "" if rating is None else round(rating.deviation, 2),
            ]
        )
    return spreadsheet(lines)
