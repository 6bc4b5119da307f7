"""The server: any free port, one line when it has none, and a quick end with streams open."""

from __future__ import annotations

import gc
import http.client
import json
import re
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest
from flask import Flask

from companion.errors import ServerError
from tests.session.fakes import Stage
from tests.waiting import until
from web.client import Client
from web.server import Server
from web.sse import MOST_INSIDE, Stream, Streams

Get = Callable[[int, str], http.client.HTTPResponse]


@pytest.fixture
def get() -> Iterator[Get]:
    """get(port, path): an answer, open until the test ends."""
    opened: list[http.client.HTTPConnection | http.client.HTTPResponse] = []

    def ask(port: int, path: str) -> http.client.HTTPResponse:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", path)
        answer = connection.getresponse()
        opened.extend((answer, connection))
        return answer

    yield ask
    for each in opened:
        each.close()


def test_it_answers_on_the_port_it_found(served: Server, get: Get) -> None:
    assert served.port > 0
    got = get(served.port, "/healthz")
    assert got.status == 200
    assert json.load(got)["status"] == "ok"


def test_an_address_of_another_machine_is_named_as_such(app: Flask) -> None:
    with pytest.raises(ServerError, match="expected an address of this machine: Cannot assign"):
        Server(app, "192.0.2.1", 0)


def test_many_connections_that_ask_for_nothing_keep_nobody_out(served: Server, get: Get) -> None:
    idle = [socket.create_connection(("127.0.0.1", served.port), 5) for _ in range(150)]
    try:
        assert get(served.port, "/healthz").status == 200
    finally:
        for each in idle:
            each.close()


def test_a_busy_port_is_one_line(app: Flask, served: Server) -> None:
    with pytest.raises(ServerError) as raised:
        Server(app, "127.0.0.1", served.port)
    assert re.fullmatch(r"127\.0\.0\.1:\d+: expected a free port: \S.*", str(raised.value))


@pytest.mark.parametrize(
    ("host", "port"),
    [("192.0.2.77", 0), ("no.such.host.invalid", 0), ("127.0.0.1", 99_999), ("x" * 300, 0)],
)
def test_addresses_that_cannot_be_used(app: Flask, host: str, port: int) -> None:
    with pytest.raises(ServerError) as raised:
        Server(app, host, port)
    assert "\n" not in str(raised.value)


def test_it_stops_within_two_seconds_though_streams_are_open(app: Flask, get: Get) -> None:
    server = Server(app, "127.0.0.1", 0)
    streams = [get(server.port, "/api/events") for _ in range(6)]
    for stream in streams:
        assert stream.readline().startswith(b"retry")
    before = time.monotonic()
    server.close()
    server.close()
    assert time.monotonic() - before < 2.0
    with pytest.raises(OSError):  # noqa: PT011
        socket.create_connection(("127.0.0.1", server.port), timeout=1).close()


def test_connections_that_arrive_as_it_closes_are_closed_too(app: Flask) -> None:
    for wait_ms in range(0, 20, 4):
        opened: list[socket.socket] = []
        server = Server(app, "127.0.0.1", 0)
        thread = threading.Thread(target=connect_until_refused, args=(server.port, opened))
        thread.start()
        time.sleep(wait_ms / 1000)
        server.close()
        thread.join()
        for each in opened:
            with each, suppress(ConnectionError):
                while each.recv(4096):
                    pass


def connect_until_refused(port: int, opened: list[socket.socket]) -> None:
    with suppress(OSError):
        while True:
            opened.append(socket.create_connection(("127.0.0.1", port), 5))
            opened[-1].sendall(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")


def test_the_rest_of_a_last_answer_goes_out_without_a_warning(
    app: Flask, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("web.server.BUFFER_BYTES", 4096)  # asyncio has to keep most of the answer
    app.add_url_rule("/much", view_func=lambda: "x" * 60_000)
    with Server(app, "127.0.0.1", 0) as server, socket.socket() as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", server.port))
        slow.sendall(b"GET /much HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        read = 0
        while got := slow.recv(4096):
            read += len(got)
    assert read > 60_000
    gc.collect()  # asyncio warns of a task's exception when it frees the task
    assert caplog.messages == []


def test_requests_are_answered_while_all_streams_are_taken(served: Server, get: Get) -> None:
    streams = [get(served.port, "/api/events") for _ in range(MOST_INSIDE)]  # by the machine
    for stream in streams:
        stream.readline()
    assert get(served.port, "/api/events").status == 503
    assert get(served.port, "/healthz").status == 200


def test_a_change_arrives_through_the_server(served: Server, stage: Stage, get: Get) -> None:
    stream = get(served.port, "/api/events")
    assert b'"seats":[]' in read_message(stream)
    threading.Thread(target=stage.session.join, args=("Ada",)).start()
    assert b'"name":"Ada"' in read_message(stream)


def read_message(stream: http.client.HTTPResponse) -> bytes:
    lines = []
    while (line := stream.readline()).strip():
        lines.append(line)
    return b"".join(lines)


def test_a_connection_that_is_replaced_as_its_stream_opens_leaves_none(
    served: Server, app: Flask, monkeypatch: pytest.MonkeyPatch
) -> None:
    streams: Streams = app.extensions["streams"]
    opens, go_on, has_opened = threading.Event(), threading.Event(), threading.Event()
    really_open = streams.open

    def open_late(client: Client, *, is_inside: bool = False) -> Stream | None:
        opens.set()
        assert go_on.wait(9)
        stream = really_open(client, is_inside=is_inside)
        has_opened.set()
        return stream

    monkeypatch.setattr(streams, "open", open_late)
    with socket.create_connection(("127.0.0.1", served.port)) as phone:
        phone.sendall(b"GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert opens.wait(9)
        (task,) = served._open.values()
        served._loop.call_soon_threadsafe(task.cancel)  # as `_make_room` does
        until(lambda: not served._open)
        go_on.set()
        assert has_opened.wait(9)
    until(lambda: not len(streams))
