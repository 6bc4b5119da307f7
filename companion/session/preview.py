"""Steps of the host: decide one, preview its changes, check that nothing happened since (pure)."""

from __future__ import annotations

from enum import StrEnum

from companion.engine import End, EndedEarly, GameState, Phase, Roll, RollCorrected
from companion.eventlog.state import Game, Table
from companion.eventlog.trail import Trail
from companion.messages.announcements import box_line, die_term, is_die_out, row_term
from companion.messages.catalogue import Line, all_of, line
from companion.session.decision import Decision, Rejected, decide_move
from companion.session.play import decide_close, decide_undo


class HostStep(StrEnum):
    """Steps the host previews before taking them."""

    UNDO = "undo"
    CLOSE = "close"
    END = "end"
    CORRECT = "correct"


def decide_host_step(trail: Trail, step: HostStep, roll: Roll | None) -> Decision | Rejected:
    """Decide a step of the host.

    Args:
        roll: The right dice, to correct.
    Raises:
        ValueError: They are missing.
    """
    table = trail.table
    match step:
        case HostStep.UNDO:
            return decide_undo(trail)
        case HostStep.CLOSE:
            return decide_close(table)
        case HostStep.END:
            return decide_move(table, EndedEarly())
        case HostStep.CORRECT:
            if roll is None:
                raise ValueError("a correction needs the right dice")
            return decide_move(table, RollCorrected(roll))  # may return answers to their players


def precondition_of(trail: Trail, step: HostStep) -> str:
    """A token of the state a step would change; it differs once the table has gone on."""
    game = trail.table.game
    if step is HostStep.UNDO:
        return str(trail.settled)
    if game is None or step is HostStep.END:
        return f"{game and game.number}"
    return f"{game.dice_since} {game.state.action}"


def preview(table: Table, decision: Decision | Rejected) -> list[Line] | Rejected:
    """The changes a decided step would make to the running game, line by line."""
    if isinstance(decision, Rejected):
        return decision
    assert table.game is not None
    after = decision.table.game or table.game
    return differences(table.game, after)


def differences(old: Game, new: Game) -> list[Line]:
    """List the differences between two states of the same game."""
    before, after = old.state, new.state
    lines = [*_dice(before, after), *_turn_changed(before, after, new.names)]
    if old.seats == new.seats:  # else it begins again, and nobody had crossed anything
        for player, name in enumerate(old.names):
            lines += _player(before, after, player, name)
    shut = {closing.row for closing in before.closed}
    shuts = {closing.row for closing in after.closed}
    for row in sorted(shut ^ shuts):
        opens = "preview.opens" if is_die_out(before, row) else "fact.row_open"
        term = row_term(before.plan.rows[row].name)
        lines.append(line("preview.closes" if row in shuts else opens, row=term))
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
        early = [line("preview.early")] if after.end is End.ENDED_EARLY else []
        return [line("preview.over"), *early]
    name = names[after.active]
    return [line(f"preview.moment.{after.phase.value}", turn=after.turn, name=name)]


def _player(before: GameState, after: GameState, player: int, name: str) -> list[Line]:
    plan, lines = before.plan, []
    is_reopened = after.phase is Phase.ACTION1 and before.phase is not Phase.ACTION1
    stands = (after.answers[player] or 0) if is_reopened else 0  # a cross that is an answer again
    was, now = before.crosses[player], after.crosses[player] | plan.with_lock(stands)
    for key, bits in (("preview.crosses", now & ~was), ("preview.uncrosses", was & ~now)):
        boxes = [box_line(before, token) for token in plan.name_of(bits)]
        if boxes:
            lines.append(line(key, name=name, boxes=all_of(boxes)))
    if before.misses[player] != after.misses[player]:
        is_more = after.misses[player] > before.misses[player]
        lines.append(line("preview.miss" if is_more else "preview.no_miss", name=name))
    is_same = (before.turn, before.phase) == (after.turn, after.phase)
    answered = before if is_same else before.action1 if is_reopened else None
    is_asked = answered is not None and answered.answers[player] is not None
    if is_asked and after.answers[player] is None:
        lines.append(line("preview.answers_again", name=name))
    old, new = before.total(player), after.total(player)
    if old != new and not stands:
        lines.append(line("preview.points", name=name, old=old, new=new))
    return lines
