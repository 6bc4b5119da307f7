"""The six dice and their values (a leaf, shared by rules and vision)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum


class DieColour(Enum):
    """The colours of the game's dice; two dice are white."""

    WHITE = "white"
    RED = "red"
    YELLOW = "yellow"
    GREEN = "green"
    BLUE = "blue"

    # A member is one object; Enum's own hash runs Python code for every look-up in a table.
    __hash__ = object.__hash__


COLOURED = (DieColour.RED, DieColour.YELLOW, DieColour.GREEN, DieColour.BLUE)
"""The colours that own a row, in the order of the sheet."""

ALL_DICE = (DieColour.WHITE, DieColour.WHITE, *COLOURED)
"""The dice in play while no row is closed (E45)."""


@dataclass(frozen=True, slots=True)
class Roll:
    """Confirmed values of the dice in play.

    The white dice cannot be told apart, so they are kept as a sorted pair; `coloured` holds
    (colour, value) pairs in the order of the sheet. Equal rolls compare equal.
    """

    white: tuple[int, int]
    coloured: tuple[tuple[DieColour, int], ...]

    @classmethod
    def of(cls, white: tuple[int, int], coloured: Mapping[DieColour, int]) -> Roll:
        """Make a roll from values in any order."""
        low, high = sorted(white)
        return cls((low, high), tuple([(c, coloured[c]) for c in COLOURED if c in coloured]))

    @property
    def white_sum(self) -> int:
        """The sum of action 1."""
        return self.white[0] + self.white[1]

    @property
    def colours(self) -> frozenset[DieColour]:
        """The rolled colours, without white."""
        return frozenset(colour for colour, _ in self.coloured)

    def colour_sums(self, colour: DieColour) -> tuple[int, ...]:
        """The one or two sums of action 2 for a colour, ascending; empty when it has no die."""
        for die, value in self.coloured:
            if die is colour:
                return tuple(sorted({self.white[0] + value, self.white[1] + value}))
        return ()
