"""The games page and its calls: standings, records, files, and games put aside."""

from __future__ import annotations

import json
import time
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from flask.testing import FlaskClient

from companion.history.export import written
from companion.history.pictures import Pictures
from tests.session.fakes import Stage
from tests.web.browsing import PATIENCE_S
from tests.web.stand_in import seat
from tests.web.test_openapi import SCHEMAS, complaints
from web import create_app

NAMES = ("Ada", "<b>Ben</b>", "Cleo Wilhelmina Max")


def an_evening(stage: Stage, names: tuple[str, ...] = NAMES) -> list[str]:
    """Two games that are over, one that is put aside, and one that is on; the players' tokens."""
    tokens = [seat(stage, name).token for name in names]
    for number, (variant, box) in enumerate(
        (("base", "R7"), ("big_points", "Y7"), ("base", "G7"), ("base", "B7"))
    ):
        stage.now = datetime(2026, 11, 20, 20 + number, 15).astimezone().isoformat()
        assert stage.session.start(variant, 0) is None
        assert stage.roll(3, 4) is None
        for player in range(3):
            assert stage.answer(player, box if player == 0 else None) == ""
        assert stage.answer(0, None) == ""
        if number < 2:
            stage.play_out()
        elif number == 2:
            assert stage.session.pause() is None
    return tokens


@pytest.fixture
def told(client: FlaskClient, stage: Stage) -> dict[str, Any]:
    an_evening(stage)
    found: dict[str, Any] = client.get("/api/games").get_json()
    return found


class TestTheCalls:
    def test_the_list_has_all_games_and_their_winners(self, told: dict[str, Any]) -> None:
        assert complaints(told, SCHEMAS["Games"]) == []
        states = [(g["number"], g["over"], g["paused"], g["running"]) for g in told["games"]]
        assert states == [
            (4, False, False, True),
            (3, False, True, False),
            (2, True, False, False),
            (1, True, False, False),
        ]
        (evening,) = told["evenings"]
        assert evening["games"] == [4, 3, 2, 1]
        assert evening["standings"][0] == {
            "name": "Ada",
            "games": 2,
            "wins": 2,
            "points": -28,
            "best": -14,
            "misses": 6,
        }

    def test_before_the_first_game(self, client: FlaskClient) -> None:
        assert client.get("/api/games").get_json() == {"games": [], "evenings": []}
        assert client.get("/api/export?form=csv").text.count("\n") == 1

    @pytest.mark.parametrize("number", [1, 2, 3, 4])
    def test_one_game_in_full(self, client: FlaskClient, told: dict[str, Any], number: int) -> None:
        game = client.get(f"/api/game?number={number}").get_json()
        assert complaints(game, SCHEMAS["GameResult"]) == []
        assert [len(sheet["rows"]) for sheet in game["sheets"]] == [6 if number == 2 else 4] * 3
        ada = next(sheet for sheet in game["sheets"] if sheet["name"] == "Ada")
        crossed = {row["key"]: row["crossed"] for row in ada["rows"] if row["crossed"]}
        assert crossed == {"RYGB"[number - 1]: [7]}

    def test_a_cross_for_a_coloured_die_is_told_as_one(
        self, stage: Stage, client: FlaskClient, in_action1: None
    ) -> None:
        for place, box in ((0, "R7"), (1, None), (0, "Y6")):
            assert stage.answer(place, box) == ""
        stage.session.end()
        game = client.get("/api/game?number=1").get_json()
        (turn,) = game["rolls"]
        white, coloured = turn["marks"]
        assert (white["action"], white["token"]) == (1, "R7")
        assert coloured == {"name": "Ada", "action": 2, "token": "Y6", "text": "yellow 6"}
        assert not turn["miss"]
        told = [line.strip() for line in game["text"].splitlines()]
        assert told[5:7] == ["White sum: Ada red 7", "Coloured die: Ada yellow 6"]

    def test_a_game_can_be_seen_turn_by_turn(self, client: FlaskClient, told: object) -> None:
        first, *_, last = client.get("/api/game?number=2").get_json()["rolls"]
        assert (first["turn"], first["name"], first["miss"]) == (1, "Ada", False)
        assert first["roll"]["white"] == [3, 4]
        (mark,) = first["marks"]
        assert mark == {"name": "Ada", "action": 1, "token": "Y7", "text": "yellow 7"}
        assert (last["turn"], last["marks"], last["miss"]) == (11, [], True)
        after = client.get("/api/game?number=2&turn=2").get_json()["sheets"]
        assert [(each["name"], each["total"]) for each in after] == [
            ("Ada", 1),
            ("Cleo Wilhelmina Max", 0),
            ("<b>Ben</b>", -5),
        ]
        assert client.get("/api/game?number=2&turn=-1").status_code == 400

    def test_a_turn_has_its_latest_kept_picture(self, stage: Stage, tmp_path: Path) -> None:
        an_evening(stage)
        pictures = Pictures(tmp_path, 9)
        for revision in (5, 9):  # undone and thrown again
            pictures.keep(revision, 2, 1, b"jpeg")
        client = create_app(stage.session, pictures=pictures).test_client()
        rolls = client.get("/api/game?number=2").get_json()["rolls"]
        assert [each["picture"] for each in rolls[:2]] == [9, None]
        stranger = {"REMOTE_ADDR": "192.168.1.77"}
        hidden = client.get("/api/game?number=2", environ_base=stranger).get_json()["rolls"]
        assert hidden[0]["picture"] is None
        assert client.get("/api/picture.jpg?revision=9", environ_base=stranger).status_code == 403

    def test_a_roll_that_was_entered_has_no_picture_of_the_undone_one(
        self, two: Stage, tmp_path: Path
    ) -> None:
        pictures = Pictures(tmp_path, 9)
        two.roll(3, 4)
        pictures.keep(two.game.rolled, 1, 1, b"jpeg")
        client = create_app(two.session, pictures=pictures).test_client()
        assert client.get("/api/game?number=1").get_json()["rolls"][0]["picture"] is not None
        assert two.session.undo() is None
        assert two.type_roll(6, 5) is None
        assert client.get("/api/game?number=1").get_json()["rolls"][0]["picture"] is None

    def test_a_turn_that_a_player_left_before_the_roll_moves_no_picture(
        self, stage: Stage, tmp_path: Path
    ) -> None:
        stage.seat("Ada", "Ben", "Cleo")
        stage.session.start(first=0)
        stage.roll(3, 4)
        while stage.state.action:
            stage.session.close_action()
        stage.session.let_go(1)  # Ben, whose turn it is
        stage.roll(5, 6)
        pictures = Pictures(tmp_path, 9)
        pictures.keep(9, 1, stage.state.turn, b"jpeg")
        client = create_app(stage.session, pictures=pictures).test_client()
        rolls = client.get("/api/game?number=1").get_json()["rolls"]
        assert [each["picture"] for each in rolls] == [None, 9]
        assert [each["turn"] for each in rolls] == [1, stage.state.turn] == [1, 3]

    @pytest.mark.parametrize(
        ("query", "status"), [("", 400), ("?number=x", 400), ("?number=9", 404)]
    )
    def test_an_unknown_game_is_not_found(
        self, client: FlaskClient, query: str, status: int
    ) -> None:
        answer = client.get(f"/api/game{query}")
        assert answer.status_code == status
        assert answer.get_json()["message"]

    @pytest.mark.parametrize(
        ("form", "media", "name"),
        [
            ("text", "text/plain", "game-2.txt"),
            ("json", "application/json", "game-2.json"),
            ("csv", "text/csv", "game-2.csv"),
        ],
    )
    def test_files(
        self, client: FlaskClient, told: dict[str, Any], form: str, media: str, name: str
    ) -> None:
        answer = client.get(f"/api/export?form={form}&number=2&language=fr")
        assert answer.mimetype == media
        assert answer.headers["Content-Disposition"] == f'attachment; filename="{name}"'
        assert "Ada" in answer.text
        assert answer.text.startswith("\ufeff") == (form == "csv")  # so that "ë" stays one letter
        assert (
            'filename="games.'
            in client.get(f"/api/export?form={form}").headers["Content-Disposition"]
        )
        assert client.get("/api/export?form=exe").status_code == 400

    def test_files_are_written_one_at_a_time(
        self, client: FlaskClient, told: dict[str, Any], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        during: list[tuple[int, str]] = []

        def written_slowly(*args: Any) -> str:
            answer = client.get("/api/export?form=text")
            during.append((answer.status_code, answer.get_json()["error"]))
            return written(*args)

        monkeypatch.setattr("web.views.games.written", written_slowly)
        assert client.get("/api/export?form=text").status_code == 200
        assert during == [(503, "EXPORTING")]
        monkeypatch.undo()
        assert client.get("/api/export?form=text").status_code == 200

    def test_an_export_can_be_taken_in_again(self, client: FlaskClient, told: object) -> None:
        record = json.loads(client.get("/api/export?form=json&number=1").text)["games"][0]["record"]
        kinds = [line["t"] for line in record]
        assert (kinds[:4], kinds[-1]) == (["config", "roll", "action1", "action2"], "end")

    def test_put_aside_and_taken_up(self, client: FlaskClient, stage: Stage, told: object) -> None:
        assert client.post("/api/resume", json={"number": 3}).status_code == 409
        assert client.post("/api/pause", json={}).get_json()["game"] is None
        assert client.post("/api/resume", json={"number": 9}).status_code == 409
        assert client.post("/api/resume", json={"number": "3"}).status_code == 400
        game = client.post("/api/resume", json={"number": 3}).get_json()["game"]
        assert (game["number"], game["phase"], game["turn"]) == (3, "roll", 2)
        assert client.post("/api/pause", json={}).status_code == 200
        assert client.post("/api/pause", json={}).status_code == 409

    def test_names_of_earlier_players_are_offered(self, client: FlaskClient, told: object) -> None:
        page = client.get("/").text
        assert '<option value="&lt;b&gt;Ben&lt;/b&gt;">' in page

    @pytest.mark.logs_errors
    def test_people_can_play_although_no_old_game_can_be_read(
        self, client: FlaskClient, stage: Stage
    ) -> None:
        for file in stage.directory.glob("games.*"):
            file.unlink()
        assert client.get("/").status_code == 200
        assert client.get("/api/games").status_code == 503


class TestTheCoach:
    def test_a_finished_game_has_luck_skill_and_turning_points(
        self, client: FlaskClient, told: object
    ) -> None:
        until = time.monotonic() + PATIENCE_S
        while (coached := client.get("/api/coach?number=1").get_json())["share"] < 1:
            assert time.monotonic() < until
            assert complaints(coached, SCHEMAS["Coached"]) == []
            time.sleep(0.05)
        assert complaints(coached, SCHEMAS["Coached"]) == []
        assert "Ada: −14 points." in coached["scores"]["lines"][0]
        *lines, decided = coached["luck"]["lines"]
        assert [line.split(":")[0] for line in lines] == list(NAMES)
        assert "lead" in decided or "close" in decided
        share = client.get("/api/statistics").get_json()["decided"]
        assert (share["games"], share["luck"] + share["choices"] + share["close"]) == (2, 1)
        assert len(coached["turning"]) == 3
        assert "<b>" not in coached["scores"]["svg"]

    def test_a_running_game_has_its_curves_only(self, client: FlaskClient, told: object) -> None:
        coached = client.get("/api/coach?number=4").get_json()
        assert (coached["share"], coached["luck"], coached["turning"]) == (1, None, [])
        assert client.get("/api/coach?number=9").status_code == 404


class TestStatistics:
    def test_players_and_dice_over_all_games(self, client: FlaskClient, told: object) -> None:
        found = client.get("/api/statistics").get_json()
        assert complaints(found, SCHEMAS["Statistics"]) == []
        assert found["games"] == 2
        assert "<b>" not in found["ratings"]["svg"]
        one = client.get("/api/statistics?variant=big_points").get_json()
        assert one["games"] == 1
        none = client.get("/api/statistics?player=Nobody").get_json()
        assert (none["games"], none["players"], none["names"]) == (0, [], found["names"])
        assert client.get("/api/statistics?variant=other").status_code == 400
        assert client.get("/api/statistics?bots=null").status_code == 400
        assert client.get("/report.svg?number=-1").status_code == 400
        table = client.get("/api/players.csv?player=Ada")
        assert table.mimetype == "text/csv"
        assert table.text.startswith("\ufeff")
        assert "Ada" in table.text
        dice = client.get("/api/dice").get_json()
        assert complaints(dice, SCHEMAS["DiceDrawn"]) == []
        assert not dice["enough"]
        assert dice["lines"][0].startswith("Not enough rolls yet")
