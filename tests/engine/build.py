"""Small builders: games from few words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from companion.engine import (
    BASE,
    ActionClosed,
    Answered,
    Choice,
    DieColour,
    Event,
    Fact,
    GameState,
    Plan,
    Refusal,
    Roll,
    Rolled,
    apply,
    new_game,
)
from companion.engine.state import Closing, dice_in_play, shut_bits


def roll(low: int, high: int, **colour: int) -> Rolled:
    """A roll; colours that are not named show a 3."""
    values = {"red": 3, "yellow": 3, "green": 3, "blue": 3} | colour
    return Rolled(Roll.of((low, high), {DieColour(c): v for c, v in values.items() if v}))


def game(
    players: int = 2,
    first: int = 0,
    *,
    plan: Plan = BASE,
    sheets: dict[int, dict[str, list[int]]] | None = None,
    closed: Iterable[str] = (),
    misses: dict[int, int] | None = None,
) -> GameState:
    """A game with a roll due, from any position."""
    state = new_game(plan, players, first)
    return with_sheets(state, sheets or {}, closed=closed, misses=misses)


def crosses_of(plan: Plan, marks: Mapping[str, Iterable[int]]) -> int:
    """The crosses of a sheet written as numbers by row key; a last box brings its lock."""
    crosses = 0
    for key, numbers in marks.items():
        for number in numbers:
            crosses |= plan.with_lock(plan.bits[f"{key}{number}"])
    return crosses


def with_sheets(
    state: GameState,
    sheets: Mapping[int, Mapping[str, Iterable[int]]],
    *,
    closed: Iterable[str] = (),
    misses: Mapping[int, int] | None = None,
) -> GameState:
    """The state with crosses, closed rows (by key) and misses set, to begin from any position."""
    plan = state.plan
    crosses = list(state.crosses)
    for player, marks in sheets.items():
        crosses[player] = crosses_of(plan, marks)
    closings = []
    for key in closed:
        lock = plan.lock_bits[plan.index[key]]
        by = tuple(p for p in range(state.players) if crosses[p] & lock)
        closings.append(Closing(plan.index[key], by, 2))
    shut = shut_bits(plan, closings)
    given = misses or {}
    return state._replace(
        crosses=tuple(crosses),
        open=tuple(plan.open_boxes(own, shut) for own in crosses),
        misses=tuple(given.get(p, 0) for p in range(state.players)),
        closed=tuple(closings),
        dice=dice_in_play(plan, closings),
    )


def go(state: GameState, *events: Event) -> GameState:
    """The state after events that must all be accepted."""
    return facts_of(state, *events)[0]


def facts_of(state: GameState, *events: Event) -> tuple[GameState, list[Fact]]:
    """The state and all facts of events that must all be accepted."""
    facts: list[Fact] = []
    for event in events:
        step = apply(state, event)
        assert not isinstance(step, Refusal), f"{event} refused: {step}"
        state = step.state
        facts.extend(step.facts)
    return state, facts


def action1(state: GameState, *choices: Choice) -> GameState:
    """Action 1 answered and closed; who is not named passes."""
    answers = [Answered(player, 1, choice) for player, choice in enumerate(choices)]
    return go(state, *answers, ActionClosed(1))


def action2(state: GameState, choice: Choice) -> GameState:
    """Action 2 answered by the active player and closed."""
    return go(state, Answered(state.active, 2, choice), ActionClosed(2))


def turn(state: GameState, dice: Rolled, first: Iterable[Choice], second: Choice) -> GameState:
    """A whole turn."""
    return action2(action1(go(state, dice), *first), second)


def reason(state: GameState, player: int, action: int, choice: Any) -> str:
    """The reason an answer is refused, "" when it is accepted."""
    step = apply(state, Answered(player, action, choice))
    return step.reason.value if isinstance(step, Refusal) else ""


def ruling(state: GameState, player: int, action: int, choice: Any) -> str | None:
    """The ruling a refused answer cites."""
    step = apply(state, Answered(player, action, choice))
    assert isinstance(step, Refusal)
    return step.ruling


def legal(state: GameState, player: int) -> set[str]:
    """Tokens a player may cross now."""
    return set(state.plan.name_of(state.legal[player]))
