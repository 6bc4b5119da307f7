"""Where a tap lands when what lies under the finger changes, in a real browser."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from companion.engine import Phase
from tests.session.fakes import Stage
from tests.web.browsing import (
    OpenPage,
    names,
    put,
    ready,
    start_on_a_shared_tablet,
    stop_the_clock,
    tap_twice,
    wait_until,
)
from tests.web.stand_in import a_roll, dice_in_tray

if TYPE_CHECKING:
    from playwright.sync_api import Route

PRESSED_AS_IT_CHANGES = """(id) => {
    const button = document.getElementById(id);
    const watch = new MutationObserver(() => {
        watch.disconnect();
        button.click();
    });
    watch.observe(button, { childList: true, characterData: true, subtree: true });
}"""

TAPPED_TWICE = """(button) => {
    const meaning = () => button.textContent.split(" (")[0]; // without its seconds
    const before = meaning();
    const watch = new MutationObserver(() => {
        if (meaning() === before) return;
        watch.disconnect();
        button.click();
    });
    watch.observe(button, { childList: true, characterData: true, subtree: true });
    button.click();
}"""
"""The second tap comes as the button changes its meaning."""

SIT = """(who) => fetch("/api/join", {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify(who),
})"""

SLEEPS = """
    const waiting = [];
    const now = requestAnimationFrame.bind(window);
    const forget = cancelAnimationFrame.bind(window);
    let isAsleep = false;
    window.requestAnimationFrame = (draw) => (isAsleep ? -waiting.push(draw) : now(draw));
    window.cancelAnimationFrame = (n) => (n < 0 ? (waiting[-n - 1] = () => {}) : forget(n));
    window.sleep = () => (isAsleep = true);
    window.wake = () => {
        isAsleep = false;
        for (const draw of waiting.splice(0)) draw(0);
    };
"""
"""A page nobody sees gets no moment to draw in."""


def test_a_double_tap_on_leaving_does_not_leave(stage: Stage, open_page: OpenPage) -> None:
    tokens = put(stage, "action1")
    page = ready(open_page("/", token=tokens[0], size_wh=(360, 640)))
    page.locator("#menu").click()
    page.evaluate(
        "() => { document.getElementById('menu-leave').click();"
        " document.getElementById('menu-go').click(); }"
    )
    page.wait_for_timeout(300)
    assert len(names(stage)) == 3
    page.locator("#menu-go").click()
    wait_until(page, lambda: len(names(stage)) == 2)


def test_a_key_held_down_presses_once(stage: Stage, open_page: OpenPage) -> None:
    page = ready(open_page("/", token=put(stage, "action1")[0]))
    for player in (1, 2):
        assert stage.answer(player, None) == ""
    page.get_by_role("button", name="red 7, can be crossed now").press("Enter")
    page.locator("#done:not([aria-disabled])", has_text="Done").focus()
    for _ in range(12):
        page.keyboard.down("Enter")  # again and again, as a keyboard repeats it
        page.wait_for_timeout(100)
    page.keyboard.up("Enter")
    stage.time.pass_s(6.0)
    page.get_by_role("button", name="red 7, crossed").wait_for()


def test_a_double_tap_deletes_nobody(stage: Stage, open_page: OpenPage) -> None:
    stage.seat("Ada", "Ben")
    stage.session.start("base", 0)
    stage.play_out()
    for seat in (0, 1):
        stage.session.leave(seat)
    stage.seat("Cleo")
    stage.session.start("base", 0)
    stage.session.end()
    page = open_page("/games", size_wh=(390, 844))
    page.get_by_text("Change names").click()
    page.locator("#people-name").select_option("Ben")
    tap_twice(page, page.get_by_role("button", name="Delete", exact=True))
    assert stage.session.past.results()[0].names == ("Ada", "Ben")
    page.get_by_role("button", name="Delete Ben for good?").click()
    wait_until(page, lambda: stage.session.past.results()[0].names == ("Ada", "#2"))


def test_a_player_to_rename_stays_chosen_while_the_list_changes(
    stage: Stage, open_page: OpenPage
) -> None:
    def a_game(*who: str) -> None:
        stage.seat(*who)
        stage.session.start("base", 0)
        stage.play_out()
        for seat in [seat.number for seat in stage.session.view().table.seats]:
            stage.session.leave(seat)

    a_game("Ben", "Zed")
    page = open_page("/games", size_wh=(390, 844))
    page.get_by_text("Change names").click()
    page.locator("#people-name").select_option("Zed")
    page.locator("#people-to").fill("Yves")
    a_game("Ada", "Mia")
    page.locator("#choose-bots").evaluate("box => box.click()")
    page.locator("#people-name option", has_text="Ada").wait_for(state="attached")
    assert page.locator("#people-name").input_value() == "Zed"
    assert page.locator("#people-to").input_value() == "Yves"


def test_a_double_tap_on_leaving_takes_nobody_else_along(stage: Stage, open_page: OpenPage) -> None:
    page = open_page("/", size_wh=(390, 844))
    page.locator("#join").wait_for()
    for number, name in enumerate(("Ada", "Ben", "Cleo", "Dora")):
        page.evaluate(SIT, {"name": name, "another": number > 0})
    page.reload()
    leave = page.get_by_role("button", name="Ben leaves the table")
    leave.wait_for()
    tap_twice(page, leave)
    wait_until(page, lambda: len(names(stage)) < 4)  # on a busy machine the first tap takes a while
    page.wait_for_timeout(300)
    assert names(stage) == ["Ada", "Cleo", "Dora"]
    page.get_by_role("button", name="Cleo leaves the table").click()
    wait_until(page, lambda: names(stage) == ["Ada", "Dora"])


def test_a_late_reply_does_not_switch_the_selected_player(
    stage: Stage, open_page: OpenPage
) -> None:
    page = open_page("/", size_wh=(768, 1024))
    page.locator("#join").wait_for()
    for number, name in enumerate(("Ada", "Ben", "Cleo")):
        page.evaluate(SIT, {"name": name, "another": number > 0})
    page.reload()
    page.get_by_text("Welcome, Ada").wait_for()
    assert stage.session.start("base", 0) is None
    assert stage.roll(3, 4) is None

    def late(route: Route) -> None:
        answer = route.fetch()
        page.evaluate("() => new Promise((done) => setTimeout(done, 800))")
        route.fulfill(response=answer)

    page.route("**/api/answer", late, times=1)
    status = page.locator("#status")
    status.filter(has_text="Ada: White 7").wait_for()
    page.get_by_role("button", name="Pass").click()
    page.locator("#players button", has_text="Cleo").click()
    page.wait_for_timeout(1_500)
    assert status.inner_text().startswith("Cleo: White 7")
    page.locator("[data-token=R7]").click()
    wait_until(page, lambda: stage.state.answers[2] is not None)
    assert stage.state.answers[1] is None


def test_done_that_becomes_pass_under_the_finger_does_not_pass(
    stage: Stage, open_page: OpenPage
) -> None:
    tokens = put(stage, "action1")
    page = ready(open_page("/", token=tokens[0]))
    page.locator("[data-token=R7]").click()
    done = page.locator("#done").and_(page.get_by_text("Done"))
    done.wait_for()
    wait_until(page, lambda: stage.state.answers[0] is not None)
    page.wait_for_timeout(400)
    page.evaluate(PRESSED_AS_IT_CHANGES, "done")
    assert stage.correct(1, 2) is None
    page.locator("#done", has_text="Pass").wait_for()
    page.wait_for_timeout(500)
    assert stage.state.answers[0] is None
    page.locator("#done").click()
    wait_until(page, lambda: stage.state.answers[0] is not None)


def test_a_double_tap_on_a_box_crosses_it(stage: Stage, open_page: OpenPage) -> None:
    tokens = put(stage, "action1")
    page = ready(open_page("/", token=tokens[0]))
    box = page.locator("[data-token=R7]")

    def with_a_finger() -> None:
        for _ in range(2):
            box.dispatch_event("click")

    for hour, double_tap in enumerate((box.dblclick, with_a_finger)):
        page.clock.set_fixed_time(datetime(2100, 1, 1, hour))  # no time between its halves
        double_tap()
        wait_until(page, lambda: stage.state.answers[0] is not None)
        page.wait_for_timeout(200)
        assert stage.state.answers[0] is not None
        box.click()
        wait_until(page, lambda: stage.state.answers[0] is None)


@pytest.mark.parametrize("take_back_s", [600.0])  # the page counts in real time
def test_a_double_tap_neither_takes_back_nor_answers_anew(
    stage: Stage, open_page: OpenPage
) -> None:
    tokens = put(stage, "action1")
    page = ready(open_page("/", token=tokens[0]))
    for player in (1, 2):
        assert stage.answer(player, None) == ""
    done = page.locator("#done")
    for text, has_answered in (("Take back", True), ("Pass", False)):
        page.wait_for_timeout(400)
        done.evaluate(TAPPED_TWICE)
        done.filter(has_text=text).wait_for()
        page.wait_for_timeout(300)
        wait_until(page, lambda now=has_answered: (stage.state.answers[0] is not None) is now)


def test_a_tap_meant_for_done_does_nothing_to_the_result(stage: Stage, open_page: OpenPage) -> None:
    page = open_page("/", size_wh=(740, 360))
    start_on_a_shared_tablet(page, stage)
    again, done = page.locator("#rematch"), page.locator("#done")
    box = done.bounding_box()
    assert box is not None
    page.clock.install(time=datetime(2000, 1, 1))
    page.clock.pause_at(datetime(2000, 1, 2))  # both taps come before any timer ends
    stage.session.end()
    again.wait_for()
    under = again.bounding_box()
    assert under is not None
    x, y = under["x"] + under["width"] / 2, under["y"] + under["height"] / 2
    page.mouse.click(x, y)
    leave = page.locator("#over-leave").bounding_box()
    assert leave is not None
    page.mouse.click(leave["x"] + leave["width"] / 2, leave["y"] + leave["height"] / 2)
    page.clock.run_for(600)
    assert (stage.state.phase, names(stage)) == (Phase.OVER, ["Ada", "Grandma"])
    page.mouse.click(x, y)
    wait_until(page, lambda: stage.state.phase is Phase.ROLL)


def test_a_late_tap_crosses_nothing_for_somebody_else(stage: Stage, open_page: OpenPage) -> None:
    page = open_page("/", size_wh=(768, 1024))
    start_on_a_shared_tablet(page, stage)
    page.locator("[data-token=R7]").click()
    page.locator("#done").click()
    page.locator("#status", has_text="Grandma: White 7").wait_for()
    page.locator("[data-token=G7]").click()
    wait_until(page, lambda: not stage.state.waiting_for)
    box = page.locator("[data-token=B7]").bounding_box()
    assert box is not None
    stop_the_clock(page)
    stage.time.pass_s(5.0)
    page.locator("#status", has_text="Ada: White plus a colour").wait_for()
    page.mouse.click(box["x"] + 20, box["y"] + 10)
    page.wait_for_timeout(400)
    assert stage.state.answers[0] is None
    page.clock.run_for(600)
    page.locator("[data-token=B7]").click()
    wait_until(page, lambda: stage.state.answers[0] is not None)


def test_a_question_about_a_die_goes_with_its_roll(stage: Stage, open_page: OpenPage) -> None:
    put(stage, "action1")
    page = open_page("/host", size_wh=(1280, 900))
    page.locator("#rolled button").nth(2).click()
    dialog = page.locator("#ask")
    dialog.wait_for()
    for seat in range(3):
        stage.answer(seat, None)
    stage.answer(stage.state.active, None)
    assert stage.state.phase is Phase.ROLL
    dialog.wait_for(state="hidden")


def test_a_refusal_disappears_with_the_refused_mark(stage: Stage, open_page: OpenPage) -> None:
    put(stage, "roll")
    stage.session.see(dice_in_tray(a_roll(3, 4), tilted="green"))
    page = open_page("/host")
    page.locator("#confirm").click()
    why = page.locator("#why")
    why.filter(has_text="isn’t lying flat").wait_for()
    stage.session.see(dice_in_tray(a_roll(3, 4), frame=2))
    assert stage.session.press() is None
    page.locator("#why:empty").wait_for(state="attached")


def test_an_unseen_refusal_is_not_shown_later(stage: Stage, open_page: OpenPage) -> None:
    tokens = put(stage, "roll")
    page = open_page("/", token=tokens[stage.state.active])
    page.context.add_init_script(SLEEPS)
    page.clock.install()
    page.reload()
    ready(page)
    stage.session.see(dice_in_tray(a_roll(3, 4), tilted="green"))
    page.wait_for_timeout(300)
    page.evaluate("() => window.sleep()")
    assert stage.session.press() is not None
    page.wait_for_timeout(500)
    stage.session.see(dice_in_tray(a_roll(3, 4), frame=2))
    assert stage.session.press() is None
    page.clock.fast_forward(7_500)
    page.evaluate("() => window.wake()")
    page.wait_for_timeout(300)
    assert page.locator("#why").inner_text() == ""


def test_the_focus_stays_on_the_page_when_its_button_goes(
    stage: Stage, open_page: OpenPage
) -> None:
    tokens = put(stage, "roll")
    page = ready(open_page("/", token=tokens[stage.state.active]))
    stage.session.see(dice_in_tray(a_roll(3, 4)))
    page.locator("#confirm.is-ready").focus()
    page.keyboard.press("Enter")
    wait_until(page, lambda: stage.state.phase is Phase.ACTION1)
    page.wait_for_timeout(300)
    assert page.evaluate("() => document.activeElement.id") == "game"


def test_a_shared_tablet_celebrates_whichever_of_its_players_wins(
    stage: Stage, open_page: OpenPage
) -> None:
    page = open_page("/", size_wh=(768, 1024))
    start_on_a_shared_tablet(page, stage)
    for winner in (0, 1):
        stage.answer(winner, "R7")
        stage.play_out()
        page.locator("#podium").wait_for()
        assert page.locator("#over-why").is_visible()
        page.locator("#over-confetti .confetti").wait_for(state="attached")
        stage.session.rematch()
        page.locator("#over").wait_for(state="hidden")
        page.evaluate("document.getElementById('over-confetti').replaceChildren()")
        stage.roll(3, 4)


def test_the_result_addresses_the_player_seen_last_as_you(
    stage: Stage, open_page: OpenPage
) -> None:
    page = open_page("/", size_wh=(768, 1024))
    start_on_a_shared_tablet(page, stage)
    stage.session.end()
    page.locator("#podium").wait_for()
    page.locator("#see-sheet").click()
    page.locator("#players button", has_text="Grandma").click()
    page.locator("#done").click()
    page.locator("#podium", has_text="Grandma (you)").wait_for()
    assert "Ada (you)" not in page.locator("#podium").inner_text()
