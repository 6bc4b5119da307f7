"""Dice that people correct before a roll is confirmed (pure)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from companion.engine import DieColour, Phase, Roll
from companion.eventlog.state import Table
from companion.session.decision import Rejected, rejected
from companion.session.play import in_play
from companion.tray import DieView, Problem, TrayStatus, TrayView

SAME_PLACE = 0.35
"""Largest distance, in edge lengths, of a die from where it was corrected."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A correction of one die.

    Attributes:
        centre: Where the die lies, in pixels of the frame.
        reach: Largest distance from there, in pixels, at which it is still that die.
        seen: The colour that was read.
        colour: The right colour.
        value: The right value.
    """

    centre: tuple[float, float]
    reach: float
    seen: DieColour | None
    colour: DieColour
    value: int


@dataclass(frozen=True, slots=True)
class CorrectedTray:
    """The tray as it was read, and as it is shown with the corrections.

    Attributes:
        read: As the camera loop reported it.
        shown: With the corrections that still fit.
        fixes: They hold until a die moves, and for dice that are old now.
        still_since: The frame since which nothing moved; None while dice may move.
    """

    read: TrayView
    shown: TrayView
    fixes: tuple[Fix, ...] = ()
    still_since: int | None = None

    def updated(self, read: TrayView, dice_in_play: Sequence[DieColour]) -> CorrectedTray:
        """The tray after a new report of the camera loop."""
        if read.status is TrayStatus.OLD:
            return CorrectedTray(read, read, self.fixes)
        if not read.status.is_correctable:
            return CorrectedTray(read, read)
        since = read.frame if self.still_since is None else self.still_since
        return CorrectedTray(read, with_fixes(read, self.fixes, dice_in_play), self.fixes, since)

    def offered_again(self, fixes: tuple[Fix, ...]) -> CorrectedTray:
        """The tray after its roll was undone, with its corrections if its dice still lie there."""
        return replace(self, fixes=fixes) if self.read.status is TrayStatus.OLD else self


def decide_fix(
    table: Table,
    tray: CorrectedTray,
    frame: int,
    at: tuple[float, float],
    value: int,
    colour: DieColour | None,
) -> CorrectedTray | Rejected:
    """Correct one die of the shown reading, before its roll is confirmed.

    Args:
        frame: Number of the frame that was shown; nothing may have moved since.
        at: Where the die lies in that frame, in pixels.
        colour: Needed if the reading does not name it.
    """
    game = table.game
    if game is None or game.state.phase is not Phase.ROLL:
        return rejected("NO_ROLL_DUE")
    die = die_at(tray.read.dice, at)
    if die is None or tray.still_since is None or frame < tray.still_since:
        return rejected("TRAY_CHANGED")
    fix = fix_of(die, value, colour)
    if fix is None or not 1 <= value <= 6:
        return rejected("BAD_DIE")
    fixes = (*(old for old in tray.fixes if not is_at(old, fix.centre)), fix)
    return replace(tray, fixes=fixes, shown=with_fixes(tray.read, fixes, in_play(table)))


def fix_of(die: DieView, value: int, colour: DieColour | None = None) -> Fix | None:
    """The correction of a die; None if neither the reading nor the person names its colour."""
    named = colour or die.colour
    if named is None:
        return None
    edge = math.dist(die.corners_xy[0], die.corners_xy[1])
    return Fix(die.centre_xy, max(2.0, SAME_PLACE * edge), die.colour, named, value)


def die_at(dice: Sequence[DieView], at: tuple[float, float]) -> DieView | None:
    """The die in the tray that covers a point of the frame, or None."""
    lying = [die for die in dice if die.in_tray]
    nearest = min(lying, key=lambda die: math.dist(die.centre_xy, at), default=None)
    if nearest is None:
        return None
    reach = math.dist(nearest.corners_xy[0], nearest.corners_xy[1])
    return nearest if math.dist(nearest.centre_xy, at) <= reach else None


def is_at(fix: Fix, centre: tuple[float, float]) -> bool:
    """Whether a correction belongs to the die at a point."""
    return math.dist(fix.centre, centre) <= fix.reach


def with_fixes(tray: TrayView, fixes: Sequence[Fix], dice_in_play: Sequence[DieColour]) -> TrayView:
    """Apply the corrections that still fit; they may complete a roll.

    A problem of the reading is solved only by a correction of the die it concerns.
    """
    dice = tuple(_fixed(die, fixes) for die in tray.dice)
    if dice == tray.dice or not tray.status.is_correctable:
        return tray
    doubted = [problem for problem in tray.problems if problem.code.bars_roll]
    pairs = list(zip(tray.dice, dice, strict=True))
    solved = all(_is_corrected(colour, count, pairs) for colour, count in _most(doubted).items())
    roll = None
    if tray.status is TrayStatus.OK or (doubted and solved):
        roll = _roll_of(dice, dice_in_play)
    if roll is None:
        return replace(tray, dice=dice, roll=None, status=_not_ok(tray.status))
    kept = tuple(problem for problem in tray.problems if problem not in doubted)
    return replace(tray, dice=dice, roll=roll, status=TrayStatus.OK, problems=kept)


def _most(problems: Sequence[Problem]) -> dict[DieColour | None, int]:
    """The doubtful colours, each with the most dice that one kind of problem concerns."""
    counts = Counter((problem.code, problem.colour) for problem in problems)
    most: dict[DieColour | None, int] = {}
    for (_, colour), count in counts.items():
        most[colour] = max(count, most.get(colour, 0))
    return most


def _is_corrected(
    colour: DieColour | None, count: int, pairs: Sequence[tuple[DieView, DieView]]
) -> bool:
    """Whether every die of a colour that may be the doubtful one was corrected.

    Of two white dice it is the cocked one or the one without a value. If fewer stand out than
    are doubtful, all dice of the colour must be corrected.

    Args:
        count: The number of doubtful dice.
        pairs: Each die as it was read, and with its correction.
    """
    meant = [(was, die) for was, die in pairs if colour in (was.colour, die.colour)]
    standing_out = [(was, die) for was, die in meant if _stands_out(was)]
    in_doubt = standing_out if len(standing_out) >= count else meant
    return bool(in_doubt) and all(die.by_hand for _, die in in_doubt)


def _stands_out(die: DieView) -> bool:
    return die.in_tray and (die.cocked or die.value is None)


def reading_data(tray: TrayView) -> dict[str, Any]:
    """The reading as the log stores it: its status, and each die in the tray."""
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


def _roll_of(dice: Sequence[DieView], dice_in_play: Sequence[DieColour]) -> Roll | None:
    """The roll of the dice in play; None unless each is there once with a value."""
    values: dict[DieColour, list[int]] = {colour: [] for colour in dice_in_play}
    for die in dice:
        if not die.in_tray or (die.colour is not None and die.colour not in values):
            continue
        if die.colour is None or die.value is None:
            return None
        values[die.colour].append(die.value)
    if any(len(seen) != list(dice_in_play).count(colour) for colour, seen in values.items()):
        return None
    low, high = values.pop(DieColour.WHITE)
    return Roll.of((low, high), {colour: seen[0] for colour, seen in values.items()})
