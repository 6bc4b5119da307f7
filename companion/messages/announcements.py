"""What a step of a game led to, as the table hears it: pure, and in no language yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from companion.engine import (
    ClosingTakenBack,
    End,
    Fact,
    GameState,
    HouseRule,
    MissTaken,
    Phase,
    PlayerLeft,
    RowClosed,
    WouldClose,
)
from companion.messages.catalogue import Line, Term, all_of, line
from companion.messages.refusals import (
    Announcement,
    announce_correction,
    announce_roll,
    announce_turn,
    die_term,
    row_term,
)

_Part = tuple[str, Line, tuple[Line, ...]]
"""Kind, headline and lines of one thing that happened."""


def announce_step(
    before: GameState, after: GameState, facts: Sequence[Fact], names: Sequence[str]
) -> Announcement | None:
    """What everybody must hear of a step of one game, or None where that is nothing."""
    if after.phase is Phase.ACTION1 and before.phase is Phase.ROLL:
        return announce_roll(after, names)
    if before.action and after.action and before.roll != after.roll:
        told = announce_correction(before, after, facts, names)
        return _together([(told.kind, told.headline, told.lines), *_standing(after, names)])
    return announce_facts(before, after, facts, names)


def announce_open(state: GameState, names: Sequence[str]) -> Announcement:
    """Where an open action stands: the roll, and who is about to close a row."""
    told = announce_roll(state, names)
    both = _together([(told.kind, told.headline, told.lines), *_standing(state, names)])
    assert both is not None
    return both


def announce_closings(state: GameState, names: Sequence[str]) -> Announcement | None:
    """The answers that stand and would close a row (E46), or None where there are none."""
    return _together(_standing(state, names))


def announce_facts(
    before: GameState, after: GameState, facts: Iterable[Fact], names: Sequence[str]
) -> Announcement | None:
    """What everybody must hear of a step, or None when nothing happened that they must."""
    parts: list[_Part] = []
    has_closing = False
    for fact in facts:
        match fact:
            case WouldClose():
                has_closing = True
            case ClosingTakenBack(player, key):
                row = _row_term(after, key)
                text = line("fact.closing_taken_back", name=names[player], row=row)
                parts.append(("closing", text, (text,)))
                has_closing = True
            case RowClosed(key, die, players):
                row, by = _row_term(after, key), all_of([names[p] for p in players])
                lines = [line("fact.row_closed", row=row, names=by)]
                if after.phase is not Phase.OVER:
                    lines.append(line("fact.take_out", die=die_term(die.value)))
                headline = line("fact.row_closed.headline", row=row)
                parts.append(("closed", headline, tuple(lines)))
            case PlayerLeft(player):
                text = line("fact.left", name=names[player])
                parts.append(("left", text, (text,)))
            case MissTaken(player, count) if after.end is not End.MISSES:  # else the end tells
                headline = line("fact.miss.headline", name=names[player])
                text = line("fact.miss", name=names[player], count=count)
                parts.append(("miss", headline, (text,)))
    if after.phase is Phase.OVER and before.phase is not Phase.OVER:
        told = [each for _, _, lines in parts for each in lines]
        told += [*end_lines(after, names), winner_line(after, names)]
        if after.players > 1:
            scores = [
                line("end.score", name=names[player], total=after.total(player))
                for _, player in after.ranking
            ]
            told.append(line("end.scores", scores=all_of(scores)))
        return Announcement("over", line("end.headline"), tuple(told))
    if has_closing:  # told anew whole: what is said of closings takes the place of what was
        standing = _standing(after, names)
        parts = [*parts, *standing] if standing else parts
    if before.turn != after.turn:
        turn = announce_turn(names[after.active])
        parts.append((turn.kind, turn.headline, turn.lines))
    return _together(parts)


def _standing(state: GameState, names: Sequence[str]) -> list[_Part]:
    """Who is about to close which row in action 1."""
    closings = [
        (names[player], _row_term(state, state.plan.rows[state.plan.row_of(bit)].key))
        for player, bit in state.closings
    ]
    parts: list[_Part] = []
    for name, row in closings:
        text = line("fact.would_close", name=name, row=row)
        parts.append(("closing", line("fact.would_close.headline", name=name, row=row), (text,)))
    if parts and state.players - len(state.gone) > 1:
        kind, headline, lines = parts[-1]
        parts[-1] = (kind, headline, (*lines, line("fact.may_change")))
    return parts


def _together(parts: Sequence[_Part]) -> Announcement | None:
    """One announcement: of closings the headline has those that stand, else of the first kind."""
    if not parts:
        return None
    kind = parts[0][0]
    headlines = [headline for each, headline, _ in parts if each == kind]
    standing = [each for each in headlines if each.key == "fact.would_close.headline"]
    headlines = standing or headlines
    headline = headlines[0]
    if len(headlines) > 1:
        headline = line("fact.headlines", headlines=all_of(headlines))
    lines = tuple(each for _, _, lines in parts for each in lines)
    return Announcement(kind, headline, lines, frozenset(each for each, _, _ in parts[1:]))


def end_lines(state: GameState, names: Sequence[str]) -> tuple[Line, ...]:
    """Why the game is over."""
    active = names[state.active]
    if state.end is End.MISSES:
        return (line("end.misses", name=active),)
    if state.end is End.ENDED_EARLY:
        return (line("end.ended_early"),)
    count = len(state.closed)
    rows = line("end.locks") if count == 2 else line("end.locks.all", n=count)
    if HouseRule.FINISH_TURN in state.setup.house and state.active not in state.gone:
        return (rows, line("end.finished"))
    in_action1 = bool(state.closed) and state.closed[-1].action == 1
    if in_action1 and not state.marked and state.active not in state.gone:
        return (rows, line("end.no_miss", name=active))
    return (rows, line("end.at_once"))


def winner_line(state: GameState, names: Sequence[str]) -> Line:
    """Who won, shared victory included (E22)."""
    winners = [player for rank, player in state.ranking if rank == 1]
    key = "end.winner" if len(winners) == 1 else "end.winners"
    joined = all_of([names[p] for p in winners])
    return line(key, names=joined, count=state.total(winners[0]))


def _row_term(state: GameState, key: str) -> Term:
    return row_term(state.plan.rows[state.plan.index[key]].name)
