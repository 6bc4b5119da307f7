"""Boxes marked in a real browser: by taps and keys, refused, offline and too late."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from companion.engine import Phase
from tests.session.fakes import Stage
from tests.web.browsing import (
    PHONE_FLAT,
    TV,
    OpenPage,
    before_the_locks,
    put,
    ready,
    stop_the_clock,
    wait_until,
)
from tests.web.stand_in import a_roll, dice_in_tray, seat

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route


def tap_cut_off(page: Page) -> None:
    """Cross red 7 while no answer reaches the table, then or later."""
    page.get_by_role("button", name="red 7, can be crossed now").wait_for()
    page.route("**/api/answer", lambda route: route.abort())
    page.locator("[data-token=R7]").click()
    page.get_by_role("button", name=re.compile("^red 7, your choice")).wait_for()


def tap_in_vain(page: Page) -> None:
    """Cross red 7 while no answer reaches the table."""
    tap_cut_off(page)
    page.unroute("**/api/answer")


class TestPlaying:
    def test_from_the_name_to_the_first_cross(self, stage: Stage, open_page: OpenPage) -> None:
        ada, table = open_page("/"), open_page("/table", size_wh=TV)
        table.locator(".address", has_text="192.168.1.5:8000").wait_for()
        ada.get_by_label("Your name").fill("  <b>Ada</b> ")
        ada.get_by_role("button", name="Take a seat").click()
        ada.get_by_text("Welcome, <b>Ada</b>!").wait_for()
        table.get_by_text("<b>Ada</b>", exact=True).wait_for()
        ada.get_by_role("button", name="Start the game").click()
        ada.get_by_role("button", name="Throw", exact=True).click()
        stage.session.see(dice_in_tray(a_roll(3, 4)))
        table.locator("#news").get_by_text("Dice read").wait_for()
        ada.get_by_role("button", name="Confirm").click()
        table.locator(".headline", has_text=re.compile("^7$")).wait_for()
        ada.get_by_role("button", name="red 7, can be crossed now").click()
        ada.get_by_role("button", name=re.compile("^red 7, your choice")).wait_for()
        ada.get_by_role("button", name="Done").click()
        wait_until(ada, lambda: not stage.state.waiting_for)
        stage.time.pass_s(3.1)
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

    def test_an_illegal_tap_shows_the_reason_and_marks_nothing(
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
        wait_until(page, lambda: not stage.state.waiting_for)
        stage.time.pass_s(3.1)
        page.get_by_text("Passing costs you a penalty!").wait_for()
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

    def test_screen_readers_get_the_legal_boxes_first(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = ready(open_page("/", token=put(stage, "roll")[0]))
        stage.session.see(dice_in_tray(a_roll(3, 4)))
        stage.session.press()
        text = "You can cross red 7, yellow 7, green 7 or blue 7."
        said = page.locator("[aria-live]", has_text=text)
        said.wait_for(state="attached")
        assert page.locator(".box[tabindex='0']").get_attribute("data-token") == "R7"
        page.locator(".box[tabindex='0']").press("Enter")
        wait_until(page, lambda: stage.state.answers[0] is not None)
        said.wait_for(state="detached")

    def test_a_player_using_the_keyboard_keeps_the_focus(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = ready(open_page("/", token=put(stage, "action1")[0]))
        button = page.get_by_role("button", name="Pass")
        wait_until(page, button.is_enabled)
        button.press("Enter")
        wait_until(page, lambda: stage.state.answers[0] is not None)
        page.get_by_role("button", name="Passed", disabled=True).wait_for()
        assert page.evaluate("document.activeElement.id") == "done"

    def test_the_result_covers_the_sheet_for_everybody(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = ready(open_page("/", token=put(stage, "action1")[0]))
        page.locator("[data-token=R7]").focus()
        stage.session.end()
        page.locator("#over").wait_for()
        assert page.evaluate("document.activeElement.id") == "over"
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('#over') !== null")

    def test_a_reload_comes_back_to_the_seat(self, stage: Stage, open_page: OpenPage) -> None:
        tokens = put(stage, "action1")
        page = open_page("/", token=tokens[1])
        page.get_by_role("button", name="yellow 7, can be crossed now").click()
        wait_until(page, lambda: stage.state.answers[1] is not None)
        page.reload()
        page.get_by_role("button", name=re.compile("^yellow 7, your choice")).wait_for()

    def test_a_closing_is_shown_to_players_who_may_still_change(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = [seat(stage, name).token for name in ("Ada", "Ben")]
        stage.session.start("base", 0)
        before_the_locks(stage, "R", "")
        ben = open_page("/", token=tokens[1])
        ben.get_by_role("button", name="red 12", exact=True).wait_for()
        said = ben.locator("#said")
        stage.answer(0, "R12")
        ben.locator("#status", has_text="Ada is closing red. White 12: ").wait_for()
        assert said.inner_text() == ""  # what is said already is not said once more
        assert stage.session.withdraw(0, stage.state.turn, 1) is None
        said.filter(has_text="Ada isn’t closing red after all.").wait_for(state="attached")
        stage.answer(0, "R12")
        ben.get_by_role("button", name="blue 12, can be crossed now").click()
        ben.locator(
            "#status",
            has_text="Ada is closing red. Blue 12 (white 6 + white 6) counts in a moment.",
        ).wait_for()
        wait_until(ben, lambda: stage.state.answers[1] is not None)
        stage.answer(1, None)
        ben.locator("#status", has_text="You can still change your answer.").wait_for()
        stage.time.pass_s(10)
        ben.get_by_role("group", name="Red, 2 to 12, closed by Ada").wait_for()
        assert ben.get_by_role("button", name="red 3, closed").count() == 1

    def test_offline_is_shown_and_the_mark_arrives_later(
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

    def test_a_mark_outlasts_a_page_that_a_sleeping_phone_dropped(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = open_page("/", token=put(stage, "action1")[0])
        tap_in_vain(page)
        assert stage.state.answers[0] is None
        page.reload()
        page.get_by_role("button", name=re.compile("^red 7, your choice")).wait_for()
        wait_until(page, lambda: stage.state.answers[0] is not None)
        wait_until(page, lambda: page.evaluate("localStorage.getItem('unsent-answers')") == "")

    def test_a_dropped_page_tells_of_a_mark_that_comes_too_late(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = open_page("/", token=put(stage, "action1")[1])
        tap_in_vain(page)
        address = page.url
        page.goto("about:blank")  # it hears nothing of what follows
        for player in range(3):
            stage.answer(player, None)
        assert stage.state.phase is Phase.ACTION2
        page.goto(address)
        page.get_by_role("alert").filter(has_text=re.compile("no longer|Too late")).wait_for()

    def test_an_answer_under_way_for_long_does_not_pass_for_counted(
        self, stage: Stage, open_page: OpenPage, address: str
    ) -> None:
        tokens = put(stage, "action1")
        page = open_page("/healthz", token=tokens[0])
        page.clock.install()
        page.goto(address)
        red = page.get_by_role("button", name="red 7, can be crossed now")
        red.wait_for()
        under_way: list[Route] = []
        page.route("**/api/answer", lambda route: under_way.append(route))
        stop_the_clock(page)
        red.click()
        page.get_by_role("button", name=re.compile("^red 7, your choice")).wait_for()
        told = page.get_by_text("No connection to the table")
        page.clock.run_for(2_500)
        assert not told.is_visible()
        page.clock.run_for(1_000)
        told.wait_for()
        wait_until(page, lambda: len(under_way) == 1)
        under_way[0].continue_()
        told.wait_for(state="hidden")
        wait_until(page, lambda: stage.state.answers[0] is not None)

    def test_a_page_from_something_between_is_no_answer_to_a_mark(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = open_page("/", token=put(stage, "action1")[0])
        red = page.get_by_role("button", name="red 7, can be crossed now")
        red.wait_for()
        page.route(
            "**/api/*",
            lambda route: route.fulfill(status=502, content_type="text/html", body="<p>502"),
        )
        red.click()
        page.get_by_text("No connection to the table").wait_for()
        page.get_by_role("button", name=re.compile("^red 7, your choice")).wait_for()
        page.unroute("**/api/*")
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
        page.get_by_role("alert").filter(has_text=re.compile("no longer|Too late")).wait_for()
        page.get_by_role("button", name="red 7", exact=True).wait_for()

    def test_what_an_action_closed_without_is_told_before_any_reply(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = open_page("/", token=put(stage, "action1")[1])
        tap_cut_off(page)
        for player in range(3):
            stage.answer(player, None)
        page.locator("#why", has_text="Too late").wait_for()
        stage.answer(0, None)
        stage.roll(3, 4)
        yellow = page.get_by_role("button", name="yellow 7, can be crossed now")
        yellow.wait_for()
        page.locator("#why", has_text="Too late").wait_for()

    def test_a_seat_that_is_freed_while_its_mark_is_on_its_way(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = open_page("/", token=put(stage, "action1")[1])
        tap_cut_off(page)
        assert stage.session.let_go(1) is None
        for player in (0, 2):
            stage.answer(player, None)
        page.locator("#join-why", has_text="no longer have a seat").wait_for()

    def test_a_mark_that_could_not_be_taken_back_in_time_is_told(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = open_page("/", token=put(stage, "action1")[1])
        page.get_by_role("button", name="red 7, can be crossed now").click()
        wait_until(page, lambda: stage.state.answers[1] is not None)
        for path in ("answer", "withdraw"):
            page.route(f"**/api/{path}", lambda route: route.abort())
        page.wait_for_timeout(500)  # no double tap
        page.locator("[data-token=R7]").click()
        page.get_by_role("button", name="red 7, can be crossed now").wait_for()
        page.locator("#done").click()
        for player in (0, 2):
            stage.answer(player, None)
        stage.session.close_action()
        page.get_by_role("button", name="red 7, crossed").wait_for()
        page.locator("#why", has_text="Too late").wait_for()

    def test_a_counted_mark_whose_reply_is_lost_is_not_called_late(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = open_page("/", token=put(stage, "action1")[1])
        red = page.get_by_role("button", name="red 7, can be crossed now")
        red.wait_for()
        page.route("**/api/answer", lambda route: (route.fetch(), route.abort()))
        red.click()
        wait_until(page, lambda: stage.state.answers[1] is not None)
        for player in (0, 2):
            stage.answer(player, None)
        stage.session.close_action()
        page.get_by_role("button", name="red 7, crossed").wait_for()
        page.wait_for_timeout(300)
        assert page.locator("#why").inner_text() == ""


def test_the_reason_of_a_refused_tap_goes_when_an_action_opens(
    stage: Stage, open_page: OpenPage
) -> None:
    page = ready(open_page("/", size_wh=(360, 740), token=put(stage, "roll")[0]))
    page.locator("[data-token=R7]").click()
    page.locator("#why", has_text="Throw the dice first.").wait_for()
    stage.session.see(dice_in_tray(a_roll(3, 4)))
    assert stage.session.press() is None
    page.locator("#why:empty").wait_for(state="attached")
    page.locator("[data-token=R9]").click()
    lines = "(link) => (link.clientHeight - 24) / parseFloat(getComputedStyle(link).lineHeight)"
    assert page.locator("#why a").evaluate(lines) < 1.5  # less its padding


def test_the_reason_of_a_refused_tap_goes_when_the_dice_are_corrected(
    stage: Stage, open_page: OpenPage
) -> None:
    page = ready(open_page("/", token=put(stage, "action1")[0]))
    page.locator("[data-token=R8]").click()
    page.locator("#why", has_text="The white dice make 7, not 8.").wait_for()
    assert stage.correct(4, 4) is None
    page.get_by_role("button", name="red 8, can be crossed now").wait_for()
    page.locator("#why:empty").wait_for(state="attached")


def test_the_reason_of_a_refused_tap_goes_when_the_next_game_begins(
    stage: Stage, open_page: OpenPage
) -> None:
    page = ready(open_page("/", token=put(stage, "over")[0]))
    page.get_by_role("button", name="See my sheet").click()
    page.locator("[data-token=R12]").click()
    page.locator("#why", has_text="The game is over.").wait_for()
    assert stage.session.rematch() is None
    page.locator("#why:empty").wait_for(state="attached")


def test_the_reason_of_a_refused_press_goes_when_outdated(
    stage: Stage, open_page: OpenPage
) -> None:
    page = ready(open_page("/", token=put(stage, "roll")[stage.state.active]))
    stage.session.press()
    page.locator("#why", has_text="green").wait_for()
    stage.session.see(dice_in_tray(a_roll(3, 4)))
    stage.session.press()
    page.locator("#status", has_text="White 7").wait_for()
    page.locator("#why", has_text="green").wait_for(state="detached")
