"""The benchmark of a table's history."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from companion.commands.bench_history import _start, measure


@pytest.mark.slow
def test_a_start_and_every_kind_of_step_are_timed() -> None:
    row = measure(40, steps=5)
    assert row["games"] == 40
    assert 3000 < row["records"] < 12_000
    assert 0 < row["start_s"] < 60
    for kind in ("roll", "answer", "close", "preview", "undo", "any"):
        assert 0 < row[kind]["median"] <= row[kind]["p99"]


def test_the_measured_table_takes_neither_the_users_settings_nor_broker(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "dice-companion" / "config.toml"
    settings.parent.mkdir()
    settings.write_text("no table would start with this")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("DICE_COMPANION_MQTT_HOST", "no/table/would/start/with/this")
    start_s, _ = _start(tmp_path)
    assert start_s > 0


def test_an_interrupted_measurement_leaves_no_table_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program, number = tmp_path / "python", tmp_path / "number"
    program.write_text(
        f"#!/bin/sh\necho $$ > {number}\nsleep 0.3\nkill -INT $PPID\nexec sleep 20\n"
    )
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))
    with pytest.raises(KeyboardInterrupt):
        _start(tmp_path)
    assert not Path("/proc", number.read_text().strip()).exists()
