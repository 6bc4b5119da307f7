"""Positions of a game as batches, and their value: the mean result of games played on from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from companion.coach.games import ARRAYS, Games, Throw, new_games
from companion.coach.layout import LAST, LOCK, SHUT, Flags
from companion.coach.play import Policy, play
from companion.engine import GameState

Samples = npt.NDArray[np.float32]


def lead_of(totals: npt.NDArray[np.int16]) -> Samples:
    """(P, ...) each player's total less the best other total, from totals of that shape."""
    if len(totals) == 1:
        return totals.astype(np.float32)
    order = np.sort(totals, axis=0)
    rival = np.where(totals == order[-1], order[-2], order[-1])
    leads: Samples = (totals - rival).astype(np.float32)
    return leads


def games_from(state: GameState, size: int = 1) -> Games:
    """Copies of a game before a roll, its active player in seat 0."""
    plan, players = state.plan, state.players
    games = new_games(plan.name, players, size, state.setup.house)
    layout, mask = games.layout, (1 << plan.width) - 1
    closed = {closing.row: closing.action for closing in state.closed}
    for seat in range(players):
        player = (state.active + seat) % players
        for row in range(layout.rows):
            bits = (state.crosses[player] >> (row * plan.width)) & mask
            games.sheet[row, seat] = bits
            games.count[row, seat] = bits.bit_count()
            following = (bits & ~(1 << LOCK)).bit_length()
            shut = row in closed or player in state.gone or following > LAST
            games.next[row, seat] = SHUT if shut else following
        games.misses[seat] = state.misses[player]
    for row, action in closed.items():
        games.closed_at[row] = action
    games.closed[:] = len(closed)
    games.turn = 1
    games.gone = frozenset((player - state.active) % players for player in state.gone)
    return games


class Branches:
    """The answers to one roll in 1 + P games: in game 0 everybody answers as the coach's player, in
    game 1 + s seat s answers as it really did; in action 2 as the coach's player, if it never came.

    Attributes:
        coach_white: (P,) rows that the coach's player crossed in action 1; -1 for a pass.
        coach_coloured: Option that it used in action 2; -1 for a pass.
    """

    def __init__(
        self, policy: Policy, white: Sequence[int], coloured: Sequence[int] | None
    ) -> None:
        self._policy, self._white, self._coloured = policy, white, coloured
        self.coach_white: npt.NDArray[np.int64] = np.empty(0, np.int64)
        self.coach_coloured = -1

    def white(self, games: Games, throw: Throw, legal: Flags, seats: slice) -> Flags:
        chosen = self._policy.white(games, throw, legal, seats)
        first = chosen[:, :, 0]
        self.coach_white = np.where(first.any(axis=0), first.argmax(axis=0), -1)
        for seat, row in enumerate(self._white):
            chosen[:, seat, 1 + seat] = False
            if row >= 0 and legal[row, seat, 1 + seat]:
                chosen[row, seat, 1 + seat] = True
        return chosen

    def coloured(self, games: Games, throw: Throw, legal: Flags, crossed: Flags) -> Flags:
        chosen = self._policy.coloured(games, throw, legal, crossed)
        first = chosen[:, 0]
        self.coach_coloured = int(first.argmax()) if first.any() else -1
        own = 1 + games.active
        if self._coloured is None:
            return chosen
        possible = [o for o in self._coloured if legal[o, own]]
        if possible or not self._coloured:
            chosen[:, own] = False
        if possible:
            chosen[possible[0], own] = True
        return chosen


@dataclass(frozen=True, slots=True)
class Position:
    """A position to value; `shift` is the player in its seat 0."""

    games: Games
    shift: int


CHUNK = 48
"""Positions valued in one batch."""


def values_of(
    positions: Sequence[Position],
    policy: Policy,
    rollouts: int,
    progress: Callable[[float], None],
) -> list[tuple[Samples, Samples]]:
    """Play every position to its end many times, with the same dice for all positions.

    Returns:
        For each position (P, rollouts) leads and shares of victory.
    """
    players = positions[0].games.players
    found: dict[int, tuple[Samples, Samples]] = {}
    groups: dict[frozenset[int], list[int]] = {}
    for k, position in enumerate(positions):
        groups.setdefault(position.games.gone, []).append(k)
    for members in groups.values():
        for begin in range(0, len(members), CHUNK):
            part = members[begin : begin + CHUNK]
            batch = _joined([positions[k].games for k in part], rollouts)
            rng = np.random.default_rng(1)
            results = play(batch, [policy] * players, rng, throws=rollouts)
            shape = (players, len(part), rollouts)
            leads = lead_of(results.totals()).reshape(shape)
            shares = results.winners().astype(np.float32).reshape(shape)
            for i, k in enumerate(part):
                shift = positions[k].shift
                found[k] = (
                    np.roll(leads[:, i], shift, axis=0),
                    np.roll(shares[:, i], shift, axis=0),
                )
            progress(len(found) / len(positions))
    return [found[k] for k in range(len(positions))]


def _joined(each: Sequence[Games], copies: int) -> Games:
    """Join positions to one batch with `copies` of each."""
    first = each[0]
    size = copies * sum(games.size for games in each)
    joined = new_games(first.layout.plan.name, first.players, size, first.house)
    for name in ARRAYS:
        if name != "ids":
            arrays = np.concatenate([getattr(games, name) for games in each], axis=-1)
            setattr(joined, name, np.repeat(arrays, copies, axis=-1))
    joined.turn, joined.gone = 1, first.gone
    return joined


def seated_first(games: Games, seat: int) -> Games:
    """The same games with another seat as seat 0."""
    turned: dict[str, Any] = {
        name: np.roll(getattr(games, name), -seat, axis=-2)
        for name in ("next", "count", "sheet", "misses")
    }
    gone = frozenset((each - seat) % games.players for each in games.gone)
    return replace(games, **turned, gone=gone, active=0)
