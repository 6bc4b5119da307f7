"""The single writer: guards, judges, keeps and tells, one step at a time.

Buttons, cameras and phones come on many threads; each calls a method here, which holds one
mutex while it judges the step, keeps it in the store, and only then counts it. Reading is free:
`view()` gives an immutable value.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import secrets
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from companion.announcer import (
    Announcement,
    announce_step,
    announce_turn,
    refusal_sentence,
    tray_sentence,
)
from companion.engine import (
    PLANS,
    ActionClosed,
    Answered,
    EndedEarly,
    Event,
    Fact,
    HouseRule,
    Phase,
    Refusal,
    Roll,
    RollCorrected,
    Rolled,
    Withdrawn,
)
from companion.engine.dice import ALL_DICE, DieColour
from companion.errors import StoreError
from companion.grace import closes_at_s
from companion.phrases import Phrases
from companion.ports import CallLater, Cancel, Listener, Store, TrayView
from companion.records import Record, to_record
from companion.table import (
    LONGEST_NAME,
    Game,
    advance,
    clean_name,
    free_seat,
    last_roll,
    name_fault,
    undone_to,
    unfold,
)
from companion.telling import Telling
from companion.view import Declined, Joined, View

__all__ = ["Declined", "Joined", "Session", "View"]

LOGGER = logging.getLogger(__name__)

RETRY_S = 2.0
"""Between two tries to keep the closing of an action on a disk that refuses."""

KEYS_KEPT = 512
"""Idempotency keys remembered: a phone retries one at a time, five phones play."""


class Session:
    """One table's evening. Every public method may be called from any thread."""

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
    ) -> None:
        """Take up the evening where the store's log left it.

        Args:
            clock: Monotonic seconds.
            now_text: The time of day for the log, ISO 8601.
            call_later: Timer for the closing of actions.
            draw: draw(n) gives a number below n by lot, for the first player (E44).
            tray: What the tray looks like until the camera says more.
        """
        self.phrases = phrases
        self._store, self._clock, self._now_text = store, clock, now_text
        self._call_later, self._draw = call_later, draw
        self._telling = Telling()
        records = list(store.load())
        unfolded = unfold(records)
        self._table = unfolded.table
        self._tray = tray or TrayView("none")
        self._online: dict[int, int] = {}
        keys = [str(record.data["key"]) for record in records if "key" in record.data]
        self._keys = OrderedDict.fromkeys(keys[-KEYS_KEPT:])
        self._closing_told_s: float | None = None
        self._is_retrying = False
        self._closes_at_s: float | None = None
        self._cancel: Cancel | None = None
        self.on_confirmed: list[Callable[[], None]] = []
        self.on_undone: list[Callable[[], None]] = []
        if unfolded.fault is not None:
            LOGGER.warning("the log is taken up to a bad record: %s", unfolded.fault)
            self._keep("kept", {"revision": unfolded.kept})
        self.last_roll = last_roll(records)
        """The roll confirmed last before the log was taken up: its dice may still lie there."""
        with self._telling.changing():
            if self._is_row_closing():
                self._closing_told_s = self._clock()  # after a restart all have their moment again
            self._schedule()

    @property
    def listeners(self) -> list[Listener]:
        """Who hears every announcement."""
        return self._telling.listeners

    # -- reading --------------------------------------------------------------------------

    def view(self) -> View:
        """The table now, as one immutable value."""
        with self._telling.changing():
            return View(
                self._telling.version,
                self._table,
                self._tray,
                self._telling.announcement,
                self._telling.announced,
                self._closes_at_s,
                frozenset(self._online),
            )

    def wait(self, version: int, timeout_s: float) -> int:
        """Block until something newer than `version` is there or time is up; the version now."""
        return self._telling.wait(version, timeout_s)

    def in_play(self) -> tuple[DieColour, ...]:
        """The dice the next roll has, white ones first."""
        game = self._table.game
        if game is None or game.state.phase is Phase.OVER:
            return ALL_DICE
        return (DieColour.WHITE, DieColour.WHITE, *game.state.dice)

    def seat_of(self, token: str) -> int | None:
        """The seat a token proves, or None."""
        digest = _digest(token)
        for seat in self._table.seats:
            if hmac.compare_digest(seat.token_hash, digest):
                return seat.number
        return None

    def clock_s(self) -> float:
        """The session's clock, for showing how long an action stays open."""
        return self._clock()

    # -- people ---------------------------------------------------------------------------

    def join(self, name: str) -> Joined | Declined:
        """Give a newcomer a seat."""
        shown = clean_name(name)
        with self._telling.changing():
            fault = name_fault(self._table, shown)
            if fault is not None:
                return self._no(fault, name=shown, longest=LONGEST_NAME)
            number = free_seat(self._table)
            if number is None:
                return self._no("TABLE_FULL", ruling="E40")
            token = secrets.token_hex(16)
            self._keep("seated", {"seat": number, "name": shown, "token_hash": _digest(token)})
            return Joined(number, token)

    def leave(self, seat: int) -> Declined | None:
        """Free a seat; not while its game is running."""
        with self._telling.changing():
            game = self._table.game
            if game and seat in game.seats and game.state.phase is not Phase.OVER:
                return self._no("SEAT_IN_GAME")
            if self._table.seat(seat) is not None:
                self._keep("left", {"seat": seat})
            return None

    def connected(self, seat: int) -> None:
        """A page of this seat is open."""
        with self._telling.changing():
            self._online[seat] = self._online.get(seat, 0) + 1
            self._telling.touch()

    def disconnected(self, seat: int) -> None:
        """A page of this seat was closed."""
        with self._telling.changing():
            left = self._online.pop(seat, 1) - 1
            if left > 0:
                self._online[seat] = left
            self._telling.touch()

    # -- the game -------------------------------------------------------------------------

    def start(
        self, variant: str = "base", first: int | None = None, house: Sequence[str] = ()
    ) -> Declined | None:
        """Begin a game with everybody seated; the first player is drawn unless named (E44)."""
        with self._telling.changing():
            game = self._table.game
            if game is not None and game.state.phase is not Phase.OVER:
                return self._no("GAME_RUNNING")
            seats = [seat.number for seat in self._table.seats]
            if not seats:
                return self._no("NO_PLAYERS")
            if variant not in PLANS:
                return self._no("BAD_VARIANT", variant=variant)
            if unknown := set(house) - {rule.value for rule in HouseRule}:
                return self._no("BAD_HOUSE_RULE", rule=", ".join(sorted(unknown)))
            if first is not None and first not in seats:
                return self._no("NO_SUCH_SEAT")
            place = self._draw(len(seats)) if first is None else seats.index(first)
            self._begin(variant, seats, place, house)
            return None

    def rematch(self) -> Declined | None:
        """Begin the next game of the same kind; the next seat begins (E44)."""
        with self._telling.changing():
            game = self._table.game
            if game is None:
                return self.start()
            if game.state.phase is not Phase.OVER:
                return self._no("GAME_RUNNING")
            seats = [seat.number for seat in self._table.seats]
            if not seats:
                return self._no("NO_PLAYERS")
            began = game.seats[game.state.first]
            place = next((i for i, seat in enumerate(seats) if seat > began), 0)
            house = [rule.value for rule in game.state.setup.house]
            self._begin(game.state.plan.name, seats, place, house)
            return None

    def close_action(self) -> Declined | None:
        """Close the open action for those who have not answered: they pass (E9)."""
        with self._telling.changing():
            game = self._table.game
            if game is None or game.state.action == 0:
                return self._no("NO_ACTION")
            return self._play_locked(ActionClosed(game.state.action), data={"by": "table"})

    def end(self) -> Declined | None:
        """Stop the game before the rules do."""
        return self._play(lambda player: EndedEarly(), seat=None)

    def answer(
        self,
        seat: int,
        turn: int,
        action: int,
        box: str | None,
        *,
        done: bool,
        key: str = "",
        is_by_host: bool = False,
    ) -> Declined | None:
        """A seat's answer in the open action.

        Args:
            done: They have nothing more to change.
            key: A retry carries the same, and counts once.
            is_by_host: The host answers for somebody who cannot; the log keeps that.
        """
        data = ({"done": True} if done else {}) | ({"by": "host"} if is_by_host else {})
        return self._play(
            lambda player: Answered(player, action, box), seat, turn=turn, data=data, key=key
        )

    def withdraw(self, seat: int, turn: int, action: int, *, key: str = "") -> Declined | None:
        """Take a seat's answer back."""
        return self._play(lambda player: Withdrawn(player, action), seat, turn=turn, key=key)

    def typed_roll(self, roll: Roll) -> Declined | None:
        """Confirm a roll entered by hand."""
        with self._telling.changing():
            return self._confirm(roll, typed=True)

    def correct_roll(self, roll: Roll) -> Declined | None:
        """Put the right dice in place of misread ones while marks are open.

        Answers the right dice do not allow go back to their owners, and everybody is told.
        """
        with self._telling.changing():
            return self._play_locked(RollCorrected(roll), data={})

    def undo(self) -> Declined | None:
        """Take the last settled step back: an ending, a closed action with its last answer, or a
        confirmed roll. What is struck out stays in the log."""
        with self._telling.changing():
            kept = undone_to(self._store.load())
            if kept is None:
                return self._no("NOTHING_TO_UNDO")
            game = self._table.game
            if game is not None and any(self._table.seat(seat) is None for seat in game.seats):
                return self._no("SEAT_EMPTY")
            self._keep("undone", {"revision": kept})
            self._table = unfold(self._store.load()).table
            self._closing_told_s = None
            self._telling.touch()
            text = self.phrases.say("fact.undone")
            self._telling.announce(Announcement("undone", text, text))
            if self._table.game is not None and self._table.game.state.phase is Phase.ROLL:
                self._telling.put_off(self.on_undone)
            self._schedule()
            return None

    # -- the tray and the button ----------------------------------------------------------

    def see(self, tray: TrayView) -> None:
        """Take what the camera loop reports."""
        with self._telling.changing():
            if tray != self._tray:
                self._tray = tray
                self._telling.touch()

    def press(self) -> Declined | None:
        """The button: confirm a settled roll when one is due, else say why not.

        It never passes for anybody and never changes the game in another way.
        """
        with self._telling.changing():
            try:
                declined = self._press()
            except StoreError:
                LOGGER.exception("the press of the button could not be kept")
                declined = self._no("NOT_KEPT", key="page.not_kept")
            if declined is not None:
                headline = self.phrases.say("press.refused.headline")
                self._telling.announce(Announcement("refused", headline, declined.message))
            return declined

    def hold(self) -> Declined | None:
        """The button held down: who has not answered the open action passes (E9)."""
        with self._telling.changing():
            declined = self.close_action()
            if declined is not None:
                headline = self.phrases.say("press.refused.headline")
                self._telling.announce(Announcement("refused", headline, declined.message))
            return declined

    def say_again(self) -> None:
        """Repeat the last announcement."""
        with self._telling.changing():
            if self._telling.announcement is not None:
                self._telling.announce(self._telling.announcement)

    def tray_text(self) -> str:
        """One sentence on what the tray needs."""
        return tray_sentence(self._tray.status, self._tray.doubts, self.phrases)

    def _press(self) -> Declined | None:
        game = self._table.game
        if game is None:
            return self._no("NO_GAME", key="press.no_game")
        if game.state.phase is Phase.OVER:
            return self._no("GAME_OVER", key="press.game_over")
        if game.state.phase is not Phase.ROLL:
            waiting = [self._table.names[player] for player in game.state.waiting_for]
            if not waiting:
                return self._no("WRONG_PHASE", key="press.about_to_close", ruling="E9")
            names = self.phrases.all_of(waiting)
            return self._no("WRONG_PHASE", key="press.waiting_for", names=names, ruling="E9")
        if self._tray.roll is None:
            return Declined("NOT_READABLE", self.tray_text())
        return self._confirm(self._tray.roll, typed=False)

    def _confirm(self, roll: Roll, *, typed: bool) -> Declined | None:
        declined = self._play_locked(Rolled(roll), data={"typed": typed})
        if declined is None:
            self._telling.put_off(self.on_confirmed)
        return declined

    # -- taking a step --------------------------------------------------------------------

    def _play(
        self,
        event_of: Callable[[int], Event],
        seat: int | None,
        *,
        turn: int | None = None,
        data: Mapping[str, Any] | None = None,
        key: str = "",
    ) -> Declined | None:
        with self._telling.changing():
            game = self._table.game
            if game is None:
                return self._no("NO_GAME", key="press.no_game")
            if key and key in self._keys:
                return None  # a retry of a step that was taken
            if turn is not None and turn != game.state.turn:
                late = "refused.WRONG_PHASE.turn"
                return self._no("WRONG_PHASE", key=late, ruling="E9")
            if seat is not None and seat not in game.seats:
                return self._no("NOT_IN_GAME")
            player = game.seats.index(seat) if seat is not None else -1
            kept = {**(data or {}), "key": key} if key else (data or {})
            return self._play_locked(event_of(player), data=kept)

    def _play_locked(self, event: Event, *, data: Mapping[str, Any]) -> Declined | None:
        game = self._table.game
        if game is None:
            return self._no("NO_GAME", key="press.no_game")
        kind, own = to_record(event)
        refusal = self._keep(kind, {**own, **data})
        if refusal is not None:
            sentence = refusal_sentence(refusal, self.phrases, self._table.names)
            return Declined(refusal.reason.value, sentence, refusal.ruling)
        if data.get("key"):
            self._keys[str(data["key"])] = None
            while len(self._keys) > KEYS_KEPT:
                self._keys.popitem(last=False)
        return None

    def _begin(self, variant: str, seats: list[int], first: int, house: Sequence[str]) -> None:
        data = {"number": self._table.games + 1, "variant": variant, "seats": seats}
        names = [self._table.name(seat) for seat in seats]
        rules = sorted(set(house))
        self._keep("started", {**data, "names": names, "first": first, "house": rules})
        self._telling.announce(announce_turn(self._table.names[first], self.phrases))

    def _keep(self, kind: str, data: Mapping[str, Any]) -> Refusal | None:
        """Judge one record, keep it, and only then count it."""
        record = Record(self._table.revision + 1, kind, data, self._now_text())
        if kind in ("kept", "undone"):
            self._store.append((record,))
            self._table = replace(self._table, revision=record.revision)
            return None
        before = self._table
        result = advance(before, record)
        if isinstance(result, Refusal):
            return result
        self._store.append((record,))
        self._table = result.table
        self._telling.touch()
        self._tell_facts(before.game, result.table.game, result.facts)
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
        with self._telling.changing():
            game = self._table.game
            if game is None or self._table.revision != revision or game.state.waiting_for:
                return  # somebody changed their answer meanwhile
            try:
                self._keep("action_closed", {"action": game.state.action})
                self._is_retrying = False
            except StoreError:
                if not self._is_retrying:
                    LOGGER.exception("the closing of an action could not be kept; trying again")
                self._is_retrying = True
                self._cancel = self._call_later(RETRY_S, lambda: self._close_action(revision))

    def _is_row_closing(self) -> bool:
        game = self._table.game
        if game is None or game.state.phase is not Phase.ACTION1:
            return False
        last_boxes = game.state.plan.last_boxes
        return any((answer or 0) & last_boxes for answer in game.state.answers)

    # -- telling --------------------------------------------------------------------------

    def _tell_facts(self, before: Game | None, after: Game | None, facts: tuple[Fact, ...]) -> None:
        if before is None or after is None or before.number != after.number:
            return
        if after.state.action != before.state.action:
            self._closing_told_s = None
        said = announce_step(before.state, after.state, facts, self.phrases, self._table.names)
        if said is not None:
            if said.kind == "closing" and after.state.phase is Phase.ACTION1:
                self._closing_told_s = self._clock()
            self._telling.announce(said)

    def _no(
        self, code: str, *, key: str | None = None, ruling: str | None = None, **data: object
    ) -> Declined:
        return Declined(code, self.phrases.say(key or f"declined.{code}", **data), ruling)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
