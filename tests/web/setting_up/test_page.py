"""A host who takes every step of the set-up in a browser."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from flask.testing import FlaskClient

from companion.errors import CalibrationError
from companion.messages.catalogue import LANGUAGES
from companion.tray import CameraFault, TrayStatus, TrayView
from tests.session.fakes import Stage
from tests.web.browsing import PHONE, PHONE_FLAT, PHONE_SMALL, TV, OpenPage, put, resize, violations
from tests.web.setting_up.conftest import StandInSetup, looked
from tests.web.stand_in import a_roll, dice_in_tray
from tests.web.test_for_everybody import LARGE_TYPE, settle
from tests.web.test_language_pages import said

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page, Route

NO_ANSWERS = """() => {
  const ask = window.fetch;
  window.underWay = 0;
  const swallow = ({ signal }) => new Promise((_, fail) => {
    window.underWay += 1;
    signal?.addEventListener('abort', () => {
      window.underWay -= 1;
      fail(new Error('given up'));
    });
  });
  window.fetch = (path, how) => (path === '/api/setup' ? swallow(how) : ask(path, how));
}"""


SCROLLED = "() => new Promise((done) => requestAnimationFrame(() => setTimeout(done)))"
"""Ends when an opened step has been scrolled to."""


COVERED = """() => {
  const { left, top, width, height } = document.activeElement.getBoundingClientRect();
  const over = document.elementFromPoint(left + width / 2, top + height / 2)?.closest('.view');
  const isOwn = document.activeElement === document.body || over?.contains(document.activeElement);
  return over && !isOwn ? document.activeElement.textContent.trim() : '';
}"""
"""What has the focus, if the picture lies on it."""


def open_step(page: Page, title: str) -> Locator:
    """A step of the wizard, once it is the open one."""
    return page.locator("details[open]", has=page.get_by_role("heading", name=title))


def drag_from(page: Page) -> tuple[float, float]:
    """Middle of the first corner's handle, once it can be dragged."""
    handle = page.get_by_role("button", name="Corner 1 of 4")
    handle.wait_for()
    page.locator("#picture[src]").wait_for()
    box = handle.locator(".dot").bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


class TestInABrowser:
    def test_a_corner_follows_the_finger(self, open_page: OpenPage, wizard: StandInSetup) -> None:
        page = open_page("/setup", size_wh=PHONE)
        x, y = drag_from(page)
        screen = page.context.new_cdp_session(page)

        def touch(kind: str, *at: float) -> None:
            points = [{"x": at[0], "y": at[1]}] if at else []
            screen.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

        touch("touchStart", x, y)
        for n in range(1, 9):
            touch("touchMove", x + 5 * n, y + 5 * n)
        touch("touchEnd")
        page.get_by_role("button", name="Save the corners").click()
        open_step(page, "2 · Exposure and colours").wait_for()
        scale = 640 / (PHONE[0] - 36)
        assert wizard.corners is not None
        assert wizard.corners[0] == pytest.approx((60 + 40 * scale, 50 + 40 * scale), abs=3)

    def test_a_host_takes_every_step(
        self, open_page: OpenPage, wizard: StandInSetup, stage: Stage
    ) -> None:
        stage.session.see(dice_in_tray(a_roll(3, 4), frame=89))
        page = open_page("/setup", size_wh=PHONE)
        x, y = drag_from(page)
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 20, y + 10)
        page.mouse.up()
        page.get_by_role("button", name="Corner 2 of 4").focus()
        page.keyboard.press("ArrowLeft")
        page.get_by_role("button", name="Save the corners").click()
        open_step(page, "2 · Exposure and colours").wait_for()
        assert wizard.corners is not None
        first, second = wizard.corners[0], wizard.corners[1]
        scale = 640 / (PHONE[0] - 36)
        assert first == pytest.approx((60 + 20 * scale, 50 + 10 * scale), abs=3)
        assert second == pytest.approx((585 - 6.4, 50), abs=0.2)
        page.get_by_role("button", name="Keep these settings").click()
        open_step(page, "3 · Your dice").wait_for()
        wizard.trouble = CalibrationError("", reason="not_six", count=4)
        page.get_by_role("button", name="Read the dice").click()
        page.locator("#dice-said", has_text="I see 4 dice").wait_for()
        page.get_by_role("button", name="Read the dice").click()
        page.locator("#dice-said", has_text="Die 5 looks like a custom die").wait_for()
        page.get_by_label("Die 4 counts as").select_option("blue")
        page.get_by_label("Die 5 counts as").select_option("red")
        stage.session.see(TrayView(TrayStatus.READING, None, 1, (640, 480)))
        page.get_by_role("button", name="Save the dice").click()
        open_step(page, "4 · Ten test rolls").wait_for()
        stage.session.see(dice_in_tray(a_roll(3, 4), frame=90))  # the measured ones, read anew
        page.wait_for_timeout(300)
        assert page.get_by_role("button", name="Correct", exact=True).is_disabled()
        kept = [die.plays.value for die in wizard.dice]
        assert kept == ["green", "yellow", "white", "blue", "red", "white"]
        for number in range(10):
            page.locator("#rolls-said", has_text=f"Roll {number + 1} of 10: throw").wait_for()
            is_read = number != 3
            stage.session.see(TrayView(TrayStatus.MOVING, None, number + 2, (640, 480)))
            page.locator("#rolls-said", has_text="still moving").wait_for()
            stage.session.see(
                dice_in_tray(a_roll(3, 4), frame=number + 2, tilted="" if is_read else "red")
            )
            seen = "is this right" if is_read else "isn’t lying flat"
            page.locator("#rolls-said", has_text=seen).wait_for()
            if number == 5:
                page.get_by_role("button", name="blue 3, wrong").click()
                assert page.get_by_role("button", name="Correct", exact=True).is_disabled()
            name = "Not recognised" if not is_read else "Wrong" if number == 5 else "Correct"
            page.get_by_role("button", name=name, exact=True).press("Enter")
            if number < 9:
                assert page.evaluate("document.activeElement.textContent") == name
            if not is_read:  # the reader looks again by itself: that is no new throw
                stage.session.see(dice_in_tray(a_roll(3, 4), frame=99))
                page.wait_for_timeout(500)
                assert page.get_by_role("button", name="Correct", exact=True).is_disabled()
                assert page.get_by_role("button", name="Not recognised").is_disabled()
        said = page.locator("#rolls-said", has_text="8 correct, 1 not recognised, 1 wrong")
        said.filter(has_text="Times misread: 1 × blue.").wait_for()
        page.get_by_role("link", name="Done: to the host’s page").wait_for()
        page.get_by_role("heading", name="4 · Ten test rolls").click()
        page.get_by_role("button", name="Delete the set-up").click()
        page.locator("#forgot:not(:empty)").wait_for()
        page.locator("#kept-rolls").wait_for(state="hidden")
        assert page.locator("#rolls-said").text_content() == ""

    def test_a_test_roll_that_the_game_took_is_no_miss(
        self, open_page: OpenPage, wizard: StandInSetup, stage: Stage
    ) -> None:
        wizard.corners, wizard.dice = [(60.0, 50.0), (585.0, 50.0), (590.0, 445.0)], looked()
        put(stage, "roll")
        page = open_page("/setup", size_wh=PHONE)
        page.get_by_role("heading", name="4 · Ten test rolls").click()
        page.locator("#rolls-said", has_text="throw").wait_for()
        stage.session.see(TrayView(TrayStatus.MOVING, None, 2, (640, 480)))
        page.locator("#rolls-said", has_text="still moving").wait_for()
        stage.session.see(dice_in_tray(a_roll(3, 4), frame=3))
        page.locator("#rolls-said", has_text="is this right").wait_for()
        read = stage.session.view().tray
        stage.session.see(replace(read, status=TrayStatus.OLD, roll=None, frame=4))
        page.locator("#rolls-said", has_text="still the last roll").wait_for()
        assert page.get_by_role("button", name="Not recognised").is_disabled()
        stage.session.pause()  # nobody else asks for a throw any more
        page.locator("#rolls-said", has_text="Roll 1 of 10: throw the dice.").wait_for()

    def test_what_was_said_of_another_state_goes(
        self, open_page: OpenPage, wizard: StandInSetup
    ) -> None:
        page = open_page("/setup", size_wh=PHONE)
        page.get_by_role("button", name="Delete the set-up").click()
        page.locator("#forgot:not(:empty)").wait_for()
        page.get_by_role("button", name="Save the corners").click()
        open_step(page, "2 · Exposure and colours").wait_for()
        assert page.locator("#forgot").text_content() == ""

    def test_a_throw_that_does_not_reach_the_table_is_told(
        self, open_page: OpenPage, wizard: StandInSetup
    ) -> None:
        page = open_page("/setup", size_wh=PHONE)
        page.route("**/api/throw", lambda route: route.abort())
        for name, where in (("3 · Your dice", "dice-said"), ("4 · Ten test rolls", "rolls-said")):
            page.get_by_role("heading", name=name).click()
            page.get_by_role("button", name="Throw").click()
            page.locator(f"#{where}", has_text="The table didn’t answer. Try again.").wait_for()
            page.get_by_role("heading", name=name).click()

    def test_answers_that_never_come_leave_the_line_to_the_steps(
        self, open_page: OpenPage, address: str
    ) -> None:
        page = open_page("/healthz")
        page.clock.install()
        page.goto(f"{address}/setup")
        page.get_by_role("button", name="Corner 1 of 4").wait_for()
        page.evaluate(NO_ANSWERS)
        for _ in range(6):
            page.clock.run_for(4_000)
        assert 1 <= page.evaluate("window.underWay") <= 2

    def test_a_step_can_be_taken_alone_later(
        self, open_page: OpenPage, wizard: StandInSetup
    ) -> None:
        wizard.corners, wizard.dice = [(60.0, 50.0), (585.0, 50.0), (590.0, 445.0)], looked()
        page = open_page("/setup", size_wh=PHONE)
        open_step(page, "2 · Exposure and colours").wait_for()
        assert page.locator(".tick:visible").count() == 2
        assert page.get_by_role("button", name="Corner 1 of 3").count() == 0  # nothing slips
        page.get_by_role("heading", name="1 · Corners of the tray").click()
        page.get_by_role("button", name="Corner 1 of 3").wait_for()
        assert page.locator("details[open]").count() == 1
        page.get_by_role("button", name="Next step").click()
        heading = page.evaluate("document.activeElement.textContent")
        assert "2 · Exposure and colours" in heading

    def test_pictures_of_another_size_get_corners_of_their_own(
        self, open_page: OpenPage, wizard: StandInSetup
    ) -> None:
        page = open_page("/setup", size_wh=PHONE)
        page.get_by_role("button", name="Corner 1 of 4").wait_for()
        wizard.size_wh, wizard.proposed = (1280, 720), [(9.0, 9.0), (1200.0, 9.0), (600.0, 700.0)]
        page.get_by_role("heading", name="2 · Exposure and colours").click()
        page.get_by_role("button", name="Keep these settings").click()
        page.get_by_role("heading", name="1 · Corners of the tray").click()
        page.get_by_role("button", name="Corner 1 of 3").wait_for()
        page.get_by_role("button", name="Save the corners").click()
        open_step(page, "2 · Exposure and colours").wait_for()
        assert wizard.corners == wizard.proposed

    def test_a_late_reply_leaves_the_host_at_the_step_turned_to_meanwhile(
        self, open_page: OpenPage, wizard: StandInSetup
    ) -> None:
        page = open_page("/setup", size_wh=PHONE)
        held: list[Route] = []
        page.get_by_role("heading", name="2 · Exposure and colours").click()
        page.route("**/api/setup/*", lambda route: held.append(route), times=1)
        page.get_by_role("button", name="Keep these settings").click()
        while not held:
            page.wait_for_timeout(50)
        page.get_by_role("heading", name="1 · Corners of the tray").click()
        held[0].continue_()
        page.locator("#hold:not([aria-busy])").wait_for(state="attached")
        assert wizard.is_held
        assert open_step(page, "1 · Corners of the tray").count() == 1

    def test_problems_of_the_picture_are_listed_below_it(
        self, open_page: OpenPage, wizard: StandInSetup, stage: Stage
    ) -> None:
        wizard.faults, wizard.change = ["blurred"], "moved"
        page = open_page("/setup", size_wh=PHONE_SMALL)
        light = page.locator("#light")
        light.filter(has_text="save the corners again (step 1). The picture is blurred").wait_for()
        seen = replace(
            dice_in_tray(a_roll(3, 4)), status=TrayStatus.LOST, roll=None, fault=CameraFault.LOST
        )
        stage.session.see(seen)
        light.filter(has_text="The camera isn’t responding.").wait_for()
        assert "blurred" not in light.inner_text()

    def test_it_is_clean_for_axe(self, open_page: OpenPage, wizard: StandInSetup) -> None:
        wizard.faults, wizard.change = ["dark"], "moved"
        page = open_page("/setup", size_wh=PHONE_SMALL)
        page.get_by_role("button", name="Corner 1 of 4").wait_for()
        page.get_by_role("heading", name="3 · Your dice").click()
        page.get_by_role("button", name="Read the dice").click()
        page.get_by_label("Die 6 counts as").wait_for()
        assert violations(page) == []
        page.get_by_role("heading", name="4 · Ten test rolls").click()
        page.get_by_role("button", name="Correct", exact=True).wait_for()
        page.emulate_media(color_scheme="dark")
        for size_wh in (PHONE_SMALL, PHONE_FLAT, TV):
            resize(page, size_wh)
            assert violations(page) == [], size_wh
            assert not page.evaluate("document.documentElement.scrollWidth > innerWidth"), size_wh

    def test_a_guest_reads_that_the_host_sets_up(
        self, open_page: OpenPage, client: FlaskClient
    ) -> None:
        client.get("/host")
        assert client.post("/api/host", json={}).status_code == 200
        page = open_page("/rules", size_wh=PHONE)
        failed: list[str] = []
        page.on("response", lambda it: failed.append(it.url) if it.status >= 400 else None)
        page.goto(page.url.replace("/rules", "/setup"))
        page.locator("#closed:not(:empty)").wait_for()
        page.wait_for_timeout(600)
        assert failed == [], "the browser would show them as errors"
        assert not page.locator("#steps").is_visible()

    @pytest.mark.parametrize("size_wh", [PHONE, PHONE_FLAT, TV])
    def test_nothing_jumps_when_the_picture_comes(
        self, open_page: OpenPage, size_wh: tuple[int, int]
    ) -> None:
        """What jumps under the finger is missed, or worse, what stands there now is pressed."""
        page = open_page("/help", size_wh=size_wh)
        held: list[Route] = []
        page.route("**/api/frame.jpg*", lambda route: held.append(route), times=1)
        page.goto(page.url.replace("/help", "/setup"))
        page.locator(".corner").first.wait_for()
        while not held:
            page.wait_for_timeout(50)
        parts = page.locator("#light, .step summary, .corner .dot").all()
        before = [part.bounding_box() for part in parts]
        assert not page.locator("#picture[src]").count()
        held[0].continue_()
        page.locator("#picture[src]").wait_for()
        settle(page)
        assert [part.bounding_box() for part in parts] == before

    @pytest.mark.slow
    def test_the_picture_covers_nothing_that_has_the_focus(
        self, open_page: OpenPage, wizard: StandInSetup
    ) -> None:
        """WCAG 2.2, 2.4.11 (focus not obscured)."""
        page = open_page("/setup", size_wh=PHONE)
        page.locator(".corner").first.wait_for()
        for size_wh in (PHONE, (320, 568), (640, 360), PHONE_FLAT, TV):
            resize(page, size_wh)
            for step in all_steps(page):
                page.evaluate(SCROLLED)
                for key in ("Tab", "Shift+Tab"):
                    for _ in range(20):
                        page.keyboard.press(key)
                        assert page.evaluate(COVERED) == "", (size_wh, step, key)

    @pytest.mark.slow
    def test_it_is_whole_at_twice_the_size_in_a_game(
        self, open_page: OpenPage, wizard: StandInSetup, stage: Stage
    ) -> None:
        """WCAG 2.2, 1.4.4 (text at 200 %)."""
        put(stage, "roll")
        wizard.faults, wizard.change = ["dark", "blurred"], "moved"
        page = open_page("/setup?language=de", size_wh=PHONE)
        page.get_by_role("button", name="Ecke 1 von 4").wait_for()
        page.evaluate(LARGE_TYPE)
        settle(page)
        for step in all_steps(page):
            assert violations(page) == [], step
            for size_wh in ((1280, 800), PHONE):
                resize(page, size_wh)
                settle(page)

    @pytest.mark.parametrize(
        "languages", [LANGUAGES[:2], pytest.param(LANGUAGES, marks=pytest.mark.slow)]
    )
    def test_no_word_is_of_another_language(
        self,
        open_page: OpenPage,
        wizard: StandInSetup,
        stage: Stage,
        languages: tuple[str, ...],
    ) -> None:
        put(stage, "roll")
        wizard.faults, wizard.change = ["dark", "blurred", "overexposed"], "relit"
        seen: dict[str, set[str]] = {}
        for each in languages:
            page = open_page(f"/setup?language={each}", size_wh=PHONE)
            page.locator(".corner").first.wait_for()
            seen[each] = said(page)
            for _ in all_steps(page):
                seen[each] |= said(page)
        assert len(seen["en"]) > 40
        for language in languages[1:]:
            assert seen["en"] & seen[language] == set(), language


def all_steps(page: Page) -> Iterator[str]:
    """Open one step of the wizard after another, the dice looked at and a roll read."""
    for name in ("exposure", "dice", "rolls"):
        page.locator(f"#step-{name} summary").click()
        page.locator(f"#step-{name}[open]").wait_for()
        if name == "dice":
            page.locator("#look").click()
            page.locator("#dice select, #dice-said:not(:empty)").first.wait_for()
            assert page.locator("#dice select").count() == 6, "they are not read"
            assert page.locator("#dice select").count() == 6
        yield name
