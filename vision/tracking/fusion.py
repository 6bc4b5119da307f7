"""Combines frames of one roll at rest into one reading, given the tray's background (pure).

Each frame's outputs are kept. The probabilities of a die are pooled in log space, weighted by how
sharply and how well exposed its face is; a pooled die is never surer than its surest frame.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.engine.dice import DieColour
from companion.tray import TrayStatus
from vision.detector.status import reading_of
from vision.evidence import Clutter, DieEvidence, SceneEvidence, Scores
from vision.reading import Pixels, Reading
from vision.tracking.background import Background, without_background

WINDOW = 6
"""Frames of one roll that are combined, the newest ones."""
STILL_S = 0.09
"""A scene that did not change for so long is not moving."""
_SAME_DIE = 0.15
"""Edges by which the centre of one die at rest differs between two frames at most."""
_CLIPPED = (4, 251)
"""Grey levels beyond which a pixel is under- or overexposed."""
_LEAST = 1e-4


@dataclass(frozen=True, slots=True, eq=False)
class RestFrame:
    """Evidence of one frame at rest.

    Attributes:
        scene: Its dice and clutter, without what lay there before the throw.
        quality: Weight of each die: sharpness of its face times the share that is well exposed.
        clutter: All clutter of the frame.
    """

    scene: SceneEvidence
    at_s: float
    quality: tuple[float, ...]
    clutter: Clutter


def rest_frame(
    pixels: Pixels, scene: SceneEvidence, at_s: float, background: Background
) -> RestFrame:
    """Compare a frame with the background, and measure its dice for combining."""
    grey = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY), np.uint8)
    dice = without_background(background, pixels, scene.dice)
    was, now = background.clutter, scene.clutter
    clutter = replace(
        now, thing=max(0.0, now.thing - was.thing), smear=max(0.0, now.smear - was.smear)
    )
    own = replace(scene, dice=dice, clutter=clutter)
    return RestFrame(own, at_s, tuple(_quality(grey, die) for die in dice), now)


def combine(frames: Sequence[RestFrame], in_play: Sequence[DieColour]) -> Reading:
    """Read the dice of one or more frames between which nothing moved.

    Args:
        frames: Oldest first, at least one.
    """
    newest = frames[-1]
    is_still = len(frames) > 1 and newest.at_s - frames[0].at_s >= STILL_S - 1e-6
    dice = tuple(
        _pooled(group, is_still=is_still and len(group) == len(frames))
        for group in _grouped(frames)
        if 2 * len(group) >= len(frames) or _is_on_its_way(group[0][0], newest)
    )
    clutter = newest.scene.clutter
    if is_still:
        clutter = Clutter(median(frame.scene.clutter.thing for frame in frames))
    scene = SceneEvidence(dice, clutter, newest.scene.size_wh)
    return reading_of(scene, in_play, newest.at_s)


def best_reading(frames: Sequence[RestFrame], in_play: Sequence[DieColour]) -> Reading:
    """Combine all frames; the newest one alone counts where only it is clear.

    The first frame after a throw may be worse than all that follow.
    """
    whole = combine(frames, in_play)
    if len(frames) == 1 or whole.status is TrayStatus.OK:
        return whole
    alone = combine(frames[-1:], in_play)
    return alone if alone.status is TrayStatus.OK else whole


def _is_on_its_way(die: DieEvidence, newest: RestFrame) -> bool:
    """Whether a die of the newest frame is blurred by motion: it lay elsewhere before."""
    return die.moving and any(die is each for each in newest.scene.dice)


def _grouped(frames: Sequence[RestFrame]) -> list[list[tuple[DieEvidence, float]]]:
    """Each die with its quality in the frames that show it, the newest frame first."""
    groups: list[list[tuple[DieEvidence, float]]] = []
    for frame in reversed(frames):
        open_groups = list(groups)
        for die, quality in zip(frame.scene.dice, frame.quality, strict=True):
            near = min(
                (group for group in open_groups if _is_same(group[0][0], die)),
                key=lambda group: math.dist(group[0][0].centre_xy, die.centre_xy),
                default=None,
            )
            if near is None:
                groups.append([(die, quality)])
            else:
                near.append((die, quality))
                open_groups.remove(near)
    return groups


def _is_same(one: DieEvidence, other: DieEvidence) -> bool:
    return math.dist(one.centre_xy, other.centre_xy) <= _SAME_DIE * one.edge_px


def _pooled(group: Sequence[tuple[DieEvidence, float]], *, is_still: bool) -> DieEvidence:
    """One die by all the frames that show it."""
    newest = group[0][0]
    if len(group) == 1:
        return newest
    weights = np.array([quality for _, quality in group], np.float64) + _LEAST
    weights /= weights.sum()
    dice = [die for die, _ in group]
    moving = not is_still and newest.moving
    leaning = float(weights @ np.array([die.leaning for die in dice]))
    colours = _log_pool(np.array([die.colours for die in dice]), weights)
    value, sure, values = newest.value, newest.sure, newest.values
    scores = [die.values for die in dice if die.values is not None]
    if len(scores) == len(dice):
        values = _log_pool(np.array(scores), weights, rest=True)
        sure = float(values.max())
        seen = sum(weight for weight, die in zip(weights, dice, strict=True) if die.value)
        value = int(values.argmax()) + 1 if seen > 0.5 else None
    return replace(
        newest,
        colours=colours,
        value=value,
        sure=sure,
        values=values,
        moving=moving,
        leaning=leaning,
        cocked=not moving and leaning > 0.0,
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


def _quality(grey: NDArray[np.uint8], die: DieEvidence) -> float:
    """Sharpness of a top face times the share of it that is well exposed."""
    if die.corners is None:
        return 1.0
    left, top = np.floor(die.corners.min(axis=0)).astype(int)
    right, bottom = np.ceil(die.corners.max(axis=0)).astype(int) + 1
    face = grey[max(0, top) : max(0, bottom), max(0, left) : max(0, right)]
    if min(face.shape) < 3:
        return 0.0
    smooth = cv2.GaussianBlur(face, (3, 3), 0)
    sharp = float(np.abs(cv2.Laplacian(smooth, cv2.CV_32F)).mean())
    exposed = float(((face > _CLIPPED[0]) & (face < _CLIPPED[1])).mean())
    return sharp * exposed
