"""The benchmark of a table's history."""

from __future__ import annotations

import pytest

from companion.commands.bench_history import measure


@pytest.mark.slow
def test_a_start_and_every_kind_of_step_are_timed() -> None:
    row = measure(40, steps=5)
    assert row["games"] == 40
    assert 3000 < row["records"] < 12_000
    assert 0 < row["start_s"] < 60
    for kind in ("roll", "answer", "close", "preview", "undo", "any"):
        assert 0 < row[kind]["median"] <= row[kind]["p99"]
