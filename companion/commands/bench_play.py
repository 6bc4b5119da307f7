"""`dice-companion bench play`: from the press of the button to the announcement on every page."""

from __future__ import annotations

import json
import statistics
import tempfile
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.request import Request, urlopen

import click

from companion.config import Config
from companion.errors import CompanionError
from companion.session.confirm import SAME_PRESS_S

if TYPE_CHECKING:
    from companion.app import App

PATIENCE_S = 20.0
"""Seconds one step may take before the benchmark fails."""

REST_S = 0.07
"""Seconds between two presses, fewer than a finger needs."""


WAITING_FPS = 10
WAITING_S = 5.0


class _Client(threading.Thread):
    """The stream of one page; records when each announcement arrives."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self._url = url
        self.arrived: dict[int, float] = {}
        self.news = threading.Condition()

    def run(self) -> None:
        request = Request(self._url + "api/events", headers={"Accept": "text/event-stream"})
        # an interrupted benchmark closes its table first
        with suppress(OSError), urlopen(request, timeout=PATIENCE_S) as stream:
            kind = b""
            for line in stream:
                name, _, value = line.strip().partition(b": ")
                if name == b"event":
                    kind = value
                elif name == b"data" and kind == b"state":
                    self._take(json.loads(value), time.perf_counter())

    def _take(self, snapshot: dict[str, Any], at_s: float) -> None:
        number = (snapshot["announcement"] or {}).get("number", 0)
        with self.news:
            self.arrived.setdefault(number, at_s)
            self.news.notify_all()

    def wait_for(self, number: int) -> float:
        """Wait for an announcement and return when it arrived.

        Raises:
            CompanionError: It did not come in time.
        """
        with self.news:
            if not self.news.wait_for(lambda: number in self.arrived, PATIENCE_S):
                raise CompanionError(f"bench play: announcement {number} did not arrive in time")
            return self.arrived[number]


def bench_play(presses: int, clients: int, *, as_json: bool) -> None:
    """Press the button of a temporary table and print how long its pages wait for the news.

    The table runs as in `play`, on the simulated tray. The first press confirms a roll; the others
    come during action 1 and announce who has not answered yet.
    """
    from companion.app import build

    with tempfile.TemporaryDirectory(prefix="dice-companion-bench-") as directory:
        config = Config(data_dir=Path(directory))
        config = replace(
            config,
            camera=replace(config.camera, source="simulated", seed=1, fps=WAITING_FPS),
            panel=replace(config.panel, factory="mock"),
            web=replace(config.web, host="127.0.0.1", port=0),
            sound=replace(config.sound, enabled=False),
        )
        app = build(config)
        try:
            report = _measure(app, presses, clients)
        finally:
            app.close()
    report["debounce_ms"] = config.panel.debounce_s * 1000
    if as_json:
        click.echo(json.dumps(report))
        return
    took = report["press_to_announcement_ms"]
    click.echo(
        f"press to announcement on {clients} pages: median {took['median']} ms,"
        f" 99th percentile {took['p99']} ms ({presses} presses; the debounce of"
        f" {report['debounce_ms']:.0f} ms is part of it)"
    )
    click.echo(
        f"processor while waiting for a throw at {WAITING_FPS} frames a second:"
        f" {report['waiting_cpu_percent']} % of one core"
    )
    trip = report["round_trip_ms"]
    click.echo(f"bare round trip: median {trip['median']} ms, 99th percentile {trip['p99']} ms")


def _measure(app: App, presses: int, clients: int) -> dict[str, Any]:
    assert app.simulator is not None
    url = f"http://127.0.0.1:{app.address[1]}/"
    for name in ("Ada", "Ben"):
        app.session.join(name)
    app.session.start()
    app.simulator.throw()
    pages = [_Client(url) for _ in range(clients)]
    for page in pages:
        page.start()
    _wait_for_roll(app)
    took_ms = []
    for number_of_press in range(presses):
        if number_of_press == 1:
            time.sleep(SAME_PRESS_S)  # sooner it would count as the confirmation once more
        if number_of_press > 0:
            _change_ben(app, has_answered=number_of_press % 2 == 0)
        number = app.session.view().announced + 1
        pressed_s = time.perf_counter()
        app.panel.press()
        heard_s = max(page.wait_for(number) for page in pages)
        took_ms.append((heard_s - pressed_s) * 1000)
        time.sleep(REST_S)
    trips_ms = [_round_trip_ms(url) for _ in range(presses)]
    waiting_cpu_percent = _waiting_cpu_percent()
    return {
        "press_to_announcement_ms": quantiles(took_ms),
        "presses": presses,
        "clients": clients,
        "round_trip_ms": quantiles(trips_ms),
        "waiting_cpu_percent": waiting_cpu_percent,
    }


def _change_ben(app: App, *, has_answered: bool) -> None:
    """Let Ben answer, or take his answer back: a press is answered again when something changed."""
    game = app.session.view().table.game
    assert game is not None
    turn = game.state.turn
    if has_answered:
        refusal = app.session.withdraw(1, turn, 1)
    else:
        refusal = app.session.answer(1, turn, 1, None, done=False)
    assert refusal is None, refusal


def _wait_for_roll(app: App) -> None:
    until = time.monotonic() + PATIENCE_S
    while app.session.view().tray.roll is None:
        if time.monotonic() > until:
            raise CompanionError("bench play: the simulated dice were not read in time")
        app.session.wait(app.session.view().version, 0.2)


def _waiting_cpu_percent() -> float:
    """Percent of one core that the program uses while pages are open and no dice move."""
    began_s, used_s = time.perf_counter(), time.process_time()
    time.sleep(WAITING_S)
    used_s = time.process_time() - used_s
    return round(100.0 * used_s / (time.perf_counter() - began_s), 1)


def _round_trip_ms(url: str) -> float:
    began_s = time.perf_counter()
    with urlopen(url + "healthz", timeout=PATIENCE_S) as answer:
        answer.read()
    return (time.perf_counter() - began_s) * 1000


def quantiles(values_ms: Sequence[float], digits: int = 2) -> dict[str, float]:
    """Median and 99th percentile; 0 of no values."""
    ordered = sorted(values_ms) or [0.0]
    p99 = ordered[round(0.99 * (len(ordered) - 1))]
    return {"median": round(statistics.median(ordered), digits), "p99": round(p99, digits)}
