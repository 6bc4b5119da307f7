"""A club's screen and its organiser's page in a browser: boards, rounds, sizes and languages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from companion.messages.catalogue import LANGUAGES
from companion.mqtt import topics
from companion.mqtt.topics import Kind
from tests.mqtt.club.build import CLUB, ClubOnDisk, result, table_id
from tests.web.browsing import (
    PATIENCE_S,
    PHONE_SMALL,
    TV,
    OpenPage,
    comes_true,
    left,
    resize,
    scanned,
    tap_twice,
    violations,
)
from tests.web.club.build import NAMES, an_evening, playing, show
from tests.web.test_axe import COLOURS

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

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


TOPS = "all => all.map((node) => node.getBoundingClientRect().top)"

CHOOSE = """(language) => fetch('/api/language', {
  method: 'POST',
  body: JSON.stringify({ language }),
  headers: { 'Content-Type': 'application/json' },
})"""


def without_has(route: Route) -> None:
    """Answer with a style sheet as a browser without `:has()` understands it."""
    sheet = route.fetch()
    route.fulfill(response=sheet, body=sheet.text().replace(":has(", ":-unknown("))


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
        assert page.get_by_role("img", name=re.compile("^Blue closed$")).count() == 2
        show(club, 3, playing(3, ["", ""]))
        shown_at(page, ".board", "The names stay at the table")
        shown_at(page, ".board", "Seat 2")
        show(club, 3, playing(3, ["", ""], seats=(0, 8)))
        shown_at(page, ".board", "Seat 4")  # who has left keeps the number
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

    def test_the_button_for_the_whole_screen_says_what_it_does(
        self, club: ClubOnDisk, open_page: OpenPage
    ) -> None:
        page = open_page("/", size_wh=TV)
        for name in ("Full screen", "Leave full screen", "Full screen"):
            page.get_by_role("button", name=name, exact=True).click()

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
            page.locator("#add-form:not([aria-busy])").wait_for()
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
        comes_true(page, "document.activeElement.id === 'h-round'")

    def test_a_choice_stays_while_other_news_arrives(
        self, club: ClubOnDisk, open_page: OpenPage
    ) -> None:
        an_evening(club)
        page = open_page("/organise", size_wh=PHONE_SMALL)
        held: list[Route] = []
        page.route("**/api/form", lambda route: held.append(route), times=1)
        everyone = page.get_by_role("radio", name="Everyone meets everyone")
        everyone.check()
        page.locator("label", has_text="5").click()
        club.club.add("Zoe")
        shown_at(page, "#members bdi", "Zoe")
        assert everyone.is_checked()
        held[0].continue_()
        comes_true(page, "document.querySelector('[name=size][value=\"5\"]').checked")
        page.locator("#draw").click()
        shown_at(page, "#h-round", "Round 2")
        evening = club.club.view().evening
        assert (evening.system, evening.size) == ("round_robin", 5)

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

    @pytest.mark.slow
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

    def test_an_organiser_reads_and_types_on_a_small_phone(
        self, club: ClubOnDisk, open_page: OpenPage
    ) -> None:
        an_evening(club)
        page = open_page("/organise?language=de", size_wh=(320, 568))
        shown_at(page, "#exports", "24. November 2026")
        name = page.locator("#name").bounding_box()
        assert name is not None
        assert name["width"] > 200
        date = page.locator("#exports span").first
        assert date.evaluate("(node) => node.getClientRects()[0].height") < 30, "in one line"
        for size_wh in ((320, 568), (820, 1180)):
            resize(page, size_wh)
            tops = page.locator("[name=size]").evaluate_all(TOPS)
            assert len(set(tops)) == 1, size_wh

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

    def test_a_list_that_takes_turns_slides_only_where_motion_is_wanted(
        self, club: ClubOnDisk, open_page: OpenPage
    ) -> None:
        an_evening(club)
        page = open_page("/healthz", size_wh=TV)
        page.clock.install()
        page.goto(page.url.removesuffix("healthz"))
        standings = page.locator("#standings:has(td)")
        standings.evaluate("(node) => { node.style.maxHeight = '2em'; }")
        page.clock.run_for(12_000)
        assert standings.evaluate("(node) => node.scrollTop") > 0
        page.emulate_media(reduced_motion="no-preference")
        assert standings.evaluate("(node) => getComputedStyle(node).scrollBehavior") == "smooth"

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
