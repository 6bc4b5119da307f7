"""Tables whose data are backed up or kept over an update."""

from __future__ import annotations

from pathlib import Path

import pytest

from companion.service.update import Places
from tests.service.sources import Sources
from tests.session.fakes import Stage


@pytest.fixture
def table(tmp_path: Path) -> Stage:
    """A table in the middle of a game, with a measured tray and a picture."""
    stage = Stage(tmp_path / "data")
    stage.seat("Ada", "Ben")
    assert stage.session.start() is None
    stage.roll(3, 4)
    stage.answer(0, "R7")
    (stage.directory / "tray.toml").write_text("measured = 1\n")
    (stage.directory / "pictures").mkdir()
    (stage.directory / "pictures" / "7.jpg").write_bytes(b"picture")
    (tmp_path / "config.toml").write_text("[table]\nlanguage = 'de'\n")
    return stage


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """The games of a table with two players."""
    stage = Stage(tmp_path / "data")
    stage.seat("Ada", "Ben")
    stage.store.close()
    return Places(tmp_path / "data", tmp_path / "config.toml")


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    """A project that others cloned, and a clone of it."""
    return Sources(tmp_path)
