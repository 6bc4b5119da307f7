"""What the documents say is there, and what is there is documented."""

from __future__ import annotations

import json
import re
import string
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import get_args, get_type_hints

import click
import pytest

from companion.cli import dice_companion
from companion.commands.play import play
from companion.commands.read import read
from companion.config import Config, setting_names
from companion.engine import Reason
from companion.history.risk import CERTIFIED
from companion.mqtt.club.club import MOST_TABLES
from companion.mqtt.club.evening import MOST_MEMBERS
from tests.conftest import ROOT
from tests.eventlog import test_copies
from web.club import MOST_PHONES

README = (ROOT / "README.md").read_text(encoding="utf-8")
SETTINGS = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")


def test_every_setting_is_documented_with_its_default() -> None:
    config = Config()
    for name in setting_names():
        line = next((row for row in SETTINGS.splitlines() if f"`{name}`" in row), None)
        assert line is not None, name
        section, _, key = name.partition(".")
        if key and (default := getattr(getattr(config, section), key)) is not None:
            shown = str(default).lower() if isinstance(default, bool) else str(default)
            assert shown in line, name


def test_every_bound_of_a_setting_is_documented() -> None:
    for name in setting_names():
        section, _, key = name.partition(".")
        if not key or key.endswith(("pin", "port")):
            continue
        types = get_type_hints(type(getattr(Config(), section)), include_extras=True)
        line = next(row for row in SETTINGS.splitlines() if f"`{name}`" in row)
        kinds = [types[key], *get_args(types[key])]
        for meta in (each for kind in kinds for each in getattr(kind, "__metadata__", ())):
            for bound in (meta.ge or None, meta.le, meta.max_length):
                assert bound is None or f"{bound:g}" in line, name


def test_every_command_and_option_is_in_the_readme() -> None:
    for name in dice_companion.list_commands(click.Context(dice_companion)):
        assert f"dice-companion {name}" in README, name
    for command in (play, read):
        for option in command.params:
            if isinstance(option, click.Option):
                assert option.opts[0] in README, option.opts[0]


def test_figures_of_the_readme_are_those_of_the_evaluation() -> None:
    evaluation = (ROOT / "docs" / "evaluation.md").read_text(encoding="utf-8")
    (readable,) = re.findall(r"([\d,]+ of [\d,]+) rolls were read exactly", README)
    assert re.search(rf"read exactly \|.* {readable} \|", evaluation)
    (bound,) = re.findall(r"at\s+most ([\d.]+) % of announced rolls", evaluation)
    assert float(bound) == pytest.approx(CERTIFIED * 100)  # `games accuracy` quotes it
    ((wrong, announced),) = re.findall(r"(\d+) of all ([\d,]+) announced rolls", README)
    assert re.search(rf"Of {announced} announced rolls .*, {wrong} were wrong", evaluation)
    (latency,) = re.findall(r"five phones: (\d+ ms)", README)
    assert f"median {latency}" in evaluation


@pytest.mark.parametrize("target", sorted(set(re.findall(r"`?make ([a-z-]+)", README))))
def test_make_targets_in_the_readme_are_there(target: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(rf"^{target}:", makefile, re.MULTILINE)


PAGES = [
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "README.md",
    ROOT / "vision/weights/README.md",
]


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_links_in_the_documents_are_there(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    named = re.findall(r"`((?:companion|vision|hardware|web|docs|tests)/[\w/.-]+)`", text)
    named += re.findall(r"\btests/[\w/.-]*\w", text)  # in commands, too
    assert [each for each in named if not (ROOT / each).exists()] == []
    for link, anchor in re.findall(r"\]\(([\w./-]*)(#[\w-]+)?\)", text):
        target = (path.parent / link) if link else path
        assert target.exists(), link
        if anchor:
            assert anchor in _anchors(target.read_text(encoding="utf-8")), f"{link}{anchor}"


def _anchors(text: str) -> set[str]:
    """The anchors that a Markdown page has as GitHub shows it: its headings and its own ones."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    words = [re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings]
    own = re.findall(r'<a id="([\w-]+)"', text)
    return {"#" + name for name in (*(each.replace(" ", "-") for each in words), *own)}


def test_tables_and_club_have_users_where_the_broker_wants_them() -> None:
    page = (ROOT / "docs" / "club.md").read_text(encoding="utf-8")
    assert "mosquitto_passwd" in page
    settings = [
        tomllib.loads(each)["mqtt"]
        for each in re.findall(r"(?: +\S.*\n)+", page)
        if "[mqtt]" in each
    ]
    assert len({each["username"] for each in settings}) == len(settings) == 2
    assert all({"host", "password_file", "club"} <= each.keys() for each in settings)


def test_no_text_names_another_machine() -> None:
    listed = subprocess.run(
        ["git", "grep", "-nIE", r"/(work|home|root)/[a-z]", "--", ".", ":!tests/test_docs.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if listed.returncode > 1:
        pytest.skip("not a git checkout")
    assert listed.stdout == ""


def test_every_catalogue_has_the_keys_and_placeholders_of_the_english_one() -> None:
    files = sorted((ROOT / "companion" / "messages" / "locales").glob("*.json"))
    tables = {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in files}
    english = tables["en"]
    for reason in Reason:
        assert any(key.startswith(f"refused.{reason.value}") for key in english), reason
    for language, table in tables.items():
        assert table.keys() == english.keys(), language
        for key, text in table.items():
            assert _placeholders(text) == _placeholders(english[key]), f"{language}: {key}"


def _placeholders(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


RELIABILITY = (ROOT / "docs" / "reliability.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("test", "name"),
    [
        (test_copies.test_damage_to_one_file_loses_nothing, "one_file"),
        (test_copies.test_damage_to_the_only_copy_makes_no_false_record, "only_copy"),
    ],
    ids=["one file", "only copy"],
)
def test_as_many_files_are_damaged_as_the_document_says(
    test: Callable[..., None], name: str
) -> None:
    (told,) = re.findall(rf'-k {name}` \(([\d,]+)[^;]*; (\d+) with `-m "not slow"`\)', RELIABILITY)
    few, many = vars(test)["pytestmark"][0].args[1]
    assert told == (f"{many.values[0]:,}", f"{few}")


def test_every_word_of_a_promises_command_selects_a_test() -> None:
    for command in re.findall(r"`pytest ([^`]+)`", RELIABILITY):
        paths = [ROOT / each for each in re.findall(r"\btests/[\w/.]*\w", command)]
        files = [each for path in paths for each in ([path] if path.is_file() else path.rglob("*"))]
        text = "\n".join(each.read_text("utf-8") for each in files if each.suffix == ".py")
        names = re.findall(r"^ *(?:def|class) (test\w+)", text, re.MULTILINE | re.IGNORECASE)
        names += [each.stem for each in files]
        for words in re.findall(r' -k ("[^"]+"|\w+)', command):
            for word in words.strip('"').split(" or "):
                assert any(word.casefold() in name.casefold() for name in names), command


def test_every_number_with_a_reason_in_the_limits_is_named_there() -> None:
    """And none that is no longer in the source."""
    limits = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(\w+)\.(_?[A-Z][A-Z_]+)`", limits))
    sources = {path.stem: path.read_text("utf-8") for path in (ROOT / "vision").rglob("*.py")}
    for module, name in named:
        assert re.search(rf"^[^\n=]*\b{name}\b[^\n=]* = ", sources[module], re.MULTILINE), name
    explained = re.compile(r'^([A-Z_, ]+) = [^"]*?\n"""[^"]*docs/limits\.md', re.MULTILINE)
    for module, source in sources.items():
        for names in explained.findall(source):
            assert {(module, name) for name in names.split(", ")} & named, f"{module}: {names}"


def test_every_check_of_the_doctor_is_in_its_table() -> None:
    sources = [*(ROOT / "companion/doctor").glob("*.py"), ROOT / "companion/commands/doctor.py"]
    text = "".join(path.read_text(encoding="utf-8") for path in sources)
    names = set(re.findall(r'\b(?:ok|note|bad|verdict)\(\s*"(\w+)"', text))
    table = (ROOT / "docs" / "doctor.md").read_text(encoding="utf-8")
    assert names <= set(
        re.findall(r"\w+", " ".join(re.findall(r"^\| ([^|]+)", table, re.MULTILINE)))
    )


def test_a_club_is_as_large_as_its_page_says() -> None:
    page = (ROOT / "docs" / "club.md").read_text(encoding="utf-8")
    assert f"Up to {MOST_TABLES} tables" in page
    assert f"up to {MOST_MEMBERS} players" in page
    assert f"{MOST_PHONES} phones" in page


@pytest.mark.parametrize(
    ("copy", "left"), [(None, "new"), (".refused", "new"), ("old", "old")], ids=str
)
def test_the_way_back_by_hand_leaves_a_venv(tmp_path: Path, copy: str | None, left: str) -> None:
    """Where an update left no copy, too, as when it had come to its end."""
    page = (ROOT / "docs" / "service.md").read_text(encoding="utf-8")
    (way,) = re.findall(r"^    (.*mv \.venv\.before-update .*)$", page, re.MULTILINE)
    (tmp_path / ".venv").mkdir()
    (tmp_path / ".venv" / "new").touch()
    if copy is not None:
        (tmp_path / ".venv.before-update").mkdir()
        (tmp_path / ".venv.before-update" / copy).touch()
    subprocess.run(["sh", "-c", way], cwd=tmp_path, check=False)
    assert [each.name for each in (tmp_path / ".venv").iterdir()] == [left]
