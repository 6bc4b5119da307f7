"""Two things at once in a real browser: what was asked meets a table that has gone on meanwhile."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from companion.engine import Phase
from companion.tray import TrayStatus, TrayView
from tests.session.fakes import Stage
from tests.web.browsing import (
    OpenPage,
    comes_true,
    cut_off,
    names,
    open_part,
    put,
    ready,
    start_on_a_shared_tablet,
    stop_the_clock,
    wait_until,
)

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

RED_7 = re.compile("^red 7, can be crossed now")


class TestAnswers:
    def test_a_game_paused_during_a_resent_answer_can_be_resumed(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = put(stage, "action1")
        page = ready(open_page("/", token=tokens[0]))
        page.route("**/api/answer", lambda route: route.fulfill(status=503, json={}))
        page.get_by_role("button", name=RED_7).click()
        assert stage.session.pause() is None
        page.locator("#lobby").wait_for()
        page.wait_for_timeout(3_500)
        page.unroute("**/api/answer")
        assert stage.session.resume(1) is None
        red = page.get_by_role("button", name=RED_7)
        red.wait_for()
        red.click()
        wait_until(page, lambda: stage.state.answers[0] is not None)

    def test_an_answer_that_counted_is_not_reported_late(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = put(stage, "action1")
        for player in (0, 1):
            assert stage.answer(player, None) == ""
        page = ready(open_page("/", token=tokens[2]))
        lost: list[int] = []

        def lose(route: Route) -> None:
            lost.append(route.fetch().status)
            route.abort()

        page.route("**/api/answer", lose, times=2)
        page.get_by_role("button", name="Pass").click()
        wait_until(page, lambda: not stage.state.waiting_for)
        stage.time.pass_s(3.1)
        assert stage.state.phase is Phase.ACTION2
        comes_true(page, "() => localStorage.getItem('unsent-answers') === ''")
        page.wait_for_timeout(100)
        assert lost == [200, 200]
        assert page.locator("#why").inner_text() == ""

    def test_a_changed_answer_does_not_wait_for_a_reply_that_never_comes(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = put(stage, "action1")
        page = ready(open_page("/", token=tokens[0]))
        sent: list[Route] = []

        def keep_the_first_reply(route: Route) -> None:
            sent.append(route)
            if len(sent) == 1:
                route.fetch()
            else:
                route.continue_()

        page.route("**/api/answer", keep_the_first_reply)
        stop_the_clock(page)  # no request is given up
        page.get_by_role("button", name=RED_7).click()
        bits = stage.state.plan.bits
        wait_until(page, lambda: stage.state.answers[0] == bits["R7"])
        page.get_by_role("button", name=re.compile("^yellow 7")).click()
        wait_until(page, lambda: stage.state.answers[0] == bits["Y7"])
        assert page.locator("#offline").is_hidden()
        sent[0].abort()  # Playwright logs an error for a request that nobody answers

    def test_a_device_numbers_its_answers_on_after_a_reload(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = put(stage, "action1")
        page = ready(open_page("/", token=tokens[0]))
        keys = []
        for _ in range(2):
            page.get_by_role("button", name=RED_7).click()
            wait_until(page, lambda: stage.state.answers[0] is not None)
            keys.append(page.evaluate("localStorage.sent"))
            page.get_by_role("button", name=re.compile("^red 7")).click()
            wait_until(page, lambda: stage.state.answers[0] is None)
            keys.append(page.evaluate("localStorage.sent"))
            sender = page.evaluate("localStorage.sender")
            page.reload()
            ready(page)
        assert sorted(set(keys), key=int) == keys
        assert len(keys[0]) == len(str(10**12)), "later than all before, whatever was lost"
        assert page.evaluate("localStorage.sender") == sender

    def test_an_unsent_answer_of_another_game_is_forgotten(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = put(stage, "action1")
        page = ready(open_page("/", token=tokens[0]))
        page.route("**/api/answer", lambda route: route.abort())
        page.get_by_role("button", name=RED_7).click()
        wait_until(page, lambda: "R7" in page.evaluate("localStorage['unsent-answers'] ?? ''"))
        stage.session.end()
        stage.session.rematch()
        stage.roll(3, 4)
        page.unroute("**/api/answer")
        page.reload()
        ready(page)
        page.wait_for_timeout(500)
        assert page.locator("#why").inner_text() == ""
        assert page.evaluate("localStorage['unsent-answers'] ?? ''") == ""
        assert stage.state.answers[0] is None

    def test_leaving_removes_the_player_whose_menu_was_opened(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = open_page("/", size_wh=(768, 1024))
        start_on_a_shared_tablet(page, stage)
        passed: list[Route] = []
        page.route("**/api/answer", lambda route: passed.append(route))
        page.get_by_role("button", name="Pass").click()
        page.locator("#menu").click()
        page.get_by_role("button", name="Ada leaves the game").click()
        wait_until(page, lambda: len(passed) == 1)
        passed[0].continue_()
        page.locator("#status", has_text="Grandma: White 7").wait_for()
        page.get_by_role("button", name="Yes, leave").click()
        wait_until(page, lambda: len(names(stage)) == 1)  # out of the game first, then the seat
        assert names(stage) == ["Grandma"]
        assert len(stage.state.gone) == 1

    def test_both_players_of_a_tablet_answer_without_a_connection(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = open_page("/", size_wh=(390, 844))
        start_on_a_shared_tablet(page, stage)
        cut_off(page)
        for name in ("Ada", "Grandma"):
            page.locator("#players button", has_text=name).click(timeout=2_000)
            page.locator("#status", has_text=f"{name}: White 7").wait_for()
            page.get_by_role("button", name="Pass").click()
        page.context.set_offline(False)
        wait_until(page, lambda: not stage.state.waiting_for)

    def test_dice_chosen_for_a_turn_that_went_by_are_not_entered_for_the_next(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = put(stage, "roll")
        stage.session.see(TrayView(TrayStatus.LOST))
        page = open_page("/", token=tokens[0])
        page.locator("#type").click()
        for die in page.locator("#faces fieldset").all():
            die.locator("label").nth(5).click()
        page.context.set_offline(True)
        turn = stage.state.turn
        for _ in tokens:  # until it is the same player's turn again
            assert stage.type_roll(3, 4) is None
            assert stage.session.close_action() is None
            assert stage.session.close_action() is None
        assert (stage.state.turn, stage.state.phase) == (turn + len(tokens), Phase.ROLL)
        page.context.set_offline(False)
        page.locator("#typing").wait_for(state="hidden")
        page.locator("#notice").get_by_role("button").click()
        page.locator("#type").click()
        assert page.locator("#faces input:checked").count() == 0
        assert stage.state.phase is Phase.ROLL

    def test_dice_that_were_entered_and_undone_are_chosen_anew(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        token = put(stage, "roll")[stage.state.active]
        stage.session.see(TrayView(TrayStatus.LOST))
        page = open_page("/", token=token)
        page.locator("#type").click()
        for die in page.locator("#faces fieldset").all():
            die.locator("label").nth(5).click()
        page.locator("#typing [type=submit]").click()
        page.locator("#status", has_text="White 12").wait_for()
        assert stage.session.undo() is None
        page.locator("#notice").get_by_role("button").click()
        page.locator("#type").click()
        assert page.locator("#faces input:checked").count() == 0

    def test_a_form_sent_twice_is_asked_once(self, stage: Stage, open_page: OpenPage) -> None:
        page = open_page("/")
        asked: list[str] = []
        page.on("request", lambda request: asked.append(request.url.rsplit("/", 1)[-1]))
        page.get_by_label("Your name").fill("Ada")
        page.get_by_role("button", name="Take a seat").dblclick()
        page.get_by_text("Welcome, Ada!").wait_for()
        page.wait_for_timeout(300)
        assert asked.count("join") == 1
        assert page.locator("#join-why").inner_text() == ""


class TestTheHost:
    def test_a_step_applies_only_to_the_state_shown(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "action1")
        page = open_page("/host")
        page.get_by_role("button", name="Continue without them").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_text("action 2 is open").wait_for()
        for player in range(3):
            assert stage.answer(player, None) == ""
        misses = stage.state.misses
        dialog.locator("#ask-yes").click()
        dialog.get_by_text("The game has moved on.").wait_for()
        assert stage.state.phase is Phase.ACTION2
        assert stage.state.misses == misses
        dialog.get_by_text(re.compile("gets a penalty")).wait_for()
        dialog.locator("#ask-yes").click()
        wait_until(page, lambda: sum(stage.state.misses) == sum(misses) + 1)

    def test_a_seat_to_be_freed_in_the_lobby_is_not_freed_in_a_game(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "lobby")
        page = open_page("/host")
        open_part(page, "Players")
        page.get_by_role("button", name="Free the seat of Cleo").click()
        dialog = page.get_by_role("dialog", name="They can sit down again later")
        dialog.wait_for()
        assert stage.session.start("base", 0) is None
        dialog.wait_for(state="hidden")
        page.get_by_role("button", name="Free the seat of Cleo").click()
        page.get_by_role("dialog", name="The game continues without them").wait_for()

    def test_the_question_about_a_seat_ends_with_its_person(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "lobby")
        page = open_page("/host")
        open_part(page, "Players")
        page.get_by_role("button", name="Free the seat of Cleo").click()
        dialog = page.get_by_role("dialog", name="They can sit down again later")
        dialog.wait_for()
        assert stage.session.leave(2) is None
        stage.seat("Zoe")
        dialog.wait_for(state="hidden")
        assert names(stage)[-1] == "Zoe"

    def test_a_late_answer_of_the_players_own_is_kept(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "action1")
        page = open_page("/host")
        page.get_by_role("button", name="Answer for Benjamin").click()
        assert stage.answer(1, "B7", done=False) == ""
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("button", name="Pass").click()
        dialog.get_by_text("Benjamin has answered in the meantime.").wait_for()
        assert stage.state.plan.tokens[stage.state.answers[1]] == "B7"

    def test_a_late_answer_belongs_to_its_own_question(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "action1")
        page = open_page("/host")
        page.route("**/api/end", lambda route: _fail_later(page, route))
        page.get_by_role("button", name="End the game early").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("button", name="Yes, end it").click()
        dialog.get_by_role("button", name="No, keep playing").click()
        page.get_by_role("button", name="Undo the last step").click()
        dialog.get_by_text("The roll is taken back (white 7).").wait_for()
        page.wait_for_timeout(1_500)
        assert dialog.locator("#ask-why").inner_text() == ""
        page.unroute("**/api/end")
        dialog.get_by_role("button", name="Yes, undo it").click()
        wait_until(page, lambda: stage.state.phase is Phase.ROLL)

    def test_a_step_whose_answer_was_lost_is_not_taken_twice(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "action2")
        page = open_page("/host")

        def lose(route: Route) -> None:
            route.fetch()
            route.abort()

        page.route("**/api/close", lose, times=1)
        page.get_by_role("button", name="Continue without them").click()
        dialog = page.get_by_role("dialog")
        dialog.locator("#ask-lines li").first.wait_for()
        turn = stage.state.turn
        dialog.locator("#ask-yes").click()
        dialog.get_by_text("The table didn’t answer.").wait_for()
        assert stage.state.turn == turn + 1
        assert stage.roll(3, 4) is None
        dialog.locator("#ask-yes").click()
        dialog.get_by_text("The game has moved on.").wait_for()
        assert (stage.state.turn, stage.state.phase) == (turn + 1, Phase.ACTION1)

    def test_no_step_is_taken_before_its_effects_are_shown(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "action1")
        page = open_page("/host")
        asked: list[Route] = []
        page.route("**/api/preview", lambda route: asked.append(route))
        page.get_by_role("button", name="Continue without them").click()
        wait_until(page, lambda: len(asked) == 1)
        dialog = page.get_by_role("dialog")
        assert dialog.locator("#ask-yes").is_hidden()
        page.wait_for_timeout(500)
        asked[0].continue_()
        dialog.locator("#ask-yes[aria-disabled]").wait_for()  # it moves the other button
        dialog.locator("#ask-yes").click()
        wait_until(page, lambda: stage.state.phase is Phase.ACTION2)

    def test_the_chosen_starter_survives_joins_and_leaves(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = put(stage, "lobby")
        page = open_page("/host")
        page.get_by_role("button", name="Start the game").wait_for()
        page.locator("#first").select_option(label="Cleo")
        phone = ready(open_page("/", token=tokens[1]))
        open_part(page, "Players")
        page.locator("#seats li", has_text="Benjamin").and_(page.locator(".is-here")).wait_for()
        phone.close()
        page.get_by_role("button", name="Start the game").click()
        wait_until(page, lambda: stage.session.view().table.game is not None)
        assert stage.game.names[stage.state.first] == "Cleo"


class TestTheEnd:
    def test_nobody_inherits_the_sheet_of_a_player_who_left(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = put(stage, "over")
        ben = ready(open_page("/", token=tokens[1]))
        points = ben.locator("#podium li", has_text="Benjamin").locator(".points").inner_text()
        ben.get_by_role("button", name="Leave the table").click()
        ben.get_by_label("Your name").fill("Zoe")
        ben.get_by_role("button", name="Take a seat").click()
        ben.get_by_text("Welcome, Zoe!").wait_for()
        ada = ready(open_page("/", token=tokens[0]))
        shown = ada.locator("#podium li", has_text="Benjamin").locator(".points").inner_text()
        assert shown == points
        assert ada.locator("#podium", has_text="Zoe").count() == 0
        rejected = stage.session.undo()
        assert rejected is not None
        assert rejected.code == "SEAT_EMPTY"


def _fail_later(page: Page, route: Route) -> None:
    page.evaluate("() => new Promise((done) => setTimeout(done, 1_000))")
    route.abort()
