"""The host's page in a real browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from companion.engine import Phase
from companion.service.power import PowerStep
from companion.tray import CameraFault, CameraState, TrayStatus, TrayView
from tests.session.fakes import Stage
from tests.web.browsing import (
    PHONE_SMALL,
    TV,
    OpenPage,
    comes_true,
    names,
    open_part,
    put,
    ready,
    violations,
    wait_until,
)
from tests.web.stand_in import StandInPower, a_roll, dice_in_tray

if TYPE_CHECKING:
    from playwright.sync_api import Route


TAP_AT_NEWS = """() => {
  const { x, y } = document.getElementById('ask-yes').getBoundingClientRect();
  const lines = document.getElementById('ask-lines');
  new MutationObserver(() => {
    if (!lines.textContent.includes('answers again')) return;
    document.elementFromPoint(x + 9, y + 9).click();
    document.body.dataset.tapped = 'yes';
  }).observe(lines, { childList: true });
}"""
"""Tap where "yes" is as soon as the dialog tells of other effects."""


def test_a_lost_camera_is_said_once(stage: Stage, open_page: OpenPage) -> None:
    put(stage, "roll")
    page = ready(open_page("/host", size_wh=PHONE_SMALL))
    assert page.locator("#tray-text").inner_text() != ""
    lost = TrayView(TrayStatus.LOST, camera=CameraState.LOST, fault=CameraFault.LOST)
    stage.session.see(lost)
    page.locator("#faults li").wait_for()
    assert page.locator("main").inner_text().count("The camera isn’t responding") == 1


class TestATableWithABroker:
    @pytest.fixture
    def has_broker(self) -> bool:
        return True

    def test_the_host_lets_names_and_photos_leave(self, stage: Stage, open_page: OpenPage) -> None:
        put(stage, "action1")
        page = open_page("/host", size_wh=PHONE_SMALL)
        open_part(page, "Settings")
        for name in ("Names may go to", "Pictures of the rolls may go"):
            switch = page.get_by_label(name)
            assert not switch.is_checked(), "nothing leaves until the host says so"
            switch.check()
        now = "share_names", "share_pictures"
        wait_until(
            page,
            lambda: all(getattr(stage.session.view().table.settings, name) for name in now),
        )
        kept = Stage(stage.directory, store=stage.store).session.view().table.settings
        assert (kept.share_names, kept.share_pictures) == (True, True)


class TestTheHost:
    def test_a_setting_changed_twice_keeps_the_last_value(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "roll")
        page = open_page("/host", size_wh=TV)
        held: list[Route] = []

        def hold_the_first(route: Route) -> None:
            if not held and route.request.post_data_json == {"hints": False}:
                held.append(route)
            else:
                route.continue_()

        page.route("**/api/settings", hold_the_first)
        open_part(page, "Settings")
        hints = page.get_by_label("Highlight the boxes you can cross")
        hints.and_(page.locator(":checked")).wait_for()  # as the table has it: the page was drawn
        hints.uncheck()
        wait_until(page, lambda: bool(held))
        hints.check()
        page.wait_for_timeout(300)  # in which the second would overtake the first
        held[0].continue_()
        page.locator("#hints:not([aria-busy])").wait_for()
        assert stage.session.view().table.settings.hints
        assert hints.is_checked()

    def test_the_button_that_comes_next_stands_out(self, stage: Stage, open_page: OpenPage) -> None:
        put(stage, "roll")
        page = open_page("/host")
        page.get_by_role("status").filter(has_text="The green die isn’t lying flat").wait_for()
        standing_out = page.locator("#throw.primary, #confirm.primary")
        assert standing_out.all_inner_texts() == ["Throw"]
        stage.session.see(dice_in_tray(a_roll(3, 4), frame=2))
        page.locator("#confirm.primary").wait_for()
        assert standing_out.all_inner_texts() == ["Confirm"]
        assert stage.session.press() is None
        page.locator("#throw").wait_for(state="hidden")
        assert standing_out.count() == 0

    def test_ending_early_is_red_and_says_that_it_counts_for_nobody(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "action1")
        page = ready(open_page("/host"))
        page.get_by_role("button", name="End the game early").click()
        page.get_by_text("It counts for nobody.").wait_for()
        page.locator("#ask-yes.is-danger").wait_for()
        assert violations(page) == []

    def test_ending_early_asks_first(self, stage: Stage, open_page: OpenPage) -> None:
        put(stage, "lobby")
        stage.session.start("big_points", 0, ["finish_turn"], practice=True)
        page = open_page("/host")
        page.get_by_role("button", name="End the game early").click()
        page.get_by_role("button", name="No, keep playing").click()
        assert stage.state.phase is Phase.ROLL
        page.get_by_role("button", name="End the game early").click()
        page.get_by_role("button", name="Yes, end it").click()
        wait_until(page, lambda: stage.state.phase is Phase.OVER)
        page.get_by_role("radio", name="Big Points", checked=True).wait_for(state="attached")
        chosen = page.locator("#start-form input[type=checkbox]:checked")
        assert [each.get_attribute("value") for each in chosen.all()] == [None, "finish_turn"]
        assert chosen.last.is_visible()
        page.get_by_role("button", name="Play again").click()
        page.get_by_role("dialog").get_by_role("button", name="Play again").click()
        wait_until(page, lambda: stage.state.phase is Phase.ROLL)

    def test_another_kind_of_game_is_not_played_again(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "over")
        page = open_page("/host")
        again = page.get_by_role("button", name="Play again")
        again.wait_for()
        page.get_by_role("radio", name="Big Points").check()
        again.wait_for(state="hidden")
        page.get_by_role("radio", name="Base game").check()
        again.wait_for()
        page.get_by_label("Who begins").select_option("Cleo")
        again.wait_for(state="hidden")
        page.get_by_role("radio", name="Big Points").check()
        page.locator("#start.primary").click()
        wait_until(page, lambda: stage.state.phase is Phase.ROLL)
        assert (stage.state.plan.name, stage.state.active) == ("big_points", 2)
        stage.session.end()
        again.wait_for()

    def test_a_refusal_is_seen_from_every_part_and_read_out_each_time(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "roll")
        page = open_page("/host", size_wh=PHONE_SMALL)
        for part in ("Players", "Settings", "Now"):
            open_part(page, part)
            page.locator("#confirm").click()
            why = page.locator("#why", has_text="isn’t lying flat")
            why.wait_for()
            box = why.bounding_box()
            assert box is not None
            assert 0 <= box["y"] < PHONE_SMALL[1] - 40, part
            assert page.locator("#said").text_content() == ""  # that would read it out twice
        page.evaluate(
            "new MutationObserver(() => (window.again = true))"
            ".observe(document.getElementById('why'), { childList: true })"
        )
        page.locator("#confirm:not([aria-busy])").click()
        comes_true(page, "window.again")
        page.locator("#why", has_text="isn’t lying flat").wait_for()

    def test_the_focus_stays_in_the_part_from_which_a_game_began(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "lobby")
        page = open_page("/host", size_wh=PHONE_SMALL)
        open_part(page, "Players")
        page.locator("#start").press("Enter")
        page.locator("#undo").wait_for()
        comes_true(page, "document.activeElement.id === 'tab-players'")

    def test_switching_the_computer_off_asks_first(
        self, stage: Stage, open_page: OpenPage, power: StandInPower
    ) -> None:
        power.is_offered = True
        put(stage, "action1")
        page = open_page("/host", size_wh=PHONE_SMALL)
        open_part(page, "Settings")
        page.get_by_role("button", name="Switch off").click()
        assert power.taken == []
        page.get_by_role("dialog").get_by_role("button", name="Switch off").click()
        wait_until(page, lambda: power.taken == [PowerStep.OFF])

    def test_undo_first_shows_the_step_it_takes_back(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "action1")
        page = open_page("/host")
        page.get_by_role("button", name="Undo the last step").click()
        page.get_by_text("The roll is taken back (white 7).").wait_for()
        page.get_by_role("button", name="Yes, undo it").click()
        wait_until(page, lambda: stage.state.phase is Phase.ROLL)

    def test_a_double_tap_takes_no_step_that_nobody_has_read(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "action1")
        page = open_page("/host")
        page.get_by_role("button", name="Undo the last step").click()
        page.get_by_text("The roll is taken back (white 7).").wait_for()
        for player in (0, 1, 2):
            assert stage.answer(player, None) == ""
        yes = page.get_by_role("button", name="Yes, undo it")
        page.evaluate(TAP_AT_NEWS)
        yes.click()
        page.locator("[data-tapped]").wait_for()
        page.wait_for_timeout(300)
        assert stage.state.phase is Phase.ACTION2
        assert page.evaluate("document.activeElement.id") == "ask-yes"
        page.wait_for_timeout(300)
        yes.click()
        wait_until(page, lambda: stage.state.phase is Phase.ACTION1)

    def test_it_answers_for_somebody_whose_phone_died_and_keeps_the_focus(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "action1")
        page = open_page("/host")
        page.get_by_role("button", name="Answer for Cleo").focus()
        stage.answer(0, None)
        page.get_by_role("button", name="Answer for Ada").wait_for(state="detached")
        focused = page.evaluate("document.activeElement.getAttribute('aria-label')")
        assert focused == "Answer for Cleo"
        page.get_by_role("button", name="Answer for Benjamin").click()
        page.get_by_role("dialog").get_by_role("button", name="Green 7").click()
        wait_until(page, lambda: stage.state.answers[1] is not None)
        page.get_by_role("button", name="Answer for Cleo").click()
        page.get_by_role("dialog").get_by_role("button", name="Pass").click()
        wait_until(page, lambda: stage.state.phase is Phase.ACTION2)
        page.get_by_role("button", name="Answer for Cleo").wait_for(state="hidden")

    def test_another_device_needs_the_pin_of_the_table_view(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "lobby")
        table = open_page("/table", size_wh=TV)
        first, second = open_page("/host"), None
        first.get_by_role("button", name="Start the game").wait_for()
        second = open_page("/host", size_wh=PHONE_SMALL)
        second.get_by_text("This device is not the host").wait_for()
        assert violations(second) == []
        second.get_by_label("The host’s PIN").fill("0000")
        second.get_by_role("button", name="Host the table").click()
        second.get_by_text("Wrong PIN.").wait_for()
        pin = table.locator(".qr").get_by_text("Host PIN").inner_text().split()[-1]
        second.get_by_label("The host’s PIN").fill(pin)
        second.get_by_role("button", name="Host the table").click()
        second.get_by_role("button", name="Start the game").wait_for()

    def test_the_order_and_the_hints_are_set(self, stage: Stage, open_page: OpenPage) -> None:
        tokens = put(stage, "lobby")
        page = open_page("/host")
        open_part(page, "Players")
        page.get_by_role("button", name="Cleo plays earlier").click()
        wait_until(page, lambda: names(stage) == ["Ada", "Cleo", "Benjamin"])
        open_part(page, "Settings")
        page.get_by_label("Highlight the boxes you can cross").uncheck()
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
