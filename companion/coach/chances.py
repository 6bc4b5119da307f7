"""Each player's chance to win a game that goes on, from games played on from it.

The coach's player answers for everybody. A chance is the share of games won, ties split, with its
standard error, which is never 0.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from companion.coach.games import dice_of
from companion.coach.play import play, play_turn
from companion.coach.positions import games_from
from companion.coach.tempo import Tempo, tables_of
from companion.engine import GameState, Phase, Roll

GAMES = 400
"""Games played on from a position: two standard errors are 5 percentage points at most."""


class Chance(NamedTuple):
    """A share of games won and its standard error, both from 0 to 1."""

    share: float
    error: float


class Position(NamedTuple):
    """The position that the chances of a turn are computed for.

    Attributes:
        state: The game before the turn's first answer.
        roll: The confirmed roll; None while a roll is due.
    """

    state: GameState
    roll: Roll | None


def position_of(state: GameState) -> Position | None:
    """The position a turn began with, which its answers do not change; None once it is over."""
    if state.phase is Phase.OVER:
        return None
    before = state.action1 or state
    nobody = (None,) * state.players
    before = before._replace(
        phase=Phase.ROLL, roll=None, answers=nobody, legal=(0,) * state.players, gone=state.gone
    )
    return Position(before, state.roll)


def chances(position: Position, games: int = GAMES) -> tuple[Chance, ...]:
    """Each player's chance to win.

    Args:
        games: How many are played on.
    """
    state, roll = position
    players = state.players
    policies = [Tempo(tables_of(state.plan.name, players))] * players
    batch = games_from(state, games)
    if roll is not None:
        play_turn(batch, dice_of(roll, games), policies)
    shares = play(batch, policies, np.random.default_rng(1)).winners().mean(axis=1)
    return tuple(
        Chance(share, _error(share, games))
        for share in (float(shares[(player - state.active) % players]) for player in range(players))
    )


def _error(share: float, games: int) -> float:
    """Standard error of a share, with two games won and two lost added, so that none of all is not
    certain (Agresti and Coull 1998)."""
    near = (games * share + 2) / (games + 4)
    return math.sqrt(near * (1 - near) / (games + 4))
