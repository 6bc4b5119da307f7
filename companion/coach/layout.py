"""A printed sheet as the arrays that the batch engine computes with."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import numpy.typing as npt

from companion.engine import PLANS, Plan

Int8 = npt.NDArray[np.int8]
Bits = npt.NDArray[np.uint16]
Flags = npt.NDArray[np.bool_]

LAST = 10
"""Position of a row's last box; positions count from 0 at the left end."""

LOCK = 11
"""Position of the lock."""

SHUT = 100
"""Stored in `Games.next` for a row nothing can be crossed in any more."""


@dataclass(frozen=True)
class Option:
    """One way to use the coloured dice: the box it opens and the dice that make the sum.

    Attributes:
        row: The row of the box.
        owner: The colour row whose die is used; differs from `row` on bonus rows.
        white: Which white die is added, 0 or 1.
    """

    row: int
    owner: int
    white: int


@dataclass(frozen=True)
class Layout:
    """Facts about a plan's rows.

    Attributes:
        rows: Number of rows, bonus rows included.
        colours: Numbers of the colour rows, in the order of the dice.
        beside: For each row the colour rows next to it; empty for colour rows.
        is_up: Whether each row's numbers ascend from left to right, 2 to 12, or descend.
        options: The uses of the coloured dice in action 2; those of a bonus row open the same
            positions as its owner's own.
        options_of: For each row the numbers of its options.
        points: Points by number of crosses.
    """

    plan: Plan
    rows: int
    colours: tuple[int, ...]
    beside: tuple[tuple[int, ...], ...]
    is_up: tuple[bool, ...]
    options: tuple[Option, ...]
    options_of: tuple[tuple[int, ...], ...]
    points: npt.NDArray[np.int16]

    @property
    def bonus(self) -> tuple[int, ...]:
        """Numbers of the bonus rows."""
        return tuple(r for r in range(self.rows) if self.beside[r])

    def scored_with(self, colour_row: int) -> tuple[int, ...]:
        """Rows whose crosses count for a colour row: its own and the bonus row beside it."""
        return (colour_row, *(r for r in self.bonus if colour_row in self.beside[r]))


@cache
def layout_of(variant: str) -> Layout:
    """The layout of a variant's sheet."""
    plan = PLANS[variant]
    beside = tuple(tuple(plan.index[key] for key in row.beside) for row in plan.rows)
    colours = tuple(r for r, row in enumerate(plan.rows) if not row.is_bonus)
    options = [Option(r, r, white) for r in colours for white in (0, 1)]
    for r, neighbours in enumerate(beside):
        options += [Option(r, owner, white) for owner in neighbours for white in (0, 1)]
    counts = np.minimum(np.arange(32), plan.most_scored)
    return Layout(
        plan=plan,
        rows=len(plan.rows),
        colours=colours,
        beside=beside,
        is_up=tuple(row.boxes[0].number < row.boxes[-1].number for row in plan.rows),
        options=tuple(options),
        options_of=tuple(
            tuple(o for o, option in enumerate(options) if option.row == r)
            for r in range(len(plan.rows))
        ),
        points=(counts * (counts + 1) // 2).astype(np.int16),
    )
