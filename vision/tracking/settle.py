"""Decides when a throw has become a roll: readings over time in, what to show out (pure).

Time is always the capture time of a frame, never a clock, so that every case is a table.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace

from companion.engine.dice import DieColour, Roll
from companion.tray import SAME_PLACE, DieView, ProblemCode, TrayStatus
from vision.reading import Point, Reading

AGREE_READINGS = 2
"""Consecutive readings that must agree in every colour and value."""

AGREE_S = 0.09
"""Least seconds from the first to the last reading that must agree. A die standing on its edge
looks at rest for a frame or two."""

CONFLICT_READINGS = 6
"""Consecutive readings that must agree after two sure readings contradicted each other."""

READING_S = 0.25
"""A reading that takes longer is shown as in progress."""

DOUBT_S = 0.8
"""Readings that disagree for this long at rest are shown as they are."""

RETRY_S = 0.5
"""Interval of readings at rest with a problem."""

RECHECK_S = 2.0
"""Interval of readings at rest without a problem."""


@dataclass(frozen=True, slots=True)
class Shown:
    """State to show.

    Attributes:
        roll: Set exactly when it may be confirmed.
        doubted: Colours of dice that sure readings saw differently.
    """

    status: TrayStatus
    roll: Roll | None = None
    reading: Reading | None = None
    doubted: frozenset[DieColour] = frozenset()


@dataclass(frozen=True, slots=True)
class Settling:
    """State kept between frames.

    Attributes:
        seen: First of the latest readings that agree; None while things move.
        seen_s: Its capture time.
        agreed: Number of consecutive readings equal to `seen`.
        sure: Latest sure reading since the last motion.
        contradicted: Colours of the dice in which two sure readings since the last motion differ.
        doubt_since_s: Time since when the readings at rest disagree.
        read_s: Capture time of the last reading.
        used: Dice of the last confirmed roll, until others are seen.
        used_rolls: Roll that was confirmed without a picture, and its corrections; if the next
            reading shows one, it is no new throw.
        seemed_bare: The tray has seemed empty since. Without a picture nobody knows whether the
            camera looked past it, so one of them is still no new throw if all its values show.
        last_rolls: Values of the last confirmed dice, as they were read and as people corrected
            them, until the dice are gone or show others; the same values again are no new throw,
            even if a push moved the dice or one left the game.
        shown: State shown last.
    """

    seen: Reading | None = None
    seen_s: float = 0.0
    agreed: int = 0
    sure: Reading | None = None
    contradicted: frozenset[DieColour] = frozenset()
    doubt_since_s: float | None = None
    read_s: float = -math.inf
    used: tuple[DieView, ...] = ()
    used_rolls: tuple[Roll, ...] = ()
    seemed_bare: bool = False
    last_rolls: tuple[Roll, ...] = ()
    shown: Shown = Shown(TrayStatus.WAITING)


def needs_reading(
    state: Settling,
    at_s: float,
    *,
    moved: bool,
    is_stirred: bool = False,
) -> bool:
    """Whether the frame captured at `at_s` has to be read.

    Args:
        is_stirred: Something moves, but not at the dice.
    """
    if moved:
        return False
    if state.seen is None:
        return True
    if not _is_agreed(state):
        # A picture that is read differently each time must not keep a processor busy for ever.
        return not _is_doubted(state, state.read_s) or at_s - state.read_s >= RETRY_S
    calm = (
        state.seen.status in (TrayStatus.OK, TrayStatus.EMPTY)
        or state.shown.status is TrayStatus.OLD
    ) and not is_stirred
    return at_s - state.read_s >= (RECHECK_S if calm else RETRY_S)


def settle(
    state: Settling,
    at_s: float,
    *,
    moved: bool,
    reading: Reading | None = None,
    is_elsewhere: bool = False,
) -> Settling:
    """Take one frame into account; `shown` of the result is the tray's state now.

    Args:
        state: Result of the last step.
        at_s: Capture time of the frame.
        moved: Something changed since the frame before.
        reading: Reading of the frame; None if it was not read.
        is_elsewhere: The camera does not see the place where the used dice lay.
    """
    if moved:
        return _afresh(state, Shown(TrayStatus.MOVING))
    if reading is None:
        return state
    if state.seen is not None and says_the_same(state.seen, reading):
        state = replace(state, agreed=state.agreed + 1, read_s=at_s)
    else:
        is_sure = reading.status is TrayStatus.OK
        was = state.sure if is_sure else None
        differing = _differing(was.roll, reading.roll) if was is not None else frozenset()
        state = replace(
            state,
            seen=reading,
            seen_s=at_s,
            agreed=1,
            read_s=at_s,
            sure=reading if is_sure else state.sure,
            contradicted=state.contradicted | differing,
        )
    if _is_agreed(state):
        return _decide(replace(state, doubt_since_s=None), reading, is_elsewhere)
    began_s = at_s if state.doubt_since_s is None else state.doubt_since_s
    state = replace(state, doubt_since_s=began_s)
    if _is_doubted(state, at_s):
        return replace(state, shown=_doubted(reading, state.contradicted))
    is_slow = at_s - began_s >= READING_S - 1e-6
    if (is_slow and state.shown.status is TrayStatus.MOVING) or state.shown.roll is not None:
        # It takes longer than usual, or the newest reading contradicts the offer.
        return replace(state, shown=Shown(TrayStatus.READING, None, reading))
    return state


def confirm(state: Settling, roll: Roll | None = None) -> Settling:
    """Note that a roll was confirmed: the dice that lie there now are used up.

    Args:
        roll: The confirmed roll. If no dice are visible, because it was typed, the dice that
            will show it are used up.
    """
    used = _dice_in_tray(state.seen) if state.seen is not None else ()
    shown = state.shown
    if used:
        shown = Shown(TrayStatus.OLD, None, shown.reading or state.seen)
    is_whole = bool(used) and (roll is None or len(used) >= 2 + len(roll.coloured))
    seen = state.seen.roll if state.seen is not None else None
    return replace(
        state,
        used=used,
        used_rolls=() if is_whole or roll is None else (roll,),
        seemed_bare=False,
        last_rolls=tuple(each for each in (seen, roll) if each is not None),
        shown=shown,
    )


def correct(state: Settling, roll: Roll) -> Settling:
    """Note that the dice confirmed last show another roll, unless they are gone."""
    return replace(
        state,
        used_rolls=(*state.used_rolls, roll) if state.used_rolls else (),
        last_rolls=(*state.last_rolls, roll) if state.last_rolls else (),
    )


def look_again(state: Settling) -> Settling:
    """Read the picture again, because other dice are in play now."""
    status = TrayStatus.READING if state.shown.roll is not None else state.shown.status
    shown = Shown(status, None, state.shown.reading)
    return _afresh(state, shown)


def _afresh(state: Settling, shown: Shown) -> Settling:
    return replace(remembered(state, shown), read_s=state.read_s)


def remembered(state: Settling, shown: Shown) -> Settling:
    """State with nothing known but the used dice and the last rolls."""
    return Settling(
        used=state.used,
        used_rolls=state.used_rolls,
        seemed_bare=state.seemed_bare,
        last_rolls=state.last_rolls,
        shown=shown,
    )


def forget_used(state: Settling) -> Settling:
    """Take the dice in the tray for a new throw, because a person said so."""
    return replace(look_again(state), used=(), used_rolls=(), last_rolls=())


def are_untouched(used: Iterable[DieView], dice: Iterable[DieView]) -> bool:
    """Whether nobody threw `dice`: most of them lie where a used one lay and show the same.

    A sleeve may have moved one or two, and some used dice may be gone; thrown dice do not fall back
    to their places. An unknown value counts as the same. A push of camera or tray moves all dice
    alike, and is no throw either.
    """
    old, new = tuple(used), tuple(dice)
    if not old or not new:
        return False
    shifts = [(0.0, 0.0)]
    if len(new) == len(old) >= 3:
        (old_x, old_y), (new_x, new_y) = _middle(old), _middle(new)
        shifts.append((new_x - old_x, new_y - old_y))
    return any(2 * _matching(old, new, shift) > len(new) for shift in shifts)


def _decide(state: Settling, latest: Reading, is_elsewhere: bool) -> Settling:
    """Decide the state from agreed readings, given the used dice."""
    reading = state.seen or latest
    is_bare = _is_bare(reading) and not is_elsewhere
    dice = _dice_in_tray(reading)
    if state.used_rolls and reading.roll is not None:
        is_same = _is_repeated if state.seemed_bare else _is_still_there
        if any(is_same(each, reading.roll) for each in state.used_rolls):
            state = replace(state, used=dice, last_rolls=(reading.roll, *state.used_rolls))
        state = replace(state, used_rolls=())
    if is_bare:
        state = replace(state, seemed_bare=True, last_rolls=())
    if reading.roll is not None:
        if any(_is_repeated(last, reading.roll) for last in state.last_rolls):
            state = replace(state, used=dice)
        else:
            state = replace(state, last_rolls=())
    if state.used and dice and are_untouched(state.used, dice):
        if reading.roll is not None and not state.last_rolls:
            state = replace(state, last_rolls=(reading.roll,))  # a finger turned a die
        return replace(state, shown=Shown(TrayStatus.OLD, None, reading))
    if reading.status is TrayStatus.OK or is_bare:
        # The used dice have been taken out or thrown again: from here on nothing is old.
        state = replace(state, used=())
    return replace(state, shown=Shown(reading.status, reading.roll, reading))


def _is_still_there(used: Roll, seen: Roll) -> bool:
    """Whether dice show a roll that was confirmed before, except for one of them at most.

    The roll may have taken a die out of the game, or a misread die may have been corrected. Thrown
    dice repeat all values but one less than once in 750 throws (at most 60 of 6 to the sixth).
    """
    was = dict(used.coloured)
    others = sum(was.get(colour) != value for colour, value in seen.coloured)
    white = min(
        sum(a != b for a, b in zip(used.white, pair, strict=True))
        for pair in (seen.white, seen.white[::-1])
    )
    return others + white <= 1


def _is_repeated(last: Roll, seen: Roll) -> bool:
    """Whether dice show a roll again; coloured ones of it may have left the game."""
    return seen.white == last.white and set(seen.coloured) <= set(last.coloured)


def _is_bare(reading: Reading) -> bool:
    """Whether the tray is surely empty: nothing hides dice, and no dice lie beside it, as they seem
    to after the camera was turned."""
    return reading.status is TrayStatus.EMPTY and not any(
        problem.code in (ProblemCode.FOREIGN_OBJECT, ProblemCode.BESIDE_TRAY)
        for problem in reading.problems
    )


def _is_agreed(state: Settling) -> bool:
    needed = CONFLICT_READINGS if state.contradicted else AGREE_READINGS
    return state.agreed >= needed and state.read_s - state.seen_s >= AGREE_S - 1e-6


def _is_doubted(state: Settling, at_s: float) -> bool:
    return state.doubt_since_s is not None and at_s - state.doubt_since_s >= DOUBT_S


def _doubted(reading: Reading, contradicted: frozenset[DieColour]) -> Shown:
    """The status of readings that disagree; a single OK is not enough."""
    if reading.status is not TrayStatus.OK:
        return Shown(reading.status, None, reading)
    return Shown(TrayStatus.UNCERTAIN, None, reading, contradicted)


def _differing(one: Roll | None, other: Roll | None) -> frozenset[DieColour]:
    """Colours of the dice that two sure readings see differently."""
    if one is None or other is None:
        return frozenset()
    white = {DieColour.WHITE} if one.white != other.white else set()
    return frozenset({colour for colour, _ in {*one.coloured} ^ {*other.coloured}} | white)


def says_the_same(one: Reading, other: Reading) -> bool:
    """Whether two readings agree: in the roll if OK, else in their problems."""
    if one.status is not other.status:
        return False
    if one.status is TrayStatus.OK:
        return one.roll == other.roll
    return set(one.problems) == set(other.problems)


def _dice_in_tray(reading: Reading) -> tuple[DieView, ...]:
    return tuple(die for die in reading.dice if die.in_tray)


def _matching(old: tuple[DieView, ...], new: tuple[DieView, ...], shift: Point) -> int:
    """Number of new dice that lie where an old one lay and show the same."""
    left = list(old)
    for die in new:
        reach = SAME_PLACE * die.edge_px
        for candidate in left:
            x, y = candidate.centre_xy[0] + shift[0], candidate.centre_xy[1] + shift[1]
            near = math.hypot(die.centre_xy[0] - x, die.centre_xy[1] - y) <= reach
            if near and _shows_the_same(candidate, die):
                left.remove(candidate)
                break
    return len(old) - len(left)


def _shows_the_same(one: DieView, other: DieView) -> bool:
    colour = one.colour is other.colour or one.colour is None or other.colour is None
    return colour and (one.value == other.value or one.value is None or other.value is None)


def _middle(dice: tuple[DieView, ...]) -> Point:
    x = sum(die.centre_xy[0] for die in dice) / len(dice)
    y = sum(die.centre_xy[1] for die in dice) / len(dice)
    return x, y
