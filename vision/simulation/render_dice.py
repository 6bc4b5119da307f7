"""Draws the dice of a scene: casts rays at rounded dice and shades them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.images import bands
from vision.simulation.finishes import body_albedo, paint_left
from vision.simulation.geometry import die_corners, dot, inside_tray, norm, turned
from vision.simulation.pips import pips_of, shows_face
from vision.simulation.render_tray import mask_light, nearness, rim_shade, room_light, towards
from vision.simulation.scene import Background, Die, Floats, Lamp, Scene, vector

_STEPS = 6
"""Sphere-tracing steps; rays start on the box, so flat faces need one."""
_ROUND_STEPS = 12
"""Steps for dice with corners cut by a ball, where rays meet the surface at flat angles."""
_LAMP_POINTS = np.array(
    [[0, 0], [0.62, 0], [0.19, 0.59], [-0.5, 0.37], [-0.5, -0.37], [0.19, -0.59]]
)


@dataclass(slots=True)
class _Window:
    """Pixels of the picture that a die may touch."""

    left: int
    top: int
    right: int
    bottom: int

    @property
    def slices(self) -> tuple[slice, slice]:
        return slice(self.top, self.bottom), slice(self.left, self.right)

    @property
    def is_empty(self) -> bool:
        return self.right <= self.left or self.bottom <= self.top


def draw_dice(scene: Scene, ground: Background) -> Floats:
    """Draw ground, shadows and dice in linear light (H, W, 3), before the lens."""
    shades = [np.ones(ground.ambient.shape[:2], np.float32) for _ in ground.lamps]
    near = np.ones(ground.ambient.shape[:2], np.float32)
    for die in scene.dice:
        poses = _poses(die)
        moments = poses[:: max(1, len(poses) // 6)]
        for lamp, shade in zip(scene.lamps, shades, strict=True):
            dark = np.zeros_like(shade)
            for pose in moments:
                _cast_shadow(scene, pose, lamp, dark)
            shade *= 1.0 - dark / len(moments)
        _cast_contact(scene, die, near)
    light = np.empty_like(ground.ambient)
    for rows in bands(len(light)):
        light[rows] = ground.ambient[rows] * near[rows, :, None]
        for shade, part in zip(shades, ground.lamps, strict=True):
            light[rows] += part[rows] * shade[rows, :, None]
    del shades, near
    eye = np.asarray(scene.camera.position_mm)
    order = sorted(scene.dice, key=lambda d: -float(np.linalg.norm(eye - d.position_mm)))
    for die in order:
        _draw_die(scene, die, light)
    return light


def hits_box(die: Die, points: NDArray[np.float64], rays: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether rays from world points (N, 3) along `rays` (N, 3) meet the cube of a die."""
    rotation = np.asarray(die.rotation)
    start = (points - np.asarray(die.position_mm)) @ rotation / (die.size_mm / 2 * 0.97)
    way = rays @ rotation
    way = np.where(np.abs(way) < 1e-9, 1e-9, way)
    one, two = (-1.0 - start) / way, (1.0 - start) / way
    enter, leave = np.minimum(one, two).max(axis=1), np.maximum(one, two).min(axis=1)
    return np.asarray((leave > np.maximum(enter, 0.0)) & (leave > 1e-3))


def _poses(die: Die) -> list[Die]:
    """Poses of the die while the shutter is open; only the die itself if it does not move."""
    if die.motion is None:
        return [die]
    way = float(np.linalg.norm(die.motion.shift_mm)) / die.size_mm
    turn = float(np.linalg.norm(die.motion.turn_rad))
    count = int(np.clip(6 + 8 * way + 4 * turn, 6, 24))
    poses = []
    for share in np.linspace(-0.5, 0.5, count):
        shift = np.asarray(die.motion.shift_mm) * share
        turn_rad = np.asarray(die.motion.turn_rad) * share
        where = vector(np.asarray(die.position_mm) + shift)
        rotation = turned(die.rotation, turn_rad)
        poses.append(replace(die, position_mm=where, rotation=rotation, motion=None))
    return poses


def _clip(scene: Scene, points: NDArray[np.float64], margin: float) -> _Window:
    width, height = scene.camera.size_wh
    low, high = points.min(axis=0) - margin, points.max(axis=0) + margin
    left, top = np.clip(np.floor(low).astype(int), 0, (width, height))
    right, bottom = np.clip(np.ceil(high).astype(int) + 1, 0, (width, height))
    return _Window(int(left), int(top), int(right), int(bottom))


def _fill(mask: Floats, window: _Window, points: NDArray[np.float64], amount: float) -> None:
    """Subtract `amount` from a mask inside the hull of points (N, 2), with smooth edges."""
    hull = cv2.convexHull(points.astype(np.float32)).reshape(-1, 2)
    patch = np.zeros((window.bottom - window.top, window.right - window.left), np.uint8)
    shifted = np.round((hull - (window.left, window.top)) * 16).astype(np.int32)
    cv2.fillConvexPoly(patch, shifted, 255, cv2.LINE_AA, 4)
    mask[window.slices] -= patch * np.float32(amount / 255.0)


def _cast_shadow(scene: Scene, die: Die, lamp: Lamp, dark: Floats) -> None:
    """Add the share of a lamp's light that a die takes from the floor, softly for a wide lamp."""
    spots = np.asarray(lamp.position_mm) + lamp.radius_mm * np.c_[_LAMP_POINTS, np.zeros(6)]
    corners = die_corners(die, 0.96)
    footprint = []
    for spot in spots if lamp.radius_mm > 2.0 else spots[:1]:
        drop = corners[:, 2].clip(0.0) / np.maximum(spot[2] - corners[:, 2], 5.0)
        flat = np.zeros((8, 3))
        flat[:, :2] = corners[:, :2] + (corners[:, :2] - spot[:2]) * drop[:, None]
        footprint.append(scene.camera.project(flat))
    window = _clip(scene, np.concatenate(footprint), 4.0)
    if window.is_empty:
        return
    fresh = np.ones_like(dark[window.slices])
    whole = _Window(0, 0, fresh.shape[1], fresh.shape[0])
    for points in footprint:
        _fill(fresh, whole, points - (window.left, window.top), 1.0 / len(footprint))
    sigma = max(0.5, 0.03 * scene.camera.focal_px * die.size_mm / scene.camera.position_mm[2])
    soft = cv2.GaussianBlur(fresh, (0, 0), sigma, borderType=cv2.BORDER_REPLICATE)
    kept = np.float32(die.glow * 0.3)
    dark[window.slices] += (1.0 - np.asarray(soft, np.float32)) * (1.0 - kept)


def _cast_contact(scene: Scene, die: Die, near: Floats) -> None:
    """Darken the ambient light on the floor close to a die."""
    height = max(0.0, float(die_corners(die)[:, 2].min()))
    spread = 1.25 + 0.5 * height / die.size_mm
    flat = die_corners(die, spread)
    flat[:, 2] = 0.0
    points = scene.camera.project(flat)
    pixels = scene.camera.focal_px * die.size_mm / scene.camera.position_mm[2]
    window = _clip(scene, points, pixels * 0.5)
    if window.is_empty:
        return
    fresh = np.ones_like(near[window.slices])
    whole = _Window(0, 0, fresh.shape[1], fresh.shape[0])
    amount = 0.65 / (1.0 + 2.0 * height / die.size_mm)
    _fill(fresh, whole, points - (window.left, window.top), amount)
    near[window.slices] *= cv2.GaussianBlur(
        fresh, (0, 0), max(0.6, pixels * 0.14), borderType=cv2.BORDER_REPLICATE
    )


def _draw_die(scene: Scene, die: Die, light: Floats) -> None:
    poses = _poses(die)
    pixels = np.concatenate([scene.camera.project(die_corners(pose)) for pose in poses])
    window = _clip(scene, pixels, 2.0)
    if window.is_empty:
        return
    shape = (window.bottom - window.top, window.right - window.left)
    colour, cover = np.zeros((*shape, 3), np.float32), np.zeros(shape, np.float32)
    for pose in poses:
        inner = _clip(scene, scene.camera.project(die_corners(pose)), 2.0)
        if inner.is_empty:
            continue
        part, alpha = _shade(scene, pose, inner)
        rows = slice(inner.top - window.top, inner.bottom - window.top)
        columns = slice(inner.left - window.left, inner.right - window.left)
        colour[rows, columns] += part * alpha[..., None]
        cover[rows, columns] += alpha
    colour /= len(poses)
    cover /= len(poses)
    light[window.slices] = light[window.slices] * (1.0 - cover[..., None]) + colour


def _outline_alpha(scene: Scene, die: Die, window: _Window) -> Floats:
    """Share of each pixel that the body covers, from its exact round-cornered outline."""
    core = scene.camera.project(die_corners(die, 1.0 - 2.0 * die.edge_radius))
    distance = float(np.linalg.norm(np.asarray(scene.camera.position_mm) - die.position_mm))
    scale = scene.camera.focal_px / distance
    hull = cv2.convexHull(core.astype(np.float32)).reshape(-1, 2).astype(np.float32)
    y, x = np.mgrid[window.top : window.bottom, window.left : window.right].astype(np.float32)
    outside = np.full(x.shape, 1e9, np.float32)
    inside = np.full(x.shape, -1e9, np.float32)
    follow = np.roll(hull, -1, axis=0)
    area = float(np.sum(hull[:, 0] * follow[:, 1] - hull[:, 1] * follow[:, 0]))
    turn = 1.0 if area > 0 else -1.0
    for (ax, ay), (bx, by) in zip(hull, follow, strict=True):
        ex, ey = bx - ax, by - ay
        length = max(float(np.hypot(ex, ey)), 1e-3)
        px, py = x - ax, y - ay
        along = np.clip((px * ex + py * ey) / (length * length), 0.0, 1.0)
        outside = np.minimum(outside, (px - along * ex) ** 2 + (py - along * ey) ** 2)
        inside = np.maximum(inside, (px * ey - py * ex) * (turn / length))
    gap = np.where(inside > 0.0, np.sqrt(outside), inside) - die.edge_radius * die.size_mm * scale
    if die.ball < 0.86:
        middle = scene.camera.project(np.asarray([die.position_mm]))[0]
        reach = die.ball * die.size_mm * scale
        gap = np.maximum(gap, np.hypot(x - middle[0], y - middle[1]) - reach)
    return np.clip(0.5 - gap, 0.0, 1.0).astype(np.float32)


def _trace(
    die: Die, start: NDArray[np.float64], way: Sequence[Floats]
) -> tuple[list[Floats], list[Floats], Floats]:
    """Find where rays meet the body: points, normals and least distances in the die's axes (half
    edge = 1)."""
    ball = 2.0 * die.ball
    radius = 2.0 * die.edge_radius
    core = 1.0 - radius
    safe = [np.where(np.abs(w) < 1e-6, np.float32(1e-6), w) for w in way]
    enter = np.full(way[0].shape, -np.inf, np.float32)
    leave = np.full(way[0].shape, np.inf, np.float32)
    for axis in range(3):
        one, two = (-1.0 - start[axis]) / safe[axis], (1.0 - start[axis]) / safe[axis]
        enter = np.maximum(enter, np.minimum(one, two))
        leave = np.minimum(leave, np.maximum(one, two))
    closest = -sum(np.float32(start[a]) * way[a] for a in range(3))
    t = np.where(enter < leave, enter, closest).astype(np.float32)
    point: list[Floats] = []
    nearest = np.full(t.shape, np.inf, np.float32)
    for _ in range(_ROUND_STEPS if ball < 1.72 else _STEPS):
        point = [np.float32(start[a]) + t * way[a] for a in range(3)]
        over = [np.maximum(np.abs(p) - core, 0.0) for p in point]
        gap = norm(over) - radius
        if ball < 1.72:
            gap = np.maximum(gap, norm(point) - ball)
        nearest = np.minimum(nearest, gap)
        t = t + np.clip(gap, 0.0, 0.5)
    over = [np.sign(p) * np.maximum(np.abs(p) - core, 0.0) for p in point]
    size = norm(over) + 1e-6
    normal = [o / size for o in over]
    if ball < 1.72:
        far = norm(point) + 1e-6
        blend = np.clip((far - ball) * 12.0 + 0.7, 0.0, 1.0)
        normal = [n * (1.0 - blend) + blend * p / far for n, p in zip(normal, point, strict=True)]
    return point, normal, nearest


def _shade(scene: Scene, die: Die, window: _Window) -> tuple[Floats, Floats]:
    """Shade one die in a window of the picture: colour (h, w, 3) and cover (h, w)."""
    alpha = _outline_alpha(scene, die, window)
    rotation = np.asarray(die.rotation, np.float64)
    half = die.size_mm / 2
    eye = np.asarray(scene.camera.position_mm)
    start = (eye - np.asarray(die.position_mm)) @ rotation / half
    ray = scene.camera.rays(window.left, window.top, window.right, window.bottom)
    size = norm(ray)
    unit = [r / size for r in ray]
    m = rotation.astype(np.float32)
    point, normal, nearest = _trace(die, start, [dot(unit, m[:, a]) for a in range(3)])
    footprint = float(np.linalg.norm(start)) / scene.camera.focal_px * 1.15
    if die.ball < 0.86:  # inside both outlines, a ray may still miss the body
        alpha = alpha * np.clip(1.5 - nearest / footprint, 0.0, 1.0)
    pips, normal = pips_of(die, point, normal, footprint)
    scale = 1.0 / np.sqrt(dot(normal, normal) + 1e-9)
    n = [dot(normal, m[w]) * scale for w in range(3)]
    where = [dot(point, m[w]) * np.float32(half) + np.float32(die.position_mm[w]) for w in range(3)]
    facing = np.clip(-dot(n, unit), 0.0, 1.0)
    straight = 0.04 if die.finish is None else die.finish.mirror
    fresnel = straight + 0.6 * (1.0 - facing) ** 5
    open_sky = (
        np.clip(0.45 + 0.55 * where[2] / die.size_mm, 0.2, 1.0) * (0.65 + 0.35 * n[2]) * pips.sky()
    )
    floor = np.asarray(scene.tray.floor.colour, np.float32)
    sky = np.asarray(scene.ambient, np.float32)
    body = body_albedo(die, point, facing, footprint)
    paint = np.asarray(die.pip_albedo, np.float32)
    for value in die.other_pips[0]:
        shows = shows_face(die, point, value)[..., None]
        paint = np.where(shows, np.asarray(die.other_pips[1], np.float32), paint)
    painted = pips.cover * paint_left(die, point)
    albedo = body + painted[..., None] * (paint - body)
    bounce = np.clip(0.5 - 0.5 * n[2], 0.0, 1.0)[..., None] * floor * 0.6
    total = sum(np.asarray(lamp.colour, np.float32) for lamp in scene.lamps)
    thrown_back = total
    if scene.gloom:
        hidden = scene.gloom * _hidden(scene, die, where, n)
        open_sky = open_sky * (1.0 - 0.75 * hidden)
        bounce = bounce * (1.0 - 0.85 * hidden)[..., None]
        thrown_back = _on_the_floor(scene, where, n)
    incoming = sky * (open_sky[..., None] + bounce)
    incoming = incoming + bounce * 0.35 * thrown_back
    mirror = sky * (fresnel * die.gloss * np.clip(0.4 + 0.6 * n[2], 0.0, 1.0))[..., None]
    if scene.room is not None:
        into = dot(n, unit)
        back = [unit[w] - 2.0 * into * n[w] for w in range(3)]
        above = np.clip(0.5 + 2.0 * back[2], 0.15, 1.0)
        mirror = room_light(scene.room, back) * (fresnel * die.gloss * above)[..., None]
    for lamp in scene.lamps:
        to, far = towards(lamp, where)
        cosine = dot(n, to)
        wrap = np.float32(0.05 + 0.35 * die.glow)
        lit = np.clip((cosine + wrap) / (1.0 + wrap), 0.0, 1.0) * nearness(lamp, far)
        own = [dot(to, m[:, a]) for a in range(3)]
        seen = _lamp_seen(scene, die, where, to) * pips.lit(own, footprint)
        passed = mask_light(lamp, where)
        if passed is not None:
            seen = seen * passed
        h = [to[w] - unit[w] for w in range(3)]
        aligned = np.clip(dot(n, h) / (norm(h) + 1e-6), 0.0, 1.0)
        width = (die.roughness**2 + (0.35 * lamp.radius_mm / float(far.mean())) ** 2) + 2e-4
        sheen = np.exp((aligned**2 - 1.0) / (width * np.maximum(aligned**2, 0.05)))
        strength = die.gloss * min(0.045 / width, 14.0)
        in_hollows = 0.6 if die.pip_depth else 0.0
        sheen = sheen * strength * (1.0 - in_hollows * pips.cover) * (cosine > 0) * seen
        colour = np.asarray(lamp.colour, np.float32)
        incoming = incoming + colour * (lit * seen)[..., None]
        mirror = mirror + colour * sheen[..., None]
    if die.glow:
        incoming = incoming + die.glow * 0.25 * total * (1.0 - 0.5 * facing[..., None])
    return (albedo * incoming + mirror).astype(np.float32), alpha


def _on_the_floor(scene: Scene, where: list[Floats], n: list[Floats]) -> Floats:
    """Lamp light (h, w, 3) on the floor that points of a die face, without the light that the die
    itself blocks."""
    light = np.zeros((*n[0].shape, 3), np.float32)
    for lamp in scene.lamps:
        x, y, z = (np.float32(lamp.position_mm[w]) - where[w] for w in range(3))
        level = np.sqrt(x**2 + y**2) + 1e-6
        towards = (n[0] * x + n[1] * y) / level
        long = np.clip(1.2 * level / np.maximum(z, 1e-3), 0.0, 1.0)
        dark = scene.gloom * np.clip(0.1 - 0.9 * towards, 0.0, 0.92) * long
        light += np.asarray(lamp.colour, np.float32) * (1.0 - dark)[..., None]
    return light


def _hidden(scene: Scene, die: Die, where: list[Floats], n: list[Floats]) -> Floats:
    """Share of the view from a point, slightly upwards, that a die close by covers."""
    hidden = np.zeros(n[0].shape, np.float32)
    for other in scene.dice:
        gap = float(np.linalg.norm(np.asarray(other.position_mm) - die.position_mm))
        if gap < 1e-6 or gap > 1.6 * (die.size_mm + other.size_mm) or other.motion is not None:
            continue
        enter, leave = _through(other, where, [n[0], n[1], np.abs(n[2]) + np.float32(0.4)])
        hidden = np.maximum(
            hidden, np.clip((leave - enter) / 0.35, 0.0, 1.0) * np.clip(2.5 - enter, 0.0, 1.0)
        )
    return hidden


def _through(other: Die, where: list[Floats], to: list[Floats]) -> tuple[Floats, Floats]:
    """Distances at which rays from points enter and leave a die, in its half edges.

    A ray that leaves before it enters misses the die.
    """
    m = np.asarray(other.rotation, np.float32)
    half = np.float32(other.size_mm / 2 * 0.96)
    off = [where[w] - np.float32(other.position_mm[w]) for w in range(3)]
    enter = np.zeros(where[0].shape, np.float32)
    leave = np.full(where[0].shape, np.inf, np.float32)
    for a in range(3):
        start, step = dot(off, m[:, a]) / half, dot(to, m[:, a])
        step = np.where(np.abs(step) < 1e-6, np.float32(1e-6), step)
        one, two = (-1.0 - start) / step, (1.0 - start) / step
        enter = np.maximum(enter, np.minimum(one, two))
        leave = np.minimum(leave, np.maximum(one, two))
    return enter, leave


def _lamp_seen(scene: Scene, die: Die, where: list[Floats], to: list[Floats]) -> Floats:
    """Share of a lamp that points of a die see past the other dice and, in the tray, the rim."""
    is_inside = inside_tray(scene.tray, *die.position_mm[:2])
    seen = rim_shade(scene.tray, where, to) if is_inside else np.ones(where[0].shape, np.float32)
    for other in scene.dice:
        gap = float(np.linalg.norm(np.asarray(other.position_mm) - die.position_mm))
        if gap < 1e-6 or gap > 2.2 * (die.size_mm + other.size_mm) or other.motion is not None:
            continue
        enter, leave = _through(other, where, to)
        seen = seen * (1.0 - np.clip((leave - enter) / 0.35, 0.0, 1.0))
    return seen
