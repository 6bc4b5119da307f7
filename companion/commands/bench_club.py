"""`dice-companion bench club`: a hundred simulated tables, a broker, and the club's screen.

Mosquitto, the club and the tables each run in a process of their own on this machine, as they would
on others. Ctrl-C reaches only this process, which then ends them. The clock of all is
CLOCK_MONOTONIC, which Linux shares between processes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import click

from companion.commands.bench_play import quantiles
from companion.config import ENVIRONMENT_PREFIX
from companion.errors import CompanionError
from companion.mqtt.broker import Broker, Received
from companion.mqtt.client import Link
from companion.mqtt.mosquitto import Mosquitto
from companion.mqtt.topics import all_tables

CLUB = "bench"
PATIENCE_S = 30.0
"""Seconds that the last states and results may take."""


class _Screen(threading.Thread):
    """Follows the event stream of the club's screen, and notes when each state arrives."""

    def __init__(self, url: str) -> None:
        super().__init__(daemon=True)
        self._url = url
        self._mutex = threading.Lock()
        self._arrived: dict[str, list[tuple[int, float]]] = {}
        self.bytes = self.messages = 0

    def run(self) -> None:
        request = Request(f"{self._url}/api/events", headers={"Accept": "text/event-stream"})
        # an interrupted benchmark closes its club first
        with suppress(OSError), urlopen(request, timeout=PATIENCE_S) as stream:
            for line in stream:
                if line.startswith(b"data:"):
                    self._take(line[5:], time.monotonic())

    def _take(self, data: bytes, at_s: float) -> None:
        tables = json.loads(data).get("tables", [])
        with self._mutex:
            self.bytes += len(data)
            self.messages += 1
            for table in tables:
                seen = self._arrived.setdefault(table["id"], [])
                if not seen or seen[-1][0] < table["revision"]:
                    seen.append((table["revision"], at_s))

    def newest(self) -> dict[str, int]:
        """The newest revision of each table."""
        with self._mutex:
            return {table: seen[-1][0] for table, seen in self._arrived.items()}

    def delays_ms(self, published: dict[str, dict[str, float]]) -> list[float]:
        """Milliseconds from the publishing of each state until it, or a newer one, was there."""
        delays = []
        with self._mutex:
            for table, times in published.items():
                arrived = iter(self._arrived.get(table, []))
                seen = next(arrived, None)
                for revision, at_s in sorted((int(n), at_s) for n, at_s in times.items()):
                    while seen is not None and seen[0] < revision:
                        seen = next(arrived, None)
                    if seen is not None:
                        delays.append(1000 * (seen[1] - at_s))
        return delays


class _Counted:
    """Counts what the tables' messages cost: one reader of everything."""

    def __init__(self, broker: Broker) -> None:
        self.messages = self.bytes = 0
        self.link = Link(
            broker,
            client_id="bench-counter",
            subscriptions=[all_tables(CLUB)],
            on_message=self._count,
            packets_per_s=100_000,
        )
        self.link.start()

    def _count(self, got: Received) -> None:
        self.messages += 1
        self.bytes += len(got.topic) + len(got.payload)


def measure(tables: int, rolls_per_s: float, seconds: float) -> dict[str, Any]:
    """Let tables play for some seconds.

    Returns:
        tables, rolls, screen_delay_ms, lost and doubled; and under `figures` the rates, messages
        and bytes of a roll, and the processor time of a table, the club and the broker.

    Raises:
        CompanionError: Mosquitto is not installed, or a part does not answer.
    """
    with tempfile.TemporaryDirectory(prefix="dice-companion-bench-") as name:
        folder = Path(name)
        mosquitto = Mosquitto(folder)
        try:
            with _club(mosquitto.broker, folder) as (url, club):
                return _measured(mosquitto, folder, url, club, tables, rolls_per_s, seconds)
        finally:
            mosquitto.stop()


def _measured(
    mosquitto: Mosquitto,
    folder: Path,
    url: str,
    club: int,
    tables: int,
    rolls_per_s: float,
    seconds: float,
) -> dict[str, Any]:
    broker = mosquitto.broker
    counted, screen = _Counted(broker), _Screen(url)
    screen.start()
    asked = {
        "host": broker.host,
        "port": broker.port,
        "club": CLUB,
        "tables": tables,
        "rolls_per_s": rolls_per_s,
        "seconds": seconds,
    }
    before_s = [_cpu_s(club), _cpu_s(mosquitto.pid)]
    with closing(counted.link), _tables(asked, folder) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        line = process.stdout.readline()
        used_s = [_cpu_s(club) - before_s[0], _cpu_s(mosquitto.pid) - before_s[1]]
        if not line:
            raise CompanionError("bench club: the simulated tables ended early")
        played = json.loads(line)
        finished = Counter(map(tuple, played["finished"]))
        _wait(lambda: screen.newest() == played["last"] and _results(url) >= finished)
        newest, found = screen.newest(), _results(url)
        process.stdin.write("\n")
        process.stdin.close()
    behind = sum(newest.get(table) != last for table, last in played["last"].items())
    rolls = played["rolls"]
    return {
        "tables": tables,
        "rolls": rolls,
        "screen_delay_ms": quantiles(screen.delays_ms(played["published"]), digits=1),
        "lost": (finished - found).total() + behind,
        "doubled": (found - finished).total(),
        "figures": {
            "games": finished.total(),
            "rolls_per_s": round(rolls / played["seconds"], 1),
            "messages_per_roll": round(counted.messages / rolls, 1),
            "bytes_per_roll": round(counted.bytes / rolls),
            "table_cpu_ms_per_roll": round(1000 * played["cpu_s"] / rolls, 1),
            "club_cpu_percent": round(100 * used_s[0] / played["seconds"], 1),
            "broker_cpu_us_per_message": round(1e6 * used_s[1] / counted.messages),
            "screen_bytes_per_s": round(screen.bytes / played["seconds"]),
            "screen_messages_per_s": round(screen.messages / played["seconds"], 1),
        },
    }


@contextmanager
def _tables(asked: dict[str, Any], folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Run the simulated tables; an error ends them, and their files go with the folder."""
    with subprocess.Popen(
        [sys.executable, "-m", "companion.commands.simulated_table", json.dumps(asked)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(folder)},
        start_new_session=True,
    ) as process:
        try:
            yield process
        except BaseException:
            process.kill()
            raise


@contextmanager
def _club(broker: Broker, folder: Path) -> Iterator[tuple[str, int]]:
    """Run the club's command; gives its address and the number of its process."""
    command = [sys.executable, "-m", "companion", "club", "--broker", broker.host]
    command += ["--club", CLUB, "--host", "127.0.0.1", "--port", "0", "--data-dir", str(folder)]
    settings = folder / "club.toml"
    settings.write_text(f"[mqtt]\nport = {broker.port}\n", encoding="utf-8")
    # the user's broker is another one
    environ = {k: v for k, v in os.environ.items() if not k.startswith(ENVIRONMENT_PREFIX)}
    with subprocess.Popen(
        [*command, "--config", str(settings)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environ,
        start_new_session=True,
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            if "listening on " not in line:
                raise CompanionError("bench club: the club does not start")
            yield line.partition("listening on ")[2].strip(), process.pid
        finally:
            process.terminate()
            process.wait()  # an interrupted `with` waits for a quarter of a second only


def _results(url: str) -> Counter[tuple[str, ...]]:
    """Every game of the club's export, by table and id."""
    with urlopen(f"{url}/api/state", timeout=PATIENCE_S) as answer:
        evening = json.load(answer)["evening"]
    try:
        with urlopen(f"{url}/export/{evening}.json", timeout=PATIENCE_S) as answer:
            games = json.load(answer)["games"]
    except OSError:  # no evening yet
        return Counter()
    return Counter((each["table"], each["game"]) for each in games)


def _wait(holds: Callable[[], bool]) -> None:
    by_s = time.monotonic() + PATIENCE_S
    while not holds() and time.monotonic() < by_s:
        time.sleep(0.2)


def _cpu_s(process: int) -> float:
    """Processor time of a process so far; 0.0 where the system does not tell."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / 100  # utime, stime in ticks of 10 ms (proc(5))


def bench_club(tables: int, rolls_per_s: float, seconds: float, *, as_json: bool) -> None:
    """Measure and print; with `as_json` the figures go to standard error."""
    report = measure(tables, rolls_per_s, seconds)
    figures = report.pop("figures")
    delay = report["screen_delay_ms"]
    click.echo(
        f"{tables} tables, {report['rolls']} rolls, {figures['games']} games:"
        f" on the screen after {delay['median']} ms (median), {delay['p99']} ms (99 %);"
        f" {report['lost']} lost, {report['doubled']} counted twice",
        err=as_json,
    )
    click.echo(
        f"{figures['rolls_per_s']} rolls a second; a roll is {figures['messages_per_roll']}"
        f" messages of together {figures['bytes_per_roll']} bytes and takes"
        f" {figures['table_cpu_ms_per_roll']} ms of a table's processor; the club uses"
        f" {figures['club_cpu_percent']} % of a core, the broker"
        f" {figures['broker_cpu_us_per_message']} us for a message to two readers, a screen"
        f" {figures['screen_bytes_per_s']} bytes a second",
        err=as_json,
    )
    if as_json:
        click.echo(json.dumps(report))
