"""What every test may use: the shared folder, and tables whose logs are closed afterwards.

Python 3.13 warns about an open database, and warnings fail a test.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from companion.eventlog.store import SqliteStore
from tests.session.fakes import Stage

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of frames, photos and recorded games beside the project."""
    if not SHARED.is_dir():
        pytest.skip("the shared folder with games and pictures is not beside the project")
    return SHARED


@pytest.fixture(autouse=True)
def _closed_logs(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    opened: list[SqliteStore] = []
    make = SqliteStore.__init__

    def make_and_note(store: SqliteStore, directory: Path, *, is_writer: bool = True) -> None:
        make(store, directory, is_writer=is_writer)
        opened.append(store)

    monkeypatch.setattr(SqliteStore, "__init__", make_and_note)
    yield
    for store in opened:
        store.close()


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """A table where nobody sits yet."""
    return Stage(tmp_path)


@pytest.fixture
def two(stage: Stage) -> Stage:
    """Ada and Ben in a game, Ada to throw; nothing was said since."""
    stage.seat("Ada", "Ben")
    assert stage.session.start() is None
    stage.told.clear()
    return stage
