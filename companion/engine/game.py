"""The judge: immutable state, one event in, a new state and facts or a refusal out.

Rulings are cited as E1, E2, ... in the order the project's rulings list them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from companion.engine.dice import DieColour, Roll
from companion.engine.events import (
    ActionClosed,
    Answered,
    AnswerReturned,
    ClosingTakenBack,
    Crossed,
    EndedEarly,
    Event,
    Fact,
    GameEnded,
    MissTaken,
    Played,
    RollCorrected,
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

    __hash__ = object.__hash__  # a member is one object; Enum's own hash is Python code


class End(Enum):
    """Why a game is over."""

    LOCKS = "locks"
    MISSES = "misses"
    ENDED_EARLY = "ended_early"


class HouseRule(Enum):
    """What a table may play otherwise, off unless chosen; each names the ruling it replaces."""

    FINISH_TURN = "finish_turn"
    """Instead of E18 and E19: when two rows close in action 1, action 2 is still played."""

    BONUS_NEXT_TURN = "bonus_next_turn"
    """Instead of E26: a box of action 1 opens its bonus box from the next turn on only."""


@dataclass(frozen=True, slots=True)
class Setup:
    """What a game is agreed on before it begins.

    Attributes:
        plan: The printed sheet.
        players: How many play; a player is a number from 0, clockwise.
        first: Who begins (E44).
        house: The house rules that hold.
    """

    plan: Plan
    players: int
    first: int
    house: frozenset[HouseRule] = frozenset()


class Closing(NamedTuple):
    """A closed row: its number, who closed it, and in which action (E13, E14, E15)."""

    row: int
    players: tuple[int, ...]
    action: int


class GameState(NamedTuple):
    """Everything a game is between two events.

    A named tuple and not a dataclass: a state is made for every answer, and this makes one in a
    third of the time.

    Attributes:
        setup: What was agreed on.
        active: Whose turn it is. After the end it stays what it was, as does `turn`.
        roll: The confirmed roll of this turn; None while a roll is due.
        crosses: Each player's sheet as bits of the plan.
        open: Boxes each sheet could still cross by some roll (kept because every step asks).
        misses: Crossed-out miss boxes per player.
        answers: In the open action, None for who has still to answer, PASS, or a box's bit.
        offer: Boxes the dice make in the open action, for those who may cross in it.
        closed: Closed rows in the order of closing.
        marked: What the active player crossed in action 1 of this turn, for E6 and E8.
        action1: In action 2, the state in which action 1 closed, so that the roll can be corrected.
        end: Why the game is over, or None.
    """

    setup: Setup
    phase: Phase
    turn: int
    active: int
    roll: Roll | None
    crosses: tuple[int, ...]
    open: tuple[int, ...]
    misses: tuple[int, ...]
    answers: tuple[int | None, ...]
    offer: int = 0
    closed: tuple[Closing, ...] = ()
    marked: int = PASS
    action1: GameState | None = None
    end: End | None = None

    @property
    def plan(self) -> Plan:
        """The printed sheet."""
        return self.setup.plan

    @property
    def players(self) -> int:
        """How many play."""
        return self.setup.players

    @property
    def first(self) -> int:
        """Who began."""
        return self.setup.first

    @property
    def action(self) -> int:
        """The open action, 1 or 2; 0 while none is."""
        return _ACTION[self.phase]

    @property
    def dice(self) -> tuple[DieColour, ...]:
        """Colours whose dice are still in play, in the order of the sheet."""
        if not self.closed:
            return self.plan.dice
        gone = {self.plan.rows[closing.row].lock for closing in self.closed}
        return tuple(colour for colour in self.plan.dice if colour not in gone)

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
        if player == self.active or self.phase is Phase.ACTION1:
            return self.open[player] & self.offer
        return 0

    def colour_boxes(self, player: int) -> int:
        """Boxes a white die with a colour die lets a player cross on their sheet as it is."""
        if self.roll is None:
            return 0
        return self.open[player] & _colour_offer(self, self.crosses[player])

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


class Step(NamedTuple):
    """What an accepted event led to."""

    state: GameState
    facts: tuple[Fact, ...] = ()


def new_game(
    plan: Plan, players: int, first: int = 0, *, house: Iterable[HouseRule] = ()
) -> GameState:
    """An empty table with a roll due.

    Raises:
        ValueError: Fewer than one or more than five players, or `first` is none of them.
    """
    if not 1 <= players <= MOST_PLAYERS:
        raise ValueError(f"players: expected 1 to {MOST_PLAYERS}, got {players!r}")
    if not 0 <= first < players:
        raise ValueError(f"first: expected a player from 0 to {players - 1}, got {first!r}")
    return GameState(
        setup=Setup(plan, players, first, frozenset(house)),
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
        crosses[player] = plan.crosses_of(marks)
    closings = []
    for key in closed:
        lock = plan.lock_bits[plan.index[key]]
        by = tuple(p for p in range(state.players) if crosses[p] & lock)
        closings.append(Closing(plan.index[key], by, 2))
    shut = _shut(plan, closings)
    given = misses or {}
    return state._replace(
        crosses=tuple(crosses),
        open=tuple(plan.open_boxes(own, shut) for own in crosses),
        misses=tuple(given.get(p, 0) for p in range(state.players)),
        closed=tuple(closings),
    )


def apply(state: GameState, event: Event) -> Step | Refusal:
    """Judge one event: the only way a game goes on, and it always checks."""
    return _JUDGES[type(event)](state, event)


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


# -- the roll -------------------------------------------------------------------------------


def _roll(state: GameState, event: Rolled) -> Step | Refusal:
    refusal = refuse_dice(event.roll, state.dice)
    if refusal is not None:
        return refusal
    if state.phase is not Phase.ROLL:
        return _wrong_phase(state, 0)
    offer = state.plan.white_bits[event.roll.white_sum]
    return Step(state._replace(phase=Phase.ACTION1, roll=event.roll, offer=offer))


def _correct_roll(state: GameState, event: RollCorrected) -> Step | Refusal:
    """Put the right dice in place of misread ones while marks are open.

    Answers that the new dice do not allow go back to their owners. When action 1 was closed on
    another white sum it opens again, so that nobody keeps a cross the dice never gave.
    """
    if state.action == 0:
        return _wrong_phase(state, 0)
    before = state.action1 or state
    refusal = refuse_dice(event.roll, before.dice)
    if refusal is not None:
        return refusal
    old = state.roll
    if state.action1 is not None and old is not None and old.white_sum == event.roll.white_sum:
        corrected = state._replace(roll=event.roll, action1=state.action1._replace(roll=event.roll))
        corrected = corrected._replace(
            offer=_colour_offer(corrected, corrected.crosses[corrected.active])
        )
    else:
        corrected = before._replace(
            roll=event.roll, offer=before.plan.white_bits[event.roll.white_sum]
        )
    facts: list[Fact] = []
    answers = list(corrected.answers)
    for player, answer in enumerate(answers):
        if answer and not answer & corrected.legal(player):
            answers[player] = None
            facts.append(AnswerReturned(player, corrected.plan.tokens[answer]))
    return Step(corrected._replace(answers=tuple(answers)), tuple(facts))


def _colour_offer(state: GameState, crosses: int) -> int:
    """Boxes the coloured dice make for a sheet: each colour's own, and "another green 10" (E25)."""
    plan, roll, found = state.plan, state.roll, 0
    assert roll is not None
    low, high = roll.white
    dice = state.dice if state.closed else None
    opening = crosses
    if HouseRule.BONUS_NEXT_TURN in state.setup.house:
        opening &= ~state.marked
    for colour, value in roll.coloured:
        if dice is not None and colour not in dice:
            continue  # its row closed in action 1 of this turn (E14)
        of_colour = plan.colour_bits[colour]
        boxes = of_colour.get(low + value, 0) | of_colour.get(high + value, 0)
        found |= boxes
        for bit in each_bit(boxes & opening):
            found |= plan.bonus_bits.get(bit, 0)
    return found


# -- answers --------------------------------------------------------------------------------


def _judge_choice(state: GameState, action: int, player: int, choice: object) -> int | Refusal:
    """The bit of the box that was chosen, PASS, or why not."""
    if action != _ACTION[state.phase] or action == 0:
        return _wrong_phase(state, action)
    known = isinstance(player, int) and not isinstance(player, bool)
    if not known or not 0 <= player < state.setup.players:
        return refuse(Reason.UNKNOWN_PLAYER, player=player, players=state.players)
    if choice == MISS:
        if player != state.active:
            return refuse(Reason.MISS_NOT_ACTIVE, player=player, active=state.active)
        if action == 1 or state.marked:
            return refuse(Reason.MISS_NOT_DUE, player=player)
        return PASS
    if action == 2 and player != state.active:
        return refuse(Reason.NOT_ACTIVE, player=player, active=state.active)
    if choice is None:
        return PASS
    if isinstance(choice, str):
        bit = state.setup.plan.bits.get(choice, 0)
        if bit & state.legal(player):
            return bit
    return _why_not(state, player, choice)


def _why_not(state: GameState, player: int, choice: object) -> Refusal:
    """The most fundamental reason a box that is not legal is refused for."""
    assert state.roll is not None
    marked = state.marked if player == state.active else PASS
    late_bonus = HouseRule.BONUS_NEXT_TURN in state.setup.house
    refusal = refuse_box(
        choice,
        Position(
            plan=state.plan,
            action=state.action,
            roll=state.roll,
            dice=state.dice,
            crosses=state.crosses[player],
            opening=state.crosses[player] & ~marked if late_bonus else state.crosses[player],
            marked=marked,
            closed={closing.row: closing.action for closing in state.closed},
        ),
    )
    assert refusal is not None, f"{choice!r} is not legal, and no reason was found"
    return refusal


def _answer(state: GameState, event: Answered) -> Step | Refusal:
    judged = _judge_choice(state, event.action, event.player, event.choice)
    if isinstance(judged, Refusal):
        return judged
    return _with_answer(state, event.player, judged)


def _withdraw(state: GameState, event: Withdrawn) -> Step | Refusal:
    judged = _judge_choice(state, event.action, event.player, None)
    if isinstance(judged, Refusal):
        return judged
    return _with_answer(state, event.player, None)


def _with_answer(state: GameState, player: int, answer: int | None) -> Step:
    before = state.answers[player]
    facts: tuple[Fact, ...] = ()
    if before != answer and ((before or 0) | (answer or 0)) & state.setup.plan.last_boxes:
        facts = _closing_facts(state.plan, player, before or PASS, answer or PASS)
    answers = (*state.answers[:player], answer, *state.answers[player + 1 :])
    return Step(state._replace(answers=answers), facts)


def _closing_facts(plan: Plan, player: int, before: int, answer: int) -> tuple[Fact, ...]:
    facts: list[Fact] = []
    if before & plan.last_boxes:
        facts.append(ClosingTakenBack(player, plan.rows[plan.row_of(before)].key))
    if answer & plan.last_boxes:
        facts.append(WouldClose(player, plan.rows[plan.row_of(answer)].key))
    return tuple(facts)


# -- closing an action ----------------------------------------------------------------------


def _close_action(state: GameState, event: ActionClosed) -> Step | Refusal:
    if event.action != _ACTION[state.phase] or event.action == 0:
        return _wrong_phase(state, event.action)
    return _close(state)


def _play_action(state: GameState, event: Played) -> Step | Refusal:
    if event.action != _ACTION[state.phase] or event.action == 0:
        return _wrong_phase(state, event.action)
    if len(event.choices) != state.setup.players:
        given = len(event.choices)
        return refuse(Reason.UNKNOWN_PLAYER, player=given, players=state.players)
    answers: list[int | None] = []
    for player, choice in enumerate(event.choices):
        judged = PASS if choice is None else _judge_choice(state, event.action, player, choice)
        if isinstance(judged, Refusal):
            return judged
        answers.append(judged)
    return _close(state._replace(answers=tuple(answers)))


def _close(state: GameState) -> Step:
    """Close the open action: everybody's crosses count at once, judged before it (E13)."""
    facts: list[Fact] = []
    crosses, opened, closed = state.crosses, state.open, state.closed
    if any(state.answers):
        crosses, opened, closed = _count_crosses(state, facts)
    if state.phase is Phase.ACTION1:
        return _after_action1(state, crosses, opened, closed, facts)
    return _after_action2(state, crosses, opened, closed, facts)


def _count_crosses(
    state: GameState, facts: list[Fact]
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[Closing, ...]]:
    """Crosses, open boxes and closed rows once all answers count."""
    plan, closed = state.setup.plan, state.closed
    crosses, opened = list(state.crosses), list(state.open)
    shut = _shut(plan, closed) if closed else 0
    closers: dict[int, list[int]] = {}
    for player, answer in enumerate(state.answers):
        if not answer:
            continue
        is_last = answer & plan.last_boxes
        if is_last:
            closers.setdefault(plan.row_of(answer), []).append(player)
        crosses[player] |= plan.with_lock(answer) if is_last else answer
        opened[player] = plan.open_boxes(crosses[player], shut)
        facts.append(Crossed(player, plan.tokens[answer], bool(is_last)))
    for r in sorted(closers):
        players, die = tuple(closers[r]), plan.rows[r].lock
        assert die is not None
        closed = (*closed, Closing(r, players, state.action))
        facts.append(RowClosed(plan.rows[r].key, die, players))
    if closers:
        shut = _shut(plan, closed)
        opened = [plan.open_boxes(own, shut) for own in crosses]
    return tuple(crosses), tuple(opened), closed


def _after_action1(
    state: GameState,
    crosses: tuple[int, ...],
    opened: tuple[int, ...],
    closed: tuple[Closing, ...],
    facts: list[Fact],
) -> Step:
    setup = state.setup
    over = len(closed) >= setup.plan.rows_to_end and HouseRule.FINISH_TURN not in setup.house
    if over:
        facts.append(GameEnded(End.LOCKS.value))
    after = GameState(
        setup=setup,
        phase=Phase.OVER if over else Phase.ACTION2,
        turn=state.turn,
        active=state.active,
        roll=state.roll,
        crosses=crosses,
        open=opened,
        misses=state.misses,
        answers=(None,) * setup.players,
        closed=closed,
        marked=state.answers[state.active] or PASS,
        action1=None if over else state,
        end=End.LOCKS if over else None,
    )
    if over:
        return Step(after, tuple(facts))
    return Step(after._replace(offer=_colour_offer(after, crosses[after.active])), tuple(facts))


def _after_action2(
    state: GameState,
    crosses: tuple[int, ...],
    opened: tuple[int, ...],
    closed: tuple[Closing, ...],
    facts: list[Fact],
) -> Step:
    setup, misses, active = state.setup, state.misses, state.active
    end = End.LOCKS if len(closed) >= setup.plan.rows_to_end else None
    if not state.marked and not state.answers[active]:
        count = misses[active] + 1
        misses = (*misses[:active], count, *misses[active + 1 :])
        facts.append(MissTaken(active, count))
        if count >= setup.plan.misses:
            end = End.MISSES
    if end is not None:
        facts.append(GameEnded(end.value))
    after = GameState(
        setup=setup,
        phase=Phase.OVER if end else Phase.ROLL,
        turn=state.turn if end else state.turn + 1,
        active=active if end else (active + 1) % setup.players,
        roll=state.roll if end else None,
        crosses=crosses,
        open=opened,
        misses=misses,
        answers=(None,) * setup.players,
        closed=closed,
        end=end,
    )
    return Step(after, tuple(facts))


def _shut(plan: Plan, closed: Iterable[Closing]) -> int:
    return sum(plan.row_bits[closing.row] for closing in closed)


def _end_early(state: GameState, event: EndedEarly) -> Step | Refusal:
    if state.phase is Phase.OVER:
        return _wrong_phase(state, 0)
    ended = state._replace(phase=Phase.OVER, end=End.ENDED_EARLY, offer=0)
    return Step(ended, (GameEnded(End.ENDED_EARLY.value),))


def _wrong_phase(state: GameState, action: int) -> Refusal:
    if state.phase is Phase.OVER:
        ruling = "E20" if state.end is End.MISSES else "E18"
        return refuse(Reason.GAME_OVER, ruling=ruling)
    late = action == 1 and state.phase in (Phase.ACTION2, Phase.ROLL)
    return refuse(
        Reason.WRONG_PHASE,
        ruling="E9" if late else "E1",
        phase=state.phase.value,
        action=action,
        waiting_for=state.waiting_for,
    )


_ACTION = {Phase.ROLL: 0, Phase.ACTION1: 1, Phase.ACTION2: 2, Phase.OVER: 0}

_JUDGES: dict[type, Callable[[GameState, Any], Step | Refusal]] = {
    Rolled: _roll,
    RollCorrected: _correct_roll,
    Answered: _answer,
    Withdrawn: _withdraw,
    ActionClosed: _close_action,
    Played: _play_action,
    EndedEarly: _end_early,
}
