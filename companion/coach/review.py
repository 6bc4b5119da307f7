"""Luck and skill of a finished game, with standard errors.

The value of a position is the mean result of many games played on from there by the coach's player
in every seat. A result is a lead: a player's total less the best other total (the total itself for
one player alone). For each turn and player the change of value has three parts:

- luck: the value after the roll, everybody answering as the coach's player would, less the value
  before the roll;
- skill: the value with the player's own answer less that with the coach's answer, usually below 0;
- others: the rest, which the other players' answers made.

The parts and the value of the start add up to the final lead exactly. Of a game that was ended
early the whole turns count, and they add up to the value of the position after them. Somebody who
leaves changes everybody's value, in `others`: what decided such a game nobody can tell.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from companion.coach.bots import coach_of
from companion.coach.games import dice_of, sum_of
from companion.coach.play import Policy, play_turn
from companion.coach.positions import (
    Branches,
    Position,
    Samples,
    games_from,
    lead_of,
    seated_first,
    values_of,
)
from companion.engine import (
    Choice,
    End,
    Event,
    GameState,
    Phase,
    Refusal,
    apply,
)
from companion.engine.notation import Turn, turns_of
from companion.history.decided import Decided

ROLLOUTS = 400
"""Games played on from each position."""

SURE = 3.0
"""Standard errors beyond which a difference is more than noise. A game has about a hundred answers:
with two standard errors, some would look like mistakes by chance alone."""


@dataclass(frozen=True, slots=True)
class Measured:
    """A mean and its standard error, in points of lead."""

    value: float
    error: float

    @property
    def is_sure(self) -> bool:
        """Whether it differs from 0 by more than noise."""
        return abs(self.value) > SURE * self.error


@dataclass(frozen=True, slots=True)
class Answer:
    """The boxes that a player crossed with a roll; None for a pass.

    Attributes:
        white: The box of action 1.
        coloured: The box of action 2; None for those who are not active.
    """

    white: Choice
    coloured: Choice = None


@dataclass(frozen=True, slots=True)
class Decision:
    """One player's answers to one roll.

    Attributes:
        turn: Its number, from 1.
        given: What the player crossed.
        best: What the coach's player would have crossed.
        skill: The value of the answer less that of `best`.
        chance: The same difference in the chance to win, from -1 to 1.
    """

    turn: int
    player: int
    given: Answer
    best: Answer
    skill: Measured
    chance: float

    @property
    def is_mistake(self) -> bool:
        """Whether the answer cost lead by more than noise, and no chance was gained by it."""
        return self.skill.value < 0 and self.skill.is_sure and self.chance <= 0


@dataclass(frozen=True, slots=True)
class Part:
    """One turn of one player: what changed their expected lead."""

    luck: Measured
    skill: Measured
    others: float


@dataclass(frozen=True, slots=True)
class Review:
    """The analysis of a finished game.

    Attributes:
        luck, skill: By player, the sums over all turns.
        leads: By turn and player, the expected lead before the turn; last the one at the end,
            which is the final lead unless the game was ended early.
        parts: By turn and player.
        decisions: Every answer that differs from the coach's.
        final: By player, the lead the game ended with.
        departures: Numbers of the turns, from 1, in which somebody left.
    """

    luck: tuple[Measured, ...]
    skill: tuple[Measured, ...]
    leads: tuple[tuple[float, ...], ...]
    parts: tuple[tuple[Part, ...], ...]
    decisions: tuple[Decision, ...]
    final: tuple[int, ...]
    departures: frozenset[int] = frozenset()

    @property
    def start(self) -> tuple[float, ...]:
        """By player, the expected lead before the first roll."""
        return self.leads[0]

    @property
    def is_whole(self) -> bool:
        """Whether everybody who began the game played it to its end."""
        return not self.departures and self.leads[-1] == self.final

    @property
    def decided(self) -> Decided:
        """The larger part of the winner's lead over the best of the others.

        The lead that the winner gained has two parts: the winner's luck, and choices, which are the
        winner's own and those of the others. Of a game that is not whole nobody can tell.
        """
        winner = max(range(len(self.final)), key=lambda player: self.final[player])
        luck, gained = self.luck[winner], self.final[winner] - self.start[winner]
        surplus = Measured(luck.value - (gained - luck.value), 2 * luck.error)
        if self.final[winner] <= 0 or not self.is_whole or not surplus.is_sure:
            return Decided.CLOSE
        return Decided.LUCK if surplus.value > 0 else Decided.CHOICES

    def mistakes(self, player: int) -> list[Decision]:
        """A player's mistakes, the costliest first."""
        own = [each for each in self.decisions if each.player == player and each.is_mistake]
        return sorted(own, key=lambda each: each.skill.value)

    def turning_points(self, most: int = 3) -> list[int]:
        """Numbers of the turns, from 1, in which the dice and answers changed the leads most."""
        changes = {
            turn: max(abs(b - a) for a, b in zip(before, after, strict=True))
            for turn, (before, after) in enumerate(pairwise(self.leads), 1)
            if turn not in self.departures
        }
        told = [turn for turn, change in changes.items() if round(change)]
        return sorted(sorted(told, key=lambda turn: -changes[turn])[:most])


def review(
    start: GameState,
    events: Iterable[Event],
    *,
    rollouts: int = ROLLOUTS,
    progress: Callable[[float], None] = lambda share: None,
) -> Review | None:
    """Analyse a finished game; None if it is not over or no dice were thrown.

    Args:
        rollouts: Games played on from each position; errors fall with its square root.
        progress: Receives the share that is done.
    """
    turns, last, _ = turns_of(start, events := tuple(events))
    if last.phase is not Phase.OVER:
        return None
    if last.end is End.ENDED_EARLY:
        events = _whole_turns(start, events)
        turns, stopped, _ = turns_of(start, events)
        ends = [Position(games_from(stopped), stopped.active)]
    else:
        stopped, ends = last, []
    if not turns:
        return None
    players = start.players
    policy = coach_of(start.plan.name, players)
    studied = [_study(turn, policy) for turn in turns]
    states = [*(turn.before for turn in turns), stopped]
    departures = frozenset(a.turn for a, b in pairwise(states) if a.gone != b.gone)
    positions = [position for each in studied for position in (each.before, *each.after)]
    values = iter(values_of([*positions, *ends], policy, rollouts, progress))
    final = lead_of(np.array([[last.total(p)] for p in range(players)], np.int16))[:, 0]
    valued = [(each, next(values)[0], [next(values) for _ in each.after]) for each in studied]
    end = next(values)[0].mean(axis=1) if ends else final
    befores = [*(before.mean(axis=1) for _, before, _ in valued), end]
    leads_by_turn: list[tuple[float, ...]] = []
    parts: list[tuple[Part, ...]] = []
    decisions: list[Decision] = []
    luck_of, skill_of = np.zeros((2, players, rollouts), np.float32)
    for i, (each, before, after) in enumerate(valued):
        leads, shares = after[0]
        luck_of += leads - before
        expected = tuple(float(x) for x in befores[i])
        turn = turns[i]
        while len(parts) < turn.number - 1:  # the player of a turn left before the roll
            leads_by_turn.append(expected)
            parts.append((Part(Measured(0.0, 0.0), Measured(0.0, 0.0), 0.0),) * players)
        leads_by_turn.append(expected)
        luck = [_measured(leads[p] - before[p]) for p in range(players)]
        skill = [Measured(0.0, 0.0)] * players
        for (player, given, best), (own, won) in zip(each.answers, after[1:], strict=True):
            skill_of[player] += own[player] - leads[player]
            skill[player] = _measured(own[player] - leads[player])
            chance = float((won[player] - shares[player]).mean())
            asked = (turn.number, player, given, best)
            decisions.append(Decision(*asked, skill[player], chance))
        change = [float(befores[i + 1][p] - befores[i][p]) for p in range(players)]
        parts.append(
            tuple(
                Part(luck[p], skill[p], change[p] - luck[p].value - skill[p].value)
                for p in range(players)
            )
        )
    leads_by_turn.append(tuple(float(x) for x in end))
    return Review(
        tuple(_measured(each) for each in luck_of),
        tuple(_measured(each) for each in skill_of),
        tuple(leads_by_turn),
        tuple(parts),
        tuple(decisions),
        tuple(int(lead) for lead in final),
        departures,
    )


def _measured(samples: Samples) -> Measured:
    error = float(samples.std() / np.sqrt(samples.size))
    return Measured(float(samples.mean(dtype=np.float64)), error)


def _whole_turns(start: GameState, events: Sequence[Event]) -> tuple[Event, ...]:
    """The events up to the last time that a roll was due."""
    whole, state = 0, start
    for n, event in enumerate(events, 1):
        step = apply(state, event)
        assert not isinstance(step, Refusal), event
        state = step.state
        whole = n if state.phase is Phase.ROLL else whole
    return tuple(events[:whole])


@dataclass(frozen=True, slots=True)
class _Studied:
    """The positions of one turn.

    Attributes:
        before: Before the roll.
        after: After the turn: first with the coach's answers by everybody, then with one player's
            real answers, for each whose answers differ.
        answers: Those players, their answers and the coach's.
    """

    before: Position
    after: tuple[Position, ...]
    answers: tuple[tuple[int, Answer, Answer], ...]


def _study(turn: Turn, policy: Policy) -> _Studied:
    state = turn.before
    players, plan = state.players, state.plan
    order = [(state.active + seat) % players for seat in range(players)]
    white = [turn.action1[p] if turn.action1 else None for p in order]
    coloured = turn.action2[0] if turn.action2 else None
    games = games_from(state, players + 1)
    layout, dice = games.layout, dice_of(turn.roll, players + 1)
    sums = [int(sum_of(layout, dice, option)[0]) for option in layout.options]
    rows = [plan.row_of(plan.bits[token]) if token else -1 for token in white]
    uses: list[int] = []
    if coloured:
        bit = plan.bits[coloured]
        number = plan.box_of(bit).number
        uses = [o for o in layout.options_of[plan.row_of(bit)] if sums[o] == number]
    is_over = turn.action2 is None  # there was no action 2
    branches = Branches(policy, rows, None if is_over else uses)
    play_turn(games, dice, [branches] * players)
    answers, after = [], [0]
    for seat in range(players):
        own = 1 + seat
        if order[seat] in (*turn.left[1], *turn.left[2]):
            continue
        is_same = (games.sheet[:, :, own] == games.sheet[:, :, 0]).all()
        if is_same and (games.misses[:, own] == games.misses[:, 0]).all():
            continue
        after.append(own)
        row = int(branches.coach_white[seat])
        best = Answer(f"{plan.rows[row].key}{turn.roll.white_sum}" if row >= 0 else None)
        given = Answer(white[seat])
        if seat == 0:
            use = branches.coach_coloured
            token = f"{plan.rows[layout.options[use].row].key}{sums[use]}"
            is_due = use >= 0 and not is_over
            best = Answer(best.white, token if is_due else None)
            given = Answer(white[seat], coloured)
        answers.append((order[seat], given, best))
    shift = order[games.active]
    seated = seated_first(games, games.active)
    chosen = [Position(seated.kept(np.arange(players + 1) == k), shift) for k in after]
    before = Position(games_from(state), state.active)
    return _Studied(before, tuple(chosen), tuple(answers))
