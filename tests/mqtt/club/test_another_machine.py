"""The club on another machine: what the broker keeps says which games are of which round."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from companion.mqtt import topics
from tests.mqtt.club.build import CLUB, ClubOnDisk, result, with_players


@pytest.fixture
def second(club: ClubOnDisk, tmp_path: Path) -> Iterator[ClubOnDisk]:
    """The same evening on another machine, an hour after the first round and at the second draw."""
    with_players(club, "Ada", "Ben")
    club.club.draw(1)
    club.now += timedelta(hours=1)
    club.club.draw(2)
    second = ClubOnDisk(tmp_path / "second")
    second.now = club.now
    second.publish(topics.evening(CLUB), club.sent[-1].payload, retained=True)
    yield second
    second.store.close()


def test_rounds_of_the_same_players_keep_their_games(
    second: ClubOnDisk,
) -> None:
    for game, at in ((2, "21:10"), (1, "20:30")):  # in the broker's own order
        ended = f"2026-11-24T{at}:00+01:00"
        second.finish(1, result({"Ada": 1, "Ben": 2}, game=game, ended=ended), retained=True)
    rounds = second.club.view().done.rounds
    assert [each.game.number for row in rounds for each in row if each is not None] == [1, 2]


def test_a_game_before_a_draw_is_of_no_later_round(
    second: ClubOnDisk,
) -> None:
    second.now += timedelta(minutes=20)
    for game, at, minutes in ((1, "20:20", 60), (2, "20:40", 40)):  # both in the first round
        ended = f"2026-11-24T{at}:00+01:00"
        won = result({"Ada": 1, "Ben": 2}, game=game, ended=ended)
        second.finish(1, won, retained=True, ago_s=60 * minutes)
    done = second.club.view().done
    assert [[each and each.game.number for each in row] for row in done.rounds] == [[1], [None]]
    assert [each.game.number for each in done.free] == [2]


def test_a_game_just_after_a_draw_is_of_its_round(second: ClubOnDisk) -> None:
    second.now += timedelta(seconds=60.2)
    for game, at, ago_s in ((1, "20:20", 3000), (2, "21:01", 61)):
        ended = f"2026-11-24T{at}:00+01:00"
        won = result({"Ada": 1, "Ben": 2}, game=game, ended=ended)
        second.finish(1, won, retained=True, ago_s=ago_s)  # the broker counts whole seconds
    rounds = second.club.view().done.rounds
    assert [[each and each.game.number for each in row] for row in rounds] == [[1], [2]]
