"""The result on a phone: its ways back, its reasons, and the next game."""

from __future__ import annotations

import pytest

from tests.session.fakes import Stage
from tests.web.browsing import (
    BROKEN,
    MODULES,
    PHONE,
    PHONE_FLAT,
    PHONE_SMALL,
    OpenPage,
    before_the_locks,
    comes_true,
    left,
    put,
    ready,
    resize,
)
from tests.web.stand_in import seat


def test_from_the_last_sheet_back_to_the_result(stage: Stage, open_page: OpenPage) -> None:
    page = open_page("/", token=put(stage, "over")[0])
    page.get_by_role("button", name="See my sheet").click()
    page.locator("#over").wait_for(state="hidden")
    page.get_by_role("button", name="Back to the result").press("Enter")
    page.locator("#over").wait_for()
    assert page.evaluate("document.activeElement.id") == "see-sheet"


@pytest.mark.parametrize(("how", "rulings"), [("early", []), ("locks", ["E18"])])
def test_no_ruling_is_named_for_a_game_that_people_ended(
    stage: Stage, open_page: OpenPage, how: str, rulings: list[str]
) -> None:
    if how == "early":
        tokens = put(stage, "over")
    else:
        tokens = [seat(stage, name).token for name in ("Ada", "Benjamin")]
        stage.session.start("base", 0)
        before_the_locks(stage, "R", "Y")
        for player, box in enumerate(("R12", "Y12")):
            assert stage.answer(player, box) == ""
        stage.time.pass_s(6.0)
    page = open_page("/", token=tokens[0])
    page.get_by_role("button", name="See my sheet").click()
    page.locator("[data-token=G7]").click()
    page.locator("#why", has_text="The game is over").wait_for()
    links = page.locator("#why a").evaluate_all("links => links.map((link) => link.hash.slice(1))")
    assert links == rulings


def test_a_notice_is_read_above_the_result(stage: Stage, open_page: OpenPage) -> None:
    tokens = put(stage, "action1")
    page = ready(open_page("/", token=tokens[0], size_wh=PHONE_SMALL))
    stage.session.close_action()
    page.locator("#notice", has_text="The game went on").wait_for()
    stage.session.end()
    page.locator("#over").wait_for()
    page.locator("#notice-ok").click()
    page.locator("#notice").wait_for(state="hidden")
    comes_true(page, "document.activeElement.id === 'over'")


def test_keys_reach_no_way_back_behind_the_result(stage: Stage, open_page: OpenPage) -> None:
    tokens = put(stage, "roll")
    page = ready(open_page("/", token=tokens[0], size_wh=PHONE_SMALL))
    page.locator("#players button").nth(1).click()
    page.locator("#viewing-back").wait_for()
    stage.session.end()
    page.locator("#over").wait_for()
    assert page.locator("#viewing-back").is_hidden()


def test_keys_reach_nothing_behind_the_result_without_inert(
    stage: Stage, open_page: OpenPage
) -> None:
    page = open_page("/healthz", token=put(stage, "over")[0])
    page.add_init_script("delete HTMLElement.prototype.inert")
    page.goto(page.url.removesuffix("healthz"))
    page.locator("#over").wait_for()
    for _ in range(8):
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.closest('.game > :not(#over)')") is None


def test_the_host_of_five_plays_again_without_scrolling(stage: Stage, open_page: OpenPage) -> None:
    names = ("Ada Wilhelmina", "Benjamin", "Cleo", "Dieter", "Maximilian")
    tokens = [seat(stage, name).token for name in names]
    stage.session.start("base", 0)
    stage.roll(3, 4)
    for player in range(5):
        stage.answer(player, None)
    stage.answer(0, None)
    stage.session.end()
    page = open_page("/?language=de", size_wh=PHONE_SMALL, token=tokens[0], device="a" * 32)
    page.evaluate("fetch('/api/host', {method: 'POST'})")
    page.get_by_role("button", name="Noch einmal spielen").wait_for()
    for size_wh in (PHONE_SMALL, PHONE, PHONE_FLAT):
        resize(page, size_wh)
        for name in ("Noch einmal spielen", "Meinen Zettel ansehen"):
            box = page.get_by_role("button", name=name).bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= size_wh[1], size_wh


def test_the_points_that_penalties_cost_are_named(stage: Stage, open_page: OpenPage) -> None:
    tokens = put(stage, "roll")
    stage.play_out()
    page = ready(open_page("/", token=tokens[0]))
    page.locator(".podium").get_by_role("img", name="4 of 4 penalties, minus 20 points").wait_for()


def test_the_ranking_stays_while_phones_come_and_go(stage: Stage, open_page: OpenPage) -> None:
    tokens = put(stage, "over")
    page = ready(open_page("/", token=tokens[0]))
    first = page.locator("#podium li").first.element_handle()
    ready(open_page("/", token=tokens[1]))
    online = "latest().seats.find(({ seat }) => seat === 1).online"
    comes_true(page, f"import('{MODULES}/lib/live.js').then(({{ latest }}) => {online})")
    assert first.evaluate("(entry) => entry.isConnected")


def test_long_names_fit_the_result_on_small_phones(stage: Stage, open_page: OpenPage) -> None:
    long = ("Wilhelmina Grünwald", "Konstantin von Hofer", "Ömür", "Alexandra Maximilian", "Ben")
    tokens = [seat(stage, name).token for name in long]
    stage.session.start("base", 0)
    before_the_locks(stage, *"RRYYY")
    stage.session.close_action()
    stage.play_out()
    page = ready(open_page("/", token=tokens[0]))
    page.locator("#podium bdi").first.wait_for()
    resize(page, (320, 568))
    assert left(page, BROKEN) == []
    resize(page, (740, 360))
    hidden = "((over) => over.scrollHeight > over.clientHeight ? ['scrolls'] : [])"
    assert left(page, f"{hidden}(document.querySelector('#over'))") == []
