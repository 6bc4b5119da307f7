"""The table view in a real browser."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from companion.messages.catalogue import LANGUAGES
from companion.tray import TrayStatus, TrayView
from tests.session.fakes import Stage
from tests.web.browsing import (
    BEYOND,
    BROKEN,
    MODULES,
    OVERFLOWING,
    OVERLAPPING,
    PHONE,
    PHONE_FLAT,
    PHONE_SMALL,
    PI_DISPLAY,
    READ_OUT,
    TV,
    OpenPage,
    before_the_locks,
    close_red,
    drawn,
    left,
    put,
    ready,
    resize,
    walk,
)
from tests.web.stand_in import a_roll, dice_in_tray, seat
from tests.web.test_for_everybody import LARGE_TYPE

if TYPE_CHECKING:
    from playwright.sync_api import Page


GROUND = "(node) => getComputedStyle(node).backgroundColor"

COLOUR_OF_MISSES = """() => {
  const sample = document.body.appendChild(document.createElement('i'));
  sample.style.background = getComputedStyle(document.documentElement).getPropertyValue('--miss');
  const { backgroundColor } = getComputedStyle(sample);
  sample.remove();
  return backgroundColor;
}"""

DRAWN = {
    "svg": '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 480 528"/>',
    "title": "A picture",
    "lines": ["One"] * 5,
}
COACHED = {"share": 1, "scores": DRAWN, "luck": DRAWN, "turning": ["Turn 3: " + "and " * 30] * 3}
"""What the coach tells of a game of five."""

WITHOUT_ANNOUNCEMENT = """async (bot) => {
  const { latest } = await import('MODULES/lib/live.js');
  const { drawNews } = await import('MODULES/table/news.js');
  const { game, ...state } = latest();
  const players = game.players.map((player) => ({ ...player, bot }));
  drawNews({ ...state, game: { ...game, players }, announcement: null }, () => 'Ada');
  return document.querySelector('#news .headline').textContent;
}""".replace("MODULES", MODULES)
"""The headline of a table that has announced nothing since its start."""


CUT = """() => [...document.querySelectorAll('main *')]
  .filter((node) => node.getClientRects().length && !node.closest('.sr, svg'))
  .filter((node) => getComputedStyle(node).overflowX !== 'visible')
  .filter((node) => node.textContent.trim() && node.scrollWidth > node.clientWidth + 1)
  .map((node) => node.textContent.trim())"""
"""Texts that end in an ellipsis or at an edge."""


def overflowing(page: Page) -> list[str]:
    """What sticks out of the screen or of its frame on the table view."""
    found: list[str] = page.evaluate(OVERFLOWING)
    return found


class TestTheTableView:
    def test_detections_are_drawn_over_the_picture_and_a_tilted_die_read_out(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "roll")
        page = ready(open_page("/table", size_wh=TV))
        page.locator(
            ".headline", has_text="The green die isn’t lying flat. Throw it again."
        ).wait_for()
        page.locator("#reading polygon").nth(5).wait_for()
        assert page.get_by_role("img", name=re.compile("green 3")).count() == 1
        assert page.locator("#reading .is-doubtful").count() == 1
        trouble = page.get_by_role("status").filter(has_text="The green die isn’t lying flat")
        trouble.wait_for(state="attached")
        stage.session.see(dice_in_tray(a_roll(3, 4)))
        trouble.wait_for(state="detached")

    def test_an_empty_tray_names_the_player_to_throw(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = put(stage, "roll")
        stage.session.see(TrayView(TrayStatus.EMPTY))
        table = ready(open_page("/table", size_wh=TV))
        name = stage.game.names[stage.state.active]
        table.locator("#tray-text", has_text="I can’t see any dice in the tray.").wait_for()
        table.locator(".asked", has_text=f"{name} throws").wait_for()
        assert table.locator(".headline[data-kind=trouble]").count() == 0
        for player, token in enumerate(tokens):
            is_theirs = player == stage.state.active
            said = "Your turn: throw the dice." if is_theirs else f"{name} throws the dice."
            open_page("/", token=token).locator("#status", has_text=said).wait_for()

    def test_no_word_lies_on_a_dies_label(self, stage: Stage, open_page: OpenPage) -> None:
        put(stage, "roll")
        seen = dice_in_tray(a_roll(3, 4), frame=1)
        corners = [(x, y) for x in (40.0, 320.0, 600.0) for y in (40.0, 440.0)]
        dice = [
            replace(die, centre_xy=at, corners_xy=((at[0], at[1]),) * 4)
            for die, at in zip(seen.dice, corners, strict=True)
        ]
        stage.session.see(replace(seen, dice=tuple(dice)))
        page = ready(open_page("/table", size_wh=TV))
        page.locator("#reading text").nth(5).wait_for()
        for size_wh in (TV, PHONE, PHONE_FLAT):
            resize(page, size_wh)
            assert left(page, OVERLAPPING) == [], size_wh
            tag = page.locator("#tag", has_text="Simulated tray").bounding_box()
            picture = page.locator("#picture").bounding_box()
            assert tag is not None
            assert picture is not None
            assert picture["y"] + picture["height"] <= tag["y"] + 0.5, size_wh

    def test_it_fits_a_tv_a_small_display_and_a_phone_held_flat(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "lobby")
        page = ready(open_page("/table", size_wh=TV))
        for state in walk(stage):
            drawn(page, stage)
            assert left(page, OVERFLOWING) == [], state
            resize(page, PI_DISPLAY)
            assert left(page, OVERFLOWING) == [], state
            resize(page, TV)
            if state == "lobby":
                sizes = "all => all.map((name) => getComputedStyle(name).fontSize)"
                assert len(set(page.eval_on_selector_all("#people bdi", sizes))) == 1
            if state == "action1":  # Cleo took a penalty
                taken = page.locator("#people .miss.is-taken")
                assert taken.evaluate(GROUND) == page.evaluate(COLOUR_OF_MISSES)
            if state in ("roll", "action1", "over"):
                resize(page, PHONE_FLAT)
                assert left(page, OVERLAPPING) == [], state
                resize(page, TV)

    def test_long_names_and_many_words_fit_a_tv(self, stage: Stage, open_page: OpenPage) -> None:
        for name in "ABCDE":
            seat(stage, f"{name} Wilhelmina Maxim")
        stage.session.start("big_points", 0)
        stage.roll(5, 6, red=1, yellow=6, green=1, blue=6)
        page = ready(open_page("/table", size_wh=TV))
        page.locator(".headline", has_text="11").wait_for()
        assert overflowing(page) == []

    def test_names_of_wide_letters_fit_televisions_before_a_roll(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        for name in "ABCDE":
            seat(stage, "W" * 19 + name)
        stage.session.change_settings(voice={"language": "fr"})  # the longest sentences
        stage.session.start("big_points", 0)
        page = ready(open_page("/table", size_wh=(1280, 720)))
        assert left(page, BEYOND) == []
        stage.roll(3, 4)
        for player in range(5):
            stage.answer(player, None)
        stage.answer(0, None)  # a penalty, said in two sentences
        stage.session.see(TrayView(TrayStatus.EMPTY))
        drawn(page, stage)
        for size_wh in ((820, 1180), (1280, 720), PI_DISPLAY, TV):
            resize(page, size_wh)
            assert left(page, BEYOND) == [], size_wh
            assert page.locator(".headline", has_text="Coup manqué").is_visible()

    def test_large_type_squeezes_no_line_of_the_header(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "action1")
        page = open_page("/table", size_wh=TV)
        page.locator(".door span").first.wait_for()
        page.evaluate(LARGE_TYPE)
        narrow = """() => [...document.querySelectorAll('.top, .top :is(h1, .now, .door, span, a)')]
          .filter((node) => node.matches('.top') ? node.offsetHeight >= innerHeight / 2
            : node.getBoundingClientRect().width < 4 * parseFloat(getComputedStyle(node).fontSize)
              && node.textContent.length > 8).map((node) => node.textContent)"""
        for size_wh in ((1280, 720), (1024, 768), (1024, 600)):
            resize(page, size_wh)
            assert left(page, narrow) == [], size_wh

    def test_a_corrected_roll_fits_a_tv(self, stage: Stage, open_page: OpenPage) -> None:
        for name in "ABCDE":
            seat(stage, f"{name} Wilhelmina Maxim")
        stage.session.change_settings(voice={"language": "de"})
        stage.session.start("big_points", 0)
        stage.roll(5, 6, red=1, yellow=6, green=1, blue=6)
        for player, box in enumerate(("R11", "Y11", "G11", "B11", "R11")):
            assert stage.answer(player, box, done=False) == ""
        assert stage.correct(4, 6, red=1, yellow=6, green=1, blue=6) is None
        page = ready(open_page("/table", size_wh=TV))
        page.locator(".headline", has_text="10").wait_for()
        assert overflowing(page) == []

    def test_a_closing_is_announced_with_the_sum_still_visible(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        for name in "AB":
            seat(stage, f"{name} Wilhelmina Maxim")
        stage.session.start("base", 0)
        before_the_locks(stage, "R", "")
        stage.answer(0, "R12")
        page = open_page("/table", size_wh=TV)
        page.locator(".banner", has_text="is closing").wait_for()
        assert page.locator(".headline[data-kind=roll]").inner_text() == "12"
        assert overflowing(page) == []

    @pytest.mark.slow
    def test_no_text_is_cut_when_five_play_and_two_closed_a_row(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        close_red(stage, LANGUAGES[0])
        page = open_page("/table", size_wh=TV)
        wide = """[...document.querySelectorAll('.state')]
          .filter((node) => node.scrollWidth > node.clientWidth).map((node) => node.textContent)"""
        for language in LANGUAGES:
            stage.session.change_settings(voice={"language": language})  # the page follows it
            closed = page.locator(f"html[lang={language}] .rows .is-closed", has_text="Benjamin")
            closed.wait_for()
            drawn(page, stage)
            for size_wh in (TV, PI_DISPLAY, PHONE_FLAT, PHONE_SMALL):
                resize(page, size_wh)
                case = language, size_wh
                fits = size_wh in (TV, PI_DISPLAY)
                assert left(page, OVERFLOWING if fits else OVERLAPPING) == [], case
                assert left(page, CUT) == [], case
                assert size_wh == PHONE_SMALL or left(page, BROKEN) == [], case
            resize(page, (820, 1180))
            assert left(page, wide) == [], language

    def test_it_can_be_scanned_before_a_game_and_while_seats_are_free(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "lobby")
        for name in ("Dan", "Eve"):
            seat(stage, name)
        page = ready(open_page("/table", size_wh=TV))
        page.locator("img[src^='/join.svg']").wait_for()
        for number in (4, 3):
            stage.session.leave(number)
        for state in walk(stage, "lobby", "action1", "over"):
            drawn(page, stage)
            box = page.get_by_role("img", name="Scan the code").bounding_box()
            assert box is not None, state
            assert box["width"] > 110, state
        for name in ("Dan", "Eve"):
            seat(stage, name)
        page.locator("img[src^='/join.svg']").wait_for(state="detached")

    def test_address_and_code_follow_the_network(
        self, stage: Stage, open_page: OpenPage, place: dict[str, str]
    ) -> None:
        place["url"] = "http://127.0.0.1:8000/"
        page = ready(open_page("/table", size_wh=TV))
        page.locator(".address", has_text="127.0.0.1:8000").wait_for()
        alone = page.get_by_text("No phone can open this address")
        assert alone.is_visible()
        assert page.evaluate(OVERFLOWING) == []
        before = page.locator(".codes img").get_attribute("src")
        place |= {"url": "http://192.168.1.7:8000/", "name": "http://dice.local:8000/"}
        stage.session.show_anew()
        page.locator(".address", has_text="192.168.1.7:8000").wait_for()
        page.get_by_text("or dice.local:8000", exact=True).wait_for()
        assert not alone.is_visible()
        assert page.locator(".codes img").get_attribute("src") != before
        assert page.evaluate(OVERFLOWING) == []

    def test_in_action_2_the_usable_dice_are_highlighted(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "action2")
        page = ready(open_page("/table", size_wh=TV))
        page.locator(".sums li").nth(3).wait_for()
        assert page.locator(".sums li:not(.is-idle)").count() == 4

    def test_a_sum_that_fits_no_more_does_not_stand_out(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        seat(stage, "Ada")
        page = ready(open_page("/table", size_wh=TV))
        for dice, box, red, idle in (((5, 6), "R11", "3", 1), ((2, 5), "R7", "8", 0)):
            stage.session.start("base", 0)
            stage.roll(*dice)
            stage.answer(0, box)
            stage.answer(0, None)
            stage.roll(1, 6, red=2)
            stage.answer(0, None)
            drawn(page, stage).locator(".sums .is-red", has_text=red).wait_for()
            assert page.locator(".sums .is-red.is-idle").count() == idle, box
            assert page.locator(".sums li:not(.is-idle)").count() == 4 - idle, box
            if not idle:  # three is left of the crossed seven
                assert "3" not in page.locator(".sums .is-red").inner_text()
            stage.session.end()

    def test_an_undone_step_is_said_once(self, stage: Stage, open_page: OpenPage) -> None:
        stage.seat("Ada", "Ben")
        stage.session.start("base", 0)
        stage.roll(3, 4)
        stage.answer(0, "R7")
        stage.answer(1, None)
        assert stage.session.undo() is None
        page = open_page("/table", size_wh=TV)
        page.locator(".banner").wait_for()
        assert page.locator(".news").inner_text().count("Last step undone.") == 1

    def test_a_second_step_taken_back_is_read_out_like_the_first(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = put(stage, "action2")
        for path in ("/table", "/", "/host"):
            page = ready(open_page(path, token=tokens[0]))
            page.evaluate(READ_OUT)
            for _ in range(2):
                assert stage.session.undo() is None
                drawn(page, stage)
            assert page.evaluate("readOut").count("Last step undone.") == 2

    def test_while_people_answer_the_sum_stands_still_and_nothing_is_read_out(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "action1")
        page = ready(open_page("/table", size_wh=TV))
        page.locator(".asked", has_text="Waiting for").wait_for()
        page.evaluate("() => { document.querySelector('.headline').dataset.same = 'yes'; }")
        page.evaluate(READ_OUT)
        stage.answer(0, None)
        page.locator(".asked", has_text="Waiting for Benjamin and Cleo").wait_for()
        stage.answer(1, None)
        page.locator(".asked", has_text="Waiting for Cleo").wait_for()
        assert page.locator(".headline").get_attribute("data-same") == "yes"
        assert page.evaluate("readOut") == []
        stage.answer(2, None)
        stage.time.pass_s(2.0)
        page.locator(".asked", has_text=re.compile("for Ada$")).wait_for()
        assert "red" in page.get_by_role("list", name="Each coloured die").inner_text()

    def test_after_a_restart_it_still_says_who_throws(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "lobby")
        assert stage.session.start("base", 0) is None
        page = ready(open_page("/table", size_wh=TV))
        page.locator("#news .headline").wait_for()
        for bot, asked in (("", "Ada throws"), ("usual", "Throw the dice for Ada.")):
            assert page.evaluate(WITHOUT_ANNOUNCEMENT, bot) == asked

    def test_the_end_has_a_podium_a_reason_and_in_turn_how_it_went(
        self, stage: Stage, open_page: OpenPage, address: str
    ) -> None:
        put(stage, "roll")
        stage.play_out()
        page = open_page("/healthz", size_wh=TV)
        page.clock.install()
        page.route("**/api/coach*", lambda route: route.fulfill(json=COACHED))
        page.goto(f"{address}/table")
        page.locator(".said", has_text="Fourth penalty").wait_for()
        day = datetime.fromisoformat(stage.now).astimezone().day  # where the page is read
        page.locator(".said", has_text=f"{day} November 2026").wait_for()
        assert page.locator(".podium li").count() == 3
        page.locator("#report-turning li").first.wait_for(state="attached")
        page.clock.run_for(20_000)
        page.get_by_role("heading", name="Luck and choices").wait_for()
        assert page.locator("#report svg:visible").count() == 2
        assert not page.locator(".podium").is_visible()
        assert left(page, BEYOND) == []
        page.clock.run_for(20_000)
        page.locator(".podium").wait_for()
