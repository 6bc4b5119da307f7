"""The rules as a function: a state and an event give a new state and facts, or a refusal.

Rulings are cited as E1, E2, ...; docs/rules.md lists them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from companion.engine.closing import close
from companion.engine.events import (
    ActionClosed,
    Answered,
    AnswerReturned,
    ClosingTakenBack,
    EndedEarly,
    Event,
    Fact,
    GameEnded,
    Played,
    PlayerLeft,
    RollCorrected,
    Rolled,
    SeatClosed,
    Withdrawn,
    WouldClose,
)
from companion.engine.judging import Position, refuse_box, refuse_dice
from companion.engine.refusal import ORDER, Reason, Refusal, refuse
from companion.engine.sheet import Plan
from companion.engine.state import (
    ACTION_OF,
    MISS,
    PASS,
    End,
    GameState,
    Phase,
    Step,
    for_one,
    opening,
    white_legal,
    without,
)


def apply(state: GameState, event: Event) -> Step | Refusal:
    """Apply one event. This is the only way to continue a game, and it always checks."""
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
    legal = without(white_legal(state.setup.plan, event.roll, state.open), state.gone)
    return Step(state._replace(phase=Phase.ACTION1, roll=event.roll, legal=legal))


def _correct_roll(state: GameState, event: RollCorrected) -> Step | Refusal:
    """Replace misread dice while an action is open.

    Answers that the new dice do not allow go back to their owners. When action 1 was closed on
    another white sum it opens again, so that nobody keeps a cross the dice never gave.
    """
    if state.action == 0:
        return _wrong_phase(state, 0)
    before = (state.action1 or state)._replace(gone=state.gone)
    refusal = refuse_dice(event.roll, before.dice)
    if refusal is not None:
        return refusal
    old = state.roll
    if state.action1 is not None and old is not None and old.white_sum == event.roll.white_sum:
        corrected = state._replace(roll=event.roll, action1=state.action1._replace(roll=event.roll))
        boxes = corrected.colour_boxes(state.active)
        corrected = corrected._replace(legal=for_one(state.players, state.active, boxes))
    else:
        legal = without(white_legal(before.plan, event.roll, before.open), before.gone)
        corrected = before._replace(roll=event.roll, legal=legal)
    facts: list[Fact] = []
    answers = list(corrected.answers)
    is_other_sum = old is not None and old.white_sum != event.roll.white_sum
    for player, answer in enumerate(answers):
        if answer == PASS and (is_other_sum or corrected.legal[player] != state.legal[player]):
            answers[player] = None  # whoever passed on one sum may want the other
        if answer and not answer & corrected.legal[player]:
            answers[player] = None
            if player not in corrected.gone:
                facts.append(AnswerReturned(player, corrected.plan.tokens[answer]))
    return Step(corrected._replace(answers=tuple(answers)), tuple(facts))


# -- answers --------------------------------------------------------------------------------


def _judge_choice(state: GameState, action: int, player: int, choice: object) -> int | Refusal:
    """The bit of the box that was chosen, PASS, or why not."""
    if action != ACTION_OF[state.phase] or action == 0:
        return _wrong_phase(state, action)
    known = isinstance(player, int) and not isinstance(player, bool)
    if not known or not 0 <= player < state.setup.players or player in state.gone:
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
    return _legal_bit(state, player, choice) or _why_not(state, player, choice)


def _legal_bit(state: GameState, player: int, choice: object) -> int:
    """The bit of the box that was chosen, or 0 when the player may not cross it now."""
    bit = state.setup.plan.bits.get(choice, 0) if isinstance(choice, str) else 0
    return bit & state.legal[player]


def _why_not(state: GameState, player: int, choice: object) -> Refusal:
    """The most fundamental reason a box that is not legal is refused for."""
    assert state.roll is not None
    marked = state.marked if player == state.active else PASS
    refusal = refuse_box(
        choice,
        Position(
            plan=state.plan,
            action=state.action,
            roll=state.roll,
            dice=state.dice,
            crosses=state.crosses[player],
            opening=opening(state.setup, state.crosses[player], marked),
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
    is_closing = bool(((before or 0) | (answer or 0)) & state.setup.plan.last_boxes)
    if is_closing and before != answer and state.phase is Phase.ACTION1:  # nobody joins later (E15)
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
    if event.action != ACTION_OF[state.phase] or event.action == 0:
        return _wrong_phase(state, event.action)
    return close(state, state.answers)


def _play_action(state: GameState, event: Played) -> Step | Refusal:
    if event.action != ACTION_OF[state.phase] or event.action == 0:
        return _wrong_phase(state, event.action)
    if len(event.choices) != state.setup.players:
        given = len(event.choices)
        return refuse(Reason.UNKNOWN_PLAYER, player=given, players=state.players)
    answers: list[int] = []
    refusals: list[Refusal] = []
    for player, choice in enumerate(event.choices):
        if choice is None:
            answers.append(PASS)
            continue
        answer = _legal_bit(state, player, choice) or _judge_choice(
            state, event.action, player, choice
        )
        if isinstance(answer, Refusal):
            refusals.append(answer)
        else:
            answers.append(answer)
    if refusals:
        return min(refusals, key=lambda refusal: ORDER[refusal.reason])
    return close(state, tuple(answers))


def _end_early(state: GameState, event: EndedEarly) -> Step | Refusal:
    if state.phase is Phase.OVER:
        return _wrong_phase(state, 0)
    ended = state._replace(phase=Phase.OVER, end=End.ENDED_EARLY, legal=(0,) * state.players)
    return Step(ended, (GameEnded(End.ENDED_EARLY.value),))


def _close_seat(state: GameState, event: SeatClosed) -> Step | Refusal:
    """Remove a player: their open answer is dropped, and so is their turn."""
    if state.phase is Phase.OVER:
        return _wrong_phase(state, 0)
    player = event.player
    known = isinstance(player, int) and not isinstance(player, bool)
    if not known or not 0 <= player < state.players or player in state.gone:
        return refuse(Reason.UNKNOWN_PLAYER, player=player, players=state.players)
    taken_back = _with_answer(state, player, None) if state.action else Step(state)
    facts = (*taken_back.facts, PlayerLeft(player))
    gone = state.gone | {player}
    left = taken_back.state._replace(gone=gone, legal=without(state.legal, gone))
    if len(gone) == state.players:
        ended = _end_early(left, EndedEarly())
        assert isinstance(ended, Step)
        return Step(ended.state, (*facts, *ended.facts))
    if state.active == player and state.phase is Phase.ROLL:
        left = left._replace(active=left.following, turn=left.turn + 1)
    elif state.active == player and state.phase is Phase.ACTION2:
        closed = close(left, left.answers)
        return Step(closed.state, (*facts, *closed.facts))
    return Step(left, facts)


def _wrong_phase(state: GameState, action: int) -> Refusal:
    if state.phase is Phase.OVER:
        return refuse(Reason.GAME_OVER, ruling=state.end_ruling)
    late = action == 1 and state.phase in (Phase.ACTION2, Phase.ROLL)
    return refuse(
        Reason.WRONG_PHASE,
        ruling="E9" if late else "E1",
        phase=state.phase.value,
        action=action,
        waiting_for=state.waiting_for,
    )


_JUDGES: dict[type, Callable[[GameState, Any], Step | Refusal]] = {
    Rolled: _roll,
    RollCorrected: _correct_roll,
    Answered: _answer,
    Withdrawn: _withdraw,
    ActionClosed: _close_action,
    Played: _play_action,
    EndedEarly: _end_early,
    SeatClosed: _close_seat,
}
