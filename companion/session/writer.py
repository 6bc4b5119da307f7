"""The single writer: judges a step, keeps it, and only then counts and tells it.

Buttons, cameras and phones come on many threads; each step is taken under one mutex. Reading is
free: `view()` gives an immutable value.
"""

from __future__ import annotations

import logging
import math
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from companion.audio.settings import VoiceSettings, chosen, is_possible, to_data
from companion.engine import ActionClosed, Event, Fact, Phase, Refusal, Roll, SeatClosed
from companion.errors import StoreError
from companion.eventlog.projection import last_roll, project, struck_by
from companion.eventlog.record import Change, Entry, Move, Record, to_record
from companion.eventlog.reducer import reduce
from companion.eventlog.state import Game, Table
from companion.history.archive import Archive
from companion.messages.announcements import (
    announce_action2,
    announce_closings,
    announce_open,
    announce_step,
    announce_turn,
)
from companion.messages.catalogue import Phrases, Word, line, load_phrases
from companion.messages.refusals import refusal_line
from companion.session.corrections import Fix
from companion.session.notifier import Notifier
from companion.session.ports import CallLater, Cancel, Listener, RollKept, Store
from companion.session.timers import closes_at_s
from companion.session.view import Rejected, View
from companion.tray import NO_CAMERA, TrayView

LOGGER = logging.getLogger(__name__)

RETRY_S = 2.0
"""Between two tries to keep the closing of an action on a disk that refuses."""

KEYS_KEPT = 512
"""Idempotency keys remembered: a phone retries one at a time, five phones play."""


class Writer:
    """What every room of the session writes with; the public part may be called from any thread."""

    def __init__(
        self,
        store: Store,
        phrases: Phrases,
        *,
        clock: Callable[[], float],
        now_text: Callable[[], str],
        call_later: CallLater,
        draw: Callable[[int], int],
        tray: TrayView | None = None,
        speaking: VoiceSettings | None = None,
    ) -> None:
        """Take up the evening where the store's log left it.

        Args:
            clock: Monotonic seconds.
            now_text: The time of day for the log, ISO 8601.
            call_later: Timer for the closing of actions.
            draw: draw(n) gives a number below n by lot, for the first player (E44).
            tray: What the tray looks like until the camera says more.
            speaking: How the table speaks unless it chose otherwise.
        """
        self._store, self._clock, self._now_text = store, clock, now_text
        self._call_later, self._draw = call_later, draw
        self._notifier = Notifier()
        self._table = Table()
        records = self._taken_up()
        self._speaking = speaking or VoiceSettings(language=phrases.language)
        self.phrases = load_phrases(self.speaking.language)
        self._tray = self._seen = tray or NO_CAMERA
        self._fixes: tuple[Fix, ...] = ()
        self._rest_frame: int | None = None
        self._eye: Mapping[str, Any] | None = None
        self._online: dict[int, int] = {}
        self._archive = Archive()
        self._faults: dict[str, str] = {}
        self._offered: dict[int, Cancel] = {}
        keys = [str(record.data["key"]) for record in records if "key" in record.data]
        self._keys = OrderedDict.fromkeys(keys[-KEYS_KEPT:])
        self._closing_told_s: float | None = None
        self._is_retrying = False
        self._closes_at_s: float | None = None
        self._cancel: Cancel | None = None
        self._pressed_s = self._opened_s = -math.inf
        self._pending: Cancel | None = None
        self.is_reading: Callable[[], bool] = lambda: False
        self.is_unwatched: Callable[[], bool] = lambda: False
        self.on_confirmed: list[Callable[[Roll], None]] = []
        self.on_rolled: list[Callable[[RollKept], None]] = []
        self.on_undone: list[Callable[[], None]] = []
        self.on_set: list[Callable[[], None]] = []
        self.last_roll = last_roll(records)
        """The roll confirmed last before the log was taken up: its dice may still lie there."""
        with self._notifier.transaction():
            if any(record.kind == "struck" for record in records):
                self._close_empty_seats()
            if self._is_row_closing():
                self._closing_told_s = self._clock()  # after a restart all have their moment again
            self._schedule()
            said = self._notifier.announcement
            if self._table.game is not None and (said is None or said.kind == "left"):
                self._tell_where_it_stands(self._table.game)

    def _taken_up(self) -> list[Record]:
        """The log, after what does not fit was struck out of it for good."""
        while True:
            records = list(self._store.load())
            projection = project(records)
            self._table = projection.table
            if not projection.skipped:
                out = {
                    n for record in records if record.kind == "struck" for n in struck_by(record)
                }
                return [record for record in records if record.revision not in out]
            struck = list(projection.skipped)
            LOGGER.warning("%d records of the log do not fit: %s", len(struck), projection.fault)
            self._keep("struck", {"revisions": struck})

    def _close_empty_seats(self) -> None:
        """Nobody waits for those who left after what is known of a damaged game."""
        game = self._table.game
        if game is None or game.state.phase is Phase.OVER:
            return
        for player, seat in enumerate(game.seats):
            if player not in game.state.gone and self._table.seat(seat) is None:
                self._append(Move(SeatClosed(player)))

    @property
    def listeners(self) -> list[Listener]:
        """Who hears every announcement."""
        return self._notifier.listeners

    def view(self) -> View:
        """The table now, as one immutable value."""
        with self._notifier.transaction():
            return View(
                self._notifier.version,
                self._table,
                self._tray,
                self._notifier.announcement,
                self._notifier.announced,
                self._closes_at_s,
                frozenset(self._online),
                tuple(sorted(self._faults.items())),
                frozenset(self._offered),
            )

    def wait(self, version: int, timeout_s: float) -> int:
        """Block until something newer than `version` is there, all who wait are woken, or time is
        up; the version now."""
        return self._notifier.wait(version, timeout_s)

    def wake(self) -> None:
        """Let all who wait look whether they have to end."""
        self._notifier.wake()

    @property
    def speaking(self) -> VoiceSettings:
        """How the table speaks: as it was set up, or as was chosen since."""
        return chosen(self._speaking, self._table.settings.speaking)

    def speak(self, wanted: Mapping[str, str | int]) -> None:
        """Change how the table speaks, by name; it is kept.

        Raises:
            ValueError: No table can speak so.
        """
        for name, value in wanted.items():
            if not is_possible(name, value):
                raise ValueError(f"{name}: expected what a table can speak, got {value!r}")
        with self._notifier.transaction():
            now = self.speaking
            changed = {name: value for name, value in wanted.items() if getattr(now, name) != value}
            if changed:
                self._keep("set", {"speaking": to_data(self._speaking, changed)})
                self.phrases = load_phrases(self.speaking.language)
                self._notifier.call_after_commit(self.on_set)

    def use_language(self, language: str) -> None:
        """Change the table's language, that of its screen and its voice.

        Raises:
            ValueError: There is no catalogue for it.
        """
        self.speak({"language": language})

    def clock_s(self) -> float:
        """The session's clock, for showing how long an action stays open."""
        return self._clock()

    # -- taking a step --------------------------------------------------------------------

    def _play_locked(self, event: Event, *, data: Mapping[str, Any]) -> Rejected | None:
        game = self._table.game
        if game is None:
            return self._no("NO_GAME", key="press.no_game")
        refusal = self._append(Move(event, data))
        if refusal is not None:
            lines = (refusal_line(refusal, self._table.names),)
            return Rejected(refusal.reason.value, lines, refusal.ruling)
        if data.get("key"):
            self._keys[str(data["key"])] = None
            while len(self._keys) > KEYS_KEPT:
                self._keys.popitem(last=False)
        return None

    def _keep(self, kind: str, data: Mapping[str, Any]) -> Refusal | None:
        return self._append(Change(kind, data))

    def _append(self, entry: Entry) -> Refusal | None:
        """Judge one entry, keep it, and only then count it."""
        record = to_record(entry, self._table.revision + 1, self._now_text())
        if record.kind in ("struck", "undone"):
            self._store.append((record,))
            self._table = replace(self._table, revision=record.revision)
            return None
        before = self._table
        result = reduce(before, entry, record.revision)
        if isinstance(result, Refusal):
            return result
        self._store.append((record,))
        self._table = result.table
        self._notifier.touch()
        self._tell_facts(before.game, result.table.game, result.facts)
        self._notifier.retract()
        self._schedule()
        return None

    # -- closing actions ------------------------------------------------------------------

    def _schedule(self) -> None:
        """Set when the open action closes by itself, anew after each step."""
        if self._cancel is not None:
            self._cancel()
            self._cancel = None
        self._closes_at_s = None
        now = self._clock()
        closes_at = closes_at_s(self._table.game, now, self._closing_told_s)
        self._closes_at_s = closes_at
        if closes_at is None:
            return
        if closes_at <= now:
            self._close_action(self._table.revision)
            return
        revision = self._table.revision
        self._cancel = self._call_later(closes_at - now, lambda: self._close_action(revision))

    def _close_action(self, revision: int) -> None:
        with self._notifier.transaction():
            game = self._table.game
            if game is None or self._table.revision != revision or game.state.waiting_for:
                return  # somebody changed their answer meanwhile
            try:
                self._append(Move(ActionClosed(game.state.action)))
                self._is_retrying = False
            except StoreError:
                if not self._is_retrying:
                    LOGGER.exception("the closing of an action could not be kept; trying again")
                self._is_retrying = True
                self._cancel = self._call_later(RETRY_S, lambda: self._close_action(revision))

    def _tell_closings(self) -> None:
        """Tell anew who is about to close a row; everybody has their moment again (E46)."""
        game = self._table.game
        if game is None or not self._is_row_closing():
            return
        said = announce_closings(game.state, game.names)
        if said is not None:
            self._closing_told_s = self._clock()
            self._notifier.publish(said)
            self._schedule()

    def _tell_where_it_stands(self, game: Game) -> None:
        state = game.state
        if state.action:
            if state.closings:
                self._closing_told_s = self._clock()
            self._notifier.publish(announce_open(state, game.names))
            self._schedule()
        elif state.phase is Phase.ROLL:
            self._notifier.publish(announce_turn(game.names[state.active]))

    def _lacks_somebody(self, game: Game) -> bool:
        """Whether the seat of somebody who plays is empty."""
        return any(
            player not in game.state.gone and self._table.seat(seat) is None
            for player, seat in enumerate(game.seats)
        )

    def _is_row_closing(self) -> bool:
        game = self._table.game
        return game is not None and bool(game.state.closings)

    # -- telling --------------------------------------------------------------------------

    def _tell_facts(self, before: Game | None, after: Game | None, facts: tuple[Fact, ...]) -> None:
        if before is None or after is None or before.number != after.number:
            return
        if (after.state.turn, after.state.action) != (before.state.turn, before.state.action):
            self._closing_told_s = None
            self._opened_s = self._clock()
        said = announce_step(before.state, after.state, facts, self._table.names)
        if said is None and after.state.phase is Phase.ACTION2 and before.state.action == 1:
            self._notifier.show(announce_action2(after.state, self._table.names))
        if said is not None:
            if "closing" in (said.kind, *said.also):
                self._closing_told_s = self._clock()
            self._notifier.publish(said)

    def _no(
        self, code: str, *, key: str | None = None, ruling: str | None = None, **data: Word
    ) -> Rejected:
        return Rejected(code, (line(key or f"declined.{code}", **data),), ruling)
