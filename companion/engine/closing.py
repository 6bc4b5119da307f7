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
    crosses, opened, closed = state.crosses, state.open, state.closed
    if any(answers):
        crosses, opened, closed = _count_crosses(state, answers, facts)
    if state.phase is Phase.ACTION1:
        return _after_action1(state, answers, crosses, opened, closed, facts)
    return _end_turn(state, answers, crosses, opened, closed, facts)


def _count_crosses(
    state: GameState, answers: tuple[int | None, ...], facts: list[Fact]
) -> tuple[tuple[int, ...], tuple[int, ...], tuple[Closing, ...]]:
    """Crosses, open boxes and closed rows once all answers count."""
    plan, closed = state.setup.plan, state.closed
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
    return tuple(crosses), tuple(opened), closed


def _after_action1(
    state: GameState,
    answers: tuple[int | None, ...],
    crosses: tuple[int, ...],
    opened: tuple[int, ...],
    closed: tuple[Closing, ...],
    facts: list[Fact],
) -> Step:
    setup, roll, active = state.setup, state.roll, state.active
    assert roll is not None
    if active in state.gone:  # there is nobody to have an action 2, and nobody to miss
        return _end_turn(state, answers, crosses, opened, closed, facts)
    marked = answers[active] or PASS
    dice = state.dice if closed is state.closed else dice_in_play(setup.plan, closed)
    over = len(closed) >= setup.plan.rows_to_end and HouseRule.FINISH_TURN not in setup.house
    boxes = 0
    if over:
        facts.append(GameEnded(End.LOCKS.value))
    else:
        boxes = opened[active] & colour_offer(setup, roll, dice, crosses[active], marked)
    after = GameState(
        setup=setup,
        phase=Phase.OVER if over else Phase.ACTION2,
        turn=state.turn,
        active=active,
        roll=roll,
        crosses=crosses,
        open=opened,
        misses=state.misses,
        answers=(None,) * setup.players,
        legal=for_one(setup.players, active, boxes),
        dice=dice,
        closed=closed,
        marked=marked,
        action1=None if over else state._replace(answers=answers),
        end=End.LOCKS if over else None,
        gone=state.gone,
    )
    return Step(after, tuple(facts))


def _end_turn(
    state: GameState,
    answers: tuple[int | None, ...],
    crosses: tuple[int, ...],
    opened: tuple[int, ...],
    closed: tuple[Closing, ...],
    facts: list[Fact],
) -> Step:
    setup, misses, active = state.setup, state.misses, state.active
    dice = state.dice if closed is state.closed else dice_in_play(setup.plan, closed)
    end = End.LOCKS if len(closed) >= setup.plan.rows_to_end else None
    if not state.marked and not answers[active] and active not in state.gone:
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
        active=active if end else state.following,
        roll=state.roll if end else None,
        crosses=crosses,
        open=opened,
        misses=misses,
        answers=(None,) * setup.players,
        legal=(0,) * setup.players,
        dice=dice,
        closed=closed,
        end=end,
        gone=state.gone,
    )
    return Step(after, tuple(facts))
