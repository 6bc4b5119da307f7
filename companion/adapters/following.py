"""Keeps something that shows the table's state, such as the lamp, up to the newest view."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from companion.session.session import Session, View

LOGGER = logging.getLogger(__name__)

WAKE_S = 0.5
"""How often a waiting follower looks whether it has to end."""


class Follower:
    """Calls `show` with every newest view on a thread of its own, until it is closed."""

    def __init__(self, session: Session, show: Callable[[View], object], *, name: str) -> None:
        """Begin to follow; what `show` raises is logged and the next view is shown."""
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
        version = -1
        while not self._is_closed:
            if self._session.wait(version, WAKE_S) <= version:
                continue
            view = self._session.view()
            version = view.version
            try:
                self._show(view)
            except Exception:
                LOGGER.exception("the table's state could not be shown")
