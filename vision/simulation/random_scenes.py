"""Random scenes: where dice and clutter lie, in what kind of frame."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.engine.dice import ALL_DICE, DieColour
from vision.reading import Pixels
from vision.simulation.appearance import (
    Rng,
    dress,
    jitter,
    pick,
    random_lamps,
    random_lens,
    random_style,
    random_tray,
    uniform,
)
from vision.simulation.geometry import footprint, inside_tray, level_axes, resting_die, turned
from vision.simulation.leaning import beside, held_up, stacked, stands_alone
from vision.simulation.scene import Camera, Die, Motion, Scene, Thing, Tray, vector

SCENARIOS = ("flat", "cocked", "moving", "hand", "covered", "empty", "stacked")
"""Kinds of scene."""
_SIDE_BY_SIDE = 0.75
"""Share of touching dice that lie side by side, without a corner against a side."""
_BESIDE = 0.12
"""Share of scenes without a tilted die in which a coin or a pencil touches a flat one."""
_SKINS = ((0.2, 0.32, 0.55), (0.12, 0.2, 0.38), (0.04, 0.07, 0.16))
"""Colours of hands, linear."""
_TILTS_DEG, _SLANTS_DEG = (0.0, 26.0), (26.0, 45.0)
"""Tilts of a camera that hangs above the tray, and of one that stands beside it."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """The kind of frame to make.

    Attributes:
        size_wh: Picture size.
        die_share: Width of a die as a share of the picture's width.
        scenario: One of SCENARIOS.
        pushed: Whether dice lie in blocks and rows, side against side, and in light that leaves
            their sides dark.
        slanted: Whether the camera looks at the tray from the side, as from a tripod.
    """

    size_wh: tuple[int, int]
    die_share: float
    scenario: str = "flat"
    pushed: bool = False
    slanted: bool = False


def random_camera(rng: Rng, recipe: Recipe, die_mm: float) -> Camera:
    """Draw a camera above the tray that sees a die at the width of a recipe."""
    width = recipe.size_wh[0]
    focal = width / 2 / np.tan(np.radians(uniform(rng, 38, 80)) / 2)
    distance = die_mm * focal / (recipe.die_share * width)
    tilts = _SLANTS_DEG if recipe.slanted else _TILTS_DEG
    tilt = 0.0 if rng.random() < 0.15 and not recipe.slanted else uniform(rng, *tilts)
    return Camera.above(
        recipe.size_wh,
        float(focal),
        float(max(distance, 70.0)),
        tilt_deg=tilt,
        azimuth_deg=uniform(rng, 0, 360),
        roll_deg=uniform(rng, 0, 360),
        k1=uniform(rng, -0.12, 0.05) if rng.random() < 0.5 else 0.0,
    )


def uneven(rng: Rng, die: Die, bend_deg: float) -> Die:
    """Tilt a flat die slightly, as on soft felt or a bent lid."""
    angle = np.radians(min(abs(float(rng.normal(0.0, bend_deg))), 4.0))
    about = uniform(rng, 0, 2 * np.pi)
    turn_rad = np.array([np.cos(about), np.sin(about), 0.0]) * angle
    return replace(die, rotation=turned(die.rotation, turn_rad))


def blurred(rng: Rng, die: Die) -> Die:
    """Draw a die in flight: anywhere above the floor, at any angle, with motion blur."""
    turn_rad = rng.normal(0, 1.5, 3)
    way = rng.normal(0, 1, 3) * (1.0, 1.0, 0.35)
    way *= die.size_mm * uniform(rng, 0.35, 2.6) / np.linalg.norm(way)
    x, y, z = die.position_mm
    flat = rng.random() < 0.25
    rotation = die.rotation if flat else turned(die.rotation, turn_rad)
    spin = rng.normal(0, 0.5, 3) * (0.15 if flat else 1.0)
    height = z if flat else z + uniform(rng, 0, 1.5) * die.size_mm
    if flat:
        way[2] = 0.0
    motion = Motion(vector(way), vector(spin))
    return replace(die, position_mm=(x, y, height), rotation=rotation, motion=motion)


def free_spot(
    rng: Rng, scene: Scene, placed: list[Die], size: float, inside: bool
) -> tuple[float, float] | None:
    """Draw a place (mm) in view for a die, in the tray or beside it, apart from those placed."""
    width, height = scene.camera.size_wh
    for _ in range(60):
        pixel = rng.uniform((0, 0), (width, height))
        spot = floor_point(scene.camera, pixel)
        has_room = _fits(scene.tray, spot, size) if inside else _clear_of(scene, spot, size)
        if has_room and all(
            np.hypot(spot[0] - d.position_mm[0], spot[1] - d.position_mm[1]) > 1.45 * size
            for d in placed
        ):
            return spot
    return None


def _fits(tray: Tray, spot: tuple[float, float], size: float) -> bool:
    reach = size * 0.72
    return all(
        inside_tray(tray, spot[0] + dx * reach, spot[1] + dy * reach)
        for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))
    )


def _clear_of(scene: Scene, spot: tuple[float, float], size: float) -> bool:
    """Whether a die beside the tray does not overlap its rim, which hides at most its foot."""
    outline = np.array(scene.tray.outline_mm, np.float32)

    def out(x: float, y: float) -> float:
        return -float(cv2.pointPolygonTest(outline, (x, y), measureDist=True))

    if out(*spot) < scene.tray.rim_width_mm + 0.72 * size:
        return False
    middle, eye = np.array([*spot, size / 2]), np.asarray(scene.camera.position_mm)
    below_the_rim = max(0.0, (scene.tray.rim_height_mm - size / 2) / (eye[2] - size / 2))
    sight = (middle + share * (eye - middle) for share in np.linspace(0.0, below_the_rim, 12))
    return not any(0.0 < out(x, y) < scene.tray.rim_width_mm for x, y, _ in sight)


def floor_point(camera: Camera, pixel: NDArray[np.float64]) -> tuple[float, float]:
    """Point of the floor seen at a pixel, in mm."""
    x, y = round(float(pixel[0])), round(float(pixel[1]))
    ray = [float(c[0, 0]) for c in camera.rays(x, y, x + 1, y + 1)]
    t = -camera.position_mm[2] / min(ray[2], -0.05)
    return camera.position_mm[0] + t * ray[0], camera.position_mm[1] + t * ray[1]


def _pushed(rng: Rng, neighbour: Die, die: Die) -> Die:
    """Place a die side by side with another, mostly flush with it."""
    way = pick(rng, level_axes(neighbour)) * rng.choice([-1.0, 1.0])
    gap = (neighbour.size_mm + die.size_mm) / 2 + abs(rng.normal(0, 0.12))
    shift = float(rng.normal(0, 0.05) if rng.random() < 0.6 else rng.uniform(-0.7, 0.7))
    across = np.array([-way[1], way[0]]) * shift * die.size_mm
    x, y = np.array(neighbour.position_mm[:2]) + way * gap + across
    turn = np.degrees(np.arctan2(way[1], way[0])) + rng.normal(0, 0.6)
    return resting_die(int(rng.integers(1, 7)), (float(x), float(y)), float(turn), die)


def _beside(rng: Rng, neighbour: Die, die: Die) -> Die:
    """Place a die so that it touches another, side by side or with a corner."""
    m = np.asarray(neighbour.rotation)
    side = next((m[:, a] for a in rng.permutation(3) if abs(m[2, a]) < 0.3), m[:, 0])
    along = np.array([-side[1], side[0]])
    angle = 0.0 if rng.random() < 0.5 else uniform(rng, 0, 90)
    theta = np.radians(angle)
    half = die.size_mm / 2
    reach = half * (abs(np.cos(theta)) + abs(np.sin(theta)))
    gap = neighbour.size_mm / 2 + reach + abs(rng.normal(0, 0.4))
    sign = rng.choice([-1.0, 1.0])
    where = np.array(neighbour.position_mm[:2]) + sign * side[:2] * gap
    where = where + along * uniform(rng, -0.8, 0.8) * die.size_mm
    base = np.degrees(np.arctan2(side[1], side[0]))
    value = int(rng.integers(1, 7))
    return resting_die(value, (float(where[0]), float(where[1])), float(base + angle), die)


def _overlap(one: Die, other: Die) -> float:
    """Share of a flat die's footprint that another die overlaps."""
    a, b = (footprint(die).astype(np.float32) for die in (one, other))
    both, _ = cv2.intersectConvexConvex(a, b)
    return float(both) / one.size_mm**2


def _gloomy(rng: Rng, scene: Scene) -> Scene:
    """Darken the sides of dice that face away from the lamps, as by candlelight."""
    dim = float(np.exp(uniform(rng, np.log(0.15), 0.3)))
    ambient = vector(dim * part for part in scene.ambient)
    return replace(scene, gloom=uniform(rng, 0.0, 1.0), ambient=ambient)


def random_scene(rng: Rng, recipe: Recipe) -> Scene:
    """Draw a scene: tray, light, dice at rest or in motion, and clutter."""
    style = random_style(rng)
    camera = random_camera(rng, recipe, style.size_mm)
    scale = camera.position_mm[2] / camera.focal_px
    view = (recipe.size_wh[0] * scale, recipe.size_wh[1] * scale)
    tray = random_tray(rng, view)
    lamps, ambient = random_lamps(rng)
    scene = Scene(camera, tray, lamps, ambient, lens=random_lens(rng, lamps, ambient))
    if recipe.pushed:
        scene = _gloomy(rng, scene)
    scheme = int(rng.choice([0, 0, 1, 2]))
    colours: list[DieColour | None] = list(ALL_DICE)
    if rng.random() < 0.3:
        pool: list[DieColour | None] = [*ALL_DICE, None, None, None]
        colours = [pick(rng, pool) for _ in range(int(rng.integers(1, 10)))]
    elif rng.random() < 0.15:
        colours = [c for c in colours if rng.random() < 0.7]
    dice: list[Die] = []
    cluster = rng.random() < 0.4
    close = float(rng.choice([0.5, 0.9])) if recipe.pushed else 0.6
    for number in rng.permutation(len(colours)):
        own = style if rng.random() < 0.93 else replace(random_style(rng), size_mm=style.size_mm)
        die = dress(rng, own, colours[int(number)], scheme)
        value = int(rng.integers(1, 7))
        if (cluster or recipe.pushed) and dice and rng.random() < close:
            touching = _pushed if recipe.pushed and rng.random() < _SIDE_BY_SIDE else _beside
            near = touching(rng, pick(rng, dice), die)
            apart = all(_overlap(near, d) < 0.005 for d in dice)
            if apart and _fits(tray, near.position_mm[:2], die.size_mm * 0.9):
                dice.append(near)
                continue
        inside = rng.random() > 0.06
        spot = free_spot(rng, scene, dice, die.size_mm, inside)
        if spot is not None:
            dice.append(resting_die(value, spot, uniform(rng, 0, 360), die))
    scenario = recipe.scenario
    if scenario == "empty":
        dice = [d for d in dice if not inside_tray(tray, *d.position_mm[:2])]
    if rng.random() < 0.3:
        bend_deg = uniform(rng, 0.3, 1.5)
        dice = [uneven(rng, die, bend_deg) for die in dice]
    props: list[Thing] = []
    if scenario == "cocked":
        flat = list(dice)
        order = rng.permutation(len(dice)).tolist()
        order.sort(key=lambda n: not stands_alone(flat, n))
        for index in order[: int(rng.integers(1, 4))]:
            flat[index], prop = held_up(rng, tray, flat, index)
            props += [prop] if prop else []
        dice = flat
    elif rng.random() < _BESIDE:
        prop = beside(rng, tray, [d for d in dice if inside_tray(tray, *d.position_mm[:2])])
        props += [prop] if prop else []
    if scenario == "stacked":
        dice = stacked(rng, tray, dice)
    if scenario == "moving":
        share = rng.choice([0.3, 1.0])
        dice = [blurred(rng, d) if rng.random() < share else d for d in dice]
    things = (*props, *_clutter(rng, scene, dice, scenario))
    return replace(scene, dice=tuple(dice), things=things)


def _clutter(rng: Rng, scene: Scene, dice: list[Die], scenario: str) -> tuple[Thing, ...]:
    width, height = scene.camera.size_wh
    things: list[Thing] = []

    def anywhere() -> tuple[float, float]:
        return floor_point(scene.camera, rng.uniform((0, 0), (width, height)))

    def away() -> tuple[float, float] | None:
        for _ in range(12):
            spot = anywhere()
            if all(
                np.hypot(spot[0] - d.position_mm[0], spot[1] - d.position_mm[1]) > 30 for d in dice
            ):
                return spot
        return None

    if scenario == "hand":
        skin = jitter(rng, pick(rng, _SKINS), 0.2)
        tip = anywhere()
        if dice and rng.random() < 0.6:
            tip = pick(rng, dice).position_mm[:2]
        middle = floor_point(scene.camera, np.array([width / 2, height / 2]))
        angle = np.degrees(np.arctan2(middle[1] - tip[1], middle[0] - tip[0])) + rng.normal(0, 35)
        things.append(
            Thing(
                "hand",
                tip,
                float(angle),
                uniform(rng, 65, 100),
                skin,
                uniform(rng, 8, 60),
                int(rng.integers(1 << 20)),
            )
        )
    cover = None
    if scenario == "covered" and dice:
        cover = str(rng.choice(["cup", "cup", "card", "sheet", "pencil", "coin"]))
    for kind, chance in (
        ("pencil", 0.1),
        ("coin", 0.12),
        ("cup", 0.05),
        ("sheet", 0.2),
        ("card", 0.05),
    ):
        covering = kind == cover
        if rng.random() > chance and not covering:
            continue
        spot = pick(rng, dice).position_mm[:2] if covering else away()
        if spot is None:
            continue
        colour = vector(rng.uniform(0.02, 0.6, 3))
        if kind in ("sheet", "card"):
            if not covering and _lies_in(scene.tray, spot, 30.0):
                continue
            colour = (uniform(rng, 0.6, 0.85),) * 3
        size = {"pencil": 60.0, "coin": 11.0, "cup": 35.0, "sheet": 40.0, "card": 25.0}[kind]
        things.append(
            Thing(
                kind,
                spot,
                uniform(rng, 0, 360),
                size * (uniform(rng, 0.5, 1.2) if kind == "cup" else uniform(rng, 0.8, 1.2)),
                colour,
                uniform(rng, 15.0, 90.0) if kind == "cup" else 1.5,
                int(rng.integers(1 << 20)),
            )
        )
    if rng.random() < 0.25:
        for _ in range(int(rng.integers(1, 9))):
            v = uniform(rng, 0.4, 0.9) if rng.random() < 0.8 else 0.03
            spot = anywhere()
            things.append(
                Thing("lint", spot, uniform(rng, 0, 360), uniform(rng, 1, 9), (v, v, v), 0.3,
                      int(rng.integers(1 << 20)))
            )  # fmt: skip
    return tuple(things)


def _lies_in(tray: Tray, spot: tuple[float, float], reach_mm: float) -> bool:
    """Whether a place is inside the tray or within a distance of it."""
    outline = np.array(tray.outline_mm, np.float32)
    return float(cv2.pointPolygonTest(outline, spot, measureDist=True)) > -reach_mm


def _sensed(rng: Rng, pixels: Pixels) -> Pixels:
    """Add the artefacts of cheap cameras: colour noise, noise reduction, fewer pixels."""
    height, width = pixels.shape[:2]
    if rng.random() < 0.3:  # colour noise is coarser than luminance noise
        tones = cv2.cvtColor(pixels, cv2.COLOR_BGR2YCrCb).astype(np.float32)
        grain = int(rng.integers(2, 6))
        clouds = rng.normal(0, uniform(rng, 1.0, 7.0), (height // grain + 1, width // grain + 1, 2))
        tones[..., 1:] += cv2.resize(clouds, (width, height), interpolation=cv2.INTER_CUBIC)
        tones = np.clip(tones, 0, 255).astype(np.uint8)
        pixels = np.asarray(cv2.cvtColor(tones, cv2.COLOR_YCrCb2BGR), np.uint8)
    if rng.random() < 0.2:
        spread = uniform(rng, 10.0, 40.0)
        smeared = cv2.bilateralFilter(pixels, 5, spread, 3.0)
        pixels = np.asarray(smeared if rng.random() < 0.6 else cv2.medianBlur(pixels, 3), np.uint8)
    if rng.random() < 0.12:
        scale = uniform(rng, 0.55, 0.85)
        few = (max(8, round(width * scale)), max(8, round(height * scale)))
        small = cv2.resize(pixels, few, interpolation=cv2.INTER_AREA)
        pixels = np.asarray(cv2.resize(small, (width, height)), np.uint8)
    return pixels


def squeezed(rng: Rng, pixels: Pixels) -> Pixels:
    """Process a picture as most cameras do: noise reduction, sharpening, JPEG."""
    pixels = _sensed(rng, pixels)
    if rng.random() < 0.25:
        soft = cv2.GaussianBlur(pixels, (0, 0), uniform(rng, 0.6, 1.4))
        amount = uniform(rng, 0.2, 1.2)
        pixels = np.asarray(cv2.addWeighted(pixels, 1.0 + amount, soft, -amount, 0.0), np.uint8)
    if rng.random() < 0.25:
        return pixels
    quality = int(rng.integers(35, 97))
    done, data = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, quality])
    picture = cv2.imdecode(data, cv2.IMREAD_COLOR) if done else None
    return pixels if picture is None else np.asarray(picture, np.uint8)
