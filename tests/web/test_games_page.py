"""The games page in a real browser."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from flask.testing import FlaskClient

from companion.coach import fairness
from companion.eventlog.record import Record
from companion.messages.catalogue import LANGUAGES
from tests.session.fakes import Stage, a_turn, begin
from tests.web.browsing import PHONE, PHONE_SMALL, TV, OpenPage, resize, violations, wait_until
from tests.web.stand_in import seat
from tests.web.test_games import an_evening

PRINTED = """() => {
  const isExact = (node, part) => getComputedStyle(node, part).printColorAdjust === 'exact';
  const box = document.querySelector('.mini-sheet .box[data-is=crossed]');
  const record = document.querySelector('#record');
  return {
    strokes: isExact(box) && isExact(box, '::before') && isExact(box, '::after'),
    row: isExact(box.parentElement),
    record: record.scrollHeight <= record.clientHeight && getComputedStyle(record).overflowY,
    rest: [...document.querySelectorAll('nav, #back, #files, button')]
      .filter((node) => node.getClientRects().length).map((node) => node.id || node.tagName),
    grids: [...document.querySelectorAll('main, #one, .card, .charts')]
      .filter((node) => getComputedStyle(node).display === 'grid')
      .map((node) => node.id || node.className),
    isClear: document.querySelector('h1').getBoundingClientRect().bottom
      <= document.querySelector('#h-one').getBoundingClientRect().top,
  };
}"""
"""How the page goes to the printer; browsers break no grid between pages, or not well."""

ASCENDING = r"""(line) => {
  const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
  const places = [];
  while (walker.nextNode())
    for (const { index } of walker.currentNode.data.matchAll(/\d+/g)) {
      const range = new Range();
      range.setStart(walker.currentNode, index);
      range.setEnd(walker.currentNode, index + 1);
      places.push(range.getBoundingClientRect().left);
    }
  return places.length === 2 && places[0] < places[1];
}"""
"""Whether the first of a line's two numbers stands left of the second."""

INK = "getComputedStyle(document.querySelector('.mini-sheet figcaption')).color"


class TestThePage:
    def test_a_review_goes_on_after_an_answer_that_did_not_come(
        self, stage: Stage, open_page: OpenPage, address: str
    ) -> None:
        an_evening(stage)
        page = open_page("/healthz")
        page.clock.install()
        page.route("**/api/coach?*", lambda route: route.abort(), times=1)
        with page.expect_event("requestfailed"):
            page.goto(f"{address}/games/1")
        page.locator("#one-table tr").first.wait_for()
        page.clock.run_for(3_500)
        page.locator("#coach-scores svg").wait_for()

    def test_statistics_that_did_not_come_are_asked_for_again(
        self, stage: Stage, open_page: OpenPage, address: str
    ) -> None:
        an_evening(stage)
        page = open_page("/healthz")
        page.clock.install()
        for path in ("**/api/statistics?*", "**/api/dice"):
            page.route(path, lambda route: route.abort(), times=1)
        with page.expect_event("requestfailed"):
            page.goto(f"{address}/games")
        page.get_by_role("link", name="Game 2, Big Points").first.wait_for()
        page.clock.run_for(3_500)
        page.get_by_role("heading", name="All evenings").wait_for()
        page.locator("#dice-chart svg").wait_for(state="attached")

    def test_statistics_of_several_choices_are_asked_for_again_once(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        an_evening(stage)
        page = open_page("/healthz")
        page.clock.install()
        page.goto(page.url.replace("healthz", "games"))
        page.get_by_role("heading", name="All evenings").wait_for()
        asked: list[str] = []
        page.route("**/api/statistics?*", lambda route: (asked.append(""), route.abort()))
        for variant in ("base", "big_points", "base"):
            with page.expect_event("requestfailed"):
                page.locator("#choose-variant").select_option(variant)
        page.wait_for_timeout(100)
        asked.clear()
        page.clock.run_for(3_500)
        page.wait_for_timeout(300)
        assert len(asked) == 1

    def test_games_that_did_not_come_are_asked_for_again(
        self, stage: Stage, open_page: OpenPage, address: str
    ) -> None:
        an_evening(stage)
        page = open_page("/healthz")
        page.clock.install()
        page.route("**/api/games", lambda route: route.abort(), times=1)
        page.goto(f"{address}/games")
        page.get_by_text("table didn’t answer").wait_for()
        page.clock.run_for(3_500)
        page.get_by_role("link", name="Game 2, Big Points").wait_for()
        assert page.get_by_text("table didn’t answer").count() == 0

    def test_names_beside_the_lines_are_cut_off_with_an_ellipsis(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        an_evening(stage, ("Wilhelmina", "Grossmamma Mo", "W" * 20))
        page = open_page("/games/1", size_wh=TV)
        page.locator("#coach-scores svg").wait_for()
        beyond = """all => all.filter((node) => {
          const { right } = node.ownerSVGElement.getBoundingClientRect();
          return node.getBoundingClientRect().right > right;
        }).map((node) => node.textContent)"""
        texts = page.locator("#coach-scores svg text")
        assert texts.evaluate_all(beyond) == []
        assert "Wilhelmina" in texts.all_text_contents()

    def test_from_the_standings_to_a_record_and_back(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        an_evening(stage)
        page = open_page("/games", size_wh=PHONE, device="a" * 32)
        page.get_by_role("heading", name=re.compile("Friday,? 20 November 2026")).first.wait_for()
        row = page.get_by_role("table").first.get_by_role("row").nth(1)
        assert row.inner_text().split() == ["Ada", "2", "−28", "2", "−14", "6"]
        assert violations(page) == []
        page.get_by_role("link", name="Game 2, Big Points").click()
        page.get_by_role("heading", name="Game 2, Big Points").wait_for()
        page.get_by_role("img", name="Yellow, crosses: 7, 1 point").first.wait_for()
        page.get_by_text("Turn 11 of 11: <b>Ben</b>").wait_for()
        page.get_by_role("img", name="Points after each turn. Ada: ").wait_for()
        page.get_by_role("img", name="Luck and choices, in points. Ada: ").wait_for()
        assert page.locator("#coach-turning li").count() == 3
        page.get_by_role("progressbar").wait_for(state="hidden")
        page.get_by_role("slider", name="Roll by roll").press("Home")
        page.get_by_text("Turn 1 of 11: Ada").wait_for()
        page.get_by_text("Ada: yellow 7 with the white dice").wait_for()
        page.get_by_role("heading", name="Score sheets after turn 1").wait_for()
        assert page.locator(".mini-sheet .box.is-fresh").all_inner_texts() == ["7"]
        assert page.locator(".mini-sheet .note").first.inner_text() == "1 · 0 penalties"
        page.get_by_role("button", name="Next roll").click()
        page.get_by_text("Penalty for <b>Ben</b>", exact=True).wait_for()
        assert "White sum: Ada yellow 7" in page.locator("#record").inner_text()
        with page.expect_download() as download:
            page.get_by_role("link", name="CSV").click()
        assert download.value.suggested_filename == "game-2.csv"
        assert violations(page) == []
        page.emulate_media(color_scheme="dark")
        assert violations(page) == []
        page.get_by_role("link", name="All games").click()
        page.get_by_role("link", name="Game 1, Base game").wait_for()
        page.go_back()
        page.get_by_text("Turn 2 of 11: <b>Ben</b>").wait_for()

    def test_putting_aside_and_taking_up(self, stage: Stage, open_page: OpenPage) -> None:
        an_evening(stage)
        page = open_page("/games", size_wh=TV, device="a" * 32)
        page.get_by_role("button", name="Save it for another time").click()
        page.get_by_role("button", name="Continue game 4").wait_for()
        assert page.evaluate("fetch('/api/game?number=4').then((got) => got.json())")["paused"]
        page.get_by_role("button", name="Continue game 3").click()
        wait_until(page, lambda: stage.session.view().table.game is not None)
        assert stage.game.number == 3
        page.get_by_role("button", name="Continue game 4").wait_for(state="hidden")

    @pytest.mark.slow
    def test_it_never_scrolls_sideways_and_every_value_has_its_heading(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        """A screen reader counts the cells of a row that are shown."""
        an_evening(stage, ("W" * 20, "M" * 20, "DONAUDAMPFSCHIFFFAHR"))
        for path in ("/games?language=fr", "/games/2?language=fr"):
            page = open_page(path, size_wh=TV)
            page.locator("#files:not([hidden])").wait_for()
            page.locator(".standings tbody td").first.wait_for()
            if path.startswith("/games?"):
                page.locator("#statistics-table table").wait_for()
            for size_wh in (TV, (844, 390), (640, 360), (500, 900), PHONE_SMALL, PHONE):
                resize(page, size_wh)
                assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), size_wh
            for table in page.locator(".standings").all():
                counts = table.locator("tr").evaluate_all(
                    "rows => rows.map((row) =>"
                    " [...row.cells].filter((cell) => cell.getClientRects().length).length)"
                )
                assert len(counts) > 1, path
                assert len(set(counts)) == 1, path

    def test_a_printed_sheet_keeps_its_crosses_and_the_record_its_end(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        an_evening(stage)
        for _ in range(6):
            stage.roll(6, 6)
            for player in range(3):
                stage.answer(player, None)
            stage.answer(stage.state.active, None)
        page = open_page("/games/4", size_wh=PHONE)
        page.locator("#files:not([hidden])").wait_for()
        page.emulate_media(media="print")
        whole = {"strokes": True, "row": True, "record": "visible", "rest": []}
        whole |= {"grids": [], "isClear": True}
        assert page.evaluate(PRINTED) == whole
        assert page.get_by_role("slider").count() == 0
        ink = page.evaluate(INK)
        page.emulate_media(media="print", color_scheme="dark")
        assert page.evaluate(INK) == ink  # also where the screen is dark, paper is light
        page.goto(page.url.replace("/games/4", "/games"))
        page.locator("#statistics-table table").wait_for()
        for css in ("form", "button", "a[download]"):
            page.locator(css).filter(visible=True).first.wait_for(state="hidden")

    def test_a_slid_step_is_read_out_once(self, stage: Stage, open_page: OpenPage) -> None:
        an_evening(stage)
        page = open_page("/games/1")
        title = page.locator("#step-title:not(:empty)")
        title.wait_for()
        page.locator("#step").press("ArrowLeft")
        title.filter(has_text="Turn 10 of 11").wait_for()
        assert title.get_attribute("aria-live") == "off"  # the slider has told it
        page.get_by_role("button", name="Previous roll").press("Enter")
        title.filter(has_text="Turn 9 of 11").wait_for()
        assert title.get_attribute("aria-live") == "polite"

    def test_an_open_turn_does_not_tell_that_nobody_crossed_anything(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        begin(stage, "Ada", "Ben")
        a_turn(stage, None, None)
        stage.roll(3, 4)
        page = open_page("/games/1")
        page.get_by_text("Turn 2 of 2: Ben").wait_for()
        assert page.locator("#step-marks li").count() == 0
        page.locator("#step").press("ArrowLeft")
        page.get_by_text("Penalty for Ada", exact=True).wait_for()

    def test_an_unknown_game_is_not_found(self, open_page: OpenPage) -> None:
        page = open_page("/games/9")
        page.get_by_role("alert").filter(has_text="There is no such saved game.").wait_for()

    def test_the_dice_appear_once_there_are_enough_throws(
        self, stage: Stage, open_page: OpenPage, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        seat(stage, "Ada")
        stage.session.start("base", 0)
        stage.play_out()
        page = open_page("/games")
        page.locator("#dice-chart svg").wait_for(state="attached")
        assert not page.get_by_role("heading", name="The dice of this table").is_visible()
        monkeypatch.setattr(fairness, "NEEDED", 4)
        page.reload()
        page.get_by_role("heading", name="The dice of this table").wait_for()

    def test_the_list_is_empty_at_first_and_follows_the_running_game(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        seat(stage, "Ada")
        page = open_page("/games")
        page.get_by_text("No games have been played here yet.").wait_for()
        assert violations(page) == []
        stage.session.start("base", 0)
        page.get_by_text("being played").wait_for()
        stage.play_out()
        page.get_by_text("1 game counts.").wait_for()
        stage.session.rematch()
        page.get_by_text("being played").wait_for()
        stage.play_out()
        page.get_by_text("2 games count.").wait_for()
        assert page.locator(".score").count() == 2
        assert page.locator(".score.is-first").count() == 0, "nobody wins alone"
        means = page.locator("#statistics-table td").all_inner_texts()[-2:]
        assert means == ["4.00", "0.00"], "with the digits of the file"

    def test_games_of_another_table_have_their_dates(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        stage.seat("Ada", "Ben")
        stage.session.start("base", 0)
        stage.play_out()
        (game,) = stage.session.past.games()
        lines = replace(game, at="2026-01-01T21:30:00+01:00").lines()
        made = Record(stage.store.mark.revision + 1, "imported", {"number": 2, "lines": lines}, "")
        stage.store.append((made,))
        for path, date in (("", "1 January 2026"), ("?language=de", "1. Januar 2026")):
            page = open_page(f"/games{path}", device="a" * 32)
            theirs = page.locator("#evenings li", has=page.locator("[href='/games/2']"))
            assert theirs.locator(".note").inner_text().startswith(f"{date} · ")

    def test_a_name_from_right_to_left_turns_no_numbers(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        an_evening(stage, ("\u05d3\u05e0\u05d4", "\u0639\u0645\u0631", "Cleo"))
        page = open_page("/games")
        page.locator("#pairs li").first.wait_for()
        page.locator("#ratings li").first.wait_for()
        for line in page.locator("#pairs li, #ratings li").all():
            assert line.evaluate(ASCENDING), line.inner_text()

    @pytest.mark.slow
    def test_no_word_is_of_another_language(self, stage: Stage, open_page: OpenPage) -> None:
        from tests.web.test_language_pages import said

        an_evening(stage)
        seen = {}
        for language in LANGUAGES[:2]:
            seen[language] = set()
            for path in ("/games?", "/games/2?"):
                page = open_page(f"{path}language={language}", device="a" * 32)
                page.locator("#files:not([hidden])").wait_for()
                seen[language] |= said(page)
        names = {"<b>Ben</b>", "Cleo Wilhelmina Max", "Cleo Wilh…", "JSON", "CSV", "Text", "Name"}
        shared = seen["en"] & seen["de"] - names
        people = ("Ada", "Ben", "Cleo")  # lines of names and numbers
        assert {
            text for text in shared if "±" not in text and not text.strip("<b>").startswith(people)
        } == set()

    def test_two_players_are_made_one_only_after_a_question(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        name = "Cleo Groß ❤\ufe0f"
        for names in (("Ada", "Anna"), (name, "Dora"), ("Emil", "Finn")):
            stage.seat(*names)
            stage.session.start("base", 0)
            stage.play_out()
            for number in (0, 1):
                stage.session.leave(number)
        page = open_page("/games")
        page.get_by_text("Change names").click()
        page.locator("#people-name").select_option("Anna")
        page.locator("#people-to").fill("cleo  GROẞ ❤")  # the table takes it for the same
        for _ in range(6):  # a key that is held down answers nothing
            page.keyboard.down("Enter")
            page.wait_for_timeout(100)
        page.keyboard.up("Enter")
        sure = page.get_by_role("button", name=f"Make Anna and {name} one player for good?")
        sure.wait_for()
        assert stage.session.past.results()[0].names == ("Ada", "Anna")
        assert violations(page) == []
        page.wait_for_timeout(700)
        sure.click()
        wait_until(page, lambda: "Anna" not in stage.session.past.results()[0].names)

    def test_only_the_host_deletes_a_player_and_is_asked_twice(
        self, stage: Stage, open_page: OpenPage, client: FlaskClient
    ) -> None:
        for names in (("Ada", "Ben"), ("Cleo", "Dora"), ("Emil", "Finn")):
            for number in range(len(stage.session.view().table.seats)):
                stage.session.leave(number)
            stage.seat(*names)
            stage.session.start("base", 0)
            stage.play_out() if names[0] == "Ada" else stage.session.end()  # which counts not
        page = open_page("/games")
        for number, name, left in ((0, "Ben", ("Ada", "#2")), (1, "Dora", ("Cleo", "#2"))):
            page.get_by_text("Change names").click()
            page.locator("#people-name").select_option(name)
            page.get_by_role("button", name="Delete", exact=True).click()
            assert violations(page) == [], name
            with page.expect_navigation():
                page.get_by_role("button", name=f"Delete {name} for good?").click()
            assert played(stage, number) == left
        stage.session.make_host("somebody else")
        asked = {"name": "Ada", "to": "Bea"}
        browser = {"Sec-Fetch-Site": "same-origin", "User-Agent": "Mozilla/5.0"}
        client.get("/games", headers=browser)
        assert client.post("/api/player", json=asked, headers=browser).status_code == 403
        assert played(stage, 0) == ("Ada", "#2")


def played(stage: Stage, number: int) -> tuple[str, ...]:
    """Who played a game, the first one being 0."""
    names: tuple[str, ...] = stage.session.past.results()[number].names
    return names
