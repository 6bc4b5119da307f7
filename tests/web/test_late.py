"""What was meant for another roll, turn or game is not taken for this one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from flask.testing import FlaskClient

from companion.engine import Phase
from companion.tray import TrayStatus, TrayView
from tests.session.fakes import Stage
from tests.web.browsing import OpenPage, open_part, put, ready, wait_until
from tests.web.conftest import Sit
from tests.web.stand_in import a_roll, dice_in_tray
from tests.web.test_calls import answer

if TYPE_CHECKING:
    from playwright.sync_api import Request


class TestLate:
    """What was meant for another roll, turn or game is not taken for this one."""

    def test_an_answer_to_a_roll_that_was_undone(self, ada: FlaskClient, stage: Stage) -> None:
        stage.session.start()
        stage.roll(3, 4)
        rolled = ada.get("/api/state").get_json()["game"]["rolled"]
        stage.session.undo()
        stage.roll(1, 6)
        status, told = answer(ada, rolled=rolled, key="late")
        assert (status, told["error"]) == (409, "WRONG_PHASE")
        assert told["state"]["game"]["players"][0]["answer"] is None
        sent = {"turn": 1, "action": 1, "rolled": rolled}
        assert ada.post("/api/withdraw", json=sent).status_code == 409
        assert ada.post("/api/answer_for", json=sent | {"seat": 0, "box": "R7"}).status_code == 409
        now = told["state"]["game"]["rolled"]
        assert answer(ada, rolled=now)[0] == 200

    def test_a_pass_on_dice_that_were_corrected(self, ada: FlaskClient, stage: Stage) -> None:
        stage.session.start()
        stage.roll(3, 4)
        stage.answer(0, None)
        pass_on_it = {"turn": 1, "action": 2, "box": None, "done": True}
        rolled = ada.get("/api/state").get_json()["game"]["rolled"]
        stage.correct(3, 4, red=6)
        late = ada.post("/api/answer", json=pass_on_it | {"rolled": rolled})
        assert (late.status_code, late.get_json()["error"]) == (409, "WRONG_PHASE")
        assert late.get_json()["message"] == "The dice have changed since. Please answer again."
        assert stage.state.misses == (0,)
        now = late.get_json()["state"]["game"]["rolled"]
        assert ada.post("/api/answer", json=pass_on_it | {"rolled": now}).status_code == 200
        assert stage.state.misses == (1,)

    def test_a_pass_on_dice_whose_correction_was_undone(
        self, ada: FlaskClient, stage: Stage
    ) -> None:
        stage.session.start()
        stage.roll(3, 4)
        stage.correct(3, 5)
        rolled = ada.get("/api/state").get_json()["game"]["rolled"]
        stage.session.undo()
        assert answer(ada, rolled=rolled, box=None)[0] == 409
        assert answer(ada, rolled=ada.get("/api/state").get_json()["game"]["rolled"])[0] == 200

    def test_an_answer_of_the_game_before(self, ada: FlaskClient, stage: Stage) -> None:
        stage.session.start()
        stage.roll(3, 4)
        rolled = ada.get("/api/state").get_json()["game"]["rolled"]
        stage.session.end()
        stage.session.start()
        stage.roll(3, 4)
        assert answer(ada, rolled=rolled)[0] == 409

    def test_an_answer_received_in_time_is_not_late(self, ada: FlaskClient, stage: Stage) -> None:
        stage.session.start()
        stage.roll(3, 4)
        rolled = ada.get("/api/state").get_json()["game"]["rolled"]
        assert answer(ada, rolled=rolled, key="once")[0] == 200
        stage.session.close_action()
        stage.session.close_action()
        assert answer(ada, rolled=rolled, key="once")[0] == 200

    @pytest.mark.usefixtures("in_action1")
    def test_an_answer_that_a_later_one_of_its_page_has_overtaken(
        self, ada: FlaskClient, ben: FlaskClient, stage: Stage
    ) -> None:
        one, two = "a1" * 12, "b2" * 12

        def boxes() -> list[str | None]:
            return [each and stage.state.plan.tokens[each] for each in stage.state.answers]

        assert answer(ada, key=f"{one}-10", box="Y7")[0] == 200
        assert answer(ada, key=f"{one}-9", box="R7", done=False)[1]["error"] == "GONE_ON"
        assert boxes() == ["Y7", None]
        assert answer(ada, key=f"{one}-10", box="Y7")[0] == 200  # a retry
        assert answer(ben, key=f"{one}-9", done=False)[0] == 200
        assert answer(ada, key=f"{two}-1", box="G7")[0] == 200
        assert boxes() == ["G7", "R7"]
        back = {"turn": 1, "action": 1, "key": f"{two}-3"}
        assert ada.post("/api/withdraw", json=back).status_code == 200
        assert answer(ada, key=f"{two}-2")[1]["error"] == "GONE_ON"
        assert boxes() == [None, "R7"]

    def test_dice_entered_for_an_earlier_turn(self, ada: FlaskClient, stage: Stage) -> None:
        stage.session.see(TrayView(TrayStatus.NONE))
        stage.session.start()
        game = ada.get("/api/state").get_json()["game"]
        sent = {"white": [6, 6], "colour": dict.fromkeys(game["dice"], 6)}
        sent |= {"game": game["number"], "turn": game["turn"]}
        assert ada.post("/api/roll", json=sent).status_code == 200
        stage.session.close_action()
        stage.session.close_action()
        got = ada.post("/api/roll", json=sent)
        assert (got.status_code, got.get_json()["error"]) == (409, "GONE_ON")
        assert got.get_json()["state"]["game"]["phase"] == "roll"

    def test_only_seated_players_can_make_the_table_speak(
        self, ada: FlaskClient, client: FlaskClient
    ) -> None:
        got = client.post("/api/say", json={}, environ_base={"REMOTE_ADDR": "192.168.1.77"})
        assert (got.status_code, got.get_json()["error"]) == (403, "NOT_HOST")
        assert ada.post("/api/say", json={}).status_code == 200


class TestAfterAnOutage:
    """What a page has given up still arrives once the line is back."""

    def test_a_press_for_a_turn_that_is_over(self, ada: FlaskClient, stage: Stage) -> None:
        stage.session.start()
        stage.session.see(dice_in_tray(a_roll(3, 4)))
        shown = ada.get("/api/state").get_json()["game"]
        stage.session.press()
        stage.answer(0, None)
        stage.answer(0, None)
        stage.session.see(dice_in_tray(a_roll(1, 6)))
        late = {"game": shown["number"], "turn": shown["turn"]}
        told = ada.post("/api/press", json=late)
        assert (told.status_code, told.get_json()["error"]) == (409, "GONE_ON")
        assert stage.state.phase is Phase.ROLL
        assert ada.post("/api/press", json=late | {"turn": shown["turn"] + 1}).status_code == 200
        assert stage.state.phase is Phase.ACTION1

    def test_a_seat_that_was_to_be_freed_in_the_lobby(
        self, ada: FlaskClient, sit: Sit, client: FlaskClient, stage: Stage
    ) -> None:
        sit("Ben")
        late = {"seat": 1, "name": "Ben", "game": None}
        stage.session.start()
        assert ada.post("/api/free", json=late).get_json()["error"] == "GONE_ON"
        assert ada.post("/api/free", json=late | {"name": "Cleo", "game": 1}).status_code == 409
        assert stage.state.gone == frozenset()
        assert ada.post("/api/free", json=late | {"game": 1}).status_code == 200
        assert stage.state.gone == {1}

    def test_a_player_who_was_to_leave_and_played_on(
        self, ada: FlaskClient, sit: Sit, stage: Stage
    ) -> None:
        ben, sender = sit("Ben"), "ab" * 12
        stage.session.start("base", 0)
        stage.roll(3, 4)
        assert answer(ben, key=f"{sender}-8")[0] == 200
        late = ben.post("/api/leave", json={"from_game": True, "key": f"{sender}-7"})
        assert late.get_json()["error"] == "GONE_ON"
        assert stage.state.gone == frozenset()
        left = ben.post("/api/leave", json={"from_game": True, "key": f"{sender}-9"})
        assert left.status_code == 200
        assert stage.state.gone == {1}

    def test_the_pages_say_what_their_steps_are_meant_for(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        token = put(stage, "roll")[0]
        sent: dict[str, Any] = {}

        def note(request: Request) -> None:
            if request.method == "POST":
                sent[request.url.rpartition("/")[2]] = request.post_data_json

        phone, host = open_page("/", token=token), open_page("/host")
        for page in (phone, host):
            page.on("request", note)
        ready(phone).locator("#confirm").click()
        wait_until(phone, lambda: "press" in sent)
        assert sent["press"] == {"game": 1, "turn": 4}
        open_part(host, "Players")
        host.get_by_role("button", name="Free the seat of Cleo").click()
        host.locator("#ask-yes:not([disabled])").click()
        wait_until(host, lambda: "free" in sent)
        assert sent["free"] == {"seat": 2, "name": "Cleo", "game": 1}
        phone.locator("#menu").click()
        phone.locator("#menu-leave").click()
        phone.locator("#menu-go:not([disabled])").click()
        wait_until(phone, lambda: "leave" in sent)
        assert {**sent["leave"], "key": ""} == {"seat": 0, "from_game": True, "key": ""}
        assert sent["leave"]["key"]
