"""The pages in four languages: each browser's own, the television's, and none mixed up."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from flask import Flask
from flask.testing import FlaskClient

from companion.messages.catalogue import LANGUAGES
from tests.session.fakes import Stage
from tests.web.browsing import MODULES, PHONE, TV, OpenPage, comes_true, names, ready, violations
from tests.web.stand_in import a_roll, dice_in_tray, seat
from web.locale import COOKIE

if TYPE_CHECKING:
    from playwright.sync_api import Page


def language_of(client: FlaskClient, path: str = "/", **headers: str) -> str:
    text = client.get(path, headers=headers).text
    found = re.search(r'<html lang="(\w+)"', text)
    assert found is not None
    return found[1]


class TestWhichLanguage:
    def test_without_a_preference_the_page_has_the_tables_language(
        self, app: Flask, stage: Stage
    ) -> None:
        stage.session.change_settings(voice={"language": "fr"})
        assert language_of(app.test_client()) == "fr"

    @pytest.mark.parametrize(
        ("accepted", "language"),
        [
            ("de-CH,de;q=0.9,en;q=0.8", "de"),
            ("de-AT,en;q=0.5", "de"),
            ("en;q=0.4,fr-CH;q=0.6", "fr"),
            ("de-CH;q=0.2,*;q=0.3", "it"),
            ("it", "it"),
            ("nl,fr;q=0.5", "fr"),
            ("nl", "it"),
            ("*", "it"),
            ("de;q=0", "it"),
            ("%%;;q=x", "it"),
        ],
    )
    def test_the_browser_is_asked_before_the_table(
        self, app: Flask, stage: Stage, accepted: str, language: str
    ) -> None:
        stage.session.change_settings(voice={"language": "it"})
        assert language_of(app.test_client(), **{"Accept-Language": accepted}) == language

    def test_a_choice_is_kept_and_can_be_taken_back(self, client: FlaskClient) -> None:
        assert client.post("/api/language", json={"language": "de"}).status_code == 200
        assert language_of(client, **{"Accept-Language": "fr"}) == "de"
        client.post("/api/language", json={"language": None})
        assert client.get_cookie(COOKIE) is None
        assert language_of(client, **{"Accept-Language": "fr"}) == "fr"

    @pytest.mark.parametrize("language", ["nl", "", 3])
    def test_an_unknown_language_is_refused(self, client: FlaskClient, language: object) -> None:
        answer = client.post("/api/language", json={"language": language})
        assert (answer.status_code, answer.get_json()["error"]) == (400, "BAD_REQUEST")

    def test_a_broken_cookie_is_no_choice(self, client: FlaskClient) -> None:
        client.set_cookie(COOKIE, "klingon")
        assert language_of(client, **{"Accept-Language": "fr"}) == "fr"

    def test_the_television_shows_the_tables(self, client: FlaskClient, stage: Stage) -> None:
        client.post("/api/language", json={"language": "de"})
        assert language_of(client, "/table") == "en"
        stage.session.change_settings(voice={"language": "it"})
        assert language_of(client, "/table") == "it"

    def test_answers_are_in_the_pages_language(self, client: FlaskClient, stage: Stage) -> None:
        seat(stage, "Ada")
        told = client.post("/api/press?language=de", json={}).get_json()
        assert told["message"] == "Es läuft kein Spiel."
        assert told["state"]["announcement"]["text"] == "Es läuft kein Spiel."
        assert (told["state"]["language"], told["state"]["table"]["language"]) == ("de", "en")
        english = client.get("/api/state").get_json()
        assert english["announcement"]["text"] == "No game is running."
        assert client.get("/api/state?language=fr").get_json()["tray"]["text"].startswith("Il n’y")

    @pytest.mark.parametrize(
        ("path", "sent"),
        [
            ("/api/join", {}),
            ("/api/join", {"name": 3}),
            ("/api/start", {"house": [1]}),
            ("/api/answer", {}),
            ("/api/roll", {"white": [], "colour": {"pink": 3}}),
            ("/api/roll", {"white": ["x"], "colour": {}}),
            ("/api/nothing", {}),
        ],
    )
    def test_errors_use_the_chosen_language(
        self, client: FlaskClient, path: str, sent: object
    ) -> None:
        told = [
            client.post(f"{path}?language={each}", json=sent).get_json()["message"]
            for each in LANGUAGES
        ]
        assert len(set(told)) == len(LANGUAGES), told


SAID = """() => {
  const seen = [];
  for (const node of document.body.querySelectorAll('*')) {
    if (node.closest('script, noscript, [lang]:not(html)')) continue;
    for (const name of ['aria-label', 'alt', 'title']) seen.push(node.getAttribute(name));
    for (const child of node.childNodes) if (child.nodeType === 3) seen.push(child.textContent);
  }
  return [document.title, ...seen].filter(Boolean).map((text) => text.trim()).filter(Boolean);
}"""
"""Every text of a page, shown or only read out."""

HAS_HEARD = f"v => import('{MODULES}/lib/live.js').then(({{ latest }}) => latest().version >= v)"

ALIKE = re.compile(
    r"Dice|Companion|Dice Companion|QWX7|Table|Ada|Benjamin|Cleo|Big Points|(http|\d+\.)\S+|"
    r"[RYGB]{1,2}|…|✓|· ?|\W*|[−\d#.,:/ ·–-]+|Bonus|Total|Camera|(Ada|Benjamin|Cleo) ?\?"
)
"""What may stand in two languages alike: names, numbers, letters of rows."""


def said(page: Page) -> set[str]:
    texts: list[str] = page.evaluate(SAID)
    return {text for text in texts if not ALIKE.fullmatch(text)}


class TestNothingIsMixed:
    @pytest.mark.slow
    @pytest.mark.parametrize("language", ["de", "fr", "it"])
    def test_a_whole_game_on_every_page(
        self, stage: Stage, open_page: OpenPage, language: str
    ) -> None:
        """Whatever a page shows in English stands on no page of another language."""
        both = ("en", language)
        guests = {each: open_page(f"/?language={each}", size_wh=PHONE) for each in both}
        for page in guests.values():
            page.locator("#join-seats:not(:empty)").wait_for()
        seen = {each: said(page) for each, page in guests.items()}
        tokens = [seat(stage, name).token for name in ("Ada", "Benjamin", "Cleo")]
        table = open_page("/table", size_wh=TV)
        pages: dict[str, list[Page]] = {}
        for each in both:
            host = open_page(f"/host?language={each}", size_wh=PHONE)
            if pages:  # one device hosts the table
                host.context.add_cookies(pages["en"][1].context.cookies())  # type: ignore[arg-type]
                host.reload()
            pages[each] = [
                ready(open_page(f"/?language={each}", size_wh=PHONE, token=tokens[0])),
                ready(host),
            ]
            seen[each] |= said(open_page(f"/nothing?language={each}"))
        for step in game(stage):
            step()
            for each in both:
                stage.session.change_settings(voice={"language": each})
                version = stage.session.view().version
                for page in pages[each]:
                    comes_true(page, HAS_HEARD, version)
                    seen[each] |= said(page)
                table.locator(f"html[lang={each}]").wait_for()
                seen[each] |= said(ready(table))
        assert len(seen["en"]) > 200
        assert seen[language] & seen["en"] == set()
        for page in (*pages[language], table):
            assert violations(ready(page)) == []

    def test_choosing_one(self, stage: Stage, open_page: OpenPage) -> None:
        page = open_page("/", token=seat(stage, "Ada").token)
        page.get_by_text("Welcome, Ada!").wait_for()
        page.get_by_label("Language").select_option(label="Deutsch")
        page.get_by_text("Willkommen, Ada!").wait_for()
        page.get_by_label("Sprache").select_option(label="Wie auf diesem Gerät")
        page.get_by_text("Welcome, Ada!").wait_for()

    @pytest.mark.parametrize("language", LANGUAGES)
    def test_the_choice_is_not_cut_off_on_a_small_phone(
        self, open_page: OpenPage, language: str
    ) -> None:
        page = open_page(f"/?language={language}", size_wh=(320, 568))
        page.locator("#language").wait_for()
        cut = """all => all.filter((node) => {
          const { width } = node.getBoundingClientRect();
          node.style.cssText = 'width: max-content; max-width: none; position: absolute';
          return node.getBoundingClientRect().width > width + 1;
        }).map((node) => node.id)"""
        assert page.locator(".device select").evaluate_all(cut) == []

    @pytest.mark.parametrize("leave", ["Tab", "Enter"])
    def test_keys_go_through_the_list_before_one_holds(
        self, open_page: OpenPage, leave: str
    ) -> None:
        """WCAG 2.2, 3.2.2 (on input)."""
        page = ready(open_page("/"))
        page.get_by_label("Language").focus()
        for _ in range(2):  # by way of English to German
            page.keyboard.press("ArrowDown")
            page.wait_for_timeout(300)
        assert page.evaluate("document.activeElement.id") == "language"
        page.keyboard.press(leave)
        page.get_by_label("Sprache").wait_for()

    def test_a_name_that_is_typed_after_a_choice_by_keys_is_kept(
        self, stage: Stage, open_page: OpenPage
    ) -> None:
        page = ready(open_page("/"))
        page.get_by_label("Language").focus()
        for _ in range(2):
            page.keyboard.press("ArrowDown")
        with page.expect_response("**/api/language"):
            page.get_by_label("Your name").click()
        page.keyboard.type("Wilhelmina", delay=100)
        page.keyboard.press("Enter")
        page.get_by_text("Willkommen, Wilhelmina!").wait_for()
        assert names(stage) == ["Wilhelmina"]


def game(stage: Stage) -> list[Callable[[], object]]:
    """The states of a game, one after another."""
    session = stage.session
    return [
        lambda: session.start("big_points", 0),
        lambda: session.see(dice_in_tray(a_roll(3, 4), tilted="green")),
        lambda: session.press(),
        lambda: session.see(dice_in_tray(a_roll(3, 4))),
        lambda: session.press(),
        lambda: stage.answer(0, "R7", done=False),
        lambda: stage.answer(1, "Y7"),
        lambda: [stage.answer(0, None), stage.answer(2, None)],
        lambda: stage.answer(0, None),
        lambda: session.end(),
    ]
