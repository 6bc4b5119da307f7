"""Draws hands, pencils, coins, cups and sheets: simple shapes that cover and shade."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.simulation.scene import Background, Floats, Scene, Thing

_LIT = 0.8
"""Share of a lamp's light that falls on things."""


def draw_things(scene: Scene, light: Floats) -> Floats:
    """Paint a scene's things over linear light (H, W, 3)."""
    total = np.asarray(scene.ambient, np.float32).copy()
    for lamp in scene.lamps:
        total += np.asarray(lamp.colour, np.float32) * _LIT
    return _painted(scene, [light], [total], under=False)[0]


def lay_things(scene: Scene, ground: Background) -> Background:
    """Paint the things under a scene's dice on the empty tray."""
    lamps = [np.asarray(lamp.colour, np.float32) * _LIT for lamp in scene.lamps]
    ambient, *lit = _painted(
        scene,
        [ground.ambient, *ground.lamps],
        [np.asarray(scene.ambient, np.float32), *lamps],
        under=True,
    )
    return Background(ambient, tuple(lit))


def _painted(
    scene: Scene, lights: list[Floats], sources: list[Floats], under: bool
) -> list[Floats]:
    """Paint the things above or under the dice into one picture (H, W, 3) per light source."""
    for thing in scene.things:
        if thing.under is not under or not _in_view(scene, thing):
            continue
        mask, bulge, paint = _drawn(scene, thing)
        shadow = 1.0 - 0.55 * _shadow(scene, thing, mask)[..., None]
        tone = np.clip(0.55 + 0.45 * bulge, 0.2, 1.2)[..., None]
        cover = mask[..., None]
        lights = [
            light * shadow * (1.0 - cover) + paint * tone * source * cover
            for light, source in zip(lights, sources, strict=True)
        ]
    return [np.asarray(light, np.float32) for light in lights]


def cover_mask(scene: Scene, under: bool = False) -> Floats:
    """Share of each pixel (H, W) that is covered by things above the dice, or under them."""
    width, height = scene.camera.size_wh
    cover = np.zeros((height, width), np.float32)
    for thing in scene.things:
        if thing.under is not under or thing.kind == "lint" or not _in_view(scene, thing):
            continue
        cover = np.maximum(cover, _drawn(scene, thing, painted=False)[0])
    return cover


def _in_view(scene: Scene, thing: Thing) -> bool:
    """Whether a thing or its shadow may show in the picture."""
    reach = thing.size_mm * (7.0 if thing.kind == "hand" else 2.0) + 3.0 * thing.height_mm + 12.0
    middle = scene.camera.project(np.array([[*thing.position_mm, thing.height_mm]]))[0]
    away = max(scene.camera.position_mm[2] - thing.height_mm, 20.0)
    margin = 1.6 * reach * scene.camera.focal_px / away
    beyond = np.array(scene.camera.size_wh) + margin
    return bool((middle > -margin).all() and (middle < beyond).all())


def _place(scene: Scene, thing: Thing, local: NDArray[np.float64]) -> NDArray[np.float64]:
    """Convert points (N, 2) from the thing's own mm to pixels."""
    a = np.radians(thing.angle_deg)
    turn = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    flat = local @ turn.T + np.asarray(thing.position_mm)
    return scene.camera.project(np.c_[flat, np.full(len(flat), thing.height_mm)])


def _limbs_of_hand(s: float, rng: np.random.Generator) -> list[list[tuple[float, float, float]]]:
    """Arm, palm, fingers and thumb of a hand of some size, as `_limb` draws them."""
    limbs: list[list[tuple[float, float, float]]] = [
        [(-6 * s, rng.uniform(-s, s), 0.33 * s), (-1.2 * s, 0, 0.36 * s), (-0.9 * s, 0, 0.4 * s)],
        [(-1.3 * s, 0, 0.42 * s), (-0.75 * s, 0, 0.44 * s), (-0.7 * s, 0, 0.4 * s)],
    ]
    for finger in range(4):
        side = (finger - 1.5) * 0.24 * s
        wide = side * rng.uniform(0.9, 1.5)
        tip = (rng.uniform(-0.35, 0.0) * s, wide * 1.1, 0.09 * s)
        limbs.append([(-0.7 * s, side, 0.105 * s), (-0.3 * s, wide, 0.1 * s), tip])
    t = rng.choice([-1.0, 1.0]) * s
    limbs.append([(-0.9 * s, 0.3 * t, 0.12 * s), (-0.5 * s, 0.72 * t, 0.11 * s),
                  (-0.3 * s, 0.8 * t, 0.1 * s)])  # fmt: skip
    return limbs


def _limb(
    scene: Scene, thing: Thing, mask: NDArray[np.uint8], ends: list[tuple[float, float, float]]
) -> None:
    """Draw thick strokes through points (x, y, radius) in the thing's mm."""
    points = _place(scene, thing, np.array([[x, y] for x, y, _ in ends]))
    scale = scene.camera.focal_px / max(scene.camera.position_mm[2] - thing.height_mm, 20.0)
    for (x0, y0), (x1, y1), radius in zip(
        points[:-1], points[1:], [r for _, _, r in ends], strict=False
    ):
        if max(abs(x0), abs(y0), abs(x1), abs(y1)) > 8000:
            continue
        start, stop = (int(x0), int(y0)), (int(x1), int(y1))
        cv2.line(mask, start, stop, 255, max(1, min(int(2 * radius * scale), 3000)), cv2.LINE_AA)


def _polygon(
    scene: Scene, thing: Thing, mask: NDArray[np.uint8], local: NDArray[np.float64]
) -> None:
    pixels = np.clip(_place(scene, thing, local), -8000, 8000)
    cv2.fillPoly(mask, [np.round(pixels * 16).astype(np.int32)], 255, cv2.LINE_AA, 4)


def _drawn(scene: Scene, thing: Thing, painted: bool = True) -> tuple[Floats, Floats, Floats]:
    """Draw one thing: its cover (H, W), roundness for shading (H, W) and paint (H, W, 3).

    Without `painted`, the boxes of a score sheet are not drawn.
    """
    width, height = scene.camera.size_wh
    mask = np.zeros((height, width), np.uint8)
    paint = np.empty((height, width, 3), np.float32)
    paint[:] = thing.colour
    rng = np.random.default_rng(thing.seed)
    s = thing.size_mm
    if thing.kind == "lint":
        return _lint(scene, thing, mask, paint, rng)
    if thing.kind == "hand":
        for ends in _limbs_of_hand(s, rng):
            _limb(scene, thing, mask, ends)
    elif thing.kind == "pencil":
        thick = 3.6
        _polygon(
            scene,
            thing,
            mask,
            np.array([[-s, -thick], [s * 0.8, -thick], [s * 0.8, thick], [-s, thick]]),
        )
        tip = np.zeros_like(mask)
        _polygon(scene, thing, tip, np.array([[s * 0.8, -thick], [s, 0.0], [s * 0.8, thick]]))
        paint[tip > 127] = (0.25, 0.45, 0.65)
        mask = np.maximum(mask, tip)
    elif thing.kind in ("token", "button"):
        _flat_piece(scene, thing, mask, paint, rng)
    elif thing.kind in ("coin", "cup"):
        ring = np.linspace(0, 2 * np.pi, 48, endpoint=False)
        circle = np.c_[np.cos(ring), np.sin(ring)] * s
        if thing.kind == "cup":
            foot = _place(scene, replace(thing, height_mm=0.0), 0.8 * circle)
            both = np.concatenate([foot, _place(scene, thing, circle)])
            hull = cv2.convexHull(np.clip(both, -8000, 8000).astype(np.float32))
            points = np.round(hull * 16).astype(np.int32)
            cv2.fillConvexPoly(mask, points, 255, cv2.LINE_AA, 4)
            paint *= np.float32(rng.uniform(0.4, 0.8))
            rim = np.zeros_like(mask)
            _polygon(scene, thing, rim, circle)
            paint[rim > 127] = thing.colour
        _polygon(scene, thing, mask, circle)
        inner = np.zeros_like(mask)
        _polygon(scene, thing, inner, circle * (0.88 if thing.kind == "cup" else 0.75))
        if thing.kind == "cup" and rng.random() < 0.5:  # a drink
            paint[inner > 127] = rng.uniform(0.01, 0.3, 3).astype(np.float32)
        else:
            paint[inner > 127] *= 0.35 if thing.kind == "cup" else 0.85
    else:
        box = np.array([[-1.0, -1.5], [1.0, -1.5], [1.0, 1.5], [-1.0, 1.5]]) * s
        _polygon(scene, thing, mask, box)
        if thing.kind == "sheet" and painted:
            for row, colour in enumerate(
                ((0.02, 0.02, 0.6), (0.03, 0.6, 0.7), (0.05, 0.35, 0.05), (0.5, 0.12, 0.03))
            ):
                x = (-0.85 + 0.42 * row) * s
                for cell in range(11):
                    y = (-1.35 + cell * 0.24) * s
                    corner = np.array([[0, 0], [0.36, 0], [0.36, 0.2], [0, 0.2]]) * s + (x, y)
                    box = _place(scene, thing, corner)
                    if (box.max(axis=0) < 0).any() or (box.min(axis=0) > (width, height)).any():
                        continue
                    field = np.zeros_like(mask)
                    _polygon(scene, thing, field, corner)
                    paint[field > 127] = colour
                    _scribble(scene, thing, paint, corner, rng)
    inside = (mask > 127).astype(np.uint8)
    if thing.kind in ("hand", "pencil") and inside.any():
        deep = cv2.distanceTransform(inside, cv2.DIST_L2, 3)
        bulge = np.clip(deep / max(float(deep.max()) * 0.5, 2.0), 0.0, 1.0) ** 0.6
        bulge = bulge + 0.05 * np.random.default_rng(thing.seed).standard_normal()
    else:
        bulge = np.ones(mask.shape, np.float32) * 0.8
    return mask.astype(np.float32) / 255.0, bulge.astype(np.float32), paint


def _flat_piece(
    scene: Scene, thing: Thing, mask: NDArray[np.uint8], paint: Floats, rng: np.random.Generator
) -> None:
    """A token (square, rounded or round, at times with a mark), or a button with holes."""
    s = thing.size_mm
    ring = np.linspace(0, 2 * np.pi, 33)[:-1]
    power = 1.0 if thing.kind == "button" else float(rng.choice([0.25, 0.5, 1.0]))
    round_shape = np.c_[np.cos(ring), np.sin(ring)]
    shape = np.sign(round_shape) * np.abs(round_shape) ** power * s
    _polygon(scene, thing, mask, shape)
    marks: list[NDArray[np.float64]] = []
    if thing.kind == "button":
        holes = ((1, 0), (-1, 0)) if rng.random() < 0.4 else ((1, 1), (-1, 1), (-1, -1), (1, -1))
        marks = [round_shape * 0.14 * s + np.array(hole) * 0.25 * s for hole in holes]
    elif rng.random() < 0.5:
        marks = [shape * rng.uniform(0.3, 0.8)]
    ink = paint[0, 0] * np.float32(np.exp(rng.normal(0, 1.2)))
    for mark in marks:
        field = np.zeros_like(mask)
        _polygon(scene, thing, field, mark)
        paint[field > 127] = np.clip(ink, 0.005, 0.9)


def _lint(
    scene: Scene, thing: Thing, mask: NDArray[np.uint8], paint: Floats, rng: np.random.Generator
) -> tuple[Floats, Floats, Floats]:
    """A thread or a speck: one thin bent line."""
    way = np.cumsum(rng.normal(0.0, 1.0, (6, 2)) * 0.35 + (1.0, 0.0), axis=0)
    points = _place(scene, thing, way * thing.size_mm / 5.0)
    if np.abs(points).max() < 8000:
        pixels = [np.round(points * 16).astype(np.int32)]
        cv2.polylines(mask, pixels, False, 255, 1, cv2.LINE_AA, 4)
    return mask.astype(np.float32) / 255.0, np.ones(mask.shape, np.float32), paint


def _scribble(
    scene: Scene,
    thing: Thing,
    paint: Floats,
    corner: NDArray[np.float64],
    rng: np.random.Generator,
) -> None:
    """Draw a box of a score sheet: often lighter inside, with strokes for a number or a cross."""
    low, high = corner.min(axis=0), corner.max(axis=0)
    touched = np.zeros(paint.shape[:2], np.uint8)
    margin = 0.12 * (high - low)
    if thing.seed % 3:
        square = np.array(
            [low + margin, (high[0] - margin[0], low[1] + margin[1]), high - margin,
             (low[0] + margin[0], high[1] - margin[1])]
        )  # fmt: skip
        _polygon(scene, thing, touched, square)
        paint[touched > 127] = paint[touched > 127] * 0.35 + 0.5
    strokes = rng.uniform(low + 2 * margin, high - 2 * margin, (int(rng.integers(2, 5)), 2))
    lines = [strokes]
    if rng.random() < 0.25:
        lines = [np.array([low, high]), np.array([(low[0], high[1]), (high[0], low[1])])]
    touched[:] = 0
    for line in lines:
        pixels = np.clip(_place(scene, thing, line), -8000, 8000)
        cv2.polylines(touched, [np.round(pixels * 16).astype(np.int32)], False, 255, 1, 16, 4)
    ink = (touched.astype(np.float32) / 255.0)[..., None]
    paint[:] = paint * (1.0 - ink) + (0.8 if thing.seed % 2 else 0.02) * ink


def _shadow(scene: Scene, thing: Thing, mask: Floats) -> Floats:
    """Shadow of a thing: its cover, shifted away from the first lamp."""
    scale = scene.camera.focal_px / max(scene.camera.position_mm[2], 20.0)
    lift = thing.height_mm + 3.0
    lamp = np.asarray(scene.lamps[0].position_mm) if scene.lamps else np.array([0.0, 0.0, 500.0])
    away = -lamp[:2] / max(float(lamp[2]), 50.0) * lift
    pixels = scene.camera.project(np.array([[0, 0, 0], [away[0], away[1], 0]], float))
    dx, dy = pixels[1] - pixels[0]
    shift = np.array([[1, 0, dx], [0, 1, dy]], np.float32)
    moved = cv2.warpAffine(mask, shift, (mask.shape[1], mask.shape[0]))
    return np.asarray(cv2.GaussianBlur(moved, (0, 0), max(0.6, lift * scale * 0.15)), np.float32)
