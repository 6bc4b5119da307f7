"""Live updates as Server-Sent Events: always the newest full snapshot, on a limited number of
streams."""

from __future__ import annotations

import math
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

from web.client import Client

HEARTBEAT_S = 10.0
"""Seconds between two heartbeats: a stream that nobody reads is noticed only by writing to it."""

LIFE_S = 600.0
"""Seconds after which a stream ends and the browser opens a new one."""

MOST_INSIDE = 36
"""Streams of players, hosts and paired table views."""

MOST_OUTSIDE = 64
"""Streams of all other devices; they never take a place from those."""

OUTSIDE_S = 0.25
"""Seconds between two states for a spectator: forty of them cost the reader little time."""

MOST_PER_BROWSER = 4
"""Most streams of a browser; the oldest is replaced. Browsers open six connections to a host, so
two stay free for requests."""

RETRY_MS = 1000

Render = Callable[[Client], tuple[int, str]]
"""Returns the current version and the snapshot for a device."""


class Source(Protocol):
    """The source of streams: it counts its versions, and knows the seats of a browser."""

    def wait(self, version: int, timeout_s: float) -> int:
        """Block until there is a newer version or time is up; return the version now."""

    def wake(self) -> None:
        """Wake every waiting thread."""

    def seats_of(self, tokens: Sequence[str]) -> tuple[int, ...]:
        """The seats that tokens prove."""

    def connected(self, seat: int) -> None:
        """A stream of a seat was opened."""

    def disconnected(self, seat: int) -> None:
        """A stream of a seat was closed."""


class Stream:
    """One browser's stream; closing it frees its place.

    Attributes:
        is_closed: It has ended.
        is_replaced: Another stream has its place: it ends with its next message.
    """

    def __init__(self, streams: Streams, client: Client, *, is_inside: bool) -> None:
        self._streams, self.client, self.browser = streams, client, client.device
        self.is_inside = is_inside
        self.address = client.address
        self.seats = streams.session.seats_of(client.tokens)
        self._version = -1
        self._from_s = -math.inf
        self._until_s = streams.clock() + LIFE_S
        self._beat_at_s = streams.clock() + HEARTBEAT_S
        self.is_closed = False
        self.is_replaced = False

    def is_due(self, version: int) -> bool:
        """Whether a message is due at this version of the table; never blocks."""
        now_s = self._streams.clock()
        return (
            self.is_replaced
            or self._streams.is_closed
            or (version > self._version and now_s >= self._from_s)
            or now_s >= min(self._beat_at_s, self._until_s)
        )

    def pending_s(self, version: int) -> float | None:
        """Seconds until a newer version may be sent; None if this one was. Never blocks."""
        if version <= self._version:
            return None
        return max(0.0, self._from_s - self._streams.clock())

    def message(self) -> bytes:
        """Return the due message; empty if the stream ends. May wait for the table's lock."""
        if self.is_closed:
            return b""
        now_s = self._streams.clock()
        if self.is_replaced:
            self.close()
            return b"event: replaced\ndata: {}\n\n"
        if self._streams.is_closed or now_s >= self._until_s:
            self.close()
            return b""
        is_first = self._version < 0
        version, text = self._streams.render(self.client)
        self._beat_at_s = now_s + HEARTBEAT_S
        if version <= self._version:
            return b": beat\nevent: beat\ndata: {}\n\n"
        self._version = version
        self._from_s = now_s + self._streams.pause_s[self.is_inside]
        retry = f"retry: {RETRY_MS}\n" if is_first else ""
        return f"{retry}id: {version}\nevent: state\ndata: {text}\n\n".encode()

    def close(self) -> None:
        """Free the place; may be called twice. May wait for the table's lock."""
        if not self.is_closed:
            self.is_closed = True
            self._streams.forget(self)


class Streams:
    """All open streams: `session` reports new versions, `render` makes the snapshots."""

    def __init__(
        self,
        session: Source,
        render: Render,
        *,
        clock: Callable[[], float] = time.monotonic,
        most_inside: int = MOST_INSIDE,
        most_outside: int = MOST_OUTSIDE,
        most_per_browser: int = MOST_PER_BROWSER,
        inside_s: float = 0.0,
    ) -> None:
        """Make an empty set of streams.

        Args:
            inside_s: Seconds between two states for those inside.
        """
        self.session, self.render, self.clock = session, render, clock
        self.pause_s = {True: inside_s, False: OUTSIDE_S}
        self._most = {True: most_inside, False: most_outside}
        self._most_per_browser = most_per_browser
        self._mutex = threading.Lock()
        self._open: list[Stream] = []
        self.is_closed = False

    def __len__(self) -> int:
        with self._mutex:
            return len(self._open)

    def open(self, client: Client, *, is_inside: bool = False) -> Stream | None:
        """Return a new stream, or None if there is no place for it.

        A browser with its full share loses its oldest stream. If all places are taken, the address
        with the most streams loses its oldest, so that one device cannot keep the others out.

        Args:
            is_inside: It belongs to a player, a host or a paired table view.
        """
        stream = Stream(self, client, is_inside=is_inside)
        with self._mutex:
            if self.is_closed:
                return None
            kept = [s for s in self._open if not s.is_replaced]
            own = [s for s in kept if s.browser is not None and s.browser == stream.browser]
            alike = [s for s in kept if s.is_inside is is_inside]
            if len(own) >= self._most_per_browser:
                own[0].is_replaced = True
            elif len(alike) >= self._most[is_inside]:
                held = Counter(s.address for s in alike)
                most, count = held.most_common(1)[0]
                if count <= held[stream.address] + 1:
                    return None
                next(s for s in alike if s.address == most).is_replaced = True
            self._open.append(stream)
        for seat in stream.seats:
            self.session.connected(seat)
        return stream

    def forget(self, stream: Stream) -> None:
        """Remove a closed stream."""
        with self._mutex:
            if stream not in self._open:
                return
            self._open.remove(stream)
        for seat in stream.seats:
            self.session.disconnected(seat)

    def close(self) -> None:
        """End all streams."""
        self.is_closed = True
        self.session.wake()
