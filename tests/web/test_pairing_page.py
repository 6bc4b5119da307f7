"""A new table view on another device, paired on the host's page, in a browser."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from tests.session.fakes import Stage
from tests.web.browsing import BEYOND, PHONE, TV, left, scanned
from tests.web.conftest import OpenPage
from web.security import BROWSER_COOKIE


def test_a_new_table_view_shows_its_code_until_the_host_enters_it(
    ada: FlaskClient, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("web.client.is_loopback", lambda address: False)  # as devices elsewhere
    cookie = ada.get_cookie(BROWSER_COOKIE)
    assert cookie is not None
    television = open_page("/table", size_wh=TV)
    asked = television.get_by_text(re.compile("New table view"))
    asked.wait_for()
    code = re.findall(r"\b[A-Z2-9]{4}\b", asked.inner_text())[0]
    assert "code=" not in scanned(television, ".codes img")
    host = open_page("/host", size_wh=PHONE, device=cookie.value)
    assert "under Settings" in asked.inner_text()
    host.get_by_role("tab", name="Settings").click()
    host.get_by_label("Code of a new table view").fill(code)
    host.get_by_role("button", name="Connect it").click()
    television.locator(".table-code", has_text="QWX7").wait_for()
    assert asked.count() == 0
    assert scanned(television, ".codes img").endswith("?code=QWX7")


def test_the_first_host_comes_in_by_the_pin_if_no_screen_shows_a_code(
    open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("web.client.is_loopback", lambda address: False)  # as devices elsewhere
    television = open_page("/table", size_wh=TV)
    asked = television.get_by_text(re.compile("Nobody hosts the table yet"))
    asked.wait_for()
    said = asked.inner_text()
    code = re.findall(r"\b[A-Z2-9]{4}\b", said)[0]
    assert re.search(r"open \S+/host on a phone", said)
    assert "dice-companion pin" in said
    assert left(television, BEYOND) == []
    host = open_page("/host", size_wh=PHONE, device="")
    assert "dice-companion pin" in host.locator("#gate").inner_text()
    host.locator("#pin").fill("471147")
    host.get_by_role("button", name="Host the table").click()
    host.get_by_role("tab", name="Settings").click()
    television.get_by_text(re.compile("The host enters")).wait_for()
    host.get_by_label("Code of a new table view").fill(code)
    host.get_by_role("button", name="Connect it").click()
    television.locator(".table-code", has_text="QWX7").wait_for()


@pytest.mark.usefixtures("in_action1")
def test_it_can_be_let_in_during_a_game_too(
    stage: Stage, ada: FlaskClient, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("web.client.is_loopback", lambda address: False)  # as devices elsewhere
    television = open_page("/table", size_wh=TV)
    asked = television.get_by_text(re.compile("New table view"))
    asked.wait_for()
    television.get_by_text("The picture stays at the table").wait_for()
    assert left(television, BEYOND) == []
    code = re.findall(r"\b[A-Z2-9]{4}\b", asked.inner_text())[0]
    assert ada.post("/api/pair", json={"code": code}).status_code == 200
    television.locator("#door", has_text="QWX7").wait_for()
    television.locator("#picture").wait_for()
    assert asked.count() == 0
