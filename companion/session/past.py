"""The games of the log, the running one included, read while play goes on."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractContextManager, contextmanager

from companion.eventlog.derived import RESULTS
from companion.history.archive import Archive, SavedGame, saved_games
from companion.history.results import Result
from companion.session.ports import Store

NEW_PART = 0.02
"""Part of the kept results by which there must be more before they are written again: all of them
after every game would soon write more to the card than the games do. A start reads the rest."""


class PastGames:
    """Results and moves of every game; any thread may ask.

    Attributes:
        rewritten: How often names in them were changed.
    """

    def __init__(
        self, store: Store, transaction: Callable[[], AbstractContextManager[None]]
    ) -> None:
        """Begin with the results that were kept beside the log.

        Args:
            transaction: Holds the session's lock.
        """
        self._store, self._transaction = store, transaction
        self._archive = Archive(store.derived(RESULTS))
        self._kept = self._archive.finished
        self._reading: Future[list[Result]] | None = None
        self._keeping = threading.Lock()
        self.rewritten = 0

    def games(self) -> list[SavedGame]:
        """Every game with its moves, the oldest first; reads the whole log."""
        return saved_games(self._store.history())

    def one_by_one(self) -> Iterator[SavedGame]:
        """Every game with its moves, the oldest first, each read when it is asked for."""
        archive, found = self._read()  # names may be changed while they are asked for
        for result in found:
            if (game := archive.game(result.number, self._store.history)) is not None:
                yield game

    def game(self, number: int) -> SavedGame | None:
        """A game with its moves, or None."""
        archive, _ = self._read()
        return archive.game(number, self._store.history)

    def results(self) -> list[Result]:
        """The result of every game, the oldest first; steps go on while old games are read."""
        return self._read()[1]

    def _read(self) -> tuple[Archive, list[Result]]:
        with self._transaction():
            archive, mark = self._archive, self._store.mark
        found = archive.results(self._store.history, mark.revision)
        with self._keeping:  # results with a name that was deleted since must not be written
            is_newest = archive is self._archive
            is_due = archive.finished > (1 + NEW_PART) * self._kept
            if is_newest and is_due and (kept := archive.kept(mark)):
                self._kept = archive.finished
                self._store.keep(RESULTS, kept)
        return archive, found

    def results_within(self, seconds: float) -> list[Result]:
        """The results, or none if old games take longer to read; they are read on meanwhile.

        Raises:
            StoreError: The log cannot be read.
        """
        with self._transaction():
            if self._reading is None or self._reading.done():
                self._reading = _in_background(self.results)
            reading = self._reading
        try:
            return reading.result(seconds)
        except TimeoutError:
            return []

    @contextmanager
    def rewriting(self) -> Iterator[None]:
        """While names in the log are changed; it is read anew the next time."""
        with self._keeping:
            try:
                yield
            finally:
                self._archive, self._kept = Archive(), 0
                self.rewritten += 1


def _in_background(read: Callable[[], list[Result]]) -> Future[list[Result]]:
    """Read on a thread that does not keep the program from ending."""
    found: Future[list[Result]] = Future()

    def run() -> None:
        try:
            found.set_result(read())
        except Exception as error:
            found.set_exception(error)

    threading.Thread(target=run, name="history", daemon=True).start()
    return found
