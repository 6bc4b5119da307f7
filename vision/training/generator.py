"""Random scenes: trays, lamps, dice and clutter far wider than any living room has them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.engine.dice import ALL_DICE, DieColour
from vision.reading import Pixels
from vision.scene import (
    Bgr,
    Camera,
    Die,
    Lamp,
    Lens,
    Motion,
    Scene,
    Surface,
    Thing,
    Tray,
    inside_tray,
    resting_die,
    to_matrix,
)

Rng = np.random.Generator

_FLOORS: dict[str, tuple[tuple[float, float, float], ...]] = {
    "felt": (
        (0.02, 0.10, 0.015), (0.012, 0.05, 0.02), (0.02, 0.012, 0.25), (0.3, 0.09, 0.02),
        (0.02, 0.02, 0.02), (0.2, 0.2, 0.2), (0.12, 0.03, 0.08), (0.05, 0.02, 0.10),
    ),
    "wood": ((0.07, 0.17, 0.33), (0.03, 0.07, 0.15), (0.16, 0.28, 0.42), (0.02, 0.035, 0.06)),
    "leather": ((0.02, 0.04, 0.09), (0.02, 0.02, 0.022), (0.03, 0.02, 0.12), (0.05, 0.10, 0.2)),
    "plastic": ((0.7, 0.7, 0.7), (0.02, 0.02, 0.02), (0.25, 0.25, 0.26), (0.4, 0.1, 0.03),
                (0.03, 0.03, 0.4), (0.1, 0.3, 0.05)),
    "card": ((0.18, 0.30, 0.42), (0.6, 0.62, 0.64), (0.3, 0.42, 0.5)),
    "cloth": ((0.25, 0.25, 0.25), (0.3, 0.15, 0.05), (0.05, 0.1, 0.05), (0.6, 0.6, 0.6),
              (0.1, 0.06, 0.2), (0.02, 0.02, 0.03)),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Recipe:
    """What kind of frame to make.

    Attributes:
        size_wh: Picture size.
        die_share: Width of a die as a share of the picture's width.
    """

    size_wh: tuple[int, int]
    die_share: float
    scenario: str = "flat"


def _u(rng: Rng, low: float, high: float) -> float:
    return float(rng.uniform(low, high))


def _jitter(rng: Rng, colour: Bgr, amount: float) -> Bgr:
    scale = np.exp(rng.normal(0.0, amount)) * np.exp(rng.normal(0.0, amount * 0.5, 3))
    b, g, r = np.clip(np.array(colour) * scale, 0.003, 0.92)
    return float(b), float(g), float(r)


def kelvin_bgr(kelvin: float) -> Bgr:
    """Light of a black body, its brightest channel 1, linear."""
    t = kelvin / 100.0
    red = 255.0 if t <= 66 else 329.7 * (t - 60) ** -0.1332
    green = 99.47 * np.log(t) - 161.1 if t <= 66 else 288.1 * (t - 60) ** -0.0755
    blue = 255.0 if t >= 66 else max(0.0, 138.5 * np.log(max(t - 10, 1)) - 305.0)
    rgb = (np.clip(np.array([blue, green, red]) / 255.0, 0.02, 1.0)) ** 2.2
    rgb /= rgb.max()
    return float(rgb[0]), float(rgb[1]), float(rgb[2])


def die_albedo(rng: Rng, colour: DieColour | None) -> Bgr:
    """Plastic that people would call by a colour; None gives one that is none of the five."""
    if colour is DieColour.WHITE:
        v = _u(rng, 0.55, 0.9)
        return v * _u(rng, 0.76, 1.0), v * _u(rng, 0.93, 1.0), v
    if colour is DieColour.RED:
        v = _u(rng, 0.2, 0.7)
        return v * _u(rng, 0.0, 0.1), v * _u(rng, 0.0, 0.08), v
    if colour is DieColour.YELLOW:
        v = _u(rng, 0.5, 0.88)
        return v * _u(rng, 0.005, 0.14), v * _u(rng, 0.6, 0.88), v
    if colour is DieColour.GREEN:
        v = _u(rng, 0.06, 0.42)
        return v * _u(rng, 0.05, 0.5), v, v * _u(rng, 0.0, 0.4)
    if colour is DieColour.BLUE:
        v = _u(rng, 0.12, 0.6)
        return v, v * _u(rng, 0.05, 0.42), v * _u(rng, 0.0, 0.2)
    kind = int(rng.integers(0, 8))
    if kind <= 2:  # black
        v = _u(rng, 0.006, 0.035)
        return v * _u(rng, 0.9, 1.1), v, v * _u(rng, 0.9, 1.1)
    if kind == 3:  # purple
        v = _u(rng, 0.1, 0.35)
        return v, v * _u(rng, 0.05, 0.25), v * _u(rng, 0.5, 0.9)
    if kind == 4:  # orange
        v = _u(rng, 0.5, 0.85)
        return v * _u(rng, 0.0, 0.06), v * _u(rng, 0.16, 0.33), v
    if kind == 5:  # pink
        v = _u(rng, 0.5, 0.8)
        return v * _u(rng, 0.3, 0.6), v * _u(rng, 0.12, 0.35), v
    if kind == 6:  # turquoise
        v = _u(rng, 0.25, 0.55)
        return v * _u(rng, 0.8, 1.0), v, v * _u(rng, 0.0, 0.2)
    v = _u(rng, 0.04, 0.13)  # brown
    return v * _u(rng, 0.15, 0.4), v * _u(rng, 0.3, 0.55), v


def _style(rng: Rng) -> Die:
    """The mould and polish of a set of dice."""
    glow = _u(rng, 0.3, 1.0) if rng.random() < 0.12 else 0.0
    size = float(rng.choice([12.0, 14.0, 15.0, 16.0, 16.0, 18.0]))
    return Die(
        (0.0, 0.0, size / 2),
        ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
        size_mm=size,
        pip_radius=_u(rng, 0.07, 0.115) if rng.random() < 0.7 else _u(rng, 0.1, 0.14),
        pip_offset=_u(rng, 0.2, 0.28),
        one_scale=float(rng.choice([1.0, 1.0, 1.0, _u(rng, 1.0, 1.5)])),
        edge_radius=_u(rng, 0.03, 0.2),
        ball=float(rng.choice([0.87, _u(rng, 0.66, 0.8)])),
        right_handed=bool(rng.random() < 0.6),
        flips=(bool(rng.random() < 0.5), bool(rng.random() < 0.5), bool(rng.random() < 0.5)),
        gloss=float(rng.choice([_u(rng, 0.0, 0.3), _u(rng, 0.3, 0.9)])),
        roughness=_u(rng, 0.08, 0.5),
        glow=glow,
    )


def _pip_paint(rng: Rng, colour: DieColour | None, scheme: int, albedo: Bgr) -> Bgr:
    light = _jitter(rng, (0.75, 0.77, 0.78), 0.1)
    dark = _jitter(rng, (0.014, 0.014, 0.014), 0.4)
    brightness = 0.1 * albedo[0] + 0.6 * albedo[1] + 0.3 * albedo[2]
    if colour is None and rng.random() < 0.5:  # red on black, yellow on turquoise ...
        b, g, r = rng.permutation([_u(rng, 0.3, 0.8), _u(rng, 0.0, 0.6), _u(rng, 0.0, 0.15)])
        return float(b), float(g), float(r)
    if colour is DieColour.WHITE:
        return dark if rng.random() < 0.93 else _jitter(rng, (0.25, 0.03, 0.02), 0.3)
    if scheme == 2 and brightness > 0.035:
        return dark
    if colour is DieColour.YELLOW and scheme == 0:
        return dark
    if brightness > 0.45:
        return dark
    return light


def dress(rng: Rng, style: Die, colour: DieColour | None, scheme: int) -> Die:
    """A die of a set in a colour."""
    albedo = die_albedo(rng, colour)
    return replace(
        style,
        colour=colour,
        albedo=albedo,
        pip_albedo=_pip_paint(rng, colour, scheme, albedo),
        flips=(
            (style.flips[0] if rng.random() < 0.8 else not style.flips[0]),
            style.flips[1],
            style.flips[2],
        ),
    )


def _tray(rng: Rng, view_mm: tuple[float, float]) -> Tray:
    kind = rng.choice(["rect", "rect", "round", "hex", "oct", "rounded"])
    scale = _u(rng, 0.5, 1.25)
    w, h = view_mm[0] * scale * _u(rng, 0.75, 1.1), view_mm[1] * scale * _u(rng, 0.8, 1.15)
    if kind in ("rect", "rounded"):
        corners = np.array([[w, h], [-w, h], [-w, -h], [w, -h]]) / 2
        if kind == "rounded":
            r = min(w, h) * _u(rng, 0.08, 0.25)
            turn = np.linspace(0, np.pi / 2, 4)
            corners = np.concatenate(
                [
                    np.sign(c) * (np.abs(c) - r)
                    + r * np.c_[np.cos(q * np.pi / 2 + turn), np.sin(q * np.pi / 2 + turn)]
                    for q, c in enumerate(corners)
                ]
            )
    else:
        count = {"round": 20, "hex": 6, "oct": 8}[str(kind)]
        ring = np.linspace(0, 2 * np.pi, count, endpoint=False)
        corners = np.c_[np.cos(ring), np.sin(ring)] * min(w, h) * 0.55
    a = _u(rng, 0, 2 * np.pi) if rng.random() < 0.5 else rng.normal(0, 0.1)
    turn2 = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    corners = corners @ turn2.T + rng.normal(0, 0.05, 2) * min(w, h)
    floor = _surface(rng, None)
    rim = replace(floor, seed=int(rng.integers(99))) if rng.random() < 0.4 else _surface(rng, None)
    return Tray(
        tuple((float(x), float(y)) for x, y in corners),
        rim_height_mm=_u(rng, 5.0, 45.0),
        rim_width_mm=_u(rng, 2.0, 16.0),
        floor=floor,
        rim=rim,
        table=_surface(rng, None),
    )


def _surface(rng: Rng, kind: str | None) -> Surface:
    kind = kind or str(
        rng.choice(["felt", "felt", "felt", "wood", "leather", "plastic", "card", "cloth"])
    )
    palette = _FLOORS[kind]
    colour = _jitter(rng, palette[int(rng.integers(len(palette)))], 0.35)
    if rng.random() < 0.15:
        b, g, r = rng.uniform(0.01, 0.5, 3)
        colour = (float(b), float(g), float(r))
    shiny = {"plastic": 0.8, "wood": 0.35, "leather": 0.35}.get(kind, 0.0)
    return Surface(kind, colour, int(rng.integers(10_000)), shiny * _u(rng, 0.0, 1.0) ** 2)


def _lamps(rng: Rng, tray: Tray) -> tuple[tuple[Lamp, ...], Bgr]:
    count = int(rng.choice([1, 1, 2, 2, 3]))
    warmth = _u(rng, 2200, 6500)
    lamps, total = [], 0.0
    for number in range(count):
        distance = float(np.exp(_u(rng, np.log(280), np.log(1900))))
        elevation = np.radians(_u(rng, 32, 89))
        azimuth = _u(rng, 0, 2 * np.pi)
        ground = distance * np.cos(elevation)
        where = (ground * np.cos(azimuth), ground * np.sin(azimuth), distance * np.sin(elevation))
        strength = (1.0 if number == 0 else _u(rng, 0.2, 0.9)) * float(np.sin(elevation)) ** -0.5
        warm = warmth if rng.random() < 0.6 else _u(rng, 2500, 6500)
        b, g, r = (strength * v for v in kelvin_bgr(warm))
        radius = distance * float(np.exp(_u(rng, np.log(0.02), np.log(0.45))))
        x, y, z = (float(v) for v in where)
        lamps.append(Lamp((x, y, z), radius, (b, g, r)))
        total += strength
    level = float(np.exp(_u(rng, np.log(0.04), np.log(1.1)))) * total
    b, g, r = (level * v for v in kelvin_bgr(_u(rng, 3000, 7500)))
    unit = 1.0 / (total + level)
    scaled = tuple(
        replace(p, colour=(p.colour[0] * unit, p.colour[1] * unit, p.colour[2] * unit))
        for p in lamps
    )
    return scaled, (b * unit, g * unit, r * unit)


def _lens(rng: Rng, lamps: tuple[Lamp, ...], ambient: Bgr) -> Lens:
    light = np.array(ambient) + sum(np.array(p.colour) for p in lamps)
    trust = float(rng.choice([1.0, 1.0, _u(rng, 0.2, 1.0)]))
    if rng.random() < 0.22:  # set for other light than there is
        light_meant, trust = np.array(kelvin_bgr(_u(rng, 2500, 7500))), 1.0
    else:
        light_meant = light
    balance = (light_meant.mean() / light_meant) ** trust * np.exp(rng.normal(0, 0.05, 3))
    gain = 0.9 * _u(rng, 0.8, 1.2) / float((light * balance).mean())
    b, g, r = balance * gain
    return Lens(
        exposure_ev=float(np.clip(rng.normal(0.0, 0.6), -1.7, 1.1)),
        white_balance=(float(b), float(g), float(r)),
        vignette=_u(rng, 0.0, 0.35),
        blur_px=_u(rng, 0.0, 1.0) if rng.random() < 0.85 else _u(rng, 1.0, 1.8),
        noise=float(np.exp(_u(rng, np.log(0.002), np.log(0.03)))),
        contrast=_u(rng, -0.1, 0.6),
        saturation=_u(rng, 0.75, 1.3),
        seed=int(rng.integers(1 << 30)),
    )


def random_camera(rng: Rng, size_wh: tuple[int, int], die_share: float, die_mm: float) -> Camera:
    """A camera above at which a die is as wide as asked."""
    width = size_wh[0]
    focal = width / 2 / np.tan(np.radians(_u(rng, 38, 80)) / 2)
    distance = die_mm * focal / (die_share * width)
    tilt = 0.0 if rng.random() < 0.15 else _u(rng, 0.0, 26.0)
    return Camera.above(
        size_wh,
        float(focal),
        float(max(distance, 70.0)),
        tilt_deg=tilt,
        azimuth_deg=_u(rng, 0, 360),
        roll_deg=_u(rng, 0, 360),
        k1=_u(rng, -0.12, 0.05) if rng.random() < 0.5 else 0.0,
    )


def lean(rng: Rng, die: Die) -> Die:
    """A die that stands on an edge or a corner because something holds it up."""
    angle = np.radians(8.5 + 36.0 * _u(rng, 0.0, 1.0) ** 1.3)
    about = _u(rng, 0, 2 * np.pi)
    step, _ = cv2.Rodrigues(np.array([np.cos(about), np.sin(about), 0.0]) * angle)
    rotation = step @ np.asarray(die.rotation)
    reach = float(np.abs(rotation[2]).sum()) * die.size_mm / 2
    x, y, _z = die.position_mm
    lift = reach * _u(rng, 0.9, 1.0)
    return replace(die, position_mm=(x, y, lift), rotation=to_matrix(rotation))


def blurred(rng: Rng, die: Die) -> Die:
    """A die on its way: anywhere above the floor, any turn, smeared by the shutter."""
    step, _ = cv2.Rodrigues(rng.normal(0, 1.5, 3))
    way = rng.normal(0, 1, 3) * (1.0, 1.0, 0.35)
    way *= die.size_mm * _u(rng, 0.35, 2.6) / np.linalg.norm(way)
    x, y, z = die.position_mm
    flat = rng.random() < 0.25
    rotation = die.rotation if flat else to_matrix(step @ np.asarray(die.rotation))
    sx, sy, sz = (float(v) for v in way)
    tx, ty, tz = (float(v) for v in rng.normal(0, 0.5, 3) * (0.15 if flat else 1.0))
    height = z if flat else z + _u(rng, 0, 1.5) * die.size_mm
    return replace(
        die,
        position_mm=(x, y, height),
        rotation=rotation,
        motion=Motion((sx, sy, 0.0 if flat else sz), (tx, ty, tz)),
    )


def _spot(
    rng: Rng, scene: Scene, placed: list[Die], size: float, inside: bool
) -> tuple[float, float] | None:
    width, height = scene.camera.size_wh
    for _ in range(60):
        pixel = rng.uniform((0, 0), (width, height))
        spot = floor_point(scene.camera, pixel)
        grown = inside_tray(scene.tray, *spot)
        if grown != inside:
            continue
        if inside and not _fits(scene.tray, spot, size):
            continue
        if all(
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


def floor_point(camera: Camera, pixel: NDArray[np.float64]) -> tuple[float, float]:
    """Where the ray through a pixel meets the floor, in mm."""
    x, y = round(float(pixel[0])), round(float(pixel[1]))
    ray = [float(c[0, 0]) for c in camera.rays(x, y, x + 1, y + 1)]
    t = -camera.position_mm[2] / min(ray[2], -0.05)
    return camera.position_mm[0] + t * ray[0], camera.position_mm[1] + t * ray[1]


def _beside(rng: Rng, neighbour: Die, die: Die) -> Die:
    """A die that touches another: side by side, or a corner against a side."""
    m = np.asarray(neighbour.rotation)
    side = next((m[:, a] for a in rng.permutation(3) if abs(m[2, a]) < 0.3), m[:, 0])
    along = np.array([-side[1], side[0]])
    angle = 0.0 if rng.random() < 0.5 else _u(rng, 0, 90)
    theta = np.radians(angle)
    half = die.size_mm / 2
    reach = half * (abs(np.cos(theta)) + abs(np.sin(theta)))
    gap = neighbour.size_mm / 2 + reach + abs(rng.normal(0, 0.4))
    sign = rng.choice([-1.0, 1.0])
    where = np.array(neighbour.position_mm[:2]) + sign * side[:2] * gap
    where = where + along * _u(rng, -0.8, 0.8) * die.size_mm
    base = np.degrees(np.arctan2(side[1], side[0]))
    value = int(rng.integers(1, 7))
    return resting_die(value, (float(where[0]), float(where[1])), float(base + angle), die)


def random_scene(rng: Rng, recipe: Recipe) -> Scene:
    """A frame's scene: a tray, light, dice at rest or not, and clutter."""
    style = _style(rng)
    camera = random_camera(rng, recipe.size_wh, recipe.die_share, style.size_mm)
    scale = camera.position_mm[2] / camera.focal_px
    view = (recipe.size_wh[0] * scale, recipe.size_wh[1] * scale)
    tray = _tray(rng, view)
    lamps, ambient = _lamps(rng, tray)
    scene = Scene(camera, tray, lamps, ambient, lens=_lens(rng, lamps, ambient))
    scheme = int(rng.choice([0, 0, 1, 2]))
    colours: list[DieColour | None] = list(ALL_DICE)
    if rng.random() < 0.3:
        pool: list[DieColour | None] = [*ALL_DICE, None, None, None]
        colours = [pool[int(rng.integers(len(pool)))] for _ in range(int(rng.integers(1, 10)))]
    elif rng.random() < 0.15:
        colours = [c for c in colours if rng.random() < 0.7]
    dice: list[Die] = []
    cluster = rng.random() < 0.4
    for number in rng.permutation(len(colours)):
        own = style if rng.random() < 0.93 else replace(_style(rng), size_mm=style.size_mm)
        die = dress(rng, own, colours[int(number)], scheme)
        value = int(rng.integers(1, 7))
        if cluster and dice and rng.random() < 0.6:
            near = _beside(rng, dice[int(rng.integers(len(dice)))], die)
            apart = all(
                np.hypot(
                    near.position_mm[0] - d.position_mm[0], near.position_mm[1] - d.position_mm[1]
                )
                > 0.99 * die.size_mm
                for d in dice
            )
            if apart and _fits(tray, near.position_mm[:2], die.size_mm * 0.9):
                dice.append(near)
                continue
        inside = rng.random() > 0.06
        spot = _spot(rng, scene, dice, die.size_mm, inside)
        if spot is not None:
            dice.append(resting_die(value, spot, _u(rng, 0, 360), die))
    scenario = recipe.scenario
    if scenario == "empty":
        dice = [d for d in dice if not inside_tray(tray, *d.position_mm[:2])]
    if scenario == "cocked":
        for index in rng.permutation(len(dice))[: int(rng.integers(1, 4))]:
            dice[int(index)] = lean(rng, dice[int(index)])
    if scenario == "moving":
        share = rng.choice([0.3, 1.0])
        dice = [blurred(rng, d) if rng.random() < share else d for d in dice]
    things = _clutter(rng, scene, dice, scenario)
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
        skin = _jitter(
            rng,
            [(0.2, 0.32, 0.55), (0.12, 0.2, 0.38), (0.04, 0.07, 0.16)][int(rng.integers(3))],
            0.2,
        )
        tip = anywhere()
        if dice and rng.random() < 0.6:
            tip = dice[int(rng.integers(len(dice)))].position_mm[:2]
        middle = floor_point(scene.camera, np.array([width / 2, height / 2]))
        angle = np.degrees(np.arctan2(middle[1] - tip[1], middle[0] - tip[0])) + rng.normal(0, 35)
        things.append(
            Thing(
                "hand",
                tip,
                float(angle),
                _u(rng, 65, 100),
                skin,
                _u(rng, 8, 60),
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
        spot = dice[int(rng.integers(len(dice)))].position_mm[:2] if covering else away()
        if spot is None:
            continue
        b, g, r = rng.uniform(0.02, 0.6, 3)
        if kind in ("sheet", "card"):
            if inside_tray(scene.tray, *spot) and not covering:
                continue
            b, g, r = (_u(rng, 0.6, 0.85),) * 3
        size = {"pencil": 60.0, "coin": 11.0, "cup": 35.0, "sheet": 40.0, "card": 25.0}[kind]
        things.append(
            Thing(
                kind,
                spot,
                _u(rng, 0, 360),
                size * (_u(rng, 0.5, 1.2) if kind == "cup" else _u(rng, 0.8, 1.2)),
                (b, g, r),
                _u(rng, 15.0, 90.0) if kind == "cup" else 1.5,
                int(rng.integers(1 << 20)),
            )
        )
    if rng.random() < 0.25:
        for _ in range(int(rng.integers(1, 9))):
            v = _u(rng, 0.4, 0.9) if rng.random() < 0.8 else 0.03
            spot = anywhere()
            things.append(
                Thing("lint", spot, _u(rng, 0, 360), _u(rng, 1, 9), (v, v, v), 0.3,
                      int(rng.integers(1 << 20)))
            )  # fmt: skip
    return tuple(things)


def squeezed(rng: Rng, pixels: Pixels) -> Pixels:
    """The picture sharpened and packed as JPEG, as most cameras send it."""
    if rng.random() < 0.25:
        soft = cv2.GaussianBlur(pixels, (0, 0), _u(rng, 0.6, 1.4))
        amount = _u(rng, 0.2, 1.2)
        pixels = np.asarray(cv2.addWeighted(pixels, 1.0 + amount, soft, -amount, 0.0), np.uint8)
    if rng.random() < 0.25:
        return pixels
    quality = int(rng.integers(55, 96))
    done, data = cv2.imencode(".jpg", pixels, [cv2.IMWRITE_JPEG_QUALITY, quality])
    picture = cv2.imdecode(data, cv2.IMREAD_COLOR) if done else None
    return pixels if picture is None else np.asarray(picture, np.uint8)
