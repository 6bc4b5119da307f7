"""Many guests and rude connections: players keep their streams, and marks stay quick."""

from __future__ import annotations

import http.client
import itertools
import json
import logging
import os
import re
import select
import socket
import threading
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import pytest
from flask import Flask
from flask.testing import FlaskClient

from tests.commands.test_play import Play, playing
from tests.waiting import until
from tests.web.browsing import MODULES
from tests.web.test_people import phone, post
from web.connection import State
from web.security import BROWSER_COOKIE, SEAT_COOKIE
from web.server import CONNECTIONS, Server
from web.sse import MOST_OUTSIDE, MOST_PER_BROWSER

PIPELINED = b"GET %s/css/base.css HTTP/1.1\r\nHost: localhost\r\n\r\n" % MODULES.encode() * 250
HALF = b"GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: "

MARK_S = 0.3
"""The longest a mark may take under attack; on a busy machine three times its own longest."""


@dataclass
class Crowd:
    """Sockets of guests, each with an address of its own on the loopback network."""

    port: int
    stack: ExitStack

    def connect(self, net: int, number: int, *, receive_bytes: int = 0) -> socket.socket:
        guest = self.stack.enter_context(socket.socket())
        if receive_bytes:
            guest.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_bytes)
        guest.settimeout(10)
        guest.bind((f"127.1.{net}.{number % 200 + 1}", 0))
        guest.connect(("127.0.0.1", self.port))
        return guest

    def stalled(self, count: int) -> None:
        """Ask for a file over and over and read nothing."""
        for number in range(count):
            guest = self.connect(1, number, receive_bytes=4096)
            guest.setblocking(False)
            with suppress(BlockingIOError):
                guest.send(PIPELINED)

    def slow(self, count: int) -> list[socket.socket]:
        """Begin a request and never finish it."""
        guests = [self.connect(2, number) for number in range(count)]
        for guest in guests:
            guest.sendall(HALF)
        return guests

    def idle(self, count: int) -> None:
        """Connect and ask for nothing."""
        for number in range(count):
            self.connect(3, number)

    def stream(self, cookie: str, net: int, number: int) -> int:
        """Open a stream that stays open; returns the status."""
        guest = self.connect(net, number)
        asked = f"GET /api/events HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n\r\n"
        guest.sendall(asked.encode())
        return int(guest.recv(4096).split(b" ", 2)[1])


@pytest.fixture
def crowd(served: Server) -> Iterator[Crowd]:
    with ExitStack() as stack:
        yield Crowd(served.port, stack)


def cookies_of(browser: FlaskClient) -> str:
    """The cookies a browser sends."""
    kept = [browser.get_cookie(name) for name in (SEAT_COOKIE, BROWSER_COOKIE)]
    return "; ".join(f"{cookie.key}={cookie.value}" for cookie in kept if cookie is not None)


@pytest.fixture
def mark(served: Server, in_action1: None, ben: FlaskClient) -> Iterator[Callable[[], float]]:
    """mark(): Ben changes his answer over HTTP; returns the seconds it took."""
    connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=60)
    headers = {"Content-Type": "application/json", "Cookie": cookies_of(ben)}
    boxes = itertools.cycle(("R7", "Y7"))

    def answer() -> float:
        body = json.dumps({"turn": 1, "action": 1, "box": next(boxes)})
        before = time.perf_counter()
        connection.request("POST", "/api/answer", body, headers)
        answered = connection.getresponse()
        answered.read()
        assert answered.status == 200
        return time.perf_counter() - before

    yield answer
    connection.close()


def test_players_and_tables_get_streams_among_any_spectators(
    app: Flask, crowd: Crowd, ada: FlaskClient, ben: FlaskClient
) -> None:
    television = phone(app, "192.168.1.7", "TV")
    television.get("/table")
    code = television.get("/api/state?view=table").get_json()["me"]["pairing"]
    assert post(ada, "pair", code=code)[0] == 200
    guests = [cookies_of(phone(app, "192.168.1.66")) for _ in range(MOST_OUTSIDE // 4 + 2)]
    statuses = [
        crowd.stream(guest, 4, number)
        for number, guest in enumerate(guest for guest in guests for _ in range(4))
    ]
    assert MOST_PER_BROWSER == 4
    assert statuses.count(200) == MOST_OUTSIDE
    assert statuses[-1] == 503
    for number, browser in enumerate((ada, ben, television)):
        assert crowd.stream(cookies_of(browser), 5, number) == 200


def skip_if_busy() -> None:
    """Skip a test of times on a machine with other work."""
    load = os.getloadavg()[0]
    if load > 0.5 * (os.cpu_count() or 1):
        pytest.skip(f"the machine is busy: load {load:.1f}")


def attack(
    crowd: Crowd, mark: Callable[[], float], *, stalled: int, slow: int, idle: int, marks: int
) -> tuple[float, float]:
    """The longest mark before and during an attack, in seconds."""
    before_s = max(mark() for _ in range(marks))
    crowd.stalled(stalled)
    crowd.slow(slow)
    crowd.idle(idle)
    during_s = 0.0
    for number in range(marks):
        during_s = max(during_s, mark())
        newcomer = crowd.connect(6, number)
        newcomer.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert newcomer.recv(4096).startswith(b"HTTP/1.1 200")
        newcomer.close()
    return before_s, during_s


def test_rude_connections_delay_no_mark(
    crowd: Crowd, mark: Callable[[], float], caplog: pytest.LogCaptureFixture
) -> None:
    """The limit is loose, because other tests may be running on the machine."""
    before_s, during_s = attack(crowd, mark, stalled=20, slow=60, idle=60, marks=10)
    assert during_s < max(3.0, 10 * before_s)
    assert [each.getMessage() for each in caplog.records if each.levelno > logging.INFO] == []


def test_one_device_that_asks_for_much_comes_after_the_others(
    crowd: Crowd, mark: Callable[[], float]
) -> None:
    greedy = [crowd.connect(7, 0) for _ in range(CONNECTIONS)]
    for guest in greedy:
        guest.sendall(b"GET /api/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
    mark()
    newcomer = crowd.connect(8, 0)
    newcomer.sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert newcomer.recv(4096).startswith(b"HTTP/1.1 200")
    ready, _, _ = select.select(greedy, [], [], 0)
    assert len(ready) < CONNECTIONS / 2, "most still wait"


def test_a_few_devices_that_ask_for_much_keep_nobody_out(
    served: Server, crowd: Crowd, mark: Callable[[], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    may_answer = threading.Event()
    monkeypatch.setattr("web.openapi.document", lambda _: may_answer.wait(30.0))
    mark()
    for number in range(CONNECTIONS):
        guest = crowd.connect(9, number % 8)
        guest.sendall(b"GET /api/openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n")
    until(
        lambda: [each.state for each in list(served._open)].count(State.WORKING) >= CONNECTIONS - 1
    )
    newcomer = crowd.connect(10, 0)
    newcomer.sendall(b"POST /api/join HTTP/1.1\r\nHost: localhost\r\n\r\n")
    assert newcomer.recv(4096).startswith(b"HTTP/1.1 415")
    mark()
    may_answer.set()


@pytest.mark.slow
def test_hundreds_of_rude_connections_delay_no_mark(
    crowd: Crowd, mark: Callable[[], float], caplog: pytest.LogCaptureFixture
) -> None:
    skip_if_busy()
    before_s, during_s = attack(crowd, mark, stalled=60, slow=420, idle=300, marks=100)
    assert during_s < max(MARK_S, 3 * before_s)
    told = {each.getMessage() for each in caplog.records if each.levelno > logging.INFO}
    assert told == {f"{CONNECTIONS} connections are open: the oldest idle one was closed"}


class House(NamedTuple):
    """What a table does in some seconds: marks of one player, and frames of its camera."""

    marks_ms: list[float]
    frames_s: float

    @property
    def p99_ms(self) -> float:
        """99th percentile of the marks."""
        return sorted(self.marks_ms)[int(0.99 * (len(self.marks_ms) - 1))]


def measured(table: Play, seconds: float) -> House:
    """Change an answer four times a second, and count frames."""

    def frames() -> float:
        with urllib.request.urlopen(table.url + "/metrics", timeout=60) as answer:
            text = answer.read().decode()
        return float(re.findall(r"^dice_companion_frames_total (\S+)$", text, re.MULTILINE)[0])

    marks_ms, begun, at_first = [], time.perf_counter(), frames()
    game = table.get("/api/state")["game"]
    box = next(p["legal"][0] for p in game["players"] if p["name"] == "Player 4")
    boxes = itertools.cycle([box, None])
    while time.perf_counter() < begun + seconds:
        answer = {"turn": game["turn"], "action": 1, "rolled": game["rolled"], "box": next(boxes)}
        before = time.perf_counter()
        table.post("/api/answer", "Player 4", **answer, done=False)
        marks_ms.append(1e3 * (time.perf_counter() - before))
        time.sleep(0.25)
    return House(marks_ms, (frames() - at_first) / (time.perf_counter() - begun))


@pytest.mark.slow
def test_a_full_house_slows_neither_marks_nor_the_reader(tmp_path: Path) -> None:
    """Five players, three table views and forty spectators."""
    skip_if_busy()
    settings = tmp_path / "metrics.toml"
    settings.write_text("[web]\nmetrics = true\n[sound]\nenabled = false\n")
    with (
        playing(tmp_path, "--camera", "simulated", "--config", str(settings)) as table,
        ExitStack() as stack,
    ):
        players = [f"Player {n}" for n in range(5)]
        for name in players:
            table.post("/api/join", name, name=name)
        table.post("/api/start", players[0], first=0)
        table.post("/api/throw", players[0])
        deadline = time.monotonic() + 60
        while table.get("/api/state")["game"]["phase"] == "roll":
            assert time.monotonic() < deadline, "the simulated dice are never read"
            if table.get("/api/state")["tray"]["confirmable"]:
                table.post("/api/press", players[0])
            time.sleep(0.2)
        alone = measured(table, 20)
        crowd = Crowd(int(table.url.rpartition(":")[2]), stack)
        cookies = [table.cookies[name] for name in players] + [
            new_browser(table) for _ in range(43)
        ]
        for number, cookie in enumerate(cookies):
            guest = crowd.connect(4, number)
            view = "?view=table" if 5 <= number < 8 else ""
            head = f"GET /api/events{view} HTTP/1.1\r\nHost: localhost\r\nCookie: {cookie}\r\n\r\n"
            guest.sendall(head.encode())
            assert guest.recv(4096).startswith(b"HTTP/1.1 200")
            threading.Thread(target=drain, args=(guest,), daemon=True).start()
        full = measured(table, 20)
    assert full.p99_ms <= max(100.0, 2 * alone.p99_ms)
    assert full.frames_s >= 0.95 * alone.frames_s


def new_browser(table: Play) -> str:
    """The cookie of a browser that has opened the page."""
    with urllib.request.urlopen(table.url + "/", timeout=60) as answer:
        return str(answer.headers["Set-Cookie"]).partition(";")[0]


def drain(guest: socket.socket) -> None:
    """Read until the other side closes."""
    with suppress(OSError):
        while guest.recv(65536):
            pass


def test_an_unfinished_request_is_ended_with_a_reason(
    crowd: Crowd, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("web.connection.REQUEST_S", 0.2)
    (guest,) = crowd.slow(1)
    assert guest.recv(4096).startswith(b"HTTP/1.1 408")


def test_a_newcomer_replaces_the_oldest_idle_connection(
    crowd: Crowd, mark: Callable[[], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    mark()
    monkeypatch.setattr("web.server.CONNECTIONS", 4)
    oldest, *_ = crowd.slow(3)
    crowd.idle(1)
    assert oldest.recv(1) == b""
    assert mark() < 60, "a connection that was of use stays"
