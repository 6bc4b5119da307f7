"""The lock for a table's changes, and the notifications that are sent once it is released."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from companion.messages.announcements import Announcement
from companion.session.ports import Topic

PASSING, RETRACTED = "refused", "retracted"
"""Kind of an announcement that holds until the next change, and of the one that ends it."""

_HEARD = 3
"""Announcements for the ear that are kept: a step makes two at most, and a page may miss one."""

_PATIENCE_S = 0.1
"""Seconds `wake` waits for a running change; waiting threads check twice a second themselves."""


class Notifier:
    """Counts changes, wakes waiting threads and delays callbacks until the lock is free.

    Attributes:
        version: Rises with every change; only touched under the lock.
        announcement: The announcement that is displayed.
        announced: Number of announcements published so far.
        heard: The latest announcements for the ear, numbered, also those that are not displayed.
    """

    def __init__(self) -> None:
        self.version = 1
        self.announcement: Announcement | None = None
        self.announced = 0
        self.heard: tuple[tuple[int, Announcement], ...] = ()
        self._told = 0
        self._lasting: Announcement | None = None
        self._callbacks: dict[Topic, list[Callable[..., object]]] = {each: [] for each in Topic}
        self._lock = threading.RLock()
        self._changed = threading.Condition(self._lock)
        self._woken = 0
        self._depth = 0
        self._calls: list[Callable[[], object]] = []
        self._news: list[Announcement] = []  # of the transaction that goes on
        self._untold: deque[Announcement] = deque()
        self._telling = threading.Lock()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Hold the lock; may be nested. Delayed callbacks run after the outermost one."""
        calls: list[Callable[[], object]] | None = None  # of the outermost one
        try:
            with self._lock:
                self._depth += 1
                try:
                    yield
                finally:
                    self._depth -= 1
                    if self._depth == 0:
                        calls, self._calls = self._calls, []
                        self._untold += self._news
                        self._news = []
        finally:  # also after a failed step: earlier steps of the transaction are stored
            if calls is not None:
                self._tell()
                for call in calls:
                    call()

    def _tell(self) -> None:
        """Pass on announcements in their order: a thread that is just doing so takes them along."""
        while self._untold and self._telling.acquire(blocking=False):
            try:
                while self._untold:
                    announcement = self._untold.popleft()
                    for callback in self._callbacks[Topic.ANNOUNCEMENT]:
                        callback(announcement)
            finally:
                self._telling.release()

    def subscribe(self, topic: Topic, callback: Callable[..., object]) -> None:
        """Call a function on a topic, never while the lock is held; it may take its own locks."""
        with self._lock:
            self._callbacks[topic].append(callback)

    def call_after_commit(self, topic: Topic, *values: object) -> None:
        """Call a topic's subscribers once the lock is free."""
        self._calls += [partial(callback, *values) for callback in self._callbacks[topic]]

    def touch(self) -> None:
        """Count a change and wake every waiting thread."""
        self.version += 1
        self._changed.notify_all()

    def publish(self, announcement: Announcement) -> None:
        """Display an announcement and notify the subscribers."""
        self.announcement = announcement
        if announcement.kind != PASSING:
            self._lasting = announcement
        self.announced += 1
        self.notify(announcement)

    def notify(self, announcement: Announcement) -> None:
        """Notify subscribers without replacing the displayed announcement."""
        if announcement.kind != RETRACTED:
            self._told += 1
            self.heard = (*self.heard, (self._told, announcement))[-_HEARD:]
        self.touch()
        self._news.append(announcement)

    def display(self, announcement: Announcement) -> None:
        """Replace the displayed announcement, which is outdated, without notifying anybody."""
        self.retract()
        self.announcement = self._lasting = announcement
        self.touch()

    def retract(self) -> None:
        """End a refusal whose reason is gone: display the announcement before it again.

        Subscribers receive an announcement of kind RETRACTED; the count does not change.
        """
        refused = self.announcement
        if refused is None or refused.kind != PASSING:
            return
        self.announcement = self._lasting
        self.heard = tuple(each for each in self.heard if each[1] is not refused)
        self.notify(Announcement(RETRACTED, refused.headline, ()))

    def wait(self, version: int, timeout_s: float) -> int:
        """Block until there is a newer version, `wake` is called or time is up.

        Returns:
            The version now.
        """
        with self._changed:
            woken = self._woken
            self._changed.wait_for(
                lambda: self.version > version or self._woken != woken, timeout_s
            )
            return self.version

    def is_free(self, timeout_s: float) -> bool:
        """Whether the lock can be had within some seconds."""
        if not self._lock.acquire(timeout=timeout_s):
            return False
        self._lock.release()
        return True

    def wake(self) -> None:
        """Wake every waiting thread, so that each can check whether it has to end."""
        if self._lock.acquire(timeout=_PATIENCE_S):  # else a disk is slow: they wake by themselves
            try:
                self._woken += 1
                self._changed.notify_all()
            finally:
                self._lock.release()
