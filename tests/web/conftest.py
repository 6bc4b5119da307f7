"""A table on stage with its page: by Flask's client, served on the loopback, and in a browser."""

from __future__ import annotations

import shutil
import socket
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from flask import Flask
from flask.testing import FlaskClient
from jinja2 import FileSystemBytecodeCache

from companion.coach.background import Reviews
from companion.tray import CameraState
from tests.session.fakes import Stage
from tests.web.browsing import OpenPage
from tests.web.stand_in import (
    RememberingWorker,
    StandInPower,
    StandInTray,
    a_roll,
    dice_in_tray,
    picture,
)
from web import Equipment, create_app
from web.access import Access
from web.security import SEAT_COOKIE
from web.server import Server

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.web.kept_pages import KeptPages

CHROMIUMS = ("chromium-headless-shell", "chromium", "chromium-browser")
"""Programs that show the pages; the first needs half the time of the others."""

CHROMIUM_ARGS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


Sit = Callable[[str], FlaskClient]


@pytest.fixture
def take_back_s() -> float:
    """How long the last answer may be taken back; the pages count it down in real time."""
    return 3.0


@pytest.fixture
def stage(tmp_path: Path, take_back_s: float) -> Iterator[Stage]:
    stage = Stage(tmp_path, take_back_s=take_back_s)
    yield stage
    stage.store.close()


@pytest.fixture
def tray() -> StandInTray:
    return StandInTray(pictures={1: picture()})


@pytest.fixture
def place() -> dict[str, str]:
    """The table's address, as number and as name; a test may change it."""
    return {"url": "http://192.168.1.5:8000/", "name": ""}


@pytest.fixture
def chances() -> list[tuple[float, float]]:
    """By player, the chances to win that the table knows; a test may add some."""
    return []


@pytest.fixture
def has_broker() -> bool:
    """Whether the table publishes to an MQTT broker."""
    return False


@pytest.fixture
def power() -> StandInPower:
    return StandInPower()


@pytest.fixture
def advice() -> dict[int, str | None]:
    """By player, what the coach would cross; a test may add some."""
    return {}


@pytest.fixture(scope="session")
def compiled_templates(tmp_path_factory: pytest.TempPathFactory) -> FileSystemBytecodeCache:
    """The pages' templates, which every app of a test would compile anew."""
    return FileSystemBytecodeCache(str(tmp_path_factory.mktemp("templates")))


@pytest.fixture(scope="session")
def coach() -> Iterator[RememberingWorker]:
    """The process that reviews games, one for all tests."""
    worker = RememberingWorker()
    yield worker
    worker.close()


@pytest.fixture
def app(
    coach: RememberingWorker,
    compiled_templates: FileSystemBytecodeCache,
    stage: Stage,
    tray: StandInTray,
    place: dict[str, str],
    chances: list[tuple[float, float]],
    advice: dict[int, str | None],
    power: StandInPower,
    has_broker: bool,
) -> Flask:
    app = create_app(
        stage.session,
        tray=tray,
        simulator=tray,
        equipment=lambda: Equipment(CameraState.SIMULATED, "mock"),
        join_url=lambda: place["url"],
        join_name=lambda: place["name"],
        power=power,
        version="0.1",
        access=Access(code="QWX7", pin="471147"),
        chances=lambda number: tuple(chances),
        advice=lambda game: advice,
        has_broker=has_broker,
        reviews=Reviews(worker=coach),
    )
    app.jinja_env.bytecode_cache = compiled_templates
    return app


@pytest.fixture
def client(app: Flask) -> FlaskClient:
    return app.test_client()


@pytest.fixture
def sit(app: Flask) -> Callable[[str], FlaskClient]:
    """sit(name) gives a browser of somebody who has taken a seat."""

    def take(name: str) -> FlaskClient:
        browser = app.test_client()
        answer = browser.post("/api/join", json={"name": name})
        assert answer.status_code == 200, answer.text
        assert browser.get_cookie(SEAT_COOKIE) is not None
        return browser

    return take


@pytest.fixture
def ada(sit: Sit) -> FlaskClient:
    return sit("Ada")


@pytest.fixture
def ben(sit: Sit, ada: FlaskClient) -> FlaskClient:
    return sit("Ben")


@pytest.fixture
def in_action1(stage: Stage, ada: FlaskClient, ben: FlaskClient) -> None:
    """Ada's turn, white 7 on the table."""
    assert ada.post("/api/start", json={"variant": "base", "first": 0}).status_code == 200
    stage.session.see(dice_in_tray(a_roll(3, 4)))
    assert ada.post("/api/press", json={}).status_code == 200


@pytest.fixture(scope="session")
def port() -> Iterator[int]:
    """A port for all tables, one after another: what a kept page has in its cache stays valid."""
    with socket.socket() as held:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("127.0.0.1", 0))  # nobody else gets it, and a table may still listen there
        yield held.getsockname()[1]


@pytest.fixture
def served(app: Flask, port: int) -> Iterator[Server]:
    with Server(app, "127.0.0.1", port) as server:
        yield server


@pytest.fixture
def address(served: Server) -> str:
    """Where the table is served, without a slash at the end."""
    return f"http://127.0.0.1:{served.port}"


# -- in Debian's Chromium ---------------------------------------------------------------------


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, CHROMIUMS)), None)
    if path is None:
        pytest.skip("no chromium on this machine: apt-get install chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=CHROMIUM_ARGS)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def kept_pages(chromium: Browser) -> Iterator[KeptPages]:
    from tests.web.kept_pages import KeptPages  # needs playwright

    with pytest.MonkeyPatch.context() as patched:
        pages = KeptPages(chromium, patched)
        yield pages
        pages.close()


@pytest.fixture
def open_page(kept_pages: KeptPages, address: str) -> Iterator[OpenPage]:
    """open_page(path, size_wh=..., dark=..., ...): a page of its own browser (`KeptPages.open`).

    An error that a page logs or throws fails the test, and so does a request to another host.
    """
    yield partial(kept_pages.open, address)
    assert kept_pages.take_back() == []
