"""A damaged record costs its own game what came after it, and no other game or person anything."""

from __future__ import annotations

import errno
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from companion.engine import Phase
from companion.errors import StoreError
from companion.eventlog import opening
from companion.eventlog.examine import examine
from companion.eventlog.journal import JOURNAL_NAME
from companion.eventlog.record import Record
from companion.eventlog.store import FILE_NAME, SqliteStore
from companion.session.session import Joined
from tests.session.fakes import Stage


class TestDamage:
    """A damaged record costs its own game what came after it, and no other game anything."""

    def damage(self, stage: Stage, kind: str, nth: int = 0, *, is_all: bool = False) -> None:
        """Spoil the data of the nth record of a kind, or its kind as well; the journal is lost."""
        revision = [record.revision for record in stage.store.load() if record.kind == kind][nth]
        stage.store.close()
        (stage.directory / JOURNAL_NAME).unlink()
        lost = ", kind = 'x'" if is_all else ""
        with closing(sqlite3.connect(stage.directory / FILE_NAME)) as db, db:
            change = f"UPDATE log SET data = substr(data, 2){lost} WHERE revision = ?"
            db.execute(change, (revision,))

    def play_on(self, stage: Stage) -> None:
        """A turn in which everybody passes."""
        assert stage.roll(4, 3) is None
        assert stage.session.close_action() is None
        assert stage.session.close_action() is None

    def play_and_end(self, stage: Stage) -> None:
        assert stage.session.start() is None
        stage.roll(4, 3)
        stage.answer(0, "R7")
        stage.session.end()

    def test_in_a_game_put_aside_it_costs_later_games_nothing(self, two: Stage) -> None:
        two.roll(4, 3)
        two.session.pause()
        self.play_and_end(two)
        self.play_and_end(two)
        two.session.start()
        two.roll(5, 3)
        two.answer(0, "R8")
        now = two.session.view().table
        self.damage(two, "rolled")
        for _ in range(2):
            two = two.again()
            table = two.session.view().table
            assert table.game == now.game
            assert [game.number for game in two.session.past.games()] == [1, 2, 3, 4]
            (aside,) = table.paused
            assert (aside.number, aside.state.phase) == (1, Phase.ROLL)
        assert two.answer(1, "Y8") == ""
        two.session.end()
        assert two.session.resume(1) is None
        assert two.roll(6, 1) is None
        assert two.answer(0, "R7") == ""
        assert two.again().state == two.state

    def test_a_damaged_joining_costs_no_game(self, two: Stage) -> None:
        two.session.end()
        two.session.order([1, 0])
        self.play_and_end(two)
        two.session.start()
        two.roll(5, 3)
        now = two.session.view().table
        self.damage(two, "seated")
        again = two.again()
        assert again.game == now.game
        assert [game.number for game in again.session.past.games()] == [1, 2, 3]
        assert {seat.name for seat in again.session.view().table.seats} == {"Ada", "Ben"}
        assert again.answer(0, "R8") == ""
        assert again.again().state == again.state

    def test_of_a_game_that_began_it_costs_that_game_alone(self, two: Stage) -> None:
        two.session.end()
        two.session.start()
        two.roll(5, 3)
        two.answer(0, "R8")
        self.damage(two, "started", -1)
        again = two.again()
        assert (again.game.number, again.state.phase) == (1, Phase.OVER)
        assert again.session.start() is None
        assert again.roll(4, 3) is None
        assert again.answer(0, "R7") == ""
        once_more = again.again()
        assert once_more.game == again.game

    def test_of_a_game_taken_up_it_leaves_no_hole_in_it(self, two: Stage) -> None:
        two.session.pause()
        two.session.resume(1)
        self.play_on(two)
        two.session.pause()
        two.session.resume(1)
        self.play_on(two)
        self.damage(two, "resumed")
        two = two.again()
        table = two.session.view().table
        assert table.game is None
        assert [(game.number, game.state.turn) for game in table.paused] == [(1, 1)]
        assert two.session.resume(1) is None
        self.play_on(two)
        assert two.again().state == two.state

    @pytest.mark.parametrize("is_all", [False, True])
    def test_of_a_game_taken_up_after_another_it_leaves_no_hole_in_it(
        self, two: Stage, is_all: bool
    ) -> None:
        self.play_on(two)
        two.session.pause()
        self.play_and_end(two)
        two.session.resume(1)
        self.play_on(two)
        two.session.pause()
        two.session.resume(1)
        self.play_on(two)
        self.damage(two, "resumed", is_all=is_all)
        two = two.again()
        assert [(game.number, game.state.turn) for game in two.session.view().table.paused] == [
            (1, 2)
        ]
        assert two.session.resume(1) is None
        self.play_on(two)
        assert two.state.turn == 3
        assert two.again().state == two.state

    def test_a_resumed_game_goes_on_after_a_restart(self, two: Stage) -> None:
        self.play_on(two)
        two.session.pause()
        self.play_and_end(two)
        two.session.start()
        self.damage(two, "started", 1, is_all=True)
        two = two.again()
        two.session.end()
        assert two.session.resume(1) is None
        self.play_on(two)
        again = two.again()
        assert again.game == two.game
        assert again.state.turn == 3

    def test_of_a_pause_or_a_setting_it_costs_nothing(self, two: Stage) -> None:
        two.session.change_settings(voice={"language": "de"})
        self.play_on(two)
        two.session.pause()
        two.session.start()
        self.play_on(two)
        now = two.session.view().table
        self.damage(two, "paused")
        two = Stage(two.directory)
        assert two.session.view().table.game == now.game
        assert two.session.view().table.paused == now.paused
        self.damage(two, "set")
        two = Stage(two.directory)
        assert two.session.view().table.paused == now.paused
        assert two.session.view().table.seats == now.seats

    def test_damage_in_a_finished_game_is_reported(self, two: Stage) -> None:
        two.roll(4, 3)
        two.answer(0, "R7")
        two.answer(1, "R7")
        two.answer(0, None)
        two.session.end()
        two.session.start()
        self.damage(two, "answered", 1)
        first, _ = Stage(two.directory).session.past.games()
        assert first.fault is not None
        assert first.state.phase is Phase.ACTION1

    def test_a_damaged_leaving_brings_nobody_back(self, tmp_path: Path) -> None:
        stage = Stage(tmp_path)
        stage.seat("Ada", "Ben", "Cleo")
        stage.session.start()
        stage.session.end()
        stage.session.let_go(2)
        stage.session.start()
        self.damage(stage, "left")
        again = Stage(tmp_path)
        assert [seat.name for seat in again.session.view().table.seats] == ["Ada", "Ben"]
        again.seat("Dan")
        assert again.game.names == ("Ada", "Ben", "Dan")

    def test_a_damaged_seat_change_keeps_sheets_with_their_owners(self, tmp_path: Path) -> None:
        stage = Stage(tmp_path)
        (token, _) = stage.seat("Ada", "Ben")
        stage.session.start()
        stage.session.end()
        stage.session.let_go(0)
        stage.seat("Dan", "Ada")
        stage.session.start()
        game = stage.game
        for kind, nth in (("seated", 2), ("seated", 3), ("left", 0)):
            self.damage(stage, kind, nth)
            stage.store = SqliteStore(tmp_path)
        stage.store.close()
        again = Stage(tmp_path)
        assert again.game == game
        seats = {seat.number: seat.name for seat in again.session.view().table.seats}
        assert seats == dict(zip(game.seats, game.names, strict=True))
        assert again.session.seats_of((token,)) == ()

    def test_a_damaged_leaving_and_return_gives_one_seat(self, tmp_path: Path) -> None:
        stage = Stage(tmp_path)
        stage.seat("Ada", "Ben")
        stage.session.let_go(0)
        stage.seat("Cleo", "Ada")
        self.damage(stage, "left")
        seats = Stage(tmp_path).session.view().table.seats
        assert [(seat.number, seat.name) for seat in seats] == [(1, "Ben"), (0, "Cleo"), (2, "Ada")]

    def test_nobody_waits_for_a_player_who_left_after_the_damage(self, two: Stage) -> None:
        two.seat("Cleo")
        two.session.end()
        two.session.start()
        two.roll(4, 3)
        two.answer(0, "R7")
        two.session.let_go(2)
        self.damage(two, "answered")

        class PulledPlug(SqliteStore):
            def append(self, records: tuple[Record, ...]) -> None:
                if records[0].kind == "seat_closed":
                    raise StoreError("pulled")
                super().append(records)

        store = PulledPlug(two.directory)
        with pytest.raises(StoreError):
            Stage(two.directory, store=store)
        store.close()
        two = Stage(two.directory)
        assert two.state.waiting_for == (0, 1)
        assert two.again().state == two.state

    def test_a_damaged_taking_over_gives_no_sheet_away(self, tmp_path: Path) -> None:
        stage = Stage(tmp_path)
        stage.seat("Ada", "Ben", "Cleo")
        stage.session.start()
        stage.session.pause()
        stage.session.let_go(2)
        stage.session.resume(1)
        self.damage(stage, "seated", 3)
        again = Stage(tmp_path)
        joined = again.session.join("Dan")
        assert isinstance(joined, Joined)
        assert joined.seat == 3

    @pytest.mark.parametrize("nth", range(3))
    def test_a_damaged_table_restarts_to_the_same_state(self, two: Stage, nth: int) -> None:
        two.roll(4, 3)
        two.session.pause()
        self.play_and_end(two)
        two.session.resume(1)
        two.answer(0, "R7")
        two.session.pause()
        two.session.start()
        two.roll(5, 3)
        kinds = sorted({record.kind for record in two.store.load()})
        whole = (two.directory / FILE_NAME).with_suffix(".whole")
        two.store.close()
        shutil.copy(two.directory / FILE_NAME, whole)
        for kind in kinds:
            shutil.copy(whole, two.directory / FILE_NAME)
            two.store = SqliteStore(two.directory)
            if nth >= [record.kind for record in two.store.load()].count(kind):
                two.store.close()
                continue
            self.damage(two, kind, nth)
            again = Stage(two.directory)
            assert len(again.session.past.games()) >= 2, kind
            table = again.session.view().table
            again = again.again()
            assert again.session.view().table == table, kind
            again.session.end()
            if again.session.view().table.seats:
                assert again.session.start() is None, kind
                assert again.roll(4, 3) is None, kind
                state = again.state
                again = again.again()
                assert again.state == state, kind
            again.store.close()


@pytest.mark.parametrize("bad", [0xE0, None])
def test_a_byte_of_the_schema_costs_no_record(tmp_path: Path, bad: int | None) -> None:
    """SQLite quotes a damaged schema in its errors, in whatever bytes it has."""
    store = SqliteStore(tmp_path)
    records = [Record(n, "set", {"hints": bool(n % 2)}) for n in range(1, 4)]
    store.append(records)
    store.close()
    whole = (tmp_path / FILE_NAME).read_bytes()
    start = whole.index(b"CREATE TABLE log")
    for place in range(start, start + 160, 5):
        data = bytearray(whole)
        data[place] = data[place] ^ 1 if bad is None else bad
        directory = tmp_path / str(place)
        directory.mkdir()
        (directory / FILE_NAME).write_bytes(data)
        shutil.copy(tmp_path / JOURNAL_NAME, directory)
        examine(directory)  # raises nothing
        store = SqliteStore(directory)
        assert list(store.load()) == records, place
        store.close()


@pytest.mark.parametrize("has_journal", [True, False])
def test_a_block_that_cannot_be_read_costs_no_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_journal: bool
) -> None:
    records = tuple(Record(n, "set", {"hints": bool(n % 2)}) for n in range(1, 4))
    with closing(SqliteStore(tmp_path)) as store:
        store.append(records)
    bad, really = (tmp_path / FILE_NAME).stat().st_ino, opening.open_database
    (tmp_path / f"{FILE_NAME}-wal").write_bytes(b"a block of it cannot be read")
    if not has_journal:
        (tmp_path / JOURNAL_NAME).unlink()

    def opened(path: Path) -> sqlite3.Connection:
        if path.stat().st_ino != bad:
            return really(path)
        error = sqlite3.OperationalError("disk I/O error")
        error.sqlite_errorcode = sqlite3.SQLITE_IOERR_CORRUPTFS
        raise error

    monkeypatch.setattr(opening, "open_database", opened)
    read_bytes = Path.read_bytes

    def read(path: Path) -> bytes:
        if path.name.endswith("-wal"):
            raise OSError(errno.EIO, "Input/output error")
        return read_bytes(path)

    monkeypatch.setattr(Path, "read_bytes", read)
    if not has_journal:  # it may be readable at the next start
        with pytest.raises(StoreError, match="cannot be opened: disk I/O error"):
            SqliteStore(tmp_path)
        return
    with closing(SqliteStore(tmp_path)) as store:
        assert tuple(store.load()) == records
        assert "3 records were taken over" in str(store.notice)
    assert (tmp_path / "games.damaged-1").stat().st_ino == bad
