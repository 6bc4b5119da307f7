"""Close an action: crosses count, rows close, dice leave, the game may end."""

from __future__ import annotations

from companion.engine.events import Crossed, Fact, GameEnded, MissTaken, RowClosed
from companion.engine.state import (
    PASS,
    Closing,
    End,
    GameState,
    HouseRule,
    Phase,
    Step,
    colour_offer,
    dice_in_play,
    for_one,
    shut_bits,
)


def close(state: GameState, answers: tuple[int | None, ...]) -> Step:
    """Close the open action: all answers, found legal, count at once (E13); None passes."""
    facts: list[Fact] = []
    counted = _with_crosses(state, answers, facts) if any(answers) else state
    if state.phase is Phase.ACTION2 or state.active in state.gone:  # who left has no action 2
        return _end_turn(counted, answers, facts)
    return _open_action2(counted, state._replace(answers=answers), facts)


def _with_crosses(
    state: GameState, answers: tuple[int | None, ...], facts: list[Fact]
) -> GameState:
    """The state once all answers count: crosses, open boxes, closed rows and the dice left."""
    plan, closed, dice = state.setup.plan, state.closed, state.dice
    crosses, opened = list(state.crosses), list(state.open)
    shut = shut_bits(plan, closed) if closed else 0
    closers: dict[int, list[int]] = {}
    for player, answer in enumerate(answers):
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
        shut = shut_bits(plan, closed)
        opened = [plan.open_boxes(own, shut) for own in crosses]
        dice = dice_in_play(plan, closed)
    return state._replace(crosses=tuple(crosses), open=tuple(opened), closed=closed, dice=dice)


def _open_action2(state: GameState, action1: GameState, facts: list[Fact]) -> Step:
    """Go on to action 2, unless the game is over.

    Args:
        action1: The state in which action 1 closed.
    """
    setup, roll, active = state.setup, state.roll, state.active
    assert roll is not None
    marked = action1.answers[active] or PASS
    over = len(state.closed) >= setup.plan.rows_to_end and HouseRule.FINISH_TURN not in setup.house
    boxes = 0
    if over:
        facts.append(GameEnded(End.LOCKS.value))
    else:
        offer = colour_offer(setup, roll, state.dice, state.crosses[active], marked)
        boxes = state.open[active] & offer
    after = state._replace(
        phase=Phase.OVER if over else Phase.ACTION2,
        answers=(None,) * setup.players,
        legal=for_one(setup.players, active, boxes),
        marked=marked,
        action1=None if over else action1,
        end=End.LOCKS if over else None,
    )
    return Step(after, tuple(facts))


def _end_turn(state: GameState, answers: tuple[int | None, ...], facts: list[Fact]) -> Step:
    """Give the active player the miss that is due, and go on to the next turn or end the game."""
    setup, misses, active = state.setup, state.misses, state.active
    end = End.LOCKS if len(state.closed) >= setup.plan.rows_to_end else None
    if not state.marked and not answers[active] and active not in state.gone:
        count = misses[active] + 1
        misses = (*misses[:active], count, *misses[active + 1 :])
        facts.append(MissTaken(active, count))
        if count >= setup.plan.misses:
            end = End.MISSES
    if end is not None:
        facts.append(GameEnded(end.value))
    after = state._replace(
        phase=Phase.OVER if end else Phase.ROLL,
        turn=state.turn if end else state.turn + 1,
        active=active if end else state.following,
        roll=state.roll if end else None,
        misses=misses,
        answers=(None,) * setup.players,
        legal=(0,) * setup.players,
        marked=PASS,
        action1=None,
        end=end,
    )
    return Step(after, tuple(facts))
