"""The tray over HTTP: mishaps, troubles, dice put right, kept pictures."""

from __future__ import annotations

from pathlib import Path

import pytest
from flask import Flask
from flask.testing import FlaskClient

from companion.history.pictures import Pictures
from companion.tray import CameraState
from tests.session.fakes import Stage
from tests.web.browsing import PHONE, OpenPage, comes_true, open_part, ready
from tests.web.stand_in import StandInTray, a_roll, dice_in_tray, picture, seat
from web import Equipment, create_app


@pytest.fixture
def pictures(tmp_path: Path) -> Pictures:
    pictures = Pictures(tmp_path, 10)
    for turn in (1, 2):
        pictures.keep(10 * turn, 1, turn, b"\xff\xd8 %d" % turn)
    return pictures


@pytest.fixture
def app(stage: Stage, tray: StandInTray, pictures: Pictures) -> Flask:
    stage.seat("Ada")
    stage.session.start()
    return create_app(
        stage.session,
        tray=tray,
        simulator=tray,
        pictures=pictures,
        equipment=lambda: Equipment(CameraState.SIMULATED, "mock"),
    )


def test_a_throw_takes_a_named_mishap(client: FlaskClient, tray: StandInTray) -> None:
    table = client.get("/api/state").get_json()["table"]
    assert (table["mishaps"], table["troubles"]) == (["cocked", "off"], ["dark"])
    assert client.post("/api/throw", json={"mishap": "off"}).status_code == 200
    assert client.post("/api/throw", json={"mishap": None}).status_code == 200
    assert client.post("/api/throw", json={"mishap": "explode"}).status_code == 400
    assert client.post("/api/throw", json={"mishap": 3}).status_code == 400
    assert tray.told == ["off", None]


def test_the_simulated_camera_takes_a_named_trouble(client: FlaskClient, tray: StandInTray) -> None:
    assert client.post("/api/trouble", json={"trouble": "dark"}).status_code == 200
    assert client.post("/api/trouble", json={"trouble": "fire"}).status_code == 400
    assert client.post("/api/trouble", json={}).status_code == 400
    assert tray.told == ["dark"]


def test_a_real_camera_cannot_be_disturbed(stage: Stage, tray: StandInTray) -> None:
    client = create_app(stage.session, tray=tray).test_client()
    got = client.post("/api/trouble", json={"trouble": "dark"})
    assert (got.status_code, got.get_json()["error"]) == (409, "CANNOT_THROW")
    assert tray.told == []


def test_a_die_is_put_right_and_the_roll_confirmed(client: FlaskClient, stage: Stage) -> None:
    stage.session.see(dice_in_tray(a_roll(1, 2), frame=5))
    die = client.get("/api/state").get_json()["tray"]["dice"][2]
    assert (die["colour"], die["value"], die["by_hand"]) == ("red", 3, False)
    asked = {"frame": 5, "x": die["centre"][0], "y": die["centre"][1], "value": 6}
    got = client.post("/api/die", json=asked)
    assert got.status_code == 200
    assert got.get_json()["tray"]["dice"][2]["by_hand"] is True
    assert client.post("/api/press", json={}).status_code == 200
    game = client.get("/api/state").get_json()["game"]
    assert game["roll"]["colour"]["red"] == 6
    assert game["rolled"] == stage.game.rolled


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"frame": 1}, 409),
        ({"x": 1, "y": 1}, 409),
        ({"value": 9}, 409),
        ({"value": "6"}, 400),
        ({"x": True}, 400),
        ({"x": 1e300}, 400),
        ({"colour": "pink"}, 400),
    ],
)
def test_a_die_that_cannot_be_put_right(
    client: FlaskClient, stage: Stage, change: dict[str, object], status: int
) -> None:
    stage.session.see(dice_in_tray(a_roll(1, 2), frame=5))
    x, y = stage.session.view().tray.dice[2].centre_xy
    got = client.post("/api/die", json={"frame": 5, "x": x, "y": y, "value": 6} | change)
    assert got.status_code == status
    assert got.get_json()["message"]


def test_the_old_dice_are_offered_again_on_request(client: FlaskClient, tray: StandInTray) -> None:
    assert client.post("/api/reoffer", json={}).status_code == 200
    assert tray.told == ["reoffer"]


def test_kept_pictures_are_listed_shown_and_deleted(client: FlaskClient) -> None:
    assert client.get("/api/state").get_json()["table"]["keeps_pictures"] is True
    listed = client.get("/api/pictures").get_json()["pictures"]
    assert [(each["revision"], each["turn"]) for each in listed] == [(20, 2), (10, 1)]
    shown = client.get("/api/picture.jpg?revision=10")
    assert (shown.mimetype, shown.data) == ("image/jpeg", b"\xff\xd8 1")
    assert client.get("/api/picture.jpg?revision=11").status_code == 404
    assert client.get("/api/picture.jpg").status_code == 400
    assert client.post("/api/pictures/delete", json={"revision": 10}).status_code == 200
    assert client.post("/api/pictures/delete", json={"revision": 10}).status_code == 404
    assert client.get("/api/picture.jpg?revision=10").status_code == 404
    assert client.post("/api/pictures/delete", json={}).status_code == 200
    assert client.get("/api/pictures").get_json()["pictures"] == []


def test_a_host_looks_at_the_pictures_and_deletes_them(
    stage: Stage, pictures: Pictures, open_page: OpenPage
) -> None:
    pictures.keep(30, 1, 3, picture())
    page = ready(open_page("/host", size_wh=PHONE, token=seat(stage, "Ben").token))
    open_part(page, "Settings")
    page.locator("#pictures summary").click()
    comes_true(page, "document.querySelector('#gallery img')?.naturalWidth > 0")
    assert page.locator("#gallery li").count() == 3
    page.get_by_role("button", name="Delete all pictures").click()
    page.locator("#ask-yes:enabled").click()
    page.get_by_text("No pictures yet.").wait_for()
    assert pictures.all() == []


def test_without_kept_pictures_the_gallery_is_empty(stage: Stage) -> None:
    client = create_app(stage.session, tray=StandInTray()).test_client()
    assert client.get("/api/state").get_json()["table"]["keeps_pictures"] is False
    assert client.get("/api/pictures").get_json()["pictures"] == []
    assert client.get("/api/picture.jpg?revision=10").status_code == 404
    assert client.post("/api/pictures/delete", json={}).status_code == 200
