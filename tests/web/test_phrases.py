"""The page's sentences: each that is used is in the catalogue, each in the catalogue is used."""

from __future__ import annotations

import re
from pathlib import Path

from companion.messages.catalogue import LANGUAGES, ROOMS, SINGULAR, load_phrases

WEB = Path(__file__).resolve().parent.parent.parent / "web"
SOURCES = [*WEB.rglob("*.py"), *WEB.glob("static/*.js"), *WEB.glob("templates/*.html")]

USED = re.compile(r"""["'`]([a-z_]+(?:\.[a-z0-9_]+)*)["'`]""")
STEM = re.compile(r"`([a-z_.]+\.)\$\{")
"""A key put together, such as `box.${is}`: every key that begins so counts as used."""


def test_pages_and_catalogues_agree() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)
    words = set(USED.findall(text.replace("page.", "")))
    stems = (*tuple(STEM.findall(text)), "http.", "variant.")
    called = set(re.findall(r"""\bt\(["']([^"']+)["']""", text))
    called |= set(re.findall(r"""(?:say|line)\("page\.([a-z_.]+)["']""", text))
    for language in LANGUAGES:
        phrases = load_phrases(language)
        assert called - set(phrases.for_pages(*ROOMS)) == set(), language
        known = {key.removesuffix(SINGULAR) for key in phrases.under("page.")}
        assert {key for key in known if key not in words and not key.startswith(stems)} == set()


def test_every_state_of_a_box_has_its_word() -> None:
    states = set(re.findall(r'is = "(\w+)"', (WEB / "static/sheet.js").read_text()))
    states |= {"chosen", "tapped", "closed", "skipped"}
    for language in LANGUAGES:
        assert set(load_phrases(language).under("page.box.")) == states


def test_nothing_is_loaded_from_elsewhere() -> None:
    for path in SOURCES:
        if path.suffix != ".py":
            links = re.findall(r"https?://[^\s\"'`]+", path.read_text(encoding="utf-8"))
            assert [link for link in links if "www.w3.org" not in link] == [], path.name
