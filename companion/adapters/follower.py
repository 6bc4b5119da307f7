"""A thread that follows the table: for the lamp, the bots and the chances to win."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from companion.session.session import Session
from companion.session.view import View

LOGGER = logging.getLogger(__name__)

WAKE_S = 0.5
"""Seconds after which a waiting follower checks whether it is closed."""
RETRY_S = 2.0
"""Seconds until a view that could not be shown is shown again."""


class Follower:
    """Background thread that calls `show` on every change of the table."""

    def __init__(self, session: Session, show: Callable[[View], object], *, name: str) -> None:
        """Start; an error of `show` is logged, and after a while the newest view is shown again."""
        self._session = session
        self._show = show
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop; may be called twice."""
        self._is_closed = True
        self._session.wake()
        self._thread.join(2.0)

    def _run(self) -> None:
        version, has_failed = -1, False
        while not self._is_closed:
            if self._session.wait(version, WAKE_S) <= version:
                continue
            view = self._session.view()
            version = view.version
            try:
                self._show(view)
                has_failed = False
            except Exception:
                if not has_failed:
                    LOGGER.exception("%s: the table's state cannot be shown", self._thread.name)
                has_failed = True
                self._session.wait(version, RETRY_S)
                version = -1
