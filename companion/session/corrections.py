"""Dice put right by a person before a roll is confirmed, and what the eye had said (pure)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from companion.engine import Roll
from companion.engine.dice import DieColour
from companion.tray import DieView, Problem, TrayStatus, TrayView

SAME_PLACE = 0.35
"""A die within this share of its edge from where it was put right is still that die."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A person's word on one die: where it lies, what the eye took it for, what it is and shows."""

    centre: tuple[float, float]
    reach: float
    seen: DieColour | None
    colour: DieColour
    value: int


def fix_of(die: DieView, value: int, colour: DieColour | None = None) -> Fix | None:
    """The fix for a die that is seen; None where nobody knows its colour."""
    named = colour or die.colour
    if named is None:
        return None
    edge = math.dist(die.corners_xy[0], die.corners_xy[1])
    return Fix(die.centre_xy, max(2.0, SAME_PLACE * edge), die.colour, named, value)


def die_at(dice: Sequence[DieView], at: tuple[float, float]) -> DieView | None:
    """The die in the tray that lies at a point of the picture, or None."""
    lying = [die for die in dice if die.in_tray]
    nearest = min(lying, key=lambda die: math.dist(die.centre_xy, at), default=None)
    if nearest is None:
        return None
    reach = math.dist(nearest.corners_xy[0], nearest.corners_xy[1])
    return nearest if math.dist(nearest.centre_xy, at) <= reach else None


def is_at(fix: Fix, centre: tuple[float, float]) -> bool:
    """Whether a fix is about the die that lies there."""
    return math.dist(fix.centre, centre) <= fix.reach


def with_fixes(tray: TrayView, fixes: Sequence[Fix], in_play: Sequence[DieColour]) -> TrayView:
    """The tray with the fixes that still fit it; with them it may have become a roll.

    A die the eye was in doubt of counts only when somebody put that very die right.
    """
    dice = tuple(_fixed(die, fixes) for die in tray.dice)
    if dice == tray.dice or not tray.status.is_correctable:
        return tray
    doubted = [problem for problem in tray.problems if problem.code.bars_roll]
    pairs = list(zip(tray.dice, dice, strict=True))
    told = all(_is_told(colour, count, pairs) for colour, count in _most(doubted).items())
    roll = None
    if tray.status is TrayStatus.OK or (doubted and told):
        roll = _roll_of(dice, in_play)
    if roll is None:
        return replace(tray, dice=dice, roll=None, status=_not_ok(tray.status))
    kept = tuple(problem for problem in tray.problems if problem not in doubted)
    return replace(tray, dice=dice, roll=roll, status=TrayStatus.OK, problems=kept)


def _most(problems: Sequence[Problem]) -> dict[DieColour | None, int]:
    """The colours in doubt, each with how many dice of it one and the same doubt is about."""
    counts = Counter((problem.code, problem.colour) for problem in problems)
    most: dict[DieColour | None, int] = {}
    for (_, colour), count in counts.items():
        most[colour] = max(count, most.get(colour, 0))
    return most


def _is_told(
    colour: DieColour | None, count: int, pairs: Sequence[tuple[DieView, DieView]]
) -> bool:
    """Whether those of a colour that may be the doubtful ones have all been put right.

    Of two white dice it is the one that leans, or has no value; where fewer stand out than are
    in doubt nobody knows which are meant, and all must be told.

    Args:
        count: So many of them are in doubt.
        pairs: Each die as the eye saw it, and as it is with what was put right.
    """
    meant = [(was, die) for was, die in pairs if colour in (was.colour, die.colour)]
    standing_out = [(was, die) for was, die in meant if _stands_out(was)]
    in_doubt = standing_out if len(standing_out) >= count else meant
    return bool(in_doubt) and all(die.by_hand for _, die in in_doubt)


def _stands_out(die: DieView) -> bool:
    return die.in_tray and (die.cocked or die.value is None)


def said_by_eye(tray: TrayView) -> dict[str, Any]:
    """What the eye said, for the log: its status, and each die in the tray."""
    dice = [
        [die.colour.value if die.colour else None, die.value, round(die.confidence, 3)]
        for die in tray.dice
        if die.in_tray
    ]
    return {"status": tray.status.value, "dice": dice}


def _fixed(die: DieView, fixes: Sequence[Fix]) -> DieView:
    for fix in fixes:
        if is_at(fix, die.centre_xy) and die.in_tray and die.colour is fix.seen:
            return replace(die, colour=fix.colour, value=fix.value, by_hand=True)
    return die


def _not_ok(status: TrayStatus) -> TrayStatus:
    return TrayStatus.UNCERTAIN if status is TrayStatus.OK else status


def _roll_of(dice: Sequence[DieView], in_play: Sequence[DieColour]) -> Roll | None:
    """The roll of exactly the dice in play, each with its value; others do not matter."""
    values: dict[DieColour, list[int]] = {colour: [] for colour in in_play}
    for die in dice:
        if not die.in_tray or (die.colour is not None and die.colour not in values):
            continue
        if die.colour is None or die.value is None:
            return None
        values[die.colour].append(die.value)
    if any(len(seen) != list(in_play).count(colour) for colour, seen in values.items()):
        return None
    low, high = values.pop(DieColour.WHITE)
    return Roll.of((low, high), {colour: seen[0] for colour, seen in values.items()})
