"""The steps of a game: begin, answer, close, correct, undo, end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from companion.engine import (
    PLANS,
    ActionClosed,
    Answered,
    EndedEarly,
    Event,
    HouseRule,
    Phase,
    Roll,
    RollCorrected,
    Rolled,
    Withdrawn,
)
from companion.engine.dice import ALL_DICE, DieColour
from companion.eventlog.projection import precondition_of, project, undone_to
from companion.eventlog.reducer import next_to_begin
from companion.messages.announcements import announce_passed, announce_turn, announce_undone
from companion.session.corrections import said_by_eye
from companion.session.ports import RollKept
from companion.session.view import Rejected
from companion.session.writer import Writer


class GameSteps(Writer):
    """The session's room for the game."""

    def in_play(self) -> tuple[DieColour, ...]:
        """The dice the next roll has, white ones first."""
        game = self._table.game
        if game is None or game.state.phase is Phase.OVER:
            return ALL_DICE
        return (DieColour.WHITE, DieColour.WHITE, *game.state.dice)

    def start(
        self, variant: str = "base", first: int | None = None, house: Sequence[str] = ()
    ) -> Rejected | None:
        """Begin a game with everybody seated; the first player is drawn unless named (E44)."""
        with self._notifier.transaction():
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

    def rematch(self) -> Rejected | None:
        """Begin the next game of the same kind; the next seat begins (E44)."""
        with self._notifier.transaction():
            game = self._table.game
            if game is None:
                return self.start()
            if game.state.phase is not Phase.OVER:
                return self._no("GAME_RUNNING")
            seats = [seat.number for seat in self._table.seats]
            if not seats:
                return self._no("NO_PLAYERS")
            place = next_to_begin(game, seats)
            house = [rule.value for rule in game.state.setup.house]
            self._begin(game.state.plan.name, seats, place, house)
            return None

    def precondition(self, step: str) -> str:
        """What a host's step would be taken on now; to be asked before it is foreseen."""
        with self._notifier.transaction():
            return precondition_of(step, self._table, self._store.load())

    def close_action(self, precondition: str | None = None) -> Rejected | None:
        """Close the open action for those who have not answered: they pass (E9).

        Who had to pass in action 1 is said; of action 2 the miss, or the next turn, tells.

        Args:
            precondition: What was foreseen; nothing is done where the table has gone on since.
        """
        with self._notifier.transaction():
            if self._has_gone_on("close", precondition):
                return self._no("GONE_ON")
            game = self._table.game
            if game is None or game.state.action == 0:
                return self._no("NO_ACTION")
            passed = [self._table.names[player] for player in game.state.waiting_for]
            rejected = self._play_locked(ActionClosed(game.state.action), data={"by": "table"})
            is_over = self._table.game is not None and self._table.game.state.phase is Phase.OVER
            if rejected is None and passed and game.state.action == 1 and not is_over:
                self._notifier.notify(announce_passed(passed))
            return rejected

    def end(self, precondition: str | None = None) -> Rejected | None:
        """Stop the game before the rules do."""
        with self._notifier.transaction():
            if self._has_gone_on("end", precondition):
                return self._no("GONE_ON")
            return self._play(lambda player: EndedEarly(), seat=None)

    def _has_gone_on(self, step: str, precondition: str | None) -> bool:
        return precondition is not None and precondition != self.precondition(step)

    def answer(
        self,
        seat: int,
        turn: int,
        action: int,
        box: str | None,
        *,
        done: bool,
        key: str = "",
        rolled: int | None = None,
        is_by_host: bool = False,
    ) -> Rejected | None:
        """A seat's answer in the open action.

        Args:
            done: They have nothing more to change.
            rolled: Revision of the roll it was meant for, where that is known.
            key: A retry carries the same, and counts once.
            is_by_host: The host answers for somebody who cannot; the log keeps that.
        """
        data = ({"done": True} if done else {}) | ({"by": "host"} if is_by_host else {})
        with self._notifier.transaction():
            game = self._table.game
            if is_by_host and game is not None and seat in game.seats:
                player = game.seats.index(seat)
                is_now = (turn, action) == (game.state.turn, game.state.action)
                if is_now and game.state.answers[player] is not None:  # they can, after all
                    return self._no("HAS_ANSWERED", name=game.names[player])
            return self._play(
                lambda player: Answered(player, action, box),
                seat,
                turn=turn,
                rolled=rolled,
                data=data,
                key=key,
            )

    def withdraw(
        self, seat: int, turn: int, action: int, *, key: str = "", rolled: int | None = None
    ) -> Rejected | None:
        """Take a seat's answer back."""
        return self._play(
            lambda player: Withdrawn(player, action), seat, turn=turn, rolled=rolled, key=key
        )

    def typed_roll(self, roll: Roll, due: tuple[int, int] | None = None) -> Rejected | None:
        """Confirm a roll entered by hand.

        Args:
            due: Number and turn of the game it was entered for, where they are known.
        """
        with self._notifier.transaction():
            game = self._table.game
            if due is not None and (game is None or due != (game.number, game.state.turn)):
                return self._no("GONE_ON")
            return self._confirm(roll, typed=True)

    def correct_roll(self, roll: Roll, precondition: str | None = None) -> Rejected | None:
        """Put the right dice in place of misread ones while marks are open.

        Answers the right dice do not allow go back to their owners, and everybody is told.
        """
        with self._notifier.transaction():
            if self._has_gone_on("correct", precondition):
                return self._no("GONE_ON")
            return self._play_locked(RollCorrected(roll), data=self._eye_said())

    def undo(self, precondition: str | None = None) -> Rejected | None:
        """Take the last settled step back: an ending, a closed action with its last answer, or a
        confirmed roll. What is struck out stays in the log."""
        with self._notifier.transaction():
            if self._has_gone_on("undo", precondition):
                return self._no("GONE_ON")
            kept = undone_to(self._store.load())
            if kept is None:
                return self._no("NOTHING_TO_UNDO")
            game = self._table.game
            if game is not None and self._lacks_somebody(game):
                return self._no("SEAT_EMPTY")
            self._keep("undone", {"revision": kept})
            self._table = project(self._store.load()).table
            self._closing_told_s = None
            self._opened_s = self._clock()
            self._notifier.touch()
            now = self._table.game
            is_same = game is not None and now is not None and game.number == now.number
            before = game.state if is_same and game is not None else None
            self._notifier.publish(announce_undone(before, now.state if now else None))
            if now is not None and now.state.phase is Phase.ROLL:
                self._notifier.call_after_commit(self.on_undone)
            self._schedule()
            self._tell_closings()
            return None

    def _confirm(self, roll: Roll, *, typed: bool) -> Rejected | None:
        by_hand = {"by_hand": True} if self._fixes and not typed else {}
        is_judged = bool(self._seen.dice) and self._seen.status.is_judged
        self._eye = said_by_eye(self._seen) if is_judged else None
        data = {"typed": typed, **by_hand, **self._eye_said()}
        rejected = self._play_locked(Rolled(roll), data=data)
        game = self._table.game
        if rejected is None and game is not None:
            if is_judged:
                kept = RollKept(game.rolled, game.number, game.state.turn, self._seen.frame)
                self._notifier.call_after_commit(partial(call, kept) for call in self.on_rolled)
            self._notifier.call_after_commit(partial(call, roll) for call in self.on_confirmed)
            self._fixes = ()
        return rejected

    def _eye_said(self) -> dict[str, Any]:
        """What the eye had said of the roll, for the record of how often it is right."""
        return {} if self._eye is None else {"eye": self._eye}

    def _begin(
        self,
        variant: str,
        seats: list[int],
        first: int,
        house: Sequence[str],
        number: int | None = None,
    ) -> None:
        number = number or self._table.games + 1
        data = {"number": number, "variant": variant, "seats": seats}
        names = [self._table.name(seat) for seat in seats]
        rules = sorted(set(house))
        self._keep("started", {**data, "names": names, "first": first, "house": rules})
        self._notifier.publish(announce_turn(self._table.names[first]))

    def _play(
        self,
        event_of: Callable[[int], Event],
        seat: int | None,
        *,
        turn: int | None = None,
        rolled: int | None = None,
        data: Mapping[str, Any] | None = None,
        key: str = "",
    ) -> Rejected | None:
        with self._notifier.transaction():
            game = self._table.game
            if game is None:
                return self._no("NO_GAME", key="press.no_game")
            if key and key in self._keys:
                return None  # a retry of a step that was taken
            is_late = turn is not None and turn != game.state.turn
            if is_late or (rolled is not None and rolled != game.rolled):
                late = "refused.WRONG_PHASE.turn"
                return self._no("WRONG_PHASE", key=late, ruling="E9")
            if seat is not None and seat not in game.seats:
                return self._no("NOT_IN_GAME")
            player = game.seats.index(seat) if seat is not None else -1
            kept = {**(data or {}), "key": key} if key else (data or {})
            return self._play_locked(event_of(player), data=kept)
