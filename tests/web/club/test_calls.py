"""The calls of a club's pages: access, what a screen shows, exports, addresses."""

from __future__ import annotations

import json

import pytest
from flask.testing import FlaskClient

from companion.mqtt import topics
from companion.mqtt.topics import Kind
from tests.mqtt.club.build import CLUB, ClubOnDisk, board, table_id, with_players
from tests.web.club.build import NAMES, an_evening, playing, show
from web.security import BROWSER_COOKIE


class TestAccess:
    def test_only_organisers_change_the_evening(self, phone: FlaskClient, club: ClubOnDisk) -> None:
        calls = {
            "players/add": {"name": "Ada"},
            "players/remove": {"name": "Ada"},
            "form": {"system": "swiss", "size": 3},
            "rounds/draw": {"number": 1},
            "rounds/take-back": {"number": 1},
        }
        for path, body in calls.items():
            assert phone.post(f"/api/{path}", json=body).status_code == 403, path
        wrong = phone.post("/api/organiser", json={"pin": "000000"})
        assert wrong.status_code == 403
        assert "where the club was started" in wrong.json["message"]
        assert club.club.view().evening.members == ()
        assert phone.post("/api/organiser", json={"pin": "123456"}).json["me"]["organiser"]
        assert phone.post("/api/players/add", json=calls["players/add"]).status_code == 200
        assert [each.name for each in club.club.view().evening.members] == ["Ada"]

    def test_an_organiser_hosts_a_table_of_the_same_machine_as_well(
        self, phone: FlaskClient
    ) -> None:
        assert phone.post("/api/organiser", json={"pin": "123456"}).status_code == 200
        phone.set_cookie(BROWSER_COOKIE, "0" * 32)  # the table's: cookies know no ports
        assert phone.get("/").status_code == 200
        assert phone.get("/api/state").json["me"]["organiser"]
        cookie = phone.get_cookie(BROWSER_COOKIE)
        assert cookie is not None
        assert cookie.value == "0" * 32

    def test_guessing_the_pin_is_limited(self, phone: FlaskClient) -> None:
        tries = [phone.post("/api/organiser", json={"pin": f"{n}"}).status_code for n in range(12)]
        assert set(tries) == {403, 429}
        assert phone.post("/api/organiser", json={"pin": "123456"}).status_code == 429

    def test_pages_of_other_sites_and_hosts_are_refused(self, phone: FlaskClient) -> None:
        strange = {"Origin": "http://elsewhere.example"}
        assert phone.post("/api/form", json={}, headers=strange).status_code == 403
        assert phone.get("/", headers={"Host": "club.example.com"}).status_code == 400
        answer = phone.get("/")
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        assert "Dice &lt;Club&gt;" in answer.text
        assert "Dice <Club>" not in answer.text

    def test_a_change_that_cannot_be_made_says_why(
        self, phone: FlaskClient, club: ClubOnDisk
    ) -> None:
        phone.post("/api/organiser", json={"pin": "123456"})
        empty = phone.post("/api/players/add", json={"name": " "})
        assert (empty.status_code, empty.json["message"]) == (409, "Please enter a name.")
        early = phone.post("/api/rounds/draw", json={"number": 1}, headers={"Page-Language": "de"})
        assert early.json["message"] == "Für eine Runde braucht es zwei Anwesende."
        assert phone.post("/api/form", json={"system": "x", "size": 9}).status_code == 400

    def test_nobody_leads_a_game_that_was_ended_early(
        self, phone: FlaskClient, club: ClubOnDisk
    ) -> None:
        for end, leads in (None, True), ("locks", True), ("ended_early", False):
            show(club, 1, playing(1, ["Ada", "Ben"], end=end))
            (table,) = phone.get("/api/state").json["tables"]
            assert [each["leads"] for each in table["game"]["players"]] == [False, leads]

    def test_a_table_that_is_cut_off_in_its_game_stays_on_the_screen(
        self, phone: FlaskClient, club: ClubOnDisk
    ) -> None:
        game = playing(2, ["Cem", "Dan"]).game
        last_week = board("Table 2", at="2026-11-17T20:00:00+01:00", game=game)
        for number, shown in ((1, playing(1, ["Ada", "Ben"])), (2, last_week), (3, board("Empty"))):
            show(club, number, shown)
            table = topics.TableTopics(CLUB, table_id(number))
            club.publish(table.of(Kind.STATUS), topics.OFFLINE)
        for step in (
            lambda: None,
            lambda: with_players(club, "Ada", "Zoe"),
            lambda: club.club.draw(1),
        ):
            step()
            (table,) = phone.get("/api/state").json["tables"]
            assert (table["name"], table["online"]) == ("Table 1", False)

    def test_tables_of_one_name_are_told_apart_by_their_address(
        self, phone: FlaskClient, club: ClubOnDisk
    ) -> None:
        with_players(club, *NAMES)
        for number in (1, 2):
            url = f"http://192.168.1.{number}:8000/"
            show(club, number, board("raspberrypi", url=url))
        show(club, 3, board("Window"))
        club.club.draw(1)
        state = phone.get("/api/state").json
        names = ["raspberrypi (192.168.1.1:8000)", "raspberrypi (192.168.1.2:8000)"]
        assert [each["name"] for each in state["tables"]] == [*names, "Window"]
        assert [each["table_name"] for each in state["round"]["groups"]] == names

    def test_an_evening_can_be_taken_away(self, phone: FlaskClient, club: ClubOnDisk) -> None:
        for path in ("/export/2026-11-24.csv", "/export/2026-11-24.json"):  # the page offers them
            assert phone.get(path).status_code == 200
        an_evening(club)
        csv = phone.get("/export/2026-11-24.csv")
        assert csv.mimetype == "text/csv"
        assert csv.text.startswith("\ufeffround,")
        assert csv.text.count("\r\n") == 1 + 4
        told = json.loads(phone.get("/export/2026-11-24.json").text)
        assert len(told["games"]) == 1
        for path in ("/export/2026-11-23.csv", "/export/2026-11-24.xls", "/export/x.csv"):
            assert phone.get(path).status_code == 404

    @pytest.mark.parametrize(
        "url",
        [
            "javascript:alert(1)",
            "http://evil.example.com/",
            "http://evil%2eexample/",
            "http://8%2e8%2e8%2e8/",
            "http://192.168.1.9@evil.example.com/",
            "ftp://192.168.1.9/",
            "http://192.168.1.9:8000/\u202etxt",
            "http://8.8.8.8/",
            "http://134744072/",
            "http://0x08080808/",
            "http://evil.example\\.local/",
            "http://evil\u3002example/",
        ],
    )
    def test_a_code_never_leads_out_of_the_house(
        self, phone: FlaskClient, club: ClubOnDisk, url: str
    ) -> None:
        show(club, 1, playing(1, ["Ada", "Ben"], url))
        assert phone.get("/api/state").json["tables"][0]["url"] == ""
        assert phone.get(f"/tables/{table_id(1)}.svg").status_code == 404
        show(club, 1, playing(1, ["Ada", "Ben"]))
        assert phone.get(f"/tables/{table_id(1)}.svg").mimetype == "image/svg+xml"
