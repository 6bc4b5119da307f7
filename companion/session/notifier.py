"""One mutex for a table's changes, and the telling of them once it is let go."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from companion.messages.announcements import Announcement
from companion.session.ports import Listener

PASSING, RETRACTED = "refused", "retracted"
"""The kind of announcement that is true only until something changes, and the one that ends it."""

_PATIENCE_S = 0.1
"""So long a table that ends waits for a change under way before it wakes who waits (own choice, a
fifth of the half second after which they look by themselves)."""


class Notifier:
    """Counts changes, wakes who waits for them, and keeps announcements until the mutex is free.

    Attributes:
        version: Rises with every change; touched under the mutex only.
        announcement: The newest, and its number.
        listeners: Told of each announcement, never while the mutex is held, so that they may take
            locks of their own.
    """

    def __init__(self) -> None:
        self.version = 1
        self.announcement: Announcement | None = None
        self.announced = 0
        self.listeners: list[Listener] = []
        self._standing: Announcement | None = None
        self._mutex = threading.RLock()
        self._changed = threading.Condition(self._mutex)
        self._woken = 0
        self._depth = 0
        self._calls: list[Callable[[], None]] = []

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the mutex; may be nested. What was put off meanwhile is called at the outer end."""
        calls: list[Callable[[], None]] = []
        try:
            with self._mutex:
                self._depth += 1
                try:
                    yield
                finally:
                    self._depth -= 1
                    if self._depth == 0:
                        calls, self._calls = self._calls, []
        finally:  # what was kept before a step failed is told, too
            for call in calls:
                call()

    def touch(self) -> None:
        """Something changed: wake everybody who waits for it."""
        self.version += 1
        self._changed.notify_all()

    def publish(self, announcement: Announcement) -> None:
        """Make this the newest announcement and put off telling it."""
        self.announcement = announcement
        if announcement.kind != PASSING:
            self._standing = announcement
        self.announced += 1
        self.touch()
        self.call_after_commit(partial(listener, announcement) for listener in self.listeners)

    def show(self, announcement: Announcement) -> None:
        """Put this in the place of the newest announcement, which is not true any more.

        It is no news, so its number stays and nobody hears it.
        """
        self.retract()
        self.announcement = self._standing = announcement
        self.touch()

    def retract(self) -> None:
        """Show again what was announced before a refusal, whose reason is gone by now.

        It is no news, so its number stays; listeners hear that the refusal is not true any more.
        """
        said = self.announcement
        if said is None or said.kind != PASSING:
            return
        self.announcement = self._standing
        self.notify(Announcement(RETRACTED, said.headline, ()))

    def notify(self, announcement: Announcement) -> None:
        """Have it said without putting it in the place of what is shown."""
        self.touch()
        self.call_after_commit(partial(listener, announcement) for listener in self.listeners)

    def call_after_commit(
        self, calls: Iterator[Callable[[], None]] | list[Callable[[], None]]
    ) -> None:
        """Call these once the mutex is free."""
        self._calls.extend(calls)

    def wait(self, version: int, timeout_s: float) -> int:
        """Block until something newer than `version` is there, all who wait are woken, or time is
        up; the version now."""
        with self._changed:
            woken = self._woken
            self._changed.wait_for(
                lambda: self.version > version or self._woken != woken, timeout_s
            )
            return self.version

    def wake(self) -> None:
        """Let all who wait look whether they have to end."""
        if self._mutex.acquire(timeout=_PATIENCE_S):  # else a disk is slow: they look by themselves
            try:
                self._woken += 1
                self._changed.notify_all()
            finally:
                self._mutex.release()
