"""The pages keep to what Chromium 85 knows, the browser of televisions of 2022."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from web.modules import STATIC, style_of

NEWER = re.compile(
    r"\.at\(|\.replaceChildren\(|\.findLast(Index)?\(|\.to(Sorted|Reversed|Spliced)\(|\.with\("
    r"|\bstructuredClone\(|\.randomUUID\(|Object\.(hasOwn|groupBy)\(|AbortSignal\.\w+\("
    r"|\.checkVisibility\(|\.(show|hide|toggle)Popover\(|\.startViewTransition\("
    r"|\bIntl\.Segmenter\b|Promise\.withResolvers|^await\b|^\s*static\b|\(\?<[=!]"
    r"|/[gimsuy]*[dv][gimsuy]*[.,;)]",
    re.MULTILINE,
)
"""Calls and syntax that came after Chromium 85, or after Safari 15.4."""

NEWER_STYLES = re.compile(
    r":is\(|\b(inset|(padding|margin)-(block|inline)):|:not\([^()]*(\([^()]*\))?[^()]*,"
    r"|:root:has\(|@(container|layer|scope|starting-style)\b|\b(color-mix|light-dark|anchor)\(|subgrid"
    r"|\d[ds]v[hw]\b|&|\(\s*(width|height)\s*[<>]|\boverflow-[xy]:\s*clip"
)
"""Style sheets' words that came after Chromium 85 and cost more than beauty.

Safari 16.0 paints nothing of a box that is clipped in one direction only.
"""

MODULES = sorted(STATIC.rglob("*.js"))
STYLES = sorted({path.stem for path in (STATIC / "css").glob("*.css")} - {"print"})
"""All but the rules for printing, which no television does."""

FORCED_COLOURS = re.compile(r"@media \(forced-colors: active\).*", re.DOTALL)
"""Chromium has them since 89; the rules for them end their style sheet."""


def split(text: str) -> list[str]:
    """Split a list of selectors at commas outside brackets."""
    return re.split(r",(?![^(]*\))", text)


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_a_module_uses_nothing_newer(module: Path) -> None:
    assert NEWER.search(module.read_text(encoding="utf-8")) is None


@pytest.mark.parametrize("name", STYLES)
def test_a_style_sheet_uses_nothing_newer(name: str) -> None:
    text = style_of(name)
    assert text is not None
    text = FORCED_COLOURS.sub("", re.sub(r"@supports[^{]*\{[^{}]*\{[^{}]*\}\s*\}", "", text))
    assert NEWER_STYLES.search(text) is None
    assert "*/" not in text, "a comment that ends twice spoils the rule after it"
    for selectors in re.findall(r"([^{}]+)\{", text):
        with_has = [":has(" in each for each in split(selectors)]
        assert all(with_has) or not any(with_has), f"{selectors}: without :has() all is discarded"


def test_the_text_of_a_button_is_centred_once() -> None:
    """Chromium 85 moves a link's text that is centred as text and, besides, as part of a grid."""
    (declared,) = re.findall(
        r"\.big,[^{}]*\{([^{}]*text-align: center[^{}]*)\}", style_of("base") or ""
    )
    assert not re.search(r"(place|justify)-items: center", declared)


@pytest.mark.parametrize(
    ("name", "boxes"),
    [
        ("setup", [".frame"]),
        ("host", [".host .picture"]),
        ("table", [".codes img", ".report-link img"]),
    ],
)
def test_a_picture_has_room_without_aspect_ratio(name: str, boxes: list[str]) -> None:
    """Else the set-up shows no picture at all, and codes that arrive late push the scores away."""
    _, found, rest = (style_of(name) or "").partition("@supports not (aspect-ratio: 1) {")
    assert found
    fallback = rest[: rest.index("}}")]
    for box in boxes:
        assert re.search(re.escape(box) + r" \{\s*height:", fallback), box
