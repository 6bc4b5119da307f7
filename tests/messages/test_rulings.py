"""Every ruling has a sentence in four languages, and an entry in `docs/rules.md`."""

from __future__ import annotations

import re

from companion.engine import HouseRule
from companion.messages.catalogue import load_phrases
from companion.messages.rulings import PARTS, rules
from tests.conftest import ROOT

DOCUMENT = (ROOT / "docs" / "rules.md").read_text(encoding="utf-8")
ENTRIES = dict(
    re.findall(r'^\| <a id="(E\d+)"></a>E\d+ \| (.+?) \| .+ \|$', DOCUMENT, re.MULTILINE)
)
CITED = {
    name
    for path in ROOT.glob("companion/**/*.py")
    for name in re.findall(r"\bE[1-9]\d?\b", path.read_text(encoding="utf-8"))
}
"""Rulings that the code cites, in refusals, docstrings and comments."""


def test_all_47_rulings_have_an_entry_in_order() -> None:
    assert list(ENTRIES) == [f"E{number}" for numbers in PARTS.values() for number in numbers]
    assert set(ENTRIES) == {f"E{number}" for number in range(1, 48)}


def test_every_ruling_that_the_code_cites_has_an_entry() -> None:
    assert {"E1", "E20", "E32"} <= CITED
    assert set(ENTRIES) >= CITED


def test_the_document_and_the_table_show_the_same_sentences() -> None:
    assert dict(each for part in rules(load_phrases("en")) for each in part.rulings) == ENTRIES


def test_a_replaced_ruling_names_the_house_rule_of_the_game() -> None:
    shown = dict(each for part in rules(load_phrases("en"), HouseRule) for each in part.rulings)
    replaced = {ruling for rule in HouseRule for ruling in rule.replaces}
    assert {name for name, text in shown.items() if text != ENTRIES[name]} == replaced
    rule = "A box crossed in action 1 opens its bonus box only next turn"
    assert shown["E26"].endswith(f"Not in this game. Its house rule: {rule}.")


def test_every_link_inside_the_document_has_its_anchor() -> None:
    anchors = set(re.findall(r'<a id="([\w-]+)">', DOCUMENT))
    assert set(re.findall(r"\(#([\w-]+)\)", DOCUMENT)) <= anchors
