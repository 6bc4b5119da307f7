"""Combines frames of one roll at rest into one reading, given the tray's background (pure).

Each frame's outputs are kept. A die counts in a frame by how sharply and how well exposed its face
is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.engine.dice import DieColour
from companion.tray import TrayStatus
from vision.detector.pooling import each_once, grouped, pooled
from vision.detector.status import reading_of
from vision.evidence import Clutter, DieEvidence, SceneEvidence
from vision.reading import Pixels, Reading
from vision.tracking.background import Background, without_background

WINDOW = 6
"""Frames of one roll that are combined, the newest ones."""
STILL_S = 0.09
"""A scene that did not change for so long is not moving."""
_LASTING = (TrayStatus.OK, TrayStatus.COCKED, TrayStatus.EXTRA, TrayStatus.UNCERTAIN)
"""Statuses that do not pass while nothing moves."""
_CLIPPED = (4, 251)
"""Grey levels beyond which a pixel is under- or overexposed."""


@dataclass(frozen=True, slots=True, eq=False)
class RestFrame:
    """Evidence of one frame at rest.

    Attributes:
        scene: Its dice and clutter, without what lay there before the throw.
        quality: Weight of each die: sharpness of its face times the share that is well exposed.
        whole: All that it shows.
    """

    scene: SceneEvidence
    at_s: float
    quality: tuple[float, ...]
    whole: SceneEvidence


def rest_frame(
    pixels: Pixels, scene: SceneEvidence, at_s: float, background: Background
) -> RestFrame:
    """Compare a frame with the background, and measure its dice for combining."""
    grey = np.asarray(cv2.cvtColor(pixels, cv2.COLOR_BGR2GRAY), np.uint8)
    dice = without_background(background, pixels, scene.dice)
    thing = max(0.0, scene.clutter.thing - background.whole.clutter.thing)
    own = replace(scene, dice=dice, clutter=replace(scene.clutter, thing=thing))
    return RestFrame(own, at_s, tuple(_quality(grey, die) for die in dice), scene)


def combine(frames: Sequence[RestFrame], in_play: Sequence[DieColour]) -> Reading:
    """Read the dice of one or more frames between which nothing moved.

    Args:
        frames: Oldest first, at least one.
    """
    newest = frames[-1]
    is_still = len(frames) > 1 and newest.at_s - frames[0].at_s >= STILL_S - 1e-6
    dice = each_once(
        pooled(group, is_still=is_still and len(group) == len(frames))
        for group in grouped(
            [tuple(zip(f.scene.dice, f.quality, strict=True)) for f in reversed(frames)]
        )
        if 2 * len(group) >= len(frames) or _is_on_its_way(group[0][0], newest)
    )
    clutter = newest.scene.clutter
    if is_still:
        clutter = Clutter(median(frame.scene.clutter.thing for frame in frames))
    scene = SceneEvidence(tuple(dice), clutter, newest.scene.size_wh)
    return reading_of(scene, in_play, is_game=True)


def lie_alike(one: RestFrame, other: RestFrame) -> bool:
    """Whether every die of two frames lies at one place in both."""
    looks = [tuple(zip(f.scene.dice, f.quality, strict=True)) for f in (one, other)]
    return all(len(group) == len(looks) for group in grouped(looks))


def best_reading(frames: Sequence[RestFrame], in_play: Sequence[DieColour]) -> Reading:
    """Combine all frames; the newest one alone counts where they show what has passed since, such
    as a hand.

    It settles no doubt: of many frames of a doubtful die one or two look sure by chance.
    """
    whole = combine(frames, in_play)
    if len(frames) == 1 or whole.status in _LASTING:
        return whole
    alone = combine(frames[-1:], in_play)
    return alone if alone.status is TrayStatus.OK else whole


def _is_on_its_way(die: DieEvidence, newest: RestFrame) -> bool:
    """Whether a die of the newest frame is blurred by motion: it lay elsewhere before."""
    return die.moving and any(die is each for each in newest.scene.dice)


def _quality(grey: NDArray[np.uint8], die: DieEvidence) -> float:
    """Sharpness of a top face times the share of it that is well exposed."""
    left, top = np.floor(die.corners.min(axis=0)).astype(int)
    right, bottom = np.ceil(die.corners.max(axis=0)).astype(int) + 1
    face = grey[max(0, top) : max(0, bottom), max(0, left) : max(0, right)]
    if min(face.shape) < 3:
        return 0.0
    smooth = cv2.GaussianBlur(face, (3, 3), 0)
    sharp = float(np.abs(cv2.Laplacian(smooth, cv2.CV_32F)).mean())
    exposed = float(((face > _CLIPPED[0]) & (face < _CLIPPED[1])).mean())
    return sharp * exposed
