"""Which evening a game belongs to, whatever the clocks of tables and club say."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest

from tests.mqtt.club.build import ClubOnDisk, result, totals, with_players


def test_a_result_finds_its_evening_though_it_comes_late(club: ClubOnDisk) -> None:
    with_players(club, "Ada", "Ben")
    club.club.draw(1)
    club.now = club.now.replace(day=25)  # the next evening
    with_players(club, "Cleo", "Dora")
    club.finish(1, result({"Ada": 1, "Ben": 2}, ended="1970-01-01T00:00:00+00:00"))
    late = result({"Ada": 1, "Ben": 2}, game=2, ended="2026-11-24T20:40:00+01:00")
    club.finish(1, late, retained=True)
    club.finish(1, result({"Cleo": 1, "Dora": 2}, game=3, ended="1970-01-01T00:00:00+00:00"))
    assert [each.game.number for each in club.club.view().done.free] == [3]
    club.now = club.now.replace(day=24)
    done = club.club.view().done
    assert done.rounds[0][0] is not None
    assert [each.game.number for each in done.free] == [1], "the one of 1970 may be any game"


def test_a_round_takes_no_warm_up_that_arrives_with_its_game(club: ClubOnDisk) -> None:
    with_players(club, "Ada", "Ben")
    club.online(1)
    club.now += timedelta(minutes=30)
    club.club.draw(1)
    club.now += timedelta(hours=1)  # the table is back
    club.online(1, at="2026-11-24T21:30:00+01:00")
    club.finish(1, result({"Ada": 1, "Ben": 9}, game=1, ended="2026-11-24T20:20:00+01:00"))
    club.finish(1, result({"Ada": 9, "Ben": 1}, game=2, ended="2026-11-24T21:10:00+01:00"))
    assert totals(club) == [("Ada", 12), ("Ben", 0)]


def test_a_round_keeps_its_game_though_the_tables_clock_was_slow(club: ClubOnDisk) -> None:
    with_players(club, "Ada", "Ben")
    club.online(1, at="2026-11-24T19:20:00+01:00")  # forty minutes behind
    club.club.draw(1)
    club.now += timedelta(minutes=30)
    club.finish(1, result({"Ada": 9, "Ben": 1}, game=1, ended="2026-11-24T19:50:00+01:00"))
    club.now += timedelta(minutes=30)
    club.online(1, at="2026-11-24T21:00:00+01:00")  # the table was told the time
    club.finish(1, result({"Ada": 1, "Ben": 9}, game=2, ended="2026-11-24T21:00:00+01:00"))
    assert totals(club) == [("Ada", 12), ("Ben", 0)]
    club.restart()
    assert totals(club) == [("Ada", 12), ("Ben", 0)]


def test_a_free_game_counts_on_its_evening_by_the_clubs_clock(club: ClubOnDisk) -> None:
    with_players(club, "Ada", "Ben")
    club.now = club.now.replace(month=12, day=1)
    club.online(1, at="2026-12-01T20:00:00+01:00")
    club.finish(1, result({"Ada": 1, "Ben": 2}))  # was cut off from the broker a week ago
    club.online(2, at="1970-01-01T00:00:00+00:00")
    club.finish(2, result({"Ada": 1, "Ben": 2}, game=2, ended="1970-01-01T00:05:00+00:00"))
    blink = result({"Ada": 1, "Ben": 2}, game=3, ended="1970-01-01T00:09:00+00:00")
    club.finish(2, blink, retained=True)  # came while the club was away from the broker
    assert [each.game.number for each in club.club.view().done.free] == [2, 3]


@pytest.mark.parametrize("days", [21, -21])
def test_an_evening_goes_on_though_the_clubs_clock_is_set(
    club: ClubOnDisk, caplog: pytest.LogCaptureFixture, days: int
) -> None:
    with_players(club, "Ada", "Ben")
    club.club.draw(1)
    club.set_clock(timedelta(days=days))
    club.finish(1, result({"Ada": 90, "Ben": 50}))
    evening = club.club.view().evening
    assert (evening.id, evening.here) == ("2026-11-24", ["Ada", "Ben"])
    assert totals(club) == [("Ada", 12), ("Ben", 0)]
    assert "the clock was set" in caplog.text
    club.now += timedelta(hours=12)
    assert club.club.today == f"{club.now:%Y-%m-%d}", "the next evening has the right date"


def test_a_new_evening_begins_whatever_the_clock_was(club: ClubOnDisk) -> None:
    club.set_clock(timedelta(days=21))
    assert club.club.today == "2026-12-15"
    with_players(club, "Ada", "Ben")
    club.now += timedelta(days=7)
    assert club.club.today == "2026-12-22"


@pytest.mark.parametrize(("hours", "hour"), [(-8, 22), (-7, 23), (10, 15)])
def test_an_evening_is_that_of_the_club_whatever_zone_a_table_is_in(
    club: ClubOnDisk, hours: int, hour: int
) -> None:
    club.now = datetime(2026, 11, 24, hour, tzinfo=timezone(timedelta(hours=hours)))
    at = club.now.astimezone(UTC).isoformat()
    with_players(club, "Ada", "Ben")
    club.online(1, at=at)
    club.finish(1, result({"Ada": 2, "Ben": 1}, ended=at))
    assert totals(club) == [("Ada", 12), ("Ben", 0)]


def test_a_time_that_is_none_harms_nothing(club: ClubOnDisk) -> None:
    for at in ("", "now", "2026-12-01T20:00:00", "0001-01-01T00:00:00+14:00"):
        club.online(1, at=at)
        club.finish(1, result({"Ada": 1, "Ben": 2}, ended=at))
    assert [each.game.number for each in club.club.view().done.free] == [1]


def test_a_round_left_open_takes_no_game_of_a_later_evening(club: ClubOnDisk) -> None:
    with_players(club, "Ada", "Ben")
    club.club.draw(1)
    club.now = club.now.replace(month=12, day=1)
    club.finish(1, result({"Ada": 90, "Ben": 50}, ended="2026-12-01T20:30:00+01:00"))
    assert [each.game.number for each in club.club.view().done.free] == [1]
    assert totals(club) == [("Ada", 12), ("Ben", 0)]


def test_a_result_counts_though_the_clock_is_set_back_after_the_draw(club: ClubOnDisk) -> None:
    with_players(club, "Ada", "Ben")
    club.club.draw(1)
    club.now -= timedelta(hours=2)
    club.finish(1, result({"Ada": 90, "Ben": 50}))
    assert totals(club) == [("Ada", 12), ("Ben", 0)]


def test_a_clock_set_right_while_the_club_was_away_moves_no_game(club: ClubOnDisk) -> None:
    days = {1: 7, 2: -3}
    for table, behind in days.items():
        at = club.now - timedelta(days=behind)
        club.online(table, at=at.isoformat())
    club.now += timedelta(minutes=40)  # the clocks are set, and both games end meanwhile
    for table in days:
        at = club.now - timedelta(minutes=15)
        game = result({"Ada": 90, "Ben": 50}, game=table, ended=at.isoformat())
        club.finish(table, game, retained=True)
    assert totals(club) == [("Ada", 24), ("Ben", 0)]
    club.now += timedelta(days=7)
    assert totals(club) == [], "nothing was played on that evening yet"
