"""A club's screen and its organiser's page: access, live boards, rounds, sizes and languages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from flask import Flask
from flask.testing import FlaskClient

from companion.messages.catalogue import LANGUAGES
from companion.mqtt import payloads, topics
from companion.mqtt.topics import Kind
from tests.mqtt.club.build import CLUB, ClubOnDisk, board, result, table_id, with_players
from tests.web.browsing import (
    PATIENCE_S,
    PHONE_SMALL,
    TV,
    OpenPage,
    left,
    resize,
    scanned,
    tap_twice,
    violations,
)
from tests.web.test_axe import COLOURS
from web.access import Access
from web.club import create_club_app
from web.security import BROWSER_COOKIE
from web.server import Server

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

ELSEWHERE = {"REMOTE_ADDR": "192.168.1.77"}
"""A request from another device."""

NAMES = ["Ada", "Ben", "Cleo", "Dora", "Emil", "Fritz", "Greta"]

SIDEWAYS = "document.documentElement.scrollWidth > innerWidth"

CUT = """[...document.querySelectorAll('.board')]
  .filter((node) => node.scrollHeight > node.clientHeight + 1).map((node) => node.textContent)"""
"""Boards on the screen that do not show all that is in them."""


COVERED = """[...document.querySelectorAll('.board')].filter((board) => {
  const code = board.querySelector('img').getBoundingClientRect();
  return [board.querySelector('h3'), board.querySelector('li')].some((node) => {
    const { right, bottom, top } = node.getBoundingClientRect();
    return right > code.left && bottom > code.top && top < code.bottom;
  });
}).map((board) => board.textContent)"""
"""Boards whose code lies on the table's name or on the first player."""


CHOOSE = """(language) => fetch('/api/language', {
  method: 'POST',
  body: JSON.stringify({ language }),
  headers: { 'Content-Type': 'application/json' },
})"""


@pytest.fixture
def club(tmp_path: Path) -> Iterator[ClubOnDisk]:
    club = ClubOnDisk(tmp_path / "club")
    yield club
    club.store.close()


@pytest.fixture
def place() -> dict[str, str]:
    """Where phones find the club."""
    return {"url": "http://192.168.1.4:8001/"}


@pytest.fixture
def app(club: ClubOnDisk, place: dict[str, str]) -> Flask:
    return create_club_app(
        club.club,
        name="Dice <Club>",
        access=Access(pin="123456"),
        version="1",
        join_url=lambda: place["url"],
    )


@pytest.fixture
def served(app: Flask) -> Iterator[Server]:
    with Server(app, "127.0.0.1", 0) as server:
        yield server


@pytest.fixture
def phone(app: Flask) -> FlaskClient:
    """A browser of another device."""
    client = app.test_client()
    client.environ_base.update(ELSEWHERE)
    assert client.get("/").status_code == 200
    return client


def playing(
    number: int,
    names: list[str],
    url: str = "http://192.168.1.9:8000/",
    *,
    name: str = "",
    end: str | None = None,
) -> payloads.Board:
    """A table in its seventh turn, the second player leading."""
    return board(
        name or f"Table {number}",
        revision=40,
        url=url,
        game=payloads.GameBoard(
            game="1-20261124190000",
            number=1,
            variant="base",
            phase="over" if end else "action1",
            turn=7,
            active=0,
            players=tuple(
                payloads.PlayerState(seat, name, 10 + seat % 2, {}, {}, seat)
                for seat, name in enumerate(names)
            ),
            roll=payloads.Roll((3, 4), 7, {"red": 1, "yellow": 2, "green": 3}),
            closed=(payloads.ClosedRow("B", "blue", (0,)),),
            leaders=(1,),
            end=end,
        ),
    )


def show(club: ClubOnDisk, number: int, shown: payloads.Board) -> None:
    table = topics.TableTopics(CLUB, table_id(number))
    club.publish(table.of(Kind.STATUS), topics.ONLINE)
    club.publish(table.of(Kind.STATE), payloads.encoded(shown))


def without_has(route: Route) -> None:
    """Answer with a style sheet as a browser without `:has()` understands it."""
    sheet = route.fetch()
    route.fulfill(response=sheet, body=sheet.text().replace(":has(", ":-unknown("))


def an_evening(club: ClubOnDisk) -> None:
    """Two tables; one game of the first round is over, and a third table is empty."""
    for name in NAMES:
        club.club.add(name)
    for number in (1, 2):
        club.online(number)
    club.club.draw(1)
    first, second = club.club.view().evening.rounds[0].groups
    club.finish(1, result({name: 50 + 7 * n for n, name in enumerate(first.players)}))
    show(club, 2, playing(2, list(second.players)))
    show(club, 3, board("Window"))


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


def shown_at(page: Page, selector: str, text: str) -> None:
    page.locator(selector, has_text=text).first.wait_for(timeout=PATIENCE_S * 1000)


class TestPages:
    def test_the_screen_follows_the_tables(self, club: ClubOnDisk, open_page: OpenPage) -> None:
        an_evening(club)
        page = open_page("/", size_wh=TV)
        shown_at(page, "#h-round", "Round 1")
        assert page.locator(".board").count() == 3
        assert page.locator("#groups .is-over").count() == 1
        show(club, 3, playing(3, ["Zoe", "<b>Yann</b>"]))
        shown_at(page, ".board", "<b>Yann</b>")
        show(club, 3, playing(3, ["", ""]))
        shown_at(page, ".board", "The names stay at the table")
        shown_at(page, ".board", "Seat 2")
        table = topics.TableTopics(CLUB, table_id(3))
        club.publish(table.of(Kind.STATUS), topics.OFFLINE)
        second = club.club.view().evening.rounds[0].groups[1]
        club.finish(2, result(dict(zip(second.players, (90, 80, 70), strict=False))))
        page.locator("#groups .is-over").nth(1).wait_for()
        assert page.locator("#standings tbody tr").count() == len(NAMES)
        assert page.locator(".board").count() == 2  # nobody plays at the one that is gone
        club.finish(3, result({"": 90}))
        club.finish(4, result({"Zoe": 90, "Yann": 50}, end="ended_early"))
        resize(page, PHONE_SMALL)
        shown_at(page, "#games", "ended early")
        notes = page.locator("#games .note").all_text_contents()
        assert [note.split(" · ")[-1] for note in notes[:2]] == ["ended early", "counts for nobody"]

    def test_the_screen_follows_the_clock_to_another_evening(
        self, club: ClubOnDisk, open_page: OpenPage
    ) -> None:
        an_evening(club)
        page = open_page("/", size_wh=TV)
        shown_at(page, "#h-round", "Round 1")
        club.now = club.now.replace(day=28)  # the clock was wrong
        shown_at(page, "#h-round", "No round yet")

    def test_codes_and_keys_follow_what_a_table_and_the_club_become(
        self, club: ClubOnDisk, place: dict[str, str], open_page: OpenPage
    ) -> None:
        show(club, 1, playing(1, NAMES[:3]))
        page = open_page("/", size_wh=TV)
        page.locator(".board-link").focus()
        assert scanned(page, "#join") == "http://192.168.1.4:8001/"
        assert scanned(page, ".board-link img") == "http://192.168.1.9:8000/"
        place["url"] = "http://192.168.1.5:8001/"
        show(club, 1, playing(1, NAMES[:4], url="http://192.168.1.44:8000/"))
        page.locator(".board-link[href*='192.168.1.44']").wait_for()
        assert scanned(page, "#join") == "http://192.168.1.5:8001/"
        assert scanned(page, ".board-link img") == "http://192.168.1.44:8000/"
        assert page.evaluate("document.activeElement.className") == "board-link"

    def test_high_contrast_shows_who_is_on_turn(
        self, club: ClubOnDisk, open_page: OpenPage
    ) -> None:
        show(club, 1, playing(1, NAMES[:4]))
        page = open_page("/", size_wh=TV)
        page.locator(".board-players .is-active").wait_for()
        page.emulate_media(forced_colors="active")
        border = "all => new Set(all.map((node) => getComputedStyle(node).borderColor)).size"
        assert page.locator(".board-players li").evaluate_all(border) == 2

    def test_a_table_switched_off_after_its_game_owes_no_result(
        self, club: ClubOnDisk, open_page: OpenPage
    ) -> None:
        an_evening(club)
        show(club, 1, playing(1, NAMES[:4], end="misses"))
        for number in (1, 2):
            status = topics.TableTopics(CLUB, table_id(number)).of(Kind.STATUS)
            club.publish(status, topics.OFFLINE)
        page = open_page("/", size_wh=TV)
        page.get_by_text("Offline; its results arrive later").wait_for()
        page.get_by_text("Offline", exact=True).wait_for()

    def test_an_organiser_runs_a_round(self, club: ClubOnDisk, open_page: OpenPage) -> None:
        club.online(1)
        page = open_page("/organise", size_wh=PHONE_SMALL)
        for name in NAMES[:5]:
            page.get_by_label("Name").fill(name)
            page.get_by_role("button", name="Add").click()
            shown_at(page, "#members bdi", name)
        page.get_by_role("button", name="Leaves: Emil").click()
        page.get_by_text("Players here: 4").wait_for()
        page.get_by_role("radio", name="Everyone meets everyone").check()
        page.get_by_role("button", name="Draw round 1").click()
        shown_at(page, "#h-round", "Round 1")
        page.get_by_text("1 game of this round is not over.").wait_for()
        assert club.club.view().evening.system == "round_robin"
        page.on("dialog", lambda dialog: dialog.accept())
        page.get_by_role("button", name="Take back round 1").click()
        page.get_by_text("No round yet").wait_for()
        page.wait_for_function("document.activeElement.id === 'h-round'")

    def test_a_double_tap_draws_one_round(self, club: ClubOnDisk, open_page: OpenPage) -> None:
        an_evening(club)
        page = open_page("/organise", size_wh=PHONE_SMALL)
        draw = page.locator("#draw")
        draw.filter(has_text="Draw round 2").wait_for()
        tap_twice(page, draw)
        assert len(club.club.view().evening.rounds) == 2
        draw.click()
        draw.filter(has_text="Draw round 4").wait_for()

    def test_pages_are_clean_for_axe(self, club: ClubOnDisk, open_page: OpenPage) -> None:
        an_evening(club)
        for path, sizes_wh in (("/", (TV, PHONE_SMALL)), ("/organise", (PHONE_SMALL,))):
            page = open_page(path, size_wh=sizes_wh[0])
            shown_at(page, "#h-round", "Round 1")
            for size_wh in sizes_wh:
                resize(page, size_wh)
                page.emulate_media(color_scheme="light")
                assert violations(page) == [], (path, size_wh)
                page.emulate_media(color_scheme="dark")
                assert violations(page, *COLOURS) == [], (path, size_wh)

    def test_everything_fits_in_every_language(
        self, club: ClubOnDisk, open_page: OpenPage, address: str
    ) -> None:
        an_evening(club)
        for number in range(4, 7):
            show(club, number, playing(number, ["Maximilian Alexander", *NAMES[:3], "W" * 20]))
        page = open_page("/", size_wh=PHONE_SMALL)
        for language in LANGUAGES:
            page.evaluate(CHOOSE, language)
            for path in ("/", "/organise"):
                page.goto(address + path)
                page.locator("#h-round:not(:empty)").wait_for()
                for size_wh in (PHONE_SMALL, (820, 1180), (1280, 720), TV):
                    resize(page, size_wh)
                    case = language, path, size_wh
                    assert not page.evaluate(SIDEWAYS), case
                    assert left(page, CUT) == [], case  # fitted by the next frame

    def test_codes_cover_no_name_in_a_browser_without_has(
        self, club: ClubOnDisk, open_page: OpenPage
    ) -> None:
        for number in range(1, 10):
            show(club, number, playing(number, NAMES[:5], name="Table beside the great window"))
        page = open_page("/healthz", size_wh=TV)
        page.route("**/style/**", without_has)
        page.goto(page.url.removesuffix("healthz"))
        page.locator(".board").nth(8).wait_for()
        for size_wh in ((1280, 720), TV):
            resize(page, size_wh)
            assert left(page, COVERED) == [], size_wh
            last = page.locator(".board-players li:last-child").first.bounding_box()
            board = page.locator(".board").first.bounding_box()
            assert last is not None
            assert board is not None
            assert last["y"] + last["height"] <= board["y"] + board["height"], size_wh

    def test_many_tables_take_turns_on_a_screen(
        self, club: ClubOnDisk, open_page: OpenPage
    ) -> None:
        for number in range(1, 20):
            show(club, number, playing(number, ["Maximilian Alexander", *NAMES[:4]]))
        page = open_page("/healthz", size_wh=TV)
        page.clock.install()
        page.goto(page.url.removesuffix("healthz"))
        shown_at(page, "#tables-page", "1 to 9 of 19")
        assert page.evaluate(CUT) == []
        codes = page.locator(".board-link img:visible")
        codes.nth(8).wait_for()
        assert codes.count() == 9
        page.clock.run_for(12_000)
        shown_at(page, "#tables-page", "10 to 18 of 19")
