"""Seats that the coach's player plays, at three strengths, with the table's real dice.

A bot answers by the coach's rating of each answer with random points added: the more, the weaker
it plays.
"""

from __future__ import annotations

import numpy as np

from companion.coach.games import dice_of, sum_of, throw_of
from companion.coach.play import Policy
from companion.coach.positions import games_from
from companion.coach.solitaire import Optimum
from companion.coach.tempo import Tempo, tables_of
from companion.engine import COLOURED, Choice, GameState
from companion.eventlog.state import STRENGTHS

NOISE = dict(zip(STRENGTHS, (6.0, 2.5, 0.0), strict=True))
"""Standard deviation of the random points, by strength (docs/evaluation.md, coach)."""


def coach_of(variant: str, players: int) -> Policy:
    """The coach's player of a table: alone on the base sheet, the exact optimum."""
    if (variant, players) == ("base", 1):
        return Optimum()
    return Tempo(tables_of(variant, players))


def advice_of(state: GameState, player: int) -> Choice:
    """The coach's choice in the open action."""
    return _choice(state, player, coach_of(state.plan.name, state.players))


def choice_of(
    state: GameState, player: int, strength: str, rng: np.random.Generator | None = None
) -> Choice:
    """A bot's choice in the open action; None for a pass. It is one of the legal boxes."""
    policy = Tempo(tables_of(state.plan.name, state.players), NOISE[strength], rng)
    return _choice(state, player, policy)


def _choice(state: GameState, player: int, policy: Policy) -> Choice:
    assert state.roll is not None
    plan, seat = state.plan, (player - state.active) % state.players
    games = games_from(state)
    layout, values = games.layout, dict(state.roll.coloured)
    dice = dice_of(state.roll)
    throw = throw_of(layout, dice)
    legal = plan.name_of(state.legal[player])
    if state.action == 1:
        tokens = [f"{row.key}{state.roll.white_sum}" for row in plan.rows]
        allowed = np.array([token in legal for token in tokens])[:, None, None]
        chosen = policy.white(games, throw, allowed, slice(seat, seat + 1))[:, 0, 0]
    else:
        tokens = [
            f"{plan.rows[option.row].key}{sum_of(layout, dice, option)[0]}"
            for option in layout.options
        ]
        allowed = np.array(
            [
                token in legal and COLOURED[layout.colours.index(option.owner)] in values
                for token, option in zip(tokens, layout.options, strict=True)
            ]
        )[:, None]
        crossed = np.array([bool(state.marked)])
        chosen = policy.coloured(games, throw, allowed, crossed)[:, 0]
    return tokens[int(chosen.argmax())] if chosen.any() else None
