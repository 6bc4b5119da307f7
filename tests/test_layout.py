"""Few rooms, short lines and short names: what a stranger can take in."""

from __future__ import annotations

import ast

from tests.test_architecture import ROOT, our_sources

MOST_ROOMS = 18
"""Packages and modules directly in `companion`: more are not found again in one guess."""

LONGEST_LINE = 120
"""Characters of a line of a page's script or style."""

LONGEST_NAME = 70
"""Characters that no test's name reaches: a longer one promises two things."""


def test_the_rooms_of_companion_are_few() -> None:
    top = {name.split(".")[1] for name in our_sources()[0] if name.startswith("companion.")}
    assert len(top - {"__main__"}) <= MOST_ROOMS


def test_lines_of_scripts_and_styles_are_short_enough_to_read() -> None:
    files = [*ROOT.glob("web/static/**/*.js"), *ROOT.glob("web/static/**/*.css")]
    assert len(files) > 40
    long = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > LONGEST_LINE
    ]
    assert long == []


def test_test_names_are_short_enough_to_read() -> None:
    names = {
        node.name
        for path in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }
    assert len(names) > 1000
    assert {name for name in names if len(name) >= LONGEST_NAME} == set()
