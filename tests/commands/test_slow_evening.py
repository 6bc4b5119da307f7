"""A long evening: nothing grows but the log, no step gets slower, and clocks may jump.

Eight hours at ten times the pace of a table take 48 minutes. `EVENING_MINUTES` sets another
duration.
"""

from __future__ import annotations

import os
import statistics
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path
from urllib.request import urlopen

import pytest

import companion.app
from companion.app import App, build
from companion.config import Config
from companion.engine import Phase
from companion.eventlog.projection import project
from companion.eventlog.store import SqliteStore
from companion.history.standings import evenings
from companion.session.session import HostStep

MINUTES = float(os.environ.get("EVENING_MINUTES", "48"))
TURN_S = 3.0
"""A turn takes half a minute at a table."""

STREAMS = 3
SAMPLES = 40
JUMPS = {0.4: datetime(1970, 1, 1, tzinfo=UTC), 0.5: datetime(2038, 1, 19, 3, 14, 8, tzinfo=UTC)}
"""The wall clock at parts of the evening; at 0.6 it is right again."""


class Clock:
    """The wall clock of the table."""

    def __init__(self) -> None:
        self.offset_s = 0.0
        self._true = time.time

    def time(self) -> float:
        return self._true() + self.offset_s

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.time())

    def jump(self, part: float) -> None:
        passed = [at for at in JUMPS if at <= part]
        to = JUMPS[max(passed)] if passed and part < 0.6 else None
        self.offset_s = 0.0 if to is None else to.timestamp() - self._true()


@dataclass(frozen=True)
class Sample:
    """What the process uses at one moment; files in bytes."""

    rss_mb: float
    threads: int
    descriptors: int
    records: int
    files: int


def sample(app: App, directory: Path) -> Sample:
    status = Path("/proc/self/status").read_text()
    rss_kb = int(status.split("VmRSS:")[1].split()[0])
    return Sample(
        rss_kb / 1024,
        threading.active_count(),
        len(os.listdir("/proc/self/fd")),
        app.session.view().table.revision,
        sum(path.stat().st_size for path in directory.glob("games.*")),
    )


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    monkeypatch.setattr(time, "time", clock.time)
    monkeypatch.setattr(companion.app, "datetime", clock)
    return clock


@pytest.fixture
def app(tmp_path: Path, clock: Clock) -> Iterator[App]:
    config = Config(data_dir=tmp_path)
    config = replace(
        config,
        camera=replace(config.camera, source="simulated", seed=1, fps=10),
        panel=replace(config.panel, factory="mock"),
        web=replace(config.web, host="127.0.0.1", port=0),
        sound=replace(config.sound, enabled=False),
    )
    app = build(config)
    for _ in range(STREAMS):
        url = f"http://127.0.0.1:{app.address[1]}/api/events"
        threading.Thread(target=read, args=(url,), daemon=True).start()
    yield app
    app.close()


def read(url: str) -> None:
    """Read a page's stream until the table ends."""
    try:
        with urlopen(url, timeout=60) as stream:
            while stream.read(4096):
                pass
    except OSError:
        pass


def wait_for(app: App, is_there: Callable[[], bool]) -> bool:
    until = time.monotonic() + 30
    while not is_there() and time.monotonic() < until:
        app.session.wait(app.session.view().version, 0.2)
    return is_there()


def play_turn(app: App, turn: int, took_ms: list[float]) -> None:
    session = app.session

    def timed(step: Callable[[], object]) -> None:
        began = time.perf_counter()
        step()
        took_ms.append((time.perf_counter() - began) * 1000)

    game = session.view().table.game
    if game is None or game.state.phase is Phase.OVER:
        timed(session.rematch)
        return
    if game.state.phase is Phase.ROLL:
        assert app.simulator is not None
        app.simulator.throw()
        wait_for(app, lambda: session.view().tray.roll is not None)
        timed(session.press)
    for action in (1, 2):
        game = session.view().table.game
        assert game is not None
        if game.state.action != action:
            continue
        for player in game.state.waiting_for:
            boxes = game.state.plan.name_of(game.state.legal[player])
            box = boxes[turn % len(boxes)] if boxes and turn % 3 else None
            seat, number = game.seats[player], game.state.turn
            session.answer(seat, number, action, box, done=False, key=f"{turn} {action} {player}")
        if turn % 5 == action:
            timed(lambda: session.preview(HostStep.UNDO))
            timed(session.undo)
        timed(session.close_action)


@pytest.mark.slow
def test_a_long_evening_is_flat(app: App, clock: Clock, tmp_path: Path) -> None:
    for name in ("Ada", "Ben", "Cleo"):
        app.session.join(name)
    app.session.start()
    samples: list[Sample] = []
    took_ms: list[list[float]] = []
    length_s, began, turn = MINUTES * 60, time.monotonic(), 0
    while (part := (time.monotonic() - began) / length_s) < 1:
        clock.jump(part)
        if part * SAMPLES >= len(samples):
            samples.append(sample(app, tmp_path))
            took_ms.append([])
        turn += 1
        next_s = time.monotonic() + TURN_S
        play_turn(app, turn, took_ms[-1])
        time.sleep(max(0.0, next_s - time.monotonic()))
    table = app.session.view().table
    games = app.session.past.games()
    assert [game.number for game in games] == list(range(1, table.games + 1))
    assert sum(len(evening.games) for evening in evenings(app.session.past.results())) == len(games)
    app.close()

    early, late = samples[SAMPLES // 4 : SAMPLES // 2], samples[-SAMPLES // 4 :]
    print(f"{turn} turns, {table.revision} records, {early[0]} to {late[-1]}")
    assert late[-1].rss_mb < early[0].rss_mb + 10 + MINUTES / 5, samples
    assert max(each.threads for each in late) <= max(each.threads for each in early) + 1, samples
    assert late[-1].descriptors <= max(each.descriptors for each in early) + 2, samples
    assert late[-1].files < 6_000_000 + 1500 * late[-1].records, samples
    half = len(took_ms) // 2
    before, after = (
        statistics.median(chain.from_iterable(each)) for each in (took_ms[2:half], took_ms[half:])
    )
    print(f"a step takes {before:.1f} ms in the first half and {after:.1f} ms in the second")
    assert after < 2 * before + 10, took_ms

    store = SqliteStore(tmp_path)
    assert store.notice is None
    assert project(store.load()).table == table
    store.close()
