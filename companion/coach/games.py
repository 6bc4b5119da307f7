"""Many games at once as NumPy arrays, with the rules of `companion.engine`.

All games of a batch have the same sheet, number of players and active player, so that every rule
is one operation on whole arrays. Seats are numbered from the player who begins.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import numpy.typing as npt

from companion.coach.layout import LAST, LOCK, SHUT, Bits, Flags, Int8, Layout, Option, layout_of
from companion.engine import HouseRule

BY_LOCKS, BY_MISSES = 1, 2
"""Values of `Games.end`; 0 while a game goes on."""

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
        return Games(
            self.layout,
            self.players,
            self.house,
            self.turn,
            self.active,
            self.next[:, :, mask],
            self.count[:, :, mask],
            self.sheet[:, :, mask],
            self.misses[:, mask],
            self.closed_at[:, mask],
            self.closed[mask],
            self.end[mask],
            self.turns[mask],
            self.ids[mask],
            self.gone,
        )

    def totals(self) -> npt.NDArray[np.int16]:
        """(P, N) row points less the cost of misses."""
        return totals(self.layout, self.count, self.misses)


def totals(layout: Layout, count: Int8, misses: Int8) -> npt.NDArray[np.int16]:
    """(P, N) row points less the cost of misses.

    Args:
        count: (R, P, N) crosses of each row.
        misses: (P, N).
    """
    total = -layout.plan.miss_points * misses.astype(np.int16)
    for row in layout.colours:
        crosses = count[row]
        for other in layout.scored_with(row)[1:]:
            crosses = crosses + count[other]
        total += layout.points[crosses]
    return total


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
        if option.row == option.owner:
            made = dice[option.white] + dice[2 + layout.colours.index(option.owner)]
            coloured[o] = made - np.int8(2) if layout.is_up[option.row] else np.int8(12) - made
        else:
            coloured[o] = coloured[
                layout.options.index(Option(option.owner, option.owner, option.white))
            ]
    return Throw(dice, white, _bits_of(white), coloured, _bits_of(coloured))


def _bits_of(positions: Int8) -> Bits:
    return np.left_shift(np.uint16(1), positions, dtype=np.uint16, casting="unsafe")


class Policy(Protocol):
    """Players of one kind: they answer for some seats in all games at once."""

    def white(self, games: Games, throw: Throw, legal: Flags, seats: slice) -> Flags:
        """Choose crosses of action 1.

        Args:
            legal: (R, S, N) the rows in which each seat may cross the white sum.
            seats: The S seats to answer for.
        Returns:
            (R, S, N) true for at most one row of each seat and game, a subset of `legal`.
        """

    def coloured(self, games: Games, throw: Throw, legal: Flags, crossed: Flags) -> Flags:
        """Choose the active seat's cross of action 2.

        Args:
            legal: (O, N) the options that are legal.
            crossed: (N,) whether the seat crossed a box in action 1.
        Returns:
            (O, N) true for at most one option of each game, a subset of `legal`.
        """


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
    own += ~crossed & (games.end == 0)
    _finish(games, (own >= games.layout.plan.misses) & (games.end == 0), BY_MISSES)
    _end_by_locks(games)


@dataclass(frozen=True, slots=True)
class Step:
    """One turn of a batch, for observers; legal boxes and choices as the judge would have them.

    Attributes:
        legal1, chosen1: (R, P, N).
        legal2, chosen2: (O, N).
        alive1: (N,) games that went on before the turn.
        alive2: (N,) games in which action 2 was played.
    """

    throw: Throw
    legal1: Flags
    chosen1: Flags
    legal2: Flags
    chosen2: Flags
    alive1: Flags
    alive2: Flags


Observer = Callable[[Games, Step], None]


def play_turn(
    games: Games, dice: Dice, policies: Sequence[Policy], observe: Observer | None = None
) -> None:
    """Play one turn in every game of the batch that goes on.

    Args:
        policies: One for each seat; neighbours that are the same object answer in one call.
    """
    throw = throw_of(games.layout, dice)
    alive1 = games.end == 0
    legal1 = legal_white(games, throw)
    chosen1 = _answers(games, throw, legal1, policies)
    cross_white(games, throw, chosen1)
    marked = chosen1[:, games.active]
    crossed: Flags = np.any(marked, axis=0)
    legal2 = legal_coloured(games, throw, marked)
    chosen2 = policies[games.active].coloured(games, throw, legal2, crossed)
    alive2 = games.end == 0
    cross_coloured(games, throw, chosen2)
    end_turn(games, np.logical_or(crossed, np.any(chosen2, axis=0)))
    if observe:
        observe(games, Step(throw, legal1, chosen1, legal2, chosen2, alive1, alive2))
    games.turn += 1
    games.active = (games.active + 1) % games.players
    while games.active in games.gone and len(games.gone) < games.players:
        games.active = (games.active + 1) % games.players


def _answers(games: Games, throw: Throw, legal: Flags, policies: Sequence[Policy]) -> Flags:
    if all(policy is policies[0] for policy in policies):
        return policies[0].white(games, throw, legal, slice(0, games.players))
    chosen = np.empty_like(legal)
    begin = 0
    while begin < games.players:
        end = begin + 1
        while end < games.players and policies[end] is policies[begin]:
            end += 1
        seats = slice(begin, end)
        chosen[:, seats] = policies[begin].white(games, throw, legal[:, seats], seats)
        begin = end
    return chosen


@dataclass(slots=True)
class Results:
    """How the games of a batch ended, in the order in which they began.

    Attributes:
        sheet: (R, P, N) crosses as bits.
        count: (R, P, N).
        misses: (P, N).
        closed_at: (R, N) as in `Games`.
        end: (N,) BY_LOCKS or BY_MISSES.
        turns: (N,) turns played.
        totals: (P, N).
    """

    sheet: Bits
    count: Int8
    misses: Int8
    closed_at: npt.NDArray[np.int16]
    end: Int8
    turns: npt.NDArray[np.int16]
    totals: npt.NDArray[np.int16]

    def winners(self) -> npt.NDArray[np.float64]:
        """(P, N) each seat's share of the victory; ties are split."""
        best = self.totals == self.totals.max(axis=0)
        shares: npt.NDArray[np.float64] = best / np.sum(best, axis=0)
        return shares


def random_dice(rng: np.random.Generator, size: int) -> Dice:
    """(6, size) fair dice."""
    return rng.integers(1, 7, (6, size), np.int8)


def play(
    games: Games,
    policies: Sequence[Policy],
    rng: np.random.Generator,
    observe: Observer | None = None,
    *,
    throws: int = 0,
) -> Results:
    """Play every game of the batch to its end.

    Finished games leave the arrays from time to time, so that the last long game does not cost as
    much as a full batch.

    Args:
        throws: How many different series of dice there are; games whose numbers differ by a
            multiple of it have the same dice. 0 for dice of its own in every game.
    """
    layout, size = games.layout, int(games.ids.max()) + 1 if games.size else 0
    results = Results(
        np.zeros((layout.rows, games.players, size), np.uint16),
        np.zeros((layout.rows, games.players, size), np.int8),
        np.zeros((games.players, size), np.int8),
        np.zeros((layout.rows, size), np.int16),
        np.zeros(size, np.int8),
        np.zeros(size, np.int16),
        np.zeros((games.players, size), np.int16),
    )
    while games.size:
        dice = random_dice(rng, throws or games.size)
        play_turn(games, dice[:, games.ids % throws] if throws else dice, policies, observe)
        going = games.end == 0
        left = int(np.count_nonzero(going))
        if left < 0.85 * games.size:
            _store(results, games.kept(~going))
            games = games.kept(going)
    return results


def _store(results: Results, games: Games) -> None:
    ids = games.ids
    results.sheet[:, :, ids] = games.sheet
    results.count[:, :, ids] = games.count
    results.misses[:, ids] = games.misses
    results.closed_at[:, ids] = games.closed_at
    results.end[ids] = games.end
    results.turns[ids] = games.turns
    results.totals[:, ids] = games.totals()
