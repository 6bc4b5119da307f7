"""`dice-companion replay`: the answers to odd lines, as outsiders rely on them."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from companion.cli import dice_companion
from companion.engine import Reason
from companion.errors import NotationError
from companion.history.replay import replay
from companion.messages.catalogue import load_phrases
from tests.conftest import ROOT
from tests.session.fakes import Stage

CONFIG = {"t": "config", "variant": "base", "players": 2, "first": 0}
DICE = {"red": 4, "yellow": 2, "green": 2, "blue": 5}
ROLL = {"t": "roll", "white": [3, 4], "colour": DICE}


def judge(*lines: Any) -> list[dict[str, Any]]:
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    return list(replay(texts, load_phrases("en")))


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("not json", "BAD_LINE"),
        ("[" * 100_000, "BAD_LINE"),
        ("[1]", "BAD_LINE"),
        ('{"t": "end", "x": NaN}', "BAD_LINE"),
        ('{"t": "roll", "white": [Infinity, 4], "colour": {}}', "BAD_LINE"),
        ("\f", "BAD_LINE"),
        ("\u2028", "BAD_LINE"),
        ({"white": [1, 2]}, "BAD_LINE"),
        ({"t": "dance"}, "BAD_LINE"),
        ({"t": 5}, "BAD_LINE"),
        ({"t": "roll", "white": [3, 4]}, "BAD_LINE"),
        ({"t": "action1"}, "BAD_LINE"),
        ({"t": "action1", "player": 0}, "BAD_LINE"),
        ({"t": "action2"}, "BAD_LINE"),
        ({"t": "roll", "white": [3, 4], "colour": {**DICE, "purple": 1}}, "BAD_DICE"),
        ({"t": "roll", "white": [3, 4.0], "colour": DICE}, "BAD_DICE"),
        ({"t": "roll", "white": [3, True], "colour": DICE}, "BAD_DICE"),
        ({"t": "roll", "white": [3, 4, 5], "colour": DICE}, "BAD_DICE"),
        ({"t": "roll", "white": 7, "colour": DICE}, "BAD_DICE"),
        ({"t": "roll", "white": [3, 4], "colour": [1, 2]}, "BAD_DICE"),
        ({"t": "roll", "white": [0, 4], "colour": DICE}, "BAD_DICE"),
        ({"t": "action1", "choices": [None, None]}, "WRONG_PHASE"),
        ({"t": "action1", "choices": [None]}, "WRONG_PHASE"),
        ({"t": "action2", "choice": None, "player": 9}, "WRONG_PHASE"),
        ({"t": "action1", "player": 0, "choice": None}, "WRONG_PHASE"),
    ],
)
def test_a_refused_line_is_answered_and_changes_nothing(line: Any, code: str) -> None:
    first, answer, after = judge(CONFIG, line, ROLL)
    assert first == {"t": "config"}
    assert answer["refused"] == code
    assert answer["message"]
    assert after["sums"]["white"] == 7


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"variant": "mixed"}, "BAD_CONFIG"),
        ({"variant": ["base"]}, "BAD_CONFIG"),
        ({"players": 0}, "BAD_CONFIG"),
        ({"players": 6}, "BAD_CONFIG"),
        ({"players": "2"}, "BAD_CONFIG"),
        ({"players": True}, "BAD_CONFIG"),
        ({"first": 2}, "BAD_CONFIG"),
        ({"first": -1}, "BAD_CONFIG"),
        ({"first": None}, "BAD_CONFIG"),
        ({"house": ["tea"]}, "BAD_CONFIG"),
    ],
)
def test_a_bad_config_leaves_no_game(change: dict[str, Any], code: str) -> None:
    _, answer, after, config, roll = judge(CONFIG, CONFIG | change, ROLL, CONFIG, ROLL)
    assert answer["refused"] == code
    assert after["refused"] == "WRONG_PHASE"
    assert config == {"t": "config"}
    assert "sums" in roll


@pytest.mark.parametrize(
    ("choices", "code"),
    [
        ([None], "UNKNOWN_PLAYER"),
        ([None, None, None], "UNKNOWN_PLAYER"),
        ("R7", "UNKNOWN_PLAYER"),
        (["R7", "R8"], "WRONG_SUM"),
        (["R7", "RLOCK"], "LOCK_ALONE"),
        (["R7", ["Y7", "G7"]], "TWO_MARKS"),
        (["R7", "MISS"], "MISS_NOT_ACTIVE"),
        (["MISS", None], "MISS_NOT_DUE"),
        (["R7", {}], "BAD_TOKEN"),
        (["R7", "RY7"], "NO_BONUS_ROW"),
        (["R9", ["R5", "Y5"]], "TWO_MARKS"),
    ],
)
def test_choices_are_refused_whole(choices: Any, code: str) -> None:
    *_, answer, after = judge(
        CONFIG,
        ROLL,
        {"t": "action1", "choices": choices},
        {"t": "action1", "choices": ["R7", None]},
    )
    assert answer["refused"] == code
    assert after["sheets"][0]["R"] == [7]
    assert after["scores"] == [1, 0]


def test_action_1_player_by_player_settles_with_the_last_answer() -> None:
    answers = judge(
        CONFIG,
        ROLL,
        {"t": "action1", "player": 0, "choice": "R7"},
        {"t": "action1", "player": 0, "choice": "Y7"},
        {"t": "action1", "player": 1, "choice": "B3"},
        {"t": "action1", "player": 1, "choice": None},
    )
    assert answers[2] == {"t": "action1", "player": 0, "waiting_for": [1]}
    assert answers[4]["refused"] == "WRONG_SUM"
    assert answers[5]["phase"] == "action2"
    assert answers[5]["waiting_for"] == []
    assert answers[5]["sheets"][0] == {"R": [], "Y": [7], "G": [], "B": []}


def test_action_2_may_name_its_player_and_own_up_to_a_miss() -> None:
    passed = {"t": "action1", "choices": [None, None]}
    answers = judge(
        CONFIG,
        ROLL,
        passed,
        {"t": "action2", "player": 1, "choice": None},
        {"t": "action2", "player": "Ada", "choice": None},
        {"t": "action2", "player": 0, "choice": "MISS"},
    )
    assert [a.get("refused") for a in answers[3:5]] == ["NOT_ACTIVE", "UNKNOWN_PLAYER"]
    assert answers[5]["miss"] is True
    assert answers[5]["misses"] == [1, 0]


def test_the_line_that_ends_a_game_is_followed_by_its_end() -> None:
    one = {**CONFIG, "players": 1}
    turn = [ROLL, {"t": "action1", "choices": [None]}, {"t": "action2", "choice": None}]
    *_, last, end, late = judge(one, *turn * 4, {"t": "end"}, ROLL)
    assert last["over"] is True
    assert end == {
        "t": "end",
        "end": "misses",
        "scores": [
            {"rows": {"red": 0, "yellow": 0, "green": 0, "blue": 0}, "minus": 20, "total": -20}
        ],
        "winners": [0],
    }
    assert late["refused"] == "GAME_OVER"


def test_before_any_config_every_line_is_out_of_phase() -> None:
    assert [a["refused"] for a in judge(ROLL, "", "  ")] == ["WRONG_PHASE"]


def test_every_refusal_reason_has_a_sentence() -> None:
    said = load_phrases("en")
    for reason in Reason:
        keys = [key for key in said._table if key.startswith(f"refused.{reason.value}")]
        assert keys, reason


def run(*args: str, given: bytes | None = None) -> Any:
    return CliRunner().invoke(dice_companion, ["replay", *args], input=given)


def test_the_command_reads_plain_gzip_and_stdin(tmp_path: Path) -> None:
    text = "\n".join(json.dumps(line) for line in (CONFIG, ROLL)).encode()
    (tmp_path / "plain.jsonl").write_bytes(text)
    (tmp_path / "packed.gz").write_bytes(gzip.compress(text))
    plain = run(str(tmp_path / "plain.jsonl"), "--json")
    assert plain.exit_code == 0
    assert json.loads(plain.stdout.splitlines()[1])["sums"]["white"] == 7
    assert run(str(tmp_path / "packed.gz"), "--json").stdout == plain.stdout
    assert run("-", "--json", given=text).stdout == plain.stdout
    assert "white 7" in run(str(tmp_path / "plain.jsonl")).stdout


def test_a_byte_order_mark_and_odd_letters_are_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + json.dumps(CONFIG).encode() + b'\n{"t":"\\ud800"}\n')
    first, second = run(str(path), "--json").stdout.splitlines()
    assert json.loads(first) == {"t": "config"}
    assert json.loads(second)["refused"] == "BAD_LINE"


def test_an_incomplete_config_record_changes_nothing() -> None:
    _, _, answer, after = judge(
        CONFIG, ROLL, {"t": "config"}, {"t": "action1", "choices": ["R7", None]}
    )
    assert answer["refused"] == "BAD_LINE"
    assert after["phase"] == "action2"


def test_refusals_keep_the_exit_status_0(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_bytes(b"\xff\xfe nonsense\n")
    result = run(str(tmp_path / "x.jsonl"), "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["refused"] == "BAD_LINE"


@pytest.mark.parametrize("damage", ["missing", "folder", "cut"])
def test_a_file_that_cannot_be_read_is_one_line_and_status_1(
    tmp_path: Path, damage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from companion.cli import main

    path = tmp_path / "game.gz"
    if damage == "folder":
        path.mkdir()
    elif damage == "cut":
        path.write_bytes(gzip.compress(b'{"t":"end"}\n' * 5000)[:40])
    with pytest.raises(SystemExit) as exit_info:
        main(["replay", str(path)])
    assert exit_info.value.code == 1
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "game.gz" in err


def test_a_line_that_never_ends_is_refused_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "bomb.jsonl.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for _ in range(64):
            file.write(bytes(1_000_000))
    tracemalloc.start()
    result = CliRunner().invoke(dice_companion, ["replay", str(path), "--json"])
    _, most_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert isinstance(result.exception, NotationError)
    assert str(result.exception) == f"{path}:1: expected a line of at most 1 MB, got a longer one"
    assert most_bytes < 20_000_000


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_a_terminal_without_letters_for_a_name_gets_no_traceback(
    tmp_path: Path, encoding: str
) -> None:
    stage = Stage(tmp_path)
    stage.seat("Zoë Łukasz", "Ada")
    assert stage.session.start() is None
    stage.roll(3, 4)
    stage.store.close()
    listed = subprocess.run(
        [sys.executable, "-m", "companion", "games", "list", "--data-dir", str(tmp_path)],
        cwd=ROOT,
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
    )
    assert (listed.returncode, listed.stderr) == (0, b"")
    assert b"ukasz" in listed.stdout


def test_a_line_that_is_not_utf_8_is_no_json(tmp_path: Path) -> None:
    """Not even where the bad byte stands within a string; the others are judged."""
    path = tmp_path / "game.jsonl"
    roll = json.dumps(ROLL | {"x": "?"}).encode()
    lines = [json.dumps(CONFIG).encode(), roll.replace(b"?", b"\xff"), roll]
    path.write_bytes(b"\n".join(lines))
    result = CliRunner().invoke(dice_companion, ["replay", str(path), "--json"])
    answers = [json.loads(line) for line in result.stdout.splitlines()]
    assert [answer.get("refused") for answer in answers] == [None, "BAD_LINE", None]
