"""What a screen reader says on a player's page."""

from __future__ import annotations

from companion.tray import TrayStatus, TrayView
from tests.session.fakes import Stage
from tests.web.browsing import READ_OUT, OpenPage, comes_true, cut_off, drawn, put, ready
from tests.web.stand_in import seat
from tests.web.test_places import press


def test_the_same_refusal_of_a_name_is_read_out_each_time(
    stage: Stage, open_page: OpenPage
) -> None:
    put(stage, "lobby")
    page = ready(open_page("/"))
    page.evaluate(READ_OUT)
    page.get_by_label("Your name").fill("Ada")
    for times in (1, 2):
        with page.expect_request_finished(lambda request: request.url.endswith("/api/join")):
            page.keyboard.press("Enter")
        comes_true(page, "times => readOut.length === times", times)
        assert "There is already a Ada at this table." in page.evaluate("readOut")[-1]


def test_dice_that_are_missing_are_read_out_each_time(stage: Stage, open_page: OpenPage) -> None:
    tokens = put(stage, "roll")
    page = ready(open_page("/", token=tokens[stage.state.active]))
    stage.session.see(TrayView(TrayStatus.DARK, None, 1, (640, 480)))
    press(page, "Enter the dice")
    page.evaluate(READ_OUT)
    for times in (1, 2):
        page.get_by_role("dialog").get_by_role("button", name="Confirm").press("Enter")
        comes_true(page, "times => readOut.length === times", times)


def test_who_comes_to_the_table_is_read_out(stage: Stage, open_page: OpenPage) -> None:
    page = ready(open_page("/", token=seat(stage, "Ada").token))
    page.evaluate(READ_OUT)
    for name, said in (("Ben", "Already here: Ben."), ("Cleo", "Already here: Ben and Cleo.")):
        seat(stage, name)
        drawn(page, stage)
        assert page.evaluate("readOut.splice(0)") == [said]


def test_a_cut_line_appears_in_a_region_that_is_always_there(
    stage: Stage, open_page: OpenPage
) -> None:
    page = ready(open_page("/", token=put(stage, "action1")[0]))
    region = page.get_by_role("status").filter(has=page.locator("#offline"))
    assert region.aria_snapshot() == "- status"
    cut_off(page)
    assert "No connection" in region.aria_snapshot()
