"""Speed of the rules engine: whole random games, with all legal boxes at each step."""

from __future__ import annotations

import gc
import random
import time
from dataclasses import dataclass
from functools import cache
from itertools import combinations, product

from companion.engine import (
    PLANS,
    DieColour,
    Event,
    GameState,
    Phase,
    Plan,
    Played,
    Refusal,
    Roll,
    Rolled,
    apply,
    new_game,
)
from companion.engine.dice import COLOURED

PLAYERS = 4


@dataclass(slots=True)
class Pace:
    """Time of a run of games.

    Attributes:
        games: Games played to their end.
        steps: Events judged in them.
        seconds: Processor time, including that of the random players.
        slowest_step_ms: Time of the slowest event, including the legal boxes after it.
    """

    games: int = 0
    steps: int = 0
    seconds: float = 0.0
    slowest_step_ms: float = 0.0

    @property
    def games_per_second(self) -> float:
        """Whole games per second."""
        return self.games / self.seconds if self.seconds else 0.0


def measure(plan: Plan, games: int, seed: int) -> Pace:
    """Play random games of four and time them; the same seed plays the same games."""
    source, pace, slowest = random.Random(seed), Pace(), 0.0
    for _ in range(games):
        began = time.process_time()
        state = new_game(plan, PLAYERS, source.randrange(PLAYERS))
        legal = state.legal
        while state.phase is not Phase.OVER:
            event = _next_event(state, legal, source)
            step_began = time.perf_counter()
            step = apply(state, event)
            assert not isinstance(step, Refusal), (event, step)
            state = step.state
            legal = state.legal
            took = time.perf_counter() - step_began
            if took > slowest:
                slowest = took
            pace.steps += 1
        pace.seconds += time.process_time() - began
        pace.games += 1
    pace.slowest_step_ms = slowest * 1000
    return pace


def measure_all(games: int) -> dict[str, Pace]:
    """Measure every sheet, after a short warm-up that fills the lookup tables.

    All rolls are made beforehand and kept from the garbage collector, so that only the rules are
    measured.
    """
    for count in range(len(COLOURED) + 1):
        for dice in combinations(COLOURED, count):
            _all_rolls(dice)
    for plan in PLANS.values():
        measure(plan, 3, 1)
    gc.collect()
    gc.freeze()
    try:
        return {name: measure(plan, games, 1) for name, plan in PLANS.items()}
    finally:
        gc.unfreeze()


def _next_event(state: GameState, legal: tuple[int, ...], source: random.Random) -> Event:
    """A random roll if one is due, else everybody's random answers."""
    if state.phase is Phase.ROLL:
        rolls = _all_rolls(state.dice)
        return Rolled(rolls[int(source.random() * len(rolls))])
    choices = [_some_choice(state.plan, own, source) if own else None for own in legal]
    return Played(state.action, tuple(choices))


@cache
def _all_rolls(dice: tuple[DieColour, ...]) -> tuple[Roll, ...]:
    """All equally likely rolls of some dice."""
    faces = range(1, 7)
    return tuple(
        Roll.of((first, second), dict(zip(dice, values, strict=True)))
        for first, second, *values in product(faces, repeat=2 + len(dice))
    )


def _some_choice(plan: Plan, legal: int, source: random.Random) -> str | None:
    """A random legal box or a pass, all equally likely."""
    boxes = plan.name_of(legal)
    number = int(source.random() * (len(boxes) + 1))
    return boxes[number - 1] if number else None
