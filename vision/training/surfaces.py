"""Augmentations of single dice: other pips, marks on the plastic, and other floors below them."""

from __future__ import annotations

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.simulation.appearance import Rng, log_uniform, pick

Floats = NDArray[np.float32]

_AWAY = 0.13
"""Least distance (edges) of a mark from the middle of a pip, so that no pip is painted over."""
_MOST_MARKS = 14
_ROUND = np.linspace(0.0, 2.0 * np.pi, 16, endpoint=False)
_SHIFT = 4
"""Fractional bits of the points that OpenCV draws."""


def repipped(
    crops: Floats, corners: NDArray[Any], pips: NDArray[Any], rng: Rng, where: NDArray[np.intp]
) -> Floats:
    """Paint the pips of some dice in another colour, as discs, rings or eyes.

    Args:
        crops: (N, H, W, 3) in 0.0-1.0; changed in place.
        corners: (N, 4, 2) of the top faces in px.
        pips: (N, 6, 2) middles of the pips in px, NaN where there is none.
        where: Which of the crops.
    """
    for n in where:
        plastic = _plastic(crops[n])
        paint = _ink(rng, plastic)
        across, down = _axes(corners[n])
        radius = rng.uniform(0.08, 0.145)
        inner = rng.uniform(0.3, 0.7) if rng.random() < 0.45 else 0.0
        core = plastic if rng.random() < 0.6 else _ink(rng, plastic)
        soft = rng.uniform(0.3, 0.9)
        for share, colour in ((1.0, paint), (inner, core)):
            if share:
                shapes = [_disc(pip, across, down, radius * share) for pip in _known(pips[n])]
                _fill(crops[n], shapes, colour, soft, 1.0)
    return crops


def chipped(
    crops: Floats, corners: NDArray[Any], pips: NDArray[Any], rng: Rng, where: NDArray[np.intp]
) -> Floats:
    """Draw chips, scratches and specks on the top faces of some dice, beside their pips.

    Arguments as for `repipped`.
    """
    for n in where:
        plastic, spots = _plastic(crops[n]), _known(pips[n])
        across, down = _axes(corners[n])
        x, y = np.clip(np.round(spots[0]).astype(int), 0, crops.shape[1] - 1)
        own = crops[n, y, x]
        colours = (own, plastic * rng.uniform(0.2, 1.8), rng.uniform(0.0, 1.0, 3))
        colour = np.clip(pick(rng, colours), 0.0, 1.0)
        middle, edge = corners[n].mean(axis=0), float(np.hypot(*across))
        size = log_uniform(rng, 0.015, 0.06)
        long = rng.uniform(1.0, 3.5)
        marks = []
        for _ in range(int(rng.integers(1, _MOST_MARKS))):
            a, b = rng.uniform(-0.5, 0.5, 2)
            spot = middle + a * across + b * down
            if np.hypot(*(spots - spot).T).min() > _AWAY * edge + size * long * edge * 0.5:
                marks.append(_flake(rng, spot, across, down, size, long))
        if marks:
            _fill(crops[n], marks, colour, rng.uniform(0.2, 0.8), rng.uniform(0.4, 1.0))
    return crops


def replanted(
    crops: Floats,
    corners: NDArray[Any],
    rise: NDArray[Any],
    rng: Rng,
    where: NDArray[np.intp],
    floors: NDArray[np.intp],
) -> Floats:
    """Put some dice on what other crops show, with a shadow.

    Args:
        crops: (N, H, W, 3) in 0.0-1.0; changed in place.
        corners: (N, 4, 2) of the top faces in px.
        rise: (N, 2) from the foot of a die to its top face, in edges.
        where: Which of the crops; dice in full view that lie flat.
        floors: Crops without a die.
    """
    if not len(floors):
        return crops
    height, width = crops.shape[1:3]
    for n in where:
        edge = float(np.hypot(*_axes(corners[n])[0]))
        bottom = corners[n] - rise[n] * edge
        body = cv2.convexHull(np.concatenate([corners[n], bottom]).astype(np.float32))[:, 0]
        middle = body.mean(axis=0)
        body = middle + (body - middle) * rng.uniform(0.97, 1.03)
        floor = crops[int(rng.choice(floors))]
        floor = np.rot90(floor, int(rng.integers(4)))[:: int(rng.choice((-1, 1)))]
        floor = np.clip(floor * np.float32(np.exp(rng.normal(0.0, 0.3))), 0.0, 1.0)
        away = rng.normal(0.0, 0.25, 2) * edge
        shade = _mask(height, width, [np.concatenate([bottom, bottom + away])], hull=True)
        soft = cv2.GaussianBlur(shade, (0, 0), float(np.exp(rng.uniform(-0.5, 1.6))))
        floor = floor * (1.0 - soft[..., None] * np.float32(rng.uniform(0.1, 0.8)))
        mask = cv2.morphologyEx(
            _mask(height, width, [body]), cv2.MORPH_OPEN, _round(rng.uniform(0.08, 0.22) * edge)
        )
        mask = cv2.GaussianBlur(mask, (0, 0), rng.uniform(0.4, 0.9))
        crops[n] = crops[n] * mask[..., None] + floor * (1.0 - mask[..., None])
    return crops


def _plastic(crop: Floats) -> NDArray[np.float64]:
    middle = slice(len(crop) // 3, len(crop) * 2 // 3)
    return np.median(crop[middle, middle].reshape(-1, 3), axis=0).astype(np.float64)


def _ink(rng: Rng, plastic: NDArray[np.float64]) -> NDArray[np.float64]:
    """Draw a colour (3,) that stands out from a plastic."""
    draws = rng.uniform(0.0, 1.0, (6, 3)) ** rng.uniform(0.5, 2.0, (6, 1))
    apart = np.abs(np.log(draws + 0.06) - np.log(plastic + 0.06))
    return np.asarray(draws[int((apart.max(axis=1) + 2.0 * apart.mean(axis=1)).argmax())])


def _axes(corners: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Two sides (2,) of a top face (4, 2), in px."""
    a, b, c, d = corners
    return (b - a + c - d) / 2.0, (d - a + c - b) / 2.0


def _known(pips: NDArray[Any]) -> NDArray[Any]:
    return pips[np.isfinite(pips[:, 0])]


def _disc(
    spot: NDArray[Any], across: NDArray[Any], down: NDArray[Any], radius: float
) -> NDArray[Any]:
    cosines, sines = np.cos(_ROUND)[:, None], np.sin(_ROUND)[:, None]
    return np.asarray(spot + radius * (cosines * across + sines * down))


def _flake(
    rng: Rng,
    spot: NDArray[Any],
    across: NDArray[Any],
    down: NDArray[Any],
    size: float,
    long: float,
) -> NDArray[Any]:
    """Draw an uneven shape round a point."""
    turns = np.sort(rng.uniform(0.0, 2.0 * np.pi, int(rng.integers(3, 8))))
    reach = size * rng.uniform(0.5, 1.0, len(turns))
    turn = rng.uniform(0.0, np.pi)
    u, v = long * reach * np.cos(turns), reach * np.sin(turns)
    a, b = u * np.cos(turn) - v * np.sin(turn), u * np.sin(turn) + v * np.cos(turn)
    return np.asarray(spot + a[:, None] * across + b[:, None] * down)


def _round(radius: float) -> NDArray[np.uint8]:
    wide = 2 * round(radius) + 1
    return np.asarray(cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (wide, wide)), np.uint8)


def _mask(height: int, width: int, shapes: list[NDArray[Any]], *, hull: bool = False) -> Floats:
    """Cover (H, W) of polygons, 0.0 to 1.0."""
    mask = np.zeros((height, width), np.uint8)
    for shape in shapes:
        points = np.round(np.clip(shape, -width, 2 * width) * (1 << _SHIFT)).astype(np.int32)
        points = cv2.convexHull(points) if hull else points
        cv2.fillPoly(mask, [points], 255, cv2.LINE_AA, _SHIFT)
    return mask.astype(np.float32) / np.float32(255.0)


def _fill(
    crop: Floats, shapes: list[NDArray[Any]], colour: NDArray[Any], soft: float, cover: float
) -> None:
    """Paint shapes into a crop (H, W, 3) in one colour, in place."""
    height, width = crop.shape[:2]
    mask = _mask(height, width, shapes)
    alpha = cv2.GaussianBlur(mask, (0, 0), soft)[..., None] * np.float32(cover)
    crop[:] = crop * (1.0 - alpha) + alpha * colour.astype(np.float32)
