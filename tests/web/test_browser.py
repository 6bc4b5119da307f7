"""The pages in a real browser: whole on a phone, clean for axe, played by taps and by keys."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from companion.engine import Phase
from tests.session.fakes import Stage
from tests.web.stand_in import a_roll, dice_in_tray, seat
from web.caller import Caller

if TYPE_CHECKING:
    from flask import Flask
    from playwright.sync_api import Page

pytestmark = pytest.mark.browser

OpenPage = Callable[..., "Page"]

PHONE_SMALL, PHONE, PHONE_FLAT, TV = (360, 640), (390, 844), (844, 390), (1920, 1080)

STATES = ("lobby", "roll", "action1", "tapped", "action2", "over")


def put(stage: Stage, state: str, variant: str = "base") -> list[str]:
    """Bring a table of three into a state; the players' tokens."""
    tokens = [seat(stage, name).token for name in ("Ada", "Benjamin", "Cleo")]
    if state == "lobby":
        return tokens
    assert stage.session.start(variant, 0) is None
    for low, high in ((1, 2), (2, 2), (6, 6)):
        assert stage.roll(low, high) is None
        for player in range(3):
            total = low + high
            box = f"{'RYR'[player]}{total}" if total < 12 else None
            assert stage.answer(player, box) == ""
        if stage.state.phase is Phase.ACTION2:
            assert stage.answer(stage.state.active, None) == ""
    if state == "roll":
        stage.session.see(dice_in_tray(a_roll(3, 4), leaning="green"))
        return tokens
    stage.session.see(dice_in_tray(a_roll(3, 4)))
    assert stage.session.press() is None
    stage.session.see(dice_in_tray(a_roll(3, 4), status="old"))
    if state == "tapped":
        assert stage.answer(0, "R7", done=False) == ""
    if state == "action2":
        for player in range(3):
            assert stage.answer(player, None) == ""
    if state == "over":
        assert stage.session.end() is None
    return tokens


def violations(page: Page) -> list[str]:
    """What axe finds on the page."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(page).response["violations"]
    return [f"{v['id']}: {[node['target'] for node in v['nodes']]}" for v in found]


def ready(page: Page) -> Page:
    """The page once it shows the table's state."""
    page.locator(
        "main:not([hidden]) :is(bdi, .box, #name, .address, #game-text:not(:empty))"
    ).first.wait_for()
    return page


class TestAxe:
    @pytest.mark.parametrize("state", STATES)
    def test_a_players_page(self, stage: Stage, open_page: OpenPage, state: str) -> None:
        tokens = put(stage, state)
        page = ready(open_page("/", size_wh=PHONE_SMALL, token=tokens[0]))
        assert violations(page) == []
        page.emulate_media(color_scheme="dark")
        page.set_viewport_size({"width": 844, "height": 390})
        assert violations(page) == []

    @pytest.mark.parametrize("state", STATES)
    def test_the_table_view(self, stage: Stage, open_page: OpenPage, state: str) -> None:
        put(stage, state)
        page = ready(open_page("/table", size_wh=TV))
        assert violations(page) == []
        page.emulate_media(color_scheme="dark")
        assert violations(page) == []

    @pytest.mark.parametrize("state", ["lobby", "roll", "over"])
    def test_the_hosts_page(self, stage: Stage, open_page: OpenPage, state: str) -> None:
        put(stage, state)
        page = ready(open_page("/host", size_wh=PHONE))
        assert violations(page) == []
        page.emulate_media(color_scheme="dark")
        assert violations(page) == []

    @pytest.mark.parametrize("path", ["/", "/nothing"])
    def test_joining_and_a_wrong_address(self, open_page: OpenPage, path: str) -> None:
        page = open_page(path, size_wh=PHONE_SMALL)
        page.locator("main:not([hidden])").wait_for()
        assert violations(page) == []
        page.emulate_media(color_scheme="dark")
        assert violations(page) == []


MEASURE = """() => {
  const boxes = [...document.querySelectorAll('.box')].map((box) => {
    const r = box.getBoundingClientRect();
    return { w: r.width, h: r.height, inside: r.top >= 0 && r.left >= 0
      && r.right <= innerWidth + 0.5 && r.bottom <= innerHeight + 0.5,
      top: box.contains(document.elementFromPoint(r.left + r.width / 2, r.top + r.height / 2)) };
  });
  const root = document.documentElement;
  return { boxes, scrolls: root.scrollHeight > innerHeight || root.scrollWidth > innerWidth };
}"""


class TestTheSheetOnAPhone:
    @pytest.mark.parametrize("variant", ["base", "big_points"])
    @pytest.mark.parametrize(
        ("size_wh", "least_px"), [(PHONE_SMALL, 24), (PHONE, 40), (PHONE_FLAT, 24)]
    )
    def test_it_is_whole_without_scrolling_and_can_be_tapped(
        self,
        stage: Stage,
        open_page: OpenPage,
        variant: str,
        size_wh: tuple[int, int],
        least_px: int,
    ) -> None:
        tokens = put(stage, "action1", variant)
        page = ready(open_page("/", size_wh=size_wh, token=tokens[0]))
        page.get_by_role("button", name=re.compile("^red 7")).wait_for()
        measured = page.evaluate(MEASURE)
        boxes = measured["boxes"]
        assert len(boxes) == (44 if variant == "base" else 66)
        assert not measured["scrolls"]
        assert all(box["inside"] and box["top"] for box in boxes)
        assert min(min(box["w"], box["h"]) for box in boxes) >= least_px

    @pytest.mark.parametrize("size_wh", [(320, 480), (360, 520), (568, 280)])
    def test_on_a_tiny_screen_everything_can_be_reached(
        self, stage: Stage, open_page: OpenPage, size_wh: tuple[int, int]
    ) -> None:
        tokens = put(stage, "action1", "big_points")
        page = ready(open_page("/", size_wh=size_wh, token=tokens[0]))
        page.locator("[data-token=B2]").scroll_into_view_if_needed()
        measured = page.evaluate(MEASURE)
        assert min(min(box["w"], box["h"]) for box in measured["boxes"]) >= 24
        page.get_by_role("button", name="red 7, can be crossed now").click()
        page.get_by_role("button", name="Done").click()
        wait_until(page, lambda: stage.state.answers[0] is not None)

    def test_nothing_moves_between_the_phases(self, stage: Stage, open_page: OpenPage) -> None:
        tokens = put(stage, "roll")
        page = ready(open_page("/", size_wh=PHONE_SMALL, token=tokens[0]))
        box = page.get_by_role("button", name=re.compile("^blue 2"))
        done = page.locator("#done")
        before = (box.bounding_box(), done.bounding_box())
        stage.session.see(dice_in_tray(a_roll(3, 4)))
        stage.session.press()
        page.get_by_role("button", name="red 7, can be crossed now").wait_for()
        assert (box.bounding_box(), done.bounding_box()) == before
        page.get_by_role("button", name="red 7, can be crossed now").click()
        page.get_by_role("button", name=re.compile("^red 7, your choice")).wait_for()
        page.get_by_role("button", name=re.compile("^red 3")).click()
        page.locator("#why").get_by_text("The white dice make 7, not 3.").wait_for()
        assert (box.bounding_box(), done.bounding_box()) == before


class TestTheDiceOfABox:
    def test_a_legal_box_names_the_dice_that_make_it(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = put(stage, "action2")
        page = open_page("/", token=tokens[0])
        box = page.get_by_role("button", name="blue 6, can be crossed now, white 3 + blue 3")
        box.wait_for()
        assert box.locator(".chip").all_inner_texts() == ["3", "3"]
        box.click()
        page.locator("#status", has_text="Blue 6 (white 3 + blue 3).").wait_for()

    def test_points_can_be_hidden_and_stay_hidden(self, stage: Stage, open_page: OpenPage) -> None:
        tokens = put(stage, "action1")
        page = open_page("/", token=tokens[0])
        page.get_by_role("button", name="Total 3, hide my points").click()
        page.locator("#total").wait_for(state="hidden")
        page.reload()
        page.get_by_role("button", name="Show my points").click()
        page.locator("#total", has_text="3").wait_for()


class TestPlaying:
    def test_from_the_name_to_the_first_cross(self, stage: Stage, open_page: OpenPage) -> None:
        ada, table = open_page("/"), open_page("/table", size_wh=TV)
        table.get_by_text("http://192.168.1.5:8000/").first.wait_for()
        ada.get_by_label("Your name").fill("  <b>Ada</b> ")
        ada.get_by_role("button", name="Take a seat").click()
        ada.get_by_text("Welcome, <b>Ada</b>!").wait_for()
        table.get_by_text("<b>Ada</b>", exact=True).wait_for()
        ada.get_by_role("button", name="Start the game").click()
        ada.get_by_role("button", name="Throw").click()
        stage.session.see(dice_in_tray(a_roll(3, 4)))
        table.get_by_text("The dice are read").wait_for()
        ada.get_by_role("button", name="Confirm").click()
        table.locator(".headline", has_text=re.compile("^7$")).wait_for()
        ada.get_by_role("button", name="red 7, can be crossed now").click()
        ada.get_by_role("button", name=re.compile("^red 7, your choice")).wait_for()
        ada.get_by_role("button", name="Done").click()
        ada.get_by_role("button", name="red 7, crossed").wait_for()
        ada.get_by_role("button", name="red 2, skipped").wait_for()
        assert stage.state.phase is Phase.ACTION2
        assert ada.locator("#total").inner_text() == "1"

    def test_a_tap_again_takes_it_back(self, stage: Stage, open_page: OpenPage) -> None:
        tokens = put(stage, "action1")
        page = open_page("/", token=tokens[0])
        box = page.locator("[data-token=R7]")
        box.click()
        page.get_by_role("button", name=re.compile("^red 7, your choice")).wait_for()
        wait_until(page, lambda: stage.state.answers[0] is not None)
        box.click()
        page.get_by_role("button", name="red 7, can be crossed now").wait_for()
        wait_until(page, lambda: stage.state.answers[0] is None)

    def test_an_illegal_tap_says_why_and_marks_nothing(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = put(stage, "action1")
        page = open_page("/", token=tokens[0])
        page.locator("[data-token=R9]").click()
        why = page.get_by_role("alert").filter(has_text="The white dice make 7, not 9.")
        why.wait_for()
        assert page.get_by_role("button", name="red 9", exact=True).count() == 1

    def test_passing_closes_the_action_and_a_miss_is_warned_of(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = put(stage, "action1")
        page = open_page("/", token=tokens[0])
        stage.answer(1, None)
        stage.answer(2, None)
        page.get_by_role("button", name="Pass").wait_for()
        page.get_by_role("button", name="Pass").click()
        page.get_by_text("Passing is a miss!").wait_for()
        assert stage.state.phase is Phase.ACTION2

    def test_the_keyboard_reaches_every_box(self, stage: Stage, open_page: OpenPage) -> None:
        tokens = put(stage, "action1")
        page = open_page("/", size_wh=PHONE_FLAT, token=tokens[0])
        page.locator("[data-token=R2]").focus()
        for key in ("ArrowDown", "ArrowRight", "End", "Home", "ArrowDown", "ArrowUp"):
            page.keyboard.press(key)
        assert page.evaluate("document.activeElement.dataset.token") == "Y2"
        page.set_viewport_size({"width": 390, "height": 844})
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowLeft")
        assert page.evaluate("document.activeElement.dataset.token") == "R3"
        for _ in range(4):
            page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        wait_until(page, lambda: stage.state.answers[0] is not None)
        assert page.evaluate("document.activeElement.dataset.token") == "R7"

    def test_a_reload_comes_back_to_the_seat(self, stage: Stage, open_page: OpenPage) -> None:
        tokens = put(stage, "action1")
        page = open_page("/", token=tokens[1])
        page.get_by_role("button", name="yellow 7, can be crossed now").click()
        wait_until(page, lambda: stage.state.answers[1] is not None)
        page.reload()
        page.get_by_role("button", name=re.compile("^yellow 7, your choice")).wait_for()

    def test_a_closing_is_told_to_who_may_still_change(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = [seat(stage, name).token for name in ("Ada", "Ben")]
        stage.session.start("base", 0)
        for low, high in ((1, 1), (1, 2), (2, 2), (2, 3), (3, 3)):
            stage.roll(low, high)
            stage.answer(0, f"R{low + high}")
            stage.answer(1, None)
            stage.answer(stage.state.active, None)
        stage.roll(6, 6)
        ben = open_page("/", token=tokens[1])
        ben.get_by_role("button", name="red 12", exact=True).wait_for()
        stage.answer(0, "R12")
        ben.locator("#status", has_text="Ada closes red. White 12: ").wait_for()
        stage.answer(1, None)
        ben.locator("#status", has_text="You may still change your answer.").wait_for()
        stage.time.pass_s(10)
        ben.get_by_role("group", name="Red, 2 to 12, closed by Ada").wait_for()
        assert ben.get_by_role("button", name="red 3, closed").count() == 1

    def test_offline_is_said_and_the_mark_arrives_later(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = put(stage, "action1")
        page = open_page("/", token=tokens[0])
        page.get_by_role("button", name="red 7, can be crossed now").wait_for()
        page.context.set_offline(True)
        page.locator("[data-token=R7]").click()
        page.get_by_text("No connection to the table").wait_for()
        page.get_by_role("button", name=re.compile("^red 7, your choice")).wait_for()
        assert stage.state.answers[0] is None
        page.context.set_offline(False)
        wait_until(page, lambda: stage.state.answers[0] is not None)
        page.get_by_text("No connection to the table").wait_for(state="hidden")

    def test_a_mark_that_comes_too_late_explains_itself(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = put(stage, "action1")
        page = open_page("/", token=tokens[1])
        page.get_by_role("button", name="red 7, can be crossed now").wait_for()
        page.context.set_offline(True)
        page.locator("[data-token=R7]").click()
        page.get_by_text("No connection to the table").wait_for()
        for player in range(3):
            stage.answer(player, None)
        assert stage.state.phase is Phase.ACTION2
        page.context.set_offline(False)
        page.get_by_role("alert").filter(has_text=re.compile("late marks|in time")).wait_for()
        page.get_by_role("button", name="red 7", exact=True).wait_for()


OVERFLOWING = """() => {
  const out = (node, box) => {
    const r = node.getBoundingClientRect();
    return r.bottom > box.bottom + 1 || r.right > box.right + 1 || r.top < box.top - 1;
  };
  const screen = { top: 0, bottom: innerHeight, right: innerWidth };
  const news = document.querySelector('.news');
  const found = [...document.querySelectorAll('.news, .people li, .rows li, .top *')]
    .filter((node) => node.getClientRects().length && out(node, screen));
  found.push(...[...news.children].filter((node) => out(node, news.getBoundingClientRect())));
  const lines = [...document.querySelectorAll('.headline[data-kind=roll]')]
    .filter((node) => node.scrollHeight > 1.5 * parseFloat(getComputedStyle(node).fontSize));
  return [...found, ...lines].map((node) => node.className || node.tagName);
}"""


def overflowing(page: Page) -> list[str]:
    """What sticks out of the screen or of its frame on the table view."""
    found: list[str] = page.evaluate(OVERFLOWING)
    return found


class TestTheTableView:
    def test_what_the_eye_saw_is_drawn_over_the_picture(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "roll")
        page = open_page("/table", size_wh=TV)
        page.locator("#tray-text", has_text="The green die is leaning. Throw it again.").wait_for()
        page.locator("#reading polygon").nth(5).wait_for()
        drawn = page.get_by_role("img", name=re.compile("green 3"))
        assert drawn.count() == 1
        assert page.locator("#reading .is-doubtful").count() == 1

    @pytest.mark.parametrize("state", STATES)
    def test_it_fits_a_tv(self, stage: Stage, open_page: OpenPage, state: str) -> None:
        put(stage, state)
        assert overflowing(ready(open_page("/table", size_wh=TV))) == []

    def test_long_names_and_many_words_fit_a_tv(self, stage: Stage, open_page: OpenPage) -> None:
        for name in "ABCDE":
            seat(stage, f"{name} Wilhelmina Maxim")
        stage.session.start("big_points", 0)
        stage.roll(5, 6, red=1, yellow=6, green=1, blue=6)
        page = ready(open_page("/table", size_wh=TV))
        page.locator(".headline", has_text="11").wait_for()
        assert overflowing(page) == []

    def test_a_corrected_roll_fits_a_tv(self, stage: Stage, open_page: OpenPage) -> None:
        for name in "ABCDE":
            seat(stage, f"{name} Wilhelmina Maxim")
        stage.session.use_language("de")
        stage.session.start("big_points", 0)
        stage.roll(5, 6, red=1, yellow=6, green=1, blue=6)
        for player, box in enumerate(("R11", "Y11", "G11", "B11", "R11")):
            assert stage.answer(player, box, done=False) == ""
        assert stage.correct(4, 6, red=1, yellow=6, green=1, blue=6) is None
        page = ready(open_page("/table", size_wh=TV))
        page.locator(".headline", has_text="10").wait_for()
        assert overflowing(page) == []

    def test_a_closing_is_told_with_the_sum_still_in_sight(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        for name in "AB":
            seat(stage, f"{name} Wilhelmina Maxim")
        stage.session.start("base", 0)
        for low, high in ((1, 1), (1, 2), (2, 2), (2, 3), (3, 3)):
            stage.roll(low, high)
            stage.answer(0, f"R{low + high}")
            stage.answer(1, None)
            stage.answer(stage.state.active, None)
        stage.roll(6, 6)
        stage.answer(0, "R12")
        page = open_page("/table", size_wh=TV)
        page.locator(".banner", has_text="closes").wait_for()
        assert page.locator(".headline[data-kind=roll]").inner_text() == "12"
        assert overflowing(page) == []

    def test_the_end_has_a_podium_and_a_reason(self, stage: Stage, open_page: OpenPage) -> None:
        put(stage, "over")
        page = open_page("/table", size_wh=TV)
        page.get_by_text("The table ended the game early.").wait_for()
        assert page.locator(".podium li").count() == 3


class TestTheLine:
    def test_without_a_stream_the_page_asks_again_and_again(
        self, stage: Stage, app: Flask, open_page: OpenPage
    ) -> None:
        streams = app.extensions["streams"]
        taken = [streams.open(Caller(None, (), True, ("", ""))) for _ in range(36)]
        assert None not in taken
        page = open_page("/")
        page.get_by_text("Nobody sits here yet.").wait_for()
        stage.session.join("Ada")
        page.get_by_text("Already here: Ada.").wait_for()

    def test_waking_up_opens_a_new_stream(
        self, stage: Stage, app: Flask, open_page: OpenPage
    ) -> None:
        page = open_page("/")
        page.get_by_text("Nobody sits here yet.").wait_for()
        streams = app.extensions["streams"]
        for stream in list(streams._open):
            stream.close()  # as iOS does to a sleeping page, without a word
        page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        stage.session.join("Ada")
        page.get_by_text("Already here: Ada.").wait_for()
        assert len(streams) == 1

    def test_a_forgotten_seat_asks_for_the_name_again(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        token = seat(stage, "Ada").token
        page = open_page("/", token=token)
        page.get_by_text("Welcome, Ada!").wait_for()
        stage.session.leave(0)
        page.get_by_label("Your name").wait_for()


class TestTheHost:
    def test_dice_by_hand(self, stage: Stage, open_page: OpenPage) -> None:
        put(stage, "roll")
        page = open_page("/host", size_wh=TV)
        page.get_by_text("Enter the dice by hand").click()
        page.get_by_role("button", name="Confirm these dice").click()
        page.get_by_text("Every die needs its number.").wait_for()
        for name in ("First white die 3", "Second white die 4", "red 1", "yellow 2"):
            page.get_by_label(name).check()
        for name in ("green 5", "blue 6"):
            page.get_by_label(name).check()
        page.get_by_role("button", name="Confirm these dice").click()
        wait_until(page, lambda: stage.state.phase is Phase.ACTION1)
        assert stage.game.typed
        assert stage.state.roll == a_roll(3, 4, red=1, yellow=2, green=5, blue=6)

    def test_ending_early_asks_first(self, stage: Stage, open_page: OpenPage) -> None:
        put(stage, "action1")
        page = open_page("/host")
        page.get_by_role("button", name="End the game early").click()
        page.get_by_role("button", name="No, go on").click()
        assert stage.state.phase is Phase.ACTION1
        page.get_by_role("button", name="End the game early").click()
        page.get_by_role("button", name="Yes, end it").click()
        wait_until(page, lambda: stage.state.phase is Phase.OVER)
        page.get_by_role("button", name="Play again with the same players").click()
        page.get_by_role("dialog").get_by_role("button", name="Play again").click()
        wait_until(page, lambda: stage.state.phase is Phase.ROLL)

    def test_a_die_is_put_right_by_tapping_it(self, stage: Stage, open_page: OpenPage) -> None:
        tokens = put(stage, "tapped")
        ada = open_page("/", token=tokens[0])
        host = open_page("/host", size_wh=PHONE_SMALL)
        host.get_by_role("button", name="Correct white 3").click()
        dialog = host.get_by_role("dialog")
        faces = dialog.locator(".rolled-die")
        assert faces.count() == 5
        assert faces.first.get_attribute("aria-label") == "white 5"  # most easily taken for a 3
        assert not dialog.get_by_role("button", name="Correct the roll").is_visible()
        faces.first.click()
        dialog.get_by_text("White 7 becomes 9.").wait_for()
        dialog.get_by_text("Ada answers again.").wait_for()
        assert violations(host) == []
        assert stage.state.roll == a_roll(3, 4)
        dialog.get_by_role("button", name="Correct the roll").click()
        wait_until(host, lambda: stage.state.roll == a_roll(4, 5))
        dialog.wait_for(state="hidden")
        ada.locator("#status", has_text="White 9: cross one box").wait_for()

    def test_a_doubtful_die_is_told_before_the_roll_is_confirmed(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "roll")
        page = open_page("/host", size_wh=PHONE_SMALL)
        page.locator(".rolled-die.is-doubtful").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("button", name="green 5").click()
        dialog.get_by_role("button", name="Put it right").click()
        page.get_by_role("button", name="Correct green 5").wait_for()
        wait_until(page, lambda: stage.session.view().tray.roll is not None)
        page.get_by_role("button", name="Confirm", exact=True).click()
        wait_until(page, lambda: stage.state.roll == a_roll(3, 4, green=5))

    def test_undo_says_first_what_it_takes_back(self, stage: Stage, open_page: OpenPage) -> None:
        put(stage, "action1")
        page = open_page("/host")
        page.get_by_role("button", name="Undo the last step").click()
        page.get_by_text("The roll is taken back (white 7).").wait_for()
        page.get_by_role("button", name="Yes, take it back").click()
        wait_until(page, lambda: stage.state.phase is Phase.ROLL)

    def test_it_answers_for_somebody_whose_phone_died(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "action1")
        page = open_page("/host")
        page.get_by_role("button", name="Answer for Benjamin").click()
        page.get_by_role("dialog").get_by_role("button", name="Green 7").click()
        wait_until(page, lambda: stage.state.answers[1] is not None)
        page.get_by_role("button", name="Answer for Cleo").click()
        page.get_by_role("dialog").get_by_role("button", name="Pass").click()
        wait_until(page, lambda: stage.state.answers[2] is not None)
        page.get_by_role("button", name="Answer for Cleo").wait_for(state="hidden")

    def test_another_device_needs_the_pin_of_the_table_view(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "lobby")
        table = open_page("/table", size_wh=TV)
        first, second = open_page("/host"), None
        first.get_by_role("button", name="Start the game").wait_for()
        second = open_page("/host", size_wh=PHONE_SMALL)
        second.get_by_text("This device does not lead the table").wait_for()
        assert violations(second) == []
        second.get_by_label("The host's PIN").fill("0000")
        second.get_by_role("button", name="Lead the table").click()
        second.get_by_text("The PIN is not right.").wait_for()
        pin = table.locator(".qr").get_by_text("Host PIN").inner_text().split()[-1]
        second.get_by_label("The host's PIN").fill(pin)
        second.get_by_role("button", name="Lead the table").click()
        second.get_by_role("button", name="Start the game").wait_for()

    def test_the_order_and_the_hints_are_set(self, stage: Stage, open_page: OpenPage) -> None:
        tokens = put(stage, "lobby")
        page = open_page("/host")
        page.get_by_role("button", name="Cleo plays earlier").click()
        wait_until(page, lambda: names(stage) == ["Ada", "Cleo", "Benjamin"])
        page.get_by_label("Show on the sheets which boxes fit").uncheck()
        wait_until(page, lambda: not stage.session.view().table.settings.hints)
        stage.session.start("base", 0)
        stage.session.see(dice_in_tray(a_roll(3, 4)))
        stage.session.press()
        phone = open_page("/", token=tokens[0])
        box = phone.get_by_role("button", name="red 7", exact=True)
        box.click()
        phone.get_by_role("button", name=re.compile("^red 7, your choice")).wait_for()
        phone.locator("[data-token=R9]").click()
        phone.get_by_role("alert").filter(has_text="The white dice make 7, not 9.").wait_for()


def names(stage: Stage) -> list[str]:
    """Who sits at the table, in playing order."""
    return [seat.name for seat in stage.session.view().table.seats]


class TestPeople:
    def test_a_seat_moves_to_another_device(self, stage: Stage, open_page: OpenPage) -> None:
        tokens = put(stage, "action1")
        old, host = open_page("/", token=tokens[1]), open_page("/host")
        ready(old)
        tablet = open_page("/", size_wh=(768, 1024))
        host.get_by_role("button", name="Hand Benjamin's seat on").click()
        host.get_by_text("Now open this table's page on the other device.").wait_for()
        tablet.get_by_role("button", name="Take Benjamin's seat").click()
        tablet.get_by_role("button", name=re.compile("^yellow 7, can be crossed now")).click()
        wait_until(tablet, lambda: stage.state.answers[1] is not None)
        old.get_by_label("Your name").wait_for()

    def test_a_shared_tablet_shows_one_sheet_after_the_other(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = open_page("/", size_wh=(768, 1024))
        page.get_by_label("Your name").fill("Ada")
        page.get_by_role("button", name="Take a seat").click()
        page.get_by_text("One more player on this device").click()
        page.get_by_label("Their name").fill("Grandma")
        page.get_by_role("button", name="Take a seat").click()
        page.get_by_text("Welcome, Ada and Grandma!").wait_for()
        assert violations(page) == []
        page.get_by_role("button", name="Start the game").click()
        page.get_by_role("button", name="Throw", exact=True).wait_for()
        stage.session.see(dice_in_tray(a_roll(3, 4)))
        page.get_by_role("button", name="Confirm").click()
        page.locator("#status", has_text="Ada: White 7").wait_for()
        assert violations(page) == []
        page.get_by_role("button", name="red 7, can be crossed now").click()
        page.get_by_role("button", name="Done").click()
        page.locator("#status", has_text="Grandma: White 7").wait_for()
        page.get_by_role("button", name=re.compile("^Ada")).click()
        page.locator("#status", has_text="Ada: Red 7 it is.").wait_for()
        page.get_by_role("button", name=re.compile("^Grandma")).click()
        page.get_by_role("button", name="Pass").click()
        wait_until(page, lambda: stage.state.phase is Phase.ACTION2)
        assert stage.state.crosses[0] != 0

    def test_the_code_is_asked_for_only_where_it_is_needed(
        self, stage: Stage, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("web.caller.is_loopback", lambda address: False)  # as a phone elsewhere
        typed = open_page("/", size_wh=PHONE_SMALL)
        typed.get_by_label("Your name").fill("Ada")
        typed.get_by_label("Table code").fill("AAAA")
        typed.get_by_role("button", name="Take a seat").click()
        typed.get_by_text("The code is not right.").wait_for()
        assert violations(typed) == []
        typed.get_by_label("Table code").fill("qwx7")
        typed.get_by_role("button", name="Take a seat").click()
        typed.get_by_text("Welcome, Ada!").wait_for()
        scanned = open_page("/?code=QWX7", size_wh=PHONE_SMALL)
        scanned.get_by_label("Your name").fill("Ben")
        assert not scanned.get_by_label("Table code").is_visible()
        scanned.get_by_role("button", name="Take a seat").click()
        scanned.get_by_text("Welcome, Ben! The host starts").wait_for()
        assert names(stage) == ["Ada", "Ben"]

    def test_a_phone_comes_back_by_one_tap_under_another_address(
        self, app: Flask, open_page: OpenPage
    ) -> None:
        phone = open_page("/")
        phone.get_by_label("Your name").fill("Ada")
        phone.get_by_role("button", name="Take a seat").click()
        phone.get_by_text("Welcome, Ada!").wait_for()
        phone.goto("about:blank")
        for stream in list(app.extensions["streams"]._open):
            stream.close()  # as the next heartbeat would
        again = open_page("/")
        again.get_by_role("button", name="Back to Ada's seat").click()
        again.get_by_text("Welcome, Ada!").wait_for()


def wait_until(page: Page, holds: Callable[[], bool]) -> None:
    """Let the page go on until something holds at the table."""
    for _ in range(160):
        if holds():
            return
        page.wait_for_timeout(50)
    pytest.fail("the table never heard of it")
