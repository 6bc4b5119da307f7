"""Draws a reading over its picture, to inspect wrong readings."""

from __future__ import annotations

import cv2
import numpy as np

from companion.engine.dice import DieColour
from vision.reading import Pixels, Reading

_INK: dict[DieColour | None, tuple[int, int, int]] = {
    DieColour.WHITE: (255, 255, 255),
    DieColour.RED: (60, 60, 255),
    DieColour.YELLOW: (0, 230, 255),
    DieColour.GREEN: (60, 220, 60),
    DieColour.BLUE: (255, 140, 60),
    None: (255, 0, 255),
}


def draw_reading(pixels: Pixels, reading: Reading) -> Pixels:
    """Return a copy of the picture with outlines, values, confidences and the status.

    Args:
        pixels: (H, W, 3) uint8, BGR, the picture that was read.
    """
    canvas = np.array(pixels)
    scale = max(0.4, max(canvas.shape[:2]) / 1400)
    thick = max(1, round(2 * scale))
    for die in reading.dice:
        ink = _INK[die.colour]
        outline = np.round(np.array(die.corners_xy) * 16).astype(np.int32)
        cv2.polylines(canvas, [outline], True, (0, 0, 0), thick + 2, cv2.LINE_AA, 4)
        cv2.polylines(canvas, [outline], True, ink, thick, cv2.LINE_AA, 4)
        name = die.colour.value if die.colour else "?"
        text = f"{name} {die.value or '?'} {die.confidence:.3f}"
        text += " cocked" if die.cocked else ""
        text += "" if die.in_tray else " beside"
        x, y = np.array(die.corners_xy).max(axis=0)
        _write(canvas, text, (int(x) - round(60 * scale), int(y) + round(16 * scale)), scale, ink)
    problems = " ".join(
        f"{p.code.value}{':' + p.colour.value if p.colour else ''}" for p in reading.problems
    )
    text = f"{reading.status.value}  {problems}"
    _write(canvas, text, (round(8 * scale), round(24 * scale)), 1.4 * scale, (255, 255, 255))
    return canvas


def _write(
    canvas: Pixels, text: str, at: tuple[int, int], scale: float, ink: tuple[int, int, int]
) -> None:
    font = cv2.FONT_HERSHEY_SIMPLEX
    cv2.putText(
        canvas, text, at, font, 0.5 * scale, (0, 0, 0), max(2, round(4 * scale)), cv2.LINE_AA
    )
    cv2.putText(canvas, text, at, font, 0.5 * scale, ink, max(1, round(1.5 * scale)), cv2.LINE_AA)
