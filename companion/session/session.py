"""One table: decide a step, store it, adopt the new table, notify.

Buttons, cameras and phones call from many threads. Each step runs under one lock: a decider
(seats, games, play, confirm, corrections) returns what the step would store, or why it is
rejected; it is stored, all or nothing, and only then does it count. Reading is free: `view()`
returns an immutable value.

The class is long because it is the whole list of what a table can do. Most methods only pass their
arguments to a decider.
"""

from __future__ import annotations

import logging
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Concatenate, Never, ParamSpec

from companion.audio.settings import VoiceSettings, chosen
from companion.engine import ActionClosed, DieColour, Roll, SeatClosed
from companion.errors import StoreError
from companion.eventlog.names import LONGEST_NAME, clean_name
from companion.eventlog.record import BEGINNINGS, to_record
from companion.eventlog.rewriting import with_name
from companion.eventlog.state import Game, Table
from companion.history.people import why_not
from companion.messages.announcements import announce_open, announce_refusal
from companion.messages.catalogue import Line, Phrases, load_phrases
from companion.messages.equipment import announce_fault
from companion.session import confirm, play, seats
from companion.session.corrections import CorrectedTray, decide_fix
from companion.session.decision import Decision, Rejected, decide_move, rejected
from companion.session.games import (
    announce_position,
    decide_pause,
    decide_release,
    decide_resume,
)
from companion.session.memory import keep_before, recall
from companion.session.notifier import Notifier
from companion.session.past import PastGames
from companion.session.ports import CallLater, Cancel, NoTrayPort, Store, Topic, TrayPort
from companion.session.preview import HostStep, decide_host_step, precondition_of, preview
from companion.session.timers import ActionTimer, ActionTimes, times_after
from companion.session.view import Joined, View
from companion.tray import NO_CAMERA, TrayView

__all__ = ["HostStep", "Joined", "Rejected", "Session", "Topic", "View"]

LOGGER = logging.getLogger(__name__)

_P = ParamSpec("_P")
_UNCHANGED: Mapping[str, Never] = {}


def _step(
    decide: Callable[Concatenate[Table, _P], Decision | Rejected],
) -> Callable[Concatenate[Session, _P], Rejected | None]:
    """A public method that decides a step on the current table and takes it."""

    def take(session: Session, /, *args: _P.args, **named: _P.kwargs) -> Rejected | None:
        return session._take(lambda table: decide(table, *args, **named))

    take.__doc__ = decide.__doc__
    return take


class Session:
    """The whole session. Every public method may be called from any thread.

    Attributes:
        past: The games of the log.
        last_rolls: The roll confirmed last before this start, its corrections first; its dice may
            still lie in the tray.
    """

    def __init__(
        self,
        store: Store,
        phrases: Phrases,
        *,
        clock: Callable[[], float],
        now_text: Callable[[], str],
        call_later: CallLater,
        draw: play.Draw,
        tray: TrayPort | None = None,
        speaking: VoiceSettings | None = None,
        take_back_s: float = 0.0,
    ) -> None:
        """Continue the evening from the store's log.

        Args:
            clock: Monotonic seconds.
            now_text: The time of day for the log, ISO 8601.
            call_later: Timer for the closing of actions.
            draw: Draws the first player by lot (E44).
            tray: State of the camera loop; None where there never is one, as in benchmarks.
            speaking: Voice settings of the configuration.
            take_back_s: Seconds in which a page's last answer may be taken back; 0 for none.
        """
        self._store, self._clock, self._now_text = store, clock, now_text
        self._call_later, self._draw = call_later, draw
        self._notifier = Notifier()
        self._configured = speaking or VoiceSettings(language=phrases.language)
        self._memory = recall(store, now_text)
        self._port: TrayPort = tray or NoTrayPort()
        self._tray = CorrectedTray(NO_CAMERA, NO_CAMERA)
        self._press = confirm.WaitingPress(self._port, self._later, self._answer_press)
        self._confirmed_s: float | None = None
        self._refused: confirm.RefusedPress | None = None
        self._is_pressed = False  # a press waits for the end of action 2
        self._has_seen_dice = False  # since the start; corrections from before it are gone
        self._times = ActionTimes()
        self._take_back_s = take_back_s
        self._timer = ActionTimer(self._later, self._close)
        self._is_retrying = False
        self._offers = seats.Offers(self._later)
        self._online: dict[int, int] = {}
        self._faults: dict[str, str] = {}
        self.past = PastGames(store, self._notifier.transaction)
        self.last_rolls = self._memory.last_rolls
        with self._notifier.transaction():
            if self._memory.is_repaired:
                self._release_empty_seats()
            self._announce_position()

    @property
    def _table(self) -> Table:
        return self._memory.trail.table

    @property
    def _offered(self) -> frozenset[int]:
        """The seats that any device may claim."""
        return self._offers.seats | {seat.number for seat in self._table.seats if seat.waits}

    def _release_empty_seats(self) -> None:
        """Let players without a seat leave a damaged game: nobody would answer for them."""
        game = self._table.running
        for player in play.without_seat(self._table, game) if game is not None else ():
            self._take_decided(decide_move(self._table, SeatClosed(player)))

    def _announce_position(self) -> None:
        """Announce where the game stands, and give everybody time to change their answer."""
        game, last = self._table.game, self._notifier.announcement
        if game is not None and game.state.closings:
            self._times = replace(self._times, closings_announced_s=self._clock())
        self._set_timer()
        if game is not None and (last is None or last.kind == "left"):
            position = announce_position(game.state, game.names)
            if position is not None:
                self._notifier.publish(position)

    # -- reading --------------------------------------------------------------------------

    def view(self) -> View:
        """A snapshot of the table."""
        with self._notifier.transaction():
            return View(
                self._notifier.version,
                self._table,
                self._tray.shown,
                self._notifier.announcement,
                self._notifier.announced,
                self._timer.closes_at_s,
                frozenset(self._online),
                tuple(sorted(self._faults.items())),
                self._offered,
                self._memory.notices,
                self._store.lost,
                self._store.has_copy,
                self._notifier.heard,
            )

    def wait(self, version: int, timeout_s: float) -> int:
        """Block until there is a newer version, `wake` is called or time is up; the version now."""
        return self._notifier.wait(version, timeout_s)

    def wake(self) -> None:
        """Wake every waiting thread, so that each can check whether it has to end."""
        self._notifier.wake()

    def subscribe(self, topic: Topic, callback: Callable[..., object]) -> None:
        """Call a function on a topic, never while the lock is held; `Topic` lists its arguments."""
        self._notifier.subscribe(topic, callback)

    def is_free(self, timeout_s: float) -> bool:
        """Whether no step holds the table for so long, as one on a hanging disk does."""
        return self._notifier.is_free(timeout_s)

    @property
    def faults(self) -> Mapping[str, str]:
        """Faults of the equipment and the storage by part; never waits for a step."""
        return self._faults

    def clock_s(self) -> float:
        """The session's clock, to show how long an action stays open."""
        return self._clock()

    @property
    def speaking(self) -> VoiceSettings:
        """The voice settings: as configured, or as changed at the table since."""
        return chosen(self._configured, self._table.settings.speaking)

    @property
    def phrases(self) -> Phrases:
        """The catalogue of the table's language."""
        return load_phrases(self.speaking.language)

    @property
    def take_back_s(self) -> float:
        """Seconds in which a page's last answer may be taken back; 0 if the host wants none."""
        return self._take_back_s if self._table.settings.take_back else 0.0

    def in_play(self) -> tuple[DieColour, ...]:
        """The dice of the next roll, white ones first."""
        return play.in_play(self._table)

    def why_not_renamed(self, old: str, new: str | None) -> Rejected | None:
        """Why `rename_player` would change nothing now, or None."""
        code = why_not(self.past.results(), self._table, old, new)
        return None if code is None else rejected(code, name=old, longest=LONGEST_NAME)

    def rename_player(self, old: str, new: str | None) -> Rejected | None:
        """Give a player of saved games another name, that of another player to merge the two.

        Args:
            new: The name; None deletes the player from the log for good.

        Raises:
            StoreError: The log cannot be written.
        """
        self.past.results()  # read before the transaction, which everybody waits for
        with self._notifier.transaction():
            if (refusal := self.why_not_renamed(old, new)) is not None:
                return refusal
            other = None if new is None else clean_name(new)
            try:
                with self.past.rewriting():
                    change = partial(with_name, old=old, new=other)
                    self._store.rewrite(change, erase=new is None)
            finally:
                self._notifier.touch()
            return None

    def seats_of(self, tokens: Iterable[str]) -> tuple[int, ...]:
        """The seats a device's tokens prove, in the order of the tokens."""
        return seats.proved_seats(self._table, tokens)

    def is_host(self, device: str) -> bool:
        """Whether a device hosts the table; as long as none does, every device may."""
        return seats.is_host(self._table, device)

    def is_known_host(self, device: str) -> bool:
        """Whether a device became a host."""
        return self.has_host and self.is_host(device)

    @property
    def has_host(self) -> bool:
        """Whether any device is a host."""
        return bool(self._table.hosts)

    # -- people and settings --------------------------------------------------------------

    def join(
        self, name: str, device: str | None = None, token: str | None = None
    ) -> Joined | Rejected:
        """Give a newcomer a seat; before the first roll they enter the running game.

        Args:
            device: Hosts the table if nobody does yet.
            token: Proves the seat; None draws one. A seat that it proves already is returned.
        """
        return self._seated(token, lambda own: seats.decide_join(self._table, name, own, device))

    def claim(
        self, seat: int, *, device: str | None = None, token: str | None = None
    ) -> Joined | Rejected:
        """Let a device prove an offered seat; its old devices lose their proof.

        Args:
            device: Hosts the table if nobody does yet.
            token: Proves the seat; None draws one. A seat that it proves already is returned.
        """

        def decide(own: str) -> Decision | Rejected:
            is_offered = seat in self._offered
            return seats.decide_claim(self._table, seat, own, is_offered=is_offered, device=device)

        return self._seated(token, decide)

    def _seated(
        self, token: str | None, decide: Callable[[str], Decision | Rejected]
    ) -> Joined | Rejected:
        token = token or secrets.token_hex(16)
        with self._notifier.transaction():
            if not self.seats_of((token,)) and (refusal := self._take_decided(decide(token))):
                return refusal
            (seat,) = self.seats_of((token,))
            self._offers.withdraw(seat)
            return Joined(seat, token)

    def offer(self, seat: int) -> Rejected | None:
        """Offer a seat to another device for a while; the game goes on meanwhile."""
        with self._notifier.transaction():
            held = self._table.seat(seat)
            if held is None or held.bot:
                return rejected("NO_SUCH_SEAT")
            self._offers.add(seat, self._notifier.touch)
            self._notifier.touch()
            return None

    add_bot = _step(seats.decide_bot)
    leave = _step(seats.decide_leave)
    order = _step(seats.decide_order)
    make_host = _step(seats.decide_host)

    def let_go(
        self, seat: int, *, due: tuple[str, int | None] | None = None, key: str = ""
    ) -> Rejected | None:
        """Free a seat; in a running game its points stay and its turns are skipped.

        Args:
            due: Its player and the number of the running game for which it was asked, if known.
            key: As of an answer: later answers of the same sender make it void.
        """
        return self._take(
            lambda table: decide_release(
                table, seat, due, is_overtaken=play.is_overtaken(key, self._memory.keys)
            )
        )

    def change_settings(
        self,
        switches: Mapping[str, bool] = _UNCHANGED,
        voice: Mapping[str, str | int] = _UNCHANGED,
    ) -> None:
        """Change settings of the table, all or none.

        Args:
            switches: Fields of Settings that are on or off.
            voice: Fields of VoiceSettings.

        Raises:
            ValueError: A voice setting is impossible.
        """
        with self._notifier.transaction():
            decision = seats.decide_settings(self._table, switches, voice, self._configured)
            self._take_decided(decision)
            if decision.entries:
                self._notifier.call_after_commit(Topic.SETTINGS)

    def connected(self, seat: int) -> None:
        """Count a page of this seat that was opened."""
        with self._notifier.transaction():
            self._online[seat] = self._online.get(seat, 0) + 1
            self._notifier.touch()

    def disconnected(self, seat: int) -> None:
        """Count a page of this seat that was closed."""
        with self._notifier.transaction():
            left = self._online.pop(seat, 1) - 1
            if left > 0:
                self._online[seat] = left
            self._notifier.touch()

    # -- games ----------------------------------------------------------------------------

    def start(
        self,
        variant: str = "base",
        first: int | None = None,
        house: Sequence[str] = (),
        *,
        practice: bool = False,
    ) -> Rejected | None:
        """Start a game with everybody seated; the first player is drawn unless named (E44).

        Args:
            practice: The coach suggests answers, and the game enters nobody's statistics.
        """
        return self._take(
            lambda table: play.decide_start(table, variant, first, house, self._draw, practice)
        )

    def rematch(self) -> Rejected | None:
        """Start the next game of the same kind; the next seat begins (E44)."""
        return self._take(lambda table: play.decide_rematch(table, self._draw))

    pause = _step(decide_pause)
    resume = _step(decide_resume)

    # -- playing --------------------------------------------------------------------------

    def answer(
        self,
        seat: int,
        turn: int,
        action: int,
        box: str | None,
        *,
        done: bool,
        revocable: bool = False,
        key: str = "",
        dice_since: int | None = None,
        is_by_host: bool = False,
    ) -> Rejected | None:
        """A seat's answer in the open action.

        Args:
            done: The player has nothing more to change.
            revocable: If it is the last one, it may still be taken back for a moment.
            key: Idempotency key: a retry carries the same one and counts once.
            dice_since: The `Game.dice_since` it is meant for, if known.
            is_by_host: The host answers for a player who cannot; the log stores that.
        """
        given = play.Given(seat, turn, dice_since, key)
        return self._take(
            lambda table: play.decide_answer(
                table,
                given,
                self._memory.keys,
                action,
                box,
                done=done,
                revocable=revocable,
                is_by_host=is_by_host,
            )
        )

    def withdraw(
        self, seat: int, turn: int, action: int, *, key: str = "", dice_since: int | None = None
    ) -> Rejected | None:
        """Withdraw a seat's answer."""
        given = play.Given(seat, turn, dice_since, key)
        return self._take(
            lambda table: play.decide_withdraw(table, given, self._memory.keys, action)
        )

    def typed_roll(self, roll: Roll, due: tuple[int, int] | None = None) -> Rejected | None:
        """Confirm a roll entered by hand.

        Args:
            due: Number and turn of the game it was entered for, if known.
        """
        with self._notifier.transaction():
            game = self._table.game
            if due is not None and (game is None or due != (game.number, game.state.turn)):
                return rejected("GONE_ON")
            return self._confirm(confirm.decide_roll(self._table, roll, self._tray, typed=True))

    # -- the host's steps -----------------------------------------------------------------

    def precondition(self, step: HostStep) -> str:
        """A token of the state a step would change; request it before a preview."""
        with self._notifier.transaction():
            return precondition_of(self._memory.trail, step)

    def preview(self, step: HostStep, roll: Roll | None = None) -> list[Line] | Rejected:
        """The changes a step would make now; `roll` has the right dice, to correct."""
        with self._notifier.transaction():
            return preview(self._table, decide_host_step(self._memory.trail, step, roll))

    def close_action(self, precondition: str | None = None) -> Rejected | None:
        """Close the open action: players who have not answered pass (E9).

        Args:
            precondition: Token of the preview; rejected if the table has gone on since.
        """
        return self._take_host_step(HostStep.CLOSE, precondition)

    def end(self, precondition: str | None = None) -> Rejected | None:
        """End the game before the rules do."""
        return self._take_host_step(HostStep.END, precondition)

    def correct_roll(self, roll: Roll, precondition: str | None = None) -> Rejected | None:
        """Replace misread dice while an action is open."""
        with self._notifier.transaction():
            answer = self._take_host_step(HostStep.CORRECT, precondition, roll)
            if answer is None:
                self._notifier.call_after_commit(Topic.CORRECTED, roll)
            return answer

    def undo(self, precondition: str | None = None) -> Rejected | None:
        """Undo the last settled step: an ending, a closed action with its last answer or a roll."""
        with self._notifier.transaction():
            had_roll = confirm.is_answering(self._table)
            answer = self._take_host_step(HostStep.UNDO, precondition)
            if answer is None and had_roll and confirm.is_roll_due(self._table):
                self._notifier.call_after_commit(Topic.ROLL_DUE_AGAIN)
            return answer

    def _take_host_step(
        self, step: HostStep, precondition: str | None, roll: Roll | None = None
    ) -> Rejected | None:
        with self._notifier.transaction():
            if precondition is not None and precondition != self.precondition(step):
                return rejected("GONE_ON")
            return self._take_decided(decide_host_step(self._memory.trail, step, roll))

    # -- tray and button ------------------------------------------------------------------

    def see(self, tray: TrayView) -> None:
        """Receive the camera loop's report."""
        with self._notifier.transaction():
            if tray == self._tray.read:
                return
            before = confirm.reason(self._tray.shown)
            self._has_seen_dice |= confirm.has_seen_dice(tray)
            self._tray = self._tray.updated(tray, self.in_play())
            self._notifier.touch()
            if confirm.is_roll_due(self._table) and before != confirm.reason(self._tray.shown):
                self._notifier.retract()
            self.part_is("camera", tray.fault)
            is_settled = confirm.is_settled(self._table, self._tray, self._port)
            if self._press.is_waiting and is_settled:
                self._answer_press()

    def fix_die(
        self, frame: int, at: tuple[float, float], value: int, colour: DieColour | None = None
    ) -> Rejected | None:
        """Correct one die of the shown reading, before its roll is confirmed.

        The correction holds until a die moves. With all doubtful dice corrected, a roll can be
        confirmed that was not read with certainty.

        Args:
            frame: Number of the frame that was shown; nothing may have moved since.
            at: Where the die lies in that frame, in pixels.
            colour: Needed if the reading does not name it.
        """
        with self._notifier.transaction():
            fixed = decide_fix(self._table, self._tray, frame, at, value, colour)
            if isinstance(fixed, Rejected):
                return fixed
            self._tray = fixed
            self._notifier.touch()
            self._notifier.retract()
            return None

    def press(self) -> Rejected | None:
        """The button: confirm a settled roll if one is due, else explain why not.

        It never passes for anybody and changes nothing else. It is remembered while the last
        answer of action 2 may be taken back, and while the reading may be outdated; but not before
        the first reading after a start: a die may lie there that was corrected before it.
        """
        with self._notifier.transaction():
            if confirm.is_same_press(self._table, self._confirmed_s, self._clock()):
                answer = confirm.decide_press(self._table, self._tray)
                return answer if isinstance(answer, Rejected) else None  # announced before
            if confirm.is_turn_answered(self._table):
                self._is_pressed = True
                return None
            if self._press.is_waiting:
                return None
            has_to_wait = confirm.has_to_wait(self._table, self._tray.shown, self._port)
            if has_to_wait and self._has_seen_dice:
                self._press.start()
                return None
            refused = self._refused
            if refused and refused.covers(self._table, self._tray.shown, self._clock()):
                return refused.answer  # announced before
            return self._answer_press()

    def _answer_press(self) -> Rejected | None:
        self._press.stop()

        def take() -> Rejected | None:
            answer = self._confirm(confirm.decide_press(self._table, self._tray))
            if answer is None:
                self._confirmed_s = self._clock()
            return answer

        answer = self._take_from_button(take)
        self._refused = None
        if answer is not None and answer.code != "NOT_KEPT":  # that one may be kept at once
            why = confirm.reason(self._tray.shown)
            self._refused = confirm.RefusedPress(answer, self._clock(), self._table.revision, why)
        return answer

    def hold(self, held_s: float = 0.0) -> Rejected | None:
        """The button held down: players who have not answered the open action pass (E9).

        Without an open action there is nothing to pass, and it is a press.

        Args:
            held_s: For how long; an action that opened since is not meant.
        """
        with self._notifier.transaction():
            if self._clock() - self._times.opened_s < held_s:
                return self._take_from_button(lambda: rejected("GONE_ON", key="press.gone_on"))
            if not confirm.is_answering(self._table):
                return self.press()
            return self._take_from_button(self.close_action)

    def _take_from_button(self, take: Callable[[], Rejected | None]) -> Rejected | None:
        """Take a step of the button, which has no screen: a rejection is announced."""
        try:
            answer = take()
        except StoreError:
            LOGGER.exception("button: the step could not be stored")
            answer = rejected("NOT_KEPT", key="page.not_kept")
        if answer is not None:
            self._notifier.publish(announce_refusal(*answer.lines))
        return answer

    def say_again(self) -> None:
        """Repeat the last announcement; of a roll, the boxes that may still be crossed."""
        with self._notifier.transaction():
            game, last = self._table.game, self._notifier.announcement
            if last is None:
                return
            is_open = confirm.is_answering(self._table)
            if game is not None and is_open and last.kind in ("roll", "corrected"):
                last = announce_open(game.state, game.names)
            self._notifier.publish(last)

    def part_is(self, part: str, fault: str | None) -> None:
        """Report or clear an equipment fault.

        It is announced when the part breaks and when it works again, and shown in between.
        """
        with self._notifier.transaction():
            if fault == self._faults.get(part):
                return
            others = {name: each for name, each in self._faults.items() if name != part}
            self._faults = others if fault is None else others | {part: fault}
            self._notifier.notify(announce_fault(part, fault))

    def show_anew(self) -> None:
        """Redraw every page: something around the game changed, such as the Wi-Fi."""
        with self._notifier.transaction():
            self._notifier.touch()

    # -- taking a step --------------------------------------------------------------------

    def _confirm(self, decision: Decision | Rejected) -> Rejected | None:
        answer = self._take_decided(decision)
        if answer is not None or isinstance(decision, Rejected):
            return answer
        roll, kept = confirm.confirmed_roll(decision, self._tray.read)
        # First of all, as keeping a picture takes long on a slow disk, and other dice may come.
        self._notifier.call_after_commit(Topic.CONFIRMED, roll)
        if kept is not None:
            self._notifier.call_after_commit(Topic.SEEN_ROLL, kept)
        return None

    def _take(self, decide: Callable[[Table], Decision | Rejected]) -> Rejected | None:
        with self._notifier.transaction():
            return self._take_decided(decide(self._table))

    def _take_decided(self, decision: Decision | Rejected) -> Rejected | None:
        """Store a decided step, adopt its table and notify; the lock is held.

        Raises:
            StoreError: It could not be stored; nothing has changed.
        """
        if isinstance(decision, Rejected):
            return decision
        if not decision.entries:
            return None
        before, at = self._table, self._now_text()
        take_back_s = self.take_back_s
        numbered = enumerate(decision.entries, before.revision + 1)
        records = tuple(to_record(entry, number, at) for number, entry in numbered)
        mark = self._store.mark
        try:
            self._store.append(records)
        except StoreError:
            self.part_is("storage", "failing")
            raise
        self.part_is("storage", None)
        if any(record.kind in BEGINNINGS for record in records):
            keep_before(self._store, mark, self._memory)
        self._memory = self._memory.after(records)
        self._times = times_after(self._times, before, decision, self._clock())
        self._notifier.touch()
        for announcement in decision.announcements:
            self._notifier.publish(announcement)
        if decision.display is not None:
            self._notifier.display(decision.display)
        self._notifier.retract()
        if decision.notice is not None:
            self._notifier.notify(decision.notice)
        self._offers.keep(seat.number for seat in self._table.seats)
        if not confirm.is_roll_due(self._table):
            self._press.stop()  # the roll was entered by hand, or the game put aside or ended
        was_pressed = self._is_pressed
        self._is_pressed = was_pressed and confirm.is_turn_answered(self._table)
        if (self._table.game, self.take_back_s) != (before.game, take_back_s):
            self._set_timer()
        if was_pressed and confirm.is_turn_over(before, self._table):
            self.press()
        return None

    def _set_timer(self) -> None:
        self._timer.set(self._table.game, self._clock(), self._times, self.take_back_s)

    def _close(self, game: Game) -> None:
        """Close the open action of a game, unless it has gone on."""
        if self._table.game != game or game.state.waiting_for:
            return
        try:
            self._take_decided(decide_move(self._table, ActionClosed(game.state.action)))
            self._is_retrying = False
        except StoreError:
            if not self._is_retrying:
                LOGGER.exception("closing the action could not be stored; trying again")
            self._is_retrying = True
            self._timer.retry(game)

    def _later(self, seconds: float, call: Callable[[], object]) -> Cancel:
        """Call a function under the lock after some seconds; the result cancels it."""

        def locked() -> None:
            with self._notifier.transaction():
                call()

        return self._call_later(seconds, locked)
