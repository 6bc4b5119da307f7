"""The tray between two throws: what lay there before a throw is no die of it (pure).

A printed floor, a coin or a knot in the wood may look like a die. It lies there before the dice
are thrown, and afterwards at the same place with the same look; a thrown die changes the picture
where it comes to rest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.tray import Point
from vision.evidence import Clutter, DieEvidence, SceneEvidence
from vision.reading import Pixels

_FACE_PX = 24
"""Side of the square that two pictures of one place are compared on."""
_INNER = 0.6
"""Side of that square in edges of the detection: its neighbours rarely reach it."""
_TOLERANCE = (12.0, 0.14)
"""Grey levels, and share of the brightness, that noise and lamps change."""
_FRESH, _NOISE = 0.6, 2.0
"""Share of a detection's contrast that may be new if it lay there before, and grey levels of noise
besides (docs/limits.md)."""
_GAIN = (0.6, 1.6)
"""Range of brightness ratios that a lamp or an exposure causes."""
_SAME_GAIN = 0.2
"""Largest difference (log) between the ratio at one place and that of the whole picture."""
_SAME_PLACE = 0.3
"""Distance, in edges, within which two detections are at one place."""
_REACH = 1.6
"""Distance from its middle, in edges, within which a die that came changes the picture: it has
sides and a shadow (chosen, not measured)."""
_AROUND = 2.6
"""Distance from its middle, in edges, up to which the floor around a die is compared, without all
that is within `_REACH` of a die. If most of it is new, a mat came with it (chosen)."""
_SHADED = (0.4, 2.5)
"""Range of brightness ratios that a shadow causes as it comes and goes (chosen)."""
_ELSEWHERE = 2.0
"""Area, in faces of a die, that may change besides; a larger thing may be a hand
(docs/limits.md)."""
_STEP = 4
"""Pixels between the points on which whole pictures are compared."""
_FEW = 3
"""A still tray with fewer dice of the game's colours holds no roll."""

_NOTHING = SceneEvidence((), Clutter(), (0, 0))


@dataclass(frozen=True, slots=True, eq=False)
class Background:
    """A still tray without a roll.

    Attributes:
        pixels: Its picture; None while none was seen.
        whole: All that it shows.
        dice: Centres of dice that belong to a roll nobody confirmed; they stay dice.
    """

    pixels: Pixels | None = None
    whole: SceneEvidence = _NOTHING
    dice: tuple[Point, ...] = ()


def without_background(
    background: Background, pixels: Pixels, dice: Sequence[DieEvidence]
) -> tuple[DieEvidence, ...]:
    """Drop the detections that look as their places did before the throw."""
    before = background.pixels
    if before is None or before.shape != pixels.shape or not dice:
        return tuple(dice)
    gain = _brightness(pixels[::8, ::8]) / _brightness(before[::8, ::8])
    return tuple(
        die
        for die in dice
        if lies_at(background.dice, die) or not _looks_as_before(before, pixels, die, gain)
    )


def _looks_as_before(before: Pixels, pixels: Pixels, die: DieEvidence, gain: float) -> bool:
    was, now = _square(before, die), _square(pixels, die)
    ratio = _brightness(now) / _brightness(was)
    if not _SHADED[0] < ratio < _SHADED[1]:
        return False
    is_lit_alike = _GAIN[0] < ratio < _GAIN[1] and abs(math.log(ratio / gain)) <= _SAME_GAIN
    fresh = float(np.sqrt(((now - ratio * was) ** 2).mean()))
    contrast = float(np.sqrt(now.var(axis=(0, 1)).mean()))
    # In other light than the rest a die may be as plain as the floor was: only its contrast tells.
    return fresh <= _FRESH * contrast + (_NOISE if is_lit_alike else 0.0)


def _changed(was: NDArray[np.float32], now: NDArray[np.float32], ratio: float) -> NDArray[np.bool_]:
    """Where two pictures (h, w, 3) differ by more than brightness and noise: (h, w)."""
    difference = cv2.blur(np.abs(now - ratio * was), (3, 3)).max(axis=2)
    return np.asarray(difference > _TOLERANCE[0] + _TOLERANCE[1] * _brightness(now))


def begins_throw(
    background: Background, pixels: Pixels, fresh: SceneEvidence, used: Sequence[Point]
) -> bool:
    """Whether the dice of a still picture are the first of a throw, or used ones beside a hand.

    They are if a hand is there, too, or if the floor around them and all that passed for a die
    before are as they were, whatever changed elsewhere. Otherwise a mat or the camera may have
    moved; then they are if the picture differs from the background only where they lie. Before any
    background was seen, all may be printed on the floor but what lies where a used die lay.

    Args:
        fresh: Dice and clutter that the background does not show.
        used: Centres of the used dice.
    """
    before, dice = background.pixels, fresh.dice
    is_known = before is not None or any(lies_at(used, die) for die in dice)
    if dice and is_known and fresh.clutter.thing > _ELSEWHERE:
        return True
    if before is None or before.shape != pixels.shape or not dice:
        return False
    was, now = (np.asarray(each[::_STEP, ::_STEP], np.float32) for each in (before, pixels))
    gain = _brightness(now) / _brightness(was)
    free = np.ones(was.shape[:2], np.uint8)
    for die in dice:
        cv2.circle(free, *_disc(die, _REACH), 0, -1)
    like_dice = [die for die in background.whole.dice if die.in_tray]
    if all(_looks_as_before(before, pixels, die, gain) for die in like_dice) and all(
        _stands_alone(was, now, free, die) for die in dice
    ):
        return True
    left = _changed(was, now, gain) & (free > 0)
    face = (float(np.median([die.edge_px for die in dice])) / _STEP) ** 2
    return int(left.sum()) <= _ELSEWHERE * face


def _stands_alone(
    was: NDArray[np.float32], now: NDArray[np.float32], free: NDArray[np.uint8], die: DieEvidence
) -> bool:
    """Whether most of the floor around a die is as before, but for a shadow."""
    ring = np.zeros_like(free)
    cv2.circle(ring, *_disc(die, _AROUND), 1, -1)
    around = (ring & free) > 0
    if not around.any():
        return False
    ratio = _brightness(now[around]) / _brightness(was[around])
    is_shaded = _SHADED[0] < ratio < _SHADED[1]
    return is_shaded and bool(_changed(was, now, ratio)[around].mean() <= 0.5)


def _disc(die: DieEvidence, edges: float) -> tuple[tuple[int, int], int]:
    """Centre and radius of a disc around a die, in points of the compared pictures."""
    x, y = (round(each / _STEP) for each in die.centre_xy)
    return (x, y), round(edges * die.edge_px / _STEP)


def holds_roll(dice: Sequence[DieEvidence]) -> bool:
    """Whether enough dice lie in the tray to be (the rest of) a roll, readable or not."""
    return sum(die.in_tray and float(die.colours[:-1].max()) > 0.5 for die in dice) >= _FEW


def lies_at(centres: Sequence[Point], die: DieEvidence) -> bool:
    """Whether a detection lies where one of several dice lay."""
    return any(math.dist(xy, die.centre_xy) <= _SAME_PLACE * die.edge_px for xy in centres)


def _square(pixels: Pixels, die: DieEvidence) -> NDArray[np.float32]:
    """The middle of a detection's face, (24, 24, 3) float32."""
    side = max(4.0, _INNER * die.edge_px)
    scale = _FACE_PX / side
    left, top = die.centre_xy[0] - side / 2.0, die.centre_xy[1] - side / 2.0
    matrix = np.array([[scale, 0.0, -left * scale], [0.0, scale, -top * scale]], np.float32)
    square = cv2.warpAffine(pixels, matrix, (_FACE_PX, _FACE_PX), borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(square, np.float32)


def _brightness(pixels: NDArray[np.uint8] | NDArray[np.float32]) -> float:
    return float(np.median(pixels)) + 1.0
