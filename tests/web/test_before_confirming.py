"""What phones show of the dice before the roll is confirmed, and what they ask about them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from flask import Flask

from companion.engine import DieColour
from companion.tray import CameraState, Problem, ProblemCode, TrayStatus, TrayView
from tests.session.fakes import Stage
from tests.web.browsing import (
    PHONE,
    PHONE_SMALL,
    OpenPage,
    comes_true,
    drawn,
    put,
    sit_on_a_shared_tablet,
    stop_the_clock,
    violations,
    wait_until,
)
from tests.web.stand_in import a_roll, dice_in_tray
from web import Equipment, create_app

if TYPE_CHECKING:
    from playwright.sync_api import Page


def shown(page: Page) -> list[str | None]:
    """The dice on a phone that have a value."""
    return [die.get_attribute("aria-label") for die in page.locator("#dice .die[role=img]").all()]


def test_the_dice_that_were_read_are_seen_before_they_are_confirmed(
    stage: Stage, open_page: OpenPage
) -> None:
    tokens = put(stage, "roll")
    ada, ben = (open_page("/", size_wh=PHONE_SMALL, token=token) for token in tokens[:2])
    assert shown(ben) == []
    stage.session.see(dice_in_tray(a_roll(3, 4, red=1)))
    ben.locator("#status", has_text="Dice read: Ada presses the button.").wait_for()
    read = ["white 3", "white 4", "red 1", "yellow 3", "green 3", "blue 3"]
    assert shown(ben) == read
    ada.locator("#confirm.is-ready").wait_for()
    assert not ada.locator("#dice").is_visible(), "two buttons leave no room"
    stage.session.see(TrayView(TrayStatus.MOVING))
    ben.locator("#dice .die.is-empty").first.wait_for()
    assert shown(ben) == []


class TestWithACamera:
    @pytest.fixture
    def app(self, stage: Stage) -> Flask:
        return create_app(stage.session, equipment=lambda: Equipment(CameraState.OK, "none"))

    def test_they_lie_beside_the_button(self, stage: Stage, open_page: OpenPage) -> None:
        page = open_page("/", size_wh=(320, 568), token=put(stage, "roll")[0])
        stage.session.see(dice_in_tray(a_roll(3, 4)))
        page.locator("#dice button").first.wait_for()
        button = page.get_by_role("button", name="Confirm", exact=True)
        assert button.is_visible()
        assert page.locator("#dice button").count() == 6
        assert violations(page) == []
        assert page.evaluate("document.documentElement.scrollWidth") == 320

    def test_a_wrong_tap_is_mended_where_it_was_made(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = open_page("/", size_wh=(320, 568), token=put(stage, "roll")[0])
        stage.session.see(unread("red"))
        faces = page.locator("#doubt")
        faces.get_by_role("button", name="5", exact=True).click()
        page.locator("#status", has_text="A die is wrong? Tap it.").wait_for()
        assert violations(page) == []
        dice = page.get_by_role("group", name="A die is wrong? Tap it.")
        dice.get_by_role("button", name="The red die: 5", exact=True).click()
        page.locator("#status", has_text="What does this die really show?").wait_for()
        assert violations(page) == []
        faces.get_by_role("button", name="6", exact=True).click()
        wait_until(page, lambda: stage.session.view().tray.roll == a_roll(3, 4, red=6))
        dice.get_by_role("button", name="The red die: 6", exact=True).wait_for()
        page.get_by_role("button", name="Confirm", exact=True).click()
        page.locator("#dice button").first.wait_for(state="detached")
        assert shown(page) == ["white 3", "white 4", "red 6", "yellow 3", "green 3", "blue 3"]

    def test_of_two_white_dice_the_tapped_one_is_corrected(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = open_page("/", token=put(stage, "roll")[0])
        stage.session.see(dice_in_tray(a_roll(3, 4)))
        page.get_by_role("button", name="A white die: 4", exact=True).click()
        page.locator("#status", has_text="One white die shows 3. What does the other").wait_for()
        page.locator("#doubt").get_by_role("button", name="6", exact=True).click()
        wait_until(page, lambda: stage.session.view().tray.roll == a_roll(3, 6))
        page.get_by_role("button", name="A white die: 6", exact=True).click()
        page.locator("#doubt").get_by_role("button", name="6", exact=True).click()
        page.locator("#doubt").wait_for(state="hidden")
        assert stage.session.view().tray.roll == a_roll(3, 6)

    def test_a_die_is_asked_about_until_the_table_answers(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = open_page("/", token=put(stage, "roll")[0])
        stage.session.see(dice_in_tray(a_roll(3, 4)))
        page.get_by_role("button", name="The red die: 3", exact=True).click()
        page.route("**/api/die", lambda route: route.abort())
        face = page.locator("#doubt").get_by_role("button", name="6", exact=True)
        face.click()
        page.locator("#why", has_text="didn’t answer. Try again.").wait_for()
        stage.session.see(dice_in_tray(a_roll(3, 4), frame=2))
        drawn(page, stage)
        page.unroute("**/api/die")
        face.click()
        page.get_by_role("button", name="The red die: 6", exact=True).wait_for()
        assert page.locator("#doubt").is_hidden()

    def test_a_tapped_die_is_forgotten_with_its_roll(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = open_page("/", token=put(stage, "roll")[0])
        stage.session.see(dice_in_tray(a_roll(3, 4)))
        die = page.get_by_role("button", name="The blue die: 3", exact=True)
        die.click()
        page.locator("#status", has_text="What does this die really show?").wait_for()
        stage.session.see(TrayView(TrayStatus.MOVING))
        page.locator("#doubt").wait_for(state="hidden")
        stage.session.see(dice_in_tray(a_roll(3, 4), frame=3))
        die.wait_for()
        assert page.locator("#doubt").is_hidden()

    def test_who_did_not_throw_corrects_nothing(self, stage: Stage, open_page: OpenPage) -> None:
        page = open_page("/", token=put(stage, "roll")[1])
        stage.session.see(dice_in_tray(a_roll(3, 4)))
        page.locator("#dice .die[role=img]").first.wait_for()
        assert page.locator("#dice button").count() == 0


def unread(*colours: str) -> TrayView:
    """White 3 and 4 and coloured threes, of which some cannot be read."""
    tray = dice_in_tray(a_roll(3, 4), frame=2)
    problems = tuple(Problem(ProblemCode.UNCERTAIN, DieColour(colour)) for colour in colours)
    return replace(tray, status=TrayStatus.UNCERTAIN, roll=None, problems=problems)


def test_whoever_threw_tells_a_die_by_one_tap(stage: Stage, open_page: OpenPage) -> None:
    tokens = put(stage, "roll")
    ada = open_page("/", size_wh=PHONE_SMALL, token=tokens[0])
    ben = open_page("/", token=tokens[1])
    stage.session.see(unread("red"))
    ada.locator("#status", has_text="the red die clearly. What does it show?").wait_for()
    ben.locator("#status", has_text="Turn it a little, or tap its value on a phone.").wait_for()
    assert ben.locator("#doubt button").count() == 0
    assert violations(ada) == []
    ada.locator("#doubt").get_by_role("button", name="5", exact=True).click()
    ada.locator("#status", has_text="press the button").wait_for()
    ada.get_by_role("button", name="Confirm", exact=True).click()
    wait_until(ada, lambda: stage.state.roll == a_roll(3, 4, red=5))


def test_a_press_that_is_refused_covers_no_faces(stage: Stage, open_page: OpenPage) -> None:
    page = open_page("/", size_wh=PHONE, token=put(stage, "roll")[0])
    stage.session.see(unread("blue", "white", "white"))
    page.locator("#doubt button").first.wait_for()
    assert stage.session.press() is not None
    page.wait_for_timeout(400)
    assert page.locator("#why").inner_text() == ""
    page.locator("#doubt").get_by_role("button", name="4", exact=True).click()
    page.locator("#status", has_text="One white die shows 4.").wait_for()


def test_one_doubtful_die_is_asked_about_after_another(stage: Stage, open_page: OpenPage) -> None:
    tokens = put(stage, "roll")
    stage.session.see(unread("blue", "white", "white"))
    page = open_page("/", size_wh=PHONE, token=tokens[0])
    asked = page.locator("#doubt")
    for sentence, value in (
        ("a white die clearly", "4"),  # the one that was taken for a 4
        ("One white die shows 4. What does the other show?", "6"),
        ("the blue die clearly", "1"),
    ):
        page.locator("#status", has_text=sentence).wait_for()
        asked.get_by_role("button", name=value, exact=True).click()
    wait_until(page, lambda: stage.session.view().tray.roll == a_roll(6, 4, blue=1))
    asked.wait_for(state="hidden")


@pytest.mark.parametrize("status", ["cocked", "missing", "extra", "obstructed"])
def test_only_a_die_that_lies_there_to_be_read_is_asked_about(
    stage: Stage, open_page: OpenPage, status: str
) -> None:
    tokens = put(stage, "roll")
    problem = Problem(ProblemCode(status), DieColour.RED)
    tray = unread("green")
    stage.session.see(replace(tray, status=TrayStatus(status), problems=(problem, *tray.problems)))
    page = open_page("/", token=tokens[0])
    page.locator(".sentence[data-trouble]").wait_for()
    assert page.locator("#doubt button").count() == 0


def test_a_tap_meant_for_what_was_there_tells_nothing(stage: Stage, open_page: OpenPage) -> None:
    tokens = put(stage, "roll")
    page = open_page("/", token=tokens[0])
    confirm = page.locator("#confirm").bounding_box()
    assert confirm is not None
    rests = "document.querySelector('#doubt').parentElement.style.pointerEvents"
    comes_true(page, f"{rests} === ''")  # a timer from before the stop would end the next rest
    stop_the_clock(page)
    stage.session.see(unread("red", "green"))
    page.locator("#doubt button").first.wait_for()
    x, y = confirm["x"] + 10, confirm["y"] + 20
    page.mouse.click(x, y)
    page.wait_for_timeout(200)
    assert not any(die.by_hand for die in stage.session.view().tray.dice)
    page.clock.run_for(600)
    page.locator("#doubt").get_by_role("button", name="2", exact=True).dblclick()
    page.locator("#status", has_text="the green die").wait_for()
    page.wait_for_timeout(200)
    told = [die.colour for die in stage.session.view().tray.dice if die.by_hand]
    assert told == [DieColour.RED], "the second half of a double tap answers nothing"


def test_a_shared_tablet_asks_whichever_sheet_it_shows(stage: Stage, open_page: OpenPage) -> None:
    page = open_page("/", size_wh=PHONE)
    sit_on_a_shared_tablet(page)
    page.get_by_role("button", name="Start the game").click()
    page.get_by_role("button", name="Throw", exact=True).wait_for()
    page.locator(".players button", has_text="Grandma").click()
    stage.session.see(unread("white", "white"))
    page.locator("#status", has_text="Grandma: I can’t read a white die clearly. What").wait_for()
    page.locator("#doubt").get_by_role("button", name="4", exact=True).click()
    page.locator("#status", has_text="Grandma: One white die shows 4. What does").wait_for()


def test_no_die_is_asked_about_if_another_colour_is_in_doubt(
    stage: Stage, open_page: OpenPage
) -> None:
    """A white die that looks yellow, in the light of this lamp: no answer would make a roll."""
    tray = unread("white", "white", "yellow")
    white, *others = tray.dice
    tokens = put(stage, "roll")
    stage.session.see(replace(tray, dice=(replace(white, colour=DieColour.YELLOW), *others)))
    page = open_page("/", size_wh=PHONE, token=tokens[0])
    page.locator("#status", has_text="the two white dice and the yellow die clearly").wait_for()
    assert page.locator("#doubt button").count() == 0
