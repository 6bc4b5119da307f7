"""Serve the page from this process: waitress on a thread of its own."""

from __future__ import annotations

import errno
import logging
import socket
import threading
from collections.abc import Callable
from http.client import HTTPConnection, HTTPException
from typing import Any

from flask import Flask
from waitress import create_server, wasyncore
from waitress.channel import HTTPChannel
from waitress.task import ErrorTask

from companion.errors import ServerError
from web.security import HEADERS

LOGGER = logging.getLogger(__name__)

THREADS = 48
"""One for each stream (36), the rest for requests; with waitress's own 4 the page would hang."""

BUFFER_BYTES = 256 * 1024
"""What may wait for one slow reader: some dozens of snapshots."""

DEAD_AFTER_MS = 20_000
"""A phone that fell asleep acknowledges nothing; the kernel then drops its connection."""

CONNECTIONS = 400
IDLE_S = 60
"""A connection that asks for nothing is closed after so long, and so many are held: with waitress's
own 100 and 120 s a phone that opens many keeps everybody out."""

ANSWER_S = 5.0
"""A busy machine still answers within this; a hung server does not."""

CLOSE_S = 1.5
POLL_S = 0.5


class _ErrorTask(ErrorTask):  # type: ignore[misc]
    """The server's own answer to a request it cannot read, with the headers of every answer."""

    def execute(self) -> None:
        self.response_headers.extend(HEADERS.items())
        super().execute()


class _Channel(HTTPChannel):  # type: ignore[misc]
    error_task_class = _ErrorTask


class Server:
    """A bound and answering server; `port` is the real one."""

    def __init__(self, app: Flask, host: str, port: int) -> None:
        """Bind and begin to answer.

        Raises:
            ServerError: The address or the port cannot be used.
        """
        self.host = host
        self._socket = _bound(host, port)
        self.port: int = self._socket.getsockname()[1]
        self._end_streams: Callable[[], None] = app.extensions["streams"].close
        self._map: dict[int, Any] = {}
        self._server = create_server(
            app,
            map=self._map,
            sockets=[self._socket],
            threads=THREADS,
            outbuf_high_watermark=BUFFER_BYTES,
            connection_limit=CONNECTIONS,
            channel_timeout=IDLE_S,
            cleanup_interval=IDLE_S // 2,
            max_request_body_size=64 * 1024,
            max_request_header_size=16 * 1024,
            ident=None,
        )
        self._server.channel_class = _Channel
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="web", daemon=True)
        self._thread.start()

    def answers(self) -> bool:
        """Whether the page answers a request within `ANSWER_S`."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1", "": "127.0.0.1"}.get(self.host, self.host)
        asked = HTTPConnection(host, self.port, timeout=ANSWER_S)
        try:
            asked.request("GET", "/healthz", headers={"Host": "localhost"})
            return asked.getresponse().status in (200, 503)
        except (OSError, HTTPException):
            return False
        finally:
            asked.close()

    def close(self) -> None:
        """Stop answering: open streams end, requests under way finish; may be called twice."""
        if self._stop.is_set():
            return
        self._stop.set()
        self._end_streams()
        self._server.pull_trigger()
        self._thread.join(POLL_S + 1.0)
        self._server.task_dispatcher.shutdown(cancel_pending=True, timeout=CLOSE_S)
        # what the last tasks wrote is sent before the connections are let go
        wasyncore.loop(timeout=0.05, map=self._map, count=2)
        wasyncore.close_all(self._map, ignore_all=True)
        self._socket.close()

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                wasyncore.loop(timeout=POLL_S, map=self._map, use_poll=True, count=1)
            except Exception:
                LOGGER.exception("the web server stumbled")


def serve(app: Flask, *, host: str = "0.0.0.0", port: int = 8000) -> Server:
    """Serve an app of `create_app` until its `close`; returns as soon as it answers requests.

    Raises:
        ServerError: The address or the port cannot be used.
    """
    return Server(app, host, port)


def _bound(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65535:  # the resolver would take it modulo 65536
        raise ServerError(f"{host}:{port}: expected a port from 0 to 65535")
    try:
        info = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (OSError, UnicodeError, OverflowError) as error:
        raise ServerError(f"{host}:{port}: expected an address of this machine: {error}") from error
    family, kind, proto, _, address = info
    bound = socket.socket(family, kind, proto)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # accepted connections inherit it
            bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, DEAD_AFTER_MS)
        bound.bind(address)
        bound.listen()  # a busy port that only listening finds out is an error here, not later
    except (OSError, OverflowError) as error:
        bound.close()
        reason = getattr(error, "strerror", None) or str(error)
        is_foreign = getattr(error, "errno", None) == errno.EADDRNOTAVAIL
        wanted = "an address of this machine" if is_foreign else "a free port"
        raise ServerError(f"{host}:{port}: expected {wanted}: {reason}") from error
    return bound
