"""People who arrive, and who move from device to device, in a real browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from companion.engine import Phase
from tests.session.fakes import Stage
from tests.web.browsing import (
    PHONE,
    PHONE_SMALL,
    OpenPage,
    names,
    open_part,
    put,
    ready,
    resize,
    sit_on_a_shared_tablet,
    start_on_a_shared_tablet,
    violations,
    wait_until,
)
from tests.web.stand_in import seat

if TYPE_CHECKING:
    from playwright.sync_api import Route

PRESSED_AT_ONCE = """() => {
  window.pressed = [];
  new MutationObserver(() => {
    const name = status.textContent.split(':')[0];
    if (name !== 'Ada') return;
    window.pressed.push(name);
    document.getElementById('done').click();
  }).observe(document.getElementById('status'), { childList: true });
  const status = document.getElementById('status');
}"""
"""A finger that was on its way when the page turned to Ada."""


class TestPeople:
    def test_a_seat_that_waits_is_away_and_can_be_taken(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "action1")
        assert stage.session.pause() is None
        assert stage.session.leave(1) is None
        assert stage.session.resume(1) is None
        page = open_page("/host")
        open_part(page, "Players")
        waiting = page.locator("#seats li", has_text="Benjamin")
        assert "away" in waiting.inner_text()
        assert "other device" not in waiting.inner_text()
        phone = open_page("/")
        phone.get_by_role("button", name="Take Benjamin’s seat").click()
        ready(phone)

    def test_who_lost_their_seat_finds_the_way_back(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "action1")
        phone, host = open_page("/"), open_page("/host")
        host.get_by_role("tab", name="Players").wait_for()  # or the phone would host the table
        phone.get_by_label("Your name").fill("benjamin")
        phone.get_by_role("button", name="Take a seat").click()
        phone.get_by_role("alert").filter(has_text="ask the host to hand your seat over").wait_for()
        phone.get_by_label("Your name").fill("Benjamin B")
        phone.get_by_role("button", name="Take a seat").click()
        phone.get_by_text("You play in the next one").wait_for()
        open_part(host, "Players")
        host.get_by_role("button", name="Hand over Benjamin’s seat").click()
        phone.get_by_role("button", name="Take Benjamin’s seat").click()
        ready(phone)

    def test_a_full_table_promises_nobody_the_next_game(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "action1")
        for name in ("Dora", "Emil"):
            seat(stage, name)
        page = open_page("/")
        page.get_by_text("All five seats are taken. The host can free one").wait_for()
        assert page.get_by_text("You can play in the next one").count() == 0

    def test_a_seat_moves_to_another_device(self, stage: Stage, open_page: OpenPage) -> None:
        tokens = put(stage, "action1")
        old, host = open_page("/", token=tokens[1]), open_page("/host")
        ready(old)
        tablet = open_page("/", size_wh=(768, 1024))
        open_part(host, "Players")
        host.get_by_role("button", name="Hand over Benjamin’s seat").click()
        host.get_by_text("Now open this table’s page on the other device.").wait_for()
        tablet.get_by_role("button", name="Take Benjamin’s seat").click()
        tablet.get_by_role("button", name=re.compile("^yellow 7, can be crossed now")).click()
        wait_until(tablet, lambda: stage.state.answers[1] is not None)
        old.get_by_label("Your name").wait_for()
        old.get_by_role("alert").filter(has_text="You no longer have a seat here.").wait_for()

    def test_a_seat_is_taken_though_other_news_overtakes_the_answer(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "action1")
        assert stage.session.offer(1) is None
        tablet = open_page("/", size_wh=PHONE_SMALL)

        def late(route: Route) -> None:
            answer = route.fetch()
            assert stage.answer(2, None) == ""
            page = route.request.frame.page
            page.evaluate("() => new Promise((done) => setTimeout(done, 400))")
            route.fulfill(response=answer)

        tablet.route("**/api/claim", late)
        tablet.get_by_role("button", name="Take Benjamin’s seat").click()
        tablet.get_by_role("button", name=re.compile("^yellow 7, can be crossed now")).wait_for()

    def test_a_shared_tablet_shows_one_sheet_after_the_other(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = open_page("/", size_wh=PHONE)
        sit_on_a_shared_tablet(page)
        for size_wh in (PHONE, (740, 360), (768, 1024)):
            resize(page, size_wh)
            assert violations(page) == [], size_wh
        start_on_a_shared_tablet(page, stage)
        assert violations(page) == []
        page.get_by_role("button", name="red 7, can be crossed now").click()
        page.get_by_role("button", name="Done").click()
        page.locator("#status", has_text="Grandma: White 7").wait_for()
        page.get_by_role("button", name=re.compile("^Ada")).click()
        page.locator("#status", has_text="Ada: Red 7 it is.").wait_for()
        page.get_by_role("button", name=re.compile("^Grandma")).click()
        page.get_by_role("button", name="Pass").click()
        wait_until(page, lambda: not stage.state.waiting_for)
        stage.time.pass_s(3.1)
        assert stage.state.phase is Phase.ACTION2
        assert stage.state.crosses[0] != 0

    def test_a_shared_tablet_turns_to_the_player_whose_action_2_it_is(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = open_page("/", size_wh=(768, 1024))
        start_on_a_shared_tablet(page, stage)
        page.get_by_role("button", name="Pass").click()
        page.locator("#status", has_text="Grandma: White 7").wait_for()
        page.evaluate(PRESSED_AT_ONCE)
        stage.answer(1, None)  # as the host does for her
        stage.time.pass_s(3.1)
        page.locator("#status", has_text="Ada: White plus a colour").wait_for()
        assert page.evaluate("window.pressed") == ["Ada"]
        page.get_by_role("button", name="Pass", disabled=False).wait_for()
        assert (stage.state.phase, stage.state.answers[0]) == (Phase.ACTION2, None)
        page.get_by_role("button", name=re.compile("^Grandma")).click()
        page.locator("#status", has_text="Grandma: Ada can use a coloured die.").wait_for()
        page.get_by_role("button", name=re.compile("^Ada")).click()
        page.get_by_role("button", name="Pass").click()
        wait_until(page, lambda: not stage.state.waiting_for)
        stage.time.pass_s(3.1)
        assert stage.state.phase is Phase.ROLL

    def test_the_code_is_asked_for_only_where_it_is_needed(
        self, stage: Stage, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("web.client.is_loopback", lambda address: False)  # as a phone elsewhere
        typed = open_page("/", size_wh=PHONE_SMALL)
        typed.get_by_label("Your name").fill("Ada")
        typed.get_by_label("Table code").fill("AAAA")
        typed.get_by_role("button", name="Take a seat").click()
        typed.get_by_text("Wrong code.").wait_for()
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


def test_the_host_seats_a_bot(stage: Stage, open_page: OpenPage) -> None:
    stage.seat("Ada")
    page = ready(open_page("/host"))
    open_part(page, "Players")
    page.get_by_role("button", name="Bot, medium").click()
    page.locator("#seats li", has_text="Bot 1").get_by_text("Bot, medium").wait_for()
    assert violations(page) == []
    assert [each.bot for each in stage.session.view().table.seats] == ["", "medium"]
    stage.session.start("base", 0)
    page.locator("#bots").wait_for(state="hidden")


class TestTheDoor:
    def test_joining_before_the_first_roll_is_immediate(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "lobby")
        assert stage.session.start("base", 0) is None
        page = open_page("/")
        told = page.locator("#join-seats")
        told.filter(has_text="Ada, Benjamin and Cleo").wait_for()
        assert "next" not in told.inner_text()
        assert stage.roll(3, 4) is None
        told.filter(has_text="next").wait_for()

    def test_the_code_to_scan_is_the_one_of_this_start(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "lobby")
        page = open_page("/table")
        shown = page.locator("img[src^='/join.svg']").get_attribute("src")
        epoch = page.evaluate(
            "() => fetch('/api/state').then((r) => r.json()).then((s) => s.epoch)"
        )
        assert shown is not None
        assert epoch in shown
