"""Facts, refusals and doubts as lines of the catalogue: pure, and in no language yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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
    Reason,
    Refusal,
    RowClosed,
    WouldClose,
)
from companion.engine.sums import Group, offer_of
from companion.phrases import Line, Phrases, Term, Word, all_of, line, one_of


@dataclass(frozen=True, slots=True)
class Announcement:
    """One thing the table is told: `headline` is shown huge, `lines` are shown and said.

    `about` is the part of the table that broke or works again, empty for everything else.
    """

    kind: str
    headline: Line
    lines: tuple[Line, ...]
    about: str = ""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A named problem of the tray: its code and the die meant, where one is."""

    code: str
    colour: str | None = None


def die_term(colour: str) -> Term:
    """A die, by its colour."""
    return Term(f"die.{colour}")


def row_term(name: str) -> Term:
    """A row, by the name the plan gives it."""
    return Term(f"row.{name}")


def announce_step(
    before: GameState, after: GameState, facts: Sequence[Fact], names: Sequence[str]
) -> Announcement | None:
    """What everybody must hear of a step of one game, or None where that is nothing."""
    if after.phase is Phase.ACTION1 and before.phase is Phase.ROLL:
        return announce_roll(after, names)
    if before.action and after.action and before.roll != after.roll:
        return announce_correction(before, after, facts, names)
    return announce_facts(before, after, facts, names)


def announce_turn(name: str) -> Announcement:
    """Who throws."""
    return Announcement(
        "turn", line("fact.turn.headline", name=name), (line("fact.turn", name=name),)
    )


def announce_refusal(*lines: Line) -> Announcement:
    """Why the button did nothing."""
    return Announcement("refused", line("press.refused.headline"), lines)


def announce_passed(names: Sequence[str]) -> Announcement:
    """The action was closed for those who had not answered."""
    said = line("fact.passed", names=all_of(names))
    return Announcement("passed", said, (said,))


def announce_undone() -> Announcement:
    """The last step was taken back."""
    return Announcement("undone", line("fact.undone"), (line("fact.undone"),))


def announce_paused(number: int) -> Announcement:
    """A game was put aside."""
    said = line("fact.paused", number=number)
    return Announcement("paused", line("fact.paused.headline"), (said,))


def announce_roll(state: GameState, names: Sequence[str]) -> Announcement:
    """The white sum for all, and the coloured boxes open to the active player."""
    assert state.roll is not None
    total = state.roll.white_sum
    lines = (line("roll.white", sum=total), _extra(state, names))
    return Announcement("roll", line("roll.headline", sum=total), lines)


def _extra(state: GameState, names: Sequence[str]) -> Line:
    """What the active player may do with a coloured die."""
    name, offer = names[state.active], offer_of(state)
    boxes = [] if offer is None else [_group(group) for group in offer.by_colour]
    if boxes:
        return line("roll.extra", name=name, boxes=one_of(boxes))
    return line("roll.no_extra", name=name)


def announce_correction(
    before: GameState, state: GameState, facts: Iterable[Fact], names: Sequence[str]
) -> Announcement:
    """The dice that were misread, what they make now, and whose answers that sends back."""
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
    lines.append(_extra(state, names))
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
    """What the active player may cross with a coloured die, grouped by row: "red 7 or 8"."""
    offer = offer_of(state)
    return [] if offer is None else said_groups(offer.by_colour, phrases)


def said_groups(groups: Iterable[Group], phrases: Phrases) -> list[str]:
    """Boxes as they are said, a text for each row."""
    return [phrases.tell(_group(group)) for group in groups]


def announce_closings(state: GameState, names: Sequence[str]) -> Announcement | None:
    """The answers that stand and would close a row (E46), or None where there are none."""
    facts = [
        WouldClose(player, state.plan.rows[state.plan.row_of(answer)].key)
        for player, answer in enumerate(state.answers)
        if answer and answer & state.plan.last_boxes
    ]
    return announce_facts(state, state, facts, names)


def announce_facts(
    before: GameState, after: GameState, facts: Iterable[Fact], names: Sequence[str]
) -> Announcement | None:
    """What everybody must hear of a step, or None when nothing happened that they must."""
    parts: list[tuple[str, Line, tuple[Line, ...]]] = []
    for fact in facts:
        match fact:
            case WouldClose(player, key):
                row, name = _row_term(after, key), names[player]
                headline = line("fact.would_close.headline", name=name, row=row)
                parts.append(("closing", headline, (line("fact.would_close", name=name, row=row),)))
            case ClosingTakenBack(player, key):
                row = _row_term(after, key)
                text = line("fact.closing_taken_back", name=names[player], row=row)
                parts.append(("closing", text, (text,)))
            case RowClosed(key, die, players):
                row, by = _row_term(after, key), all_of([names[p] for p in players])
                closed = line("fact.row_closed", row=row, names=by)
                take_out = line("fact.take_out", die=die_term(die.value))
                headline = line("fact.row_closed.headline", row=row)
                parts.append(("closed", headline, (closed, take_out)))
            case PlayerLeft(player):
                text = line("fact.left", name=names[player])
                parts.append(("left", text, (text,)))
            case MissTaken(player, count):
                headline = line("fact.miss.headline", name=names[player])
                text = line("fact.miss", name=names[player], count=count)
                parts.append(("miss", headline, (text,)))
    if after.phase is Phase.OVER and before.phase is not Phase.OVER:
        told = [each for _, _, lines in parts for each in lines]
        told += [end_line(after, names), winner_line(after, names)]
        if after.players > 1:
            scores = [
                line("end.score", name=names[player], total=after.total(player))
                for _, player in after.ranking
            ]
            told.append(line("end.scores", scores=all_of(scores)))
        return Announcement("over", line("end.headline"), tuple(told))
    if before.turn != after.turn:
        turn = announce_turn(names[after.active])
        parts.append((turn.kind, turn.headline, turn.lines))
    if not parts:
        return None
    kind, headline, _ = parts[0]
    return Announcement(kind, headline, tuple(each for _, _, lines in parts for each in lines))


def end_line(state: GameState, names: Sequence[str]) -> Line:
    """Why the game is over."""
    active = names[state.active]
    if state.end is End.MISSES:
        return line("end.misses", name=active)
    if state.end is End.ENDED_EARLY:
        return line("end.ended_early")
    in_action1 = bool(state.closed) and state.closed[-1].action == 1
    if in_action1 and not state.marked and HouseRule.FINISH_TURN not in state.setup.house:
        return line("end.locks.no_miss", name=active)
    return line("end.locks")


def winner_line(state: GameState, names: Sequence[str]) -> Line:
    """Who won, shared victory included (E22)."""
    winners = [player for rank, player in state.ranking if rank == 1]
    key = "end.winner" if len(winners) == 1 else "end.winners"
    joined = all_of([names[p] for p in winners])
    return line(key, names=joined, count=state.total(winners[0]))


def _row_term(state: GameState, key: str) -> Term:
    return row_term(state.plan.rows[state.plan.index[key]].name)


def refusal_line(refusal: Refusal, names: Sequence[str]) -> Line:
    """One sentence that helps: what was declined and why."""
    reason, data = refusal.reason, dict(refusal.data)
    if reason is Reason.WRONG_PHASE:
        return _phase_line(refusal, names)
    words: dict[str, Word] = {
        name: value for name, value in data.items() if isinstance(value, (str, int))
    }
    key = f"refused.{reason.value}"
    if "row" in data:
        words["row"] = row_term(str(data["row"]))
    if "die" in data:
        words["die"] = die_term(str(data["die"]))
    if "made_by" in data:
        words["made_by"] = one_of([die_term(str(c)) for c in _listed(data["made_by"])])
    if "active" in data:
        words["active"] = _name(data["active"], names)
    if "sums" in data:
        words["sums"] = one_of([str(s) for s in _listed(data["sums"])])
    match reason:
        case Reason.BAD_DICE:
            dice = [die_term(str(c)) for c in _listed(data["expected"])]
            words["dice"] = all_of(dice)
            key += "" if dice else ".none"
        case Reason.WRONG_SUM:
            key += (
                ".bonus" if data.get("action") == 2 and "die" not in data else f".{data['action']}"
            )
        case Reason.NOT_TO_THE_RIGHT if refusal.ruling == "E6":
            key += ".E6"
    return line(key, **words)


def _phase_line(refusal: Refusal, names: Sequence[str]) -> Line:
    data = refusal.data
    if refusal.ruling == "E9" and data.get("phase") != Phase.ROLL.value:
        return line("refused.WRONG_PHASE.late")
    phase = str(data.get("phase"))
    if phase == Phase.ROLL.value:
        return line("refused.WRONG_PHASE.roll")
    waiting = [_name(player, names) for player in _listed(data.get("waiting_for"))]
    if not waiting:
        return line("refused.WRONG_PHASE.settling")
    return line(f"refused.WRONG_PHASE.{phase}", names=all_of(waiting), count=len(waiting))


def _listed(value: object) -> list[object]:
    return list(value) if isinstance(value, (list, tuple)) else []


def _name(player: object, names: Sequence[str]) -> str:
    known = isinstance(player, int) and 0 <= player < len(names)
    return names[player] if known else str(player)  # type: ignore[call-overload]


def tray_lines(status: str, doubts: Sequence[Doubt]) -> tuple[Line, ...]:
    """What the eye says about the tray, naming the die meant."""
    meant = [d.colour for d in doubts if d.code == status and d.colour is not None]
    lines = [_one_die_line(status, meant) if meant else line(f"tray.{status}")]
    if status == "missing" and any(d.code == "beside_tray" for d in doubts):
        lines.append(line("tray.beside"))
    removed = [d.colour for d in doubts if d.code == "removed_die_in_tray" and d.colour]
    lines += [line("tray.removed", row=row_term(c), die=die_term(c)) for c in removed]
    codes = [d.code for d in doubts]
    lines += [line(f"tray.{what}") for what in ("moved", "relit") if f"tray_{what}" in codes]
    return tuple(lines)


def fault_line(part: str, fault: str | None) -> Line:
    """What is wrong with a part of the table, or that it works again."""
    return line(f"fault.{part}.{fault or 'mended'}")


def announce_fault(part: str, fault: str | None) -> Announcement:
    """A part of the table broke, or works again."""
    said = fault_line(part, fault)
    return Announcement("fault" if fault else "mended", said, (said,), part)


_ONE_DIE = frozenset({"obstructed", "cocked", "missing", "extra", "uncertain"})
"""What the eye says of one die by its colour."""


def _one_die_line(status: str, meant: Sequence[str]) -> Line:
    if status not in _ONE_DIE:
        return line(f"tray.{status}")
    white = DieColour.WHITE.value
    if status == "missing" and meant[0] == white:
        return line("tray.missing.whites" if meant.count(white) > 1 else "tray.missing.white")
    return line(f"tray.{status}.one", die=die_term(meant[0]))
