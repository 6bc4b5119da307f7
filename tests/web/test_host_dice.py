"""The dice on the host's page: entering all of them, and putting one right."""

from __future__ import annotations

from dataclasses import replace

from companion.engine import DieColour, Phase
from companion.tray import Problem, ProblemCode, TrayStatus, TrayView
from tests.session.fakes import Stage
from tests.web.browsing import (
    PHONE_SMALL,
    TV,
    OpenPage,
    comes_true,
    drawn,
    put,
    violations,
    wait_until,
)
from tests.web.stand_in import a_roll, dice_in_tray

FILLED_IN = "() => [...document.querySelectorAll('#faces :checked')].map((c) => c.value)"
"""The values in the form for the dice."""


class TestTheForm:
    def test_dice_by_hand(self, stage: Stage, open_page: OpenPage) -> None:
        put(stage, "roll")
        page = open_page("/host", size_wh=TV)
        page.locator("summary", has_text="Enter the dice by hand").click()
        page.get_by_role("button", name="Confirm these dice").click()
        page.get_by_text("Every die needs a number.").wait_for()
        for name in ("First white die 3", "Second white die 4", "red 1", "yellow 2"):
            page.get_by_label(name).check()
        for name in ("green 5", "blue 6"):
            page.get_by_label(name).check()
        page.get_by_role("button", name="Confirm these dice").click()
        wait_until(page, lambda: stage.state.phase is Phase.ACTION1)
        assert stage.game.typed
        assert stage.state.roll == a_roll(3, 4, red=1, yellow=2, green=5, blue=6)
        form = page.locator("#roll-form:not([aria-busy])")
        form.get_by_role("button", name="Correct the roll").wait_for()
        assert stage.session.undo() is None
        page.get_by_role("button", name="Confirm these dice").click()
        page.get_by_text("Every die needs a number.").wait_for()  # an undone roll is thrown again

    def test_the_form_has_what_the_camera_reads_until_the_host_fills_it_in(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "roll")
        page = open_page("/host", size_wh=TV)
        page.locator("summary", has_text="Enter the dice by hand").click()
        assert page.evaluate(FILLED_IN) == ["3", "4", "3", "3", "3"], "but for the tilted green"
        page.get_by_label("red 6").check()
        lying = dice_in_tray(a_roll(1, 2, red=1, yellow=5, blue=6))
        missing = (Problem(ProblemCode.MISSING, DieColour.GREEN),)
        dice = tuple(die for die in lying.dice if die.colour is not DieColour.GREEN)
        stage.session.see(
            replace(lying, status=TrayStatus.MISSING, roll=None, dice=dice, problems=missing)
        )
        comes_true(page, f"() => String(({FILLED_IN})()) === '1,2,6,5,6'")
        stage.session.see(TrayView(TrayStatus.MOVING))
        comes_true(page, f"() => String(({FILLED_IN})()) === '6'")
        stage.session.see(replace(lying, status=TrayStatus.MISSING, roll=None, dice=dice))
        comes_true(page, f"() => String(({FILLED_IN})()) === '1,2,6,5,6'")
        page.get_by_label("green 2").check()
        page.get_by_role("button", name="Confirm these dice").click()
        wait_until(page, lambda: stage.state.phase is Phase.ACTION1)
        assert stage.state.roll == a_roll(1, 2, red=6, yellow=5, green=2, blue=6)

    def test_the_form_corrects_the_roll_as_it_is_now(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "action1")
        page = open_page("/host", size_wh=TV)
        page.locator("summary", has_text="Enter the dice by hand").click()
        assert page.evaluate(FILLED_IN) == ["3", "4", "3", "3", "3", "3"]
        page.get_by_label("red 1").check()
        assert stage.session.correct_roll(a_roll(3, 4, yellow=5)) is None
        comes_true(page, f"() => String(({FILLED_IN})()) === '3,4,3,5,3,3'")
        for name in ("First white die 6", "Second white die 6", "red 1"):
            page.get_by_label(name).check()
        page.locator("#roll-form").get_by_role("button").last.click()
        page.locator("#ask").get_by_role("button", name="Correct the roll").click()
        right = a_roll(6, 6, red=1, yellow=5)
        wait_until(page, lambda: stage.state.roll == right)
        page.locator("#ask").wait_for(state="hidden")
        assert stage.session.undo() is None
        comes_true(page, f"() => String(({FILLED_IN})()) === '3,4,3,5,3,3'")

    def test_a_white_die_that_the_host_told_stands_in_one_line(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "roll")
        page = open_page("/host", size_wh=TV)
        page.locator("summary", has_text="Enter the dice by hand").click()
        read = dice_in_tray(a_roll(3, 5), frame=2)
        unread, *others = read.dice
        doubt = (Problem(ProblemCode.UNCERTAIN, DieColour.WHITE),)
        dice = (replace(unread, value=None), *others)
        stage.session.see(
            replace(read, status=TrayStatus.UNCERTAIN, roll=None, dice=dice, problems=doubt)
        )
        comes_true(page, f"() => String(({FILLED_IN})()) === '5,3,3,3,3'")
        page.get_by_label("Second white die 3").check()
        stage.session.see(replace(read, frame=3))
        page.locator("#confirm.primary").wait_for()
        assert page.evaluate(FILLED_IN) == ["5", "3", "3", "3", "3", "3"]
        stage.session.see(replace(read, frame=4, dice=read.dice[::-1]))
        drawn(page, stage)
        assert page.evaluate(FILLED_IN) == ["5", "3", "3", "3", "3", "3"]


class TestOneDie:
    def test_a_die_is_put_right_by_tapping_it(self, stage: Stage, open_page: OpenPage) -> None:
        tokens = put(stage, "tapped")
        ada = open_page("/", token=tokens[0])
        host = open_page("/host", size_wh=PHONE_SMALL)
        host.get_by_role("button", name="Correct white 3").click()
        dialog = host.get_by_role("dialog")
        faces = dialog.locator(".rolled-die")
        assert faces.count() == 5
        shown = [face.get_attribute("aria-label") for face in faces.all()]
        assert shown == ["white 1", "white 2", "white 4", "white 5", "white 6"]
        assert not dialog.get_by_role("button", name="Correct the roll").is_visible()
        faces.nth(3).click()
        dialog.get_by_text("White 7 becomes 9.").wait_for()
        dialog.get_by_text("Ada answers again.").wait_for()
        assert violations(host) == []
        assert stage.state.roll == a_roll(3, 4)
        dialog.get_by_role("button", name="Correct the roll").click()
        wait_until(host, lambda: stage.state.roll == a_roll(4, 5))
        dialog.wait_for(state="hidden")
        ada.locator("#status", has_text="White 9: cross one box").wait_for()

    def test_a_die_is_put_right_from_the_table_view(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "roll")
        guest = open_page("/table", size_wh=TV)
        page = open_page("/host", size_wh=(1024, 768))
        page.locator("#game-text", has_text="Game 1").wait_for()
        page.goto(page.url.replace("/host", "/table"))

        def put_right(old: str, new: str) -> None:
            page.get_by_role("link", name=f"Correct {old}").click()
            dialog = page.get_by_role("dialog")
            dialog.get_by_role("button", name=new).click()
            if stage.state.roll is not None:
                dialog.locator("#ask-yes").click()
            page.wait_for_url("**/table")

        put_right("green 3", "green 5")
        wait_until(page, lambda: stage.session.view().tray.roll == a_roll(3, 4, green=5))
        page.get_by_role("link", name="Correct").first.wait_for()
        assert violations(page) == []
        assert stage.session.press() is None
        stage.session.see(dice_in_tray(a_roll(3, 4, green=5), status="old"))
        put_right("green 5", "green 6")
        wait_until(page, lambda: stage.state.roll == a_roll(3, 4, green=6))
        page.get_by_role("link", name="Correct").first.wait_for()
        assert violations(page) == []
        assert guest.get_by_role("link", name="Correct").count() == 0

    def test_an_uncertain_die_is_named_before_the_roll_is_confirmed(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "roll")
        page = open_page("/host", size_wh=PHONE_SMALL)
        page.locator(".rolled-die.is-doubtful").click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_role("button", name="green 5").click()
        page.get_by_role("button", name="Correct green 5").wait_for()
        wait_until(page, lambda: stage.session.view().tray.roll is not None)
        page.get_by_role("button", name="Confirm", exact=True).click()
        wait_until(page, lambda: stage.state.roll == a_roll(3, 4, green=5))
