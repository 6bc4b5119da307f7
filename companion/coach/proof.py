"""Compare the batch engine with the judge: same dice, same answers, same games."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from companion.coach.games import BY_LOCKS, Games, new_games
from companion.coach.layout import LOCK, Flags, Layout, layout_of
from companion.coach.play import Policy, Step, play
from companion.coach.policies import GREEDY, SKIP_TWO, RandomPlayer
from companion.engine import (
    COLOURED,
    End,
    Event,
    GameState,
    HouseRule,
    Played,
    Refusal,
    Roll,
    Rolled,
    apply,
    new_game,
)

Sets = list[list[int]]
"""By seat and game a set of boxes as bits of the plan."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One recorded turn of a batch; lists have one entry for each game that went on.

    Attributes:
        ids: The games' numbers.
        dice: Six values by game.
        legal1, chosen1: By seat and game.
        has_action2: Whether action 2 was played.
        legal2, chosen2: By game, of the active seat.
    """

    ids: list[int]
    dice: list[list[int]]
    legal1: Sets
    chosen1: Sets
    has_action2: list[bool]
    legal2: list[int]
    chosen2: list[int]


@dataclass(slots=True)
class Recorder:
    """Observer that keeps every turn of a batch in the judge's terms."""

    turns: list[Turn] = field(default_factory=list)

    def __call__(self, games: Games, step: Step) -> None:
        layout, going = games.layout, step.alive1
        throw, width = step.throw, games.layout.plan.width
        white = [(r, throw.white_bits[r]) for r in range(layout.rows)]
        coloured = [
            (each.row, bits) for each, bits in zip(layout.options, throw.coloured_bits, strict=True)
        ]

        def sets(flags: Flags, boxes: Sequence[tuple[int, npt.NDArray[np.uint16]]]) -> list[int]:
            low = np.zeros(games.size, np.int64)
            high = np.zeros(games.size, np.int64)
            for own, (row, bits) in zip(flags, boxes, strict=True):
                half, place = (low, row) if row < 4 else (high, row - 4)
                half |= (own * bits).astype(np.int64) << (width * place)
            shift = 4 * width
            return [
                a | b << shift
                for a, b in zip(low[going].tolist(), high[going].tolist(), strict=True)
            ]

        seats = range(games.players)
        self.turns.append(
            Turn(
                ids=games.ids[going].tolist(),
                dice=throw.dice[:, going].T.tolist(),
                legal1=[sets(step.legal1[:, p], white) for p in seats],
                chosen1=[sets(step.chosen1[:, p], white) for p in seats],
                has_action2=step.alive2[going].tolist(),
                legal2=sets(step.legal2, coloured),
                chosen2=sets(step.chosen2, coloured),
            )
        )


def differences(
    variant: str,
    players: int,
    turns: Sequence[Turn],
    results: Games,
    house: frozenset[HouseRule] = frozenset(),
) -> list[str]:
    """List the differences between the judge and a recorded batch; empty if there are none.

    Legal boxes are compared before every answer; sheets, misses, closings, the end, its turn and
    the totals afterwards.
    """
    layout = layout_of(variant)
    states = [new_game(layout.plan, players, house=house) for _ in range(results.end.size)]
    found: dict[int, str] = {}
    for number, turn in enumerate(turns):
        for i, game in enumerate(turn.ids):
            if game in found:
                continue
            fault = _play_turn(states, game, turn, i)
            if fault:
                found[game] = f"game {game}, turn {number + 1}: {fault}"
    totals = results.totals().T.tolist()
    for game, state in enumerate(states):
        fault = _compare_end(layout, state, results, game, totals[game])
        if fault:
            found.setdefault(game, f"game {game}: {fault}")
    return list(found.values())


def _play_turn(states: list[GameState], game: int, turn: Turn, i: int) -> str | None:
    state = states[game]
    events = _events(state, turn, i)
    step = apply(state, events[0])
    if isinstance(step, Refusal):
        return f"the roll is refused: {step.reason.value}"
    state = step.state
    legal = tuple(own[i] for own in turn.legal1)
    if state.legal != legal:
        return f"legal boxes of action 1: {state.legal}, not {legal}"
    step = apply(state, events[1])
    if isinstance(step, Refusal):
        return f"{events[1]} is refused: {step.reason.value}"
    state = states[game] = step.state
    if (state.end is None) != turn.has_action2[i]:
        return f"after action 1 the judge's end is {state.end}"
    if state.end is not None:
        return None
    if state.legal[state.active] != turn.legal2[i]:
        return f"legal boxes of action 2: {state.legal[state.active]}, not {turn.legal2[i]}"
    step = apply(state, events[2])
    if isinstance(step, Refusal):
        return f"{events[2]} is refused: {step.reason.value}"
    states[game] = step.state
    return None


def _compare_end(
    layout: Layout, state: GameState, results: Games, game: int, totals: list[int]
) -> str | None:
    width, players = layout.plan.width, state.players
    sheets = tuple(
        sum(int(results.sheet[r, p, game]) << (r * width) for r in range(layout.rows))
        for p in range(players)
    )
    end = End.LOCKS if results.end[game] == BY_LOCKS else End.MISSES
    checks: list[tuple[str, object, object]] = [
        ("sheets", state.crosses, sheets),
        ("misses", state.misses, tuple(results.misses[:, game].tolist())),
        ("end", state.end, end),
        ("turns", state.turn, int(results.turns[game])),
        ("closings", list(state.closed), _closings_of(layout, results, game)),
        ("totals", [state.total(p) for p in range(players)], totals),
    ]
    for what, judged, computed in checks:
        if judged != computed:
            return f"{what}: {judged} by the judge, {computed} here"
    return None


def _closings_of(
    layout: Layout, results: Games, game: int
) -> list[tuple[int, tuple[int, ...], int]]:
    """Rows, the seats that closed them and the actions, in the order of closing."""
    at = results.closed_at[:, game].tolist()
    rows = sorted((r for r in range(layout.rows) if at[r]), key=lambda r: at[r])
    found = []
    for row in rows:
        locked = results.sheet[row, :, game] & np.uint16(1 << LOCK)
        found.append((row, tuple(np.flatnonzero(locked).tolist()), 2 - at[row] % 2))
    return found


def recorded(
    variant: str, policies: Sequence[Policy], size: int, seed: int
) -> list[tuple[GameState, list[Event]]]:
    """Games of these players as the judge records them: the empty game and its events."""
    recorder, players = Recorder(), len(policies)
    rng = np.random.default_rng(seed)
    play(new_games(variant, players, size), policies, rng, recorder)
    start = new_game(layout_of(variant).plan, players)
    states, events = [start] * size, [list[Event]() for _ in range(size)]
    for turn in recorder.turns:
        for i, game in enumerate(turn.ids):
            for event in _events(states[game], turn, i):
                step = apply(states[game], event)
                assert not isinstance(step, Refusal), (event, step)
                states[game] = step.state
                events[game].append(event)
    return [(start, each) for each in events]


def _events(state: GameState, turn: Turn, i: int) -> list[Event]:
    tokens, values = state.plan.tokens, turn.dice[i]
    coloured = {colour: values[2 + COLOURED.index(colour)] for colour in state.dice}
    found: list[Event] = [
        Rolled(Roll.of((values[0], values[1]), coloured)),
        Played(1, tuple(tokens[own[i]] if own[i] else None for own in turn.chosen1)),
    ]
    if turn.has_action2[i]:
        answers: list[str | None] = [None] * state.players
        if turn.chosen2[i]:
            answers[state.active] = tokens[turn.chosen2[i]]
        found.append(Played(2, tuple(answers)))
    return found


def compare(
    variant: str,
    players: int,
    size: int,
    seed: int,
    house: frozenset[HouseRule] = frozenset(),
) -> list[str]:
    """Play a batch with players of several kinds and return its differences from the judge."""
    rng = np.random.default_rng(seed)
    kinds: list[Policy] = [RandomPlayer(rng), SKIP_TWO, GREEDY, SKIP_TWO, RandomPlayer(rng)]
    first = seed % len(kinds)
    policies = (kinds[first:] + kinds[:first])[:players]
    recorder = Recorder()
    results = play(new_games(variant, players, size, house), policies, rng, recorder)
    return differences(variant, players, recorder.turns, results, house)
