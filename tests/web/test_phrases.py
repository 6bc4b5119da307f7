"""Pages and catalogues name the same phrases.

This is a consistency check over source text and not a promise of behaviour: a phrase nobody uses
costs four translators their time and no test can show it on a page. A phrase missing on a page
throws there, which fails the browser's tests, but only in the states they reach.
"""

from __future__ import annotations

import re
from pathlib import Path

from companion.messages.catalogue import LANGUAGES, ROOMS, SINGULAR, load_phrases

WEB = Path(__file__).resolve().parent.parent.parent / "web"
SOURCES = [each for kind in ("py", "js", "html") for each in WEB.rglob(f"*.{kind}")]

USED = re.compile(r"""["'`]([a-z_]+(?:\.[a-z0-9_]+)*)["'`]""")
STEM = re.compile(r"`([a-z_.]+\.)\$\{")
"""The constant part of a composed key such as `box.${is}`: every key under it counts as used."""


def test_pages_and_catalogues_agree() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in SOURCES)
    words = set(USED.findall(text.replace("page.", "")))
    stems = (*tuple(STEM.findall(text)), "http.", "variant.", "club.declined.")
    called = set(re.findall(r"""\bt\(["']([^"']+)["']""", text))
    called |= set(re.findall(r"""(?:say|line)\("page\.([a-z_.]+)["']""", text))
    for language in LANGUAGES:
        phrases = load_phrases(language)
        assert called - set(phrases.for_pages(*ROOMS)) == set(), language
        known = {key.removesuffix(SINGULAR) for key in phrases.under("page.")}
        assert {key for key in known if key not in words and not key.startswith(stems)} == set()
