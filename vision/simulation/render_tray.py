"""Draws the empty tray of a scene (table, rim, walls and floor), one picture per light source."""

from __future__ import annotations

from collections.abc import Sequence

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.simulation.geometry import dot, norm
from vision.simulation.materials import reflectance
from vision.simulation.scene import (
    Background,
    Camera,
    Floats,
    Lamp,
    Room,
    Scene,
    Surface,
    Tray,
)


def draw_background(scene: Scene) -> Background:
    """Draw the empty tray in linear light, one picture per light source."""
    width, height = scene.camera.size_wh
    ray = scene.camera.rays(0, 0, width, height)
    eye = [np.float32(v) for v in scene.camera.position_mm]
    tray = scene.tray
    inner = np.asarray(tray.outline_mm, np.float64)
    outer = widened(inner, tray.rim_width_mm)
    down = np.minimum(ray[2], np.float32(-1e-3))

    def plane(z: float) -> tuple[Floats, Floats]:
        t = (np.float32(z) - eye[2]) / down
        return eye[0] + t * ray[0], eye[1] + t * ray[1]

    rim = float(tray.rim_height_mm)
    table_mm = plane(0.0)
    top_mm = plane(rim)
    if _is_all_floor(inner, table_mm, top_mm):
        return _lit_layers(scene, [_floor_layer(scene, np.ones_like(down), table_mm)], ray)
    hole = _polygon_alpha(scene.camera, _at(_dense(inner), rim))
    ring = _polygon_alpha(scene.camera, _at(_dense(outer), rim))
    body = np.concatenate([_at(outer, rim), _at(outer, 0.0)])
    skirt = _polygon_alpha(scene.camera, body, hull=True)
    # A ray into the tray reaches the floor, unless it leaves the outline first: then it hit a wall.
    leave, wall_x, wall_y = _leave(inner, top_mm, ray)
    wall_z = rim + leave * ray[2]
    pixel_mm = np.float32(scene.camera.position_mm[2] / scene.camera.focal_px)
    on_wall = np.clip(0.5 + wall_z / (pixel_mm * 0.8), 0.0, 1.0) * hole
    hit_x, hit_y = top_mm[0] + leave * ray[0], top_mm[1] + leave * ray[1]

    ones, zeros = np.ones_like(down), np.zeros_like(down)
    up = [zeros, zeros, ones]
    layers: list[_Layer] = [
        (1.0 - skirt, tray.table, [*table_mm, zeros], up, False),
        (skirt * (1.0 - ring), tray.rim, [*table_mm, zeros + rim / 2], _outwards(table_mm), False),
        (ring * (1.0 - hole), tray.rim, [*top_mm, zeros + rim], up, False),
        (on_wall, tray.rim, [hit_x, hit_y, np.clip(wall_z, 0, rim)], [wall_x, wall_y, zeros], True),
        _floor_layer(scene, np.clip(hole - on_wall, 0.0, 1.0), table_mm),
    ]
    return _lit_layers(scene, layers, ray)


_FINE_BLUR = 4.0
"""Deviation (px) up to which a blur is computed at the picture's own size."""

_Layer = tuple[Floats, Surface, list[Floats], list[Floats], bool]
"""Cover (H, W), surface, points and normals (three times (H, W)), and whether it is in the tray."""


def _floor_layer(scene: Scene, alpha: Floats, at_mm: tuple[Floats, Floats]) -> _Layer:
    zeros = np.zeros_like(alpha)
    up = [zeros, zeros, np.ones_like(alpha)]
    return alpha, scene.tray.floor, [*at_mm, zeros], up, True


def _is_all_floor(
    inner: NDArray[np.float64], floor_mm: tuple[Floats, Floats], top_mm: tuple[Floats, Floats]
) -> bool:
    """Whether the picture shows only floor, judged by its corners."""
    ends = np.ix_((0, -1), (0, -1))
    return all(float(_edge_gap(inner, x[ends], y[ends]).min()) > 1.0 for x, y in (floor_mm, top_mm))


def _lit_layers(
    scene: Scene, layers: Sequence[_Layer], ray: tuple[Floats, Floats, Floats]
) -> Background:
    """Surfaces in the light of each source."""
    width, height = scene.camera.size_wh
    tray = scene.tray
    inner = np.asarray(tray.outline_mm, np.float64)
    outer = widened(inner, tray.rim_width_mm)
    rim = float(tray.rim_height_mm)
    pixel_mm = np.float32(scene.camera.position_mm[2] / scene.camera.focal_px)
    ambient = np.zeros((height, width, 3), np.float32)
    lamps = [np.zeros_like(ambient) for _ in scene.lamps]
    far = norm(ray)
    unit = [r / far for r in ray]
    for alpha, surface, point, normal, within in layers:
        shown = _shown(alpha)
        if shown is None:
            continue
        alpha, point, normal, here = (
            alpha[shown], [p[shown] for p in point], [n[shown] for n in normal],
            [w[shown] for w in unit],
        )  # fmt: skip
        albedo = reflectance(surface, point[0], point[1] + point[2], float(pixel_mm))
        gap = _edge_gap(inner, point[0], point[1])
        if within:
            shelter = np.clip(0.55 + 0.45 * gap / (0.6 * rim + 1.0), 0.4, 1.0)
        else:
            shelter = np.clip(0.6 - 0.4 * (gap + tray.rim_width_mm) / (0.6 * rim + 1.0), 0.5, 1.0)
            shelter = shelter if surface is tray.table else np.ones_like(shelter)
        share = (alpha * shelter)[..., None]
        ambient[shown] += albedo * share * np.asarray(scene.ambient, np.float32)
        if scene.room is not None and surface.gloss > 0.0:
            mirrored = room_light(scene.room, [here[0], here[1], -here[2]])
            ambient[shown] += mirrored * (0.08 * surface.gloss * share)
        for number, lamp in enumerate(scene.lamps):
            to, far = towards(lamp, point)
            light, sheen = _lamp_light(lamp, to, far, normal, here, surface)
            if within:
                light = light * rim_shade(tray, point, to, softness=lamp.radius_mm / 300.0)
                sheen = sheen * (light > 0)
            elif surface is tray.table:
                light = light * _tray_shadow(scene, lamp, outer)[shown]
            passed = mask_light(lamp, point)
            if passed is not None:
                light, sheen = light * passed, sheen * passed
            part = albedo * light[..., None] + sheen[..., None]
            lamps[number][shown] += part * alpha[..., None] * np.asarray(lamp.colour, np.float32)
    return Background(ambient, tuple(lamps))


def _shown(alpha: Floats) -> tuple[slice, slice] | None:
    """Bounding window of a layer; None if it covers nothing."""
    rows = np.flatnonzero(alpha.max(axis=1) > 0.0)
    columns = np.flatnonzero(alpha.max(axis=0) > 0.0)
    if not len(rows):
        return None
    return slice(int(rows[0]), int(rows[-1]) + 1), slice(int(columns[0]), int(columns[-1]) + 1)


def rim_shade(
    tray: Tray, point: Sequence[Floats], to: Sequence[Floats], softness: float = 0.08
) -> Floats:
    """Share of a lamp (0.0 to 1.0) that points inside the tray see over the rim."""
    coarse = tuple(slice(None, None, max(1, (side - 1) // 4)) for side in point[0].shape)
    some = _over_rim(tray, [p[coarse] for p in point], [t[coarse] for t in to], softness)
    if some.size and (some.min() > _CLEAR or some.max() < 1.0 - _CLEAR):
        return np.full(point[0].shape, float(some.min() > _CLEAR), np.float32)
    return np.clip(_over_rim(tray, point, to, softness), 0.0, 1.0).astype(np.float32)


_CLEAR = 1.6
"""Unclipped share of a lamp from which all points between sampled ones are lit as well."""


def _over_rim(tray: Tray, point: Sequence[Floats], to: Sequence[Floats], softness: float) -> Floats:
    """Share of a lamp seen over the rim, not clipped to 0.0 to 1.0."""
    leave = _leave_length(np.asarray(tray.outline_mm, np.float64), point, to)
    leave = np.minimum(leave, np.float32(1e4))
    height = point[2] + leave * to[2] - np.float32(tray.rim_height_mm)
    blur = np.float32(softness) * (leave + 1.0) + np.float32(0.3)
    return np.asarray(0.5 + height / blur, np.float32)


def _leave_length(
    outline: NDArray[np.float64], start: Sequence[Floats], way: Sequence[Floats]
) -> Floats:
    """Distance (in lengths of `way`) at which points leave the outline."""
    best = np.full(start[0].shape, 1e6, np.float32)
    for (ax, ay), (bx, by) in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        length = float(np.hypot(bx - ax, by - ay)) + 1e-9
        nx, ny = np.float32((by - ay) / length), np.float32(-(bx - ax) / length)
        speed = way[0] * nx
        speed += way[1] * ny
        if speed.max(initial=0.0) <= 1e-6:
            continue
        gap = start[0] * -nx
        gap -= start[1] * ny
        gap += np.float32(nx * np.float32(ax) + ny * np.float32(ay))
        np.maximum(gap, 0.0, out=gap)
        out = speed > 1e-6
        np.divide(gap, speed, out=gap, where=out)
        gap[~out] = 1e6
        np.minimum(best, gap, out=best)
    return best


def towards(lamp: Lamp, point: Sequence[Floats]) -> tuple[list[Floats], Floats]:
    """Unit vectors (three times (h, w)) from points to a lamp, and the distances (h, w) in mm."""
    to = [np.float32(lamp.position_mm[w]) - point[w] for w in range(3)]
    far = norm(to)
    return [v / far for v in to], far


def nearness(lamp: Lamp, far_mm: Floats) -> Floats:
    """Light (h, w) of a lamp at distances against that in the middle of the tray; 2.5 at most."""
    reach = float(np.linalg.norm(lamp.position_mm))
    return np.asarray(np.clip((reach / far_mm) ** 2, 0.0, 2.5), np.float32)


def _lamp_light(
    lamp: Lamp,
    to: Sequence[Floats],
    far: Floats,
    normal: Sequence[Floats],
    unit: Sequence[Floats],
    surface: Surface,
) -> tuple[Floats, Floats]:
    """Diffuse light and highlight of one lamp on a surface, before shadows."""
    reach = float(np.linalg.norm(lamp.position_mm))
    light = np.clip(dot(normal, to), 0.0, 1.0) * nearness(lamp, far)
    if surface.gloss <= 0.0:
        return light, np.zeros_like(light)
    width = 0.03 + (0.35 * lamp.radius_mm / reach) ** 2
    half = [to[w] - unit[w] for w in range(3)]
    squared = np.clip(dot(normal, half) / (norm(half) + 1e-6), 0.05, 1.0) ** 2
    sheen = surface.gloss * 0.35 * np.exp((squared - 1.0) / (width * squared))
    return light, sheen.astype(np.float32)


def _outwards(point: tuple[Floats, Floats]) -> list[Floats]:
    far = np.hypot(point[0], point[1]) + 1e-3
    return [point[0] / far, point[1] / far, np.zeros_like(far)]


def widened(outline: NDArray[np.float64], by: float) -> NDArray[np.float64]:
    """Return a convex outline, wider by a distance on every side."""
    edge = np.roll(outline, -1, axis=0) - outline
    normal = np.stack([edge[:, 1], -edge[:, 0]], axis=1)
    normal /= np.linalg.norm(normal, axis=1, keepdims=True) + 1e-12
    before = np.roll(normal, 1, axis=0)
    bisector = normal + before
    scale = 2.0 * by / np.maximum((bisector**2).sum(axis=1, keepdims=True), 0.3)
    return np.asarray(outline + bisector * scale)


def _edge_gap(outline: NDArray[np.float64], x: Floats, y: Floats) -> Floats:
    """Distance to the outline in mm, positive inside."""
    gap = np.full(x.shape, np.inf, np.float32)
    for (ax, ay), (bx, by) in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        length = float(np.hypot(bx - ax, by - ay)) + 1e-9
        ex, ey = np.float32((bx - ax) / length), np.float32((by - ay) / length)
        gap = np.minimum(gap, ex * (y - np.float32(ay)) - ey * (x - np.float32(ax)))
    return gap


def _leave(
    outline: NDArray[np.float64], start: tuple[Floats, Floats], way: tuple[Floats, Floats, Floats]
) -> tuple[Floats, Floats, Floats]:
    """Distance (in lengths of `way`) at which points leave the outline, and the wall's normal."""
    best = np.full(start[0].shape, 1e6, np.float32)
    wall_x, wall_y = np.zeros_like(best), np.zeros_like(best)
    for (ax, ay), (bx, by) in zip(outline, np.roll(outline, -1, axis=0), strict=True):
        length = float(np.hypot(bx - ax, by - ay)) + 1e-9
        nx, ny = np.float32((by - ay) / length), np.float32(-(bx - ax) / length)
        speed = nx * way[0] + ny * way[1]
        gap = nx * (np.float32(ax) - start[0]) + ny * (np.float32(ay) - start[1])
        t = np.where(speed > 1e-6, np.maximum(gap, 0.0) / np.maximum(speed, 1e-6), 1e6)
        nearer = t < best
        best = np.where(nearer, t, best)
        wall_x, wall_y = np.where(nearer, -nx, wall_x), np.where(nearer, -ny, wall_y)
    return best.astype(np.float32), wall_x, wall_y


def _at(outline: NDArray[np.float64], height: float) -> NDArray[np.float64]:
    """World points (N, 3) of an outline at a height."""
    return np.asarray(np.c_[outline, np.full(len(outline), height)])


def _polygon_alpha(camera: Camera, points: NDArray[np.float64], *, hull: bool = False) -> Floats:
    """Cover of the polygon of world points (N, 3), or of their convex hull."""
    pixels = camera.project(points)
    if hull:
        pixels = cv2.convexHull(pixels.astype(np.float32)).reshape(-1, 2).astype(np.float64)
    width, tall = camera.size_wh
    mask = np.zeros((tall, width), np.uint8)
    clipped = np.clip(pixels, -4e3, 1e4)
    cv2.fillPoly(mask, [np.round(clipped * 16).astype(np.int32)], 255, cv2.LINE_AA, 4)
    return mask.astype(np.float32) / 255.0


def _dense(outline: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add points along the sides of an outline, so that lens distortion bends them."""
    follow = np.roll(outline, -1, axis=0)
    steps = np.linspace(0.0, 1.0, 6, endpoint=False)[None, :, None]
    return np.asarray((outline[:, None] * (1 - steps) + follow[:, None] * steps).reshape(-1, 2))


def _tray_shadow(scene: Scene, lamp: Lamp, outer: NDArray[np.float64]) -> Floats:
    """Share of a lamp that reaches the table past the tray."""
    spot = np.asarray(lamp.position_mm)
    rim = scene.tray.rim_height_mm
    drop = rim / max(float(spot[2]) - rim, 10.0)
    cast = outer + (outer - spot[:2]) * drop
    pixels = scene.camera.project(_at(np.concatenate([outer, cast]), 0.0))
    hull = cv2.convexHull(pixels.astype(np.float32)).reshape(-1, 2)
    width, tall = scene.camera.size_wh
    mask = np.zeros((tall, width), np.uint8)
    cv2.fillConvexPoly(mask, np.round(np.clip(hull, -4e3, 1e4) * 16).astype(np.int32), 255, 16, 4)
    pixel = scene.camera.focal_px / max(scene.camera.position_mm[2], 1.0)
    sigma = max(0.6, pixel * rim * (0.06 + lamp.radius_mm / max(float(spot[2]), 1.0)))
    return np.asarray(1.0 - _blurred(mask, sigma).astype(np.float32) / 255.0, np.float32)


def _blurred(mask: NDArray[np.uint8], sigma: float) -> NDArray[np.uint8]:
    """A mask under a Gaussian blur; a wide one is computed on a smaller picture."""
    tall, width = mask.shape
    step = min(sigma / _FINE_BLUR, width / 8, tall / 8)
    if step < 2.0:
        return np.asarray(cv2.GaussianBlur(mask, (0, 0), sigma), np.uint8)
    small = cv2.resize(
        mask, (round(width / step), round(tall / step)), interpolation=cv2.INTER_AREA
    )
    soft = cv2.GaussianBlur(small, (0, 0), sigma * small.shape[1] / width)
    return np.asarray(cv2.resize(soft, (width, tall), interpolation=cv2.INTER_LINEAR), np.uint8)


def mask_light(lamp: Lamp, point: Sequence[Floats]) -> Floats | None:
    """Share of a lamp that passes its mask towards points; None without a mask."""
    mask = lamp.mask
    if mask is None:
        return None
    way = (np.float32(mask.height_mm) - point[2]) / (np.float32(lamp.position_mm[2]) - point[2])
    x, y = (point[w] + way * (np.float32(lamp.position_mm[w]) - point[w]) for w in range(2))
    angle = np.radians(mask.angle_deg)
    c, s = np.float32(np.cos(angle)), np.float32(np.sin(angle))
    x, y = x - np.float32(mask.middle_mm[0]), y - np.float32(mask.middle_mm[1])
    tall, wide = mask.light.shape
    scale = np.float32(1.0 / mask.mm_per_px)
    u, v = (x * c + y * s) * scale + wide / 2, (y * c - x * s) * scale + tall / 2
    u, v = (np.clip(each, -2e4, 2e4).astype(np.float32) for each in (u, v))
    how = cv2.INTER_LINEAR
    return np.asarray(cv2.remap(mask.light, u, v, how, borderMode=cv2.BORDER_REPLICATE), np.float32)


def room_light(room: Room, way: Sequence[Floats]) -> Floats:
    """Light (H, W, 3) of a room from unit directions (three times (H, W))."""
    tall, wide = room.light.shape[:2]
    row = np.arccos(np.clip(way[2], -1.0, 1.0)) * np.float32(tall / np.pi) - np.float32(0.5)
    column = (np.arctan2(way[1], way[0]) / np.float32(2 * np.pi) + 0.5) * np.float32(wide)
    row = np.clip(row, 0, tall - 1).astype(np.float32)  # only columns go round
    column = column.astype(np.float32)
    how = cv2.INTER_LINEAR
    return np.asarray(cv2.remap(room.light, column, row, how, borderMode=cv2.BORDER_WRAP))
