"""A phone shows what others changed on its owner's sheet, until the owner has seen it."""

from __future__ import annotations

from tests.session.fakes import Stage
from tests.web.browsing import (
    PHONE_SMALL,
    RECORD_VIBRATION,
    OpenPage,
    drawn,
    put,
    ready,
    violations,
)
from tests.web.stand_in import seat

TELL_IN_ANOTHER_TAB = """(revision) => {
  localStorage.setItem('seen-notice', revision);
  dispatchEvent(new StorageEvent('storage'));
}"""


def started(stage: Stage) -> list[str]:
    """Ada and Ben play; white 7 lies on the table."""
    tokens = [seat(stage, name).token for name in ("Ada", "Ben")]
    assert stage.session.start("base", 0) is None
    assert stage.roll(3, 4) is None
    return tokens


class TestNotices:
    def test_a_cross_that_a_corrected_roll_gives_back_is_named(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = started(stage)
        page = ready(open_page("/", size_wh=PHONE_SMALL, token=tokens[1]))
        assert stage.answer(1, "R7") == ""
        assert stage.correct(4, 4) is None
        notice = page.get_by_role("alert").filter(has_text="The roll was corrected.")
        notice.get_by_text("Your cross at red 7 is gone.").wait_for()
        assert violations(page) == []
        assert stage.correct(4, 5) is None
        drawn(page, stage)
        lines = notice.locator("p").all_inner_texts()
        assert lines == ["The roll was corrected. Your cross at red 7 is gone."]

    def test_it_stays_over_a_reload_until_it_is_confirmed(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = started(stage)
        page = ready(open_page("/", token=tokens[1]))
        assert stage.answer(1, "R7") == ""
        assert stage.session.undo() is None
        page.get_by_text("Your cross at red 7 is gone.").wait_for()
        ready(page).reload()
        page.get_by_text("Your cross at red 7 is gone.").wait_for()
        page.get_by_role("button", name="Got it").click()
        page.locator("#notice").wait_for(state="hidden")
        page.reload()
        ready(page)
        assert page.locator("#notice").is_hidden()

    def test_who_did_not_answer_learns_that_the_host_went_on(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = started(stage)
        page = ready(open_page("/", token=tokens[1]))
        other = ready(open_page("/", token=tokens[0]))
        assert stage.answer(0, None) == ""
        assert stage.session.close_action() is None
        page.get_by_text("The game went on without your answer").wait_for()
        assert other.locator("#notice").is_hidden()

    def test_an_answer_of_the_host_is_shown_to_its_player(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = started(stage)
        page = ready(open_page("/", token=tokens[1]))
        state = stage.state
        rejected = stage.session.answer(
            1, state.turn, state.action, "Y7", done=True, is_by_host=True
        )
        assert rejected is None
        page.get_by_text("The host answered for you: yellow 7.").wait_for()

    def test_the_phone_that_undid_a_step_says_no_more_of_it(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = started(stage)
        page = ready(open_page("/", token=tokens[0]))
        other = ready(open_page("/", token=tokens[1]))
        for player in (0, 1):
            assert stage.answer(player, None) == ""
        home = page.url
        page.goto(f"{home}host")
        page.get_by_role("button", name="Undo the last step").click()
        page.get_by_role("button", name="Yes, undo it").click()
        other.locator("#notice-ok").wait_for()
        page.get_by_role("dialog").wait_for(state="hidden")
        page.goto(home)
        ready(page)
        assert page.locator("#notice").is_hidden()

    def test_a_step_that_the_hosts_page_has_told_first_is_not_told_again(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = ready(open_page("/", token=started(stage)[1]))
        assert stage.answer(1, "R7") == ""
        drawn(page, stage)
        page.evaluate(TELL_IN_ANOTHER_TAB, stage.session.view().table.revision + 1)
        assert stage.session.undo() is None
        drawn(page, stage)
        assert page.locator("#notice").is_hidden()

    def test_a_phone_that_sits_down_later_shows_no_old_notice(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = started(stage)
        assert stage.correct(4, 4) is None
        page = ready(open_page("/", token=tokens[0]))
        assert page.locator("#notice").is_hidden()

    def test_a_device_vibrates_once_for_a_notice(self, stage: Stage, open_page: OpenPage) -> None:
        tokens = put(stage, "action1")
        page = ready(open_page("/", token=tokens[1]))
        page.evaluate(RECORD_VIBRATION)
        page.locator("#points").click()
        assert stage.correct(4, 4) is None
        page.locator("#notice-ok").wait_for()
        page.locator("#notice-ok").click()
        assert len(page.evaluate("window.buzzes")) == 1
