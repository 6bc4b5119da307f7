"""One table's evening: its people, its game, its tray and its button."""

from __future__ import annotations

import logging

from companion.announcer import announce_fault, announce_refusal, tray_lines
from companion.engine import Phase
from companion.errors import StoreError
from companion.people import People
from companion.phrases import all_of
from companion.ports import TrayView
from companion.steps import GameSteps
from companion.view import Declined, Joined, View

__all__ = ["Declined", "Joined", "Session", "View"]

LOGGER = logging.getLogger(__name__)


class Session(People, GameSteps):
    """The whole session. Every public method may be called from any thread."""

    def see(self, tray: TrayView) -> None:
        """Take what the camera loop reports."""
        with self._telling.changing():
            if tray != self._tray:
                self._tray = tray
                self._telling.touch()
                self.part_is("camera", tray.fault)

    def part_is(self, part: str, fault: str | None) -> None:
        """Take what is wrong with a part of the equipment, None while all is well.

        It is said once when it breaks and once when it works again, and shown in between.
        """
        with self._telling.changing():
            if fault == self._faults.get(part):
                return
            if fault is None:
                del self._faults[part]
            else:
                self._faults[part] = fault
            self._telling.mention(announce_fault(part, fault))

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
                self._telling.announce(announce_refusal(*declined.lines))
            return declined

    def hold(self) -> Declined | None:
        """The button held down: who has not answered the open action passes (E9)."""
        with self._telling.changing():
            declined = self.close_action()
            if declined is not None:
                self._telling.announce(announce_refusal(*declined.lines))
            return declined

    def say_again(self) -> None:
        """Repeat the last announcement."""
        with self._telling.changing():
            if self._telling.announcement is not None:
                self._telling.announce(self._telling.announcement)

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
            return self._no(
                "WRONG_PHASE", key="press.waiting_for", names=all_of(waiting), ruling="E9"
            )
        if self._tray.roll is None:
            return Declined("NOT_READABLE", tray_lines(self._tray.status, self._tray.doubts))
        return self._confirm(self._tray.roll, typed=False)
