"""The table as JSON values and back (pure)."""

from __future__ import annotations

from dataclasses import replace

from companion.engine import PLANS, GameState
from companion.eventlog.state import Game, Table
from companion.wire.structs import convert, plain


def table_to_json(table: Table) -> object:
    """The table as JSON values."""
    return plain(table)


def table_from_json(data: object) -> Table:
    """The table that `table_to_json` turned into JSON values.

    Raises:
        KeyError, WireError: Anything is missing or is no such value.
    """
    table: Table = convert(data, Table)
    game = None if table.game is None else _with_own_plan(table.game)
    return replace(table, game=game, paused=tuple(map(_with_own_plan, table.paused)))


def _with_own_plan(game: Game) -> Game:
    """The game on the plan of this process, whose lookups are made only once."""
    return replace(game, state=_on_own_plan(game.state))


def _on_own_plan(state: GameState) -> GameState:
    setup = replace(state.setup, plan=PLANS[state.setup.plan.name])
    action1 = None if state.action1 is None else _on_own_plan(state.action1)
    return state._replace(setup=setup, action1=action1)
