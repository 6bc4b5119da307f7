"""A damaged file on a disk without room for a new one."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from companion.errors import StoreError
from companion.mqtt.club.evening import Evening
from companion.mqtt.club.store import FILE_NAME, ClubStore
from tests.eventlog.test_refused_steps import copied


def test_a_damaged_file_without_room_for_a_new_one_is_reported_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, really = ClubStore(tmp_path / "club"), ClubStore._open
    store.keep_evening(Evening("2026-11-20"))
    club = copied(tmp_path / "club", tmp_path / "killed")
    store.close()
    files = {end: (club / f"{FILE_NAME}{end}").read_bytes() for end in ("", "-wal")}
    damaged, has_room = (club / FILE_NAME).stat().st_ino, False

    def opened(store: ClubStore) -> sqlite3.Connection:
        path = club / FILE_NAME
        if path.exists() and path.stat().st_ino == damaged:
            raise sqlite3.DatabaseError("malformed")
        if not has_room:
            raise sqlite3.OperationalError("database or disk is full")
        return really(store)

    monkeypatch.setattr(ClubStore, "_open", opened)
    with pytest.raises(StoreError, match="cannot be opened: database or disk is full"):
        ClubStore(club)
    has_room = True
    store = ClubStore(club)
    assert store.notice == f"{club / FILE_NAME} was damaged; it is kept as club.damaged-1"
    store.close()
    for end, data in files.items():
        assert (club / f"club.damaged-1{end}").read_bytes() == data
