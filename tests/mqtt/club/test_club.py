"""The club: what tables publish, what organisers change, and what a restart leaves."""

from __future__ import annotations

import logging
import sqlite3
import threading
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from companion.errors import StoreError
from companion.mqtt import payloads, topics
from companion.mqtt.club.app import _Writer
from companion.mqtt.club.club import MOST_TABLES
from companion.mqtt.club.evening import Declined
from companion.mqtt.club.store import FILE_NAME
from companion.mqtt.club.view import ratings_after
from companion.mqtt.topics import Kind
from tests.mqtt.club.build import (
    CLUB,
    ClubOnDisk,
    board,
    kept,
    result,
    table_id,
    totals,
    with_players,
)
from tests.waiting import until


def test_a_result_counts_once_however_often_it_arrives(club: ClubOnDisk) -> None:
    game = result({"Ada": 90, "Ben": 50})
    for retained in (False, True, False):
        club.finish(1, game, retained=retained)
    club.restart()
    club.finish(1, game, retained=True)
    assert totals(club) == [("Ada", 12), ("Ben", 0)]
    club.finish(2, game)  # another table's game of the same number
    assert totals(club) == [("Ada", 24), ("Ben", 0)]


def test_a_corrected_result_replaces_the_first_one(club: ClubOnDisk) -> None:
    club.finish(1, result({"Ada": 90, "Ben": 50}, revision=100))
    club.finish(1, result({"Ada": 90, "Ben": 50}, revision=101, counts=False))
    assert totals(club) == []
    club.finish(1, result({"Ada": 60, "Ben": 70}, revision=110))
    club.finish(1, result({"Ada": 90, "Ben": 50}, revision=100), retained=True)
    assert totals(club) == [("Ben", 12), ("Ada", 0)]
    club.finish(1, result({"Ada": 60, "Benjamin": 70}, revision=110))  # renamed at the table
    club.restart()
    assert totals(club) == [("Benjamin", 12), ("Ada", 0)]


def test_a_name_that_was_deleted_while_the_club_was_away_is_gone(club: ClubOnDisk) -> None:
    club.finish(1, result({"Ada": 90, "Ben": 50}, revision=100))
    club.finish(1, result({"Adam": 90, "Ben": 50}, revision=100), retained=True)
    assert totals(club) == [("Adam", 12), ("Ben", 0)]


def test_a_game_that_ends_anew_after_a_restored_backup_counts(club: ClubOnDisk) -> None:
    club.finish(1, result({"Ada": 90, "Ben": 50}, revision=100))
    club.finish(1, result({"Ada": 60, "Ben": 70}, revision=80))
    assert totals(club) == [("Ben", 12), ("Ada", 0)]
    club.finish(1, result({"Ada": 90, "Ben": 50}, revision=70), retained=True)
    club.restart()
    assert totals(club) == [("Ben", 12), ("Ada", 0)]


def test_rounds_survive_a_restart_and_reach_a_second_process(
    club: ClubOnDisk, tmp_path: Path
) -> None:
    for number in (10, 2):
        club.online(number)
    with_players(club, *"ABCDEFGH")
    club.club.draw(1)
    drawn = club.club.view().evening.rounds[0]
    assert [group.table for group in drawn.groups] == [table_id(2), table_id(10)]
    club.restart()
    assert club.club.view().evening.rounds == (drawn,)
    second = ClubOnDisk(tmp_path / "second")
    second.publish(topics.evening(CLUB), club.sent[-1].payload, retained=True)
    assert second.club.view().evening == club.club.view().evening
    # both change it while they cannot see each other: both end with the same rounds
    club.club.add("I")
    second.club.remove("A")
    second.club.draw(2)
    for one, other in ((club, second), (second, club)):
        one.publish(topics.evening(CLUB), other.sent[-1].payload)
    assert second.club.view().evening == club.club.view().evening
    assert len(club.club.view().evening.rounds) == 2
    second.store.close()


def test_a_broker_drops_the_names_of_an_evening_that_is_over(club: ClubOnDisk) -> None:
    with_players(club, "Ada", "Ben")
    club.restart()
    assert {each.topic for each in club.sent} == {topics.evening(CLUB)}
    assert all(each.keep_s == 2 * 24 * 3600 for each in club.sent)


def test_the_file_of_an_older_version_is_read_and_written(club: ClubOnDisk) -> None:
    club.finish(1, result({"Ada": 90, "Ben": 50}))
    club.club.flush()
    club.store.close()
    with closing(sqlite3.connect(club.directory / FILE_NAME)) as db:
        db.execute("ALTER TABLE result DROP COLUMN ended_at")
        db.execute("PRAGMA user_version=1")
        db.commit()
    club.open()
    club.finish(1, result({"Ada": 90, "Ben": 50}, game=2))
    club.restart()
    assert totals(club) == [("Ada", 24), ("Ben", 0)]


def test_an_end_after_a_restored_backup_counts_that_a_club_missed(club: ClubOnDisk) -> None:
    club.finish(1, result({"Ada": 90, "Ben": 50}, revision=100))
    club.restart()
    ended = "2026-11-24T20:50:00+01:00"
    club.finish(1, result({"Ada": 60, "Ben": 70}, revision=80, ended=ended), retained=True)
    assert totals(club) == [("Ben", 12), ("Ada", 0)]


def test_a_rating_follows_a_player_who_is_renamed(club: ClubOnDisk) -> None:
    club.finish(1, result({"Ada": 90, "Ben": 50}))
    club.now = club.now.replace(month=12, day=1)
    assert set(club.club.view().rated) == {"ada", "ben"}
    club.finish(1, result({"Ada": 90, "Benjamin": 50}))  # of the same revision
    assert set(club.club.view().rated) == {"ada", "benjamin"}


def test_results_of_tonight_count_once_in_the_ratings(club: ClubOnDisk) -> None:
    club.finish(1, result({"Ada": 90, "Ben": 50}))
    expected = ratings_after([kept({"Ada": 90, "Ben": 50})])
    assert club.club.view().rated["ada"].mean == expected["ada"].mean


def test_the_next_evening_pairs_as_the_last_one_did(club: ClubOnDisk) -> None:
    club.club.choose("swiss", 3)
    club.now = club.now.replace(day=25)
    evening = club.club.view().evening
    assert (evening.id, evening.system, evening.size) == ("2026-11-25", "swiss", 3)


def test_players_come_late_and_leave(club: ClubOnDisk) -> None:
    with_players(club, "Ada", "Ben", "Cleo", "Dora")
    club.club.remove("Dora")  # before any round: a mistake
    club.club.draw(1)
    club.club.remove("Ben")
    club.club.add("Emil")
    club.club.draw(2)
    assert {
        name for group in club.club.view().evening.rounds[1].groups for name in group.players
    } == {
        "Ada",
        "Cleo",
        "Emil",
    }
    club.club.add("ben")
    evening = club.club.view().evening
    assert [(each.name, each.is_here) for each in evening.members] == [
        ("Ada", True),
        ("Ben", True),
        ("Cleo", True),
        ("Emil", True),
    ]


def test_a_second_organiser_is_told_that_the_rounds_have_changed(club: ClubOnDisk) -> None:
    with_players(club, "Ada", "Ben")
    club.club.draw(1)
    club.club.draw(2)
    with pytest.raises(Declined, match="ROUNDS_CHANGED"):
        club.club.take_back(1)  # asked before the second round was drawn
    club.club.take_back(2)
    with pytest.raises(Declined, match="ROUNDS_CHANGED"):
        club.club.draw(3)  # asked before it was taken back
    assert len(club.club.view().evening.rounds) == 1


def test_a_double_tap_draws_one_round(club: ClubOnDisk) -> None:
    with_players(club, "Ada", "Ben")
    club.club.draw(1)
    with pytest.raises(Declined, match="ROUND_DRAWN"):
        club.club.draw(1)
    club.club.take_back(1)
    with pytest.raises(Declined, match="NO_ROUND"):
        club.club.take_back(1)
    club.club.remove("Ben")
    with pytest.raises(Declined, match="TOO_FEW_PLAYERS"):
        club.club.draw(1)
    for name, code in (
        ("", "NAME_EMPTY"),
        ("#1", "NAME_EMPTY"),
        ("x" * 21, "NAME_TOO_LONG"),
        ("ada", "ALREADY_HERE"),
    ):
        with pytest.raises(Declined, match=code):
            club.club.add(name)


def test_a_table_shows_its_board_and_goes_with_its_topics(club: ClubOnDisk) -> None:
    club.online(3, "Window")
    table = topics.TableTopics(CLUB, table_id(3))
    club.publish(table.of(Kind.STATUS), topics.OFFLINE)
    (seen,) = club.club.view().tables
    assert (seen.name, seen.is_online) == ("Window", False)
    club.publish(table.of(Kind.STATE), b"")
    assert club.club.view().tables == ()


def test_a_table_that_a_crashed_broker_has_forgotten_is_offline(club: ClubOnDisk) -> None:
    club.online(3, "Window")
    club.publish(topics.TableTopics(CLUB, table_id(4)).of(Kind.STATUS), topics.ONLINE)
    club.club.connect(club.sent.append)
    assert [(each.name, each.is_online) for each in club.club.view().tables] == [("Window", False)]
    club.online(3)
    assert [each.is_online for each in club.club.view().tables] == [True]


def test_strangers_leave_nothing_behind(club: ClubOnDisk) -> None:
    for number in range(50):
        table = topics.TableTopics(CLUB, table_id(number))
        club.publish(table.of(Kind.STATUS), b"maybe")
        club.publish(table.of(Kind.DIAGNOSTICS), b"{}")
    assert club.club.view().tables == ()
    assert club.club._heard_s == {}


def test_a_table_that_lost_its_power_with_the_broker_is_offline(club: ClubOnDisk) -> None:
    """A broker that keeps its state on the disk tells what tables said before it crashed."""
    lost, there = (topics.TableTopics(CLUB, table_id(n)) for n in (3, 4))
    for number, table in ((3, lost), (4, there)):
        club.online(number, f"Table {number}")
        club.club.connect(club.sent.append)
        club.publish(table.of(Kind.STATUS), topics.ONLINE, retained=True)

    def online() -> list[str]:
        club.club.look_for_silent_tables()
        return [each.name for each in club.club.view().tables if each.is_online]

    club.publish(lost.of(Kind.STATUS), topics.ONLINE, retained=True)
    assert online() == ["Table 3", "Table 4"]
    for _ in range(3):
        club.now += timedelta(seconds=60)
        club.publish(lost.of(Kind.DIAGNOSTICS), b"{}", retained=True)
        club.publish(there.of(Kind.DIAGNOSTICS), b"{}")
    assert online() == ["Table 4"]
    for name in ("Ada", "Ben", "Cleo", "Dan"):
        club.club.add(name)
    club.club.draw(1)
    assert {group.table for group in club.club.view().evening.rounds[0].groups} == {table_id(4)}
    club.publish(lost.of(Kind.DIAGNOSTICS), b"{}")
    assert online() == ["Table 3", "Table 4"]


def test_a_lost_broker_silences_nobody(club: ClubOnDisk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("companion.mqtt.club.app.WRITE_AGAIN_S", 0.01)
    club.online(3, "Window")
    club.now += timedelta(seconds=600)
    has_broker, asked = threading.Event(), threading.Semaphore(0)

    def has() -> bool:
        asked.release()
        return has_broker.is_set()

    writer = _Writer(club.club, has)
    try:
        for _ in range(5):
            assert asked.acquire(timeout=10.0)
        assert club.club.view().tables[0].is_online
        has_broker.set()
        until(lambda: not club.club.view().tables[0].is_online)
    finally:
        writer.close()


GOOD = payloads.encoded(result({"Ada": 90, "Ben": 50}))


@pytest.mark.parametrize(
    ("topic", "payload"),
    [
        ("tables/0000000000000001/status", b"maybe"),
        ("tables/0000000000000001/state", b"{}"),
        ("tables/0000000000000001/state", b"["[:1] * 60_000),
        ("tables/0000000000000001/state", b"x" * 100_000),
        ("tables/0000000000000001/results/2-20261124190000", GOOD),
        ("tables/0000000000000001/results/1-20261124190000", GOOD.replace(b"90", b"90000")),
        ("tables/0000000000000001/results/1-20261124190000", GOOD.replace(b'"v":1', b'"v":2')),
        ("tables/../results/1", GOOD),
        ("tables/0000000000000001/state/more", b"{}"),
        ("evening", b"\xff\xfe"),
        ("evening", b'{"id":"2026-11-24","members":[{"name":""}]}'),
        ("evening", b'{"id":"2026-11-24","rounds":[{"groups":[{"players":["A"]}]}]}'),
        ("evening", b'{"id":"2026-11-24","seed":1e999}'),
        ("evening", b'{"id":"2026-11-24","revision":999999999}'),
        ("evening", b'{"id":"2026-11-24","members":[{"name":"A\\u202eB"}]}'),
        ("evening", b'{"id":"2026-11-24","members":[{"name":"Ada"},{"name":"ada"}]}'),
        ("evening", b'{"id":"2026-11-24","rounds":[{"groups":[{"players":["Ada","Ada"]}]}]}'),
        ("evening", b" " * 600_000),
    ],
)
def test_a_hostile_payload_is_ignored_with_one_line(
    club: ClubOnDisk, caplog: pytest.LogCaptureFixture, topic: str, payload: bytes
) -> None:
    before = club.club.view()
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            club.publish(f"dice/1/{CLUB}/{topic}", payload)
    assert club.club.view() == before
    assert [each.levelname for each in caplog.records] == ["WARNING"]
    assert "is ignored" in caplog.text
    assert len(caplog.text) < 600


def test_a_flood_of_tables_is_bounded(club: ClubOnDisk) -> None:
    payload = payloads.encoded(board("X"))
    for number in range(MOST_TABLES + 50):
        table = topics.TableTopics(CLUB, table_id(number))
        club.publish(table.of(Kind.STATE), payload)
    assert len(club.club.view().tables) == MOST_TABLES


def test_a_result_that_cannot_be_written_is_kept_and_tried_again(
    club: ClubOnDisk, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    keep = club.store.keep_results

    def fail(_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(club.store, "keep_results", fail)
    club.finish(1, result({"Ada": 90, "Ben": 50}))
    assert not club.club.flush()
    assert not club.club.flush()
    assert caplog.text.count("the disk is full") == 1
    assert totals(club) == [("Ada", 12), ("Ben", 0)]
    monkeypatch.setattr(club.store, "keep_results", keep)
    club.finish(2, result({"Ada": 90, "Ben": 50}))
    assert club.club.flush()
    club.restart()
    assert totals(club) == [("Ada", 24), ("Ben", 0)]


def test_a_damaged_file_is_set_aside(club: ClubOnDisk) -> None:
    club.finish(1, result({"Ada": 90, "Ben": 50}))
    club.store.close()
    (club.directory / FILE_NAME).write_bytes(b"no database" * 1000)
    club.open()
    assert club.store.notice is not None
    club.finish(1, result({"Ada": 90, "Ben": 50}), retained=True)
    assert list(club.directory.glob("*.damaged-1"))


@pytest.mark.parametrize("name", [b"document", b"evening"])
def test_a_file_with_a_damaged_schema_is_set_aside(club: ClubOnDisk, name: bytes) -> None:
    club.finish(1, result({"Ada": 90, "Ben": 50}))
    club.store.close()
    path = club.directory / FILE_NAME
    data = path.read_bytes()
    place = data.index(name, data.index(b"CREATE TABLE"))
    path.write_bytes(data[:place] + b"\xe0" + data[place + 1 :])
    club.open()
    assert club.store.notice is not None
    assert list(club.directory.glob("*.damaged-1"))


def test_one_process_has_the_file(club: ClubOnDisk, tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="another club is using this data directory"):
        ClubOnDisk(tmp_path)
