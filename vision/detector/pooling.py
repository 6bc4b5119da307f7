"""Pools several looks at the same dice: frames of one roll, or two looks at one picture (pure).

The probabilities of a die are pooled in log space; a pooled die is never surer than in its surest
look.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from statistics import median
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from companion.tray import Point
from vision.evidence import DieEvidence, Scores

_AT_REST = 0.15
"""Edges by which the centre of one die at rest differs between two frames at most."""
_IN_ONE_PICTURE = 0.4
"""Edges by which the centre of one die differs between two looks at one picture at most: half of
`_OVERLAP`."""
_OVERLAP = 0.8
"""Top faces nearer to each other than this share of an edge are the same die. Faces of dice side by
side are one edge apart, a little less if one is tilted."""
_LEAST = 1e-4


class _Place(Protocol):
    """Where a die lies."""

    @property
    def centre_xy(self) -> Point: ...
    @property
    def edge_px(self) -> float: ...


Die = TypeVar("Die", bound=_Place)

Seen = tuple[DieEvidence, float]
"""A die in one look, and the weight of that look."""


def by_both_looks(
    first: Iterable[DieEvidence], second: Iterable[DieEvidence]
) -> tuple[DieEvidence, ...]:
    """Pool two looks at one picture. A die is moving, beside the tray or doubtful if it is so in
    either look."""
    looks = [[(die, 1.0) for die in look] for look in (first, second)]
    return tuple(each_once(_by_the_stricter(group) for group in grouped(looks, _IN_ONE_PICTURE)))


def _by_the_stricter(group: Sequence[Seen]) -> DieEvidence:
    dice = [die for die, _ in group]
    return replace(
        pooled(group),
        moving=any(die.moving for die in dice),
        in_tray=all(die.in_tray for die in dice),
        die=min(die.die for die in dice),
    )


def each_once(dice: Iterable[Die]) -> list[Die]:
    """The dice without those that lie where an earlier one does."""
    found: list[Die] = []
    for die in dice:
        if all(
            math.dist(die.centre_xy, other.centre_xy) > _OVERLAP * min(die.edge_px, other.edge_px)
            for other in found
        ):
            found.append(die)
    return found


def grouped(looks: Sequence[Sequence[Seen]], within: float = _AT_REST) -> list[list[Seen]]:
    """Each die in the looks that show it.

    Args:
        looks: The dice of each look, the look that counts for places first.
        within: Edges by which its centre differs between two looks at most.
    """
    groups: list[list[Seen]] = []
    for look in looks:
        open_groups = list(groups)
        for die, weight in look:
            near = min(
                (group for group in open_groups if _is_same(group[0][0], die, within)),
                key=lambda group: math.dist(group[0][0].centre_xy, die.centre_xy),
                default=None,
            )
            if near is None:
                groups.append([(die, weight)])
            else:
                near.append((die, weight))
                open_groups.remove(near)
    return groups


def _is_same(one: DieEvidence, other: DieEvidence, within: float) -> bool:
    return math.dist(one.centre_xy, other.centre_xy) <= within * one.edge_px


def pooled(group: Sequence[Seen], *, is_still: bool = False) -> DieEvidence:
    """One die by all the looks that show it.

    Args:
        is_still: Whether the looks show that it does not move.
    """
    first = group[0][0]
    if len(group) == 1:
        return first
    weights = np.array([weight for _, weight in group], np.float64) + _LEAST
    weights /= weights.sum()
    dice = [die for die, _ in group]
    colours = _log_pool(np.array([die.colours for die in dice]), weights)
    values = _log_pool(np.array([die.values for die in dice]), weights, rest=True)
    values *= min(1.0, max(die.sure for die in dice) / float(values.max()))
    seen = sum(weight for weight, die in zip(weights, dice, strict=True) if die.value)
    return replace(
        first,
        colours=colours,
        value=int(values.argmax()) + 1 if seen > 0.5 else None,
        sure=float(values.max()),
        values=values,
        moving=first.moving and not is_still,
        tilt=float(weights @ np.array([die.tilt for die in dice])),
        visible=median(die.visible for die in dice),
    )


def _log_pool(rows: Scores, weights: NDArray[np.float64], *, rest: bool = False) -> Scores:
    """Weighted geometric mean of probabilities (F, N), scaled to sum to one.

    Args:
        rest: The rows need not sum to one; what is missing is the chance of none of them.
    """
    table = np.asarray(rows, np.float64)
    if rest:
        table = np.c_[table, 1.0 - np.minimum(table.sum(axis=1), 1.0)]
    pooled = np.exp(weights @ np.log(table + _LEAST))
    pooled /= pooled.sum()
    return np.asarray(pooled[: rows.shape[1]], np.float32)
