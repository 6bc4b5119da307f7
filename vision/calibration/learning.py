"""Learns the colours of a table's dice from rolls that people confirmed (pure).

Only colours are learnt, never values. A few rolls tell how this camera and lamp show these six
dice; after that the detector compares each face with them (`vision.detector.known_dice`).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from companion.engine.dice import DieColour, Roll
from vision.detector.colours import shared_out
from vision.detector.known_dice import (
    LEAST_SPREAD,
    Bgr,
    CustomDie,
    chromaticity,
    face_colour,
    misfit,
    pip_colour,
)
from vision.detector.status import PALETTE, decide_status, likeliest
from vision.evidence import DieEvidence, SceneEvidence
from vision.reading import Pixels

FEWEST = 3
"""Rolls after which the learnt colours are used."""
_LATEST = 10
"""Rolls over which colours are averaged, so that they follow the light of an evening."""
_USUAL_ROLLS = 3
"""Rolls that the usual spread of a look counts as (docs/limits.md)."""
_LEAST = 1e-3
"""Added to probabilities of colours, so that their logarithms are finite."""
_IMPOSSIBLE = 100.0
"""Cost (nats) of a die that shows another value. To leave it out costs as much, so that no such
roll is certain."""
_CLEARLY = 2.0
"""Difference (nats) to any other way to give out the dice of a roll that makes one certain
(docs/limits.md)."""
_UNLIKE = 4.6
"""Cost (nats) above which a die looks like another colour than the one it plays: below 1 in 100."""
_ANOTHER = 14.0
"""Misfit (nats) above which a face is that of another die than the learnt one."""


@dataclass(frozen=True, slots=True)
class LearntDice:
    """The dice of a table as far as they are known.

    Attributes:
        dice: As averaged over the latest rolls.
        rolls: Number of rolls they were learnt from.
        rivals: Other dice that the latest rolls showed, if any.
    """

    dice: tuple[CustomDie, ...] = ()
    rolls: int = 0
    rivals: LearntDice | None = None

    @property
    def known(self) -> tuple[CustomDie, ...]:
        """The dice to compare faces with; none before `FEWEST` rolls."""
        return self.dice if self.rolls >= FEWEST else ()


def calibrated(dice: tuple[CustomDie, ...]) -> LearntDice:
    """Start from the dice of a calibration: custom ones are known at once, ordinary ones were seen
    in a single roll, in which a face may have mirrored the lamp."""
    rolls = FEWEST if any(die.is_odd for die in dice) else 1
    return LearntDice(dice, rolls if dice else 0)


def dice_of(roll: Roll) -> tuple[DieColour, ...]:
    """The dice that a roll was thrown with."""
    return (DieColour.WHITE, DieColour.WHITE, *(colour for colour, _ in roll.coloured))


def dice_of_roll(pixels: Pixels, scene: SceneEvidence, roll: Roll) -> tuple[CustomDie, ...]:
    """Measure the dice of a confirmed roll; none if the scene does not show exactly that roll.

    Dice whose colours look alike are told apart by the values that people confirmed. At most one
    die may look like another colour than the one it plays.

    Args:
        pixels: (H, W, 3) uint8 BGR, in the detector's white balance.
        scene: What the detector saw without any known dice.
        roll: What the people at the table confirmed.
    """
    wanted = Counter([*((DieColour.WHITE, value) for value in roll.white), *roll.coloured])
    discarded = decide_status(scene.dice, dice_of(roll), scene.clutter).discarded
    lying = [die for n, die in enumerate(scene.dice) if die.in_tray and n not in discarded]
    if len(lying) != wanted.total():
        return ()
    cost = np.full((len(lying), len(wanted) + 1), _IMPOSSIBLE)
    for n, die in enumerate(lying):
        for k, (colour, value) in enumerate(wanted):
            if die.value == value:
                cost[n, k] = -math.log(die.colours[PALETTE.index(colour)] + _LEAST)
    pick, totals = shared_out(cost, tuple(wanted.values()))
    spent = cost[range(len(lying)), pick]
    second = [np.delete(row, k).min() for row, k in zip(totals, pick, strict=True)]
    kinds = [colour for colour, _ in wanted]
    unlike = [die for die, nats in zip(lying, spent, strict=True) if nats > _UNLIKE]
    is_other = any(likeliest(die.colours) not in (None, *kinds) for die in unlike)
    if min(second) - spent.sum() < _CLEARLY or len(unlike) > 1 or is_other:
        return ()
    return tuple(_measured(pixels, die, kinds[k]) for die, k in zip(lying, pick, strict=True))


def learn(before: LearntDice, shown: Sequence[CustomDie]) -> LearntDice:
    """Return what is known after one more roll.

    A roll of other dice than the learnt ones does not change these; `FEWEST` of them with none of
    the learnt ones between take their place.

    Args:
        shown: From `dice_of_roll`; dice that left the game are missing.
    """
    if not shown:
        return before
    pairs = _paired(before.dice, shown)
    if any(old and misfit(np.array(new.face_bgr), old.face_bgr) > _ANOTHER for old, new in pairs):
        rivals = learn(before.rivals or LearntDice(), shown)
        return rivals if rivals.known else replace(before, rivals=rivals)
    share = 1.0 / min(before.rolls + 1, _LATEST)
    fresh = [new if old is None else _mixed(old, new, share) for old, new in pairs]
    absent = [die for die in before.dice if all(die is not old for old, _ in pairs)]
    return LearntDice((*fresh, *absent), before.rolls + 1)


def _measured(pixels: Pixels, die: DieEvidence, colour: DieColour) -> CustomDie:
    taken_for = tuple(float(each) for each in die.colours)
    pips = pip_colour(pixels, die.corners, die.value)
    return CustomDie(colour, face_colour(pixels, die.corners), taken_for, pips)


def _paired(
    known: Sequence[CustomDie], shown: Sequence[CustomDie]
) -> list[tuple[CustomDie | None, CustomDie]]:
    """Each die of a roll with the learnt one of its colour, the two white ones by brightness."""
    pairs: list[tuple[CustomDie | None, CustomDie]] = []
    for colour in dict.fromkeys(die.plays for die in shown):
        old, new = (
            sorted((die for die in dice if die.plays is colour), key=lambda die: sum(die.face_bgr))
            for dice in (known, shown)
        )
        pairs += [(old[n] if n < len(old) else None, die) for n, die in enumerate(new)]
    return pairs


def _mixed(old: CustomDie, new: CustomDie, share: float) -> CustomDie:
    """The learnt die with a share of how it looked now."""
    pips = _mean(old.pips_bgr, new.pips_bgr, share) if old.pips_bgr and new.pips_bgr else None
    taken_for = tuple(
        (1 - share) * a + share * b for a, b in zip(old.taken_for, new.taken_for, strict=True)
    )
    face = _mean(old.face_bgr, new.face_bgr, share)
    late = 1.0 / (1.0 / share + _USUAL_ROLLS)
    apart = np.subtract(chromaticity(new.face_bgr), chromaticity(old.face_bgr))
    spread = np.sqrt((1 - late) * np.square(old.spread) + late * apart**2)
    a, b, c = np.maximum(spread, LEAST_SPREAD).tolist()
    return CustomDie(old.plays, face, taken_for, pips or old.pips_bgr or new.pips_bgr, (a, b, c))


def _mean(old: Bgr, new: Bgr, share: float) -> Bgr:
    b, g, r = ((1 - share) * a + share * c for a, c in zip(old, new, strict=True))
    return b, g, r
