"""A real evening: simulated tray, eye, button, judge, disk and three browsers, nothing faked.

The pages are all these people have: they see the dice through the eye, and nobody tells them
what was thrown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from companion.app import App, build
from companion.archive import saved_games
from companion.config import Config
from companion.engine import fold

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

pytestmark = pytest.mark.browser

TURNS = 4
PHONE = (360, 640)
AT_REST = {"ok", "empty", "cocked", "missing", "extra", "uncertain", "obstructed"}
PATIENCE_MS = 30_000
"""A busy machine of two cores runs the eye, the server and three browsers."""


def config_of(directory: Path, *, port: int = 0, seed: int = 3) -> Config:
    config = Config(data_dir=directory)
    return replace(
        config,
        camera=replace(config.camera, source="simulated", seed=seed),
        panel=replace(config.panel, factory="mock"),
        web=replace(config.web, host="127.0.0.1", port=port),
        sound=replace(config.sound, enabled=False),
    )


@pytest.fixture
def tables(tmp_path: Path) -> Iterator[Callable[[], App]]:
    """Builds a table; a second time the same one, on the same port, as after a restart."""
    built: list[App] = []

    def make() -> App:
        port = 0
        for app in built:
            port = app.address[1]
            app.close()
        built.append(build(config_of(tmp_path, port=port)))
        return built[-1]

    yield make
    for app in built:
        app.close()


@pytest.fixture
def browse(chromium: Browser) -> Iterator[Callable[[App, str, tuple[int, int]], Page]]:
    contexts: list[BrowserContext] = []

    def open_(app: App, path: str, size_wh: tuple[int, int]) -> Page:
        width, height = size_wh
        context = chromium.new_context(viewport={"width": width, "height": height})
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{app.address[1]}{path}")
        return page

    yield open_
    for context in contexts:
        context.close()


def sit_down(page: Page, name: str) -> None:
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Take a seat").click()
    page.get_by_role("button", name="Start the game").wait_for()


def wait_for_state(app: App, is_so: Callable[[], bool], what: str) -> None:
    until_s = app.session.clock_s() + PATIENCE_MS / 1000
    while not is_so():
        if app.session.clock_s() > until_s:
            raise AssertionError(f"waited in vain for {what}: {app.session.view()}")
        app.session.wait(app.session.view().version, 0.5)


def throw_and_confirm(app: App, table: Page) -> None:
    """Throw until the eye is sure, as people would, and press the button."""
    for _ in range(6):
        table.get_by_role("button", name="Throw").click()
        wait_for_state(app, lambda: app.session.view().tray.status == "moving", "motion")
        wait_for_state(app, lambda: app.session.view().tray.status in AT_REST, "dice at rest")
        if app.session.view().tray.roll is not None:
            table.get_by_role("button", name="Confirm").click()
            return
    raise AssertionError(f"six throws and never sure: {app.session.view().tray}")


def answer(page: Page, *, take_back: bool = False) -> None:
    """Cross the first box that stands out, else pass."""
    legal = page.get_by_role("button", name=re.compile("can be crossed now"))
    if legal.count():
        box = legal.first
        name = (box.get_attribute("aria-label") or "").split(",")[0]
        box.click()
        if take_back:
            chosen = page.get_by_role("button", name=re.compile(f"^{name}, your choice"))
            chosen.click()
            page.get_by_role("button", name=re.compile(f"^{name}, can be crossed")).click()
        page.get_by_role("button", name="Done").click()
    else:
        page.get_by_role("button", name="Pass").click()


def play_turn(app: App, pages: list[Page], table: Page, *, take_back: bool = False) -> None:
    view = app.session.view().table
    assert view.game is not None
    turn = view.game.state.turn

    def phase() -> str:
        game = app.session.view().table.game
        assert game is not None
        return game.state.phase.value if game.state.turn == turn else "next"

    throw_and_confirm(app, table)
    wait_for_state(app, lambda: phase() == "action1", "action 1")
    for page in pages:
        page.locator("#done:enabled").wait_for()
        answer(page, take_back=take_back)
    wait_for_state(app, lambda: phase() != "action1", "the end of action 1")
    if phase() == "action2":
        active = pages[view.game.state.active]
        active.locator("#done:enabled").wait_for()
        answer(active)
    wait_for_state(app, lambda: phase() in ("next", "over"), "the end of the turn")


def test_two_phones_and_a_table_view_play_whole_turns(
    tables: Callable[[], App],
    browse: Callable[[App, str, tuple[int, int]], Page],
) -> None:
    app = tables()
    ada, ben = browse(app, "/", PHONE), browse(app, "/", PHONE)
    table = browse(app, "/table", (1280, 720))
    sit_down(ada, "Ada")
    sit_down(ben, "Ben")
    ada.get_by_role("button", name="Start the game").click()
    for number in range(TURNS):
        play_turn(app, [ada, ben], table, take_back=number == 0)
    game = app.session.view().table.game
    assert game is not None
    assert game.state.turn == TURNS + 1
    assert any(game.state.crosses)
    for page, player in ((ada, 0), (ben, 1)):
        total = game.state.total(player)
        page.wait_for_function(
            "total => document.querySelector('#total').textContent.replace('−', '-') == total",
            arg=str(total),
        )
        assert str(total) in table.locator("#people li").nth(player).inner_text().replace("−", "-")
    [saved] = saved_games(app.session._store.load())
    assert fold(saved.start, saved.events).crosses == game.state.crosses

    ben.reload()
    ben.locator("#sheet button").first.wait_for()
    assert ben.get_by_label("Your name").is_hidden()


def test_phones_find_their_seats_again_after_a_restart(
    tables: Callable[[], App],
    browse: Callable[[App, str, tuple[int, int]], Page],
) -> None:
    app = tables()
    ada = browse(app, "/", PHONE)
    table = browse(app, "/table", (1280, 720))
    sit_down(ada, "Ada")
    ada.get_by_role("button", name="Start the game").click()
    throw_and_confirm(app, table)
    box = ada.get_by_role("button", name=re.compile("can be crossed now")).first
    name = (box.get_attribute("aria-label") or "").split(",")[0]
    app = tables()
    ada.get_by_role("button", name=re.compile(f"^{name}, can be crossed")).click()
    ada.get_by_role("button", name="Done").click()

    def crosses() -> tuple[int, ...]:
        game = app.session.view().table.game
        assert game is not None
        return game.state.crosses

    wait_for_state(app, lambda: any(crosses()), "the mark after the restart")
