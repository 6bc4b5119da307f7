"""Throws of the same dice at one table, as the bench of tables counts them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from vision.benchmark import validation
from vision.benchmark.tables import measure_tables

THROWS = 5


def _counts(folder: Path, monkeypatch: pytest.MonkeyPatch, *asked: str) -> dict[str, int]:
    wanted = [str(folder), "--split", "check", "--frames", str(3 * THROWS)]
    monkeypatch.setattr(sys, "argv", ["validation", *wanted, "--throws", str(THROWS), *asked])
    validation.main()
    return measure_tables(folder)


@pytest.mark.slow
def test_each_throw_after_three_is_read_in_three_ways(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = _counts(tmp_path, monkeypatch)
    assert counts["throws"] == 3 * (THROWS - 3)
    for way in ("plain", "learnt", "set_up"):
        assert sum(n for name, n in counts.items() if name.startswith(way)) == counts["throws"]


@pytest.mark.slow
def test_a_custom_die_is_read_after_the_set_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts = _counts(tmp_path, monkeypatch, "--custom")
    assert counts["set_up_exact"] > counts.get("plain_exact", 0)
