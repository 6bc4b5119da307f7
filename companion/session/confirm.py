"""Decide presses of the button: which roll is confirmed, and when a press has to wait."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from companion.engine import Phase, Roll, Rolled
from companion.eventlog.record import Move
from companion.eventlog.state import Table
from companion.messages.catalogue import all_of
from companion.messages.equipment import CAUSES, tray_lines
from companion.session.corrections import CorrectedTray, reading_data
from companion.session.decision import Decision, Rejected, decide_move, rejected
from companion.session.ports import CallLater, Cancel, RollKept, TrayPort
from companion.tray import TrayStatus, TrayView

SAME_PRESS_S = 1.0
"""Seconds after a press in which another one counts as the same."""

VERDICT_S = 1.0
"""Seconds a press waits for a reading, which is settled or given up within 0.8 s."""

LONGEST_VERDICT_S = 8.0
"""Most seconds a press waits while a busy machine is still reading."""

WATCHED_S = 0.1
"""Seconds between two checks whether frames are used again."""


def is_roll_due(table: Table) -> bool:
    """Whether the game waits for a roll."""
    return table.game is not None and table.game.state.phase is Phase.ROLL


def is_answering(table: Table) -> bool:
    """Whether a roll is confirmed and still being answered."""
    return table.game is not None and table.game.state.phase in (Phase.ACTION1, Phase.ACTION2)


def is_turn_answered(table: Table) -> bool:
    """Whether action 2 only waits for its answer to be final; the next roll may lie there."""
    game = table.game
    return game is not None and game.state.phase is Phase.ACTION2 and not game.state.waiting_for


def is_turn_over(before: Table, after: Table) -> bool:
    """Whether a step ended a turn, and the next roll of the same game is due."""
    was, now = before.game, after.game
    if was is None or now is None or was.number != now.number:
        return False
    return is_roll_due(after) and was.state.turn < now.state.turn


def is_outdated(table: Table, tray: TrayView) -> bool:
    """Whether the offered roll was read before a die left the game or came back."""
    return table.game is not None and tray.is_outdated(table.game.state.dice)


def has_to_wait(table: Table, tray: TrayView, port: TrayPort) -> bool:
    """Whether a press must wait for the next reading, because the current one may be wrong.

    The dice may still be read; a row may have closed since; or a die may be moved unseen.
    """
    is_unread = is_outdated(table, tray) or (tray.roll is None and port.is_reading)
    return is_roll_due(table) and (is_unread or port.is_unwatched)


def has_seen_dice(tray: TrayView) -> bool:
    """Whether the camera has read dice, known those of the last roll, or seen none or a throw."""
    is_known = tray.status in (TrayStatus.MOVING, TrayStatus.EMPTY, TrayStatus.OLD)
    return is_known or tray.status.is_judged


def is_settled(table: Table, tray: CorrectedTray, port: TrayPort) -> bool:
    """Whether a waiting press can be answered now."""
    is_undecided = tray.read.status.is_undecided or is_outdated(table, tray.shown)
    return not is_undecided and not port.is_unwatched


def reason(tray: TrayView) -> tuple[object, ...]:
    """The state of the tray that explains a refused press; the refusal ends when it changes.

    What makes the dice hard to read is seen later, and leaves the refusal true.
    """
    problems = tuple(problem for problem in tray.problems if problem.code not in CAUSES)
    return tray.status, tray.roll, problems


def is_same_press(table: Table, confirmed_s: float | None, now_s: float) -> bool:
    """Whether a press belongs to the one that confirmed the roll."""
    is_soon = confirmed_s is not None and now_s - confirmed_s < SAME_PRESS_S
    return is_soon and not is_roll_due(table)


@dataclass(frozen=True, slots=True)
class RefusedPress:
    """A press that was refused, and what it was refused for."""

    answer: Rejected
    at_s: float
    revision: int
    reason: tuple[object, ...]

    def covers(self, table: Table, tray: TrayView, now_s: float) -> bool:
        """Whether another press belongs to it: it comes soon, and nothing has changed."""
        is_soon = now_s - self.at_s < SAME_PRESS_S
        is_read_anew = is_roll_due(table) and self.reason != reason(tray)
        return is_soon and self.revision == table.revision and not is_read_anew


def decide_press(table: Table, tray: CorrectedTray) -> Decision | Rejected:
    """Confirm the settled roll if one is due, else explain why not."""
    game = table.game
    if game is None:
        return rejected("NO_GAME", key="press.no_game")
    if game.state.phase is Phase.OVER:
        return rejected("GAME_OVER", key="press.game_over")
    if game.state.phase is not Phase.ROLL:
        waiting = [game.names[player] for player in game.state.waiting_for]
        if not waiting:
            return rejected("WRONG_PHASE", key="press.about_to_close", ruling="E9")
        names = all_of(waiting)
        return rejected("WRONG_PHASE", key="press.waiting_for", names=names, ruling="E9")
    if tray.shown.roll is None:
        return Rejected("NOT_READABLE", tray_lines(tray.shown.status, tray.shown.problems))
    return decide_roll(table, tray.shown.roll, tray, typed=False)


def decide_roll(
    table: Table, roll: Roll, tray: CorrectedTray, *, typed: bool
) -> Decision | Rejected:
    """Confirm a roll; the log also stores what was read, to measure how often it is right."""
    is_corrected = not typed and any(die.by_hand for die in tray.shown.dice)
    by_hand = {"by_hand": True} if is_corrected else {}
    eye = {"eye": reading_data(tray.read)} if is_judged(tray.read) else {}
    return decide_move(table, Rolled(roll), typed=typed, **by_hand, **eye)


def is_judged(tray: TrayView) -> bool:
    """Whether the camera saw the dice that were thrown last."""
    return bool(tray.dice) and tray.status.is_judged


def confirmed_roll(decision: Decision, tray: TrayView) -> tuple[Roll, RollKept | None]:
    """The roll that a step confirmed, and where its frame is, if the camera saw it.

    Args:
        tray: As it was read then.
    """
    (entry,), game = decision.entries, decision.table.game
    assert isinstance(entry, Move)
    assert isinstance(entry.event, Rolled)
    assert game is not None
    if not is_judged(tray):
        return entry.event.roll, None
    kept = RollKept(game.rolled, game.number, game.state.turn, tray.frame, entry.event.roll)
    return entry.event.roll, kept


class WaitingPress:
    """A press of the button that waits for the next reading."""

    def __init__(self, port: TrayPort, call_later: CallLater, answer: Callable[[], object]) -> None:
        """Set up the wait.

        Args:
            call_later: Must hold the session's lock while it calls.
            answer: Answers the press with whatever was read by then.
        """
        self._port, self._call_later, self._answer = port, call_later, answer
        self._cancel: Cancel | None = None

    @property
    def is_waiting(self) -> bool:
        """Whether a press waits."""
        return self._cancel is not None

    def start(self, waited_s: float = 0.0) -> None:
        """Wait for a reading; a busy machine gets more time."""
        step_s = WATCHED_S if self._port.is_unwatched else VERDICT_S
        self._cancel = self._call_later(step_s, lambda: self._go_on(waited_s + step_s))

    def stop(self) -> None:
        """Stop waiting."""
        if self._cancel is not None:
            self._cancel()
            self._cancel = None

    def _go_on(self, waited_s: float) -> None:
        if not self.is_waiting:
            return
        is_busy = self._port.is_reading or self._port.is_unwatched
        if is_busy and waited_s < LONGEST_VERDICT_S:
            self.start(waited_s)
        else:
            self._answer()
