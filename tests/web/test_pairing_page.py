"""A new table view on another device, paired on the host's page, in a browser."""

from __future__ import annotations

import re

import pytest
from flask.testing import FlaskClient

from tests.session.fakes import Stage
from tests.web.browsing import BEYOND, PHONE, TV, left
from tests.web.conftest import OpenPage
from web.security import BROWSER_COOKIE

pytestmark = pytest.mark.browser


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
    host = open_page("/host", size_wh=PHONE, device=cookie.value)
    assert "under Settings" in asked.inner_text()
    host.get_by_role("tab", name="Settings").click()
    host.get_by_label("Code of a new table view").fill(code)
    host.get_by_role("button", name="Connect it").click()
    television.locator(".table-code", has_text="QWX7").wait_for()
    assert asked.count() == 0


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
