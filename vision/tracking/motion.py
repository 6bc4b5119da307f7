"""Where the picture changed from one frame to the next, without lamp flicker (pure)."""

from __future__ import annotations

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.evidence import SceneEvidence
from vision.reading import Pixels

Thumbnail = NDArray[np.float32]
"""(h, w) float32 grey levels 0 to 255: a frame made small enough to compare cheaply."""

Changes = NDArray[np.bool_]
"""(h, w) bool: the points of a thumbnail at which something moved."""

THUMBNAIL_WIDTH_PX = 160
"""Width of a thumbnail; the smallest dice cover 6 x 6 of its pixels."""

LEAST_STEP_LEVELS = 6.0
"""Least grey step that counts as a change; smaller ones are noise."""

NOISE_FACTOR = 7.0
"""Least step in standard deviations of the noise of the two frames: dark rooms are noisy."""

MOST_STEP_LEVELS = 25.0
"""Largest such step: beyond it the two frames differ by more than noise, as when a hand covers half
of the tray (docs/limits.md)."""

GAIN_RANGE = (0.5, 2.0)
"""Range by which lamp flicker or exposure changes the brightness of a row."""

REACH_EDGES = 1.6
"""Distance from a die's middle, in edges, within which a change may be its own: it has sides and a
shadow (chosen, not measured)."""


def thumbnail(pixels: Pixels) -> Thumbnail:
    """Return the small grey picture on which motion is measured.

    Args:
        pixels: (H, W, 3) uint8, BGR, any size of at least 1 x 1.
    Returns:
        (h, w) float32, w = THUMBNAIL_WIDTH_PX, aspect kept, lightly smoothed.
    """
    height, width = pixels.shape[:2]
    small_height = max(1, min(4 * THUMBNAIL_WIDTH_PX, round(height * THUMBNAIL_WIDTH_PX / width)))
    small = cv2.resize(pixels, (THUMBNAIL_WIDTH_PX, small_height), interpolation=cv2.INTER_AREA)
    grey = cv2.cvtColor(small, cv2.COLOR_BGR2GRAY)
    smooth = cv2.GaussianBlur(grey.astype(np.float32), (3, 3), 0)
    return np.asarray(smooth, dtype=np.float32)


def changes(before: Thumbnail, now: Thumbnail) -> Changes:
    """Find where something moved.

    Each row's brightness is matched first, since mains flicker under a rolling shutter comes as
    horizontal bands; single flickering points are dropped. Thumbnails of different sizes have
    nothing in common.
    """
    if before.shape != now.shape:
        return np.ones(now.shape, np.bool_)
    gain = _row_gain(before, now)
    # A channel clipped at white follows the lamp only in part, so every level from the old one
    # to the matched one counts as unchanged.
    matched = before * gain
    under, over = np.minimum(before, matched) - now, now - np.maximum(before, matched)
    difference = np.maximum(np.maximum(under, over), 0.0)
    # The typical difference of the pair is its noise; the middle half cannot be moved dice, but it
    # may be a hand.
    noise = 1.4826 * float(np.median(np.abs(now - matched)))
    threshold = min(max(LEAST_STEP_LEVELS, NOISE_FACTOR * noise), MOST_STEP_LEVELS)
    changed = (difference > threshold).astype(np.uint8)
    return np.asarray(cv2.erode(changed, np.ones((2, 2), np.uint8)), np.bool_)


def is_near(changed: Changes, scene: SceneEvidence) -> bool:
    """Whether something changed at or close to a die in the tray, or there is none."""
    scale = changed.shape[1] / scene.size_wh[0]
    y, x = np.nonzero(changed)
    dice = [die for die in scene.dice if die.in_tray]
    return not dice or any(
        bool((np.hypot(x / scale - die_x, y / scale - die_y) <= REACH_EDGES * edge_px).any())
        for (die_x, die_y), edge_px in ((die.centre_xy, die.edge_px) for die in dice)
    )


def _row_gain(before: Thumbnail, now: Thumbnail) -> Thumbnail:
    """Return the (h, 1) brightness ratio of each row; the median ignores dice."""
    # Only the brighter half of a row tells: in its dark half noise is divided by noise, and
    # white that is clipped has no ratio to give.
    middle = np.median(before, axis=1, keepdims=True)
    tells = (before >= middle) & (before < 250.0) & (now < 250.0)
    ratio = np.where(tells, now / np.maximum(before, 1.0), np.float32(np.inf))
    # By hand, as this is done for every frame and np.nanmedian takes twice as long.
    ratio.sort(axis=1)
    count, rows = tells.sum(axis=1), np.arange(len(ratio))
    low, high = np.maximum(count - 1, 0) // 2, count // 2
    gain = np.where(count > 0, (ratio[rows, low] + ratio[rows, high]) / 2.0, 1.0)
    return np.clip(gain[:, None], *GAIN_RANGE).astype(np.float32)
