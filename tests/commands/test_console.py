"""Output for people: aligned columns, words for codes, local time, help with examples."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
import time
from collections.abc import Iterator

import click
import pytest
from click.testing import CliRunner

from companion.cli import dice_companion
from companion.commands.console import (
    ENDS,
    PROBLEMS,
    aligned,
    local_time,
    print_table,
    problem_in_words,
)
from companion.engine import End
from companion.tray import ProblemCode
from tests.conftest import ROOT


def test_columns_are_aligned_by_the_width_of_their_letters() -> None:
    rows = [("name", "points"), ("Zoé", "7"), ("\N{HIRAGANA LETTER A}\N{HIRAGANA LETTER I}", "78")]
    assert aligned(rows, right={1}) == [
        "name  points",
        "Zoé        7",
        "\N{HIRAGANA LETTER A}\N{HIRAGANA LETTER I}      78",
    ]


def test_piped_tables_have_no_colours_and_no_lines(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("game", "end"), [(1, "[bold]two rows closed[/]")], right={0})
    assert capsys.readouterr().out == "game  end\n   1  [bold]two rows closed[/]\n"


def test_a_terminal_gets_a_table_with_a_bold_heading() -> None:
    code = "from companion.commands.console import print_table as p; p(('a', 'b'), [(1, '[x]')])"
    mine, theirs = pty.openpty()
    environ = {**os.environ, "TERM": "xterm", "COLUMNS": "60"}
    environ.pop("NO_COLOR", None)
    subprocess.run([sys.executable, "-c", code], stdout=theirs, cwd=ROOT, env=environ, check=True)
    os.close(theirs)
    shown = os.read(mine, 4096).decode()
    os.close(mine)
    assert "\x1b[1ma" in shown
    assert "[x]" in shown


def test_every_end_and_every_problem_has_words() -> None:
    assert set(ENDS) == {None, *(end.value for end in End)}
    assert set(PROBLEMS) == set(ProblemCode)
    for words in (*ENDS.values(), *PROBLEMS.values()):
        assert "_" not in words
    assert problem_in_words("missing", "green") == "green missing"
    assert problem_in_words("foreign_object", None) == "something that is not a die"


def test_times_are_shown_in_the_zone_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    try:
        assert local_time("2026-07-01T18:30:12+00:00") == "2026-07-01 20:30"
        assert local_time("some evening") == "some evening"
    finally:
        monkeypatch.undo()
        time.tzset()


def commands(group: click.Group, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        yield (*path, name)
        if isinstance(command, click.Group):
            yield from commands(command, (*path, name))


@pytest.mark.parametrize("path", list(commands(dice_companion)), ids=" ".join)
def test_help_shows_an_example_of_the_command(path: tuple[str, ...]) -> None:
    shown = CliRunner().invoke(dice_companion, [*path, "--help"]).output
    assert re.search(rf"Example: (sudo )?dice-companion {' '.join(path)}\b", shown), shown
