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
from companion.tray import SAME_PLACE, DieView, Problem, ProblemCode, TrayStatus, TrayView

_DOUBTS = (ProblemCode.UNCERTAIN, ProblemCode.COCKED, ProblemCode.OBSTRUCTED)
"""Problems of a die that lies in the tray, and that a person who sees it can solve."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A correction of one die.

    Attributes:
        centre: Where the die lies, in pixels of the frame.
        reach: Largest distance from there, in pixels, at which it is still that die.
        colour: The right colour.
        value: The right value.
    """

    centre: tuple[float, float]
    reach: float
    colour: DieColour
    value: int


@dataclass(frozen=True, slots=True)
class Corrections:
    """Corrections of dice. They wait while something moves, and hold again for the same dice.

    Attributes:
        lying: All dice as they were read when the last one was corrected.
        still_since: The frame since which nothing moved when they held last.
    """

    fixes: tuple[Fix, ...] = ()
    lying: tuple[DieView, ...] = ()
    still_since: int | None = None

    def hold(self, read: TrayView, still_since: int) -> bool:
        """Whether the dice are those that were corrected, as nobody has touched them."""
        return still_since == self.still_since or lie_untouched(self.lying, read.dice)


@dataclass(frozen=True, slots=True)
class CorrectedTray:
    """The tray as it was read, and as it is shown with the corrections.

    Attributes:
        read: As the camera loop reported it.
        shown: With the corrections, if they hold.
        still_since: The frame since which nothing moved; None while dice may move.
        made: The last corrections.
    """

    read: TrayView
    shown: TrayView
    still_since: int | None = None
    made: Corrections = Corrections()

    def updated(self, read: TrayView, dice_in_play: Sequence[DieColour]) -> CorrectedTray:
        """The tray after a new report of the camera loop."""
        made = self.made
        if not read.status.is_correctable:
            since = self.still_since if read.status is TrayStatus.OLD else None
            return CorrectedTray(read, read, since, made)
        since = read.frame if self.still_since is None else self.still_since
        if not made.hold(read, since):
            return CorrectedTray(read, read, since, made)
        shown = with_fixes(read, made.fixes, dice_in_play)
        return CorrectedTray(read, shown, since, replace(made, still_since=since))


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
    die, since = die_at(tray.read.dice, at), tray.still_since
    if die is None or since is None or frame < since or not tray.read.status.is_correctable:
        return rejected("TRAY_CHANGED")
    named = colour or die.colour
    if named is None or not 1 <= value <= 6:
        return rejected("BAD_DIE")
    fix = Fix(die.centre_xy, _reach(die), named, value)
    others = tray.made.fixes if tray.made.hold(tray.read, since) else ()
    fixes = (*(old for old in others if not is_at(old, fix.centre)), fix)
    shown = with_fixes(tray.read, fixes, in_play(table))
    return replace(tray, shown=shown, made=Corrections(fixes, tray.read.dice, since))


def die_at(dice: Sequence[DieView], at: tuple[float, float]) -> DieView | None:
    """The die in the tray that covers a point of the frame, or None."""
    lying = [die for die in dice if die.in_tray]
    nearest = min(lying, key=lambda die: math.dist(die.centre_xy, at), default=None)
    if nearest is None:
        return None
    return nearest if math.dist(nearest.centre_xy, at) <= nearest.edge_px else None


def lie_untouched(before: Sequence[DieView], now: Sequence[DieView]) -> bool:
    """Whether all dice in the tray surely lie as they did: a hand may have been among them.

    A die that is cocked or has no value may have been turned, and nobody would see it.
    """
    old, new = ([die for die in dice if die.in_tray] for dice in (before, now))
    return len(old) == len(new) > 0 and all(
        die.value is not None and not die.cocked and any(_is_same(die, each) for each in old)
        for die in new
    )


def _is_same(die: DieView, other: DieView) -> bool:
    is_near = math.dist(die.centre_xy, other.centre_xy) <= _reach(die)
    return is_near and (die.colour, die.value) == (other.colour, other.value)


def _reach(die: DieView) -> float:
    return max(2.0, SAME_PLACE * die.edge_px)


def is_at(fix: Fix, centre: tuple[float, float]) -> bool:
    """Whether a correction belongs to the die at a point."""
    return math.dist(fix.centre, centre) <= fix.reach


def with_fixes(tray: TrayView, fixes: Sequence[Fix], dice_in_play: Sequence[DieColour]) -> TrayView:
    """Apply the corrections that still fit; they may complete a roll.

    A problem of the reading is solved only by a correction of the die it concerns.
    """
    dice = tuple(_fixed(die, fixes) for die in tray.dice)
    if dice == tray.dice:
        return tray
    doubted = [problem for problem in tray.problems if problem.code.bars_roll]
    pairs = list(zip(tray.dice, dice, strict=True))
    left = {c for c, count in _most(doubted).items() if not _is_corrected(c, count, pairs)}
    roll = None
    if tray.status is TrayStatus.OK or (doubted and not left):
        roll = _roll_of(dice, dice_in_play)
    solved = [problem for problem in doubted if problem.colour not in left]
    problems = tuple(problem for problem in tray.problems if problem not in solved)
    if roll is not None:
        return replace(tray, dice=dice, roll=roll, status=TrayStatus.OK, problems=problems)
    status = TrayStatus.UNCERTAIN if tray.status is TrayStatus.OK else tray.status
    problems = problems if left else tray.problems  # all were told, and they make no roll
    return replace(tray, dice=dice, roll=None, status=status, problems=problems)


def doubtful_dice(tray: TrayView) -> tuple[DieView, ...]:
    """The dice that must be corrected before the shown reading is a roll.

    A problem names a colour only: of two white dice those that stand out are meant, or both. If no
    die has that colour, those of unknown colour are meant.
    """
    found: list[DieView] = []
    doubts = [problem for problem in tray.problems if problem.code in _DOUBTS]
    left = [die for die in tray.dice if die.in_tray and not die.by_hand]
    for colour, count in _most(doubts).items():
        meant = [die for die in left if die.colour is colour]
        found += _in_doubt(meant or [die for die in left if die.colour is None], count)
    return tuple(found)


def asked_colour(tray: TrayView, dice_in_play: Sequence[DieColour]) -> DieColour | None:
    """The colour of the die that whoever threw is asked about next; None for no question.

    It is asked only if the answers complete the roll: the dice lie there in their colours. The
    reader may list them in another order each time, so the order of the colours decides.
    """
    lying = Counter(die.colour for die in tray.dice if die.in_tray)
    playing = {c: count for c, count in lying.items() if c is None or c in dice_in_play}
    if tray.status is not TrayStatus.UNCERTAIN or playing != Counter(dice_in_play):
        return None
    doubtful = {die.colour for die in doubtful_dice(tray)}
    return next((colour for colour in DieColour if colour in doubtful), None)


def _in_doubt(meant: Sequence[DieView], count: int) -> Sequence[DieView]:
    """Which dice of a colour are doubtful: those that stand out, or all if fewer do so.

    Args:
        count: The number of doubtful dice.
    """
    standing_out = [die for die in meant if die.in_tray and (die.cocked or die.value is None)]
    return standing_out if len(standing_out) >= count else meant


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

    Args:
        count: The number of doubtful dice.
        pairs: Each die as it was read, and with its correction.
    """
    meant = [(was, die) for was, die in pairs if colour in (was.colour, die.colour)]
    in_doubt = _in_doubt([was for was, _ in meant], count)
    return bool(in_doubt) and all(die.by_hand for was, die in meant if was in in_doubt)


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
        if is_at(fix, die.centre_xy) and die.in_tray:
            return replace(die, colour=fix.colour, value=fix.value, by_hand=True)
    return die


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
