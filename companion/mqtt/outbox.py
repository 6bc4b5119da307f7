"""Messages on their way to a broker, until it has acknowledged them."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from typing import NamedTuple

from companion.mqtt.broker import Message

MOST_WAITING = 200
"""Messages of topics that are not retained; the oldest give way."""

MOST_IN_FLIGHT = 20
"""Messages that the broker has not acknowledged yet."""

LARGE_BYTES = 64 * 1024
"""Only pictures have more: they are sent last, because a broker may hang up at one."""

MOST_HANG_UPS = 3
"""Connections lost at a large message, one after the other, before such are dropped."""

_HEADER_BYTES = 32
"""Of a packet, without its topic and its payload."""


class Queued(NamedTuple):
    """A message that waits, or that was sent: `key` is its topic, or its own if not retained."""

    key: object
    message: Message
    since_s: float

    @property
    def size_bytes(self) -> int:
        """At most so large is its packet."""
        return _HEADER_BYTES + len(self.message.topic.encode()) + len(self.message.payload)

    @property
    def is_large(self) -> bool:
        """Whether a broker may hang up at it."""
        return self.size_bytes > LARGE_BYTES

    @property
    def is_worthless(self) -> bool:
        """Whether it is a passing message that came to nothing in time."""
        message = self.message
        if message.retain or message.keep_s is None:
            return False
        return time.monotonic() - self.since_s > message.keep_s


class Outbox:
    """All messages that the broker does not have yet; may be used from any thread.

    Of a retained topic that is only the newest one, of others the newest `MOST_WAITING`.
    """

    def __init__(self) -> None:
        """Begin empty."""
        self._mutex = threading.Lock()
        self._waiting: OrderedDict[object, Queued] = OrderedDict()
        self._in_flight: dict[int, Queued] = {}
        self._hang_ups = 0

    def __len__(self) -> int:
        with self._mutex:
            return len(self._waiting) + len(self._in_flight)

    def put(self, message: Message) -> None:
        """Add a message; a retained one replaces an older one of its topic that waits."""
        key: object = message.topic if message.retain else object()
        with self._mutex:
            self._waiting.pop(key, None)
            self._waiting[key] = Queued(key, message, time.monotonic())
            self._drop_oldest()

    def take(self) -> list[Queued]:
        """Take what can be sent now, large ones last; of each retained topic one at a time."""
        with self._mutex:
            busy = {sent.key for sent in self._in_flight.values()}
            ready = [queued for key, queued in self._waiting.items() if key not in busy]
            ready.sort(key=lambda queued: queued.is_large)
            taken = ready[: MOST_IN_FLIGHT - len(self._in_flight)]
            for queued in taken:
                del self._waiting[queued.key]
        return [queued for queued in taken if not queued.is_worthless]

    def fault_of(self, queued: Queued, most_bytes: float) -> str:
        """Why a message cannot be sent, in words; "" if it can.

        Args:
            most_bytes: The largest packet that the broker says it takes.
        """
        size = f"{queued.message.topic} of {queued.size_bytes} bytes"
        if queued.size_bytes > most_bytes:
            return f"it takes no {size}"
        if queued.is_large and self._hang_ups >= MOST_HANG_UPS:
            return f"it hangs up at {size}"
        return ""

    def sent(self, mid: int, queued: Queued) -> None:
        """Note the number under which a message was sent."""
        with self._mutex:
            self._in_flight[mid] = queued

    def acknowledged(self, mid: int) -> Message | None:
        """Forget a message that the broker has; None for an unknown number."""
        with self._mutex:
            queued = self._in_flight.pop(mid, None)
        if queued is None:
            return None
        if queued.is_large:
            self._hang_ups = 0
        return queued.message

    def forget_retained(self) -> None:
        """Drop what waits of retained topics: their owner publishes them as they are now."""
        with self._mutex:
            for key in [key for key in self._waiting if isinstance(key, str)]:
                del self._waiting[key]

    def take_back(self, *, was_stable: bool) -> None:
        """Queue again what was not acknowledged, before what came later.

        Args:
            was_stable: The connection that was lost had lasted.
        """
        with self._mutex:
            lost, self._in_flight = list(self._in_flight.values()), {}
            if was_stable:
                self._hang_ups = 0
            self._hang_ups += any(queued.is_large for queued in lost)
            for queued in reversed(lost):
                if queued.key not in self._waiting:
                    self._waiting[queued.key] = queued
                    self._waiting.move_to_end(queued.key, last=False)
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        passing = [key for key in self._waiting if not isinstance(key, str)]
        for key in passing[: max(0, len(passing) - MOST_WAITING)]:
            del self._waiting[key]
