"""The table as JSON values and back (pure)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from companion.audio.settings import VoiceOverride
from companion.engine import PLANS, DieColour, End, GameState, HouseRule, Phase
from companion.engine.notation import parse_roll, roll_to_json
from companion.engine.state import Closing, Setup
from companion.eventlog.state import SWITCHES, Game, Seat, Settings, Table


def table_to_json(table: Table) -> dict[str, Any]:
    """The table as JSON values."""
    settings = table.settings
    speaking = [[each.name, each.value, each.instead_of] for each in settings.speaking]
    return {
        "revision": table.revision,
        "seats": [[seat.number, seat.name, list(seat.tokens), seat.bot] for seat in table.seats],
        "game": table.game and game_to_json(table.game),
        "games": table.games,
        "settings": [[getattr(settings, name) for name in SWITCHES], speaking],
        "hosts": list(table.hosts),
        "paused": [game_to_json(game) for game in table.paused],
    }


def table_from_json(data: Mapping[str, Any]) -> Table:
    """The table that `table_to_json` turned into JSON values.

    Raises:
        LookupError, TypeError, ValueError: Anything is missing or is no such value.
    """
    switches, speaking = data["settings"]
    chosen = dict(zip(SWITCHES, switches, strict=True))
    return Table(
        data["revision"],
        tuple(
            Seat(number, name, tuple(tokens), bot) for number, name, tokens, bot in data["seats"]
        ),
        None if data["game"] is None else game_from_json(data["game"]),
        data["games"],
        Settings(**chosen, speaking=tuple(VoiceOverride(*each) for each in speaking)),
        tuple(data["hosts"]),
        tuple(game_from_json(each) for each in data["paused"]),
    )


def game_to_json(game: Game) -> dict[str, Any]:
    """A game of the table as JSON values."""
    return {
        "number": game.number,
        "seats": list(game.seats),
        "state": state_to_json(game.state),
        "names": list(game.names),
        "done": sorted(game.done),
        "revocable": sorted(game.revocable),
        "typed": game.typed,
        "rolled": game.rolled,
        "bots": list(game.bots),
        "practice": game.practice,
        "corrected": game.corrected,
    }


def game_from_json(data: Mapping[str, Any]) -> Game:
    """The game that `game_to_json` turned into JSON values."""
    return Game(
        data["number"],
        tuple(data["seats"]),
        state_from_json(data["state"]),
        tuple(data["names"]),
        frozenset(data["done"]),
        frozenset(data["revocable"]),
        data["typed"],
        data["rolled"],
        tuple(data["bots"]),
        data["practice"],
        data["corrected"],
    )


def state_to_json(state: GameState) -> dict[str, Any]:
    """The state of a game as JSON values; crosses are bits of the plan."""
    setup = state.setup
    house = sorted(rule.value for rule in setup.house)
    return {
        "setup": [setup.plan.name, setup.players, setup.first, house],
        "phase": state.phase.value,
        "turn": state.turn,
        "active": state.active,
        "roll": state.roll and roll_to_json(state.roll),
        "crosses": list(state.crosses),
        "open": list(state.open),
        "misses": list(state.misses),
        "answers": list(state.answers),
        "legal": list(state.legal),
        "dice": [colour.value for colour in state.dice],
        "closed": [[each.row, list(each.players), each.action] for each in state.closed],
        "marked": state.marked,
        "action1": state.action1 and state_to_json(state.action1),
        "end": state.end and state.end.value,
        "gone": sorted(state.gone),
    }


def state_from_json(data: Mapping[str, Any]) -> GameState:
    """The state that `state_to_json` turned into JSON values."""
    plan, players, first, house = data["setup"]
    roll, action1, end = data["roll"], data["action1"], data["end"]
    return GameState(
        setup=Setup(PLANS[plan], players, first, frozenset(map(HouseRule, house))),
        phase=Phase(data["phase"]),
        turn=data["turn"],
        active=data["active"],
        roll=None if roll is None else parse_roll(roll["white"], roll["colour"]),
        crosses=tuple(data["crosses"]),
        open=tuple(data["open"]),
        misses=tuple(data["misses"]),
        answers=tuple(data["answers"]),
        legal=tuple(data["legal"]),
        dice=tuple(map(DieColour, data["dice"])),
        closed=tuple(Closing(row, tuple(by), action) for row, by, action in data["closed"]),
        marked=data["marked"],
        action1=None if action1 is None else state_from_json(action1),
        end=None if end is None else End(end),
        gone=frozenset(data["gone"]),
    )
