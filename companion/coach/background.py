"""Reviews of finished games, made one at a time on a thread that yields to all others."""

from __future__ import annotations

import logging
import os
import threading
from collections import OrderedDict
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from companion.engine import Event
from companion.history.archive import SavedGame

if TYPE_CHECKING:
    from companion.coach.review import Review

LOGGER = logging.getLogger(__name__)

MOST_KEPT = 16
"""Reviews that are kept in memory."""

LOWEST_PRIORITY = 19

Key = tuple[int, tuple[Event, ...]]
"""A game and its moves: an undone and continued game is another one."""


class Reviewed(NamedTuple):
    """What is known of a game.

    Attributes:
        share: How much of the work is done, from 0 to 1.
        review: The review; None until it is done, and for a game that has none.
    """

    share: float
    review: Review | None = None


class Reviews:
    """Makes reviews when they are asked for; there is no queue, so ask again until one is done."""

    def __init__(self) -> None:
        self._mutex = threading.Lock()
        self._done: OrderedDict[Key, Review | None] = OrderedDict()
        self._now: Key | None = None
        self._share = 0.0

    def of(self, game: SavedGame) -> Reviewed:
        """What is known of a game now; starts its review if no other one is being made."""
        if not game.is_over:
            return Reviewed(1.0)
        key = (game.number, game.events)
        with self._mutex:
            if key in self._done:
                self._done.move_to_end(key)
                return Reviewed(1.0, self._done[key])
            if self._now is None:
                self._now, self._share = key, 0.0
                threading.Thread(
                    target=self._make, args=(key, game), name="coach", daemon=True
                ).start()
            return Reviewed(self._share if self._now == key else 0.0)

    def _make(self, key: Key, game: SavedGame) -> None:
        found: Review | None = None
        try:
            with suppress(OSError):  # on Linux a thread has a priority of its own
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), LOWEST_PRIORITY)
            from companion.coach.review import review

            found = review(game.start, game.events, progress=self._advance)
        except Exception:
            LOGGER.exception("game %d cannot be reviewed", game.number)
        finally:
            with self._mutex:
                self._done[key], self._now = found, None
                if len(self._done) > MOST_KEPT:
                    self._done.popitem(last=False)

    def _advance(self, share: float) -> None:
        self._share = min(share, 0.99)  # the sentences come with the last of it
