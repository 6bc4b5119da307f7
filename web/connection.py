"""One HTTP/1.1 connection: read requests under a deadline, write answers at the client's pace."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from email.utils import formatdate
from enum import IntEnum
from http import HTTPStatus

import h11

from web.security import HEADERS
from web.wsgi import Answer, Asked

IDLE_S = 60.0
"""Seconds a connection may stay open without a request."""

REQUEST_S = 10.0
"""Seconds from a request's first byte to its last one."""

WRITE_S = 30.0
"""Seconds a client may take to make room for more of an answer."""

LINGER_S = 1.0
"""Seconds an error is kept readable for a client that is still sending."""

HEAD_BYTES = 16 * 1024
BODY_BYTES = 64 * 1024
"""Longest request that is read; `web.security` allows less and answers with a sentence."""

PIPELINED_S = 0.1
"""Pause before a request that came with the one before; no browser sends such."""

PIECE_BYTES = 64 * 1024
_READ_BYTES = 16 * 1024

_REASONS = {status.value: status.phrase.encode() for status in HTTPStatus}

Handle = Callable[[Asked], Awaitable[Answer]]
StreamTo = Callable[[Answer, "Connection"], Awaitable[None]]


class State(IntEnum):
    """States of a connection; the lowest are closed first when too many are open."""

    READING = 0
    WRITING = 1
    WORKING = 2
    STREAMING = 3


@dataclass(frozen=True, slots=True)
class _Unreadable(Exception):
    """A request that gets an error of the server."""

    status: int


class Connection:
    """One connection, from its first request to its end.

    Attributes:
        address: The client's address.
        state: What it is doing.
        answered: Number of answered requests.
        is_last: Whether the request under way is the last one, as when the server closes.
        opened_s: When it was opened, in monotonic seconds.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        handle: Handle,
        stream_to: StreamTo,
    ) -> None:
        self._reader, self._writer = reader, writer
        self._handle, self._stream_to = handle, stream_to
        self._http = h11.Connection(h11.SERVER, max_incomplete_event_size=HEAD_BYTES)
        self._peer = writer.get_extra_info("peername") or ("", 0)
        self.address: str = self._peer[0]
        self.state = State.READING
        self.answered = 0
        self.is_last = False
        self.opened_s = time.monotonic()

    async def run(self) -> None:
        """Answer requests until one side ends the connection; the caller aborts its transport."""
        with suppress(OSError, TimeoutError, h11.LocalProtocolError):  # gone, or does not read
            try:
                while not self.is_last and await self._turn():
                    self.answered += 1
            except _Unreadable as error:
                await self._fail(error.status)
            await self._finish()

    async def _turn(self) -> bool:
        """Answer one request; returns whether another may follow."""
        self.state = State.READING
        asked = await self._request()
        if asked is None:
            return False
        self.state = State.WORKING
        answer = await self._handle(asked)
        if answer.stream is not None:
            await self._stream_to(answer, self)
            return False
        await self.send(answer, without_body=asked.method == "HEAD")
        if self._http.our_state is not h11.DONE or self._http.their_state is not h11.DONE:
            return False
        self._http.start_next_cycle()
        return True

    # -- reading --------------------------------------------------------------------------

    async def _request(self) -> Asked | None:
        """Read a request; None if the client asks no more."""
        if self._http.trailing_data[0]:
            await asyncio.sleep(PIPELINED_S)
        else:
            async with asyncio.timeout(IDLE_S):
                self._http.receive_data(await self._reader.read(_READ_BYTES))
        try:
            async with asyncio.timeout(REQUEST_S):
                head = await self._event()
                if not isinstance(head, h11.Request):
                    return None
                return Asked(
                    method=head.method.decode("ascii"),
                    target=head.target,
                    version=head.http_version.decode("ascii"),
                    headers=list(head.headers),
                    body=await self._body(head),
                    peer=self._peer,
                )
        except h11.RemoteProtocolError as error:
            raise _Unreadable(error.error_status_hint) from error
        except ValueError as error:  # a length of thousands of digits
            raise _Unreadable(400) from error
        except TimeoutError as error:
            raise _Unreadable(408) from error

    async def _body(self, head: h11.Request) -> bytes:
        announced = dict(head.headers).get(b"content-length", b"0")
        if int(announced) > BODY_BYTES:  # digits only, h11 has checked
            raise _Unreadable(413)
        body = bytearray()
        while isinstance(event := await self._event(), h11.Data):
            body += event.data
            if len(body) > BODY_BYTES:
                raise _Unreadable(413)
        return bytes(body)

    async def _event(self) -> object:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            if self._http.they_are_waiting_for_100_continue:
                go_on = h11.InformationalResponse(status_code=100, headers=[])
                self._writer.write(self._http.send(go_on))
            self._http.receive_data(await self._reader.read(_READ_BYTES))
        return event

    async def until_gone(self) -> None:
        """Return when the client has closed its side; what it sends until then is dropped."""
        with suppress(OSError):
            while await self._reader.read(_READ_BYTES):
                pass

    # -- writing --------------------------------------------------------------------------

    async def send(self, answer: Answer, *, without_body: bool = False) -> None:
        """Write a whole answer. Raises TimeoutError if the client does not read it."""
        self.state = State.WRITING
        body = b"" if without_body or answer.status in (204, 304) else answer.body
        pieces = [body[at : at + PIECE_BYTES] for at in range(0, len(body), PIECE_BYTES)]
        written = self._head(answer)
        for piece in pieces:
            await self._write(written + self._data(piece))
            written = b""
        await self._write(written + (self._http.send(h11.EndOfMessage()) or b""))

    async def begin(self, answer: Answer) -> None:
        """Write the head of an answer whose end is not known."""
        self.state = State.STREAMING
        await self._write(self._head(answer))

    async def send_piece(self, data: bytes) -> None:
        """Write a piece of a begun answer. Raises TimeoutError if the client does not read it."""
        await self._write(self._data(data))

    async def end(self) -> None:
        """Write the end of a begun answer."""
        await self._write(self._http.send(h11.EndOfMessage()) or b"")

    def _head(self, answer: Answer) -> bytes:
        kept = [each for each in answer.headers if each[0] != "Date"]  # Flask dates files itself
        named = [*kept, ("Date", formatdate(usegmt=True))]
        headers = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in named]
        reason = _REASONS.get(answer.status, b"")
        head = h11.Response(status_code=answer.status, headers=headers, reason=reason)
        return self._http.send(head) or b""

    def _data(self, piece: bytes) -> bytes:
        return self._http.send(h11.Data(data=piece)) or b""

    async def _write(self, data: bytes) -> None:
        self._writer.write(data)
        async with asyncio.timeout(WRITE_S):
            await self._writer.drain()

    async def _finish(self) -> None:
        """Close the connection once everything is sent."""
        self._writer.close()
        async with asyncio.timeout(WRITE_S):
            await self._writer.wait_closed()

    async def _fail(self, status: int) -> None:
        if self._http.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return
        await self.send(error_answer(status))
        with suppress(TimeoutError):
            async with asyncio.timeout(LINGER_S):
                self._writer.write_eof()
                await self.until_gone()


def error_answer(status: int) -> Answer:
    """Make the server's own answer to a request that no view receives."""
    reason = f"{status}\n".encode()
    headers = [
        ("Content-Type", "text/plain; charset=utf-8"),
        ("Content-Length", str(len(reason))),
        ("Connection", "close"),
        ("Cache-Control", "no-store"),
        *HEADERS.items(),
    ]
    return Answer(status, headers, reason)
