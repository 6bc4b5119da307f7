"""Every log a test opens is closed after it: Python 3.13 warns of open ones, and warnings fail."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from companion.store import SqliteStore


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
