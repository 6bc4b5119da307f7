"""Evenings: games by when they were played, whatever the clock said."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.history.archive import saved_games
from companion.history.standings import evenings
from tests.session.fakes import Stage


@pytest.mark.parametrize("at", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-12:00", "", "x"])
def test_a_clock_of_no_possible_time_ends_no_evening(tmp_path: Path, at: str) -> None:
    stage = Stage(tmp_path)
    stage.now = at
    stage.seat("Ada", "Ben")
    assert stage.session.start() is None
    stage.roll(3, 4)
    (evening,) = evenings(saved_games(stage.store.load()))
    assert len(evening.games) == 1
    stage.store.close()
