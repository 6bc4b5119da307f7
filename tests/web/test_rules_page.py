"""The rules page, and the link that a refusal on a phone carries."""

from __future__ import annotations

import re

import pytest
from flask import Flask

from companion.messages.catalogue import LANGUAGES, load_phrases
from companion.messages.rulings import rules
from tests.session.fakes import Stage
from tests.web.browsing import PHONE_SMALL, TV, OpenPage, comes_true, put, ready, resize, violations

UNCOVERED = """() => {
  const { left, top } = document.querySelector(':target').getBoundingClientRect();
  return document.elementFromPoint(left + 9, top + 9)?.closest(':target');
}"""
"""Whether the ruling begins below what stays at the top."""


@pytest.mark.parametrize("language", LANGUAGES)
def test_it_shows_each_ruling_at_its_anchor(app: Flask, language: str) -> None:
    got = app.test_client().get("/rules", headers={"Accept-Language": language})
    assert got.status_code == 200
    page = got.get_data(as_text=True)
    assert f'<html lang="{language}"' in page
    for part in rules(load_phrases(language)):
        for name, text in part.rulings:
            assert f'<p id="{name}"><b>{name}</b> {text}</p>' in page


def test_a_refusal_leads_to_its_ruling_and_back(stage: Stage, open_page: OpenPage) -> None:
    page = ready(open_page("/", size_wh=PHONE_SMALL, token=put(stage, "action1")[0]))
    page.get_by_role("button", name=re.compile("^red 3")).click()
    page.get_by_role("link", name="Why?").click()
    page.locator("#E2:target", has_text="only the sum of both white dice").wait_for()
    comes_true(page, UNCOVERED)
    page.get_by_role("link", name="Back to my sheet").click()
    page.get_by_role("button", name=re.compile("^red 7")).wait_for()


def test_it_is_clean_for_axe(open_page: OpenPage) -> None:
    page = open_page("/rules#E10", size_wh=PHONE_SMALL)
    page.locator("#E10:target").wait_for()
    for size_wh in (PHONE_SMALL, TV):
        resize(page, size_wh)
        assert violations(page) == [], size_wh


def test_the_example_is_printed_in_its_colours(open_page: OpenPage) -> None:
    page = open_page("/rules", size_wh=PHONE_SMALL)
    page.emulate_media(media="print")
    box = page.locator(".mini-sheet .box[data-is=crossed]").first
    assert box.evaluate("(node) => getComputedStyle(node).printColorAdjust") == "exact"
    assert not page.get_by_role("link", name="Back to my sheet").is_visible()
