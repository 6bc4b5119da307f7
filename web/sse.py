"""Live updates as Server-Sent Events: full snapshots, the newest only, a bounded number of them."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator

from companion.session.session import Session
from web.client import Client

HEARTBEAT_S = 10.0
"""Between two signs of life; a stream nobody reads is only noticed by writing to it."""

LIFE_S = 600.0
"""A stream ends after ten minutes and the browser opens a new one: none is held for ever."""

MOST_STREAMS = 36
"""In all: each holds one of the server's 48 threads, and 8 must stay free for requests."""

LEAVING = 4
"""So many more while those that were replaced have not ended yet, within WAKE_S."""

MOST_PER_BROWSER = 4
"""The newest ones stay. Browsers open six connections to a host; two stay free for marks."""

RETRY_MS = 1000
WAKE_S = 0.5
"""How often a waiting stream looks whether it has to end: a shutdown must not take longer."""

Render = Callable[[Client], tuple[int, str]]
"""The version now, and the snapshot a device is sent."""


class Stream(Iterator[bytes]):
    """One browser's stream; closing it frees its place."""

    def __init__(self, streams: Streams, client: Client) -> None:
        self._streams, self.client, self.browser = streams, client, client.device
        self.address = client.looks[0]
        self.seats = streams.session.seats_of(client.tokens)
        self._version = -1
        self._until_s = streams.clock() + streams.life_s
        self._is_closed = False
        self.is_replaced = False

    def __next__(self) -> bytes:
        streams = self._streams
        beat_at_s = streams.clock() + streams.heartbeat_s
        first = self._version < 0
        while not self._is_closed and not streams.is_closed:
            if self.is_replaced:
                self.close()
                return b"event: replaced\ndata: {}\n\n"
            now_s = streams.clock()
            if now_s >= self._until_s:
                break
            if first or streams.session.wait(self._version, WAKE_S) > self._version:
                return self._state(first)
            if now_s >= beat_at_s:
                return b": beat\nevent: beat\ndata: {}\n\n"
        self.close()
        raise StopIteration

    def _state(self, first: bool) -> bytes:
        self._version, text = self._streams.render(self.client)
        retry = f"retry: {RETRY_MS}\n" if first else ""
        return f"{retry}id: {self._version}\nevent: state\ndata: {text}\n\n".encode()

    def close(self) -> None:
        """Free the place; may be called twice."""
        if not self._is_closed:
            self._is_closed = True
            self._streams.forget(self)


class Streams:
    """Every open stream. `session` is asked for versions only, `render` for what is sent."""

    def __init__(
        self,
        session: Session,
        render: Render,
        *,
        clock: Callable[[], float] = time.monotonic,
        heartbeat_s: float = HEARTBEAT_S,
        life_s: float = LIFE_S,
        most: int = MOST_STREAMS,
        most_per_browser: int = MOST_PER_BROWSER,
    ) -> None:
        self.session, self.render, self.clock = session, render, clock
        self.heartbeat_s, self.life_s = heartbeat_s, life_s
        self._most, self._most_per_browser = most, most_per_browser
        self._mutex = threading.Lock()
        self._open: list[Stream] = []
        self.is_closed = False

    def __len__(self) -> int:
        with self._mutex:
            return len(self._open)

    def open(self, client: Client) -> Stream | None:
        """A new stream, or None where all places are taken.

        A browser that has its share loses its oldest one instead; where all places are taken the
        address with the most loses its oldest, so that one device cannot keep the others out.
        """
        stream, browser = Stream(self, client), client.device
        with self._mutex:
            kept = [s for s in self._open if not s.is_replaced]
            own = [s for s in kept if browser is not None and s.browser == browser]
            if self.is_closed or len(self._open) >= self._most + LEAVING:
                return None
            if len(own) >= self._most_per_browser:
                own[0].is_replaced = True
            elif len(kept) >= self._most:
                held = Counter(s.address for s in kept)
                most, count = held.most_common(1)[0]
                if count <= held[stream.address] + 1:
                    return None
                next(s for s in kept if s.address == most).is_replaced = True
            self._open.append(stream)
        for seat in stream.seats:
            self.session.connected(seat)
        return stream

    def forget(self, stream: Stream) -> None:
        """Hear that a stream was closed."""
        with self._mutex:
            if stream not in self._open:
                return
            self._open.remove(stream)
        for seat in stream.seats:
            self.session.disconnected(seat)

    def close(self) -> None:
        """End all streams: at once, or where a change is under way within WAKE_S."""
        self.is_closed = True
        self.session.wake()
