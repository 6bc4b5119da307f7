"""People and their devices: the table's code, who leads, shared tablets, seats handed on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from flask import Flask
from flask.testing import FlaskClient

from companion.service.network import Wifi
from companion.session.session import Session
from companion.tray import CameraState
from tests.session.fakes import Stage
from tests.web.stand_in import a_roll, dice_in_tray
from web import Equipment, create_app
from web.security import SEAT_COOKIE

Sit = Callable[[str], FlaskClient]
Json = dict[str, Any]

HOSTS_ONLY: list[tuple[str, Json]] = [
    ("start", {}),
    ("answer_for", {"seat": 0, "turn": 1, "action": 1, "box": None}),
    ("correct", {"white": [1, 2], "colour": {}}),
    ("roll", {"white": [1, 2], "colour": {}}),
    ("close", {}),
    ("undo", {"moment": ""}),
    ("end", {}),
    ("rematch", {}),
    ("free", {"seat": 0}),
    ("hand", {"seat": 0}),
    ("order", {"seats": [1, 0]}),
    ("settings", {"hints": False}),
    ("preview", {"what": "end"}),
]


def phone(app: Flask, address: str, browser: str = "Phone") -> FlaskClient:
    """A browser elsewhere on the home network that has opened the page."""
    client = app.test_client()
    client.environ_base |= {"REMOTE_ADDR": address, "HTTP_USER_AGENT": browser}
    assert client.get("/").status_code == 200
    return client


@contextmanager
def restarted(stage: Stage) -> Iterator[Session]:
    """The table after its plug was pulled."""
    again = stage.again()
    try:
        yield again.session
    finally:
        again.store.close()


def me(client: FlaskClient) -> Json:
    told: Json = client.get("/api/state").get_json()["me"]
    return told


def post(client: FlaskClient, path: str, **fields: object) -> tuple[int, Json]:
    got = client.post(f"/api/{path}", json=fields)
    return got.status_code, got.get_json()


class TestTheCode:
    def test_a_phone_needs_it_and_the_tables_own_machine_does_not(
        self, app: Flask, client: FlaskClient
    ) -> None:
        ada = phone(app, "192.168.1.20")
        assert me(ada)["needs_code"]
        status, told = post(ada, "join", name="Ada")
        assert (status, told["error"]) == (403, "BAD_CODE")
        assert "table view" in told["message"]
        assert post(ada, "join", name="Ada", code=" qwx7 ")[0] == 200
        assert not me(ada)["needs_code"]
        assert not me(client)["needs_code"]
        assert post(client, "join", name="Ben")[0] == 200

    def test_only_the_table_view_and_the_host_receive_it(self, app: Flask) -> None:
        ada, ben = phone(app, "192.168.1.20"), phone(app, "192.168.1.21")
        post(ada, "join", name="Ada", code="QWX7")
        assert me(ada)["door"] == {"code": "QWX7", "pin": "471147", "wifi": None}
        assert me(ben)["door"] is None
        assert "471147" not in ben.get("/api/state").text
        shown = ben.get("/api/state?view=table")
        assert shown.get_json()["me"]["door"] is None
        assert "471147" not in shown.text

    def test_nobody_finds_it_by_trying(self, app: Flask) -> None:
        mallory = phone(app, "192.168.1.66")
        codes = [post(mallory, "join", name="M", code=f"AAA{n}")[0] for n in range(12)]
        assert codes == [403] * 10 + [429] * 2
        assert post(mallory, "join", name="M", code="QWX7")[0] == 429
        assert post(phone(app, "192.168.1.20"), "join", name="Ada", code="QWX7")[0] == 200


class TestTheWifi:
    def test_the_table_view_receives_it_with_a_code_of_its_own(self, stage: Stage) -> None:
        app = create_app(stage.session, wifi=lambda: Wifi("Dice; table", "wpa secret"))
        shown = app.test_client().get("/api/state?view=table")
        assert shown.get_json()["me"]["door"]["wifi"] == "Dice; table"
        assert "wpa secret" not in shown.text
        code = app.test_client().get("/wifi.svg")
        assert (code.status_code, code.mimetype) == (200, "image/svg+xml")

    def test_a_table_without_a_code_shows_none(self, client: FlaskClient) -> None:
        assert client.get("/api/state?view=table").get_json()["me"]["door"]["wifi"] is None
        assert client.get("/wifi.svg").status_code == 404


class TestTheHost:
    @pytest.mark.parametrize(("path", "fields"), HOSTS_ONLY)
    def test_only_the_first_device_leads(
        self, sit: Sit, stage: Stage, path: str, fields: Json
    ) -> None:
        ada, ben = sit("Ada"), sit("Ben")
        assert (me(ada)["host"], me(ben)["host"]) == (True, False)
        revision = stage.session.view().table.revision
        status, told = post(ben, path, **fields)
        assert (status, told["error"]) == (403, "NOT_HOST")
        assert stage.session.view().table.revision == revision
        assert post(ada, path, **fields)[1].get("error") != "NOT_HOST"

    def test_the_pin_makes_another_device_the_host(self, sit: Sit) -> None:
        ada, ben = sit("Ada"), sit("Ben")
        assert post(ben, "host", pin="0000")[1]["error"] == "BAD_PIN"
        assert post(ben, "host")[0] == 403
        status, state = post(ben, "host", pin="471147")
        assert (status, state["me"]["host"]) == (200, True)
        assert post(ben, "start")[0] == 200
        assert me(ada)["host"]

    def test_trying_pins_ends_soon(self, app: Flask, sit: Sit) -> None:
        sit("Ada")
        mallory = phone(app, "192.168.1.66")
        tried = [post(mallory, "host", pin=f"{n:04}")[0] for n in range(11)]
        assert tried[-2:] == [403, 429]

    def test_a_program_on_the_tables_machine_leads_and_one_elsewhere_does_not(
        self, app: Flask, sit: Sit
    ) -> None:
        sit("Ada")
        assert post(app.test_client(), "start")[0] == 200
        afar = app.test_client()
        afar.environ_base |= {"REMOTE_ADDR": "192.168.1.99"}
        assert post(afar, "end")[1]["error"] == "NOT_HOST"

    def test_the_first_host_sits_at_the_machine_or_holds_the_pin(
        self, app: Flask, sit: Sit
    ) -> None:
        guest, owner = phone(app, "192.168.1.5"), phone(app, "192.168.1.6")
        assert not me(guest)["host"]
        assert post(guest, "host")[0] == 403
        assert post(guest, "host", pin="0000")[1]["error"] == "BAD_PIN"
        assert post(owner, "host", pin="471147")[1]["me"]["host"]
        assert not me(sit("Ada"))["host"]

    def test_a_browser_at_the_machine_becomes_host_while_there_is_none(
        self, client: FlaskClient, sit: Sit
    ) -> None:
        client.get("/")
        assert post(client, "host")[1]["me"]["host"]
        assert not me(sit("Ada"))["host"]

    def test_the_host_stays_the_host_after_a_restart(self, sit: Sit, stage: Stage) -> None:
        ada = sit("Ada")
        cookie = ada.get_cookie("dice_companion_browser")
        assert cookie is not None
        with restarted(stage) as session:
            assert session.is_host(cookie.value)
            assert not session.is_host("0" * 32)

    def test_without_a_camera_players_enter_the_dice(self, stage: Stage) -> None:
        app = create_app(stage.session, equipment=lambda: Equipment(CameraState.NONE, "none"))
        ada, ben = app.test_client(), app.test_client()
        post(ada, "join", name="Ada")
        post(ben, "join", name="Ben")
        post(ada, "start")
        colour = {"red": 1, "yellow": 2, "green": 3, "blue": 4}
        assert post(phone(app, "192.168.1.9"), "roll", white=[1, 2], colour=colour)[0] == 403
        assert post(ben, "roll", white=[1, 2], colour=colour)[0] == 200


class TestASharedTablet:
    def test_it_holds_several_seats_and_answers_for_each(
        self, client: FlaskClient, stage: Stage, sit: Sit
    ) -> None:
        client.get("/")
        post(client, "join", name="Ada")
        status, state = post(client, "join", name="Grandma", another=True)
        assert (status, state["me"]["seats"]) == (200, [0, 1])
        sit("Cleo")
        post(client, "start", first=0)
        stage.session.see(dice_in_tray(a_roll(3, 4)))
        post(client, "press")
        given = {"turn": 1, "action": 1, "done": True}
        assert post(client, "answer", seat=1, box="Y7", key="a", **given)[0] == 200
        assert post(client, "answer", seat=0, box="R7", key="b", **given)[0] == 200
        assert post(client, "answer", seat=2, box="R7", key="c", **given)[0] == 403
        assert [answer is not None for answer in stage.state.answers] == [True, True, False]

    def test_one_of_them_can_leave(self, client: FlaskClient) -> None:
        post(client, "join", name="Ada")
        post(client, "join", name="Grandma", another=True)
        assert post(client, "leave", seat=0)[1]["me"]["seats"] == [1]
        assert me(client)["seats"] == [1]
        assert post(client, "leave", seat=0)[0] == 403
        assert post(client, "leave", seat=1)[1]["me"]["seats"] == []
        assert client.get_cookie(SEAT_COOKIE) is None


class TestASeatHandedOn:
    def test_another_device_takes_it_and_the_old_one_is_out(
        self, app: Flask, sit: Sit, stage: Stage
    ) -> None:
        ada, ben = sit("Ada"), sit("Ben")
        tablet = phone(app, "192.168.1.30", "Tablet")
        assert post(tablet, "claim", seat=1, code="QWX7")[1]["error"] == "NOT_OFFERED"
        assert post(ada, "hand", seat=1)[1]["seats"][1]["offered"]
        assert post(tablet, "claim", seat=1)[1]["error"] == "BAD_CODE"
        status, state = post(tablet, "claim", seat=1, code="QWX7")
        assert (status, state["me"]["seats"]) == (200, [1])
        assert not state["seats"][1]["offered"]
        assert me(ben)["seats"] == []
        assert post(ben, "claim", seat=1)[1]["error"] == "NOT_OFFERED"
        with restarted(stage) as session:
            assert session.view().table.name(1) == "Ben"
            cookie = tablet.get_cookie(SEAT_COOKIE)
            assert cookie is not None
            assert session.seats_of((cookie.value,)) == (1,)

    def test_an_offer_runs_out(self, sit: Sit, stage: Stage) -> None:
        ada, ben = sit("Ada"), sit("Ben")
        post(ada, "hand", seat=1)
        stage.time.pass_s(301)
        assert post(ben, "claim", seat=1)[1]["error"] == "NOT_OFFERED"
        assert post(ada, "hand", seat=4)[1]["error"] == "NO_SUCH_SEAT"

    def test_looks_give_no_seat_back(self, app: Flask) -> None:
        post(phone(app, "192.168.1.20", "A phone"), "join", name="Ada", code="QWX7")
        alike = phone(app, "192.168.1.20", "A phone")
        assert post(alike, "claim", seat=0)[1]["error"] == "BAD_CODE"
        assert post(alike, "claim", seat=0, code="QWX7")[1]["error"] == "NOT_OFFERED"


class TestTheTable:
    def test_the_order_of_play_is_set_and_a_rematch_goes_on_in_it(
        self, sit: Sit, stage: Stage
    ) -> None:
        ada = sit("Ada")
        sit("Ben")
        sit("Cleo")
        assert post(ada, "order", seats=[0, 1])[1]["error"] == "BAD_ORDER"
        assert post(ada, "order", seats=["0"])[0] == 400
        status, state = post(ada, "order", seats=[2, 0, 1])
        assert (status, [s["name"] for s in state["seats"]]) == (200, ["Cleo", "Ada", "Ben"])
        post(ada, "start", first=0)
        assert stage.game.names == ("Cleo", "Ada", "Ben")
        post(ada, "end")
        assert post(ada, "rematch")[1]["game"]["active"] == 1

    def test_the_table_speaks_as_the_host_likes(self, sit: Sit, stage: Stage) -> None:
        ada = sit("Ada")
        wanted = {"language": "de", "say": "sums", "volume": 60, "words_per_minute": 140}
        table = post(ada, "settings", **wanted)[1]["table"]
        assert {name: table[name] for name in wanted} == wanted
        assert stage.session.phrases.language == "de"
        for wrong in ({"volume": 300}, {"volume": "loud"}, {"say": ""}, {"language": "nl"}):
            status, told = post(ada, "settings", **wrong)
            assert (status, told["error"]) == (400, "BAD_REQUEST")
        assert stage.session.speaking.volume == 60

    def test_settings_are_kept(self, sit: Sit, stage: Stage) -> None:
        ada = sit("Ada")
        assert post(ada, "settings", hints="no")[0] == 400
        assert post(ada, "settings", hints=False)[1]["table"]["hints"] is False
        revision = stage.session.view().table.revision
        post(ada, "settings", hints=False)
        assert stage.session.view().table.revision == revision
        with restarted(stage) as session:
            settings = session.view().table.settings
            assert (settings.hints, settings.sound) == (False, True)


class TestForesight:
    @pytest.fixture
    def ada(self, sit: Sit, stage: Stage) -> FlaskClient:
        ada = sit("Ada")
        sit("Ben")
        post(ada, "start", first=0)
        stage.session.see(dice_in_tray(a_roll(3, 4)))
        post(ada, "press")
        return ada

    def test_a_preview_changes_nothing(self, ada: FlaskClient, stage: Stage) -> None:
        stage.answer(0, "R7")
        before = stage.session.view()
        close = post(ada, "preview", what="close")[1]["lines"]
        assert close == [
            "Turn 1: action 2 is open, Ada can answer.",
            "Ada crosses red 7.",
            "Ada’s total goes from 0 to 1.",
        ]
        right = {"white": [3, 5], "colour": {"red": 3, "yellow": 3, "green": 6, "blue": 3}}
        assert post(ada, "preview", what="correct", **right)[1]["lines"] == [
            "White 7 becomes 8.",
            "The green die: 3 becomes 6.",
            "Ada answers again.",
        ]
        assert post(ada, "preview", what="undo")[1]["lines"] == [
            "The roll is taken back (white 7).",
            "Turn 1: Ada throws.",
        ]
        assert post(ada, "preview", what="end")[1]["lines"] == [
            "The game is over.",
            "It counts for nobody. A saved game can be finished another day.",
        ]
        assert stage.session.view() == before

    def test_a_preview_equals_the_step_that_follows(self, ada: FlaskClient, stage: Stage) -> None:
        stage.answer(0, "R7")
        stage.answer(1, None)
        stage.answer(0, None)
        lines = post(ada, "preview", what="undo")[1]["lines"]
        assert lines == ["Turn 1: action 2 is open, Ada can answer."]
        post(ada, "undo", moment=post(ada, "preview", what="undo")[1]["moment"])
        assert (stage.state.turn, stage.state.phase.value) == (1, "action2")
        lines = post(ada, "preview", what="undo")[1]["lines"]
        assert lines == ["Turn 1: action 1 is open, everybody can answer.", "Ben answers again."]
        post(ada, "undo", moment=post(ada, "preview", what="undo")[1]["moment"])
        assert stage.state.crosses[0] == 0
        assert stage.state.waiting_for == (1,)  # Ada's cross is an answer again

    @pytest.mark.parametrize(
        ("what", "then"),
        [
            ("close", lambda stage: [stage.answer(seat, None) for seat in (0, 1)]),
            ("undo", lambda stage: [stage.answer(seat, None) for seat in (0, 1)]),
            ("undo", lambda stage: [stage.session.undo(), stage.roll(6, 6)]),
            ("correct", lambda stage: [stage.correct(1, 1)]),
            ("end", lambda stage: [stage.session.end(), stage.session.rematch()]),
        ],
    )
    def test_a_step_on_an_outdated_state_is_refused(
        self, ada: FlaskClient, stage: Stage, what: str, then: Callable[[Stage], object]
    ) -> None:
        right = {"white": [3, 5], "colour": {"red": 3, "yellow": 3, "green": 3, "blue": 3}}
        roll = right if what == "correct" else {}
        moment = post(ada, "preview", what=what, **roll)[1]["moment"]
        assert post(ada, "preview", what=what, **roll)[1]["moment"] == moment
        then(stage)
        before = stage.session.view()
        status, told = post(ada, what, moment=moment, **roll)
        assert (status, told["error"]) == (409, "GONE_ON")
        assert stage.session.view().table == before.table
        now = post(ada, "preview", what=what, **roll)[1].get("moment", "")
        assert now != moment
        assert post(ada, what, moment=now, **roll)[0] == 200
        assert stage.session.view().table != before.table

    def test_an_answer_alone_holds_no_step_up(self, ada: FlaskClient, stage: Stage) -> None:
        moment = post(ada, "preview", what="close")[1]["moment"]
        stage.answer(1, "R7", done=False)
        assert post(ada, "close", moment=moment)[0] == 200

    def test_the_host_cannot_overwrite_a_players_own_answer(
        self, ada: FlaskClient, stage: Stage
    ) -> None:
        stage.answer(1, "R7", done=False)
        status, told = post(ada, "answer_for", seat=1, turn=1, action=1, box=None)
        assert (status, told["error"]) == (409, "HAS_ANSWERED")
        assert told["message"] == "Ben has answered in the meantime."

    def test_an_answer_for_a_player_who_has_left_does_not_mean_the_host(
        self, ada: FlaskClient, stage: Stage
    ) -> None:
        stage.session.let_go(1)
        status, told = post(ada, "answer_for", seat=1, turn=1, action=1, box=None)
        assert (status, told["error"]) == (409, "GONE_ON")

    def test_nonsense_is_refused(self, ada: FlaskClient, client: FlaskClient) -> None:
        assert post(ada, "preview", what="tea")[0] == 400
        assert post(ada, "preview", what="correct", white=[9, 9], colour={})[0] == 409
        post(ada, "end")
        assert post(ada, "preview", what="close")[1]["error"] == "NO_ACTION"
