"""Printed and woven patterns for training, drawn as square pictures of any colours."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.simulation.appearance import Rng, log_uniform, pick
from vision.simulation.geometry import PIPS

Picture = NDArray[np.uint8]

SIZE = 384
"""Side of a pattern in px."""

_DICE_COLOURS = ((235, 238, 240), (40, 30, 200), (30, 190, 235), (60, 140, 40), (170, 70, 25))


def any_paint(rng: Rng) -> tuple[int, int, int]:
    """Draw a colour: that of a die, a neutral one, or any."""
    kind = rng.random()
    if kind < 0.35:
        base = np.array(pick(rng, _DICE_COLOURS), float)
        colour = base * rng.uniform(0.7, 1.1) + rng.normal(0, 10, 3)
    elif kind < 0.6:
        colour = np.full(3, rng.uniform(5, 250)) + rng.normal(0, 8, 3)
    else:
        colour = rng.uniform(0, 255, 3)
    b, g, r = np.clip(colour, 0, 255).astype(int).tolist()
    return b, g, r


def plain_sheet(rng: Rng, paint: tuple[int, int, int] | None = None) -> Picture:
    sheet = np.empty((SIZE, SIZE, 3), np.uint8)
    sheet[:] = paint or any_paint(rng)
    return sheet


def soft_clouds(rng: Rng, cells: int) -> NDArray[np.float32]:
    """Smooth noise (SIZE, SIZE), mean 0 and deviation 1."""
    small = rng.normal(0, 1, (cells + 3, cells + 3)).astype(np.float32)
    wide = cv2.resize(small, (SIZE, SIZE), interpolation=cv2.INTER_CUBIC)
    return np.asarray((wide - wide.mean()) / (wide.std() + 1e-6), np.float32)


def loose_grid(rng: Rng, step: float, loose: float) -> NDArray[np.float64]:
    """Points (N, 2) on a grid, moved by some share of its step."""
    at = np.arange(step / 2, SIZE, step)
    points = np.stack(np.meshgrid(at, at), axis=-1).reshape(-1, 2)
    if rng.random() < 0.5:
        points[:, 0] += (np.round(points[:, 1] / step) % 2) * step / 2
    return np.asarray(points + rng.normal(0, loose * step, points.shape))


def spots(rng: Rng) -> Picture:
    """Discs and rings, in rows or scattered."""
    sheet, step = plain_sheet(rng), rng.uniform(12, 90)
    paints = [any_paint(rng) for _ in range(int(rng.integers(1, 4)))]
    radius = step * rng.uniform(0.1, 0.42)
    thick = -1 if rng.random() < 0.75 else max(1, int(radius * 0.4))
    for x, y in loose_grid(rng, step, float(rng.choice([0.0, 0.0, 0.25]))):
        size = radius * (rng.uniform(0.5, 1.2) if rng.random() < 0.3 else 1.0)
        paint = pick(rng, paints)
        cv2.circle(sheet, (int(x), int(y)), max(1, int(size)), paint, thick, cv2.LINE_AA)
    return sheet


def stripes(rng: Rng) -> Picture:
    """Bars of two to five colours."""
    count = int(rng.integers(2, 6))
    widths = rng.integers(2, 50, count)
    row = np.concatenate([np.full((w, 3), any_paint(rng), np.uint8) for w in widths])
    row = np.tile(row, (SIZE // len(row) + 2, 1))[:SIZE]
    return np.ascontiguousarray(np.broadcast_to(row, (SIZE, SIZE, 3)))


def checks(rng: Rng) -> Picture:
    """A chessboard, at times with a frame round its fields."""
    step = int(rng.integers(8, 80))
    y, x = np.mgrid[0:SIZE, 0:SIZE] // step
    sheet = np.where(((x + y) % 2 == 0)[..., None], any_paint(rng), any_paint(rng)).astype(np.uint8)
    if rng.random() < 0.3:
        line = np.arange(0, SIZE, step)
        sheet[line], sheet[:, line] = any_paint(rng), any_paint(rng)
    return sheet


GLYPHS = "ABCDEFGHIJKLMNOPRSTUVWXYZabcdefghijkmnoprstuvwxyz0123456789.:;!?&%*+=@#ooO0.."


def _write(rng: Rng, sheet: Picture, where: tuple[int, int], scale: float, length: int) -> None:
    text = "".join(rng.choice(list(GLYPHS), length))
    font = int(rng.choice([0, 1, 2, 3, 4, 5, 6, 7])) + int(rng.choice([0, 16]))
    thick = max(1, int(scale * rng.uniform(1.0, 4.0)))
    cv2.putText(sheet, text, where, font, scale, any_paint(rng), thick, cv2.LINE_AA)


def text(rng: Rng) -> Picture:
    """Words and numbers of all sizes and directions."""
    sheet = plain_sheet(rng)
    scale = log_uniform(rng, 0.4, 4.0)
    for _ in range(int(60 / scale) + 4):
        turned = np.ascontiguousarray(np.rot90(sheet, int(rng.integers(4))))
        where = (int(rng.integers(-40, SIZE - 10)), int(rng.integers(10, SIZE)))
        _write(rng, turned, where, scale * rng.uniform(0.7, 1.3), int(rng.integers(1, 9)))
        sheet = turned
    return sheet


def _square(
    sheet: Picture, middle: NDArray[np.float64], half: float, turn: float, paint: tuple[int, ...]
) -> None:
    corners = np.array([[1, 1], [-1, 1], [-1, -1], [1, -1]]) * half * 0.86
    c, s = np.cos(turn), np.sin(turn)
    points = np.round(corners @ np.array([[c, s], [-s, c]]) + middle).astype(np.int32)
    cv2.fillPoly(sheet, [points], paint, cv2.LINE_AA)
    cv2.polylines(sheet, [points], True, paint, max(1, int(half * 0.3)), cv2.LINE_AA)


def drawn_dice(rng: Rng) -> Picture:
    """Printed faces of dice and pip-like groups of dots without a face."""
    sheet, step = plain_sheet(rng), rng.uniform(30, 120)
    faces = rng.random() < 0.5
    for middle in loose_grid(rng, step, 0.06):
        half = step * rng.uniform(0.22, 0.34)
        turn = rng.uniform(0, np.pi) if rng.random() < 0.4 else 0.0
        if faces and rng.random() < 0.8:
            _square(sheet, middle, half, turn, any_paint(rng))
        ink = any_paint(rng)
        c, s = np.cos(turn), np.sin(turn)
        for dx, dy in PIPS[int(rng.integers(1, 7))]:
            x, y = middle + half * 0.55 * np.array([dx * c - dy * s, dx * s + dy * c])
            cv2.circle(sheet, (int(x), int(y)), max(1, int(half * 0.18)), ink, -1, cv2.LINE_AA)
    return sheet


def squares(rng: Rng) -> Picture:
    """Rounded squares in the colours of dice, in rows or scattered."""
    sheet, step = plain_sheet(rng), rng.uniform(25, 110)
    for middle in loose_grid(rng, step, float(rng.choice([0.0, 0.2]))):
        turn = rng.uniform(0, np.pi) if rng.random() < 0.5 else 0.0
        _square(sheet, middle, step * rng.uniform(0.2, 0.4), turn, any_paint(rng))
        if rng.random() < 0.3:
            _write(rng, sheet, (int(middle[0]) - 8, int(middle[1]) + 8), step / 70, 1)
    return sheet


def confetti(rng: Rng) -> Picture:
    """Small scraps, threads and stars of many colours."""
    sheet = plain_sheet(rng)
    size = rng.uniform(3, 20)
    for _ in range(int(rng.uniform(40, 350))):
        middle = rng.uniform(0, SIZE, 2)
        points = middle + rng.normal(0, size, (int(rng.integers(3, 6)), 2))
        hull = cv2.convexHull(np.round(points).astype(np.int32))
        if rng.random() < 0.15:
            cv2.polylines(sheet, [np.round(points).astype(np.int32)], False, any_paint(rng), 1, 16)
        else:
            cv2.fillConvexPoly(sheet, hull, any_paint(rng), cv2.LINE_AA)
    return sheet


def blobs(rng: Rng) -> Picture:
    """Patches of two to five colours with smooth or ragged edges."""
    cells = int(rng.integers(3, 22))
    field = soft_clouds(rng, cells) + rng.uniform(0, 0.6) * soft_clouds(rng, cells * 3)
    limits = np.sort(rng.normal(0, 0.9, int(rng.integers(1, 5))))
    paints = np.array([any_paint(rng) for _ in range(len(limits) + 1)], np.uint8)
    return np.asarray(paints[np.searchsorted(limits, field)], np.uint8)


def marble(rng: Rng) -> Picture:
    """Soft veins through a clouded ground."""
    cells = int(rng.integers(2, 7))
    field = (
        soft_clouds(rng, cells)
        + 0.5 * soft_clouds(rng, cells * 3)
        + 0.25 * soft_clouds(rng, cells * 8)
    )
    vein = np.exp(-np.abs(field) * rng.uniform(3, 20))[..., None] * rng.uniform(0.3, 1.0)
    cloud = (0.5 + 0.16 * soft_clouds(rng, cells * 2))[..., None]
    ground = np.array(any_paint(rng)) * (1 - cloud) + np.array(any_paint(rng)) * cloud
    return np.asarray(
        np.clip(ground * (1 - vein) + np.array(any_paint(rng)) * vein, 0, 255), np.uint8
    )


def scratches(rng: Rng) -> Picture:
    """Fine bent lines over an uneven ground, as on stone, used plastic or a cutting mat."""
    ground = (
        np.array(any_paint(rng)) * (1 + rng.uniform(0.02, 0.2) * soft_clouds(rng, 30))[..., None]
    )
    sheet = np.clip(ground, 0, 255).astype(np.uint8)
    for _ in range(int(rng.uniform(5, 90))):
        steps = rng.normal(0, 6, (8, 2)) + rng.normal(0, 14, 2)
        points = np.round(rng.uniform(0, SIZE, 2) + np.cumsum(steps, axis=0)).astype(np.int32)
        cv2.polylines(sheet, [points], False, any_paint(rng), int(rng.integers(1, 3)), cv2.LINE_AA)
    return np.asarray(sheet, np.uint8)


def weave(rng: Rng) -> Picture:
    """Strands that go over and under one another, each shaded round."""
    step = int(rng.integers(6, 36))
    over = int(rng.integers(1, 4))
    y, x = np.mgrid[0:SIZE, 0:SIZE]
    along = ((x // step) // over + y // step) % 2 == 0
    round_x = np.abs((x % step) / step - 0.5) * 2
    round_y = np.abs((y % step) / step - 0.5) * 2
    shade = 1.0 - rng.uniform(0.2, 0.8) * np.where(along, round_y, round_x) ** 2
    paint = np.where(along[..., None], any_paint(rng), any_paint(rng)) * shade[..., None]
    return np.asarray(np.clip(paint, 0, 255), np.uint8)


def board(rng: Rng) -> Picture:
    """Large lines, arcs, arrows and frames, as printed on game mats."""
    sheet = plain_sheet(rng)
    for _ in range(int(rng.integers(4, 25))):
        paint, thick = any_paint(rng), int(rng.integers(1, 9))
        a, b = (tuple(rng.integers(-50, SIZE + 50, 2).tolist()) for _ in range(2))
        kind = int(rng.integers(5))
        if kind == 0:
            cv2.line(sheet, a, b, paint, thick, cv2.LINE_AA)
        elif kind == 1:
            cv2.rectangle(sheet, a, b, paint, thick)
        elif kind == 2:
            cv2.circle(sheet, a, int(rng.integers(5, 150)), paint, thick, cv2.LINE_AA)
        elif kind == 3:
            cv2.arrowedLine(sheet, a, b, paint, thick, cv2.LINE_AA)
        else:
            _write(rng, sheet, a, rng.uniform(0.5, 3.0), int(rng.integers(1, 7)))
    return sheet


def planks(rng: Rng) -> Picture:
    """Boards or bricks with dark joints, each of its own tone."""
    sheet, tall = plain_sheet(rng), int(rng.integers(12, 90))
    wide = int(tall * rng.uniform(1.0, 6.0))
    base, joint = np.array(any_paint(rng), float), any_paint(rng)
    for row, top in enumerate(range(0, SIZE, tall)):
        for left in range(-(row % 2) * wide // 2, SIZE, wide):
            tone = np.clip(base * np.exp(rng.normal(0, 0.18)), 0, 255).astype(int).tolist()
            cv2.rectangle(sheet, (left, top), (left + wide, top + tall), tone, -1)
            cv2.rectangle(sheet, (left, top), (left + wide, top + tall), joint, 1)
    grain = 1 + rng.uniform(0.0, 0.15) * soft_clouds(rng, 60)[..., None]
    return np.clip(sheet * grain, 0, 255).astype(np.uint8)


def nested(rng: Rng) -> Picture:
    """Polygons or rings inside one another, as on rugs and tiles."""
    sheet, step = plain_sheet(rng), rng.uniform(24, 130)
    paints = [any_paint(rng) for _ in range(int(rng.integers(2, 5)))]
    sides = int(rng.choice([3, 4, 4, 5, 6, 8, 24]))
    rounds, turn = int(rng.integers(2, 7)), rng.uniform(0, np.pi)
    around = np.arange(sides) / sides * 2 * np.pi
    reach = step * rng.uniform(0.35, 0.75)
    for middle in loose_grid(rng, step, float(rng.choice([0.0, 0.0, 0.2]))):
        for n in range(rounds):
            size = reach * (1 - n / rounds)
            spread = np.stack([np.cos(around + turn), np.sin(around + turn)], axis=1)
            points = np.round(middle + size * spread).astype(np.int32)
            cv2.fillConvexPoly(sheet, points, paints[n % len(paints)], cv2.LINE_AA)
    return sheet


def flowers(rng: Rng) -> Picture:
    """Petals round a middle, in rows or scattered."""
    sheet, step = plain_sheet(rng), rng.uniform(20, 110)
    petals, paints = int(rng.integers(3, 9)), [any_paint(rng) for _ in range(3)]
    size = step * rng.uniform(0.15, 0.4)
    wide = rng.uniform(0.15, 0.6)
    for x, y in loose_grid(rng, step, float(rng.choice([0.0, 0.25]))):
        turn, paint = rng.uniform(0, 360), pick(rng, paints[:2])
        for n in range(petals):
            angle = turn + 360 * n / petals
            way = np.array([np.cos(np.radians(angle)), np.sin(np.radians(angle))])
            a, b = (np.array([x, y]) + 0.6 * size * way).astype(int).tolist()
            axes = (max(1, int(0.5 * size)), max(1, int(0.5 * size * wide)))
            cv2.ellipse(sheet, (a, b), axes, angle, 0, 360, paint, -1, cv2.LINE_AA)
        cv2.circle(sheet, (int(x), int(y)), max(1, int(0.25 * size)), paints[2], -1, cv2.LINE_AA)
    return sheet


def waves(rng: Rng) -> Picture:
    """Smooth wavy bands of two to five colours."""
    y, x = np.mgrid[0:SIZE, 0:SIZE].astype(np.float32)
    long, tall = rng.uniform(20, 200), rng.uniform(10, 80)
    phase = y / tall + rng.uniform(0.1, 0.6) * np.sin(2 * np.pi * x / long)
    paints = np.array([any_paint(rng) for _ in range(int(rng.integers(2, 6)))], np.uint8)
    return np.asarray(paints[np.floor(phase * 2).astype(int) % len(paints)], np.uint8)


def lattice(rng: Rng) -> Picture:
    """Crossing lines of one or two widths, at times with knots where they cross."""
    sheet, step = plain_sheet(rng), int(rng.integers(10, 80))
    lean, paint = float(rng.choice([0.0, 1.0, rng.uniform(-1, 1)])), any_paint(rng)
    thick = max(1, int(step * rng.uniform(0.04, 0.35)))
    for at in range(-2 * SIZE, 2 * SIZE, step):
        down = at + int(lean * SIZE)
        cv2.line(sheet, (at, 0), (down, SIZE), paint, thick, cv2.LINE_AA)
        cv2.line(sheet, (0, at), (SIZE, at - int(lean * SIZE)), paint, thick, cv2.LINE_AA)
    if rng.random() < 0.5:
        knot, ink = max(2, int(step * rng.uniform(0.1, 0.35))), any_paint(rng)
        for x, y in loose_grid(rng, step, 0.0):
            cv2.circle(sheet, (int(x), int(y)), knot, ink, -1, cv2.LINE_AA)
    return sheet


def scales(rng: Rng) -> Picture:
    """Overlapping discs with an edge, like fish scales or roof tiles."""
    sheet, radius = plain_sheet(rng), int(rng.integers(9, 60))
    paints, edge = [any_paint(rng) for _ in range(int(rng.integers(1, 4)))], any_paint(rng)
    for row, y in enumerate(range(-radius, SIZE + radius, radius)):
        for x in range(-(row % 2) * radius, SIZE + radius, 2 * radius):
            paint = pick(rng, paints)
            cv2.circle(sheet, (x, y), radius, paint, -1, cv2.LINE_AA)
            cv2.circle(sheet, (x, y), radius, edge, max(1, radius // 9), cv2.LINE_AA)
    return sheet


TRAINED: dict[str, Callable[[Rng], Picture]] = {
    each.__name__: each
    for each in (
        spots, stripes, checks, text, drawn_dice, squares, confetti, blobs, marble, scratches,
        weave, board, planks, nested, flowers, waves, lattice, scales,
    )
}  # fmt: skip
