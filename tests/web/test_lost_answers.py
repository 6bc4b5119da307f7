"""The table acts, and its answer is lost on the way: asking again brings what was asked, once."""

from __future__ import annotations

from flask import Flask
from flask.testing import FlaskClient

from tests.session.fakes import Stage
from tests.web.browsing import names
from tests.web.test_people import Sit, me, phone, post
from web.security import SEAT_COOKIE


def post_in_vain(client: FlaskClient, path: str, **sent: object) -> None:
    """Send a request whose answer, with the seat's cookie, never arrives."""
    kept = client.get_cookie(SEAT_COOKIE)
    assert post(client, path, **sent)[0] == 200
    client.delete_cookie(SEAT_COOKIE)
    if kept is not None:
        client.set_cookie(SEAT_COOKIE, kept.value)


def test_a_browser_without_cookies_takes_no_seat(app: Flask, stage: Stage) -> None:
    browser = app.test_client(use_cookies=False)
    for path, sent in (("join", {"name": "Ada"}), ("claim", {"seat": 0})):
        answer = browser.post(f"/api/{path}", json=sent, headers={"Origin": "http://localhost"})
        assert (answer.status_code, answer.get_json()["error"]) == (409, "NO_COOKIES")
        assert "Allow cookies" in answer.get_json()["message"]
    assert names(stage) == []


class TestASeat:
    def test_asking_again_gives_the_seat_that_was_taken(
        self, client: FlaskClient, app: Flask, stage: Stage
    ) -> None:
        client.get("/")
        post_in_vain(client, "join", name="Ada")
        assert me(client)["seats"] == []
        status, state = post(client, "join", name=" ada ")
        assert (status, state["me"]["seats"], names(stage)) == (200, [0], ["Ada"])
        other = phone(app, "192.168.1.9")
        assert post(other, "join", name="Ada", code="QWX7")[1]["error"] == "NAME_TAKEN"

    def test_one_more_player_of_a_tablet_is_seated_once(
        self, client: FlaskClient, stage: Stage
    ) -> None:
        client.get("/")
        post(client, "join", name="Ada")
        post_in_vain(client, "join", name="Grandma", another=True)
        assert post(client, "join", name="Grandma", another=True)[1]["me"]["seats"] == [0, 1]
        assert post(client, "join", name="Grandma", another=True)[1]["error"] == "NAME_TAKEN"
        assert names(stage) == ["Ada", "Grandma"]

    def test_a_seat_handed_on_arrives_by_asking_again_or_by_its_name(
        self, app: Flask, sit: Sit
    ) -> None:
        ada, ben = sit("Ada"), sit("Ben")
        tablet = phone(app, "192.168.1.30", "Tablet")
        for again in ({"path": "claim", "seat": 1}, {"path": "join", "name": "Ben"}):
            post(ada, "hand", seat=1)
            post_in_vain(tablet, "claim", seat=1, code="QWX7")
            path = str(again.pop("path"))
            status, state = post(tablet, path, code="QWX7", **again)
            assert (status, state["me"]["seats"]) == (200, [1])
            assert me(ben)["seats"] == []
            tablet.delete_cookie(SEAT_COOKIE)

    def test_a_seat_handed_on_does_not_come_back_by_its_name(self, app: Flask, sit: Sit) -> None:
        ada, ben = sit("Ada"), sit("Ben")
        post(ada, "hand", seat=1)
        post(phone(app, "192.168.1.30"), "claim", seat=1, code="QWX7")
        assert post(ben, "join", name="Ben", code="QWX7")[1]["error"] == "NAME_TAKEN"
        assert post(ben, "claim", seat=1, code="QWX7")[1]["error"] == "NOT_OFFERED"
