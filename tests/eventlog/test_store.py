"""The log on a real disk, whole and damaged."""

from __future__ import annotations

import errno
import shutil
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import pytest

from companion.errors import StoreError
from companion.eventlog import checkpoint
from companion.eventlog.examine import examine
from companion.eventlog.journal import JOURNAL_NAME
from companion.eventlog.projection import project
from companion.eventlog.record import Record
from companion.eventlog.rows import insert
from companion.eventlog.store import FILE_NAME, LOCK_NAME, SqliteStore
from tests.rights import run_bound
from tests.waiting import until

RECORDS = tuple(
    Record(n, "seated", {"seat": n, "name": f"Zoë {n}", "token_hash": "x"}, "2026-11-20T20:00Z")
    for n in range(1, 4)
)


def spoil(path: Path) -> None:
    """Some pages in the middle of a file are gone."""
    data = bytearray(path.read_bytes())
    half = len(data) // 2
    data[half : half + 20_000] = b"\x55" * 20_000
    path.write_bytes(data)


def test_stored_records_are_read_back(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "deep" / "down")
    store.append(RECORDS[:2])
    store.append(RECORDS[2:])
    store.close()
    store.close()
    assert tuple(SqliteStore(tmp_path / "deep" / "down").load()) == RECORDS


def test_records_are_kept_all_or_none(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    with pytest.raises(StoreError, match="cannot be written"):
        store.append((*RECORDS, RECORDS[0]))
    assert tuple(store.load()) == ()
    store.append(RECORDS)
    assert tuple(store.load()) == RECORDS


def test_commits_are_synced(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    assert store._db.execute("PRAGMA synchronous").fetchone() == (2,)
    assert store._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_a_lone_copy_of_a_quiet_tables_file_has_every_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "QUIET_S", 0.05)
    store = SqliteStore(tmp_path / "table")
    with closing(sqlite3.connect(tmp_path / "table" / FILE_NAME)) as reader:
        store.append(RECORDS[:2])
        thread = store._checkpointer._thread
        reader.execute("BEGIN")
        assert reader.execute("SELECT count(*) FROM log").fetchone() == (2,)
        store.append(RECORDS[2:])  # the reader of the first two is in the way of this one
        assert not checkpoint.checkpoint(tmp_path / "table" / FILE_NAME)
    assert store._checkpointer._thread is thread, "one for all writes"
    give_up_s = time.monotonic() + 10.0
    while copied_alone(tmp_path / "table", tmp_path / "copy") != RECORDS:
        assert time.monotonic() < give_up_s


def test_a_log_to_be_emptied_while_it_is_copied_is_emptied_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "QUIET_S", 0.01)
    modes: list[str] = []

    def copy(path: Path, mode: str) -> bool:
        modes.append(mode)
        if len(modes) == 1:
            watch.clear()
        return True

    monkeypatch.setattr(checkpoint, "checkpoint", copy)
    watch = checkpoint.Checkpointer(tmp_path / FILE_NAME)
    watch.written()
    until(lambda: len(modes) == 2)
    watch.close()
    assert modes == ["PASSIVE", "TRUNCATE"]


def copied_alone(directory: Path, to: Path) -> tuple[Record, ...]:
    """The records in a copy of the database file without its log."""
    to.mkdir(exist_ok=True)
    shutil.copy(directory / FILE_NAME, to)
    with suppress(StoreError), closing(SqliteStore(to, is_writer=False)) as copy:
        return tuple(copy.load())
    return ()


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StoreError, match="file"):
        SqliteStore(tmp_path / "file")


OPEN = """
import sys
from pathlib import Path
from companion.errors import StoreError
from companion.eventlog.store import SqliteStore
try:
    SqliteStore(Path(sys.argv[1])).close()
    print("opened")
except StoreError as error:
    print(error)
"""


@pytest.mark.parametrize("name", [FILE_NAME, f"{FILE_NAME}-wal", f"{FILE_NAME}-shm", LOCK_NAME])
def test_a_read_only_log_is_refused_at_the_start(tmp_path: Path, name: str) -> None:
    store = SqliteStore(tmp_path)
    store.append(RECORDS)
    store.close()
    (tmp_path / name).touch()
    (tmp_path / name).chmod(0o444)
    shown = LOCK_NAME if name == LOCK_NAME else FILE_NAME
    assert run_bound(OPEN, tmp_path).startswith(f"{tmp_path / shown}: cannot be written: ")
    for path in tmp_path.iterdir():
        path.chmod(0o644)  # SQLite makes what is beside the log as the log was
    assert run_bound(OPEN, tmp_path) == "opened\n"


@pytest.mark.parametrize(
    "junk", [b"this is no database, " * 500, b"SQLite format 3\0" + b"\xff" * 9000]
)
def test_a_damaged_file_is_set_aside_and_play_goes_on(tmp_path: Path, junk: bytes) -> None:
    (tmp_path / FILE_NAME).write_bytes(junk)
    store = SqliteStore(tmp_path)
    assert store.notice is not None
    assert "damaged-1" in store.notice
    assert (tmp_path / "games.damaged-1").read_bytes() == junk
    store.append(RECORDS)
    store.close()
    (tmp_path / FILE_NAME).write_bytes(junk)
    assert "damaged-2" in (SqliteStore(tmp_path).notice or "")


def test_readable_records_of_a_damaged_file_are_kept(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    many = [
        Record(n, "seated", {"seat": 0, "name": "x" * 300, "token_hash": ""}) for n in range(1, 400)
    ]
    store.append(tuple(many))
    store.close()
    (tmp_path / JOURNAL_NAME).unlink()
    spoil(tmp_path / FILE_NAME)
    store = SqliteStore(tmp_path)
    assert store.notice is not None
    saved = tuple(store.load())
    assert 100 < len(saved) < 399
    whole = [record for record in saved if record.kind != "damaged"]
    assert whole == [record for record in many if record in whole]
    assert (saved[0], saved[-1]) == (many[0], many[-1])
    assert store.lost == len(many) - len(whole)


class PluggedOut(BaseException):
    """Nothing after it is run, as when the plug is pulled."""


class TestTakingOver:
    """What is saved of a damaged file is lost by nothing that happens meanwhile."""

    @pytest.fixture
    def damaged(self, tmp_path: Path) -> Path:
        store = SqliteStore(tmp_path)
        store.append(tuple(Record(n, "set", {"x": "y" * 300}) for n in range(1, 400)))
        store.close()
        (tmp_path / JOURNAL_NAME).unlink()
        spoil(tmp_path / FILE_NAME)
        return tmp_path / FILE_NAME

    def test_a_full_disk_leaves_the_damaged_file_as_it_is(
        self, damaged: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = damaged.read_bytes()

        def full(db: sqlite3.Connection, records: object) -> None:
            raise sqlite3.OperationalError("database or disk is full")

        with monkeypatch.context() as no_room:
            no_room.setattr("companion.eventlog.salvage.insert", full)
            with pytest.raises(StoreError, match="disk is full"):
                SqliteStore(damaged.parent)
        assert damaged.read_bytes() == before
        assert sorted(path.name for path in damaged.parent.iterdir()) == ["games.lock", FILE_NAME]
        assert len(list(SqliteStore(damaged.parent).load())) > 100

    def test_an_unfinished_save_replaces_nothing(
        self, damaged: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = damaged.read_bytes()
        with monkeypatch.context() as lossy:
            lossy.setattr(
                "companion.eventlog.salvage.insert", lambda db, found: insert(db, found[:50])
            )
            with pytest.raises(StoreError, match="50 of"):
                SqliteStore(damaged.parent)
        assert damaged.read_bytes() == before
        assert len(list(SqliteStore(damaged.parent).load())) > 100

    @pytest.mark.parametrize("step", range(1, 11))
    @pytest.mark.parametrize("has_links", [True, False])
    def test_a_plug_pulled_at_any_moment(
        self,
        damaged: Path,
        monkeypatch: pytest.MonkeyPatch,
        tmp_path_factory: pytest.TempPathFactory,
        step: int,
        has_links: bool,
    ) -> None:
        def no_links(*_: object) -> None:
            raise OSError(errno.EPERM, "Operation not permitted")  # as on a FAT stick

        if not has_links:
            monkeypatch.setattr(Path, "hardlink_to", no_links)
        before = damaged.read_bytes()
        copy = tmp_path_factory.mktemp("copy")
        shutil.copy(damaged, copy / FILE_NAME)
        whole = SqliteStore(copy)
        expected = list(whole.load())
        whole.close()
        left = [step]

        def watched(do: Callable[..., object]) -> Callable[..., object]:
            def run(*asked: object, **named: object) -> object:
                left[0] -= 1
                if left[0] == 0:
                    raise PluggedOut
                return do(*asked, **named)

            return run

        with monkeypatch.context() as until:
            for name in ("rename", "replace", "hardlink_to", "unlink"):
                until.setattr(Path, name, watched(getattr(Path, name)))
            until.setattr("companion.eventlog.salvage.insert", watched(insert))
            with pytest.raises(PluggedOut):
                SqliteStore(damaged.parent).close()
        store = SqliteStore(damaged.parent)
        assert list(store.load()) == expected
        assert (damaged.parent / "games.damaged-1").read_bytes() == before
        assert "damaged-2" not in (store.notice or "")
        store.close()


@pytest.mark.parametrize("bad", [2, 7, 11])
def test_a_row_that_cannot_be_fetched_costs_that_row(tmp_path: Path, bad: int) -> None:
    store = SqliteStore(tmp_path)
    many = [Record(n, "set", {"hints": True}, f"at {n:03}") for n in range(1, 12)]
    store.append(tuple(many))
    store.close()
    (tmp_path / JOURNAL_NAME).unlink()
    path = tmp_path / FILE_NAME
    data = bytearray(path.read_bytes())
    at = data.index(f"at {bad:03}".encode())
    assert data[at - 4 : at - 3] == bytes([13 + 2 * len("at 000")]), "the type of `at`: a text"
    data[at - 4] = 11  # which no column can have
    path.write_bytes(data)
    saved = {record.revision: record for record in SqliteStore(tmp_path).load()}
    assert [saved[n] for n in range(1, 12) if n != bad] == [r for r in many if r.revision != bad]
    assert bad == 11 or saved[bad].kind == "damaged", "a game must not go on over the gap"


def test_a_row_that_is_no_json_costs_that_row(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    store.append(RECORDS)
    store.close()
    with sqlite3.connect(tmp_path / FILE_NAME) as db:
        db.execute("UPDATE log SET data = '{\"seat' WHERE revision = 2")
    db.close()
    (tmp_path / JOURNAL_NAME).unlink()
    projection = project(SqliteStore(tmp_path).load())
    assert [seat.number for seat in projection.table.seats] == [1, 3]
    assert (projection.skipped, projection.table.revision) == ((2,), 3)
    assert projection.fault


@pytest.mark.parametrize("has_journal", [True, False])
def test_a_changed_byte_is_made_good_or_costs_its_record(tmp_path: Path, has_journal: bool) -> None:
    store = SqliteStore(tmp_path)
    store.append(
        (Record(1, "seated", {"seat": 0, "name": "Ada"}), Record(2, "set", {"hints": True}))
    )
    store.close()
    path = tmp_path / FILE_NAME
    path.write_bytes(path.read_bytes().replace(b'"Ada"', b'"Eda"'))
    if not has_journal:
        (tmp_path / JOURNAL_NAME).unlink()
    assert examine(tmp_path).trouble == "1 of 2 records"
    store = SqliteStore(tmp_path)
    names = [record.data.get("name") for record in store.load()]
    assert names == ["Ada" if has_journal else None, None]
    assert (store.lost, store.notice is not None) == (0 if has_journal else 1, True)
    assert examine(tmp_path).trouble is None
    store.close()


def test_a_file_of_a_newer_version_is_left_alone(tmp_path: Path) -> None:
    SqliteStore(tmp_path).close()
    with sqlite3.connect(tmp_path / FILE_NAME) as db:
        db.execute("ALTER TABLE log ADD COLUMN more TEXT")
        db.execute("PRAGMA user_version=99")
    db.close()
    before = (tmp_path / FILE_NAME).read_bytes()
    with pytest.raises(StoreError, match="newer version"):
        SqliteStore(tmp_path)
    assert (tmp_path / FILE_NAME).read_bytes() == before


def test_records_that_are_json_but_no_objects_are_damaged_too(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    store.append((*RECORDS, Record(4, "answered", {"player": 0})))
    store.close()
    with sqlite3.connect(tmp_path / FILE_NAME) as db:
        db.execute("UPDATE log SET data = '5' WHERE revision >= 3")
    db.close()
    (tmp_path / JOURNAL_NAME).unlink()
    assert examine(tmp_path).trouble == "2 of 4 records"
    rows = [(r.kind, bool(r.data)) for r in SqliteStore(tmp_path).load()]
    assert rows == [("seated", True), ("seated", True), ("seated", False), ("answered", False)]


def test_a_reader_makes_and_mends_nothing(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no such file"):
        SqliteStore(tmp_path / "typo", is_writer=False)
    assert not (tmp_path / "typo").exists()
    (tmp_path / FILE_NAME).write_bytes(b"damaged" * 1000)
    with pytest.raises(StoreError, match="cannot be read"):
        SqliteStore(tmp_path, is_writer=False)
    assert (tmp_path / FILE_NAME).read_bytes() == b"damaged" * 1000


READ = """
import sys
from pathlib import Path
from companion.eventlog.examine import copy_log, examine
from companion.eventlog.store import SqliteStore
directory = Path(sys.argv[1])
print(len(list(SqliteStore(directory, is_writer=False).load())), examine(directory).records)
copy_log(directory, Path(sys.argv[2]))
"""


def test_games_of_a_read_only_disk_can_be_read_and_saved(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "card")
    store.append(RECORDS)
    store.close()
    (tmp_path / "card").chmod(0o555)
    assert run_bound(READ, tmp_path / "card", tmp_path / "stick") == "3 3\n"
    (tmp_path / "card").chmod(0o755)
    (tmp_path / "saved").mkdir()
    shutil.copy(tmp_path / "stick", tmp_path / "saved" / FILE_NAME)
    assert tuple(SqliteStore(tmp_path / "saved").load()) == RECORDS


def test_one_process_writes_and_others_may_read(tmp_path: Path) -> None:
    writer = SqliteStore(tmp_path)
    writer.append(RECORDS)
    with pytest.raises(StoreError, match="another table is using this data directory"):
        SqliteStore(tmp_path)
    reader = SqliteStore(tmp_path, is_writer=False)
    assert tuple(reader.load()) == RECORDS
    reader.close()
    writer.close()
    SqliteStore(tmp_path).close()
