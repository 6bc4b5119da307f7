"""Generated legal games, drawn step by step."""

from __future__ import annotations

from hypothesis import strategies as st

from companion.engine import (
    BASE,
    BIG_POINTS,
    ActionClosed,
    Answered,
    Event,
    GameState,
    Phase,
    Refusal,
    Roll,
    Rolled,
    Withdrawn,
    apply,
    new_game,
)
from companion.engine.sheet import each_bit


@st.composite
def games(draw: st.DrawFn, most_turns: int = 40) -> tuple[GameState, list[Event]]:
    """A fresh game and the events of some legal turns; players cross whenever they may."""
    plan = draw(st.sampled_from([BASE, BIG_POINTS]))
    players = draw(st.integers(1, 5))
    start = state = new_game(plan, players, draw(st.integers(0, players - 1)))
    random = draw(st.randoms(use_true_random=False))
    events: list[Event] = []

    def take(event: Event) -> None:
        nonlocal state
        step = apply(state, event)
        assert not isinstance(step, Refusal), (event, step)
        state = step.state
        events.append(event)

    def some_choice(player: int) -> str | None:
        boxes = [plan.tokens[bit] for bit in each_bit(state.legal[player])]
        return random.choice([None, *boxes, *boxes])

    for _ in range(draw(st.integers(0, most_turns))):
        if state.phase is Phase.OVER:
            break
        dice = {colour: random.randint(1, 6) for colour in state.dice}
        take(Rolled(Roll.of((random.randint(1, 6), random.randint(1, 6)), dice)))
        for player in random.sample(range(players), players):
            take(Answered(player, 1, some_choice(player)))
            if random.random() < 0.2:
                take(Withdrawn(player, 1))
                take(Answered(player, 1, some_choice(player)))
        take(ActionClosed(1))
        if state.phase is Phase.ACTION2:
            take(Answered(state.active, 2, some_choice(state.active)))
            take(ActionClosed(2))
    return start, events
