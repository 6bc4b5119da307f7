"""Whether the dice of a table are fair: counts, a band, and a test to repeat at any time.

The test is a likelihood ratio: how much better "each face has a chance of its own, near one sixth"
explains the throws than "every face has one sixth", averaged over such chances (a Dirichlet prior).
For fair dice this ratio is a martingale that starts at 1, so the chance that it ever reaches x is
at most 1/x (Ville's inequality). So it may be checked after every evening. Testing five
kinds of dice multiplies the chance of a false alarm by five at most (Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from companion.engine import ALL_DICE, DieColour
from companion.history.results import Result
from companion.messages.catalogue import Line, Term, line

KINDS = tuple(DieColour)
"""The white dice cannot be told apart and count as one kind."""

FACES = 6
PRIOR = 40.0
"""Dirichlet weight of each face: chances between about 0.12 and 0.22 are expected."""

NEEDED = 60
"""Throws below which there is no verdict on a set of dice."""

ALARM = 100
"""A fair set is called unusual with a chance of at most 1 in this many, over its whole life."""

BAND = 3.0
"""Half width of the band in standard deviations: all 30 counts are inside for 92 % of fair sets."""


@dataclass(frozen=True, slots=True)
class Faces:
    """One kind of dice.

    Attributes:
        counts: How often each face came, from 1 to 6.
        low, high: The band of counts that fair dice keep to.
        evidence: The largest likelihood ratio against fair dice so far.
        misread: How often the reader showed each face and was corrected.
    """

    colour: DieColour
    counts: tuple[int, ...]
    low: float
    high: float
    evidence: float
    misread: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Fairness:
    """The dice of a table over all evenings."""

    throws: int
    dice: tuple[Faces, ...]

    @property
    def is_enough(self) -> bool:
        """Whether there are enough throws for a verdict."""
        return self.throws >= NEEDED

    @property
    def odds(self) -> int:
        """At most one fair set in so many looks as unusual as this one."""
        most = max((each.evidence for each in self.dice), default=1.0)
        return max(1, int(most / len(KINDS)))

    def verdict(self) -> Line:
        """The result in plain words."""
        if not self.is_enough:
            return line("fairness.few", count=self.throws, needed=NEEDED)
        if self.odds < ALARM:
            return line("fairness.usual", count=self.throws)
        worst = max(self.dice, key=lambda each: each.evidence)
        mean = sum(worst.counts) / FACES
        face = max(range(FACES), key=lambda f: abs(worst.counts[f] - mean))
        is_often = worst.counts[face] > mean
        odds = min(self.odds, 1_000_000)
        if worst.colour is DieColour.WHITE:  # two that cannot be told apart
            key = "fairness.often.white" if is_often else "fairness.seldom.white"
            return line(key, face=face + 1, odds=odds)
        key = "fairness.often" if is_often else "fairness.seldom"
        return line(key, die=Term(f"die.{worst.colour.value}"), face=face + 1, odds=odds)


def fairness_of(games: Iterable[Result]) -> Fairness:
    """Counts of the values that the dice showed in these games, the oldest game first."""
    every = list(games)
    rolls = "".join(roll for game in every for roll in game.rolls)
    shown = np.frombuffer(rolls.encode(), np.uint8).reshape(-1, len(ALL_DICE)) - ord("0")
    misread = {kind: [0] * FACES for kind in KINDS}
    for game in every:
        for colour, value in game.misread:
            misread[DieColour(colour)][value - 1] += 1
    dice = []
    for kind in KINDS:
        own = shown[:, [die == kind for die in ALL_DICE]]
        counts, log_most = _evidence(own)
        dice.append(_faces(kind, counts, log_most, misread[kind]))
    return Fairness(len(shown), tuple(dice))


def _evidence(shown: NDArray[np.uint8]) -> tuple[list[int], float]:
    """How often each face came, and the largest likelihood ratio after any throw, as its logarithm.

    Args:
        shown: Values of the dice of one kind by throw, shape (throws, dice); 0 for a missing one.
    """
    is_there = shown > 0
    faces = shown[is_there].astype(np.int64) - 1
    is_face = faces[:, None] == np.arange(FACES)
    order = np.arange(len(faces))
    before = (is_face.cumsum(axis=0) - is_face)[order, faces]
    ratios = np.log(FACES * (PRIOR + before) / (FACES * PRIOR + order)).cumsum()
    after_throw = is_there.sum(axis=1).cumsum()
    log_most = float(np.append(0.0, ratios)[after_throw].max(initial=0.0))
    return is_face.sum(axis=0).tolist(), log_most


def _faces(colour: DieColour, counts: list[int], log_most: float, misread: list[int]) -> Faces:
    total = sum(counts)
    half = BAND * math.sqrt(total * 5) / FACES
    low, high = max(0.0, total / FACES - half), total / FACES + half
    evidence = math.exp(min(log_most, 100.0))
    return Faces(colour, tuple(counts), low, high, evidence, tuple(misread))
