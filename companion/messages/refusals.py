"""Facts, refusals and doubts as lines of the catalogue: pure, and in no language yet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from companion.engine import (
    AnswerReturned,
    DieColour,
    Fact,
    GameState,
    Phase,
    Reason,
    Refusal,
)
from companion.engine.offers import Group, offer_of
from companion.messages.catalogue import Line, Phrases, Term, Word, all_of, line, one_of


@dataclass(frozen=True, slots=True)
class Announcement:
    """One thing the table is told: `headline` is shown huge, `lines` are shown and said.

    `also` are the kinds of what else it tells. `about` is the part of the table that broke or works
    again, empty for everything else.
    """

    kind: str
    headline: Line
    lines: tuple[Line, ...]
    also: frozenset[str] = frozenset()
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


def announce_undone(before: GameState | None, after: GameState | None) -> Announcement:
    """The last step was taken back; the states are of one game, where there is one."""
    said = line("fact.undone")
    told = [] if before is None or after is None else _rows_changed(before, after)
    return Announcement("undone", said, (said, *told))


def _rows_changed(before: GameState, after: GameState) -> list[Line]:
    """The rows that are open again, or closed again, by an undo or by other dice."""
    told: list[Line] = []
    was, now = ({closing.row for closing in state.closed} for state in (before, after))
    for number in sorted(was ^ now):
        row = before.plan.rows[number]
        assert row.lock is not None
        name, die = row_term(row.name), die_term(row.lock.value)
        if number in now:
            told += [line("preview.closes", row=name), line("fact.take_out", die=die)]
        elif before.phase is Phase.OVER:  # with the end nobody had to take it out
            told.append(line("fact.row_open", row=name))
        else:
            told.append(line("fact.row_open_again", row=name, die=die))
    return told


def announce_paused(number: int) -> Announcement:
    """A game was put aside."""
    said = line("fact.paused", number=number)
    return Announcement("paused", line("fact.paused.headline"), (said,))


def announce_roll(state: GameState, names: Sequence[str]) -> Announcement:
    """The white sum for all, and the coloured boxes open to the active player."""
    assert state.roll is not None
    total = state.roll.white_sum
    lines = (line("roll.white", sum=total), *_extra_lines(state, names))
    return Announcement("roll", line("roll.headline", sum=total), lines)


def announce_action2(state: GameState, names: Sequence[str]) -> Announcement:
    """What is left of a roll in action 2."""
    assert state.roll is not None
    headline = line("roll.headline", sum=state.roll.white_sum)
    return Announcement("roll", headline, _extra_lines(state, names))


def _extra_lines(state: GameState, names: Sequence[str]) -> tuple[Line, ...]:
    """What the active player may do with a coloured die; nothing of one who has left."""
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
    """What the active player may cross with a coloured die, grouped by row: "red 7 or 8"."""
    offer = offer_of(state)
    if offer is None or state.active in state.gone:
        return []
    return said_groups(offer.by_colour, phrases)


def said_groups(groups: Iterable[Group], phrases: Phrases) -> list[str]:
    """Boxes as they are said, a text for each row."""
    return [phrases.tell(_group(group)) for group in groups]


def refusal_line(refusal: Refusal, names: Sequence[str]) -> Line:
    """One sentence that helps: what was rejected and why."""
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
        case Reason.BONUS_WRONG_DIE if data.get("late"):
            key += ".late"
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
    return Announcement("fault" if fault else "mended", said, (said,), about=part)


_ONE_DIE = frozenset({"obstructed", "cocked", "missing", "extra", "uncertain"})
"""What the eye says of one die by its colour."""


def _one_die_line(status: str, meant: Sequence[str]) -> Line:
    if status not in _ONE_DIE:
        return line(f"tray.{status}")
    white = DieColour.WHITE.value
    if status == "missing" and meant[0] == white:
        return line("tray.missing.whites" if meant.count(white) > 1 else "tray.missing.white")
    return line(f"tray.{status}.one", die=die_term(meant[0]))
