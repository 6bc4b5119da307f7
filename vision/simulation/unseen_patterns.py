"""Patterns that no training picture shows: they choose weights and thresholds."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np

from vision.simulation.appearance import Rng, pick
from vision.simulation.patterns import (
    GLYPHS,
    SIZE,
    Picture,
    any_paint,
    loose_grid,
    plain_sheet,
    soft_clouds,
)


def gingham(rng: Rng) -> Picture:
    """Bands of one colour woven with bands of another."""
    step = int(rng.integers(8, 60))
    y, x = np.mgrid[0:SIZE, 0:SIZE] // step
    share = ((x % 2) + (y % 2))[..., None] / 2.0
    return np.asarray(
        ((1 - share) * np.array(any_paint(rng)) + share * np.array(any_paint(rng))), np.uint8
    )


def columns(rng: Rng) -> Picture:
    """Dense lines of small print in columns, with headlines and grey pictures."""
    paper = int(rng.integers(150, 250))
    sheet, ink = plain_sheet(rng, (paper - 15, paper - 5, paper)), (int(rng.integers(10, 90)),) * 3
    wide = int(rng.integers(70, 190))
    for left in range(4, SIZE, wide):
        y = int(rng.integers(4, 30))
        while y < SIZE:
            scale = 0.9 if rng.random() < 0.08 else 0.3
            words = "".join(rng.choice(list(GLYPHS + "    "), int(wide / (19 * scale))))
            cv2.putText(sheet, words, (left, y), 2, scale, ink, 1 + (scale > 0.5), cv2.LINE_AA)
            y += int(30 * scale)
            if rng.random() < 0.05:
                cv2.rectangle(sheet, (left, y), (left + wide - 12, y + 50), (130,) * 3, -1)
                y += 66
    return sheet


def plaid(rng: Rng) -> Picture:
    """Tartan: see-through bands of many widths across one another."""
    bands = []
    for _ in range(2):
        row = np.concatenate(
            [np.full((int(rng.integers(2, 40)), 3), any_paint(rng), float) for _ in range(7)]
        )
        bands.append(np.tile(row, (SIZE // len(row) + 2, 1))[:SIZE])
    return np.asarray(((bands[0][None] + bands[1][:, None]) / 2), np.uint8)


def terrazzo(rng: Rng) -> Picture:
    """Chips of stone in a smooth ground."""
    sheet = plain_sheet(rng)
    paints = [any_paint(rng) for _ in range(4)]
    for middle in rng.uniform(0, SIZE, (int(rng.integers(60, 260)), 2)):
        size = rng.uniform(3, 17)
        points = middle + rng.normal(0, size, (9, 2)) * rng.uniform(0.5, 1.0, 2)
        hull = cv2.convexHull(np.round(points).astype(np.int32))
        cv2.fillConvexPoly(sheet, hull, pick(rng, paints), cv2.LINE_AA)
    return sheet


def maze(rng: Rng) -> Picture:
    """Quarter circles that join to winding lines."""
    sheet, step = plain_sheet(rng), int(rng.integers(14, 60))
    paint, thick = any_paint(rng), max(1, int(step * rng.uniform(0.1, 0.4)))
    for x in range(0, SIZE, step):
        for y in range(0, SIZE, step):
            flip = int(rng.integers(2))
            first, second = (x + flip * step, y), (x + (1 - flip) * step, y + step)
            for middle in (first, second):
                ends = (0, 360)
                tile = np.zeros((step, step), np.uint8)
                at = (middle[0] - x, middle[1] - y)
                cv2.ellipse(tile, at, (step // 2, step // 2), 0, *ends, 255, thick, cv2.LINE_AA)
                part = sheet[y : y + step, x : x + step]
                part[tile[: part.shape[0], : part.shape[1]] > 127] = paint
    return sheet


def halftone(rng: Rng) -> Picture:
    """Dots whose size follows a picture of clouds."""
    sheet, step = plain_sheet(rng), rng.uniform(8, 30)
    paint, tone = any_paint(rng), soft_clouds(rng, 4)
    for x, y in loose_grid(rng, step, 0.0):
        depth = 0.5 + 0.25 * float(tone[min(int(y), SIZE - 1), min(int(x), SIZE - 1)])
        radius = int(step * 0.5 * np.clip(depth, 0.05, 1.0))
        cv2.circle(sheet, (int(x), int(y)), max(1, radius), paint, -1, cv2.LINE_AA)
    return sheet


def zigzag(rng: Rng) -> Picture:
    """Chevrons in two or three colours."""
    step, tall = int(rng.integers(14, 60)), int(rng.integers(8, 40))
    y, x = np.mgrid[0:SIZE, 0:SIZE]
    bent = y + np.abs((x % (2 * step)) - step)
    paints = np.array([any_paint(rng) for _ in range(int(rng.integers(2, 4)))], np.uint8)
    return np.asarray(paints[(bent // tall) % len(paints)], np.uint8)


UNSEEN: dict[str, Callable[[Rng], Picture]] = {
    each.__name__: each for each in (gingham, columns, plaid, terrazzo, maze, halftone, zigzag)
}
