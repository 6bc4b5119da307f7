"""Random dice, trays, lamps and lenses for synthetic scenes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, TypeVar

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.engine.dice import DieColour
from vision.simulation.scene import Bgr, Die, Floats, Lamp, Lens, Surface, Tray, vector

Rng = np.random.Generator
_T = TypeVar("_T")

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


def uniform(rng: Rng, low: float, high: float) -> float:
    """Draw a number between two."""
    return float(rng.uniform(low, high))


def pick(rng: Rng, options: Sequence[_T]) -> _T:
    """Draw one of some options."""
    return options[int(rng.integers(len(options)))]


def log_uniform(rng: Rng, low: float, high: float) -> float:
    """Draw a number between two, each doubling of it with the same chance."""
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def jitter(rng: Rng, colour: Bgr, amount: float) -> Bgr:
    """Vary the lightness and hue of a colour a little."""
    scale = np.exp(rng.normal(0.0, amount)) * np.exp(rng.normal(0.0, amount * 0.5, 3))
    return vector(np.clip(np.array(colour) * scale, 0.003, 0.92))


def kelvin_bgr(kelvin: float) -> Bgr:
    """Colour of a black body in linear light, its brightest channel 1."""
    t = kelvin / 100.0
    red = 255.0 if t <= 66 else 329.7 * (t - 60) ** -0.1332
    green = 99.47 * np.log(t) - 161.1 if t <= 66 else 288.1 * (t - 60) ** -0.0755
    blue = 255.0 if t >= 66 else max(0.0, 138.5 * np.log(max(t - 10, 1)) - 305.0)
    light = np.clip(np.array([blue, green, red]) / 255.0, 0.02, 1.0) ** 2.2
    return vector(light / light.max())


def die_albedo(rng: Rng, colour: DieColour | None) -> Bgr:
    """Draw a plastic of a colour; None draws one that is none of the five."""
    if colour is DieColour.WHITE:
        v = uniform(rng, 0.55, 0.9)
        return v * uniform(rng, 0.76, 1.0), v * uniform(rng, 0.93, 1.0), v
    if colour is DieColour.RED:
        v = uniform(rng, 0.12, 0.7)
        return v * uniform(rng, 0.0, 0.1), v * uniform(rng, 0.0, 0.08), v
    if colour is DieColour.YELLOW:
        v = uniform(rng, 0.5, 0.88)
        return v * uniform(rng, 0.005, 0.14), v * uniform(rng, 0.6, 0.88), v
    if colour is DieColour.GREEN:
        v = uniform(rng, 0.04, 0.42)
        return v * uniform(rng, 0.05, 0.5), v, v * uniform(rng, 0.0, 0.4)
    if colour is DieColour.BLUE:
        v = log_uniform(rng, 0.05, 0.6)
        return v, v * uniform(rng, 0.05, 0.42), v * uniform(rng, 0.0, 0.2)
    kind = int(rng.integers(0, 8))
    if kind <= 2:  # black
        v = uniform(rng, 0.006, 0.035)
        return v * uniform(rng, 0.9, 1.1), v, v * uniform(rng, 0.9, 1.1)
    if kind == 3:  # purple
        v = uniform(rng, 0.1, 0.35)
        return v, v * uniform(rng, 0.05, 0.25), v * uniform(rng, 0.5, 0.9)
    if kind == 4:  # orange
        v = uniform(rng, 0.5, 0.85)
        return v * uniform(rng, 0.0, 0.06), v * uniform(rng, 0.16, 0.33), v
    if kind == 5:  # pink
        v = uniform(rng, 0.5, 0.8)
        return v * uniform(rng, 0.3, 0.6), v * uniform(rng, 0.12, 0.35), v
    if kind == 6:  # turquoise
        v = uniform(rng, 0.25, 0.55)
        return v * uniform(rng, 0.8, 1.0), v, v * uniform(rng, 0.0, 0.2)
    v = uniform(rng, 0.04, 0.13)  # brown
    return v * uniform(rng, 0.15, 0.4), v * uniform(rng, 0.3, 0.55), v


def random_style(rng: Rng) -> Die:
    """Draw the shape and polish of a set of dice."""
    glow = uniform(rng, 0.3, 1.0) if rng.random() < 0.12 else 0.0
    size = float(rng.choice([12.0, 14.0, 15.0, 16.0, 16.0, 18.0]))
    edge_radius = uniform(rng, 0.03, 0.2)
    ball = float(rng.choice([0.87, uniform(rng, 0.66, 0.8)]))
    for _ in range(50):
        pip_radius = uniform(rng, 0.07, 0.115) if rng.random() < 0.7 else uniform(rng, 0.1, 0.14)
        pip_offset = uniform(rng, 0.2, 0.28)
        is_apart = pip_offset > 2.05 * pip_radius  # three pips of a six side by side
        is_on_face = pip_offset + pip_radius < 0.5 - 0.6 * edge_radius
        flat = float(np.sqrt(max(ball**2 - 0.25, 0.0)))
        if is_apart and is_on_face and np.sqrt(2.0) * pip_offset + pip_radius < flat + 0.03:
            break
    return Die(
        (0.0, 0.0, size / 2),
        ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
        size_mm=size,
        pip_radius=pip_radius,
        pip_offset=pip_offset,
        pip_depth=float(rng.choice([0.0, uniform(rng, 0.1, 0.6), uniform(rng, 0.5, 1.2)])),
        one_scale=float(rng.choice([1.0, 1.0, 1.0, uniform(rng, 1.0, 1.5)])),
        edge_radius=edge_radius,
        ball=ball,
        right_handed=bool(rng.random() < 0.6),
        flips=(bool(rng.random() < 0.5), bool(rng.random() < 0.5), bool(rng.random() < 0.5)),
        gloss=float(rng.choice([uniform(rng, 0.0, 0.3), uniform(rng, 0.3, 0.9)])),
        roughness=uniform(rng, 0.08, 0.5),
        glow=glow,
    )


def _pip_paint(rng: Rng, colour: DieColour | None, scheme: int, albedo: Bgr) -> Bgr:
    light = jitter(rng, (0.75, 0.77, 0.78), 0.1)
    dark = jitter(rng, (0.014, 0.014, 0.014), 0.4)
    brightness = 0.1 * albedo[0] + 0.6 * albedo[1] + 0.3 * albedo[2]
    painted = {None: 0.5, DieColour.WHITE: 0.0}.get(colour, 0.05)
    if rng.random() < painted:  # red on black, yellow on blue ...
        parts = ((0.3, 0.8), (0.0, 0.6), (0.0, 0.15))
        draws = 1 if colour is None else 3
        paints = [rng.permutation([uniform(rng, *part) for part in parts]) for _ in range(draws)]
        paint = max(paints, key=lambda p: float(np.abs(np.log((p + 0.02) / albedo)).sum()))
        return vector(paint)
    if colour is DieColour.WHITE:
        return dark if rng.random() < 0.93 else jitter(rng, (0.25, 0.03, 0.02), 0.3)
    if scheme == 2 and brightness > (0.035 if rng.random() < 0.7 else 0.018):
        return dark
    if colour is DieColour.YELLOW and scheme == 0:
        return dark
    if brightness > 0.45:
        return dark
    return light


def dress(rng: Rng, style: Die, colour: DieColour | None, scheme: int) -> Die:
    """Return a die of a set in a colour."""
    albedo = die_albedo(rng, colour)
    if colour is DieColour.WHITE and rng.random() < 0.06:  # as in East Asia
        red = (uniform(rng, 0.005, 0.06), uniform(rng, 0.005, 0.06), uniform(rng, 0.25, 0.6))
        style = replace(style, other_pips=((1,) if rng.random() < 0.7 else (1, 4), red))
        if rng.random() < 0.6:
            style = replace(style, one_scale=uniform(rng, 1.2, 2.0))
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


def random_tray(rng: Rng, view_mm: tuple[float, float]) -> Tray:
    """Draw a tray of any shape in the camera's view (mm)."""
    kind = rng.choice(["rect", "rect", "round", "hex", "oct", "rounded"])
    scale = uniform(rng, 0.5, 1.25)
    w, h = (
        view_mm[0] * scale * uniform(rng, 0.75, 1.1),
        view_mm[1] * scale * uniform(rng, 0.8, 1.15),
    )
    if kind in ("rect", "rounded"):
        corners = np.array([[w, h], [-w, h], [-w, -h], [w, -h]]) / 2
        if kind == "rounded":
            r = min(w, h) * uniform(rng, 0.08, 0.25)
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
    a = uniform(rng, 0, 2 * np.pi) if rng.random() < 0.5 else rng.normal(0, 0.1)
    turn2 = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    corners = corners @ turn2.T + rng.normal(0, 0.05, 2) * min(w, h)
    floor = _surface(rng)
    rim = replace(floor, seed=int(rng.integers(99))) if rng.random() < 0.4 else _surface(rng)
    return Tray(
        tuple((float(x), float(y)) for x, y in corners),
        rim_height_mm=uniform(rng, 5.0, 45.0),
        rim_width_mm=uniform(rng, 2.0, 16.0),
        floor=floor,
        rim=rim,
        table=_surface(rng),
    )


def _surface(rng: Rng) -> Surface:
    kind = str(rng.choice(["felt", "felt", "felt", "wood", "leather", "plastic", "card", "cloth"]))
    colour = jitter(rng, pick(rng, _FLOORS[kind]), 0.35)
    if rng.random() < 0.15:
        colour = vector(rng.uniform(0.01, 0.5, 3))
    shiny = {"plastic": 0.8, "wood": 0.35, "leather": 0.35}.get(kind, 0.0)
    return Surface(kind, colour, int(rng.integers(10_000)), shiny * uniform(rng, 0.0, 1.0) ** 2)


_LOW = {"": 0.82, "lamp": 0.06, "candle": 0.06, "sun": 0.06}
"""Shares of scenes by their low light: none, a low lamp, a candle on the table, the evening sun."""


def random_lamps(rng: Rng) -> tuple[tuple[Lamp, ...], Bgr]:
    """Draw one to three lamps and the ambient light."""
    count = int(rng.choice([1, 1, 2, 2, 3]))
    warmth = uniform(rng, 2200, 6500)
    low = str(rng.choice(list(_LOW), p=list(_LOW.values())))
    if low in ("candle", "sun"):
        count = int(rng.choice([1, 1, 2]))
        warmth = uniform(rng, 1900, 2400) if low == "candle" else uniform(rng, 3000, 6500)
    lamps, total = [], 0.0
    for number in range(count):
        distance = log_uniform(rng, 280, 1900)
        elevation = np.radians(uniform(rng, 32, 89))
        size = log_uniform(rng, 0.02, 0.45)
        if low and number == 0:
            elevation = np.radians(uniform(rng, 12, 35))
            if low == "candle":
                distance = log_uniform(rng, 150, 500)
            if low != "lamp":
                size = log_uniform(rng, 0.005, 0.04)
        azimuth = uniform(rng, 0, 2 * np.pi)
        ground = distance * np.cos(elevation)
        where = (ground * np.cos(azimuth), ground * np.sin(azimuth), distance * np.sin(elevation))
        strength = (1.0 if number == 0 else uniform(rng, 0.2, 0.9)) * float(
            np.sin(elevation)
        ) ** -0.5
        warm = warmth if rng.random() < 0.6 else uniform(rng, 2500, 6500)
        light = vector(strength * v for v in kelvin_bgr(warm))
        lamps.append(Lamp(vector(where), distance * size, light))
        total += strength
    level = log_uniform(rng, 0.04, 1.1) * total
    ambient = kelvin_bgr(uniform(rng, 3000, 7500))
    unit = 1.0 / (total + level)
    scaled = tuple(replace(p, colour=vector(v * unit for v in p.colour)) for p in lamps)
    return scaled, vector(level * v * unit for v in ambient)


def random_room(rng: Rng, ambient: Bgr) -> Floats:
    """Draw the light of a room: walls, ceiling, windows and furniture.

    Returns:
        (64, 128, 3) float32, linear; rows from overhead to underfoot, columns once round. It lights
        a level floor as brightly as `ambient`.
    """
    height, width = 64, 128
    rise = np.cos((np.arange(height) + 0.5) / height * np.pi)  # 1 overhead, -1 below
    picture: Floats = np.ones((height, width, 3), np.float32)
    picture *= (1.0 + uniform(rng, -0.6, 0.8) * rise)[:, None, None]
    for _ in range(int(rng.integers(3, 14))):
        top, left = int(rng.integers(0, height)), int(rng.integers(0, width))
        tall, wide = int(rng.integers(3, 30)), int(rng.integers(3, 40))
        tone = np.exp(rng.normal(0.0, 0.6)) * np.exp(rng.normal(0.0, 0.25, 3))
        picture[top : top + tall, left : left + wide] *= tone
    for _ in range(int(rng.choice([0, 0, 1, 1, 2, 3]))):
        top, left = int(rng.integers(4, 30)), int(rng.integers(0, width - 10))
        tall, wide = int(rng.integers(2, 14)), int(rng.integers(2, 16))
        glow = log_uniform(rng, 4.0, 60.0) * np.exp(rng.normal(0.0, 0.15, 3))
        pane = np.ones((tall, wide, 1)) * glow
        if rng.random() < 0.4 and wide > 5:
            pane[:, wide // 2] *= 0.15
        part = picture[top : top + tall, left : left + wide]
        part[:] = pane[: part.shape[0], : part.shape[1]]
    if rng.random() < 0.7:
        soft = cv2.GaussianBlur(picture, (0, 0), uniform(rng, 0.4, 2.0))
        picture = np.asarray(soft, np.float32)
    gain = np.asarray(ambient, np.float32) / floor_light(picture)
    return np.asarray(picture * gain, np.float32)


def floor_light(room: NDArray[Any]) -> Floats:
    """Mean light (3,) of a room (H, W, 3) on a level floor."""
    rise = np.cos((np.arange(len(room)) + 0.5) / len(room) * np.pi)
    area = (np.sqrt(1.0 - rise**2) * np.clip(rise, 0.0, 1.0))[:, None, None]
    return np.asarray((room * area).sum((0, 1)) / (area.sum() * room.shape[1]))


def random_lens(rng: Rng, lamps: tuple[Lamp, ...], ambient: Bgr) -> Lens:
    """Draw exposure, white balance and focus of the camera, at times badly set."""
    light = np.array(ambient) + sum(np.array(p.colour) for p in lamps)
    trust = float(rng.choice([1.0, 1.0, uniform(rng, 0.0, 1.0)]))
    if rng.random() < 0.22:  # a white balance for another light
        light_meant, trust = np.array(kelvin_bgr(uniform(rng, 2500, 7500))), 1.0
    else:
        light_meant = light
    balance = (light_meant.mean() / light_meant) ** trust * np.exp(rng.normal(0, 0.05, 3))
    gain = 0.9 * uniform(rng, 0.8, 1.2) / float((light * balance).mean())
    return Lens(
        exposure_ev=float(np.clip(rng.normal(0.0, 0.6), -1.7, 1.1)),
        white_balance=vector(balance * gain),
        vignette=uniform(rng, 0.0, 0.35),
        blur_px=uniform(rng, 0.0, 1.0) if rng.random() < 0.85 else uniform(rng, 1.0, 1.8),
        noise=log_uniform(rng, 0.002, 0.03),
        contrast=uniform(rng, -0.1, 0.6),
        saturation=uniform(rng, 0.75, 1.3),
        seed=int(rng.integers(1 << 30)),
    )
