"""Points, tie-breaks, ratings and exports, by games worked out by hand."""

from __future__ import annotations

import csv
import io
import json

import pytest

from companion.mqtt.club.evening import Declined, Evening, Group, Member, Round, with_member
from companion.mqtt.club.export import as_csv, as_json
from companion.mqtt.club.results import Played, evening_id, played
from companion.mqtt.club.standings import MOST_POINTS, points_of, standings
from companion.mqtt.club.view import known_names, ratings_after, summary_of
from tests.mqtt.club.build import kept

DAY = "2026-11-24"


def evening(*names: str, rounds: tuple[Round, ...] = ()) -> Evening:
    return Evening(DAY, members=tuple(Member(name) for name in names), rounds=rounds)


def free(*games: dict[str, int]) -> Played:
    return Played((), tuple(kept(game, game=n) for n, game in enumerate(games, 1)))


def ranked(*games: dict[str, int]) -> list[tuple[int, str]]:
    return [(each.rank, each.name) for each in standings(evening(), free(*games))]


@pytest.mark.parametrize(
    ("totals", "expected"),
    [
        ({"A": 90, "B": 50}, [12, 0]),
        ({"A": 90, "B": 50, "C": 60}, [12, 0, 6]),
        ({"A": 90, "B": 50, "C": 60, "D": 55}, [12, 0, 8, 4]),
        ({"A": 90, "B": 50, "C": 60, "D": 55, "E": 70}, [12, 0, 6, 3, 9]),
        ({"A": 70, "B": 70, "C": 60, "D": 55}, [10, 10, 4, 0]),
        ({"A": 70, "B": 70}, [6, 6]),
        ({"A": 5, "B": 5, "C": 5, "D": 5, "E": 9}, [4.5, 4.5, 4.5, 4.5, 12]),
    ],
)
def test_a_win_is_worth_the_same_at_every_table(
    totals: dict[str, int], expected: list[float]
) -> None:
    game = kept(totals)
    points = [points_of(game, name) for name in totals]
    assert points == expected
    assert sum(points) == len(totals) * MOST_POINTS / 2


def test_players_are_ranked_by_points() -> None:
    assert ranked({"A": 50, "B": 90, "C": 70}) == [(1, "B"), (2, "C"), (3, "A")]


def test_ties_go_to_wins_then_opponents_then_margin() -> None:
    # A wins and loses, B is second twice: both have 12 points, A one win
    wins = ranked({"A": 90, "B": 80, "C": 70}, {"D": 95, "B": 80, "A": 60})
    assert wins.index((2, "A")) + 1 == wins.index((3, "B"))
    # A and B win once; A's opponent C wins the next game, B's opponent D loses it
    opponents = ranked({"A": 60, "C": 50}, {"B": 90, "D": 50}, {"C": 60, "D": 50})
    assert opponents == [(1, "A"), (2, "C"), (3, "B"), (4, "D")]
    # all equal but the margin
    assert ranked({"A": 60, "C": 50}, {"B": 90, "D": 50}) == [
        (1, "B"),
        (2, "A"),
        (3, "C"),
        (4, "D"),
    ]
    # equal in all: they share the place
    assert ranked({"A": 60, "C": 50}, {"B": 60, "D": 50}) == [
        (1, "A"),
        (1, "B"),
        (3, "C"),
        (3, "D"),
    ]


def test_sitting_out_is_worth_the_mean_and_coming_late_nothing() -> None:
    one = Round((Group(("A", "B")),), ("C",), "2026-11-24T19:00:00.000+00:00")
    tonight = evening("A", "B", "C", "D", rounds=(one,))
    places = standings(tonight, played(tonight, [kept({"A": 90, "B": 50})]))
    assert [(each.name, each.points, each.games, each.sat_out) for each in places] == [
        ("A", 12, 1, 0),
        ("C", 6, 0, 1),
        ("B", 0, 1, 0),
        ("D", 0, 0, 0),
    ]


def test_games_that_do_not_count_change_nothing() -> None:
    games = [
        kept({"A": 90, "B": 50}, end="ended_early"),
        kept({"A": 90, "B": 50}, counts=False, game=2),
        kept({"A": 90}, game=3),
        kept({"": 90, "B": 50}, game=4),
    ]
    assert standings(evening(), Played((), tuple(games))) == []
    assert ratings_after(games) == {}


def test_the_others_keep_a_game_whose_player_was_deleted() -> None:
    one = Round((Group(("A", "B", "C")),), drawn_at="2026-11-24T19:00:00.000+00:00")
    tonight = evening("A", "B", "C", rounds=(one,))
    game = kept({"A": 90, "#2": 70, "C": 50})
    found = summary_of(tonight, [game], {})
    assert found.done.rounds == ((game,),)
    assert [(each.name, each.points) for each in found.places] == [("A", 12), ("C", 0), ("B", 0)]
    assert set(found.rated) == {"a", "c"}
    assert known_names(evening(), [tonight], [game]) == ["A", "B", "C"]
    nobody = kept({"#1": 90, "#2": 70})
    assert played(tonight, [nobody]).free == (nobody,)


def test_names_in_other_capitals_are_one_player() -> None:
    tonight = with_member(evening(), "Ada")
    with pytest.raises(Declined, match="ALREADY_HERE"):
        with_member(tonight, " ADA ")
    places = standings(tonight, free({"ada": 90, "Ben": 50}))
    assert [(each.name, each.points) for each in places] == [("Ada", 12), ("Ben", 0)]


class TestGroups:
    one = Round(
        (Group(("A", "B", "C"), "t1"), Group(("D", "E"), "t2")),
        drawn_at="2026-11-24T19:00:00.000+00:00",
    )
    two = Round((Group(("A", "D"), "t1"), Group(("B", "C", "E"), "t2")), drawn_at=one.drawn_at)

    def test_a_group_takes_its_first_game_wherever_it_played(self) -> None:
        tonight = evening(*"ABCDE", rounds=(self.one, self.two))
        first = kept({"D": 1, "E": 2}, table=9)
        again = kept({"E": 7, "D": 8}, table=9, game=2)
        mixed = kept({"A": 1, "E": 2}, game=3)
        done = played(tonight, [first, again, mixed])
        assert done.rounds == ((None, first), (None, None))
        assert done.free == (again, mixed)

    def test_one_who_left_before_the_game_does_not_stop_the_others(self) -> None:
        tonight = evening(*"ABCDE", rounds=(self.one,))
        game = kept({"A": 1, "C": 2})
        assert played(tonight, [game]).rounds == ((game, None),)

    def test_a_game_before_the_draw_is_no_game_of_the_round(self) -> None:
        early = kept({"D": 1, "E": 2})
        late = Round(self.one.groups, drawn_at="2026-11-24T19:30:01.000+00:00")
        assert played(evening(rounds=(late,)), [early]).rounds == ((None, None),)


def test_ratings_go_on_where_earlier_evenings_ended() -> None:
    games = [kept({"A": 90, "B": 50}), kept({"a": 60, "B": 80, "C": 40}, game=2)]
    rated = ratings_after(games)
    assert rated["a"].mean > rated["c"].mean
    assert rated["b"].mean > 25 > rated["c"].mean
    before = ratings_after(games[:1])
    assert before["a"].mean > before["b"].mean
    after = ratings_after(games[1:], before)
    assert after["b"].mean == pytest.approx(rated["b"].mean)
    assert after["c"].deviation == pytest.approx(rated["c"].deviation)


def test_an_evening_ends_at_six_in_the_morning() -> None:
    assert evening_id("2026-11-25T01:30:00+01:00") == DAY
    assert evening_id("2026-11-25T06:00:00+01:00") == "2026-11-25"
    assert evening_id("no date") == ""


def test_exports_hold_every_game_once() -> None:
    one = Round((Group(("=A", "B")),), drawn_at="2026-11-24T19:00:00.000+00:00")
    tonight = evening("=A", "B", rounds=(one,))
    games = [kept({"=A": 90, "B": 50}), kept({"B": 50, "C": 40}, game=2)]
    done = played(tonight, games)
    lines = list(csv.DictReader(io.StringIO(as_csv(done))))
    assert [(each["round"], each["player"], each["total"], each["points"]) for each in lines] == [
        ("1", "'=A", "90", "12"),
        ("1", "B", "50", "0"),
        ("", "B", "50", ""),  # once there is a round, its games alone count
        ("", "C", "40", ""),
    ]
    free = list(csv.DictReader(io.StringIO(as_csv(played(evening("=A", "B"), games)))))
    assert [each["points"] for each in free] == ["12", "0", "12", "0"]
    told = json.loads(as_json(summary_of(tonight, games, {})))
    assert [(game["round"], game["game"]) for game in told["games"]] == [
        (1, "1-20261124190000"),
        (None, "2-20261124190000"),
    ]
    assert [place["name"] for place in told["standings"]] == ["=A", "B"]
    assert {each["name"] for each in told["ratings"]} == {"=A", "B"}


def test_no_export_has_a_game_whose_end_was_taken_back() -> None:
    games = [kept({"A": 90, "B": 50}), kept({"A": 9, "B": 5}, counts=False, end="open", game=2)]
    found = summary_of(evening("A", "B"), games, {})
    assert "open" not in as_csv(found.done)
    assert [game["number"] for game in json.loads(as_json(found))["games"]] == [1]
