"""Who plays or leads by keys keeps their place, also where what had it is gone."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from companion.engine import Phase
from companion.tray import TrayStatus, TrayView
from tests.session.fakes import Stage
from tests.web.browsing import (
    MODULES,
    PHONE,
    PHONE_SMALL,
    PI_DISPLAY,
    OpenPage,
    comes_true,
    drawn,
    names,
    open_part,
    put,
    ready,
    resize,
    violations,
    wait_until,
)
from tests.web.stand_in import a_roll, dice_in_tray, seat
from tests.web.test_games import an_evening

if TYPE_CHECKING:
    from playwright.sync_api import Page

FOCUSED = """() => {
  const { id, ariaLabel, tagName } = document.activeElement;
  return id || ariaLabel || tagName;
}"""


COVERED = """() => {
  const { left, width, bottom } = document.activeElement.getBoundingClientRect();
  const over = document.elementFromPoint(left + width / 2, bottom - 2)?.closest('.bar');
  return over?.contains(document.activeElement) ? '' : (over?.textContent ?? '');
}"""
"""The bar, if it lies on what a key would go to."""


def press(page: Page, name: str) -> None:
    """Press a button by a key, once it may be pressed."""
    page.get_by_role("button", name=name, exact=True, disabled=False).press("Enter")


def focused(page: Page) -> str:
    """What a key would go to, after all that a press led to is drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))")
    found: str = page.evaluate(FOCUSED)
    return found


NEWS_WHILE_CLOSING = """async () => {
  const { latest } = await import('MODULES/lib/live.js');
  const ask = document.getElementById('ask');
  ask.close = () => {
    HTMLDialogElement.prototype.close.call(ask);
    const data = JSON.stringify(latest());
    stream.dispatchEvent(new MessageEvent('state', { data }));
  };
}""".replace("MODULES", MODULES)
"""The server sends the state again between a dialog's end and its event."""


class TestTheHost:
    def test_the_right_pin_leads_to_the_game(self, stage: Stage, open_page: OpenPage) -> None:
        put(stage, "lobby")
        first = open_page("/host")
        first.get_by_role("button", name="Start the game").wait_for()
        second = open_page("/host")
        second.get_by_label("The host’s PIN").fill("471147")
        second.get_by_label("The host’s PIN").press("Enter")
        second.get_by_role("button", name="Start the game").wait_for()
        assert focused(second) == "h-game"
        assert violations(second) == []

    def test_a_button_that_goes_leads_to_its_heading(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "action2")
        page = open_page("/host")
        for button, yes in (
            ("Continue without them (they pass)", "Yes, continue"),
            ("Answer for Ada", "Pass"),
            ("End the game early", "Yes, end it"),
        ):
            press(page, button)
            press(page, yes)
            page.get_by_role("dialog").wait_for(state="hidden")
            assert stage.state.phase is not Phase.ACTION2, button
            assert focused(page) == "h-game", button
            assert stage.session.undo() is None
            drawn(page, stage)
        others = page.get_by_role("button", name="Continue without them")
        others.focus()
        assert stage.answer(stage.state.active, None) == ""
        others.wait_for(state="hidden")
        assert focused(page) == "h-game"

    def test_a_die_put_right_leads_to_the_dice(self, stage: Stage, open_page: OpenPage) -> None:
        put(stage, "roll")
        page = open_page("/host")
        press(page, "Correct green 3")
        dialog = page.get_by_role("dialog")
        press(page, "green 5")
        dialog.wait_for(state="hidden")
        assert focused(page) == "h-dice"

    def test_news_between_the_end_of_a_dialog_and_its_event_changes_nothing(
        self, stage: Stage, open_page: OpenPage, address: str
    ) -> None:
        put(stage, "roll")
        page = open_page("/healthz")
        page.add_init_script(
            "{ const Stream = EventSource; EventSource = class extends Stream {"
            " constructor(...how) { super(...how); globalThis.stream = this; } }; }"
        )
        page.goto(f"{address}/host")
        page.evaluate(NEWS_WHILE_CLOSING)
        press(page, "Correct green 3")
        press(page, "green 5")
        page.get_by_role("dialog").wait_for(state="hidden")
        assert focused(page) == "h-dice"

    def test_a_question_that_is_not_followed_leads_back(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "action1")
        page = open_page("/host")
        press(page, "End the game early")
        page.locator("#ask [aria-live] li").first.wait_for()  # its effects are read out
        press(page, "No, keep playing")
        assert focused(page) == "end"

    def test_a_step_and_the_way_back_from_it_are_told_apart(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "action1")
        page = open_page("/host?language=fr")
        page.locator("#close").click()
        page.locator("#ask-yes", has_text="Oui, continuer").wait_for()
        page.locator("#ask-no", has_text="Non, attendre").click()
        assert focused(page) == "close"

    def test_the_bar_covers_nothing_that_has_the_focus(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        """WCAG 2.2, 2.4.11 (focus not obscured)."""
        put(stage, "action1")
        page = open_page("/host", size_wh=PHONE_SMALL)
        open_part(page, "Settings")
        for size_wh in (PHONE_SMALL, (820, 1180)):
            resize(page, size_wh)
            page.get_by_role("tab", name="Settings").focus()
            for _ in range(18):
                page.keyboard.press("Tab")
                assert page.evaluate(COVERED) == "", (size_wh, page.evaluate(FOCUSED))

    def test_keys_find_each_die_once(self, stage: Stage, open_page: OpenPage) -> None:
        put(stage, "roll")
        page = open_page("/host")
        page.get_by_role("button", name="Correct green 3").wait_for()
        page.locator("#reading a").nth(5).wait_for()
        page.get_by_role("button", name="End the game early").focus()
        page.keyboard.press("Tab")
        first = page.get_by_role("button", name="Correct white 3")
        assert first.evaluate("(node) => node === document.activeElement")

    def test_dice_that_move_again_lead_from_the_picture_to_their_heading(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "roll")
        page = open_page("/host")
        page.locator("#reading a[aria-label='Correct green 3']").focus()
        stage.session.see(TrayView(TrayStatus.MOVING, None, 1, (640, 480)))
        comes_true(page, "document.activeElement.id === 'h-dice'")

    def test_a_seat_handed_on_leads_not_to_freeing_it(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "lobby")
        page = open_page("/host")
        open_part(page, "Players")
        press(page, "Hand over Cleo’s seat to another device")
        page.get_by_text("Now open this table’s page").wait_for()
        assert focused(page) == "LI"
        assert "Cleo" in page.evaluate("document.activeElement.textContent")
        seat(stage, "Dan")
        page.locator("#seats li", has_text="Dan").wait_for()
        assert "Cleo" in page.evaluate("document.activeElement.textContent")  # drawn anew
        press(page, "Benjamin plays earlier")
        wait_until(page, lambda: names(stage)[:2] == ["Benjamin", "Ada"])
        page.get_by_role("button", name="Benjamin plays earlier").and_(
            page.locator(":disabled")
        ).wait_for()
        comes_true(page, "document.activeElement.ariaLabel === 'Benjamin plays later'")


@pytest.mark.parametrize("size_wh", [PHONE, PI_DISPLAY])
def test_the_table_view_keeps_the_focus_on_its_button(
    stage: Stage, open_page: OpenPage, size_wh: tuple[int, int]
) -> None:
    put(stage, "roll")
    stage.session.see(dice_in_tray(a_roll(3, 4)))
    page = ready(open_page("/table", size_wh=size_wh))
    press(page, "Confirm")
    page.get_by_role("button", name="Confirm", disabled=True).wait_for()
    assert focused(page) == "confirm"
    assert stage.session.end() is None
    page.locator("#confirm").wait_for(state="hidden")
    assert focused(page) == "now"


class TestTheGames:
    def test_a_game_is_followed_to_where_it_goes(self, stage: Stage, open_page: OpenPage) -> None:
        an_evening(stage)
        page = open_page("/games", device="a" * 32)
        press(page, "Save it for another time")
        page.get_by_role("button", name="Continue game 3").wait_for()
        assert focused(page) == "h-saved"
        press(page, "Continue game 3")
        page.get_by_role("button", name="Save it for another time").wait_for()
        assert focused(page) == "h-now"
        assert violations(page) == []


class TestAPlayer:
    def test_a_seat_that_is_taken_over_leads_to_the_lobby(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = put(stage, "lobby")
        player, guest = ready(open_page("/", token=tokens[0])), ready(open_page("/"))
        assert stage.session.offer(2) is None
        guest.get_by_role("button", name="Take Cleo’s seat").focus()
        press(player, "Take Cleo’s seat")
        for page, view in ((player, "lobby"), (guest, "join")):
            page.get_by_role("button", name="Take Cleo’s seat").wait_for(state="detached")
            assert focused(page) == view

    def test_staying_moves_the_focus_back_and_leaving_to_the_way_back(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = ready(open_page("/", token=put(stage, "action1")[1]))
        press(page, "More")
        press(page, "Leave the game")
        press(page, "No, keep playing")
        assert focused(page) == "menu-leave"
        press(page, "Leave the game")
        press(page, "Yes, leave")
        page.get_by_label("Your name").wait_for()
        assert focused(page) == "join"

    def test_what_was_read_moves_the_focus_to_the_sheet(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = ready(open_page("/", token=put(stage, "tapped")[0]))
        press(page, "red 9")
        press(page, "Close")
        assert focused(page).startswith("red 9")
        assert stage.correct(1, 2) is None
        press(page, "Got it")
        assert focused(page).startswith(("red", "yellow", "green", "blue"))

    def test_keys_skip_the_buttons_behind_another_players_sheet(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = ready(open_page("/", token=put(stage, "roll")[stage.state.active]))
        page.locator(".players button:not([aria-pressed=true])").last.press("Enter")
        page.keyboard.press("Tab")
        assert focused(page) == "viewing-back"
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Throw", exact=True).focus()
        assert focused(page) == "throw"

    def test_entering_the_dice_returns_the_focus_to_the_sheet(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = ready(open_page("/", token=put(stage, "roll")[stage.state.active]))
        stage.session.see(replace(dice_in_tray(a_roll(3, 4)), status=TrayStatus.DARK, roll=None))
        press(page, "Enter the dice")
        dialog = page.get_by_role("dialog")
        for name in ("First white die 3", "Second white die 4"):
            dialog.get_by_label(name).check()
        for colour in ("red", "yellow", "green", "blue"):
            dialog.get_by_label(f"{colour} 3").check()
        press(page, "Confirm")
        wait_until(page, lambda: stage.state.phase is Phase.ACTION1)
        dialog.wait_for(state="hidden")
        page.locator("#tray-buttons").wait_for(state="hidden")
        assert focused(page) == "game"

    def test_a_step_taken_back_leads_from_throwing_to_the_game(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = ready(open_page("/", token=put(stage, "roll")[stage.state.active]))
        page.get_by_role("button", name="Throw", exact=True).focus()
        assert stage.session.undo() is None
        drawn(page, stage)
        assert focused(page) == "game"

    def test_what_goes_from_the_menu_leads_to_the_way_out_of_it(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = ready(open_page("/", token=put(stage, "roll")[stage.state.active - 2]))
        stage.session.see(dice_in_tray(a_roll(3, 4)))
        press(page, "More")
        page.get_by_role("button", name="Confirm", exact=True).focus()
        assert stage.session.press() is None  # somebody else was quicker
        drawn(page, stage)
        assert focused(page) == "menu-close"
        page.keyboard.press("Enter")
        assert focused(page) == "menu"

    def test_an_end_while_the_menu_is_open_leads_from_it_to_the_result(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = ready(open_page("/", token=put(stage, "action1")[0]))
        press(page, "More")
        assert stage.session.end() is None
        page.locator("#over").wait_for()
        page.keyboard.press("Escape")
        assert focused(page) == "over"
