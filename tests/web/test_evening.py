"""A whole table: simulated tray, reader, judge and store behind two phones and a table view."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from companion.app import App, build
from companion.config import Config
from companion.messages.catalogue import numeral
from tests.web.browsing import PATIENCE_S, open_part, violations

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture
def source() -> str:
    """The camera of the table."""
    return "simulated"


@pytest.fixture
def config(tmp_path: Path, source: str) -> Config:
    config = Config(data_dir=tmp_path)
    return replace(
        config,
        camera=replace(config.camera, source=source, seed=11, fps=10),
        panel=replace(config.panel, factory="mock"),
        web=replace(config.web, host="127.0.0.1", port=0),
        sound=replace(config.sound, enabled=False),
        table=replace(config.table, take_back_s=0.2),
    )


@pytest.fixture
def running(config: Config) -> Iterator[list[App]]:
    """The table that runs; a test may replace it."""
    running = [build(config)]
    yield running
    running[0].close()


@pytest.fixture
def address(running: list[App]) -> str:
    return f"http://127.0.0.1:{running[0].address[1]}"


def state_of(page: Page) -> dict[str, Any]:
    state: dict[str, Any] = page.evaluate("fetch('/api/state').then((answer) => answer.json())")
    return state


def wait_for(page: Page, holds: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    until_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < until_s:
        state = state_of(page)
        if holds(state):
            return state
        page.wait_for_timeout(60)
    pytest.fail(f"the table stayed as it was: {state_of(page)}")


def seated(open_page: Callable[..., Page], names: list[str]) -> list[Page]:
    """A phone for everybody, on every size of screen."""
    sizes = [(360, 640), (390, 844), (844, 390), (768, 1024), (412, 915)]
    phones = []
    for name, size_wh in zip(names, sizes, strict=False):
        phone = open_page("/", size_wh=size_wh)
        phone.get_by_label("Your name").fill(name)
        phone.get_by_role("button", name="Take a seat").click()
        phone.get_by_text(f"Welcome, {name}!").wait_for()
        phones.append(phone)
    return phones


def check_the_end(phones: list[Page], table: Page) -> None:
    """Every screen shows the same podium, and the totals are those of the sheets."""
    game = wait_for(table, lambda state: state["game"]["over"])["game"]
    for player in game["players"]:
        points = player["points"]
        assert points["total"] == sum(points["rows"].values()) - points["minus"]
    totals = [each["total"] for each in game["ranking"]]
    assert totals == sorted(totals, reverse=True)
    for page in (*phones, table):
        page.locator(".podium li").first.wait_for()
        shown = page.locator(".podium .points").all_inner_texts()
        assert shown == [numeral(total) for total in totals]


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["Base game", "Big Points"])
def test_five_phones_play_a_whole_game_through_trouble(
    running: list[App], open_page: Callable[..., Page], variant: str
) -> None:
    """Reloaded, put to sleep, off the air and tapped twice at once, in the middle of the game."""
    table = open_page("/table", size_wh=(1920, 1080))
    phones = seated(open_page, ["Ada", "Ben", "Cleo", "Dan", "Eve"])
    phones[0].get_by_label(variant).check()
    phones[0].get_by_role("button", name="Start the game").click()
    while not (game := state_of(table)["game"])["over"]:
        throw_and_confirm(table)
        if game["turn"] == 2:
            phones[1].reload()
            phones[1].locator(".box").first.wait_for()
        elif game["turn"] == 3:
            phones[2].evaluate(SLEEP)
        elif game["turn"] == 4:
            is_missing_it_all(phones[3], table)
        elif game["turn"] == 5:
            two_taps_at_once(phones[4], table)
        answer_all(phones)
    check_the_end(phones, table)


SLEEP = """() => {
  Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
  document.dispatchEvent(new Event('visibilitychange'));
  delete document.visibilityState;
  document.dispatchEvent(new Event('visibilitychange'));
}"""


def is_missing_it_all(phone: Page, table: Page) -> None:
    """Off the air while tapping: the answer arrives once the line is back."""
    seat = state_of(phone)["me"]["seat"]
    legal = state_of(phone)["game"]["players"][seat]["legal"]
    phone.context.set_offline(True)
    if legal:
        phone.locator(f"[data-token={legal[0]}]").click()
    phone.get_by_role("button", name="Done" if legal else "Pass").click()
    phone.get_by_text("No connection to the table").wait_for()
    assert seat in state_of(table)["game"]["waiting_for"]
    phone.context.set_offline(False)
    wait_for(table, lambda state: seat not in state["game"]["waiting_for"])


def two_taps_at_once(phone: Page, table: Page) -> None:
    """Two fingers: the later one counts, and one box only is chosen."""
    state = state_of(phone)
    seat = state["me"]["seat"]
    legal = state["game"]["players"][seat]["legal"]
    if len(legal) < 2:
        return
    taps = (
        "tokens => tokens.forEach(token => document.querySelector(`[data-token=${token}]`).click())"
    )
    phone.evaluate(taps, legal[:2])

    def is_second(state: dict[str, Any]) -> bool:
        answer = state["game"]["players"][seat]["answer"]
        return bool(answer) and answer["box"] == legal[1]

    wait_for(table, is_second)
    phone.locator(f"[data-token={legal[1]}][data-is=tapped]").click()
    wait_for(table, lambda state: state["game"]["players"][seat]["answer"] is None)


def is_at_rest(state: dict[str, Any]) -> bool:
    return state["tray"]["status"] not in ("waiting", "old", "moving", "reading")


def throw_and_confirm(table: Page) -> None:
    """Throw until the reader is sure, then press the button."""
    until_s = time.monotonic() + PATIENCE_S
    while True:
        assert time.monotonic() < until_s, state_of(table)["tray"]
        with table.expect_response("**/api/throw"):  # from then on the old dice count no more
            table.get_by_role("button", name="Throw").click()
        if wait_for(table, is_at_rest)["tray"]["confirmable"]:
            break
    table.get_by_role("button", name="Confirm").click()
    wait_for(table, lambda state: state["game"]["phase"] != "roll")


def answer_all(phones: list[Page], *, idle: int | None = None) -> None:
    """Everybody who is asked crosses their first box, or passes; who is idle always does."""
    while (game := state_of(phones[0])["game"])["action"]:
        moment = (game["turn"], game["action"])
        for seat in game["waiting_for"]:
            phone = phones[seat]
            legal = game["players"][seat]["legal"]
            if legal and seat != idle:
                box = phone.locator(f"[data-token={legal[0]}]")
                box.and_(phone.get_by_role("button", name=re.compile("can be crossed now"))).click()
                phone.get_by_role("button", name="Done").click()
            else:
                phone.get_by_role("button", name="Pass").click()

        def is_past(state: dict[str, Any], moment: tuple[int, int] = moment) -> bool:
            return (state["game"]["turn"], state["game"]["action"]) != moment

        wait_for(phones[0], is_past)


def two_rolls(open_page: Callable[..., Page]) -> tuple[Page, list[Page], dict[str, Any]]:
    """The table view, the phones and the game of Ada and Ben after two rolls."""
    table = open_page("/table", size_wh=(1920, 1080))
    phones = seated(open_page, ["Ada", "Ben"])
    phones[0].get_by_role("button", name="Start the game").click()
    for _ in range(2):
        throw_and_confirm(table)
        table.locator(".headline[data-kind=roll]").wait_for()
        answer_all(phones, idle=1)
    game = state_of(table)["game"]
    assert game["turn"] == 3
    assert sum(map(len, game["players"][0]["sheet"].values())) > 0
    return table, phones, game


def restart(running: list[App], config: Config, pages: list[Page]) -> None:
    """End the table and start it again on its port; every page finds it again."""
    port = running[0].address[1]
    running[0].close()
    pages[0].get_by_text("No connection to the table").wait_for()
    running[0] = build(replace(config, web=replace(config.web, port=port)))
    for page in pages:
        page.get_by_text("No connection to the table").wait_for(state="hidden")


@pytest.mark.slow
def test_a_restart_in_a_game_loses_nothing(
    running: list[App], config: Config, open_page: Callable[..., Page]
) -> None:
    table, phones, before = two_rolls(open_page)
    for phone, player in zip(phones, before["players"], strict=True):
        total = numeral(player["points"]["total"])
        phone.locator("#total", has_text=re.compile(f"^{total}$")).wait_for()
        table.locator(".people .points", has_text=re.compile(f"^{total}$")).first.wait_for()

    restart(running, config, [*phones, table])
    after = wait_for(phones[1], lambda state: len(state["seats"]) == 2)
    assert after["me"]["seat"] == 1
    assert after["game"]["players"] == before["players"]
    throw_and_confirm(table)
    answer_all(phones, idle=1)
    running[0].session.end()
    check_the_end(phones, table)


@pytest.mark.slow
def test_a_game_goes_on_through_a_restart_to_its_end_and_the_next(
    running: list[App], config: Config, open_page: Callable[..., Page]
) -> None:
    table, phones, _ = two_rolls(open_page)
    restart(running, config, [*phones, table])
    while not state_of(table)["game"]["over"]:
        throw_and_confirm(table)
        answer_all(phones, idle=1)
    check_the_end(phones, table)
    game = state_of(table)["game"]
    assert (game["end"], game["players"][1]["misses"]) == ("misses", 4)
    table.get_by_text("Fourth penalty for Ben").first.wait_for()
    phones[1].get_by_text("The host starts the next game.").wait_for()
    host = phones[0]
    host.goto(host.url + "host")
    open_part(host, "Settings")
    host.get_by_text("Pictures of the rolls", exact=True).click()
    wait_for(host, lambda _: host.locator(".gallery img").count() == game["turn"])
    gallery, delete = (host.locator(name).bounding_box() for name in ("#gallery", "#forget"))
    assert gallery is not None
    assert delete is not None
    assert delete["y"] > gallery["y"] + gallery["height"]
    assert violations(host) == []
    open_part(host, "Now")
    host.locator("#rematch").click()
    host.get_by_role("dialog").get_by_role("button", name="Play again").click()
    wait_for(phones[1], lambda state: state["game"]["number"] == 2)


@pytest.mark.parametrize("source", ["none"])
def test_without_a_camera_the_dice_are_entered_on_the_phone(
    open_page: Callable[..., Page], running: list[App]
) -> None:
    phone = open_page("/", size_wh=(360, 640))
    phone.get_by_label("Your name").fill("Ada")
    phone.get_by_role("button", name="Take a seat").click()
    phone.get_by_role("button", name="Start the game").click()
    phone.get_by_role("button", name="Enter the dice").click()
    dialog = phone.get_by_role("dialog")
    dialog.get_by_role("button", name="Confirm").click()
    dialog.get_by_text("Every die needs a number.").wait_for()
    for name in ("First white die 3", "Second white die 4", "Red 1", "Yellow 2", "Green 5"):
        dialog.get_by_label(name).check()
    dialog.get_by_label("Blue 6").check()
    dialog.get_by_role("button", name="Confirm").click()
    phone.get_by_role("button", name="red 7, can be crossed now, white 3 + white 4").wait_for()
