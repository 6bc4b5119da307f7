"""Standings of an evening, remembered players, exports."""

from __future__ import annotations

import csv
import io
import json
import time
from dataclasses import replace
from pathlib import Path

import pytest

from companion.eventlog.record import Record
from companion.history.archive import SavedGame, saved_games
from companion.history.export import summary, written
from companion.history.results import Result
from companion.history.standings import evenings, remembered, standings
from companion.history.statistics import statistics
from companion.messages.catalogue import load_phrases
from tests.history.test_statistics import a_game
from tests.session.fakes import Stage, a_turn, begin


class TestAnEvening:
    def games(self, *ats: str) -> list[Result]:
        """Games of Ada and Ben begun at these times; Ada wins every one."""
        stage = Stage(self.directory)
        for number, at in enumerate(ats, 1):
            stage.now = at
            if number == 1:
                begin(stage, "Ada", "Ben")
            else:
                stage.session.rematch()
            a_turn(stage, "R7", None)
            stage.play_out()
        found = stage.session.past.results()
        stage.store.close()
        return found

    @pytest.fixture(autouse=True)
    def _directory(self, tmp_path: Path) -> None:
        self.directory = tmp_path

    def test_midnight_does_not_part_it(self) -> None:
        games = self.games(
            "2026-11-20T20:15:00+01:00",
            "2026-11-21T00:40:00+01:00",
            "2026-11-21T19:00:00+01:00",
            "2026-12-24T17:00:00+01:00",
        )
        found = [[game.number for game in evening.games] for evening in evenings(games)]
        assert found == [[4], [3], [1, 2]]

    def test_an_evening_with_a_wrong_clock_is_not_the_latest_for_years(self) -> None:
        games = self.games("2036-01-01T01:00:00+01:00", "2026-11-20T20:45:00+01:00")
        found = [[game.number for game in evening.games] for evening in evenings(games)]
        assert found == [[2], [1]]

    def test_standings(self) -> None:
        games = self.games("2026-11-20T20:15:00+01:00", "2026-11-20T20:45:00+01:00")
        ada, ben = standings(games)
        assert (ada.name, ada.games, ada.wins, ada.points, ada.best) == ("Ada", 2, 2, -28, -14)
        assert (ben.wins, ben.points, ben.misses) == (0, -40, 8)

    def test_an_unreadable_date_is_only_an_old_one(self) -> None:
        assert len(evenings(self.games("", "2026-11-20T20:45:00+01:00"))) == 2

    def test_one_player_is_one_in_standings_and_statistics(self, stage: Stage) -> None:
        begin(stage, "👨\u200d👧", "Ben")
        stage.play_out()
        stage.session.leave(0)
        begin(stage, "👨👧")  # alike for a seat: they differ in a joiner only
        stage.play_out()
        results = stage.session.past.results()
        assert len(standings(results)) == len(statistics(results).players) == 2

    def test_games_taken_in_belong_to_no_evening(self) -> None:
        self.games("2026-11-20T20:15:00+01:00")
        stage = Stage(self.directory)
        config, *lines = stage.session.past.games()[0].lines()
        lines = [line.replace("R7", "Y7") for line in lines]
        elsewhere = [config.replace("Ben", "Cleo"), *lines]
        revision = stage.session.view().table.revision
        stage.store.append((Record(revision + 1, "imported", {"number": 2, "lines": elsewhere}),))
        found = stage.session.past.results()
        assert [game.is_imported for game in found] == [False, True]
        assert sum(len(evening.games) for evening in evenings(found)) == 1
        assert standings(found)[0].games == 2
        assert remembered(found) == ["Ada", "Ben"]
        assert sorted(remembered(found, imported=True)) == ["Ada", "Ben", "Cleo"]
        stage.store.close()

    def test_games_that_are_not_over_do_not_count(self, stage: Stage) -> None:
        begin(stage, "Ada", "Ben")
        a_turn(stage, "R7", None)
        assert standings(stage.session.past.results()) == []
        stage.session.end()  # counts for nobody
        assert standings(stage.session.past.results()) == []

    def test_bots_are_no_past_players(self, stage: Stage) -> None:
        stage.seat("Ada")
        stage.session.add_bot("easy")
        stage.session.start("base", 0)
        stage.session.end()
        assert remembered(stage.session.past.results()) == ["Ada"]

    def test_past_players_are_listed_latest_first(self, tmp_path: Path) -> None:
        stage = Stage(tmp_path / "other")
        begin(stage, "Ada", "Ben")
        stage.session.end()
        stage.session.leave(0)
        stage.seat("Zoé")
        stage.session.rematch()
        assert remembered(stage.session.past.results()) == ["Ben", "Zoé", "Ada"]
        stage.store.close()


class TestWrittenOut:
    @pytest.fixture
    def games(self, stage: Stage) -> list[SavedGame]:
        begin(stage, '=HYPERLINK("x")', "Zoé, die Große")
        a_turn(stage, "R7", "Y7")
        stage.session.end()
        return stage.session.past.games()

    def test_a_line_for_each_player(self, games: list[SavedGame]) -> None:
        rows = list(csv.DictReader(io.StringIO(written(games, "csv", load_phrases("en")))))
        assert [row["player"] for row in rows] == ['\'=HYPERLINK("x")', "Zoé, die Große"]
        assert rows[0] == {
            "game": "1",
            "date": "2026-11-20T20:15:00+01:00",
            "variant": "base",
            "end": "ended_early",
            "player": '\'=HYPERLINK("x")',
            "rank": "1",
            "total": "1",
            "red": "1",
            "yellow": "0",
            "green": "0",
            "blue": "0",
            "misses": "0",
            "minus": "0",
        }

    def test_everything_as_json(self, games: list[SavedGame]) -> None:
        (game,) = json.loads(written(games, "json", load_phrases("en")))["games"]
        assert game["record"][0]["t"] == "config"
        assert {key: game[key] for key in summary(games[0].result)} == summary(games[0].result)

    def test_text_in_each_language_and_in_the_zone_of_this_machine(
        self, games: list[SavedGame], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("TZ", "Europe/Berlin")
        time.tzset()
        try:
            for at in ("2026-11-20T20:15:00+01:00", "2026-11-20T19:15:00+00:00"):
                dated = [replace(game, at=at) for game in games]
                assert "20. November 2026, 20:15" in written(dated, "text", load_phrases("de"))
        finally:
            monkeypatch.undo()
            time.tzset()
        assert "Weiße Summe: " in written(games, "text", load_phrases("de"))
        assert "Rot 7" in written(games, "text", load_phrases("de"))
        assert "Jeu de base" in written(games, "text", load_phrases("fr"))

    def test_no_games_are_an_empty_text(self) -> None:
        assert written([], "text", load_phrases("en")) == ""


def test_results_read_only_new_records(stage: Stage) -> None:
    begin(stage, "Ada", "Ben")
    a_turn(stage, "R7", "Y7")
    assert stage.session.past.results() == stage.session.past.results()
    stage.session.end()
    stage.session.rematch()
    first = stage.session.past.results()[0]
    asked: list[int] = []
    history = stage.store.history

    def watched(after: int = 0):  # type: ignore[no-untyped-def]
        asked.append(after)
        return history(after)

    stage.store.history = watched  # type: ignore[method-assign]
    a_turn(stage, "R7", "Y7")
    assert stage.session.past.results()[0] is first
    assert asked
    assert min(asked) > 0


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", "", "x"])
def test_a_clock_of_no_possible_time_ends_no_evening(tmp_path: Path, at: str) -> None:
    stage = Stage(tmp_path)
    stage.now = at
    stage.seat("Ada", "Ben")
    assert stage.session.start() is None
    stage.roll(3, 4)
    (evening,) = evenings(game.result for game in saved_games(stage.store.load()))
    assert len(evening.games) == 1
    stage.store.close()


def test_equal_wins_are_ranked_by_points() -> None:
    games = [a_game(1, {"Ada": 30, "Ben": 20}), a_game(2, {"Ada": 50, "Ben": 90})]
    assert [(each.name, each.wins) for each in standings(games)] == [("Ben", 1), ("Ada", 1)]
