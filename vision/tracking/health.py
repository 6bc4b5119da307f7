"""Checks whether the camera sees anything: dark, covered, frozen or slow (pure steps).

A fault must last for a moment, so that a sleeve over the lens is none; people learn of it within
two seconds.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import cv2
import numpy as np

from companion.tray import CameraFault
from vision.tracking.motion import Thumbnail

LASTS_S = 1.2
"""Seconds a fault must last before it is reported."""
CLEARS_S, STEADY_S = 0.4, 5.0
"""Seconds without the fault before it is cleared, and without a long gap before a camera is no
longer slow: one that stutters is not reported again and again (chosen)."""

DARK_LEVEL, DARK_PEAK = 8.0, 24.0
"""Mean and 98th percentile of the grey levels below which a picture shows nothing."""

BLOCKED_DETAIL = 0.3
"""Largest share of the former detail that a covered lens shows."""
BLOCKED_LIGHT = 1.3
"""Factor by which a cover changes the brightness at least; taking the dice out does not."""

NOISY_FRAMES = 5
"""Pictures that differ though nothing moved: this camera has noise, and two equal pictures of it
are one repeated picture. Drawn and recorded pictures have no noise."""

REPEATS, MOST_REPEATED_S = 3.0, 10.0
"""A camera whose stream repeats still pictures, as video codecs do, is frozen once a picture lasts
this many times as long as the longest one that was followed by another without motion (chosen); and
the longest time that one is taken to last: x264 sends a whole picture every 250, 10 s at 25 a
second."""

FREEZES, LIVES_S = 3, 2.0
"""Freezes in a row, with less time than that between two of them, after which they are a codec's
repetitions: a camera that froze sends other pictures for longer (chosen)."""

SLOW_S = 0.34
"""Longest time between frames; slower ones cannot tell rolling dice from dice at rest."""


@dataclass(frozen=True, slots=True)
class FrameStats:
    """Measurements of one frame.

    Attributes:
        at_s: Its capture time.
        level, peak: Mean and 98th percentile of its grey levels.
        detail: Mean step from one coarse point to the next, as a share of the level.
        is_same: It equals the frame before.
        moved: Something moved since the frame before.
        gap_s: Time since the frame before; None if reading took that time.
    """

    at_s: float
    level: float
    peak: float
    detail: float
    is_same: bool
    moved: bool
    gap_s: float | None = None


@dataclass(frozen=True, slots=True)
class Health:
    """State of a camera's health.

    Attributes:
        fault: The fault, once it has lasted.
        suspected: What the latest frames look like.
        since_s: Time since when they do.
        noisy: Frames that differed by noise alone, NOISY_FRAMES at most.
        differed_s: Capture time of the last frame that differed from the one before; at first, of
            the first, and infinite before.
        repeated_s: Longest time for which one picture was repeated.
        thawed_s: Capture time of the frame that ended the last freeze.
        freezes: Freezes in a row.
        level, detail: Recent values of clear frames.
    """

    fault: CameraFault | None = None
    suspected: CameraFault | None = None
    since_s: float = 0.0
    noisy: int = 0
    differed_s: float = math.inf
    repeated_s: float = 0.0
    thawed_s: float = -math.inf
    freezes: int = 0
    level: float = 0.0
    detail: float = 0.0

    def anew(self) -> Health:
        """Nothing but what is known of the camera's noise: without it, one that comes back frozen
        would pass for a recording."""
        return Health(noisy=self.noisy, repeated_s=self.repeated_s)

    @property
    def is_blind(self) -> bool:
        """Whether nothing can be read."""
        return self.fault is not None and self.fault.is_blind

    @property
    def is_suspected_blind(self) -> bool:
        """Whether the latest frames show nothing, perhaps for a moment only."""
        return self.suspected is not None and self.suspected.is_blind


def frame_stats(
    now: Thumbnail, before: Thumbnail | None, at_s: float, *, moved: bool, gap_s: float | None
) -> FrameStats:
    """Measure a frame on its thumbnail."""
    level = float(now.mean())
    # Coarse, so that a covered lens shows no detail of noise.
    quarter = (now.shape[1] // 4, max(1, now.shape[0] // 4))
    coarse = cv2.resize(now, quarter, interpolation=cv2.INTER_AREA)
    steps = float(np.abs(np.diff(coarse, axis=0)).mean() + np.abs(np.diff(coarse, axis=1)).mean())
    is_same = before is not None and before.shape == now.shape and bool(np.array_equal(before, now))
    peak = float(np.percentile(now[::2, ::2], 98))
    return FrameStats(at_s, level, peak, steps / max(level, 4.0), is_same, moved, gap_s)


def update_health(health: Health, stats: FrameStats) -> Health:
    """Take one frame into account."""
    if not stats.moved and not stats.is_same:
        health = replace(health, noisy=min(NOISY_FRAMES, health.noisy + 1))
        if stats.gap_s is not None:
            health = _learn_repetition(health, stats.at_s, stats.gap_s)
    elif stats.moved and health.noisy < NOISY_FRAMES:
        health = replace(health, noisy=0)
    differed_s = min(stats.at_s, health.differed_s) if stats.is_same else stats.at_s
    health = replace(health, differed_s=differed_s)
    suspected = _suspect(health, stats)
    if suspected is None and not stats.moved:
        health = _remember(health, stats)
    if suspected is not health.suspected:
        began_s = stats.at_s - ((stats.gap_s or 0.0) if suspected is CameraFault.SLOW else 0.0)
        health = replace(health, suspected=suspected, since_s=began_s)
    lasted_s = stats.at_s - health.since_s
    clears_s = STEADY_S if health.fault is CameraFault.SLOW else CLEARS_S
    if suspected is not health.fault and lasted_s >= (clears_s if suspected is None else LASTS_S):
        health = replace(health, fault=suspected)
    return health


def _learn_repetition(health: Health, at_s: float, gap_s: float) -> Health:
    """Learn from a picture that was repeated, and followed by another without motion."""
    lasted_s = at_s - gap_s - health.differed_s
    if health.fault is CameraFault.FROZEN and lasted_s >= LASTS_S:
        is_again = health.differed_s - health.thawed_s < LIVES_S
        freezes = health.freezes + 1 if is_again else 1
        health = replace(health, thawed_s=at_s, freezes=freezes)
        if freezes < FREEZES:
            return health
    return replace(health, repeated_s=min(max(health.repeated_s, lasted_s), MOST_REPEATED_S))


def _suspect(health: Health, stats: FrameStats) -> CameraFault | None:
    if stats.level < DARK_LEVEL and stats.peak < DARK_PEAK:
        return CameraFault.DARK
    same_s = stats.at_s - health.differed_s
    is_noisy = health.noisy >= NOISY_FRAMES
    if stats.is_same and is_noisy and same_s > REPEATS * health.repeated_s:
        return CameraFault.FROZEN
    if health.detail > 0.0 and stats.detail < BLOCKED_DETAIL * health.detail:
        change = max(stats.level, 1.0) / max(health.level, 1.0)
        # Once it is covered, its own exposure may bring the brightness back, but no detail.
        is_covered = health.suspected is CameraFault.BLOCKED
        if is_covered or not 1.0 / BLOCKED_LIGHT < change < BLOCKED_LIGHT:
            return CameraFault.BLOCKED
    is_slow = health.suspected is CameraFault.SLOW if stats.gap_s is None else stats.gap_s > SLOW_S
    return CameraFault.SLOW if is_slow else None


def _remember(health: Health, stats: FrameStats) -> Health:
    if health.detail == 0.0:
        return replace(health, level=stats.level, detail=stats.detail)
    level = health.level + 0.1 * (stats.level - health.level)
    detail = health.detail + 0.1 * (stats.detail - health.detail)
    return replace(health, level=level, detail=detail)
