"""Augmentations: other cameras, lamps and plastics, applied to training pictures."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.detector.models import CROP_EDGES, MIDDLE
from vision.simulation.appearance import kelvin_bgr, log_uniform

Floats = NDArray[np.float32]

_GLARED, _MARBLED, _SWIRLED, _SPECKLED, _HALF_LIT = 0.12, 0.15, 0.06, 0.06, 0.1
"""Shares of close-ups with a mirrored lamp, of clouded or of two mixed plastics, with specks of
light or half in a shadow."""
_PRINTED = 0.4
"""Share of the places without a die that get a flat mark, such as a logo or a box."""


def other_plastics(crops: Floats, rng: np.random.Generator, is_die: NDArray[np.bool_]) -> Floats:
    """Close-ups (N, H, W, 3) of other plastics, and with marks where there is no die."""
    crops = swirled(marbled(crops, rng, _MARBLED), rng, _SWIRLED)
    return printed(crops, rng, _PRINTED, ~is_die)


def other_lights(crops: Floats, rng: np.random.Generator) -> Floats:
    """Close-ups (N, H, W, 3) with other highlights and shadows."""
    return half_lit(glared(speckled(crops, rng, _SPECKLED), rng, _GLARED), rng, _HALF_LIT)


def tinted(pixels: NDArray[Any], rng: np.random.Generator, groups: int = 1) -> Floats:
    """Scale pictures (N, H, W, 3) uint8 to 0.0-1.0 with random brightness, tint, gamma and noise.

    Args:
        pixels: What was drawn.
        rng: Decides.
        groups: Pictures in a row that share a lamp and a camera.
    """
    kinds = -(-len(pixels) // groups)
    tint = rng.normal(0, 0.18, (kinds, 1, 1)) + rng.normal(0, 0.04, (kinds, 3, 1))
    gamma = np.exp(rng.normal(0, 0.12, (kinds, 1, 1)))
    noise = np.abs(rng.normal(0, 0.012, kinds))
    lamp = np.stack([_cast(rng) for _ in range(kinds)])[..., None]
    tables = np.clip(np.arange(256) / 255.0, 1e-4, 1.0) ** gamma * np.exp(tint) * lamp
    x = np.empty(pixels.shape, np.float32)
    for n, picture in enumerate(pixels):
        table = tables[n // groups].astype(np.float32)
        for channel in range(3):
            x[n, ..., channel] = table[channel][picture[..., channel]]
        x[n] += _grain(rng, x[n].size).reshape(x[n].shape) * np.float32(noise[n // groups])
    return np.clip(x, 0.0, 1.0, out=x)


_CAST, _CAST_K = 0.2, (1700.0, 3800.0)
"""Share of pictures whose white balance ignores the lamp, and the range of its colour temperature:
a candle to a halogen bulb."""


def _cast(rng: np.random.Generator) -> Floats:
    """Gains (3,) of blue, green and red: mostly 1.0, else those of a bulb or of open shade."""
    if rng.random() >= _CAST:
        return np.ones(3, np.float32)
    gains = np.array(kelvin_bgr(rng.uniform(*_CAST_K))) ** (rng.uniform(0.4, 1.0) / 2.2)
    if rng.random() < 0.2:
        gains = gains.min() / gains
    return np.asarray(gains * rng.uniform(0.9, 1.2), np.float32)


_GRAIN = np.random.default_rng(0).standard_normal(1 << 21, dtype=np.float32)


def _grain(rng: np.random.Generator, size: int) -> Floats:
    """Normal noise (size,), a random part of a precomputed array."""
    start = int(rng.integers(_GRAIN.size - size))
    return _GRAIN[start : start + size]


def marbled(crops: Floats, rng: np.random.Generator, share: float) -> Floats:
    """Some crops (N, H, W, 3) with clouds of another shade, as marbled and speckled dice have."""
    for n in np.flatnonzero(rng.random(len(crops)) < share):
        cells = int(rng.integers(3, 10))
        cloud = rng.normal(0, 1, (cells, cells, 3)) * rng.uniform(0, 1, (1, 1, 3))
        cloud = cloud + rng.normal(0, 1, (cells, cells, 1))
        size_wh = (crops.shape[2], crops.shape[1])
        wide = cv2.resize(cloud.astype(np.float32), size_wh, interpolation=cv2.INTER_CUBIC)
        crops[n] = np.clip(crops[n] * np.exp(wide * rng.uniform(0.03, 0.2)), 0.0, 1.0)
    return crops


def swirled(crops: Floats, rng: np.random.Generator, share: float) -> Floats:
    """Some crops (N, H, W, 3) with dark swirls in what is of the die's own colour: two plastics
    mixed, under painted pips."""
    size_wh = (crops.shape[2], crops.shape[1])
    for n in np.flatnonzero(rng.random(len(crops)) < share):
        cells = int(rng.integers(3, 8))
        noise = cv2.resize(
            rng.normal(0, 1, (cells, cells)).astype(np.float32), size_wh,
            interpolation=cv2.INTER_CUBIC,
        )  # fmt: skip
        swirl = 1.0 / (1.0 + np.exp(-(noise - rng.uniform(0.1, 1.2)) * rng.uniform(3.0, 15.0)))
        apart = np.log(crops[n] + 0.02)
        apart -= np.median(apart[MIDDLE, MIDDLE].reshape(-1, 3), axis=0)
        lighter = apart.mean(axis=2)
        if (lighter[MIDDLE, MIDDLE] < -0.6).mean() > 0.02:
            continue  # dark pips would drown in it
        off = np.abs(apart - lighter[..., None]).max(axis=2) + 0.4 * np.abs(lighter)
        swirl = swirl * np.clip(2.0 - 4.0 * off, 0.0, 1.0)
        dark = np.exp(rng.uniform(-2.5, -0.4) + rng.normal(0, 0.2, 3))
        crops[n] = np.clip(crops[n] * (1.0 - swirl[..., None] * (1.0 - dark)), 0.0, 1.0)
    return crops


def glared(crops: Floats, rng: np.random.Generator, share: float) -> Floats:
    """Some crops (N, H, W, 3) with lamps mirrored in them, as polished dice do: spots and arcs."""
    for n in np.flatnonzero(rng.random(len(crops)) < share):
        height, width = crops.shape[1:3]
        light = np.zeros((height, width), np.uint8)
        for _ in range(int(rng.integers(1, 3))):
            middle = rng.normal((width / 2, height / 2), width / 9.0)
            axes = rng.uniform(0.03, 0.17, 2) * width
            first = rng.uniform(0, 360)
            last, thick = first + 360.0, -1
            if rng.random() < 0.6:
                last, thick = first + rng.uniform(60, 250), int(rng.integers(1, 4))
            cv2.ellipse(
                light, (round(middle[0]), round(middle[1])), (round(axes[0]), round(axes[1])),
                rng.uniform(0, 180), first, last, 255, thick, cv2.LINE_AA,
            )  # fmt: skip
        soft = cv2.GaussianBlur(light, (0, 0), rng.uniform(0.4, 1.6))
        seen = soft.astype(np.float32)[..., None] / np.float32(255.0 / rng.uniform(0.3, 1.0))
        crops[n] = 1.0 - (1.0 - crops[n]) * (1.0 - seen)
    return crops


def speckled(crops: Floats, rng: np.random.Generator, share: float) -> Floats:
    """Some crops (N, H, W, 3) with a lamp mirrored in a rough face: a patch of bright specks."""
    for n in np.flatnonzero(rng.random(len(crops)) < share):
        height, width = crops.shape[1:3]
        y, x = np.mgrid[0:height, 0:width].astype(np.float32)
        middle = rng.normal((width / 2, height / 2), width / 10.0)
        wide = rng.uniform(0.06, 0.2) * width
        tall = wide * rng.uniform(0.6, 1.0)
        far = ((x - middle[0]) / wide) ** 2 + ((y - middle[1]) / tall) ** 2
        fine = rng.normal(size=(height, width)).astype(np.float32)
        noise = cv2.GaussianBlur(fine, (0, 0), rng.uniform(0.5, 1.2))
        noise = noise / noise.std()
        limit = rng.uniform(-0.3, 1.2) + 1.5 * np.maximum(far - 0.6, 0.0)
        specks = np.clip((noise - limit) * rng.uniform(1.5, 5.0), 0.0, 1.0)[..., None]
        bright = np.float32(rng.uniform(0.6, 1.0))
        crops[n] = crops[n] * (1.0 - specks) + specks * np.maximum(crops[n], bright)
    return crops


def half_lit(crops: Floats, rng: np.random.Generator, share: float) -> Floats:
    """Some crops (N, H, W, 3) with the edge of a shadow across them, sharp or soft."""
    for n in np.flatnonzero(rng.random(len(crops)) < share):
        height, width = crops.shape[1:3]
        y, x = np.mgrid[0:height, 0:width].astype(np.float32)
        turn = rng.uniform(0, 2 * np.pi)
        off = rng.normal(0, width / 8.0)
        depth = (x - width / 2) * np.cos(turn) + (y - height / 2) * np.sin(turn) - off
        if rng.random() < 0.4:  # the corner of one
            other = turn + rng.uniform(0.9, 2.2)
            across = (x - width / 2) * np.cos(other) + (y - height / 2) * np.sin(other)
            depth = np.minimum(depth, across - rng.normal(0, width / 8.0))
        shade = np.clip(depth / log_uniform(rng, 0.5, 6.0) + 0.5, 0.0, 1.0)
        dark = log_uniform(rng, 0.12, 0.7) * np.exp(rng.normal(0, 0.08, 3))
        crops[n] *= 1.0 - shade[..., None] * (1.0 - dark.astype(np.float32))
    return crops


def shone_on(pictures: Floats, rng: np.random.Generator, share: float) -> Floats:
    """Some pictures (N, H, W, 3) with lamps mirrored in a polished floor: wide soft patches of
    light, brightest where the ground is bright, some with a white core."""
    height, width = pictures.shape[1:3]
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    for n in np.flatnonzero(rng.random(len(pictures)) < share):
        ground = pictures[n].mean(axis=2, keepdims=True)
        grain = ground / (cv2.GaussianBlur(ground, (0, 0), 6.0)[..., None] + 0.02)
        for _ in range(int(rng.integers(1, 4))):
            across, down = rng.uniform((0, 0), (width, height))
            wide = log_uniform(rng, 0.008, 0.13) * width
            flat, turn = rng.uniform(0.35, 1.0), rng.uniform(0, np.pi)
            c, s = np.cos(turn), np.sin(turn)
            u, v = (x - across) * c + (y - down) * s, (y - down) * c - (x - across) * s
            spot = np.exp(-(((u / wide) ** 2 + (v / (flat * wide)) ** 2) ** rng.uniform(0.6, 1.6)))
            tint = np.exp(rng.normal(0, 0.08, 3)) * log_uniform(rng, 0.1, 1.6)
            light = spot[..., None] * tint * grain ** rng.uniform(0.0, 1.0)
            pictures[n] = np.clip(pictures[n] + light, 0.0, 1.0)
    return pictures


def repainted(crops: Floats, rng: np.random.Generator) -> Floats:
    """Crops (N, H, W, 3) in two other colours, as other makers have their dice."""
    dark, light = rng.uniform(0.0, 0.5, 3), rng.uniform(0.2, 1.0, 3)
    if rng.random() < 0.5:
        dark, light = light, dark
    shade = crops @ rng.dirichlet((2.0, 2.0, 2.0)).astype(np.float32)
    low, high = np.quantile(shade, (0.02, 0.98))
    shade = np.clip((shade - low) / max(high - low, 0.05), 0.0, 1.0)[..., None]
    kept = rng.uniform(0.0, 0.5)
    mixed = (1.0 - kept) * (dark + shade * (light - dark)) + kept * crops
    return np.clip(mixed, 0.0, 1.0).astype(np.float32)


def printed(
    crops: Floats, rng: np.random.Generator, share: float, where: NDArray[np.bool_]
) -> Floats:
    """Some of the crops (N, H, W, 3) in `where` with flat marks of one colour in their middle, as
    logos, feet, stickers and printed boxes are: squares, discs, rings and frames."""
    height, width = crops.shape[1:3]
    for n in np.flatnonzero(where & (rng.random(len(crops)) < share)):
        mark = cv2.resize(_mark(rng, width * _FINE), (width, height), interpolation=cv2.INTER_AREA)
        soft = cv2.GaussianBlur(mark, (0, 0), rng.uniform(0.3, 1.2)).astype(np.float32)[..., None]
        soft *= np.float32(rng.uniform(0.5, 1.0) / 255.0)
        ground = np.median(crops[n].reshape(-1, 3), axis=0)
        paint = rng.uniform(0, 1, 3) if rng.random() < 0.5 else ground * np.exp(rng.normal(0, 0.9))
        shade = crops[n].mean(axis=2, keepdims=True) / max(float(ground.mean()), 0.02)
        colour = np.clip(paint * shade ** rng.uniform(0.0, 1.0), 0.0, 1.0).astype(np.float32)
        crops[n] = crops[n] * (1.0 - soft) + soft * colour
    return crops


_FINE = 4
"""Marks are drawn so many times as large, so that their edges are smooth."""


def _mark(rng: np.random.Generator, width: int) -> NDArray[np.uint8]:
    """A mark about as large as the top face of a die (width, width), 0 to 255."""
    mark = np.zeros((width, width), np.uint8)
    middle = width / 2 + rng.normal(0, 0.06 * width, 2)
    edge = width / CROP_EDGES * np.exp(rng.normal(0, 0.12))
    turn = rng.uniform(0, np.pi)
    across = np.array([np.cos(turn), np.sin(turn)]) * edge / 2
    down = np.array([-across[1], across[0]]) * rng.uniform(0.8, 1.0)
    thick = -1 if rng.random() < 0.6 else max(1, round(edge * rng.uniform(0.05, 0.25)))
    if rng.random() < 0.4:
        where, axes = np.round(middle).astype(int), (round(edge / 2), round(np.hypot(*down)))
        cv2.ellipse(mark, tuple(where.tolist()), axes, np.degrees(turn), 0, 360, 255, thick)
    else:
        square = [middle + a * across + b * down for a, b in ((1, 1), (-1, 1), (-1, -1), (1, -1))]
        points = [np.round(np.array(square)).astype(np.int32)]
        if thick < 0:
            cv2.fillPoly(mark, points, 255)
        else:
            cv2.polylines(mark, points, isClosed=True, color=255, thickness=thick)
    if rng.random() < 0.3:  # others beside it, as in a logo
        for x, y in np.array([across, down]) * rng.uniform(2.1, 3.0):
            moved = np.array([[1, 0, x], [0, 1, y]], np.float32)
            mark = np.maximum(mark, cv2.warpAffine(mark, moved, (width, width)))
    return mark
