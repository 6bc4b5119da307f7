"""The pages keep to what Chromium 85 knows, the browser of televisions of 2022."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from web.modules import STATIC

NEWER = re.compile(
    r"\.at\(|\.replaceChildren\(|\.findLast(Index)?\(|\.to(Sorted|Reversed|Spliced)\(|\.with\("
    r"|\bstructuredClone\(|\.randomUUID\(|Object\.(hasOwn|groupBy)\(|AbortSignal\.\w+\("
    r"|\.checkVisibility\(|\.(show|hide|toggle)Popover\(|\.startViewTransition\("
    r"|\bIntl\.Segmenter\b|Promise\.withResolvers|^await\b|^\s*static\b|\(\?<[=!]"
    r"|/[gimsuy]*[dv][gimsuy]*[.,;)]",
    re.MULTILINE,
)
"""Calls and syntax that came after Chromium 85, or after Safari 15.4."""

MODULES = sorted(STATIC.rglob("*.js"))


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.stem)
def test_a_module_uses_nothing_newer(module: Path) -> None:
    assert NEWER.search(module.read_text(encoding="utf-8")) is None
