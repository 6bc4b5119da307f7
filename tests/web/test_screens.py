"""Tablets, televisions and the host's page: everything in sight, said once, with one next step."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from companion.engine import DieColour
from companion.messages.catalogue import LANGUAGES
from companion.tray import Problem, ProblemCode, TrayStatus, TrayView
from tests.session.fakes import Stage
from tests.web.browsing import (
    BEYOND,
    PHONE,
    PHONE_FLAT,
    PHONE_SMALL,
    PI_DISPLAY,
    TV,
    OpenPage,
    before_the_locks,
    drawn,
    left,
    open_part,
    put,
    ready,
    resize,
    violations,
    walk,
)
from tests.web.stand_in import a_roll, dice_in_tray, seat

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

TABLETS = [(820, 1180), (768, 1024), (800, 1280), (1024, 600)]


@pytest.mark.parametrize("path", ["/", "/table", "/host"])
def test_nothing_scrolls_on_a_tablet_during_play(
    stage: Stage, open_page: OpenPage, path: str
) -> None:
    token = put(stage, "lobby")[0]
    page = ready(open_page(path, size_wh=TABLETS[0], token=token if path == "/" else None))
    for state in walk(stage, "roll", "action1", "action2"):
        drawn(page, stage)
        for size_wh in TABLETS:
            resize(page, size_wh)
            assert left(page, BEYOND) == [], (state, size_wh)


def test_an_older_browser_shows_crosses_and_numbers_on_the_whole_screen(
    stage: Stage, open_page: OpenPage, address: str
) -> None:
    """Chromium before 104 and 108, Safari before 17.4, and Firefox before 128."""
    page = ready(open_page("/", size_wh=PHONE, token=put(stage, "tapped")[0]))
    box = """(node) => {
      const { content, transform } = getComputedStyle(node, '::after');
      const turned = new DOMMatrix(transform);
      return [content, Math.round(Math.atan2(turned.b, turned.a) * 180 / Math.PI)];
    }"""
    number = "(node) => parseFloat(getComputedStyle(node).fontSize)"
    usual_px = page.locator("[data-token=G9]").evaluate(number)
    _load_in_an_older_one(page, address)
    for which, turned in (("tapped", -27), ("crossed", -27), ("skipped", -24)):
        assert page.locator(f"[data-is={which}]").first.evaluate(box) == ['""', turned], which
    assert page.locator("[data-token=G9]").evaluate(number) == usual_px
    _assert_filled(page, PHONE, ".game", ".sheet")


@pytest.mark.slow
def test_an_older_browser_shows_five_names_and_small_dice(
    stage: Stage, open_page: OpenPage, address: str
) -> None:
    """Chromium before 105 and Firefox before 121."""
    names = ("Ada Wilhelmina", "Benjamin", "Cleo", "Dieter", "Maximilian")
    tokens = [seat(stage, name).token for name in names]
    stage.session.start("base", 0)
    stage.roll(3, 4)
    page = open_page("/healthz", size_wh=PHONE, token=tokens[0], dark=True)
    _load_in_an_older_one(page, address)
    assert page.evaluate("document.querySelector('.players bdi').offsetWidth") > 60
    _load_in_an_older_one(page, f"{address}/host")
    page.get_by_role("button", name="white 3").click()
    die = page.get_by_role("dialog").get_by_role("button", name="white 6").bounding_box()
    assert die is not None
    assert 30 < die["width"] < 60
    _load_in_an_older_one(page, f"{address}/stream", shows="#players bdi")
    root = "getComputedStyle(document.documentElement).colorScheme"
    assert page.evaluate(root) == "light only"  # a dark page is black behind the panels


@pytest.mark.slow
def test_an_older_browser_shows_the_result_on_paper_and_chances_as_bars(
    stage: Stage, open_page: OpenPage, address: str, chances: list[tuple[float, float]]
) -> None:
    """Chromium before 111 and 115, Safari before 16.2, and televisions of 2023 (`dvh`)."""
    chances += [(0.5, 0.04)] * 3
    tokens = put(stage, "roll")
    stage.session.change_settings({"chances": True})
    ground = "(node) => getComputedStyle(node, '::after').backgroundImage"
    page = open_page("/healthz", size_wh=TV, token=tokens[0])
    _load_in_an_older_one(page, f"{address}/table")
    assert "gradient" in page.locator(".chance").first.evaluate(ground)
    _assert_filled(page, TV, ".table", ".picture")
    stage.session.end()
    resize(page, PHONE)
    _load_in_an_older_one(page, address, shows="#podium bdi")
    paper = "getComputedStyle(document.querySelector('#over')).backgroundColor"
    assert page.evaluate(paper) == "rgb(251, 244, 230)"
    card = page.locator("#over .card").bounding_box()
    assert card is not None
    assert card["height"] < 640
    assert abs(card["y"] + card["height"] / 2 - PHONE[1] / 2) < 2


def _assert_filled(page: Page, size_wh: tuple[int, int], part: str, within: str) -> None:
    box, inner = page.locator(part).bounding_box(), page.locator(within).first.bounding_box()
    assert box is not None
    assert inner is not None
    assert box["y"] + box["height"] > 0.99 * size_wh[1]
    assert inner["height"] > 0.2 * size_wh[1]


UNKNOWN = {
    r"\bsafe center\b": "unknown",
    r"\bcolor-mix\b": "unknown",
    r":has(?=\()": ":unknown",
    r"(?<=\d)dvh\b": "dvu",
    r"(?<=[\s;{])(translate|rotate|scale)(?=:)": r"x-\1",
    r'(content: *"[^"]*") */ *""': r'\1 unknown ""',
}
"""Style that older browsers do not know, and something that no browser knows."""


def _load_in_an_older_one(
    page: Page, url: str, shows: str = "main:not([hidden]) bdi:visible"
) -> None:
    """Load a page as an older browser does, until it shows something."""

    def serve(route: Route) -> None:
        sheet = route.fetch()
        text = sheet.text()
        for known, unknown in UNKNOWN.items():
            text = re.sub(known, unknown, text)
        route.fulfill(response=sheet, body=text)

    page.unroute_all()
    page.route("**/*.css*", serve)
    page.goto(url)
    page.locator(shows).first.wait_for()


def test_row_heads_of_the_table_view_have_no_letters(stage: Stage, open_page: OpenPage) -> None:
    put(stage, "action1", "big_points")
    page = open_page("/table", size_wh=TV)
    for language in LANGUAGES:
        stage.session.change_settings({}, {"language": language})
        page.locator(f"html[lang={language}] .sign").first.wait_for()
        assert page.locator(".sign text").count() == 0, language


@pytest.mark.slow
@pytest.mark.parametrize("language", LANGUAGES)
def test_dice_are_entered_without_scrolling(
    stage: Stage, open_page: OpenPage, language: str
) -> None:
    token = put(stage, "lobby")[0]
    stage.session.start("base", 0)
    stage.session.see(TrayView(TrayStatus.LOST))
    page = ready(open_page(f"/?language={language}", token=token))
    page.locator("#type").click()
    page.locator("#typing [type=submit]").click()
    page.locator("#typing-why:not(:empty)").wait_for()
    scrolls = "(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight ? ['dialog'] : [])"
    for size_wh in (PHONE_SMALL, (320, 568), (844, 390), *TABLETS, (1280, 720)):
        resize(page, size_wh)
        assert left(page, f"{scrolls}(document.querySelector('#typing'))") == [], size_wh


def test_the_faces_of_the_dice_can_be_hit_on_a_tiny_screen(
    stage: Stage, open_page: OpenPage
) -> None:
    token = put(stage, "lobby")[0]
    stage.session.start("base", 0)
    stage.session.see(TrayView(TrayStatus.LOST))
    page = ready(open_page("/", token=token))
    page.locator("#type").click()
    for size_wh in ((320, 480), (320, 568), (480, 320), (568, 320)):
        resize(page, size_wh)
        sides = "[...document.querySelectorAll('#faces label')].map((b) => b.offsetWidth)"
        assert min(page.evaluate(sides)) >= 22, size_wh  # and a gap of 6


def test_the_host_hits_every_die_on_a_flat_screen(stage: Stage, open_page: OpenPage) -> None:
    put(stage, "action1")
    page = ready(open_page("/host"))
    page.locator("#by-hand summary").click()
    sides = "[...document.querySelectorAll('#faces label, .rolled-die')].map((b) => b.offsetWidth)"
    for size_wh in ((740, 360), PHONE_FLAT, PI_DISPLAY, TABLETS[3]):
        resize(page, size_wh)
        assert min(page.evaluate(sides)) >= 35, size_wh


def test_on_a_tiny_screen_the_pass_button_is_in_sight(stage: Stage, open_page: OpenPage) -> None:
    page = ready(open_page("/", token=put(stage, "action1")[0], size_wh=(320, 480)))
    box = page.locator("#done").bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 480
    page.locator("[data-token=R12]").focus()
    focused, bar = (page.locator(each).bounding_box() for each in ("[data-token=R12]", "#bottom"))
    assert focused is not None
    assert bar is not None
    assert focused["y"] + focused["height"] <= bar["y"] + 1


def test_on_a_large_screen_the_game_stands_in_the_middle(stage: Stage, open_page: OpenPage) -> None:
    page = ready(open_page("/", token=put(stage, "action1")[0]))
    for size_wh in ((1024, 768), (1366, 1024), TV):
        resize(page, size_wh)
        box = page.locator("#game").bounding_box()
        assert box is not None
        assert box["y"] == size_wh[1] - box["y"] - box["height"], size_wh


def test_a_refusal_covers_no_boxes_of_a_low_phone(
    stage: Stage, open_page: OpenPage, address: str
) -> None:
    page = open_page("/healthz", token=put(stage, "action1")[0])
    line = page.context.new_cdp_session(page)
    for language in ("de", "fr"):
        page.goto(f"{address}/?language={language}")
        line.send("Emulation.setSafeAreaInsetsOverride", {"insets": {}})
        resize(page, (568, 320))
        ready(page).locator("#sheet [data-token=R12]").click()
        page.locator("#why:not(:empty)").wait_for()
        sheet, why = page.locator("#sheet").bounding_box(), page.locator("#why").bounding_box()
        assert sheet is not None
        assert why is not None
        assert why["y"] + why["height"] <= sheet["y"] + 2, language
        insets = {"insets": {"left": 47, "right": 47, "bottom": 21}}  # of a notch
        line.send("Emulation.setSafeAreaInsetsOverride", insets)
        resize(page, (844, 340))
        beside = page.locator("#why").bounding_box()
        assert beside is not None
        assert beside["x"] + beside["width"] <= 844 - 47, language


class TestTheTableView:
    @pytest.mark.slow
    def test_between_announcements_and_at_the_end_it_shows_everybodys_sheet(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "roll", "big_points")
        stage.session.see(TrayView(TrayStatus.WAITING))
        page = ready(open_page("/table", size_wh=TV))
        sheets = page.locator(".news .mini-sheet")
        sheets.nth(2).wait_for()
        assert sheets.locator("bdi").all_inner_texts() == ["Ada", "Benjamin", "Cleo"]
        crossed = sheets.filter(has_text="Ada").get_by_role("img", name="Red, crosses: 3 and 4")
        assert crossed.is_visible()
        neighbours = sheets.locator(".is-bonus .sign g")
        assert neighbours.count() == 3 * 2 * 2  # players, bonus rows, shapes in a sign
        assert page.evaluate(BEYOND) == []
        assert violations(page) == []
        stage.session.end()
        page.locator(".news .podium").wait_for()
        assert sheets.count() == 3
        assert page.evaluate(BEYOND) == []
        assert violations(page) == []
        resize(page, PHONE_SMALL)
        headline = page.locator(".headline").bounding_box()
        assert headline is not None
        assert headline["width"] > 250
        report = page.locator(".report-link a").bounding_box()
        assert report is not None
        assert report["height"] > 40  # a finger's height
        assert page.evaluate("document.documentElement.scrollWidth") <= 360

    def test_what_to_do_next_is_in_sight_on_a_low_screen(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "roll", "big_points")
        stage.session.see(dice_in_tray(a_roll(3, 4)))
        page = ready(open_page("/table", size_wh=(800, 480)))
        for fault in (None, "lost"):
            stage.session.part_is("button", fault)
            drawn(page, stage)
            for size_wh in ((800, 480), (844, 390), (667, 375)):
                resize(page, size_wh)
                box = page.get_by_role("button", name="Confirm").bounding_box()
                assert box is not None
                assert box["y"] + box["height"] <= size_wh[1], (size_wh, fault)

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_two_faults_push_nobody_off_a_small_display(
        self, stage: Stage, open_page: OpenPage, language: str
    ) -> None:
        for name in ("Ada Wilhelmina", "Benjamin", "Cleo", "Dieter", "Maximilian"):
            seat(stage, name)
        stage.session.change_settings({}, {"language": language})
        stage.session.start("base", 0)
        stage.roll(3, 4)
        stage.session.part_is("storage", "failing")  # the longest text
        stage.session.part_is("button", "lost")
        page = ready(open_page("/table", size_wh=(800, 480)))
        page.locator("#faults li").nth(1).wait_for()
        assert left(page, BEYOND) == []

    @pytest.mark.slow
    def test_five_sheets_of_six_rows_fit_a_small_television_at_the_end(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        for name in ("Ada Wilhelmina", "Benjamin", "Cleo", "Dieter", "Maximilian"):
            seat(stage, name)
        stage.session.start("big_points", 0)
        before_the_locks(stage, *"RRYYY")
        for player in range(5):
            stage.answer(player, "R12" if player < 2 else None)
        stage.time.pass_s(6.0)
        stage.play_out()
        page = ready(open_page("/table", size_wh=(1280, 720)))
        page.locator(".said .note:not(:empty)").wait_for()
        assert left(page, BEYOND) == []

    def test_trouble_with_the_dice_or_the_camera_is_said_once_with_one_way_on(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "roll")  # the green die is tilted
        page = ready(open_page("/table", size_wh=TV))
        texts = page.locator("p:not(.sr), li")
        trouble = texts.filter(has_text="The green die isn’t lying flat. Throw it again.")
        trouble.first.wait_for()
        assert trouble.filter(visible=True).count() == 1
        stage.session.part_is("camera", "slow")
        page.locator("#faults li").wait_for()
        for size_wh in ((1280, 720), (1024, 600)):
            resize(page, size_wh)
            assert left(page, BEYOND) == [], size_wh
        stage.session.part_is("camera", None)
        lost = replace(dice_in_tray(a_roll(3, 4)), status=TrayStatus.LOST, roll=None)
        stage.session.see(lost)
        resize(page, TV)
        drawn(page, stage)
        headline = page.locator(".headline[data-kind=trouble]")
        said = texts.filter(has_text=headline.inner_text())
        assert said.filter(visible=True).count() == 1
        assert page.locator("#faults li").count() == 0
        assert page.locator(".asked").inner_text() == "Ada throws and enters the dice."

    def test_trouble_with_several_causes_pushes_nobody_off_a_television(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        stage.session.change_settings({}, {"language": "de"})  # the longest sentences
        put(stage, "roll")
        causes = (ProblemCode.TRAY_MOVED, ProblemCode.PICTURE_BLURRED)
        page = ready(open_page("/table", size_wh=TV))
        for colours in (("red", "blue"), ("white", "white", "red", "yellow", "green", "blue")):
            named = (Problem(ProblemCode.UNCERTAIN, DieColour(colour)) for colour in colours)
            problems = (*named, *map(Problem, causes))
            tray = replace(dice_in_tray(a_roll(3, 4)), status=TrayStatus.UNCERTAIN, roll=None)
            stage.session.see(replace(tray, problems=problems))
            drawn(page, stage)
            for size_wh in (TV, (1024, 600), PI_DISPLAY):
                resize(page, size_wh)
                assert left(page, BEYOND) == [], (colours, size_wh)

    def test_labels_follow_a_correction(self, stage: Stage, open_page: OpenPage) -> None:
        put(stage, "action1")
        page = ready(open_page("/table", size_wh=TV))
        page.locator("#reading text", has_text="3 white").wait_for()
        assert stage.correct(4, 5) is None
        page.locator("#reading text", has_text="5 white").wait_for()
        assert page.locator("#reading text", has_text="3 white").count() == 0


class TestTheHostsPage:
    def test_five_who_have_to_answer_fit_without_scrolling(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        for name in ("Ada Wilhelmina", "Benjamin", "Cleo", "Dieter", "Maximilian"):
            seat(stage, name)
        stage.session.start("base", 0)
        stage.roll(3, 4)
        page = open_page("/host?language=de", size_wh=TABLETS[0])
        page.get_by_role("button", name="Für Maximilian antworten").wait_for()
        for size_wh in (*TABLETS, (1280, 720)):
            resize(page, size_wh)
            assert left(page, BEYOND) == [], size_wh

    @pytest.mark.slow
    def test_each_part_has_one_primary_button_and_the_next_step_in_sight(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        put(stage, "lobby")
        page = ready(open_page("/host", size_wh=PHONE_SMALL))
        for state in walk(stage, "lobby", "roll", "action1", "over"):
            drawn(page, stage)
            for part in ("Now", "Players", "Settings"):
                open_part(page, part)
                assert page.locator("main .primary").filter(visible=True).count() <= 1, (
                    state,
                    part,
                )
                assert page.get_by_role("tabpanel").count() == 1
                for y in (0, 10_000) if state == "roll" else ():
                    page.evaluate(f"scrollTo(0, {y})")
                    for name in ("Throw", "Undo the last step"):
                        box = page.get_by_role("button", name=name, exact=True).bounding_box()
                        assert box is not None
                        assert 0 <= box["y"] <= 640 - box["height"], (part, name, y)

    def test_the_tabs_work_by_arrow_keys(self, stage: Stage, open_page: OpenPage) -> None:
        put(stage, "roll")
        page = ready(open_page("/host"))
        page.get_by_role("tab", name="Now").focus()
        page.keyboard.press("ArrowRight")
        page.get_by_role("tabpanel", name="Players").wait_for()
        page.keyboard.press("ArrowLeft")
        assert page.get_by_role("img", name="The tray as the camera sees it").first.is_visible()
