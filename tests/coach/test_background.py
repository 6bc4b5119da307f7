"""Reviews in a process of their own: nobody waits for one, and one is made at a time."""

from __future__ import annotations

import errno
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import IO

import pytest

from companion.coach import background
from companion.coach import worker as module
from companion.coach.background import Reviewed, Reviews
from companion.coach.review import Review, review
from companion.coach.worker import Worker, WorkerError
from companion.engine import Event, GameState
from companion.history.archive import SavedGame
from tests.coach.test_pictures import a_game

PATIENCE_S = 60.0
GOES_ON = "DICE_COMPANION_TEST_GOES_ON"
"""Names the file that held reviews wait for."""


def held(start: GameState, events: Iterable[Event], progress: Callable[[float], None]) -> object:
    """A review that stops half-way until a file is there."""
    progress(0.5)
    until = time.monotonic() + PATIENCE_S
    while not Path(os.environ[GOES_ON]).exists():
        assert time.monotonic() < until
        time.sleep(0.01)
    return quick(start, events, progress)


def quick(
    start: GameState, events: Iterable[Event], progress: Callable[[float], None]
) -> Review | None:
    return review(start, events, rollouts=20, progress=progress)


def broken_at_first(
    start: GameState, events: Iterable[Event], progress: Callable[[float], None]
) -> Review | None:
    assert Path(os.environ[GOES_ON]).exists()
    return quick(start, events, progress)


def broken(start: GameState, events: Iterable[Event], progress: Callable[[float], None]) -> None:
    raise ZeroDivisionError


def priority() -> tuple[int, int]:
    print("a stray line on standard output")
    return os.getpid(), os.nice(0)


def end_at_once() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def finished(reviews: Reviews, game: SavedGame) -> Reviewed:
    until = time.monotonic() + PATIENCE_S
    while (found := reviews.of(game)).share < 1:
        assert time.monotonic() < until
        time.sleep(0.01)
    return found


@pytest.fixture
def worker() -> Iterator[Worker]:
    worker = Worker()
    yield worker
    worker.close()


def test_nobody_waits_and_one_is_made_at_a_time(
    worker: Worker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(GOES_ON, str(tmp_path / "go"))
    reviews, one, other = Reviews(held, worker), a_game(), replace(a_game(2), number=2)
    assert reviews.of(one).review is None
    until = time.monotonic() + PATIENCE_S
    while reviews.of(one).share != 0.5:
        assert time.monotonic() < until
        time.sleep(0.01)
    assert reviews.of(other) == Reviewed(0.0)
    (tmp_path / "go").touch()
    kept = []
    for game in (one, other):
        found = finished(reviews, game).review
        assert found is not None
        totals = [game.state.total(player) for player in range(3)]
        assert max(found.final) == max(totals) - sorted(totals)[1]
        kept.append(found)
        assert reviews.verdicts.known[game.result.played] is found.decided
    (tmp_path / "go").unlink()
    assert reviews.of(one).review is kept[0], "a made review is kept"


def test_a_game_that_goes_on_is_never_reviewed() -> None:
    game = a_game()
    begun = replace(game, events=game.events[:6], state=game.start)
    assert Reviews().of(begun) == Reviewed(1.0)


@pytest.mark.logs_errors
def test_a_failure_is_logged_and_the_next_game_reviewed(
    worker: Worker, caplog: pytest.LogCaptureFixture
) -> None:
    assert finished(Reviews(broken, worker), a_game()) == Reviewed(1.0)
    assert "game 1 cannot be reviewed" in caplog.text
    assert "ZeroDivisionError" in caplog.text
    assert finished(Reviews(quick, worker), replace(a_game(), number=2)).review is not None


@pytest.mark.parametrize("is_busy", [False, True])
def test_a_process_that_is_killed_costs_no_review(
    worker: Worker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_busy: bool
) -> None:
    monkeypatch.setenv(GOES_ON, str(tmp_path / "go"))
    process, _ = worker.call(priority)
    reviews = Reviews(held, worker)
    if is_busy:
        until = time.monotonic() + PATIENCE_S
        while reviews.of(a_game()).share != 0.5:
            assert time.monotonic() < until
            time.sleep(0.01)
    os.kill(process, signal.SIGKILL)
    (tmp_path / "go").touch()
    assert finished(reviews, a_game()).review is not None


def test_a_process_that_cannot_be_started_is_a_failure_like_others(
    worker: Worker, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def no_room(*_: object, **__: object) -> None:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))

    reviews = Reviews(quick, worker)
    with monkeypatch.context() as full:
        full.setattr(subprocess, "Popen", no_room)
        assert [finished(reviews, a_game()) for _ in range(3)] == 3 * [Reviewed(1.0)]
    assert caplog.text.count("game 1 cannot be reviewed") == 1
    monkeypatch.setattr(background, "FAILED_S", 0.0)
    assert finished(reviews, a_game()).review is not None


@pytest.mark.logs_errors
def test_a_review_that_failed_is_not_tried_again_for_each_page_that_waits(
    worker: Worker, caplog: pytest.LogCaptureFixture
) -> None:
    reviews = Reviews(broken, worker)
    for _ in range(3):
        assert finished(reviews, a_game()).review is None
    assert caplog.text.count("game 1 cannot be reviewed") == 1


def test_a_review_that_failed_is_tried_again_by_whoever_asks_again(
    worker: Worker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv(GOES_ON, str(tmp_path / "go"))
    reviews = Reviews(broken_at_first, worker)
    assert finished(reviews, a_game()).review is None
    assert "game 1 cannot be reviewed" in caplog.text
    monkeypatch.setattr(background, "FAILED_S", 0.0)
    (tmp_path / "go").touch()
    assert finished(reviews, a_game()).review is not None


def test_a_worker_has_the_lowest_priority_and_starts_again(worker: Worker) -> None:
    process, nice = worker.call(priority)
    assert nice == 19
    assert process != os.getpid()
    assert worker.call(priority)[0] == process
    with pytest.raises(WorkerError, match="the process ended"):
        worker.call(end_at_once)
    assert worker.call(priority)[0] != process
    worker.close()
    with pytest.raises(WorkerError, match="closed"):
        worker.call(priority)


def test_a_review_that_the_end_of_the_table_cuts_short_logs_nothing(
    worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = pickle.load

    def read_too_late(pipe: IO[bytes]) -> object:
        worker.close()
        return read(pipe)

    monkeypatch.setattr(pickle, "load", read_too_late)
    assert finished(Reviews(quick, worker), a_game()) == Reviewed(1.0)


def test_a_worker_without_work_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "IDLE_S", 0.1)
    worker = Worker()
    process, _ = worker.call(priority)
    until = time.monotonic() + 5.0
    while os.path.exists(f"/proc/{process}") and time.monotonic() < until:
        time.sleep(0.02)
    is_gone = not os.path.exists(f"/proc/{process}")
    worker.close()
    assert is_gone


def test_a_process_whose_table_was_killed_ends_without_a_word() -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", module.__name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.close()
    process.stdout = None
    _, told = process.communicate(pickle.dumps((os.getpid, (), False)), timeout=PATIENCE_S)
    assert told == b""
