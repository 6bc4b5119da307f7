"""Files and directories named on the command line that are none."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from click.testing import CliRunner

from companion.cli import dice_companion
from companion.errors import CompanionError
from tests.rights import run_bound


@pytest.mark.parametrize(
    "line",
    [
        "play --data-dir",
        "play --config",
        "doctor --data-dir",
        "doctor --config",
        "calibrate --data-dir",
        "calibrate --config",
        "calibrate --out",
        "games list --data-dir",
        "games export --data-dir",
        "games import no-record --data-dir",
        "read no-picture --annotate",
        "read no-picture --calibration",
        "bench read --annotate",
    ],
)
def test_an_empty_name_is_wrong_usage_and_not_the_working_directory(line: str) -> None:
    result = CliRunner().invoke(dice_companion, [*line.split(), ""])
    assert result.exit_code == 2
    option = line.split()[-1]
    assert f"Invalid value for '{option}': expected a " in result.stderr
    assert result.stderr.rstrip().endswith(", got ''")


@pytest.mark.parametrize(
    "line", ["hotspot on --name", "club --club", "club --broker", "play --host", "doctor --host"]
)
def test_a_text_in_another_encoding_is_wrong_usage(line: str) -> None:
    result = CliRunner().invoke(dice_companion, [*line.split(), os.fsdecode(b"f\xfcr")])
    assert result.exit_code == 2
    assert result.stderr.rstrip().endswith(": expected a text in UTF-8, got 'f\\udcfcr'")


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["replay", ""], "'': cannot be read: No such file or directory"),
        (["games", "import", ""], "'': cannot be read: No such file or directory"),
        (["bench", "read", ""], "'': expected a folder of pictures with a truth.jsonl"),
        (["bench", "read", "nix"], "nix: expected a folder of pictures with a truth.jsonl"),
        (["bench", "read", "."], ".: expected a truth.jsonl beside the pictures: No such file or"),
    ],
    ids=["a record", "a record to take in", "no folder's name", "no folder", "no truth in it"],
)
def test_a_missing_file_is_named_in_plain_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, args: list[str], said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(dice_companion, args)
    assert isinstance(result.exception, CompanionError)
    assert str(result.exception).startswith(said)


def test_an_empty_picture_name_is_reported_as_missing() -> None:
    result = CliRunner().invoke(dice_companion, ["read", "", "nix.png"])
    assert result.exit_code == 1
    first, second = result.stderr.splitlines()
    assert first == "dice-companion: '': expected a picture, got an empty name"
    assert second.startswith("dice-companion: nix.png: ")


UNREADABLE = """
import contextlib, sys
from pathlib import Path
from companion.cli import main
folder = Path(sys.argv[1])
for name in ("file", "games"):
    (folder / name).mkdir() if name == "games" else (folder / name).touch()
    (folder / name).chmod(0)
for line in (
    "play --camera none --pins none --config {}/file",
    "read no.png --calibration {}/file",
    "read no.png --annotate {}/games",
    "games list --data-dir {}/games",
    "pin --data-dir {}/games",
    "backup {}/out.tgz --data-dir {}/games",
):
    try:
        with contextlib.redirect_stderr(sys.stdout):
            main(line.replace("{}", str(folder)).split())
    except SystemExit as error:
        print(error.code)
"""


def test_what_may_not_be_read_is_a_line_and_no_wrong_usage(tmp_path: Path) -> None:
    said = run_bound(UNREADABLE, tmp_path).splitlines()
    assert said[1::2] == ["1"] * 6, said
    file, games = str(tmp_path / "file"), str(tmp_path / "games")
    for line, name in zip(said[::2], (file, file, "no.png", games, games, games), strict=True):
        assert line.startswith(f"dice-companion: {name}"), line


CLOSED = """
import contextlib, sys
from pathlib import Path
from companion.cli import main
folder = Path(sys.argv[1])
(folder / "games.sqlite3").touch()
folder.chmod(0o111)
with contextlib.redirect_stderr(sys.stdout), contextlib.suppress(SystemExit):
    main(["games", "list", "--data-dir", str(folder)])
"""


def test_games_that_may_not_be_listed_are_not_said_to_be_none(tmp_path: Path) -> None:
    (games := tmp_path / "games").mkdir()
    assert run_bound(CLOSED, games) == f"dice-companion: {games}: Permission denied\n"
