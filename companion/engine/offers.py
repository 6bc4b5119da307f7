"""The boxes that a roll offers, grouped by row: "red 7 or 8, green 5"."""

from __future__ import annotations

from dataclasses import dataclass

from companion.engine.dice import DieColour
from companion.engine.sheet import Plan, each_bit
from companion.engine.state import GameState, opening


@dataclass(frozen=True, slots=True)
class Group:
    """Boxes of one row by its name on the plan, their numbers ascending."""

    row: str
    numbers: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Offer:
    """The offer of a roll, as it is announced.

    Attributes:
        white: The sum of the white dice.
        coloured: The one or two sums of each colour still in play (E2, E36).
        by_colour: The boxes a white die with a coloured one opens for the active player.
    """

    white: int
    coloured: tuple[tuple[DieColour, tuple[int, ...]], ...]
    by_colour: tuple[Group, ...]


def offer_of(state: GameState) -> Offer | None:
    """The offer of the current roll; None while a roll is due."""
    roll, plan = state.roll, state.plan
    if roll is None:
        return None
    return Offer(
        white=roll.white_sum,
        coloured=tuple((c, roll.colour_sums(c)) for c in state.dice if c in roll.colours),
        by_colour=grouped(plan, state.colour_boxes(state.active)),
    )


Pair = tuple[tuple[DieColour, int], tuple[DieColour, int]]
"""Two dice by colour and value, a white one first."""


def dice_for(state: GameState, player: int) -> dict[str, Pair]:
    """For every box a player may cross now, the two dice that make it.

    A bonus box that dice of both neighbouring rows make names the one of the left row.
    """
    roll, plan, legal = state.roll, state.plan, state.legal[player]
    if roll is None or not legal:
        return {}
    white = DieColour.WHITE
    if state.action == 1:
        pair: Pair = ((white, roll.white[0]), (white, roll.white[1]))
        return dict.fromkeys(plan.name_of(legal), pair)
    made: dict[str, Pair] = {}
    own = opening(state.setup, state.crosses[player], state.marked)
    for colour, value in roll.coloured:
        if colour not in state.dice:
            continue  # its row closed in action 1 of this turn (E14)
        for face in roll.white:
            boxes = plan.colour_bits[colour].get(face + value, 0)
            for bit in each_bit(boxes & own):
                boxes |= plan.bonus_bits.get(bit, 0)
            for token in plan.name_of(boxes & legal):
                made.setdefault(token, ((white, face), (colour, value)))
    return made


def grouped(plan: Plan, boxes: int) -> tuple[Group, ...]:
    """A set of boxes row by row."""
    groups = []
    for row, bits in zip(plan.rows, plan.row_bits, strict=True):
        tokens = plan.name_of(boxes & bits)
        if tokens:
            numbers = sorted(plan.box_of(plan.bits[token]).number for token in tokens)
            groups.append(Group(row.name, tuple(numbers)))
    return tuple(groups)
