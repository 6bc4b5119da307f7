"""Serve the page from this process: an event loop for connections, threads for requests.

Streams and slow readers are only sockets here: they hold no thread, so any number of them leaves
the threads to players. HTTP is parsed by h11. A WSGI server holds a thread for each stream, and
one of the common ASGI servers has no deadline for an incomplete request.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import threading
from collections import Counter
from collections.abc import AsyncIterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from http.client import HTTPConnection, HTTPException
from typing import Any

from flask import Flask

from companion.errors import ServerError
from companion.service.network import own_host
from web.connection import Connection, State, error_answer
from web.sse import Streams
from web.wsgi import Answer, Asked, answer_of

LOGGER = logging.getLogger(__name__)

READ_THREADS = 3
WRITE_THREADS = 8
"""Threads for steps alone, so that a mark does not queue behind pages and pictures."""

DEAD_AFTER_MS = 20_000
"""Milliseconds without an acknowledgement after which the kernel drops a connection: a phone
that fell asleep sends none."""

BUFFER_BYTES = 64 * 1024
"""Bytes that the system keeps for a slow reader, some snapshots; by itself it keeps megabytes."""

CONNECTIONS = 400
"""Most open connections; then a new one replaces one without a request."""

MANY = 16
"""Connections of one address above which a new one replaces one of that address instead (chosen; a
browser opens six). With 100, four devices that ask for much would keep everybody else out."""

AT_ONCE = 2
"""Reads, and steps, of one address that are answered at once: one thread for reads is left to
others (`READ_THREADS`). Its further requests wait, and nobody else's."""

BACKLOG = 256

ANSWER_S = 5.0
"""Seconds within which even a busy machine answers; a hung server does not."""

CLOSE_S = 1.5
WAKE_S = 0.5
"""Seconds between two checks whether a heartbeat is due."""


class _Gate(asyncio.Semaphore):
    """Lets some requests of one address through at a time.

    Attributes:
        users: How many are inside, or wait.
    """

    users = 0


class Server:
    """Serves an app until its `close`; `port` is the real one."""

    def __init__(self, app: Flask, host: str, port: int) -> None:
        """Bind and begin to answer: requests are answered once this returns.

        Raises:
            ServerError: The address or the port cannot be used.
        """
        self.host = host
        self._app = app
        self._socket = _bound(host, port)
        self.port: int = self._socket.getsockname()[1]
        self._streams: Streams = app.extensions["streams"]
        self._reads = ThreadPoolExecutor(READ_THREADS, "web-read")
        self._writes = ThreadPoolExecutor(WRITE_THREADS, "web-write")
        self._renders = ThreadPoolExecutor(1, "web-streams")
        self._open: dict[Connection, asyncio.Task[None]] = {}
        self._gates: dict[tuple[str, bool], _Gate] = {}
        self._version = 0
        self._wakes: set[asyncio.Event] = set()
        self._is_closed = False
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(_on_loop_error)
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="web", daemon=True)
        self._thread.start()
        threading.Thread(target=self._watch, name="web-watch", daemon=True).start()

    def answers(self) -> bool:
        """Whether the page answers a request within `ANSWER_S`."""
        asked = HTTPConnection(own_host(self.host), self.port, timeout=ANSWER_S)
        try:
            asked.request("GET", "/healthz", headers={"Host": "localhost"})
            return asked.getresponse().status in (200, 503)
        except (OSError, HTTPException):
            return False
        finally:
            asked.close()

    def close(self) -> None:
        """Stop answering: open streams end, requests under way finish; may be called twice."""
        if self._is_closed:
            return
        self._is_closed = True
        self._streams.close()
        with suppress(RuntimeError):  # the loop has ended by itself
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join(CLOSE_S + 1.0)
        for pool in (self._reads, self._writes, self._renders):
            pool.shutdown(wait=False, cancel_futures=True)

    def __enter__(self) -> Server:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- the event loop -------------------------------------------------------------------

    def _run(self) -> None:
        try:
            self._loop.run_until_complete(self._serve())
        finally:
            self._loop.close()

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._accept, sock=self._socket, backlog=BACKLOG)
        await self._stop.wait()
        self._loop.remove_reader(self._socket)
        await self._next_rounds()  # a connection on its way arrives, and is refused
        server.close()
        self._wake_streams(self._version)
        for connection, task in self._open.items():
            connection.is_last = True
            if connection.state is State.READING:
                task.cancel()
        if tasks := set(self._open.values()):
            await asyncio.wait(tasks, timeout=CLOSE_S)
        late = asyncio.all_tasks() - {asyncio.current_task()}
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)
        await self._next_rounds()  # closed connections let go of their sockets

    async def _next_rounds(self) -> None:
        """Let callbacks run, and those that they ask for: asyncio needs three rounds to accept."""
        for _ in range(4):
            await asyncio.sleep(0)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        is_full = len(self._open) >= CONNECTIONS
        if self._stop.is_set() or (is_full and not self._make_room()):
            writer.transport.abort()
            return
        connection = Connection(reader, writer, self._answer, self._stream)
        task = self._loop.create_task(connection.run())
        self._open[connection] = task

        def forget(_: asyncio.Task[None]) -> None:
            self._open.pop(connection, None)
            with suppress(AttributeError):  # asyncio raises it if the rest went out after close()
                writer.transport.abort()

        task.add_done_callback(forget)

    def _make_room(self) -> bool:
        """Close a connection of an address that has many, or else one without a request.

        If possible it is one that never sent any; streams stay.
        """
        able = [c for c in self._open if c.state < State.STREAMING]
        held = Counter(connection.address for connection in able)
        if held and max(held.values()) > MANY:
            able = [c for c in able if held[c.address] == max(held.values())]
        else:
            able = [c for c in able if c.state < State.WORKING]
        if not able:
            return False
        chosen = min(able, key=lambda c: (c.state, c.answered > 0, -held[c.address], c.opened_s))
        self._open.pop(chosen).cancel()
        LOGGER.warning("%d connections are open: the oldest idle one was closed", CONNECTIONS)
        return True

    async def _answer(self, asked: Asked) -> Answer:
        is_read = asked.method in ("GET", "HEAD", "OPTIONS")
        pool = self._reads if is_read else self._writes
        try:
            async with self._turn(asked.peer[0], is_read):
                made = pool.submit(answer_of, self._app, asked, (self.host, self.port))
                try:
                    return await asyncio.wrap_future(made)
                except asyncio.CancelledError:
                    made.add_done_callback(self._let_go)
                    raise
        except Exception:
            LOGGER.exception("a request could not be answered")
            return error_answer(500)

    def _let_go(self, made: Future[Answer]) -> None:
        """Close the stream of an answer that nobody waits for any more; on any thread."""
        if made.cancelled() or made.exception() is not None:
            return
        if (stream := made.result().stream) is not None:
            with suppress(RuntimeError):  # the server closes
                self._renders.submit(stream.close)

    @asynccontextmanager
    async def _turn(self, address: str, is_read: bool) -> AsyncIterator[None]:
        """Wait until fewer than `AT_ONCE` reads, or steps, of an address are being answered."""
        gate = self._gates.setdefault((address, is_read), _Gate(AT_ONCE))
        gate.users += 1
        try:
            async with gate:
                yield
        finally:
            gate.users -= 1
            if not gate.users:
                del self._gates[address, is_read]

    async def _stream(self, answer: Answer, connection: Connection) -> None:
        stream, wake = answer.stream, asyncio.Event()
        assert stream is not None
        self._wakes.add(wake)
        gone = asyncio.ensure_future(connection.until_gone())
        gone.add_done_callback(lambda _: wake.set())
        try:
            await connection.begin(answer)
            while not (stream.is_closed or gone.done()):
                if stream.is_due(self._version):
                    message = await self._loop.run_in_executor(self._renders, stream.message)
                    if message:
                        await connection.send_piece(message)
                else:
                    with suppress(TimeoutError):
                        async with asyncio.timeout(stream.pending_s(self._version)):
                            await wake.wait()
                    wake.clear()
            await connection.end()
        finally:
            self._wakes.discard(wake)
            gone.cancel()
            with suppress(RuntimeError):  # the server closes
                self._renders.submit(stream.close)

    def _wake_streams(self, version: int) -> None:
        self._version = version
        for wake in self._wakes:
            wake.set()

    def _watch(self) -> None:
        """Wake the streams at every change of the table, and for their heartbeats."""
        version = 0
        while not self._is_closed:
            version = self._streams.session.wait(version, WAKE_S)
            with suppress(RuntimeError):  # the loop is closed
                self._loop.call_soon_threadsafe(self._wake_streams, version)


def _on_loop_error(_: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Log in one line, such as that the system has no more file descriptors."""
    LOGGER.warning("%s: %s", context.get("message"), context.get("exception"))


def _bound(host: str, port: int) -> socket.socket:
    if not 0 <= port <= 65535:  # getaddrinfo would take it modulo 65536
        raise ServerError(f"{host}:{port}: expected a port from 0 to 65535")
    try:
        info = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (OSError, UnicodeError, OverflowError) as error:
        raise ServerError(f"{host}:{port}: expected an address of this machine: {error}") from error
    family, kind, proto, _, address = info
    bound = socket.socket(family, kind, proto)
    try:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:  # :: means IPv4 too, whatever the system's default
            bound.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        # accepted connections inherit these
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, BUFFER_BYTES)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, DEAD_AFTER_MS)
        bound.bind(address)
        bound.listen()  # some busy ports fail only here
    except (OSError, OverflowError) as error:
        bound.close()
        reason = getattr(error, "strerror", None) or str(error)
        is_foreign = getattr(error, "errno", None) == errno.EADDRNOTAVAIL
        wanted = "an address of this machine" if is_foreign else "a free port"
        raise ServerError(f"{host}:{port}: expected {wanted}: {reason}") from error
    return bound
