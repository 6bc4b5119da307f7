"""What a host's step would change, told before it is taken: nothing here is kept."""

from __future__ import annotations

from companion.engine import (
    ActionClosed,
    EndedEarly,
    Event,
    GameState,
    Phase,
    Refusal,
    Roll,
    RollCorrected,
    apply,
)
from companion.eventlog.projection import project, undone_to
from companion.eventlog.record import Record
from companion.eventlog.state import Game
from companion.messages.announcements import box_line, die_term, row_term
from companion.messages.catalogue import Line, all_of, line
from companion.messages.refusals import refusal_line
from companion.session.view import Rejected
from companion.session.writer import Writer


class Previews(Writer):
    """The session's room for looking ahead."""

    def preview_undo(self) -> list[Line] | Rejected:
        """What taking the last settled step back would change, line by line."""
        with self._notifier.transaction():
            records = list(self._store.load())
            kept = undone_to(records)
            game = self._table.game
            if kept is None or game is None:
                return self._no("NOTHING_TO_UNDO")
            if self._lacks_somebody(game):
                return self._no("SEAT_EMPTY")
            struck = Record(self._table.revision + 1, "undone", {"revision": kept})
            after = project([*records, struck]).table.game
            return self._told(game, after.state if after else game.state)

    def preview_correction(self, roll: Roll) -> list[Line] | Rejected:
        """What the right dice would change."""
        return self._preview(RollCorrected(roll))

    def preview_close(self) -> list[Line] | Rejected:
        """What closing the open action would change."""
        with self._notifier.transaction():
            game = self._table.game
            if game is None or game.state.action == 0:
                return self._no("NO_ACTION")
            return self._preview(ActionClosed(game.state.action))

    def preview_end(self) -> list[Line] | Rejected:
        """What ending the game now would change."""
        return self._preview(EndedEarly())

    def _preview(self, event: Event) -> list[Line] | Rejected:
        with self._notifier.transaction():
            game = self._table.game
            if game is None:
                return self._no("NO_GAME", key="press.no_game")
            step = apply(game.state, event)
            if isinstance(step, Refusal):
                lines = (refusal_line(step, self._table.names),)
                return Rejected(step.reason.value, lines, step.ruling)
            return self._told(game, step.state)

    def _told(self, game: Game, after: GameState) -> list[Line]:
        return differences(game.state, after, game.names)


def differences(before: GameState, after: GameState, names: tuple[str, ...]) -> list[Line]:
    """What is another in a later or an earlier state of the same game."""
    lines = [*_dice(before, after), *_turn_changed(before, after, names)]
    for player, name in enumerate(names):
        lines += _player(before, after, player, name)
    shut = {closing.row for closing in before.closed}
    shuts = {closing.row for closing in after.closed}
    for row in sorted(shut ^ shuts):
        term = row_term(before.plan.rows[row].name)
        lines.append(line("preview.closes" if row in shuts else "preview.opens", row=term))
    return lines or [line("preview.nothing")]


def _dice(before: GameState, after: GameState) -> list[Line]:
    if before.roll is None or before.roll == after.roll or before.turn != after.turn:
        return []
    if after.roll is None:
        return [line("preview.roll_back", sum=before.roll.white_sum)]
    lines = []
    if before.roll.white != after.roll.white:
        old, new = before.roll.white_sum, after.roll.white_sum
        if old != new:
            lines.append(line("preview.white", old=old, new=new))
        else:
            was_white, is_white = all_of(before.roll.white), all_of(after.roll.white)
            lines.append(line("preview.white_dice", old=was_white, new=is_white))
    was = dict(before.roll.coloured)
    for colour, value in after.roll.coloured:
        if was.get(colour, value) != value:
            die = die_term(colour.value)
            lines.append(line("preview.die", die=die, old=was[colour], new=value))
    return lines


def _turn_changed(before: GameState, after: GameState, names: tuple[str, ...]) -> list[Line]:
    if (before.turn, before.phase) == (after.turn, after.phase):
        return []
    if after.phase is Phase.OVER:
        return [line("preview.over")]
    name = names[after.active]
    return [line(f"preview.moment.{after.phase.value}", turn=after.turn, name=name)]


def _player(before: GameState, after: GameState, player: int, name: str) -> list[Line]:
    plan, lines = before.plan, []
    was, now = before.crosses[player], after.crosses[player]
    for key, bits in (("preview.crosses", now & ~was), ("preview.uncrosses", was & ~now)):
        boxes = [box_line(before, token) for token in plan.name_of(bits)]
        if boxes:
            lines.append(line(key, name=name, boxes=all_of(boxes)))
    if before.misses[player] != after.misses[player]:
        is_more = after.misses[player] > before.misses[player]
        lines.append(line("preview.miss" if is_more else "preview.no_miss", name=name))
    is_same = (before.turn, before.phase) == (after.turn, after.phase)
    if is_same and before.answers[player] is not None and after.answers[player] is None:
        lines.append(line("preview.answers_again", name=name))
    old, new = before.total(player), after.total(player)
    if old != new:
        lines.append(line("preview.points", name=name, old=old, new=new))
    return lines
