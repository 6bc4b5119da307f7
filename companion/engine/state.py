"""The immutable state of a game, and everything derived from it alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from companion.engine.dice import DieColour, Roll
from companion.engine.events import Fact
from companion.engine.sheet import Plan, each_bit

PASS = 0
"""An answer that crosses nothing; a cross is kept as the bit of its box."""

MISS = "MISS"
"""The choice that takes a miss; accepted only when it is due (E8)."""

MOST_PLAYERS = 5
"""Two to five by the box, one alone also works (E39, E40)."""


class Phase(Enum):
    """The next thing to happen at the table."""

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
    """Optional rules, off by default; each replaces rulings."""

    FINISH_TURN = "finish_turn"
    """Instead of E18 and E19: when two rows close in action 1, action 2 is still played."""

    BONUS_NEXT_TURN = "bonus_next_turn"
    """Instead of E26: a box of action 1 opens its bonus box from the next turn on only."""

    @property
    def replaces(self) -> tuple[str, ...]:
        """The rulings that it replaces."""
        return {"finish_turn": ("E18", "E19"), "bonus_next_turn": ("E26",)}[self.value]


@dataclass(frozen=True, slots=True)
class Setup:
    """The rules agreed on before a game begins.

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
    """The state of a game between two events.

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
        legal: Boxes each player may cross in the open action, as bits; 0 for who may not.
        dice: Colours whose dice are still in play, in the order of the sheet.
        closed: Closed rows in the order of closing.
        marked: What the active player crossed in action 1 of this turn, for E6 and E8.
        action1: In action 2, the state in which action 1 closed, so that the roll can be corrected.
        end: Why the game is over, or None.
        gone: Players who left for good: nobody waits for them and they have no turns.
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
    legal: tuple[int, ...]
    dice: tuple[DieColour, ...]
    closed: tuple[Closing, ...] = ()
    marked: int = PASS
    action1: GameState | None = None
    end: End | None = None
    gone: frozenset[int] = frozenset()

    @property
    def plan(self) -> Plan:
        """The printed sheet."""
        return self.setup.plan

    @property
    def players(self) -> int:
        """Number of players."""
        return self.setup.players

    @property
    def first(self) -> int:
        """The player who began."""
        return self.setup.first

    @property
    def action(self) -> int:
        """The open action, 1 or 2; 0 while none is."""
        return ACTION_OF[self.phase]

    @property
    def waiting_for(self) -> tuple[int, ...]:
        """The players who have not answered in the open action."""
        if self.phase is Phase.ACTION1:
            return tuple(
                p for p, answer in enumerate(self.answers) if answer is None and p not in self.gone
            )
        if self.phase is Phase.ACTION2 and self.answers[self.active] is None:
            return (self.active,)
        return ()

    @property
    def end_ruling(self) -> str | None:
        """The ruling that ended the game; None while it goes on, or if people decided it.

        They may have ended it early, or have chosen to finish the turn.
        """
        if self.end in (None, End.ENDED_EARLY):
            return None
        if self.end is End.MISSES or self.closed[self.plan.rows_to_end - 1].action == 2:
            return "E20"
        return None if HouseRule.FINISH_TURN in self.setup.house else "E18"

    @property
    def closings(self) -> tuple[tuple[int, int], ...]:
        """Player and box of the answers of action 1 that would close a row if they stand (E46)."""
        if self.phase is not Phase.ACTION1:
            return ()
        last = self.plan.last_boxes
        return tuple((p, box) for p, box in enumerate(self.answers) if box and box & last)

    @property
    def following(self) -> int:
        """The next active player: clockwise, skipping players who left."""
        player = (self.active + 1) % self.setup.players
        while player in self.gone and player != self.active:
            player = (player + 1) % self.setup.players
        return player

    def colour_boxes(self, player: int) -> int:
        """Boxes a white die with a colour die lets a player cross on their sheet as it is."""
        if self.roll is None:
            return 0
        crosses = self.crosses[player]
        return self.open[player] & colour_offer(
            self.setup, self.roll, self.dice, crosses, self.marked
        )

    def points(self, player: int) -> dict[str, int]:
        """Points of each colour row by name."""
        return self.plan.points(self.crosses[player])

    def total(self, player: int) -> int:
        """Row points minus the cost of the misses."""
        return sum(self.points(player).values()) - self.plan.miss_points * self.misses[player]

    @property
    def ranking(self) -> tuple[tuple[int, int], ...]:
        """(rank, player) from the best total down; equal totals share a rank (E22)."""
        totals = [self.total(p) for p in range(self.players)]
        ranks = [(1 + sum(other > own for other in totals), p) for p, own in enumerate(totals)]
        return tuple(sorted(ranks))


class Step(NamedTuple):
    """The result of an accepted event."""

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
        legal=(0,) * players,
        dice=plan.dice,
    )


def dice_in_play(plan: Plan, closed: Sequence[Closing]) -> tuple[DieColour, ...]:
    """Colours whose dice are left once rows are closed, in the order of the sheet."""
    gone = [plan.rows[closing.row].lock for closing in closed]
    return tuple(colour for colour in plan.dice if colour not in gone)


def white_legal(plan: Plan, roll: Roll, opened: Iterable[int]) -> tuple[int, ...]:
    """Boxes each sheet may cross in action 1, from those that are open on it (E2)."""
    offer = plan.white_bits[roll.white_sum]
    return tuple([own & offer for own in opened])


def without(legal: tuple[int, ...], gone: frozenset[int]) -> tuple[int, ...]:
    """Each player's boxes, with none for players who left."""
    if not gone:
        return legal
    return tuple(0 if player in gone else boxes for player, boxes in enumerate(legal))


def for_one(players: int, player: int, boxes: int) -> tuple[int, ...]:
    """Boxes that one player alone may cross (E4)."""
    legal = [0] * players
    legal[player] = boxes
    return tuple(legal)


def opening(setup: Setup, crosses: int, marked: int) -> int:
    """Crosses that open bonus boxes in action 2: by house rule those of action 1 do not (E26)."""
    return crosses & ~marked if HouseRule.BONUS_NEXT_TURN in setup.house else crosses


def colour_offer(
    setup: Setup, roll: Roll, dice: tuple[DieColour, ...], crosses: int, marked: int
) -> int:
    """Boxes the coloured dice make for a sheet: each colour's own, and "another green 10" (E25).

    Args:
        dice: Colours in play; a die that was rolled may have left meanwhile.
        crosses: The sheet's crosses.
        marked: What was crossed on it in action 1 of this turn.
    """
    plan, found = setup.plan, 0
    low, high = roll.white
    for colour, value in roll.coloured:
        if colour in dice:  # unless its row closed in action 1 of this turn (E14)
            of_colour = plan.colour_bits[colour]
            found |= of_colour[low + value] | of_colour[high + value]
    if plan.bonus_rows:
        for bit in each_bit(found & opening(setup, crosses, marked)):
            found |= plan.bonus_bits.get(bit, 0)
    return found


def shut_bits(plan: Plan, closed: Iterable[Closing]) -> int:
    """Every bit of the closed rows."""
    return sum(plan.row_bits[closing.row] for closing in closed)


ACTION_OF = {Phase.ROLL: 0, Phase.ACTION1: 1, Phase.ACTION2: 2, Phase.OVER: 0}
"""The open action of a phase; 0 where none is."""
