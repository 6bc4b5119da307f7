"""One table's evening: its people, its game, its tray and its button."""

from __future__ import annotations

import logging

from companion.engine import DieColour, Phase
from companion.errors import StoreError
from companion.messages.announcements import announce_open, announce_refusal
from companion.messages.catalogue import all_of
from companion.messages.equipment import announce_fault, tray_lines
from companion.session.corrections import die_at, fix_of, is_at, with_fixes
from companion.session.games import GameNight
from companion.session.preview import Previews
from companion.session.seats import People
from companion.session.view import Joined, Rejected, View
from companion.tray import TrayView

__all__ = ["Joined", "Rejected", "Session", "View"]

LOGGER = logging.getLogger(__name__)

SAME_PRESS_S = 1.0
"""A press so soon after the roll was confirmed is the same confirmation, not a question."""

VERDICT_S = 1.0
"""So long a remembered press waits for the eye, which decides within half of it, or says after
0.8 s that it cannot ..."""

LONGEST_VERDICT_S = 8.0
"""... or as long as a busy machine is still at that very reading, but no longer than this."""

WATCHED_S = 0.1
"""How often it is asked whether frames are looked at again."""


class Session(People, GameNight, Previews):
    """The whole session. Every public method may be called from any thread."""

    def join(self, name: str) -> Joined | Rejected:
        """Give a newcomer a seat; before the first roll they are in the game at once."""
        with self._notifier.transaction():
            joined = super().join(name)
            if isinstance(joined, Joined):
                self.let_in()
            return joined

    def see(self, tray: TrayView) -> None:
        """Take what the camera loop reports."""
        with self._notifier.transaction():
            if tray != self._seen:
                self._seen = tray
                if not tray.status.is_correctable:
                    self._fixes, self._rest_frame = (), None
                elif self._rest_frame is None:
                    self._rest_frame = tray.frame
                was = self._tray
                self._tray = with_fixes(tray, self._fixes, self.in_play())
                self._notifier.touch()
                now = self._tray
                told = (was.status, was.roll, was.problems)
                if self._is_roll_due and told != (now.status, now.roll, now.problems):
                    self._notifier.retract()
                self.part_is("camera", tray.fault)
                is_decided = not tray.status.is_undecided and not self._is_outdated
                is_decided = is_decided and not self.is_unwatched()
                if self._pending is not None and is_decided:
                    self._settle_press()

    def fix_die(
        self, frame: int, at: tuple[float, float], value: int, colour: DieColour | None = None
    ) -> Rejected | None:
        """Put one die of the shown reading right, before the roll is confirmed.

        It holds until something moves. With the doubtful dice put right, the roll may be
        confirmed although the eye was not sure.

        Args:
            frame: Of the tray as it was shown; nothing may have moved since.
            at: Where the die lies in that picture.
            colour: Where the eye did not know it.
        """
        with self._notifier.transaction():
            game = self._table.game
            if game is None or game.state.phase is not Phase.ROLL:
                return self._no("NO_ROLL_DUE")
            die = die_at(self._seen.dice, at)
            if die is None or self._rest_frame is None or frame < self._rest_frame:
                return self._no("TRAY_CHANGED")
            fix = fix_of(die, value, colour)
            if fix is None or not 1 <= value <= 6:
                return self._no("BAD_DIE")
            others = [old for old in self._fixes if not is_at(old, fix.centre)]
            self._fixes = (*others, fix)
            self._tray = with_fixes(self._seen, self._fixes, self.in_play())
            self._notifier.touch()
            self._notifier.retract()
            return None

    def part_is(self, part: str, fault: str | None) -> None:
        """Take what is wrong with a part of the equipment, None while all is well.

        It is said once when it breaks and once when it works again, and shown in between.
        """
        with self._notifier.transaction():
            if fault == self._faults.get(part):
                return
            if fault is None:
                del self._faults[part]
            else:
                self._faults[part] = fault
            self._notifier.notify(announce_fault(part, fault))

    def show_anew(self) -> None:
        """Have every page drawn anew: something around the game changed, such as the Wi-Fi."""
        with self._notifier.transaction():
            self._notifier.touch()

    def press(self) -> Rejected | None:
        """The button: confirm a settled roll when one is due, else say why not.

        It never passes for anybody and never changes the game in another way. A press while the
        dice, already still, are being read is remembered until their verdict; so is one while
        the eye has yet to hear that a row closed and its die does not count any more, or while
        the lamp's light changes and a die could be nudged unseen.
        """
        with self._notifier.transaction():
            is_due = self._is_roll_due
            if not is_due and self._clock() - self._pressed_s < SAME_PRESS_S:
                return self._press()  # the same confirmation twice: no news to anybody
            if self._pending is not None:
                return None
            is_unread = self._is_outdated or (self._tray.roll is None and self.is_reading())
            is_unread = is_unread or self.is_unwatched()
            if is_due and is_unread:
                self._await_verdict()
                return None
            return self._settle_press()

    @property
    def _is_roll_due(self) -> bool:
        game = self._table.game
        return game is not None and game.state.phase is Phase.ROLL

    @property
    def _is_outdated(self) -> bool:
        """Whether the roll on offer was read before one of its dice left the game."""
        game = self._table.game
        return game is not None and self._tray.is_outdated(game.state.dice)

    def _expire_press(self, waited_s: float) -> None:
        with self._notifier.transaction():
            if self._pending is None:
                return
            if (self.is_reading() or self.is_unwatched()) and waited_s < LONGEST_VERDICT_S:
                self._await_verdict(waited_s)
            else:
                self._settle_press()

    def _await_verdict(self, waited_s: float = 0.0) -> None:
        step_s = WATCHED_S if self.is_unwatched() else VERDICT_S
        self._pending = self._call_later(step_s, lambda: self._expire_press(waited_s + step_s))

    def _settle_press(self) -> Rejected | None:
        if self._pending is not None:
            self._pending()
            self._pending = None
        try:
            rejected = self._press()
        except StoreError:
            LOGGER.exception("the press of the button could not be kept")
            rejected = self._no("NOT_KEPT", key="page.not_kept")
        if rejected is not None:
            self._notifier.publish(announce_refusal(*rejected.lines))
        return rejected

    def hold(self, held_s: float = 0.0) -> Rejected | None:
        """The button held down: who has not answered the open action passes (E9).

        Args:
            held_s: For how long; an action that opened since is not meant.
        """
        with self._notifier.transaction():
            try:
                is_other = self._clock() - self._opened_s < held_s
                gone = self._no("GONE_ON", key="press.gone_on") if is_other else None
                rejected = gone or self.close_action()
            except StoreError:
                LOGGER.exception("the hold of the button could not be kept")
                rejected = self._no("NOT_KEPT", key="page.not_kept")
            if rejected is not None:
                self._notifier.publish(announce_refusal(*rejected.lines))
            return rejected

    def say_again(self) -> None:
        """Repeat the last announcement; of a roll, what may be crossed by now."""
        with self._notifier.transaction():
            game, said = self._table.game, self._notifier.announcement
            if said is None:
                return
            is_open = game is not None and game.state.phase in (Phase.ACTION1, Phase.ACTION2)
            if game is not None and is_open and said.kind in ("roll", "corrected"):
                said = announce_open(game.state, game.names)
            self._notifier.publish(said)

    def _press(self) -> Rejected | None:
        game = self._table.game
        if game is None:
            return self._no("NO_GAME", key="press.no_game")
        if game.state.phase is Phase.OVER:
            return self._no("GAME_OVER", key="press.game_over")
        if game.state.phase is not Phase.ROLL:
            waiting = [self._table.names[player] for player in game.state.waiting_for]
            if not waiting:
                return self._no("WRONG_PHASE", key="press.about_to_close", ruling="E9")
            return self._no(
                "WRONG_PHASE", key="press.waiting_for", names=all_of(waiting), ruling="E9"
            )
        if self._tray.roll is None:
            return Rejected("NOT_READABLE", tray_lines(self._tray.status, self._tray.problems))
        rejected = self._confirm(self._tray.roll, typed=False)
        if rejected is None:
            self._pressed_s = self._clock()
        return rejected
