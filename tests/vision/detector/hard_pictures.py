"""Pictures that are just so hard that the detector takes its extra steps."""

from __future__ import annotations

from functools import cache

import cv2
import numpy as np

from tests.vision.trays import SIX, tray
from vision.detector.candidates import propose_candidates
from vision.detector.classifier import Detection, classify
from vision.reading import Pixels

_IN_DOUBT = 0.96
"""Probability of the value below which a die is in doubt, whatever the table's own limit."""


def dice_in(pixels: Pixels) -> list[Detection]:
    """All dice that are found, unclear ones with views from all sides."""
    return classify(pixels, propose_candidates(pixels).candidates)


@cache
def hardly_legible() -> Pixels:
    """The six dice, blurred just so far that one of them is in doubt."""
    for spread in np.arange(3.0, 8.0, 0.25):
        pixels = np.asarray(cv2.GaussianBlur(tray(SIX), (0, 0), float(spread)), np.uint8)
        if any(die.values.max() * die.die < _IN_DOUBT for die in dice_in(pixels)):
            return pixels
    raise AssertionError("no blur makes a die unclear")
