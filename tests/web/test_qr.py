"""The codes people scan: what a phone reads from each."""

from __future__ import annotations

import re

import cv2
import numpy as np
import pytest
from flask import Flask
from flask.testing import FlaskClient
from numpy.typing import NDArray

from companion.service.network import Wifi
from tests.session.fakes import Stage
from tests.web.test_people import phone, post
from web import create_app
from web.qr import as_svg, as_text, wifi_as_svg

ADDRESS = "http://192.168.1.5:8000/"
STROKES = re.compile(r"([Mmh])(-?[\d.]+)(?: (-?[\d.]+))?")


def scanned(modules: NDArray[np.uint8]) -> str:
    """What a phone reads from dark modules (1) on light ones (0)."""
    picture = np.kron(255 * (1 - modules), np.ones((8, 8))).astype(np.uint8)
    return str(cv2.QRCodeDetector().detectAndDecode(picture)[0])


def of_svg(svg: bytes) -> NDArray[np.uint8]:
    """The modules (n, n) of a code, drawn in rows of strokes."""
    text = svg.decode()
    size = re.search(r'viewBox="0 0 (\d+)', text)
    drawn = re.search(r'stroke="#000" d="([^"]+)"', text)
    assert size is not None
    assert drawn is not None
    modules = np.zeros((int(size[1]), int(size[1])), np.uint8)
    x = y = 0.0
    for step, across, down in STROKES.findall(drawn[1]):
        start = x
        x = float(across) if step == "M" else x + float(across)
        if step == "h":
            modules[int(y), int(start) : int(x)] = 1
        else:
            y = float(down) if step == "M" else y + float(down)
    return modules


def of_text(text: str) -> NDArray[np.uint8]:
    """The modules of a code in a terminal: two to a character, blocks are light."""
    halves = {" ": (1, 1), "▀": (0, 1), "▄": (1, 0), "█": (0, 0)}
    lines = text.splitlines()
    light = [[halves[c][half] for c in line] for line in lines if line for half in (0, 1)]
    return np.pad(np.array(light, np.uint8), 2)


def test_an_address_on_a_screen_and_in_few_lines_of_a_terminal() -> None:
    assert scanned(of_svg(as_svg(ADDRESS))) == ADDRESS
    lines = as_text(ADDRESS)
    assert scanned(of_text(lines)) == ADDRESS
    assert 10 < len(lines.splitlines()) < 22


@pytest.mark.parametrize(
    ("name", "password", "read"),
    [
        ("Dice table", "wpa secret", "WIFI:T:WPA;S:Dice table;P:wpa secret;;"),
        ("Dice; table", 'a"b\\c', 'WIFI:T:WPA;S:Dice\\; table;P:a\\"b\\\\c;;'),
        ("Dice table", "", "WIFI:S:Dice table;;"),
    ],
)
def test_a_phone_joins_the_wifi(name: str, password: str, read: str) -> None:
    assert scanned(of_svg(wifi_as_svg(name, password))) == read


def test_the_code_of_the_table_lets_in_whoever_scans_it(app: Flask, client: FlaskClient) -> None:
    def shown(browser: FlaskClient) -> str:
        return scanned(of_svg(browser.get("/join.svg").data))

    client.get("/table")  # the table's own screen
    assert shown(client) == f"{ADDRESS}?code=QWX7"
    guest = phone(app, "192.168.1.66")
    assert shown(guest) == ADDRESS, "a stranger's code lets nobody in"
    assert post(guest, "join", name="Ada", code="QWX7")[0] == 200
    assert shown(guest) == f"{ADDRESS}?code=QWX7"


def test_the_code_of_a_game_opens_its_report(client: FlaskClient) -> None:
    assert scanned(of_svg(client.get("/report.svg?number=12").data)) == f"{ADDRESS}games/12"


def test_the_code_of_the_wifi_holds_its_password(stage: Stage) -> None:
    app = create_app(stage.session, wifi=lambda: Wifi("Dice table", "wpa secret"))
    code = app.test_client().get("/wifi.svg").data
    assert scanned(of_svg(code)) == "WIFI:T:WPA;S:Dice table;P:wpa secret;;"
