"""Second pass over an uncertain picture at a smaller scale.

Noise, JPEG blocks and crops differ from those of the first pass, so the mean of both outputs is
more reliable than either.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

import cv2
import numpy as np

from companion.engine.dice import DieColour
from vision.detector.candidates import FeatureMaps
from vision.detector.classifier import Detection, classify_each
from vision.detector.inference import CropCache
from vision.detector.models import Scores, softmax
from vision.detector.search import Found, detect_dice, is_new
from vision.reading import Pixels, Point

SCALE = 0.6
"""Scale of the picture in the second pass (docs/evaluation.md, thresholds)."""
_SAME = 0.4
"""Distance (edges) below which faces of both passes belong to one die; it is half the least
distance of two dice, see `search.is_new`."""
_LEAST = 1e-6
"""Added to probabilities, so that their log odds are finite."""


def read_again(pixels: Pixels, found: Sequence[Found]) -> list[Found]:
    """Return the detections with the mean outputs of both passes.

    Args:
        pixels: (H, W, 3) uint8, BGR.
        found: Detections of the first pass.
    """
    small, scale = _shrunk(pixels)
    again = classify_each(CropCache(small), [candidate for _, candidate in _scaled(found, scale)])
    return _of_both(found, _scaled(again, 1.0 / scale))


def search_again(
    pixels: Pixels,
    in_play: Sequence[DieColour],
    inside: Callable[[Point, float], float],
    found: Sequence[Found],
    *,
    any_colour: bool = False,
) -> list[Found]:
    """Run a full second pass if dice are missing, and add the dice that only it finds.

    Args:
        pixels: (H, W, 3) uint8, BGR.
        in_play: The dice that are expected in the tray.
        inside: Probability that a die at a point, with an edge in px, lies in the tray, from the
            first pass.
        found: Detections of the first pass.
        any_colour: Whether dice of other colours than the five may be in play.
    """
    small, scale = _shrunk(pixels)

    def inside_small(_: FeatureMaps, foot_xy: Point, edge_px: float) -> float:
        return inside(_moved(foot_xy, 1.0 / scale), edge_px / scale)

    _, seen = detect_dice(small, in_play, inside_small, any_colour=any_colour)
    again = _scaled(seen, 1.0 / scale)
    return _of_both(found, again) + [pair for pair in again if is_new(pair[0], found)]


def _shrunk(pixels: Pixels) -> tuple[Pixels, float]:
    height, width = pixels.shape[:2]
    size_wh = (max(1, round(width * SCALE)), max(1, round(height * SCALE)))
    small = cv2.resize(pixels, size_wh, interpolation=cv2.INTER_AREA)
    return np.asarray(small, np.uint8), max(size_wh) / max(width, height)


def _moved(point: Point, scale: float) -> Point:
    """Convert a point to the same picture at another scale."""
    x, y = point
    return (x + 0.5) * scale - 0.5, (y + 0.5) * scale - 0.5


def _scaled(found: Sequence[Found], scale: float) -> list[Found]:
    """Convert detections to another scale; each candidate moves to its top face."""
    moved: list[Found] = []
    for detection, candidate in found:
        middle, edge = _moved(detection.centre_xy, scale), detection.edge_px * scale
        there = replace(
            detection,
            corners=np.asarray((detection.corners + 0.5) * scale - 0.5, np.float32),
            centre_xy=middle,
            foot_xy=_moved(detection.foot_xy, scale),
            edge_px=edge,
        )
        moved.append((there, replace(candidate, centre_xy=middle, edge_px=edge)))
    return moved


def _of_both(found: Sequence[Found], again: Sequence[Found]) -> list[Found]:
    """Merge each detection with that of the second pass; without one it stays unchanged."""
    both: list[Found] = []
    for detection, candidate in found:
        near = [
            other for other, _ in again
            if math.dist(other.centre_xy, detection.centre_xy) < _SAME * detection.edge_px
        ]  # fmt: skip
        both.append((mean_detection(detection, near[0]) if near else detection, candidate))
    return both


def mean_detection(first: Detection, second: Detection) -> Detection:
    """Mean of two detections of one die, at the position of the first."""
    return replace(
        first,
        values=np.concatenate([first.values, second.values]),
        pips=np.concatenate([first.pips, second.pips]),
        square_on=_mean_square_on(first.square_on, second.square_on),
        colours=(first.colours + second.colours) / 2.0,
        die=_mean_chance(first.die, second.die),
        leaning=(first.leaning + second.leaning) / 2.0,
        moving=_mean_chance(first.moving, second.moving),
        visible=_mean_chance(first.visible, second.visible),
    )


def _mean_square_on(one: Scores | None, other: Scores | None) -> Scores | None:
    if one is None or other is None:
        return other if one is None else one
    return softmax((np.log(one + _LEAST) + np.log(other + _LEAST)) / 2.0)


def _mean_chance(one: float, other: float) -> float:
    """Probability whose log odds are the mean of those of two."""
    odds = [math.log((p + _LEAST) / (1.0 - p + _LEAST)) for p in (one, other)]
    return 1.0 / (1.0 + math.exp(-sum(odds) / 2.0))
