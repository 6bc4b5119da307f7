"""The API's calls about seats and the game: what they do, and what they turn away."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from flask import Flask
from flask.testing import FlaskClient

from companion.errors import StoreError
from companion.eventlog.record import Record
from companion.tray import CameraState, TrayStatus, TrayView
from tests.session.fakes import Stage
from tests.web.stand_in import StandInTray
from web import Equipment, create_app
from web.security import SEAT_COOKIE

Sit = Callable[[str], FlaskClient]


def answer(client: FlaskClient, **fields: object) -> tuple[int, dict]:  # type: ignore[type-arg]
    sent = {"turn": 1, "action": 1, "box": "R7", "done": True, "key": "k"} | fields
    told = client.post("/api/answer", json=sent)
    return told.status_code, told.get_json()


def undo(client: FlaskClient) -> dict:  # type: ignore[type-arg]
    """Preview an undo and take it."""
    moment = client.post("/api/preview", json={"what": "undo"}).get_json().get("moment", "")
    return client.post("/api/undo", json={"moment": moment}).get_json()


class TestSeats:
    def test_a_seat_is_proved_by_a_cookie_scripts_cannot_read(self, client: FlaskClient) -> None:
        got = client.post("/api/join", json={"name": "  Zoë 🎲 "})
        assert got.get_json()["me"]["seat"] == 0
        assert got.get_json()["seats"] == [
            {
                "seat": 0,
                "name": "Zoë 🎲",
                "online": False,
                "offered": False,
                "waits": False,
                "bot": None,
            }
        ]
        cookie = client.get_cookie(SEAT_COOKIE)
        assert cookie is not None
        assert cookie.http_only
        assert cookie.same_site == "Lax"
        assert len(cookie.value) == 32
        assert client.get("/api/state").get_json()["me"]["seat"] == 0
        assert cookie.value not in client.get("/api/state").text

    def test_a_bot_is_never_away(self, client: FlaskClient) -> None:
        client.post("/api/join", json={"name": "Ada"})
        told = client.post("/api/bot", json={"strength": "easy"}).get_json()
        assert [(seat["online"], seat["bot"]) for seat in told["seats"]] == [
            (False, None),
            (True, "easy"),
        ]

    @pytest.mark.parametrize(
        ("name", "status", "code"),
        [
            ("", 422, "NAME_EMPTY"),
            ("x" * 500, 422, "NAME_TOO_LONG"),
            ("ada", 409, "NAME_TAKEN"),
            (7, 400, "BAD_REQUEST"),
            (None, 400, "BAD_REQUEST"),
            (["Ada"], 400, "BAD_REQUEST"),
        ],
    )
    def test_names_that_are_declined(
        self, ada: FlaskClient, client: FlaskClient, name: object, status: int, code: str
    ) -> None:
        got = client.post("/api/join", json={"name": name})
        assert (got.status_code, got.get_json()["error"]) == (status, code)
        assert got.get_json()["message"].strip()
        assert client.get_cookie(SEAT_COOKIE) is None

    def test_markup_in_a_name_stays_text(self, client: FlaskClient) -> None:
        client.post("/api/join", json={"name": "<script>x</script>"})
        got = client.get("/api/state")
        assert got.mimetype == "application/json"
        assert got.get_json()["seats"][0]["name"] == "<script>x</script>"
        assert "<script>x" not in client.get("/").text

    def test_half_a_character_is_left_out(self, client: FlaskClient) -> None:
        sent = b'{"name": "A\\ud83dda"}'
        got = client.post("/api/join", data=sent, content_type="application/json")
        assert got.status_code == 200
        assert got.get_json()["seats"][0]["name"] == "A da"

    def test_a_browser_has_one_seat(self, ada: FlaskClient) -> None:
        got = ada.post("/api/join", json={"name": "Zoe"})
        assert (got.status_code, got.get_json()["error"]) == (409, "ALREADY_SEATED")

    def test_the_sixth_is_refused_with_the_reason(self, sit: Sit, client: FlaskClient) -> None:
        for name in ("Ada", "Ben", "Cleo", "Dan", "Eve"):
            sit(name)
        got = client.post("/api/join", json={"name": "Flo"})
        assert (got.status_code, got.get_json()["ruling"]) == (409, "E40")

    def test_a_forged_cookie_proves_nothing(self, ada: FlaskClient, client: FlaskClient) -> None:
        client.set_cookie(SEAT_COOKIE, "0" * 32)
        assert client.get("/api/state").get_json()["me"]["seat"] is None

    def test_leaving_frees_the_seat(self, ada: FlaskClient) -> None:
        got = ada.post("/api/leave", json={})
        assert got.get_json()["seats"] == []
        assert ada.get_cookie(SEAT_COOKIE) is None
        assert ada.post("/api/leave", json={}).status_code == 403

    @pytest.mark.usefixtures("in_action1")
    def test_nobody_leaves_in_a_game(self, ada: FlaskClient) -> None:
        got = ada.post("/api/leave", json={})
        assert (got.status_code, got.get_json()["error"]) == (409, "SEAT_IN_GAME")

    @pytest.mark.usefixtures("in_action1")
    def test_a_player_can_leave_the_game(self, ben: FlaskClient, stage: Stage) -> None:
        got = ben.post("/api/leave", json={"from_game": True})
        assert got.status_code == 200
        assert got.get_json()["me"]["seats"] == []
        assert [player["gone"] for player in got.get_json()["game"]["players"]] == [False, True]
        assert ben.post("/api/leave", json={"from_game": 1}).status_code == 400
        assert ben.post("/api/leave", json={"from_game": True}).status_code == 403


class TestPlaying:
    def test_start_needs_people_and_a_known_sheet(self, client: FlaskClient, sit: Sit) -> None:
        assert client.post("/api/start", json={}).get_json()["error"] == "NO_PLAYERS"
        sit("Ada")
        assert client.post("/api/start", json={"variant": "x"}).status_code == 422
        assert client.post("/api/start", json={"first": 3}).status_code == 409
        assert client.post("/api/start", json={"first": "0"}).status_code == 400
        started = client.post("/api/start", json={"first": None}).get_json()
        assert started["game"]["phase"] == "roll"
        assert client.post("/api/start", json={}).status_code == 409

    def test_house_rules_are_chosen_at_the_start_and_shown(self, ada: FlaskClient) -> None:
        assert ada.post("/api/start", json={"house": "tea"}).status_code == 400
        assert ada.post("/api/start", json={"house": [1]}).status_code == 400
        assert ada.post("/api/start", json={"house": ["tea"]}).status_code == 422
        got = ada.post("/api/start", json={"house": ["bonus_next_turn"]}).get_json()
        assert got["game"]["house"] == [{"rule": "bonus_next_turn", "replaces": ["E26"]}]
        assert ada.get("/rules").text.count("Not in this game.") == 1

    @pytest.mark.usefixtures("in_action1")
    def test_a_mark_counts_once_everybody_has_answered(
        self, ada: FlaskClient, ben: FlaskClient
    ) -> None:
        status, state = answer(ada, box="R7")
        assert status == 200
        assert state["game"]["players"][0]["answer"] == {"box": "R7", "done": True}
        assert state["game"]["waiting_for"] == [1]
        status, state = answer(ben, box=None, key="k2")
        assert state["game"]["phase"] == "action2"
        assert state["game"]["players"][0]["sheet"]["R"] == ["R7"]

    @pytest.mark.usefixtures("in_action1")
    def test_taking_an_answer_back(self, ada: FlaskClient) -> None:
        answer(ada, done=False)
        got = ada.post("/api/withdraw", json={"turn": 1, "action": 1, "key": "w"})
        assert got.get_json()["game"]["players"][0]["answer"] is None

    @pytest.mark.usefixtures("in_action1")
    def test_somebody_elses_seat_is_refused(
        self, ada: FlaskClient, client: FlaskClient, stage: Stage
    ) -> None:
        before = stage.session.view().table.revision
        assert answer(ada, seat=1)[0] == 403
        assert answer(ada, seat=1)[1]["error"] == "NOT_YOUR_SEAT"
        assert answer(client)[1]["error"] == "NOT_SEATED"
        assert answer(client, seat=0)[0] == 403
        assert stage.session.view().table.revision == before
        assert answer(ada, seat=0)[0] == 200

    @pytest.mark.usefixtures("in_action1")
    def test_a_late_mark_is_stale_and_brings_the_sheet_along(
        self, ada: FlaskClient, ben: FlaskClient
    ) -> None:
        answer(ada, box=None, key="a")
        answer(ben, box=None, key="b")
        status, told = answer(ben, box="R7", key="c")
        assert (status, told["error"], told["ruling"]) == (409, "WRONG_PHASE", "E9")
        assert told["state"]["game"]["phase"] == "action2"
        assert told["state"]["me"]["seat"] == 1
        status, told = answer(ada, turn=7, key="d")
        assert (status, told["error"]) == (409, "WRONG_PHASE")

    @pytest.mark.usefixtures("in_action1")
    def test_an_illegal_mark_is_refused_with_its_reason(self, ada: FlaskClient) -> None:
        status, told = answer(ada, box="R8")
        assert (status, told["error"], told["ruling"]) == (409, "WRONG_SUM", "E2")
        assert told["message"] == "The white dice make 7, not 8."

    @pytest.mark.usefixtures("in_action1")
    def test_a_retry_with_its_key_counts_once(self, ada: FlaskClient, stage: Stage) -> None:
        answer(ada, key="same")
        revision = stage.session.view().table.revision
        assert answer(ada, key="same")[0] == 200
        assert stage.session.view().table.revision == revision

    @pytest.mark.usefixtures("in_action1")
    @pytest.mark.parametrize(
        "fields",
        [
            {"turn": "1"},
            {"turn": None},
            {"turn": 1.5},
            {"turn": True},
            {"action": None},
            {"box": 7},
            {"box": ["R7", "Y7"]},
            {"box": ""},
            {"box": "R" * 99},
            {"done": "yes"},
            {"done": None},
            {"key": 5},
            {"key": "k" * 65},
            {"seat": "0"},
        ],
    )
    def test_nonsense_in_an_answer(self, ada: FlaskClient, fields: dict[str, object]) -> None:
        status, told = answer(ada, **fields)
        assert (status, told["error"]) == (400, "BAD_REQUEST")
        assert told["message"]

    @pytest.mark.usefixtures("in_action1")
    def test_pressing_in_an_open_action_names_the_missing_players(self, ada: FlaskClient) -> None:
        got = ada.post("/api/press", json={})
        assert got.status_code == 409
        assert got.get_json()["message"] == "Waiting for Ada and Ben."

    def test_throwing(self, client: FlaskClient, tray: StandInTray) -> None:
        assert client.post("/api/throw", json={}).status_code == 200
        assert tray.throws == 1

    @pytest.mark.usefixtures("in_action1")
    def test_nobody_throws_while_marks_are_open(self, ada: FlaskClient, tray: StandInTray) -> None:
        got = ada.post("/api/throw", json={})
        assert (got.status_code, got.get_json()["error"]) == (409, "WRONG_PHASE")
        assert tray.throws == 0

    def test_a_real_camera_throws_nothing(self, stage: Stage) -> None:
        app = create_app(stage.session, equipment=lambda: Equipment(CameraState.OK, "ok"))
        got = app.test_client().post("/api/throw", json={})
        assert (got.status_code, got.get_json()["error"]) == (409, "CANNOT_THROW")

    def test_typed_dice(self, ada: FlaskClient) -> None:
        dice = {"white": [3, 4], "colour": {"red": 1, "yellow": 2, "green": 3, "blue": 4}}
        assert ada.post("/api/roll", json=dice).get_json()["error"] == "NO_GAME"
        ada.post("/api/start", json={})
        got = ada.post("/api/roll", json=dice).get_json()
        assert got["game"]["roll"] == dice
        assert got["game"]["typed"] is True
        assert ada.post("/api/roll", json=dice).status_code == 409

    def test_players_enter_the_dice_while_the_camera_sees_nothing(
        self, ada: FlaskClient, ben: FlaskClient, app: Flask, stage: Stage
    ) -> None:
        dice = {"white": [3, 4], "colour": {"red": 1, "yellow": 2, "green": 3, "blue": 4}}
        ada.post("/api/start", json={})
        assert ben.post("/api/roll", json=dice).status_code == 403
        stage.session.see(TrayView(TrayStatus.DARK))
        guest = app.test_client()
        guest.get("/")
        assert guest.post("/api/roll", json=dice).status_code == 403
        assert ben.post("/api/roll", json=dice).status_code == 200

    @pytest.mark.parametrize(
        ("dice", "status"),
        [
            ({"white": [3], "colour": {}}, 400),
            ({"white": [3, 4, 5], "colour": {}}, 400),
            ({"white": [3, "4"], "colour": {}}, 400),
            ({"white": [True, 4], "colour": {}}, 400),
            ({"white": [3, 4], "colour": {"pink": 2}}, 400),
            ({"white": [3, 4], "colour": {"white": 2}}, 400),
            ({"white": [3, 4]}, 400),
            ({"white": [3, 4], "colour": []}, 400),
            ({"white": [0, 4], "colour": {"red": 1, "yellow": 2, "green": 3, "blue": 4}}, 409),
            ({"white": [3, 4], "colour": {"red": 1}}, 409),
        ],
    )
    def test_dice_that_are_no_roll(
        self, ada: FlaskClient, dice: dict[str, object], status: int
    ) -> None:
        ada.post("/api/start", json={})
        got = ada.post("/api/roll", json=dice)
        assert got.status_code == status
        assert got.get_json()["message"]

    def test_a_whole_number_may_be_written_with_a_point(self, ada: FlaskClient) -> None:
        ada.post("/api/start", json={})
        dice = {"white": [3.0, 4], "colour": {"red": 1, "yellow": 2.0, "green": 3, "blue": 4}}
        assert ada.post("/api/roll", json=dice).get_json()["game"]["roll"]["white"] == [3, 4]
        typed = ada.post("/api/roll", json=dice | {"white": [3.5, 4]})
        assert typed.status_code == 400

    @pytest.mark.usefixtures("in_action1")
    def test_ending_early_and_playing_again(self, ada: FlaskClient) -> None:
        assert ada.post("/api/rematch", json={}).status_code == 409
        over = ada.post("/api/end", json={}).get_json()["game"]
        assert (over["over"], over["end"]) == (True, "ended_early")
        assert over["end_text"]
        again = ada.post("/api/rematch", json={}).get_json()["game"]
        assert (again["number"], again["first"]) == (2, 1)

    @pytest.mark.usefixtures("in_action1")
    def test_a_misread_roll_is_put_right(self, ada: FlaskClient) -> None:
        before = ada.get("/api/state").get_json()["game"]["roll"]
        dice = {"white": [6, 6], "colour": before["colour"]}
        got = ada.post("/api/correct", json=dice).get_json()
        assert got["game"]["sums"]["white"] == 12
        assert "corrected" in got["announcement"]["text"]
        assert ada.post("/api/correct", json={"white": [7, 1], "colour": {}}).status_code == 409

    @pytest.mark.usefixtures("in_action1")
    def test_the_table_goes_on_without_the_missing_and_back(self, ada: FlaskClient) -> None:
        assert ada.post("/api/close", json={}).get_json()["game"]["phase"] == "action2"
        back = undo(ada)["game"]
        assert back["phase"] == "action1"
        assert back["waiting_for"]
        undo(ada)
        preview = ada.post("/api/preview", json={"what": "undo"})
        assert preview.get_json()["error"] == "NOTHING_TO_UNDO"
        assert ada.post("/api/undo", json={}).status_code == 400
        assert ada.post("/api/close", json={}).get_json()["error"] == "NO_ACTION"

    @pytest.mark.usefixtures("in_action1")
    def test_the_host_answers_for_somebody_whose_phone_died(
        self, client: FlaskClient, stage: Stage
    ) -> None:
        game = client.get("/api/state").get_json()["game"]
        seat, turn = game["waiting_for"][0], game["turn"]
        asked = {"seat": seat, "turn": turn, "action": 1, "box": "P5"}
        refused = client.post("/api/answer_for", json=asked)
        assert (refused.status_code, refused.get_json()["error"]) == (422, "BAD_TOKEN")
        got = client.post("/api/answer_for", json={**asked, "box": None}).get_json()
        assert seat not in got["game"]["waiting_for"]
        answers = [r.data for r in stage.store.load() if r.kind == "answered"]
        assert answers[-1]["by"] == "host"

    def test_an_abandoned_seat_can_be_freed_and_the_game_goes_on(
        self, ada: FlaskClient, sit: Sit, client: FlaskClient
    ) -> None:
        ben = sit("Ben")
        assert ada.post("/api/free", json={"seat": "1"}).status_code == 400
        ada.post("/api/start", json={})
        assert ben.post("/api/leave", json={}).get_json()["error"] == "SEAT_IN_GAME"
        state = client.post("/api/free", json={"seat": 1}).get_json()
        assert [seat["seat"] for seat in state["seats"]] == [0]
        players = [(player["name"], player["gone"]) for player in state["game"]["players"]]
        assert players == [("Ada", False), ("Ben", True)]
        assert state["announcement"]["text"].startswith("Ben leaves the game")

    @pytest.mark.usefixtures("in_action1")
    def test_saying_it_again(self, ada: FlaskClient) -> None:
        before = ada.get("/api/state").get_json()["announcement"]
        again = ada.post("/api/say", json={}).get_json()["announcement"]
        assert again["text"] == before["text"]
        assert again["number"] == before["number"] + 1

    def test_a_number_without_an_end_in_an_unknown_field(self, client: FlaskClient) -> None:
        body = '{"name": "Ada", "more": 1e999}'
        answer = client.post("/api/join", data=body, content_type="application/json")
        assert answer.status_code == 400
        assert answer.get_json()["message"]

    @pytest.mark.parametrize(
        "path",
        [
            f"/report.svg?number={'1' * 4_200}",
            f"/style/{'a' * 3_000}.css",
            f"/style/{'+'.join(['table'] * 2_000)}.css",
        ],
    )
    def test_an_endless_address(self, client: FlaskClient, path: str) -> None:
        assert client.get(path).status_code in (400, 404)

    @pytest.mark.logs_errors
    def test_a_full_disk_is_reported_and_nothing_is_changed(
        self, ada: FlaskClient, stage: Stage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(records: tuple[Record, ...]) -> None:
            raise StoreError("games.sqlite3: disk full")

        monkeypatch.setattr(stage.store, "append", fail)
        got = ada.post("/api/start", json={})
        assert (got.status_code, got.get_json()["error"]) == (503, "NOT_KEPT")
        assert ada.get("/api/state").get_json()["game"] is None
