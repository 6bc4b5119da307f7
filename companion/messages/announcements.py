"""Announcements for game steps, as untranslated messages (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from companion.engine import (
    AnswerReturned,
    ClosingTakenBack,
    DieColour,
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
from companion.engine.offers import Group, offer_of
from companion.messages.catalogue import Line, Phrases, Term, all_of, each_of, line, one_of

_CLOSED = "fact.row_closed.headline"


@dataclass(frozen=True, slots=True)
class Announcement:
    """One message for the whole table.

    Attributes:
        kind: roll, corrected, closing, closed, passed, miss, left, turn, undone, paused, over,
            refused, retracted, fault or mended.
        headline: Shown in large type.
        lines: Shown below it and spoken.
        also: Kinds of the other parts that were joined to this announcement.
        about: The part of the equipment that broke or works again, else empty.
    """

    kind: str
    headline: Line
    lines: tuple[Line, ...]
    also: frozenset[str] = frozenset()
    about: str = ""


def die_term(colour: str) -> Term:
    """A die, by its colour."""
    return Term(f"die.{colour}")


def row_term(name: str) -> Term:
    """A row, by its name in the plan."""
    return Term(f"row.{name}")


def announce_step(
    before: GameState, after: GameState, facts: Sequence[Fact], names: Sequence[str]
) -> Announcement | None:
    """Return the announcement for a step, or None if there is nothing to announce."""
    if after.phase is Phase.ACTION1 and before.phase is Phase.ROLL:
        return announce_roll(after, names)
    if before.action and after.action and before.roll != after.roll:
        part = announce_correction(before, after, facts, names)
        return _together([part, *_standing(after, names)])
    return announce_facts(before, after, facts, names)


def announce_open(state: GameState, names: Sequence[str]) -> Announcement:
    """The state of an open action: the roll, and who is about to close a row."""
    both = _together([announce_roll(state, names), *_standing(state, names)])
    assert both is not None
    return both


def announce_closings(state: GameState, names: Sequence[str]) -> Announcement | None:
    """The current answers that would close a row (E46), or None if there are none."""
    return _together(_standing(state, names))


def announce_facts(
    before: GameState, after: GameState, facts: Iterable[Fact], names: Sequence[str]
) -> Announcement | None:
    """Announce the facts of a step, or return None if there is nothing to announce."""
    parts: list[Announcement] = []
    has_closing = False
    for fact in facts:
        match fact:
            case WouldClose():
                has_closing = True
            case ClosingTakenBack(player, key):
                row = _row_term(after, key)
                text = line("fact.closing_taken_back", name=names[player], row=row)
                parts.append(Announcement("closing", text, (text,)))
                has_closing = True
            case RowClosed(key, die, players):
                row, by = _row_term(after, key), all_of([names[p] for p in players])
                lines = [line("fact.row_closed", row=row, names=by)]
                if after.phase is not Phase.OVER:
                    lines.append(line("fact.take_out", die=die_term(die.value)))
                headline = line(_CLOSED, row=row)
                parts.append(Announcement("closed", headline, tuple(lines)))
            case PlayerLeft(player):
                text = line("fact.left", name=names[player])
                parts.append(Announcement("left", text, (text,)))
            case MissTaken(player, count) if after.end is not End.MISSES:  # which explains it
                headline = line("fact.miss.headline", name=names[player])
                text = line("fact.miss", name=names[player], count=count)
                parts.append(Announcement("miss", headline, (text,)))
    if after.phase is Phase.OVER and before.phase is not Phase.OVER:
        lines = [each for part in parts for each in part.lines]
        is_early = after.end is End.ENDED_EARLY
        result = winner_line(after, names)
        why = end_lines(after, names)
        lines += [result, *why] if is_early else [*why, result]
        if after.players > 1:
            order = range(after.players) if is_early else [player for _, player in after.ranking]
            scores = [
                line("end.score", name=names[player], total=after.total(player)) for player in order
            ]
            lines.append(line("end.scores", scores=each_of(scores)))
        return Announcement("over", line("end.headline"), tuple(lines))
    if has_closing:  # the new list of closings replaces the one announced before
        parts += _standing(after, names)
    if before.turn != after.turn:
        parts.append(announce_turn(names[after.active]))
    return _together(parts)


def _standing(state: GameState, names: Sequence[str]) -> list[Announcement]:
    """One part for each row that answers would close in action 1."""
    closing: dict[str, list[str]] = {}
    for player, bit in state.closings:
        key = state.plan.rows[state.plan.row_of(bit)].key
        closing.setdefault(key, []).append(names[player])
    parts: list[Announcement] = []
    for key, who in closing.items():
        row = _row_term(state, key)
        if len(who) == 1:
            headline = line("fact.would_close.headline", name=who[0], row=row)
            text = line("fact.would_close", name=who[0], row=row)
        else:
            headline = line("fact.would_close.headline.many", names=all_of(who), row=row)
            text = line("fact.would_close.many", names=all_of(who), row=row)
        parts.append(Announcement("closing", headline, (text,)))
    if parts and state.players - len(state.gone) > 1:
        last = parts[-1]
        parts[-1] = replace(last, lines=(*last.lines, line("fact.may_change")))
    return parts


def _together(parts: Sequence[Announcement]) -> Announcement | None:
    """Join parts to one announcement; None without parts.

    The headline joins those of the first part's kind. Of closings it names only those that still
    stand.
    """
    if not parts:
        return None
    kind = parts[0].kind
    headlines = [part.headline for part in parts if part.kind == kind]
    standing = [each for each in headlines if each.key.startswith("fact.would_close.headline")]
    headlines = standing or headlines
    headline = headlines[0]
    if len(headlines) > 1:
        rows = [dict(each.data)["row"] for each in headlines if each.key == _CLOSED]
        headline = line("fact.headlines", headlines=all_of(headlines))
        if rows:
            headline = line("fact.row_closed.headline.many", rows=all_of(rows))
    lines = tuple(each for part in parts for each in part.lines)
    return Announcement(kind, headline, lines, frozenset(part.kind for part in parts[1:]))


def announce_turn(name: str) -> Announcement:
    """Announce whose turn it is to throw."""
    return Announcement(
        "turn", line("fact.turn.headline", name=name), (line("fact.turn", name=name),)
    )


def announce_refusal(*lines: Line) -> Announcement:
    """Announce why a press of the button did nothing."""
    return Announcement("refused", line("press.refused.headline"), lines)


def announce_passed(names: Sequence[str]) -> Announcement:
    """Announce that the action was closed for players who had not answered."""
    text = line("fact.passed", names=all_of(names))
    return Announcement("passed", text, (text,))


def announce_undone(before: GameState | None, after: GameState | None) -> Announcement:
    """Announce that the last step was undone; both states belong to the same game."""
    text = line("fact.undone")
    lines = [] if before is None or after is None else _rows_changed(before, after)
    return Announcement("undone", text, (text, *lines))


def _rows_changed(before: GameState, after: GameState) -> list[Line]:
    """Rows that an undo or a correction opened or closed."""
    lines: list[Line] = []
    was, now = ({closing.row for closing in state.closed} for state in (before, after))
    for number in sorted(was ^ now):
        row = before.plan.rows[number]
        assert row.lock is not None
        name, die = row_term(row.name), die_term(row.lock.value)
        if number in now:
            lines += [line("preview.closes", row=name), line("fact.take_out", die=die)]
        elif is_die_out(before, number):
            lines.append(line("fact.row_open_again", row=name, die=die))
        else:
            lines.append(line("fact.row_open", row=name))
    return lines


def is_die_out(state: GameState, row: int) -> bool:
    """Whether the die of a closed row was taken out: the action that ends a game takes none out."""
    if state.phase is not Phase.OVER:
        return True
    is_finished = HouseRule.FINISH_TURN in state.setup.house and state.active not in state.gone
    had_action2 = is_finished or state.end is not End.LOCKS or state.closed[-1].action == 2
    return had_action2 and any(each.row == row and each.action == 1 for each in state.closed)


def announce_paused(number: int) -> Announcement:
    """Announce that a game was put aside."""
    text = line("fact.paused", number=number)
    return Announcement("paused", line("fact.paused.headline"), (text,))


def announce_roll(state: GameState, names: Sequence[str]) -> Announcement:
    """Announce a roll: the white sum, and the active player's boxes for a coloured die."""
    assert state.roll is not None
    total = state.roll.white_sum
    lines = (line("roll.white", sum=total), *_extra_lines(state, names))
    return Announcement("roll", line("roll.headline", sum=total), lines)


def announce_action2(state: GameState, names: Sequence[str]) -> Announcement:
    """Announce what the roll still offers in action 2."""
    assert state.roll is not None
    headline = line("roll.headline", sum=state.roll.white_sum)
    return Announcement("roll", headline, _extra_lines(state, names))


def _extra_lines(state: GameState, names: Sequence[str]) -> tuple[Line, ...]:
    """The active player's boxes for a coloured die; empty if that player has left."""
    if state.active in state.gone:
        return ()
    name, offer = names[state.active], offer_of(state)
    boxes = [] if offer is None else [_group(group) for group in offer.by_colour]
    if boxes:
        return (line("roll.extra", name=name, boxes=one_of(boxes)),)
    return (line("roll.no_extra", name=name),)


def announce_correction(
    before: GameState, state: GameState, facts: Iterable[Fact], names: Sequence[str]
) -> Announcement:
    """Announce corrected dice, the new sums, and the answers that were returned."""
    assert before.roll is not None
    assert state.roll is not None
    old, roll = before.roll, state.roll
    total = roll.white_sum
    dice = [
        _die(colour, value)
        for colour, value in roll.coloured
        if (colour, value) not in old.coloured
    ]
    if roll.white != old.white:
        dice.insert(0, _die(DieColour.WHITE, *roll.white))
    lines = [line("fact.corrected", dice=all_of(dice))]
    if total != old.white_sum:
        lines.append(line("roll.white", sum=total))
    for fact in facts:
        if isinstance(fact, AnswerReturned):
            box = box_line(state, fact.box)
            lines.append(line("fact.answer_returned", name=names[fact.player], box=box))
    lines += [*_rows_changed(before, state), *_extra_lines(state, names)]
    return Announcement("corrected", line("roll.headline", sum=total), tuple(lines))


def _die(colour: DieColour, *values: int) -> Line:
    return line("page.die", colour=Term(f"colour.{colour.value}"), value=all_of(values))


def box_line(state: GameState, token: str) -> Line:
    """A box, by its row and number."""
    bit = state.plan.bits[token]
    row = state.plan.rows[state.plan.row_of(bit)]
    return line("box", row=row_term(row.name), number=state.plan.box_of(bit).number)


def _group(group: Group) -> Line:
    return line("box", row=row_term(group.row), number=one_of(group.numbers))


def colour_choices(state: GameState, phrases: Phrases) -> list[str]:
    """The active player's boxes for a coloured die, one text per row: "red 7 or 8"."""
    offer = offer_of(state)
    if offer is None or state.active in state.gone:
        return []
    return group_texts(offer.by_colour, phrases)


def group_texts(groups: Iterable[Group], phrases: Phrases) -> list[str]:
    """Boxes as text, one for each row."""
    return [phrases.tell(_group(group)) for group in groups]


def end_lines(state: GameState, names: Sequence[str]) -> tuple[Line, ...]:
    """Why the game is over."""
    active = names[state.active]
    if state.end is End.MISSES:
        return (line("end.misses", name=active),)
    if state.end is End.ENDED_EARLY:
        return (line("end.nobody"),)
    count = len(state.closed)
    rows = line("end.locks") if count == 2 else line("end.locks.all", n=count)
    if HouseRule.FINISH_TURN in state.setup.house and state.active not in state.gone:
        return (rows, line("end.finished"))
    in_action1 = bool(state.closed) and state.closed[-1].action == 1
    if in_action1 and not state.marked and state.active not in state.gone:
        return (rows, line("end.no_miss", name=active))
    return (rows, line("end.at_once"))


def winner_line(state: GameState, names: Sequence[str]) -> Line:
    """The winner, or all who share the victory (E22).

    A game that was ended early has none, nor has one that somebody played alone.
    """
    if state.end is End.ENDED_EARLY:
        return line("end.ended_early")
    winners = [player for rank, player in state.ranking if rank == 1]
    key = "end.winner" if len(winners) == 1 else "end.winners"
    if state.players == 1:
        key = "end.alone"
    joined = all_of([names[p] for p in winners])
    return line(key, names=joined, count=state.total(winners[0]))


def _row_term(state: GameState, key: str) -> Term:
    return row_term(state.plan.rows[state.plan.index[key]].name)
