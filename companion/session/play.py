"""Decide the steps of a game: start, answer, close, undo (pure)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from companion.engine import (
    PLANS,
    ActionClosed,
    Answered,
    Event,
    GameState,
    HouseRule,
    Phase,
    Withdrawn,
)
from companion.engine.dice import ALL_DICE, DieColour
from companion.eventlog.record import Change, Record
from companion.eventlog.reducer import next_to_begin
from companion.eventlog.state import Game, Table
from companion.eventlog.trail import Trail
from companion.messages.announcements import (
    announce_closings,
    announce_passed,
    announce_turn,
    announce_undone,
)
from companion.session.decision import Decision, Rejected, decide_move, nothing, rejected

KEYS_KEPT = 512
"""Idempotency keys remembered: a phone retries one step at a time, and five phones play."""

Draw = Callable[[int], int]
"""draw(n) draws a number below n by lot."""


def in_play(table: Table) -> tuple[DieColour, ...]:
    """The dice of the next roll, white ones first."""
    game = table.running
    if game is None:
        return ALL_DICE
    return (DieColour.WHITE, DieColour.WHITE, *game.state.dice)


def _begin(
    decision: Decision,
    variant: str,
    seats: Sequence[int],
    first: int,
    house: Iterable[str],
    number: int,
    *,
    practice: bool,
) -> Decision:
    """Add the start of a game.

    Args:
        seats: In playing order.
        first: Index of the seat that begins.
        practice: The coach suggests answers.
    """
    table = decision.table
    names = [table.name(seat) for seat in seats]
    data = {
        "number": number,
        "variant": variant,
        "seats": list(seats),
        "names": names,
        "first": first,
        "house": sorted(set(house)),
    }
    bots = [seat.bot if (seat := table.seat(number)) else "" for number in seats]
    if any(bots):
        data["bots"] = bots
    if practice:
        data["practice"] = True
    return decision.then(Change("started", data), announcement=announce_turn(names[first]))


def begin_again(decision: Decision) -> Decision:
    """Start a game without a roll again if somebody has come: everybody who has a seat plays."""
    table, game = decision.table, decision.table.game
    if game is None or game.rolled or game.state.phase is not Phase.ROLL:
        return decision
    seats = [seat.number for seat in table.seats]
    gone = [game.seats[player] for player in game.state.gone]
    first = game.seats[game.state.active]
    if first not in seats or not set(seats) > set(game.seats).difference(gone):
        return decision
    house = [rule.value for rule in game.state.setup.house]
    name, place = game.state.plan.name, seats.index(first)
    return _begin(decision, name, seats, place, house, game.number, practice=game.practice)


def decide_start(
    table: Table,
    variant: str,
    first: int | None,
    house: Sequence[str],
    draw: Draw,
    practice: bool = False,
) -> Decision | Rejected:
    """Start a game with everybody seated; the first player is drawn unless named (E44)."""
    seats = _seats_to_start(table)
    if isinstance(seats, Rejected):
        return seats
    if variant not in PLANS:
        return rejected("BAD_VARIANT", variant=variant)
    if unknown := set(house) - {rule.value for rule in HouseRule}:
        return rejected("BAD_HOUSE_RULE", rule=", ".join(sorted(unknown)))
    if first is not None and first not in seats:
        return rejected("NO_SUCH_SEAT")
    place = draw(len(seats)) if first is None else seats.index(first)
    number = table.games + 1
    return _begin(nothing(table), variant, seats, place, house, number, practice=practice)


def decide_rematch(table: Table, draw: Draw) -> Decision | Rejected:
    """Start the next game of the same kind; the next seat begins (E44)."""
    game = table.game
    if game is None:
        return decide_start(table, "base", None, (), draw)
    seats = _seats_to_start(table)
    if isinstance(seats, Rejected):
        return seats
    house = [rule.value for rule in game.state.setup.house]
    place, number = next_to_begin(game, seats), table.games + 1
    variant, practice = game.state.plan.name, game.practice
    return _begin(nothing(table), variant, seats, place, house, number, practice=practice)


def _seats_to_start(table: Table) -> list[int] | Rejected:
    if table.running is not None:
        return rejected("GAME_RUNNING")
    if all(seat.bot for seat in table.seats):
        return rejected("NO_PLAYERS")
    return [seat.number for seat in table.seats]


@dataclass(frozen=True, slots=True)
class Given:
    """The context of an answer.

    Attributes:
        turn: The turn it is meant for.
        dice_since: The `Game.dice_since` it is meant for, if known.
        key: Idempotency key: a retry carries the same one and counts once. One that ends in
            `.sender.number` counts only before those of its sender with a higher number.
    """

    seat: int
    turn: int
    dice_since: int | None = None
    key: str = ""


def decide_answer(
    table: Table,
    given: Given,
    keys: Collection[str],
    action: int,
    box: str | None,
    *,
    done: bool,
    revocable: bool = False,
    is_by_host: bool = False,
) -> Decision | Rejected:
    """A seat's answer in the open action.

    Args:
        keys: Idempotency keys of earlier steps.
        done: The player has nothing more to change.
        revocable: If it is the last one, it may still be taken back for a moment.
        is_by_host: The host answers for a player who cannot.
    """
    game = table.game
    if is_by_host and game is not None:
        if given.seat not in game.seats:  # the player has left
            return rejected("GONE_ON")
        player = game.seats.index(given.seat)
        is_now = (given.turn, action) == (game.state.turn, game.state.action)
        if is_now and game.state.answers[player] is not None:  # the player has answered after all
            return rejected("HAS_ANSWERED", name=game.names[player])
    details: dict[str, object] = {"done": True} if done else {}
    if revocable:
        details["revocable"] = True
    if is_by_host:
        details["by"] = "host"
    return _decide_of_seat(table, given, keys, action, lambda n: Answered(n, action, box), details)


def decide_withdraw(
    table: Table, given: Given, keys: Collection[str], action: int
) -> Decision | Rejected:
    """Withdraw a seat's answer."""
    return _decide_of_seat(table, given, keys, action, lambda n: Withdrawn(n, action), {})


def _decide_of_seat(
    table: Table,
    given: Given,
    keys: Collection[str],
    action: int,
    event_of: Callable[[int], Event],
    details: dict[str, object],
) -> Decision | Rejected:
    game = table.game
    if game is None:
        return rejected("NO_GAME", key="press.no_game")
    if given.key and given.key in keys:
        return nothing(table)
    if is_overtaken(given.key, keys):
        return rejected("GONE_ON")
    state = game.state
    if given.turn < state.turn:
        return rejected("WRONG_PHASE", key="refused.WRONG_PHASE.turn", ruling="E9")
    if given.seat not in game.seats:
        return rejected("NOT_IN_GAME")
    player = game.seats.index(given.seat)
    is_meant = given.turn == state.turn and given.dice_since in (None, game.dice_since)
    if not is_meant and _may_answer(state, player, action):
        return rejected("WRONG_PHASE", key="refused.WRONG_PHASE.dice")
    if given.key:
        details = details | {"key": given.key}
    return decide_move(table, event_of(player), **details)  # refused unless it is meant


def _may_answer(state: GameState, player: int, action: int) -> bool:
    """Whether this action is open for a player."""
    return action == state.action != 0 and (action == 1 or player == state.active)


def is_overtaken(key: str, keys: Iterable[str]) -> bool:
    """Whether a later answer of the same sender was taken before this request.

    A request given up in an outage still arrives, perhaps after the one that replaced it.
    """
    sender, number = _order_of(key)
    orders = (_order_of(each) for each in keys) if sender else ()
    return any(other == sender and later > number for other, later in orders)


def _order_of(key: str) -> tuple[str, int]:
    """The sender of a numbered key, and its number; ("", 0) without one."""
    _, sender, number = ("", "", *key.split("."))[-3:]
    return (sender, int(number)) if sender and number.isdecimal() else ("", 0)


def keys_after(keys: tuple[str, ...], records: Iterable[Record]) -> tuple[str, ...]:
    """The idempotency keys to remember, the newest last."""
    found = (str(each.data["key"]) for each in records if "key" in each.data)
    return (*keys, *found)[-KEYS_KEPT:]


def decide_close(table: Table) -> Decision | Rejected:
    """Close the open action at the table's wish: players who have not answered pass (E9).

    It announces who had to pass in action 1; action 2 ends with the miss or the next turn.
    """
    game = table.game
    if game is None or game.state.action == 0:
        return rejected("NO_ACTION")
    passed = [game.names[player] for player in game.state.waiting_for]
    decision = decide_move(table, ActionClosed(game.state.action), by="table")
    if isinstance(decision, Rejected) or not passed or game.state.action != 1:
        return decision
    is_over = decision.table.running is None
    return decision if is_over else replace(decision, notice=announce_passed(passed))


def decide_undo(trail: Trail) -> Decision | Rejected:
    """Undo the last settled step: an ending, a closed action with its last answer, or a roll.

    The undone records stay in the log.
    """
    table, kept = trail.table, trail.undone_to
    game = table.game
    if kept is None or game is None:
        return rejected("NOTHING_TO_UNDO")
    if without_seat(table, game):
        return rejected("SEAT_EMPTY")
    undone = Change("undone", {"revision": kept})
    after = trail.back_to(kept).at(table.revision + 1).table
    now = after.game
    is_same = now is not None and now.number == game.number
    before = game.state if is_same else None
    announcements = [announce_undone(before, now.state if now else None)]
    closings = announce_closings(now.state, now.names) if now and now.state.closings else None
    if closings is not None:
        announcements.append(closings)
    return begin_again(Decision((undone,), after, tuple(announcements)))


def without_seat(table: Table, game: Game) -> list[int]:
    """The players of a game who have no seat any more."""
    seats = enumerate(game.seats)
    return [n for n, seat in seats if n not in game.state.gone and table.seat(seat) is None]
