"""The judge: immutable state, one event in, a new state and facts or a refusal out.

Rulings are cited as E1, E2, ... in the order the project's rulings list them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from companion.engine.dice import DieColour, Roll
from companion.engine.events import (
    ActionClosed,
    Answered,
    ClosingTakenBack,
    Crossed,
    EndedEarly,
    Event,
    Fact,
    GameEnded,
    MissTaken,
    Rolled,
    RowClosed,
    Withdrawn,
    WouldClose,
)
from companion.engine.judging import Position, refuse_box, refuse_dice
from companion.engine.refusal import Reason, Refusal, refuse
from companion.engine.sheet import Plan, each_bit

PASS = 0
"""An answer that crosses nothing; a cross is kept as the bit of its box."""

MISS = "MISS"
"""The choice that owns up to a miss; accepted only when it is due (E8)."""

MOST_PLAYERS = 5
"""Two to five by the box, one alone also works (E39, E40)."""


class Phase(Enum):
    """What the table does next."""

    ROLL = "roll"
    ACTION1 = "action1"
    ACTION2 = "action2"
    OVER = "over"


class End(Enum):
    """Why a game is over."""

    LOCKS = "locks"
    MISSES = "misses"
    ENDED_EARLY = "ended_early"


@dataclass(frozen=True, slots=True)
class Closing:
    """A closed row: its number, who closed it, and in which action (E13, E14, E15)."""

    row: int
    players: tuple[int, ...]
    action: int


@dataclass(frozen=True, slots=True)
class GameState:
    """Everything a game is between two events.

    Attributes:
        plan: The printed sheet.
        players: How many play; a player is a number from 0, clockwise.
        first: Who began (E44).
        active: Whose turn it is. After the end it stays what it was, as does `turn`.
        roll: The confirmed roll of this turn; None while a roll is due.
        crosses: Each player's sheet as bits of the plan.
        open: Boxes each sheet could still cross by some roll (kept because every step asks).
        misses: Crossed-out miss boxes per player.
        answers: In the open action, None for who has still to answer, PASS, or a box's bit.
        closed: Closed rows in the order of closing.
        marked: What the active player crossed in action 1 of this turn, for E6 and E8.
        end: Why the game is over, or None.
    """

    plan: Plan
    players: int
    first: int
    phase: Phase
    turn: int
    active: int
    roll: Roll | None
    crosses: tuple[int, ...]
    open: tuple[int, ...]
    misses: tuple[int, ...]
    answers: tuple[int | None, ...]
    closed: tuple[Closing, ...] = ()
    marked: int = PASS
    end: End | None = None

    @property
    def action(self) -> int:
        """The open action, 1 or 2; 0 while none is."""
        return {Phase.ACTION1: 1, Phase.ACTION2: 2}.get(self.phase, 0)

    @property
    def dice(self) -> tuple[DieColour, ...]:
        """Colours whose dice are still in play, in the order of the sheet."""
        gone = {closing.row for closing in self.closed}
        return tuple(
            row.lock
            for r, row in enumerate(self.plan.rows)
            if row.lock is not None and r not in gone
        )

    @property
    def waiting_for(self) -> tuple[int, ...]:
        """Who has still to answer in the open action."""
        if self.phase is Phase.ACTION1:
            return tuple(p for p, answer in enumerate(self.answers) if answer is None)
        if self.phase is Phase.ACTION2 and self.answers[self.active] is None:
            return (self.active,)
        return ()

    def legal(self, player: int) -> int:
        """Boxes a player may cross in the open action, as bits; 0 outside one."""
        if self.roll is None:
            return 0
        if self.phase is Phase.ACTION1:
            return self.open[player] & self.plan.white_bits[self.roll.white_sum]
        if self.phase is Phase.ACTION2 and player == self.active:
            return self.colour_boxes(player)
        return 0

    def colour_boxes(self, player: int) -> int:
        """Boxes a white die with a colour die lets a player cross on their sheet as it is."""
        if self.roll is None:
            return 0
        plan, in_play, crosses = self.plan, self.dice, self.crosses[player]
        found = 0
        for colour, value in self.roll.coloured:
            if colour not in in_play:
                continue  # its row closed in action 1 of this turn (E14)
            for white in self.roll.white:
                boxes = plan.colour_bits.get((colour, white + value), 0)
                found |= boxes
                for bit in each_bit(boxes & crosses):
                    found |= plan.bonus_bits.get(bit, 0)  # "another green 10" (E25)
        return found & self.open[player]

    def points(self, player: int) -> dict[str, int]:
        """Points of each colour row by name."""
        return self.plan.points(self.crosses[player])

    def total(self, player: int) -> int:
        """Row points less what the misses cost."""
        return sum(self.points(player).values()) - self.plan.miss_points * self.misses[player]

    @property
    def ranking(self) -> tuple[tuple[int, int], ...]:
        """(rank, player) from the best total down; equal totals share a rank (E22)."""
        totals = [self.total(p) for p in range(self.players)]
        ranks = [(1 + sum(other > own for other in totals), p) for p, own in enumerate(totals)]
        return tuple(sorted(ranks))


@dataclass(frozen=True, slots=True)
class Step:
    """What an accepted event led to."""

    state: GameState
    facts: tuple[Fact, ...] = ()


def new_game(plan: Plan, players: int, first: int = 0) -> GameState:
    """An empty table with a roll due.

    Raises:
        ValueError: Fewer than one or more than five players, or `first` is none of them.
    """
    if not 1 <= players <= MOST_PLAYERS:
        raise ValueError(f"players: expected 1 to {MOST_PLAYERS}, got {players!r}")
    if not 0 <= first < players:
        raise ValueError(f"first: expected a player from 0 to {players - 1}, got {first!r}")
    return GameState(
        plan=plan,
        players=players,
        first=first,
        phase=Phase.ROLL,
        turn=1,
        active=first,
        roll=None,
        crosses=(0,) * players,
        open=(plan.open_boxes(0),) * players,
        misses=(0,) * players,
        answers=(None,) * players,
    )


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
        crosses[player] = plan.crosses_of({key: list(value) for key, value in marks.items()})
    closings = []
    for key in closed:
        lock = plan.lock_bits[plan.index[key]]
        by = tuple(p for p in range(state.players) if crosses[p] & lock)
        closings.append(Closing(plan.index[key], by, 2))
    shut = sum(plan.row_bits[closing.row] for closing in closings)
    given = misses or {}
    return replace(
        state,
        crosses=tuple(crosses),
        open=tuple(plan.open_boxes(own, shut) for own in crosses),
        misses=tuple(given.get(p, 0) for p in range(state.players)),
        closed=tuple(closings),
    )


def apply(state: GameState, event: Event) -> Step | Refusal:
    """Judge one event: the only way a game goes on, and it always checks."""
    match event:
        case Rolled():
            return _roll(state, event)
        case Answered():
            return _answer(state, event)
        case Withdrawn():
            return _withdraw(state, event)
        case ActionClosed():
            return _close_action(state, event)
        case EndedEarly():
            if state.phase is Phase.OVER:
                return refuse(Reason.GAME_OVER, ruling=_over_ruling(state))
            ended = replace(state, phase=Phase.OVER, end=End.ENDED_EARLY)
            return Step(ended, (GameEnded(End.ENDED_EARLY.value),))


def _roll(state: GameState, event: Rolled) -> Step | Refusal:
    refusal = refuse_dice(event.roll, state.dice)
    if refusal is not None:
        return refusal
    if state.phase is not Phase.ROLL:
        return _wrong_phase(state, 0)
    return Step(replace(state, phase=Phase.ACTION1, roll=event.roll))


def _wrong_phase(state: GameState, action: int) -> Refusal:
    if state.phase is Phase.OVER:
        return refuse(Reason.GAME_OVER, ruling=_over_ruling(state))
    late = action == 1 and state.phase in (Phase.ACTION2, Phase.ROLL)
    return refuse(
        Reason.WRONG_PHASE,
        ruling="E9" if late else "E1",
        phase=state.phase.value,
        action=action,
        waiting_for=state.waiting_for,
    )


def _over_ruling(state: GameState) -> str:
    return "E20" if state.end is End.MISSES else "E18"


def _judge_choice(state: GameState, event: Answered) -> int | Refusal:
    """The bit of the box that was chosen, PASS, or why not."""
    if state.action == 0 or event.action != state.action:
        return _wrong_phase(state, event.action)
    player, choice = event.player, event.choice
    known = isinstance(player, int) and not isinstance(player, bool)
    if not known or not 0 <= player < state.players:
        return refuse(Reason.UNKNOWN_PLAYER, player=player, players=state.players)
    if choice == MISS:
        if player != state.active:
            return refuse(Reason.MISS_NOT_ACTIVE, player=player, active=state.active)
        if state.action == 1 or state.marked:
            return refuse(Reason.MISS_NOT_DUE, player=player)
        return PASS
    if state.action == 2 and player != state.active:
        return refuse(Reason.NOT_ACTIVE, player=player, active=state.active)
    if choice is None:
        return PASS
    assert state.roll is not None
    return refuse_box(
        choice,
        Position(
            plan=state.plan,
            action=state.action,
            roll=state.roll,
            dice=state.dice,
            crosses=state.crosses[player],
            marked=state.marked if player == state.active else PASS,
            closed={closing.row: closing.action for closing in state.closed},
        ),
    )


def _answer(state: GameState, event: Answered) -> Step | Refusal:
    judged = _judge_choice(state, event)
    if isinstance(judged, Refusal):
        return judged
    return _with_answer(state, event.player, judged)


def _withdraw(state: GameState, event: Withdrawn) -> Step | Refusal:
    judged = _judge_choice(state, Answered(event.player, event.action, None))
    if isinstance(judged, Refusal):
        return judged
    return _with_answer(state, event.player, None)


def _with_answer(state: GameState, player: int, answer: int | None) -> Step:
    plan = state.plan
    before = state.answers[player] or PASS
    facts: list[Fact] = []
    if before != answer:
        if before & plan.last_boxes:
            facts.append(ClosingTakenBack(player, plan.rows[plan.row_of(before)].key))
        if answer and answer & plan.last_boxes:
            facts.append(WouldClose(player, plan.rows[plan.row_of(answer)].key))
    answers = (*state.answers[:player], answer, *state.answers[player + 1 :])
    return Step(replace(state, answers=answers), tuple(facts))


def _close_action(state: GameState, event: ActionClosed) -> Step | Refusal:
    if state.action == 0 or event.action != state.action:
        return _wrong_phase(state, event.action)
    plan, facts = state.plan, list[Fact]()
    crosses, opened = list(state.crosses), list(state.open)
    closers: dict[int, list[int]] = {}
    for player, answer in enumerate(state.answers):
        if not answer:
            continue
        cross = plan.with_lock(answer)
        crosses[player] |= cross
        facts.append(Crossed(player, plan.tokens[answer], cross != answer))
        if cross != answer:
            closers.setdefault(plan.row_of(answer), []).append(player)
    closed = list(state.closed)
    for r in sorted(closers):
        players = tuple(closers[r])
        closed.append(Closing(r, players, state.action))
        die = plan.rows[r].lock
        assert die is not None
        facts.append(RowClosed(plan.rows[r].key, die, players))
    shut = sum(plan.row_bits[closing.row] for closing in closed)
    for player in range(state.players):
        if closers or state.answers[player]:
            opened[player] = plan.open_boxes(crosses[player], shut)
    over = len(closed) >= plan.rows_to_end
    unanswered: tuple[int | None, ...] = (None,) * state.players
    if state.action == 1:
        done = replace(
            state,
            phase=Phase.OVER if over else Phase.ACTION2,
            crosses=tuple(crosses),
            open=tuple(opened),
            answers=unanswered,
            closed=tuple(closed),
            marked=state.answers[state.active] or PASS,
            end=End.LOCKS if over else None,
        )
        if over:
            facts.append(GameEnded(End.LOCKS.value))
        return Step(done, tuple(facts))
    misses = state.misses
    end = End.LOCKS if over else None
    if not state.marked and not state.answers[state.active]:
        count = misses[state.active] + 1
        misses = (*misses[: state.active], count, *misses[state.active + 1 :])
        facts.append(MissTaken(state.active, count))
        if count >= plan.misses:
            end = End.MISSES
    if end is not None:
        facts.append(GameEnded(end.value))
    done = replace(
        state,
        phase=Phase.OVER if end else Phase.ROLL,
        turn=state.turn if end else state.turn + 1,
        active=state.active if end else (state.active + 1) % state.players,
        roll=state.roll if end else None,
        crosses=tuple(crosses),
        open=tuple(opened),
        misses=misses,
        answers=unanswered,
        closed=tuple(closed),
        marked=PASS,
        end=end,
    )
    return Step(done, tuple(facts))


def fold(state: GameState, events: Iterable[Event]) -> GameState:
    """The state after a log of events.

    Raises:
        ValueError: An event of the log is refused; the text names its number and the reason.
    """
    for number, event in enumerate(events, 1):
        step = apply(state, event)
        if isinstance(step, Refusal):
            raise ValueError(f"event {number}: {event!r} is refused: {step.reason.value}")
        state = step.state
    return state
