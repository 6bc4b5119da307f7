"""Pages and catalogues name the same phrases.

This is a consistency check over source text and not a promise of behaviour: a phrase nobody uses
costs four translators their time and no test can show it on a page. A phrase missing on a page
throws there, which fails the browser's tests, but only in the states they reach.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from flask.testing import FlaskClient

from companion.messages.catalogue import LANGUAGES, SINGULAR, load_phrases
from web.modules import STATIC, modules_of

WEB = Path(__file__).resolve().parent.parent.parent / "web"
SOURCES = [each for kind in ("py", "js", "html") for each in WEB.rglob(f"*.{kind}")]

USED = re.compile(r"""["'`]([a-z_]+(?:\.[a-z0-9_]+)*)["'`]""")
CALLED = re.compile(r"""\bt\(["']([^"']+)["']""")
STEM = re.compile(r"`([a-z_.]+\.)\$\{")
"""The constant part of a composed key such as `box.${is}`: every key under it counts as used."""


def test_pages_and_catalogues_agree() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)
    words = set(USED.findall(text.replace("page.", "")))
    stems = (*tuple(STEM.findall(text)), "http.", "variant.", "club.declined.")
    called = set(CALLED.findall(text))
    called |= set(re.findall(r"""(?:say|line)\("page\.([a-z_.]+)["']""", text))
    for language in LANGUAGES:
        phrases = load_phrases(language)
        known = {key.removesuffix(SINGULAR) for key in phrases.under("page.")}
        assert called - known - set(phrases.for_scripts((), ())) == set(), language
        assert {key for key in known if key not in words and not key.startswith(stems)} == set()


@pytest.mark.parametrize("name", ["play", "table", "host", "games", "setup", "stream"])
def test_a_page_has_the_phrases_of_its_scripts(client: FlaskClient, name: str) -> None:
    page = client.get("/" if name == "play" else f"/{name}").text
    found = re.search(r'id="phrases">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    given = json.loads(found[1])
    scripts = "".join((STATIC / each).read_text("utf-8") for each in modules_of(f"{name}/page.js"))
    composed = tuple(STEM.findall(scripts))
    assert set(CALLED.findall(scripts)) - set(given) == set()
    every = load_phrases("en").under("page.")
    assert {key for key in every if key.startswith(composed)} - set(given) == set()
    if name == "play":  # loaded on every phone
        others = (
            "club.",
            "games.",
            "host.",
            "join.lead",
            "setup.",
            "stream.",
            "table.",
            "wrong_pin",
        )
        assert [key for key in given if key.startswith(others)] == []
