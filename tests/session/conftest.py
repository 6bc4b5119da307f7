"""The tables the tests begin with; every log is closed after its test.

Python 3.13 warns of open ones, and warnings fail.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from companion.eventlog.store import SqliteStore
from tests.session.fakes import Stage


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
