"""Whether one box may be crossed, reason by reason in the order of `Reason`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from companion.engine.dice import DieColour, Roll
from companion.engine.refusal import Reason, Refusal, refuse
from companion.engine.sheet import LOCK_SUFFIX, Plan, Row, each_bit, split_token
from companion.engine.variants import BONUS_KEYS

_FACES = frozenset(range(1, 7))


@dataclass(frozen=True, slots=True)
class Position:
    """One player's sheet in an open action: all that a box is judged by.

    Attributes:
        dice: Colours still in play.
        crosses: The player's own crosses before this action, as bits.
        opening: Those of them that open bonus boxes now.
        marked: What they crossed in action 1 of this turn (0 for none).
        closed: Closed rows by number, with the action that closed them.
    """

    plan: Plan
    action: int
    roll: Roll
    dice: tuple[DieColour, ...]
    crosses: int
    opening: int
    marked: int
    closed: Mapping[int, int]


def refuse_dice(roll: Roll, dice: tuple[DieColour, ...]) -> Refusal | None:
    """Why these dice are not a roll of the dice in play, or None (E45)."""
    is_roll = len(roll.white) == 2 and len(roll.coloured) == len(dice)
    for colour, value in roll.coloured:
        is_roll = is_roll and colour in dice and value in _FACES
    if is_roll and _FACES.issuperset(roll.white):
        return None
    return refuse(
        Reason.BAD_DICE,
        expected=[colour.value for colour in dice],
        got=[colour.value for colour, _ in roll.coloured],
    )


def refuse_box(choice: object, position: Position) -> Refusal | None:
    """The most fundamental reason why a box may not be crossed, or None when it may."""
    box = _printed_box(choice, position.plan)
    if isinstance(box, Refusal):
        return box
    row, number, bit = box
    what = {"row": row.name, "number": number}
    return (
        _refuse_row(position, bit, what)
        or _refuse_sum(position, row, number, bit, what)
        or _refuse_place(position, row, bit, what)
    )


def _printed_box(choice: object, plan: Plan) -> tuple[Row, int, int] | Refusal:
    if isinstance(choice, (list, tuple)):
        return refuse(Reason.TWO_MARKS, choice=list(choice))
    parts = split_token(choice) if isinstance(choice, str) else None
    if parts is None:
        return refuse(Reason.BAD_TOKEN, choice=choice)
    key, text = parts
    row = plan.rows[plan.index[key]] if key in plan.index else None
    if text == LOCK_SUFFIX and row is not None and row.lock is not None:
        return refuse(Reason.LOCK_ALONE, row=row.name)
    if text == LOCK_SUFFIX or (row is None and key not in BONUS_KEYS):
        return refuse(Reason.BAD_TOKEN, choice=choice)
    if row is None:
        return refuse(Reason.NO_BONUS_ROW, choice=choice)
    number, bit = int(text), plan.bits.get(f"{key}{text}")
    if bit is None:
        first, *_, last = (each.number for each in row.boxes)
        return refuse(Reason.NO_SUCH_NUMBER, row=row.name, number=number, first=first, last=last)
    return row, number, bit


def _refuse_row(position: Position, bit: int, what: Mapping[str, object]) -> Refusal | None:
    r = position.plan.row_of(bit)
    if r in position.closed:
        ruling = "E14" if position.closed[r] == 1 else "E15"
        return refuse(Reason.ROW_LOCKED, what, ruling=ruling)
    colour = position.plan.box_of(bit).colour
    if position.action == 2 and colour is not None and colour not in position.dice:
        return refuse(Reason.DIE_REMOVED, what, die=colour.value)
    return None


def _refuse_sum(
    position: Position, row: Row, number: int, bit: int, what: Mapping[str, object]
) -> Refusal | None:
    roll = position.roll
    if position.action == 1:
        if number == roll.white_sum:
            return None
        return refuse(Reason.WRONG_SUM, what, action=1, sums=[roll.white_sum])
    makers = [c for c in position.dice if number in roll.colour_sums(c)]
    colour = position.plan.box_of(bit).colour
    if colour in makers:
        return None
    if colour is None:
        own = position.plan.neighbours[bit] & position.opening
        if any(position.plan.box_of(b).colour in makers for b in each_bit(own)):
            return None
        left = [c for c in roll.colours if c not in position.dice]
        gone = [c for c in left if number in roll.colour_sums(c)]
        for colour_box in (position.plan.box_of(b) for b in each_bit(own)):
            if colour_box.colour in gone:  # it was rolled, and left with the row of action 1
                return refuse(Reason.DIE_REMOVED, what, ruling="E32", die=colour_box.colour.value)
        fresh = position.plan.neighbours[bit] & position.crosses & ~position.opening
        is_late = any(position.plan.box_of(b).colour in makers for b in each_bit(fresh))
        if makers:
            return refuse(
                Reason.BONUS_WRONG_DIE,
                what,
                ruling="E26" if is_late else None,  # the house rule stands there
                made_by=[c.value for c in makers],
                beside=list(row.beside),
                crossed=position.plan.name_of(own),
                late=is_late,
            )
        return refuse(Reason.WRONG_SUM, what, action=2, sums=[])
    sums = list(roll.colour_sums(colour))
    if makers:
        return refuse(
            Reason.WRONG_DIE, what, die=colour.value, made_by=[c.value for c in makers], sums=sums
        )
    return refuse(Reason.WRONG_SUM, what, action=2, die=colour.value, sums=sums)


def _refuse_place(
    position: Position, row: Row, bit: int, what: Mapping[str, object]
) -> Refusal | None:
    plan = position.plan
    own = position.crosses & plan.row_bits[plan.row_of(bit)]
    if own & bit:
        return refuse(
            Reason.ALREADY_CROSSED,
            what,
        )
    if own > bit:
        last = 1 << (own.bit_length() - 1)
        ruling = "E28" if row.is_bonus else "E41"
        if last & position.marked:
            ruling = "E6"
        return refuse(Reason.NOT_TO_THE_RIGHT, what, ruling=ruling, last=plan.box_of(last).number)
    if bit & plan.last_boxes and own.bit_count() < plan.crosses_before_lock:
        return refuse(
            Reason.LOCK_NEEDS_FIVE, what, crosses=own.bit_count(), needed=plan.crosses_before_lock
        )
    if row.is_bonus and not plan.neighbours[bit] & position.opening:
        return refuse(Reason.BONUS_NEEDS_NEIGHBOUR, what, beside=list(row.beside))
    return None
