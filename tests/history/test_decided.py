"""What decided games is kept over restarts, and damage costs its own game only."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.history.decided import FILE_NAME, Decided, Verdicts

ONE, TWO, THREE = "0" * 16, "a" * 16, "f" * 16


def test_the_newest_verdict_of_each_game_is_kept(tmp_path: Path) -> None:
    first, second = Verdicts(tmp_path), Verdicts(tmp_path)
    first.add(ONE, Decided.LUCK)
    second.add(TWO, Decided.CHOICES)
    second.add(ONE, Decided.CLOSE)
    first.add(ONE, Decided.LUCK)  # known already
    assert Verdicts(tmp_path).known == {ONE: Decided.CLOSE, TWO: Decided.CHOICES}


def test_a_damaged_line_costs_its_own_game_only(tmp_path: Path) -> None:
    lines = [f"{ONE} luck", f"{TWO} lu", "", f"{THREE} choices"]
    (tmp_path / FILE_NAME).write_text("\n".join(lines))
    assert Verdicts(tmp_path).known == {ONE: Decided.LUCK, THREE: Decided.CHOICES}


def test_a_line_that_was_cut_off_costs_its_own_game_only(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).write_text(f"{ONE} lu")
    Verdicts(tmp_path).add(TWO, Decided.LUCK)
    Verdicts(tmp_path).add(THREE, Decided.CHOICES)
    assert Verdicts(tmp_path).known == {TWO: Decided.LUCK, THREE: Decided.CHOICES}


def test_a_file_that_is_none_is_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"\xff\xfe")
    assert Verdicts(tmp_path).known == {}
    assert "decided.txt cannot be read" in caplog.text


def test_a_verdict_that_cannot_be_kept_is_still_known(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    verdicts = Verdicts(tmp_path / "gone")
    verdicts.add(ONE, Decided.LUCK)
    assert verdicts.known == {ONE: Decided.LUCK}
    assert "cannot be written" in caplog.text
