"""Results of past games are kept to save time, and never believed against the records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest

from companion.errors import StoreError
from companion.eventlog.derived import RESULTS, Derived
from companion.eventlog.record import Record
from companion.eventlog.store import SqliteStore
from companion.history import archive
from companion.history.archive import Archive, saved_games
from tests.session.conftest import rewritten
from tests.session.fakes import Stage

PATIENCE_S = 30.0


class Slow(SqliteStore):
    """Reads the first record of its history, then waits to be told to go on."""

    def __init__(self, directory: Path) -> None:
        self.has_begun, self.goes_on = Event(), Event()
        self.is_told = False
        super().__init__(directory)

    def history(self, after: int = 0) -> Iterator[Record]:
        for n, record in enumerate(super().history(after)):
            if n == 1:
                self.has_begun.set()
                self.is_told = self.goes_on.wait(PATIENCE_S)
            yield record


def test_steps_are_stored_while_a_long_history_is_read(played: Path) -> None:
    stage = Stage(played, store=(store := Slow(played)))
    reading = Thread(target=stage.session.past.results)
    reading.start()
    assert store.has_begun.wait(PATIENCE_S)
    assert stage.session.undo() is None
    with pytest.raises(StoreError):  # this revision is there already; the write is taken back
        store.append((Record(1, "left", {"seat": 0}),))
    store.goes_on.set()
    reading.join()
    assert store.is_told, "a step waited for the reader"
    whole = saved_games(store.load())
    assert [replace(each, spans=()) for each in stage.session.past.results()] == [
        game.result for game in whole
    ]
    assert [stage.session.past.game(game.number) for game in whole] == whole
    assert len(stage.session.past.games()) == 3
    stage.store.close()


def test_a_start_takes_over_kept_results_and_reads_on(played: Path) -> None:
    stage = Stage(played)
    before = stage.session.past.results()
    again = stage.again()
    asked: list[int] = []
    history = again.store.history

    def watched(after: int = 0) -> Iterator[Record]:
        asked.append(after)
        return history(after)

    again.store.history = watched  # type: ignore[method-assign]
    assert again.session.past.results() == before
    assert asked == [again.store.mark.revision]
    again.session.end()
    again.session.rematch()
    games = saved_games(history())
    assert [replace(each, spans=()) for each in again.session.past.results()] == [
        game.result for game in games
    ]
    assert [again.session.past.game(game.number) for game in games] == games
    again.store.close()


def no_results(data: dict[str, Any]) -> None:
    data["value"]["results"] = data["value"]["rows"] = []


FALSE_RESULTS: dict[str, Callable[[Path], object]] = {
    "cut": lambda path: path.write_bytes(path.read_bytes()[:-40]),
    "no object": lambda path: rewritten(path, lambda data: data.update(value=[])),
    "another type": lambda path: rewritten(path, lambda data: data["value"].update(results=[1])),
    "other log": lambda path: rewritten(
        path, lambda data: (no_results(data), data.update(mark=[data["mark"][0], "0" * 32]))
    ),
    "other version": lambda path: rewritten(
        path, lambda data: (no_results(data), data.update(version="0" * 32))
    ),
}


@pytest.mark.parametrize("false", FALSE_RESULTS.values(), ids=FALSE_RESULTS.keys())
def test_false_results_are_read_again_from_the_log(
    played: Path, false: Callable[[Path], object]
) -> None:
    stage = Stage(played)
    expected = stage.session.past.results()
    stage.store.close()
    false(played / RESULTS)
    again = Stage(played)
    assert again.session.past.results() == expected
    again.store.close()


def test_records_that_void_what_results_are_kept_of_count(played: Path) -> None:
    stage = Stage(played)
    assert len(stage.session.past.results()) == 3
    stage.store.close()
    store = SqliteStore(played)
    second = next(r.revision for r in store.load() if r.kind == "started" and r.data["number"] == 2)
    store.append((Record(store.mark.revision + 1, "kept", {"revision": second - 1}),))
    store.close()
    again = Stage(played)
    assert [game.number for game in again.session.past.results()] == [1]
    again.store.close()


def test_the_first_page_does_not_wait_for_old_games(played: Path) -> None:
    stage = Stage(played, store=(store := Slow(played)))
    assert stage.session.past.results_within(0.01) == []
    store.goes_on.set()
    assert stage.session.past.results_within(PATIENCE_S) == stage.session.past.results()
    stage.store.close()


def test_results_are_not_kept_as_of_before_what_another_thread_read(played: Path) -> None:
    with closing(SqliteStore(played)) as store:
        archive, mark = Archive(), store.mark
        archive.results(store.load, mark.revision)
        store.append((Record(mark.revision + 1, "paused", {}),))
        archive.results(store.load)
        assert archive.kept(mark) is None
        assert archive.kept(store.mark) is not None


def test_results_are_the_same_however_much_is_read_at_once(
    played: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with closing(SqliteStore(played)) as store:
        last = store.mark.revision
        voiding = Record(last + 1, "kept", {"revision": last - 1})
        store.append((voiding, Record(last + 2, "ended_early", {})))
        whole = Archive().results(store.load)
        assert whole[-1].fault is None
        for piece in (1, 2, 7):
            monkeypatch.setattr(archive, "PIECE", piece)
            assert Archive().results(store.load) == whole


def test_old_results_are_not_written_again_after_every_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = Stage(tmp_path / "table")
    stage.seat("Ada", "Ben")
    stage.session.start()
    kept: list[str] = []
    keep = stage.store.keep

    def watched(name: str, derived: Derived) -> None:
        kept.append(name)
        keep(name, derived)

    monkeypatch.setattr(stage.store, "keep", watched)
    for number in range(1, 104):
        stage.session.end()
        stage.session.rematch()
        if number >= 100:
            stage.session.past.results()
            assert kept.count(RESULTS) == (1 if number < 103 else 2)
    stage.store.close()
