"""The sheet in a real browser: whole on a phone, its sentences and its menu."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from companion.tray import TrayStatus
from tests.session.fakes import Stage
from tests.web.browsing import (
    PHONE,
    PHONE_FLAT,
    PHONE_SMALL,
    TV,
    OpenPage,
    before_the_locks,
    drawn,
    left,
    put,
    ready,
    resize,
    variants,
    violations,
    wait_until,
)
from tests.web.stand_in import a_roll, dice_in_tray, seat

OUT_OF_REACH = """() => {
  const { scrollHeight, scrollWidth } = document.documentElement;
  const scrolls = scrollHeight > innerHeight || scrollWidth > innerWidth ? ['the page'] : [];
  return [...scrolls, ...[...document.querySelectorAll('.box')].filter((box) => {
    const { top, left, right, bottom, width, height } = box.getBoundingClientRect();
    const isInside = top >= 0 && left >= 0 && right <= innerWidth + 0.5
      && bottom <= innerHeight + 0.5;
    return !isInside
      || !box.contains(document.elementFromPoint(left + width / 2, top + height / 2));
  }).map((box) => box.dataset.token)];
}"""
"""A page that scrolls, and boxes that cannot be tapped."""


SIDES = """() => [...document.querySelectorAll('.box')]
  .map((box) => box.getBoundingClientRect()).map(({ width, height }) => Math.min(width, height))"""
"""The shorter side of each box."""


COVERED = """(boxes, state) => {
  for (const box of boxes) {
    box.querySelector('.made').innerHTML = '<i class="chip is-white">4</i>'.repeat(2);
    box.dataset.is = state;
  }
  return boxes.filter((box) => {
    const dice = box.querySelector('.made');
    const number = document.createRange();
    number.selectNodeContents(box.querySelector('.number'));
    const { left, width } = dice.getBoundingClientRect();
    return width > 0 && number.getBoundingClientRect().right > left + 0.5;
  }).map((box) => box.dataset.token);
}"""
"""Boxes that would cover their number with the dice that make it."""


PARTED = """() => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(':where(button, select, input) { margin: 2px; }');
  document.adoptedStyleSheets = [sheet];
}"""
"""A browser's own margins, which any rule of the page's goes before."""


LETTERS = """(scale) => {
  const root = document.documentElement;
  root.style.fontSize = '';
  root.style.fontSize = `${scale * parseFloat(getComputedStyle(root).fontSize)}px`;
}"""
"""What a larger size of letters in the browser's settings does."""


class TestTheSheetOnAPhone:
    def test_it_is_whole_without_scrolling_and_can_be_tapped(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = ready(open_page("/", size_wh=PHONE, token=put(stage, "lobby")[0]))
        for variant in variants(stage, "action1"):
            drawn(page, stage)
            page.get_by_role("button", name=re.compile("^red 7")).wait_for()
            for size_wh, least_px in ((PHONE, 40), (PHONE_FLAT, 24), (PHONE_SMALL, 24)):
                resize(page, size_wh)
                assert left(page, OUT_OF_REACH) == [], (variant, size_wh)
                sides_px = page.evaluate(SIDES)
                assert len(sides_px) == (44 if variant == "base" else 66)
                assert min(sides_px) >= least_px, (variant, size_wh)

    def test_on_a_tiny_screen_everything_can_be_reached(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = put(stage, "action1", "big_points")
        page = ready(open_page("/", size_wh=(360, 520), token=tokens[0]))
        box, done = (
            page.get_by_role("button", name="red 7, can be crossed now"),
            page.locator("#done"),
        )
        for size_wh in ((360, 520), (568, 280), (320, 480)):
            resize(page, size_wh)
            page.locator("[data-token=B2]").scroll_into_view_if_needed()
            assert min(page.evaluate(SIDES)) >= 24, size_wh
            box.click(trial=True)
            done.click(trial=True)
        box.click()
        page.get_by_role("button", name="Done").click()
        wait_until(page, lambda: stage.state.answers[0] is not None)

    def test_a_browser_that_parts_its_buttons_makes_no_box_smaller(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        """As Safari before 16.4, which has 2 px around each."""
        page = ready(open_page("/", size_wh=PHONE_SMALL, token=put(stage, "action1")[0]))
        before = page.evaluate(SIDES)
        page.evaluate(PARTED)
        assert page.evaluate(SIDES) == before

    def test_nothing_moves_between_the_phases(self, stage: Stage, open_page: OpenPage) -> None:
        tokens = put(stage, "roll")
        page = ready(open_page("/", size_wh=PHONE_SMALL, token=tokens[0]))
        box = page.get_by_role("button", name=re.compile("^blue 2"))
        done = page.locator("#done")
        before = (box.bounding_box(), done.bounding_box())
        stage.session.see(dice_in_tray(a_roll(3, 4)))
        stage.session.press()
        page.get_by_role("button", name="red 7, can be crossed now").wait_for()
        assert (box.bounding_box(), done.bounding_box()) == before
        page.get_by_role("button", name="red 7, can be crossed now").click()
        page.get_by_role("button", name=re.compile("^red 7, your choice")).wait_for()
        page.get_by_role("button", name=re.compile("^red 3")).click()
        page.locator("#why").get_by_text("The white dice make 7, not 3.").wait_for()
        assert (box.bounding_box(), done.bounding_box()) == before


class TestTheWayBack:
    def test_a_player_at_the_table_view_finds_back_to_the_sheet(
        self, stage: Stage, open_page: OpenPage, address: str
    ) -> None:
        page = open_page("/watch", size_wh=PHONE, token=put(stage, "action1")[0])
        for path in ("/table", None):
            ready(page).get_by_role("link", name="Play").click()
            page.get_by_role("button", name="red 7, can be crossed now").wait_for()
            page.goto(address + path) if path else None


class TestTheDiceOfABox:
    def test_a_legal_box_names_the_dice_that_make_it(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = put(stage, "action2")
        page = open_page("/", token=tokens[0])
        box = page.get_by_role("button", name="blue 6, can be crossed now, white 3 + blue 3")
        box.wait_for()
        assert box.locator(".chip").all_inner_texts() == ["3", "3"]
        box.click()
        page.locator("#status", has_text="Blue 6 (white 3 + blue 3) counts in a moment").wait_for()

    @pytest.mark.slow
    def test_they_stand_clear_of_the_number(self, stage: Stage, open_page: OpenPage) -> None:
        """With large letters too, on an enlarged page, and after a tap."""
        page = ready(open_page("/", token=put(stage, "lobby")[0]))
        boxes = page.locator(".box")
        for variant in variants(stage, "action1"):
            drawn(page, stage)
            for size_wh in (PHONE, PHONE_FLAT, (1280, 800), (1180, 820), (1100, 800)):
                resize(page, size_wh)
                for scale in (1.0, 1.25, 1.5, 2.0):
                    page.evaluate(LETTERS, scale)
                    assert boxes.evaluate_all(COVERED, "legal") == [], (variant, size_wh, scale)
            page.evaluate("document.documentElement.style.fontSize = ''")
            for width in (300, 277, 240, 180):  # of 360: 200 % at most
                resize(page, (width, 640))
                assert boxes.evaluate_all(COVERED, "legal") == [], (variant, width)
            resize(page, (360, 740))
            for state in ("legal", "other"):
                assert boxes.evaluate_all(COVERED, state) == [], (variant, state)

    def test_points_can_be_hidden_and_stay_hidden(self, stage: Stage, open_page: OpenPage) -> None:
        tokens = put(stage, "action1")
        page = open_page("/", token=tokens[0])
        page.get_by_role("button", name="Total 3, hide my points").click()
        page.locator("#total").wait_for(state="hidden")
        page.reload()
        page.get_by_role("button", name="Show my points").click()
        page.locator("#total", has_text="3").wait_for()


LOST = """() => [...document.querySelectorAll('#status, #why')]
  .filter((node) => node.scrollHeight > node.clientHeight + 1).map((node) => node.textContent)"""
"""Sentences whose end is cut off."""


class TestTheSheetOfBigPoints:
    """Six rows leave little room on a phone."""

    def test_three_digits_fit_beside_the_lock(self, stage: Stage, open_page: OpenPage) -> None:
        token = put(stage, "action1", "big_points")[0]
        page = ready(open_page("/", size_wh=PHONE_SMALL, token=token))
        page.locator("[data-row=R] .lock").evaluate("(lock) => (lock.dataset.locked = 'mine')")
        points = page.locator("[data-row=R] .points")
        points.evaluate("(points) => (points.textContent = '188')")
        foot, right = "node.closest('.foot')", ".getBoundingClientRect().right"
        for size_wh in ((320, 568), (360, 740)):
            resize(page, size_wh)
            assert points.evaluate(f"(node) => node{right} <= {foot}{right}"), size_wh


def test_the_sheet_names_every_player_who_closed_a_row(stage: Stage, open_page: OpenPage) -> None:
    tokens = [seat(stage, name).token for name in ("Ada", "Benjamin")]
    stage.session.start("base", 0)
    before_the_locks(stage, "R", "R")
    for player in range(2):
        stage.answer(player, "R12")
    stage.time.pass_s(6.0)
    page = open_page("/", size_wh=PHONE_SMALL, token=tokens[0])
    name = page.locator("[data-row=R] .by")
    name.get_by_text("Ada", exact=True).wait_for()
    assert name.evaluate("node => node.scrollWidth <= node.clientWidth")
    assert page.locator("[data-row=R] .others").inner_text() == "+1"
    page.get_by_role("group", name="closed by Ada and Benjamin").wait_for()


class TestTheSentence:
    @pytest.mark.slow
    def test_long_names_do_not_cut_it(self, stage: Stage, open_page: OpenPage) -> None:
        tokens = [seat(stage, f"{name} Wilhelmina Maxim").token for name in "ABCDE"]
        stage.session.start("big_points", 0)
        stage.roll(5, 6)
        page = open_page("/?language=de", size_wh=PHONE_SMALL, token=tokens[0])
        page.clock.install()

        def assert_whole() -> None:
            for size_wh in (PHONE_SMALL, PHONE_FLAT):
                resize(page, size_wh)
                assert left(page, LOST) == [], size_wh

        ready(page).locator("[data-token=R11]").click()
        page.locator("#status", has_text="Fertig").wait_for()
        assert_whole()
        page.locator("#done").click()
        page.locator("#status", has_text="B Wilhelmina Maxim, C Wilhelmina Maxim").wait_for()
        assert_whole()
        page.locator("[data-token=R3]").click()
        page.locator("#why:not(:empty)").wait_for()
        assert_whole()
        page.clock.fast_forward(60_000)  # it stays until it is closed
        for size_wh in (PHONE_SMALL, PHONE_FLAT):
            resize(page, size_wh)
            assert violations(page) == [], size_wh
        page.get_by_role("button", name="Schließen").click()
        page.locator("#why:empty").wait_for(state="attached")

    def test_after_a_tap_the_page_shows_the_next_step(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = put(stage, "tapped")
        page = open_page("/", token=tokens[0])
        page.locator("#status", has_text="press Done, or tap again to undo").wait_for()
        assert "Waiting" not in page.locator("#status").inner_text()

    def test_without_hints_a_box_does_not_show_that_it_is_legal(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        token = seat(stage, "Ada").token
        stage.session.change_settings({"hints": False})
        stage.session.start("base", 0)
        for sides in ((6, 6), (1, 1)):  # twelve crossed in red and yellow: nothing is left there
            stage.roll(*sides)
            while stage.state.action:
                legal = stage.state.plan.name_of(stage.state.legal[0])
                lost = [box for box in legal if box in ("R12", "Y12", "G2", "B2")]
                stage.answer(0, lost[0] if lost else None)
        stage.roll(2, 3)
        page = open_page("/", token=token)
        page.locator("#status", has_text="White 5: cross one box, or pass.").wait_for()


def test_while_the_camera_is_dark_the_dice_are_entered(stage: Stage, open_page: OpenPage) -> None:
    page = ready(open_page("/", token=put(stage, "roll")[stage.state.active]))
    stage.session.see(replace(dice_in_tray(a_roll(3, 4)), status=TrayStatus.DARK, roll=None))
    page.locator("#status", has_text="enter what they show").wait_for()
    page.get_by_role("button", name="Enter the dice").click()
    dialog = page.get_by_role("dialog", name="Enter the dice")
    dialog.wait_for()
    stage.session.see(dice_in_tray(a_roll(3, 4)))
    dialog.wait_for(state="hidden")  # a player may enter dice only where no camera sees them
    page.get_by_role("button", name="Confirm").wait_for()


class TestTheMenu:
    def test_the_language_is_changed_in_a_game(self, stage: Stage, open_page: OpenPage) -> None:
        page = open_page("/", size_wh=PHONE_SMALL, token=put(stage, "action1")[0])
        page.get_by_role("button", name="More").click()
        menu = page.get_by_role("dialog")
        assert violations(page) == []
        assert menu.get_by_role("link").all_inner_texts() == [
            "Host",
            "Table view",
            "Games",
            "Rules",
        ]
        menu.get_by_label("Language").select_option(label="Deutsch")
        page.locator("#status", has_text="Weiß 7").wait_for()

    def test_somebody_goes_home_and_the_others_see_it(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        tokens = put(stage, "action1")
        ada, ben = (open_page("/", token=token) for token in tokens[:2])
        table = open_page("/table", size_wh=TV)
        ben.get_by_role("button", name="More").click()
        ben.get_by_role("button", name="Leave the game", exact=True).click()
        ben.get_by_role("dialog", name="Leave the game").wait_for()
        ben.get_by_role("button", name="No, keep playing").click()
        ben.get_by_role("dialog", name="More").wait_for()
        ben.get_by_role("button", name="Leave the game", exact=True).click()
        assert violations(ben) == []
        ben.get_by_role("button", name="Yes, leave").click()
        ben.get_by_label("Your name").wait_for()
        assert stage.state.gone == {1}
        gone = ada.get_by_role("listitem").filter(has_text="Benjamin, has left the game")
        gone.wait_for()
        table.locator(".people .is-gone", has_text="has left").wait_for()
        assert violations(ada) == []
        assert violations(table) == []


def test_the_coach_speaks_in_a_practice_game_only(
    stage: Stage, open_page: OpenPage, advice: dict[int, str | None]
) -> None:
    tokens = put(stage, "action1")
    page = ready(open_page("/", token=tokens[0]))
    assert "The coach" not in page.locator("#status").inner_text()
    advice |= {0: "R7", 1: None}
    stage.session.show_anew()
    page.locator("#status", has_text="The coach: red 7.").wait_for()
    other = ready(open_page("/", token=tokens[1], size_wh=PHONE_SMALL))
    other.locator("#status", has_text="The coach: pass.").wait_for()
    assert violations(other) == []
