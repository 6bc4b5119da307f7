"""Reviews of finished games, made one at a time in a process that yields to the table."""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple

from companion.coach.worker import Worker, WorkerError
from companion.engine import Event, GameState
from companion.history.archive import SavedGame
from companion.history.decided import Verdicts

if TYPE_CHECKING:
    from companion.coach.review import Review

LOGGER = logging.getLogger(__name__)

MOST_KEPT = 16
"""Reviews that are kept in memory."""

FAILED_S = 5.0
"""Seconds before a review that failed is tried again: all pages that wait for it ask meanwhile."""

Key = tuple[int, tuple[Event, ...]]
"""A game and its moves: an undone and continued game is another one."""


class Reviewed(NamedTuple):
    """The review of a game, as far as it is done.

    Attributes:
        share: How much of the work is done, from 0 to 1.
        review: The review; None until it is done, and for a game that has none.
    """

    share: float
    review: Review | None = None


def make_review(
    start: GameState, events: Iterable[Event], progress: Callable[[float], None]
) -> Review | None:
    """The review of a game; imports what it needs, so that a table loads no arrays without one."""
    from companion.coach.review import review

    return review(start, events, progress=progress)


class Reviews:
    """Makes reviews when they are asked for; there is no queue, so ask again until one is done.

    Attributes:
        verdicts: What decided the games that were ever reviewed.
    """

    def __init__(
        self,
        make: Callable[..., Review | None] = make_review,
        worker: Worker | None = None,
        verdicts: Verdicts | None = None,
    ) -> None:
        """Make reviews by a module's function like `make_review`.

        Args:
            verdicts: Keeps what decided each game that is reviewed.
        """
        self._make_review, self._worker = make, worker or Worker()
        self.verdicts = verdicts or Verdicts()
        self._mutex = threading.Lock()
        self._done: OrderedDict[Key, Review | None] = OrderedDict()
        self._now: Key | None = None
        self._failed: Key | None = None
        self._failed_s = 0.0
        self._share = 0.0

    def of(self, game: SavedGame) -> Reviewed:
        """The review of a game so far; starts it if no other one is being made."""
        if not game.is_over:
            return Reviewed(1.0)
        key = (game.number, game.events)
        with self._mutex:
            if key in self._done:
                self._done.move_to_end(key)
                return Reviewed(1.0, self._done[key])
            if key == self._failed and time.monotonic() - self._failed_s < FAILED_S:
                return Reviewed(1.0)
            if self._now is None:
                self._now, self._share = key, 0.0
                threading.Thread(
                    target=self._make, args=(key, game), name="coach", daemon=True
                ).start()
            return Reviewed(self._share if self._now == key else 0.0)

    def _make(self, key: Key, game: SavedGame) -> None:
        try:
            found = self._worker.call(
                self._make_review, game.start, game.events, progress=self._advance
            )
            if found is not None:
                self.verdicts.add(game.result.played, found.decided)
            with self._mutex:
                self._done[key] = found
                if len(self._done) > MOST_KEPT:
                    self._done.popitem(last=False)
        except WorkerError:
            if not self._worker.is_closed:
                LOGGER.exception("game %d cannot be reviewed", game.number)
            self._failed, self._failed_s = key, time.monotonic()
        finally:
            with self._mutex:
                self._now = None

    def close(self) -> None:
        """Stop; may be called twice."""
        self._worker.close()

    def _advance(self, share: float) -> None:
        self._share = min(share, 0.99)  # the sentences come with the last of it
