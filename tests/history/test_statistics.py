"""Players over all evenings: who counts, what is counted, ratings, filters, files."""

from __future__ import annotations

import csv
import io
import json

import pytest

from companion.engine import (
    End,
)
from companion.history.decided import Decided
from companion.history.export import harmless
from companion.history.results import Result
from companion.history.standings import standings
from companion.history.statistics import LuckShare, as_csv, as_json, statistics


def a_game(number: int, totals: dict[str, int], *, variant: str = "base", **more: object) -> Result:
    """A finished game with these totals; the best wins."""
    ordered = sorted(totals.values(), reverse=True)
    ranking = sorted((1 + ordered.index(total), p) for p, total in enumerate(totals.values()))
    players = len(totals)
    values: dict[str, object] = {
        "number": number,
        "at": f"2026-11-{number:02}T20:00:00+01:00",
        "names": tuple(totals),
        "variant": variant,
        "house": (),
        "first": 0,
        "turns": 20,
        "end": End.LOCKS.value,
        "fault": None,
        "is_imported": False,
        "has_bots": False,
        "ranking": tuple(ranking),
        "totals": tuple(totals.values()),
        "misses": (1,) * players,
        "crosses": (20,) * players,
        "closings": (1,) + (0,) * (players - 1),
        "rows": ({},) * players,
        "played": str(number),
    }
    return Result(**(values | more))  # type: ignore[arg-type]


EVENING = [
    a_game(1, {"Ada": 60, "Ben": 50}),
    a_game(2, {"ada": 70, "Ben": 40, "Cleo": 70}),
    a_game(3, {"Ben": 90, "Cleo": 20}, variant="big_points"),
    a_game(4, {"Ada": 99, "Ben": 98}, end=End.ENDED_EARLY.value),
    a_game(5, {"Ada": 10, "Ben": 30}, end=None),
    a_game(6, {"Cleo": 115}),
    a_game(7, {"Ada": 60, "Ben": 50}, is_imported=True, played="1"),
    a_game(8, {"Ada": 60, "Bot 1": 50}, has_bots=True),
]
"""Games 4, 5, 7 and 8 count for nobody: ended early, going on, imported twice, with a bot."""


def test_averages_records_streaks_and_closings() -> None:
    found = statistics(EVENING)
    assert (found.games, found.names) == (4, ("ada", "Ben", "Cleo"))
    ada, ben, cleo = (
        next(each for each in found.players if each.name == name) for name in found.names
    )
    assert (ada.games, ada.wins, ada.average, ada.best, ada.best_game) == (2, 2, 65.0, 70, 2)
    assert (ada.streak, ada.streak_now, ada.misses, ada.closings) == (2, 2, 1.0, 1.0)
    assert (ben.games, ben.wins, ben.streak, ben.closings) == (3, 1, 1, 0.33)
    assert (cleo.games, cleo.wins, cleo.best_game) == (3, 1, 6), "nobody wins alone"
    assert {each.name: each.wins for each in standings(EVENING)} == {"ada": 2, "Ben": 1, "Cleo": 1}
    assert [(each.name, each.total, each.game) for each in found.best[:2]] == [
        ("Cleo", 115, 6),
        ("Ben", 90, 3),
    ]


def test_a_game_alone_neither_ends_nor_adds_to_wins_in_a_row() -> None:
    won = [a_game(number, {"Ada": 60, "Ben": 50}) for number in (1, 2, 4)]
    (ada, _) = statistics([*won[:2], a_game(3, {"Ada": 90}), won[2]]).players
    assert (ada.name, ada.games, ada.streak, ada.streak_now) == ("Ada", 4, 3, 3)


def test_games_with_bots_count_only_when_asked() -> None:
    assert statistics(EVENING, bots=True).games == 5
    assert "Bot 1" in statistics(EVENING, bots=True).names
    assert "Bot 1" not in statistics(EVENING).names


def test_pairs_count_who_was_ahead_and_leave_ties_out() -> None:
    pairs = {(pair.one, pair.other): pair for pair in statistics(EVENING).pairs}
    assert (pairs["ada", "Ben"].one_ahead, pairs["ada", "Ben"].other_ahead) == (2, 0)
    tied = pairs["ada", "Cleo"]
    assert (tied.games, tied.one_ahead, tied.other_ahead) == (1, 0, 0)
    assert pairs["Ben", "Cleo"].one_ahead == pairs["Ben", "Cleo"].other_ahead == 1


def test_filters_by_sheet_and_company_keep_the_rating() -> None:
    whole = {each.name: each.rating for each in statistics(EVENING).players}
    big = statistics(EVENING, variant="big_points")
    assert [each.name for each in big.players] == ["Ben", "Cleo"]
    assert [each.games for each in big.players] == [1, 1]
    assert {each.name: each.rating for each in big.players} == {
        name: whole[name] for name in ("Ben", "Cleo")
    }
    assert statistics(EVENING, together=["ADA", "Cleo"]).games == 1
    assert statistics(EVENING, together=["Nobody"]).players == ()


def test_a_rating_rises_with_wins_and_grows_more_certain() -> None:
    def rating(games: int, name: str) -> tuple[float, float]:
        many = [a_game(n, {"Ada": 60, "Ben": 50, "Cleo": 40}) for n in range(1, games + 1)]
        return next(e.rating for e in statistics(many).players if e.name == name) or (0, 0)

    assert rating(20, "Ada")[0] > rating(2, "Ada")[0] > 25 > rating(2, "Cleo")[0]
    assert rating(20, "Ben")[0] == pytest.approx(25, abs=1)
    assert rating(20, "Ada")[1] < rating(2, "Ada")[1] < 25 / 3
    alone = statistics([a_game(1, {"Ada": 100})]).players[0]
    assert alone.rating is None


def test_imported_games_count_in_the_order_in_which_they_were_played() -> None:
    def game(number: int, day: int, ada: int, **more: object) -> Result:
        at = f"2026-11-{day:02}T20:00:00+01:00"
        return a_game(number, {"Ada": ada, "Ben": 50}, at=at, rolls=(str(number),), **more)

    own = [game(1, 20, 60), game(2, 21, 61)]
    older = [game(3, 2, 40, is_imported=True), game(4, 1, 41, is_imported=True)]
    ada, ben = statistics([*own, *older]).players
    assert (ada.name, ada.streak_now, ben.streak_now) == ("Ada", 2, 0)
    assert statistics([older[1], older[0], *own]).players == (ada, ben)
    wrong_clock = [game(1, 30, 60), game(2, 20, 40), game(3, 21, 61)]
    assert statistics(wrong_clock).players[0].streak_now == 1


def test_how_often_luck_decided_counts_reviewed_games_of_two_and_more() -> None:
    decided = {"1": Decided.LUCK, "2": Decided.CLOSE, "3": Decided.CHOICES, "4": Decided.LUCK}
    decided |= {"6": Decided.LUCK, "8": Decided.LUCK}  # one player alone, and a bot
    share = statistics(EVENING, decided=decided).decided
    assert share == LuckShare(games=3, luck=1, choices=1, close=1)
    assert share.reviewed == 3
    both = statistics(EVENING, decided=decided, together=["Ada"], bots=True).decided
    assert both == LuckShare(games=3, luck=2, choices=0, close=1)
    assert statistics(EVENING).decided == LuckShare(3, 0, 0, 0)


def test_players_as_csv_and_json() -> None:
    found = statistics([a_game(1, {"=SUM(A1)": 60, "Ben": 50})])
    rows = list(csv.DictReader(io.StringIO(as_csv(found))))
    assert [row["name"] for row in rows] == ["'=SUM(A1)", "Ben"]
    assert rows[0]["average"] == "60.0"
    assert harmless(";=SUM(A1);") == ";'=SUM(A1);", "German spreadsheets separate by semicolons"
    assert harmless("A-B; C+D") == "A-B; C+D"
    assert float(rows[0]["rating"]) > float(rows[1]["rating"])
    told = json.loads(as_json(found))
    assert told["players"][0]["rating"].keys() == {"mean", "deviation"}
    assert told["pairs"][0]["games"] == 1
    assert told["decided"] == {"games": 1, "luck": 0, "choices": 0, "close": 0}


def test_a_defeat_ends_the_wins_in_a_row() -> None:
    results = [a_game(n, {"Ada": own, "Ben": 50}) for n, own in enumerate((60, 60, 40, 60), 1)]
    ada = next(each for each in statistics(results).players if each.name == "Ada")
    assert (ada.wins, ada.streak, ada.streak_now) == (3, 2, 1)


def test_the_best_rated_player_comes_first() -> None:
    found = statistics([a_game(1, {"Ada": 40, "Zoe": 60}), a_game(2, {"Ada": 40, "Zoe": 60})])
    assert [each.name for each in found.players] == ["Zoe", "Ada"]
