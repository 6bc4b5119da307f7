"""Six dice in a row, drawn as squares, with the evidence that a reader would give of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np

from companion.engine.dice import ALL_DICE, DieColour
from tests.vision.evidence import seen_die
from vision.detector.status import PALETTE
from vision.evidence import Clutter, DieEvidence, SceneEvidence
from vision.reading import Frame, Pixels, Reading
from vision.tracking.fusion import RestFrame, combine

EDGE = 40.0


def die(colour: DieColour, value: int, n: int, *, sure: float = 0.995) -> DieEvidence:
    """The n-th die in a row, its outputs as sure as told."""
    colours = np.full(6, 0.0002, np.float32)
    colours[PALETTE.index(colour)] = 0.999
    return seen_die(colours, value, sure, (60.0 + 70.0 * n, 100.0), EDGE, tilt=-5.0)


SIX = tuple(die(colour, n + 1, n) for n, colour in enumerate(ALL_DICE))
GREEN = 4


def scene(dice: Sequence[DieEvidence], **clutter: float) -> SceneEvidence:
    """The evidence of a picture with some dice."""
    return SceneEvidence(tuple(dice), Clutter(**clutter), (640, 480))


def frames(*scenes: SceneEvidence, quality: Sequence[float] | None = None) -> list[RestFrame]:
    """Frames 0.1 s apart, all dice of a frame equally sharp."""
    sharp = quality or [1.0] * len(scenes)
    return [
        RestFrame(each, n * 0.1, (sharp[n],) * len(each.dice), each)
        for n, each in enumerate(scenes)
    ]


def with_green(**changes: object) -> SceneEvidence:
    """The six dice, the green one changed."""
    dice = list(SIX)
    dice[GREEN] = replace(dice[GREEN], **changes)  # type: ignore[arg-type]
    return scene(dice)


def tipped_over() -> SceneEvidence:
    """The six dice, the green one tipped over to another value."""
    x, y = SIX[GREEN].centre_xy
    return with_green(centre_xy=(x, y + EDGE), values=SIX[0].values, value=1)


def dotted(level: int = 150, *, dot: bool = True) -> Pixels:
    """A grey picture with a printed square of four dots at the place of the green die."""
    pixels: Pixels = np.full((240, 640, 3), level, np.uint8)
    x, y = (round(v) for v in SIX[GREEN].centre_xy)
    if dot:
        cv2.rectangle(pixels, (x - 20, y - 20), (x + 20, y + 20), (60, 160, 60), -1)
        for dx, dy in ((-9, -9), (9, -9), (9, 9), (-9, 9)):
            cv2.circle(pixels, (x + dx, y + dy), 3, (20, 20, 20), -1)
    return pixels


def with_squares(dice: Sequence[DieEvidence], *, dot: bool = False) -> Pixels:
    """The grey picture with a square for each of some dice."""
    pixels = dotted(dot=dot)
    for each in dice:
        x, y = (round(v) for v in each.centre_xy)
        cv2.rectangle(pixels, (x - 20, y - 20), (x + 20, y + 20), (200, 90, 40), -1)
    return pixels


class ListedReader:
    """Returns the evidence that a list holds for each frame number."""

    def __init__(self, scenes: dict[int, SceneEvidence]) -> None:
        self.scenes = scenes

    def read(self, frame: Frame, in_play: Sequence[DieColour]) -> Reading:
        number = max(n for n in self.scenes if n <= frame.number)
        here = self.scenes[number]
        return replace(combine(frames(here), in_play), evidence=here)
