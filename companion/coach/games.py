"""The sheets of many games at once as NumPy arrays, and the rules of `companion.engine` on them.

All games of a batch have the same sheet, number of players and active player, so that every rule
is one operation on whole arrays. Seats are numbered from the player who begins.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from companion.coach.layout import LAST, LOCK, SHUT, Bits, Flags, Int8, Layout, Option, layout_of
from companion.engine import COLOURED, HouseRule, Roll

BY_LOCKS, BY_MISSES = 1, 2
"""Values of `Games.end`; 0 while a game goes on."""

ARRAYS = ("next", "count", "sheet", "misses", "closed_at", "closed", "end", "turns", "ids")
"""Fields of `Games` that are arrays; games are their last axis."""

Dice = Int8
"""(6, N) int8, values 1 to 6: two white dice, then one for each colour row. Dice of closed rows
are present and ignored."""


@dataclass(slots=True)
class Games:
    """The sheets of N games of P players on R rows; arrays change in place.

    Attributes:
        turn: Turns played so far.
        active: The seat whose turn it is, the same in all games.
        next: (R, P, N) the first position that can still be crossed, SHUT when there is none.
        count: (R, P, N) crosses in the row, its lock included.
        sheet: (R, P, N) the crosses as bits, position 0 lowest, as in `Plan`.
        misses: (P, N).
        closed_at: (R, N) int16, `2 * turn + action` of the closing with turns from 0; 0 for open.
        closed: (N,) how many rows are closed.
        end: (N,) 0, BY_LOCKS or BY_MISSES.
        turns: (N,) turns played when the game ended; 0 while it goes on.
        ids: (N,) the games' numbers in the batch as it began.
        gone: Seats that left; they have no turns and cross nothing.
    """

    layout: Layout
    players: int
    house: frozenset[HouseRule]
    turn: int
    active: int
    next: Int8
    count: Int8
    sheet: Bits
    misses: Int8
    closed_at: npt.NDArray[np.int16]
    closed: Int8
    end: Int8
    turns: npt.NDArray[np.int16]
    ids: npt.NDArray[np.int64]
    gone: frozenset[int] = frozenset()

    @property
    def size(self) -> int:
        """Number of games."""
        return int(self.end.size)

    def kept(self, mask: Flags) -> Games:
        """A batch of the games where the mask is true."""
        kept: dict[str, Any] = {name: getattr(self, name)[..., mask] for name in ARRAYS}
        return replace(self, **kept)

    def totals(self) -> npt.NDArray[np.int16]:
        """(P, N) row points less the cost of misses."""
        layout = self.layout
        total = -layout.plan.miss_points * self.misses.astype(np.int16)
        for row in layout.colours:
            crosses = self.count[row]
            for other in layout.scored_with(row)[1:]:
                crosses = crosses + self.count[other]
            total += layout.points[crosses]
        return total

    def winners(self) -> npt.NDArray[np.float64]:
        """(P, N) each seat's share of the victory; ties are split."""
        totals = self.totals()
        best = totals == totals.max(axis=0)
        shares: npt.NDArray[np.float64] = best / np.sum(best, axis=0)
        return shares


def new_games(
    variant: str, players: int, size: int, house: frozenset[HouseRule] = frozenset()
) -> Games:
    """A batch of games with empty sheets."""
    layout = layout_of(variant)
    shape = (layout.rows, players, size)
    return Games(
        layout,
        players,
        house,
        turn=0,
        active=0,
        next=np.zeros(shape, np.int8),
        count=np.zeros(shape, np.int8),
        sheet=np.zeros(shape, np.uint16),
        misses=np.zeros((players, size), np.int8),
        closed_at=np.zeros((layout.rows, size), np.int16),
        closed=np.zeros(size, np.int8),
        end=np.zeros(size, np.int8),
        turns=np.zeros(size, np.int16),
        ids=np.arange(size),
    )


@dataclass(frozen=True, slots=True)
class Throw:
    """One throw in each game.

    Attributes:
        dice: (6, N).
        white: (R, N) the position of the white sum in each row.
        white_bits: (R, N) the bit of that position.
        coloured: (O, N) the position of each option of the layout.
        coloured_bits: (O, N) the bit of that position.
    """

    dice: Dice
    white: Int8
    white_bits: Bits
    coloured: Int8
    coloured_bits: Bits


def dice_of(roll: Roll, size: int = 1) -> Dice:
    """(6, size) a roll's dice in each of so many games; those of closed rows show a one."""
    coloured = dict(roll.coloured)
    values = [*roll.white, *(coloured.get(colour, 1) for colour in COLOURED)]
    return np.repeat(np.array(values, np.int8)[:, None], size, axis=1)


def throw_of(layout: Layout, dice: Dice) -> Throw:
    """The positions that dice open."""
    up = dice[0] + dice[1] - np.int8(2)
    down = np.int8(10) - up
    size = dice.shape[1]
    white = np.empty((layout.rows, size), np.int8)
    coloured = np.empty((len(layout.options), size), np.int8)
    for row in range(layout.rows):
        white[row] = up if layout.is_up[row] else down
    for o, option in enumerate(layout.options):
        made = sum_of(layout, dice, option)
        coloured[o] = made - np.int8(2) if layout.is_up[option.row] else np.int8(12) - made
    return Throw(dice, white, _bits_of(white), coloured, _bits_of(coloured))


def sum_of(layout: Layout, dice: Dice, option: Option) -> Int8:
    """(N,) what the two dice of an option make."""
    made: Int8 = dice[option.white] + dice[2 + layout.colours.index(option.owner)]
    return made


def _bits_of(positions: Int8) -> Bits:
    return np.left_shift(np.uint16(1), positions, dtype=np.uint16, casting="unsafe")


def legal_white(games: Games, throw: Throw) -> Flags:
    """(R, P, N) the rows in which each seat may cross the white sum."""
    layout, position = games.layout, throw.white[:, None]
    legal = position >= games.next
    for row in layout.colours:
        legal[row] &= (position[row] < LAST) | (games.count[row] >= layout.plan.crosses_before_lock)
    for row in layout.bonus:
        left, right = layout.beside[row]
        opening = games.sheet[left] | games.sheet[right]
        legal[row] &= (opening & throw.white_bits[row]) != 0
    return legal


def legal_coloured(games: Games, throw: Throw, marked: Flags | None) -> Flags:
    """(O, N) the options the active seat may use.

    Args:
        marked: (R, N) the rows it crossed the white sum in during this turn.
    """
    layout, seat = games.layout, games.active
    late = HouseRule.BONUS_NEXT_TURN in games.house
    legal = np.empty(throw.coloured.shape, np.bool_)
    for o, option in enumerate(layout.options):
        position = throw.coloured[o]
        own = legal[o]
        np.greater_equal(position, games.next[option.row, seat], out=own)
        if option.row == option.owner:
            own &= (position < LAST) | (
                games.count[option.row, seat] >= layout.plan.crosses_before_lock
            )
        else:
            opening = games.sheet[option.owner, seat]
            if late and marked is not None:
                opening = opening & ~(marked[option.owner] * throw.white_bits[option.owner])
            own &= (opening & throw.coloured_bits[o]) != 0
            own &= games.closed_at[option.owner] == 0
        if option.white == 1:
            own &= throw.dice[0] != throw.dice[1]
    return legal


def cross_white(games: Games, throw: Throw, chosen: Flags) -> None:
    """Cross the chosen boxes of action 1 for everybody at once and close rows.

    Args:
        chosen: (R, P, N).
    """
    position = throw.white[:, None]
    crosses = chosen.view(np.int8)
    games.count += crosses
    np.maximum(games.next, crosses * (position + np.int8(1)), out=games.next)
    games.sheet |= chosen * throw.white_bits[:, None]
    for row in games.layout.colours:
        is_last = throw.white[row] == LAST
        if is_last.any():
            _close_row(games, row, chosen[row] & is_last, 1, slice(None))
    if HouseRule.FINISH_TURN not in games.house:
        _end_by_locks(games)


def cross_coloured(games: Games, throw: Throw, chosen: Flags) -> None:
    """Cross the chosen boxes of action 2 on the active seat's sheet and close rows.

    Args:
        chosen: (O, N).
    """
    layout, seat = games.layout, games.active
    for row, options in enumerate(layout.options_of):
        own, first = chosen[options[0]], options[0]
        position, bits = throw.coloured[first] * own, throw.coloured_bits[first] * own
        for o in options[1:]:
            own = own | chosen[o]
            position += throw.coloured[o] * chosen[o]
            bits |= throw.coloured_bits[o] * chosen[o]
        games.count[row, seat] += own
        following = (position + np.int8(1)) * own
        np.maximum(games.next[row, seat], following, out=games.next[row, seat])
        games.sheet[row, seat] |= bits
        if not layout.beside[row]:
            last = position == LAST
            if last.any():
                _close_row(games, row, last[None], 2, slice(seat, seat + 1))


def _close_row(games: Games, row: int, closers: Flags, action: int, seats: slice) -> None:
    """Close a row where somebody crossed its last box.

    Args:
        closers: (S, N) the seats that did.
    """
    where = np.flatnonzero(closers.any(axis=0))
    if not where.size:
        return
    games.count[row, seats] += closers
    games.sheet[row, seats] |= closers * np.uint16(1 << LOCK)
    games.next[row][:, where] = SHUT
    games.closed[where] += 1
    games.closed_at[row, where] = 2 * games.turn + action


def _end_by_locks(games: Games) -> None:
    over = (games.closed >= games.layout.plan.rows_to_end) & (games.end == 0)
    _finish(games, over, BY_LOCKS)


def _finish(games: Games, over: Flags, end: int) -> None:
    where = np.flatnonzero(over)
    if where.size:
        games.end[where] = end
        games.turns[where] = games.turn + 1
        games.next[:, :, where] = SHUT


def end_turn(games: Games, crossed: Flags) -> None:
    """Give the active seat a miss where it crossed nothing, and end games.

    Args:
        crossed: (N,) whether it crossed a box in either action.
    """
    own = games.misses[games.active]
    if games.active not in games.gone:
        own += ~crossed & (games.end == 0)
    _finish(games, (own >= games.layout.plan.misses) & (games.end == 0), BY_MISSES)
    _end_by_locks(games)
