"""A phone shows who its owner is, whose turn it is, and every player's sheet."""

from __future__ import annotations

import re

import pytest

from tests.session.fakes import Stage
from tests.web.browsing import (
    PHONE,
    PHONE_SMALL,
    RECORD_VIBRATION,
    TV,
    OpenPage,
    drawn,
    put,
    ready,
    violations,
    wait_until,
)
from tests.web.stand_in import a_roll, dice_in_tray, seat

STATUS_COLOUR = "getComputedStyle(document.querySelector('.sentence')).backgroundColor"


LINES_OF_LAST_WORD = """(name) => {
  const range = document.createRange();
  const text = name.firstChild;
  range.setStart(text, text.length - text.data.split(" ").at(-1).length);
  range.setEnd(text, text.length);
  return new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size;
}"""


class TestWhoAmI:
    def test_the_ranking_breaks_an_own_name_between_words(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        token = seat(stage, "Jürgen Österreicher").token
        stage.session.start("base", 0)
        stage.play_out()
        page = drawn(ready(open_page("/", size_wh=PHONE, token=token)), stage)
        who = page.locator("#podium .who", has_text="(you)")
        assert who.locator("bdi").evaluate(LINES_OF_LAST_WORD) == 1

    def test_everybody_has_a_mark_of_their_own_and_the_own_chip_says_so(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = put(stage, "roll")  # Ada throws
        marks = """[...document.querySelectorAll('.player-mark')].map((mark) =>
          [mark.querySelector('path').getAttribute('d'), getComputedStyle(mark).fill].join())"""
        phone = ready(open_page("/", size_wh=PHONE_SMALL, token=tokens[1]))
        table = ready(open_page("/table", size_wh=(1280, 720)))
        host = ready(open_page("/host"))
        found = {tuple(page.evaluate(f"[...new Set({marks})]")) for page in (phone, table, host)}
        assert len(found) == 1
        assert len(found.pop()) == 3
        own = phone.locator(".players .is-own")
        assert own.count() == 1
        assert "Benjamin" in own.inner_text()
        assert own.get_by_text("you", exact=True).is_visible()
        assert "is-active" not in (own.get_attribute("class") or "")

    def test_a_turn_that_begins_changes_colour_and_vibrates_once(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = put(stage, "action2")
        following = stage.game.seats[(stage.state.active + 1) % 3]
        page = ready(open_page("/", token=tokens[following]))
        page.evaluate(RECORD_VIBRATION)
        page.locator("#points").click()
        before = page.evaluate(STATUS_COLOUR)
        assert stage.answer(stage.state.active, None) == ""
        page.locator("#status", has_text="Your turn").wait_for()
        assert page.evaluate(STATUS_COLOUR) != before
        assert page.evaluate("window.buzzes") == [200]


class TestOtherSheets:
    def test_a_tap_on_a_player_shows_that_sheet_live_with_a_way_back(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = put(stage, "action1")
        page = ready(open_page("/", size_wh=PHONE, token=tokens[0]))
        page.locator(".players button", has_text="Benjamin").click()
        page.locator("#viewing", has_text="Benjamin’s sheet").wait_for()
        assert not page.locator("#dice").is_visible()  # it is covered
        assert page.locator("[data-token=Y3]").get_attribute("data-is") == "crossed"
        assert violations(page) == []
        assert stage.answer(1, "Y7", done=False) == ""
        page.locator("[data-token=Y7][data-is=tapped]").wait_for()
        said = page.locator("#said", has_text="Benjamin’s sheet")
        said.wait_for(state="attached")
        page.locator("[data-token=G7]").click()
        page.locator("#why", has_text="Benjamin’s sheet").wait_for(state="attached")
        page.locator("#done[aria-disabled=true]").dispatch_event("click")
        page.wait_for_timeout(100)
        assert stage.state.answers[0] is None  # another's sheet is only looked at
        page.get_by_role("button", name="Back to my sheet").click()
        page.locator("#why:empty").wait_for(state="attached")
        said.wait_for(state="detached")
        assert page.locator("[data-token=R3]").get_attribute("data-is") == "crossed"

    def test_the_own_sheet_comes_back_when_an_answer_is_due(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = put(stage, "roll")
        page = ready(open_page("/", token=tokens[0]))
        page.locator(".players button", has_text="Benjamin").click()
        page.locator("#viewing", has_text="Benjamin’s sheet").wait_for()
        stage.session.see(dice_in_tray(a_roll(3, 4)))
        assert stage.session.press() is None
        page.locator("#viewing").wait_for(state="hidden")


class TestDone:
    @pytest.fixture
    def take_back_s(self) -> float:
        return 600.0  # the pages count in real time, also on a busy machine

    def test_a_tapped_box_that_will_count_says_so_and_counts_down(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = put(stage, "action1")
        page = ready(open_page("/", token=tokens[0]))
        page.locator("[data-token=R7]").click()
        page.locator("#status", has_text="press Done").wait_for()
        assert page.locator("#done").inner_text() == "Done"
        for player in (1, 2):
            assert stage.answer(player, None) == ""
        page.locator("#status", has_text="counts in a moment").wait_for()
        page.locator("#done", has_text=re.compile(r"^Done \(\d+\)$")).wait_for()
        page.get_by_role("button", name="Done", exact=True).wait_for()  # read out once
        page.locator("[data-token=R7]").click()
        page.locator("#done", has_text="Pass").wait_for()
        wait_until(page, lambda: stage.state.answers[0] is None)  # the page is ahead of the table

    def test_the_last_answer_too_is_taken_back_while_the_button_counts_down(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = put(stage, "action1")
        assert stage.answer(2, None) == ""
        ada, ben = (ready(open_page("/", token=token)) for token in tokens[:2])
        table = open_page("/table", size_wh=TV)
        ada.locator("[data-token=R7]").click()
        ada.get_by_role("button", name="Done").click()
        ada.get_by_role("button", name="Done", disabled=True).wait_for()
        ben.get_by_role("button", name="Pass").click()
        for page in (ada, ben):
            page.get_by_role("button", name="Take back").wait_for()
            assert "still change your answer" in page.locator("#status").inner_text()
        assert violations(ben) == []
        cleo = open_page("/?language=de", size_wh=PHONE_SMALL, token=tokens[2])  # the longest word
        cleo.get_by_role("button", name="Zurücknehmen").wait_for()
        assert cleo.locator("#done").evaluate("(node) => node.scrollWidth <= node.clientWidth")
        table.locator(".asked", has_text="Last chance to change").wait_for()
        ben.get_by_role("button", name="Take back").click()
        ben.get_by_role("button", name="Pass").wait_for()
        wait_until(ben, lambda: stage.state.waiting_for == (1,))  # the page is ahead of the table
        wait_until(ada, lambda: ada.locator("#done").get_attribute("aria-disabled") == "true")
        ben.get_by_role("button", name="Pass").click()
        ben.get_by_role("button", name="Take back").wait_for()
        wait_until(ben, lambda: not stage.state.waiting_for)
        stage.time.pass_s(600.1)
        ada.get_by_role("button", name="Pass", disabled=False).click()
        ben.get_by_role("button", name="Closes in …").wait_for()  # who only watches sees it, too
        stage.time.pass_s(600.1)
        ben.get_by_role("button", name="Throw", exact=True).wait_for()


class TestWhoIsNotOnTurn:
    def test_they_see_trouble_and_throw_and_confirm_from_their_menu(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = put(stage, "roll")  # the green die is tilted
        other = ready(open_page("/", token=tokens[(stage.state.active + 1) % 3]))
        line = other.locator(".sentence[data-trouble] #status")
        line.wait_for()
        assert "green die" in line.inner_text()
        assert violations(other) == []
        stage.session.see(dice_in_tray(a_roll(3, 4)))
        active = ready(open_page("/", token=tokens[stage.state.active]))
        assert active.get_by_role("button", name="Confirm").is_visible()
        drawn(other, stage)
        assert not other.get_by_role("button", name="Confirm").is_visible()
        other.locator("#menu").click()
        assert violations(other) == []
        other.get_by_role("button", name="Confirm").click()
        other.locator("#status", has_text="White 7").wait_for()
