"""A change of an evening whose sync failed was refused: it does not come back."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path

import pytest

from companion.errors import StoreError
from companion.mqtt.club.evening import Evening
from companion.mqtt.club.store import FILE_NAME, ClubStore
from tests.eventlog.test_refused_steps import copied, written_unsynced


class FailingSync:
    """A connection that writes and then cannot sync."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None: ...

    def __exit__(self, *error: object) -> None: ...

    def execute(self, _begin: str) -> None: ...

    def executemany(self, query: str, rows: Iterable[tuple[str, ...]]) -> None:
        def write(db: sqlite3.Connection) -> None:
            with db:
                db.execute("BEGIN")
                db.executemany(query, rows)

        written_unsynced(self._path, write)


def test_a_change_whose_sync_failed_does_not_come_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = Evening("2026-11-20"), Evening("2026-11-21")
    store = ClubStore(tmp_path / "club")
    store.keep_evening(first)
    with monkeypatch.context() as patched:
        patched.setattr(store, "_db", FailingSync(tmp_path / "club" / FILE_NAME))
        with pytest.raises(StoreError, match="disk I/O error"):
            store.keep_evening(second)
    after = ClubStore(copied(tmp_path / "club", tmp_path / "after"))
    assert after.evenings() == [first]
    after.close()
    store.keep_evening(second)
    store.close()
