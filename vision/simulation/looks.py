"""Changes the look of random scenes: patterns, photographs, rooms, shadows, plastics.

Some families of each are held out: `TRAINED` looks are for training pictures, `UNSEEN` ones for the
frames that choose the weights. Photographs and rooms come from a folder of the user.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import cv2
import numpy as np

from companion.engine.dice import DieColour
from companion.errors import PictureError
from vision.simulation import patterns, shadows, unseen_patterns
from vision.simulation.appearance import (
    Rng,
    die_albedo,
    floor_light,
    jitter,
    kelvin_bgr,
    log_uniform,
    pick,
    random_lens,
    random_room,
    uniform,
)
from vision.simulation.geometry import inside_tray
from vision.simulation.random_scenes import floor_point
from vision.simulation.scene import (
    Bgr,
    Die,
    Finish,
    Floats,
    Lamp,
    Room,
    Scene,
    Surface,
    Thing,
    Tile,
    Wear,
    vector,
)
from vision.simulation.symbols import COUNT

_COLOURS = (*DieColour, None)
_CHECK_ROOMS = ("lobby", "workshop", "blender_interior")
_TRAINED_PLASTICS = (
    "speckled", "speckled", "marbled", "marbled", "gradient", "flecks", "two_tone", "worn",
    "brushed",
)  # fmt: skip
_FLECKED_PLASTICS = (
    "speckled", "speckled", "marbled", "marbled", "flecks", "flecks", "confetti", "confetti",
    "veined", "gradient", "two_tone", "worn", "brushed",
)  # fmt: skip
_SPARSE = ("speckled", "flecks", "confetti", "veined", "glitter", "clear")
"""Plastics of which the second covers a small share."""
_TRIES = 15
"""Draws for a set of flecked dice at most."""
_UNSEEN_PLASTICS = ("pearl", "glitter")
"""Glitter is drawn as flecks are; its name tells the frames that have it."""


@dataclass(frozen=True, slots=True)
class Looks:
    """Families to draw from.

    Attributes:
        pictures: Photographs and textures (any size, JPEG or PNG).
        rooms: Equirectangular panoramas in linear light (.hdr).
        patterns, shadows: Drawing functions by name.
        plastics: Kinds of `Finish`.
        flecked: Whether most changed dice have flecks, speckles, dots or veins that stand out.
        symbols: Share of changed sets of dice that have symbols instead of pips.
        odd_pips: Share of changed sets whose pips are worn, very small or close together.
    """

    pictures: tuple[Path, ...]
    rooms: tuple[Path, ...]
    patterns: Mapping[str, Callable[[Rng], patterns.Picture]]
    shadows: Mapping[str, Callable[[Rng], shadows.Stencil]]
    plastics: tuple[str, ...]
    flecked: bool = False
    symbols: float = 0.0
    odd_pips: float = 0.0


TRAINED = Looks((), (), patterns.TRAINED, shadows.TRAINED, _TRAINED_PLASTICS)
UNSEEN = Looks((), (), unseen_patterns.UNSEEN, shadows.UNSEEN, _UNSEEN_PLASTICS)
SPLITS = {"train": TRAINED, "check": UNSEEN}


def flecked(looks: Looks) -> Looks:
    """Return the looks with flecks, speckles, dots or veins on most changed dice."""
    return replace(looks, plastics=_FLECKED_PLASTICS, flecked=True)


def load_looks(split: str, folder: Path | None) -> Looks:
    """Return the looks of a split, with the pictures and rooms of a folder.

    Args:
        split: `train` or `check`; the two share no family.
        folder: Holds `manifest.jsonl` (one object per line with `file` and `split`) and
            `hdri/*.hdr`.
    Raises:
        PictureError: The folder has no usable manifest.
    """
    looks = SPLITS[split]
    if folder is None:
        return looks
    try:
        lines = (folder / "manifest.jsonl").read_text(encoding="utf-8").splitlines()
        entries = [json.loads(line) for line in lines if line.strip()]
        files = [folder / each["file"] for each in entries if each["split"] == split]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise PictureError(f"{folder}: expected a manifest of looks, got {error}") from error
    rooms = sorted((folder / "hdri").glob("*.hdr"))
    wanted = [each for each in rooms if (each.stem in _CHECK_ROOMS) == (split == "check")]
    return replace(looks, pictures=tuple(files), rooms=tuple(wanted))


def redressed(rng: Rng, scene: Scene, looks: Looks) -> Scene:
    """Return a scene with other looks and the same dice in the same places."""
    view = _view_mm(scene)
    tray = scene.tray
    floor, rim, table = tray.floor, tray.rim, tray.table
    if rng.random() < 0.75:
        floor = _covered(rng, looks, view)
    if rng.random() < 0.4:
        rim = _covered(rng, looks, view)
    if rng.random() < 0.6:
        table = _covered(rng, looks, view)
    scene = replace(scene, tray=replace(tray, floor=floor, rim=rim, table=table))
    scene = _lit(rng, scene, looks, view)
    dice = scene.dice
    if dice and rng.random() < 0.6:
        dice = _flecked(rng, dice, looks) if looks.flecked else _plastics(rng, dice, looks)
    if looks.symbols and rng.random() < looks.symbols:
        dice = tuple(_with_symbols(rng, die) for die in dice)
    if dice and looks.odd_pips and rng.random() < looks.odd_pips:
        dice = _with_odd_pips(rng, dice)
    things = scene.things
    if rng.random() < 0.3:
        things = (*things, *_small_things(rng, scene))
    lens = random_lens(rng, scene.lamps, scene.ambient)
    return replace(scene, dice=dice, things=things, lens=lens)


def _view_mm(scene: Scene) -> float:
    """Width of the floor in view, in mm."""
    camera = scene.camera
    return camera.size_wh[0] * camera.position_mm[2] / camera.focal_px


def _linear(pixels: patterns.Picture) -> Floats:
    return np.asarray((pixels.astype(np.float32) / 255.0) ** 2.2, np.float32)


def _picture(rng: Rng, looks: Looks) -> Floats:
    """Draw a pattern or a photograph in linear light, with varied tint and contrast."""
    if looks.pictures and rng.random() < 0.6:
        path = pick(rng, looks.pictures)
        pixels = cv2.imread(str(path), cv2.IMREAD_COLOR)
        if pixels is None:
            raise PictureError(f"{path}: expected a picture")
        light = _linear(np.asarray(pixels, np.uint8))
    else:
        light = _linear(pick(rng, list(looks.patterns.values()))(rng))
    if rng.random() < 0.35:  # only its brightness, in one colour, often that of a die
        grey = light @ np.array([0.1, 0.6, 0.3], np.float32)
        paint = np.array(die_albedo(rng, pick(rng, _COLOURS)))
        if rng.random() < 0.4:
            paint = rng.uniform(0.01, 0.7, 3)
        light = np.asarray(grey[..., None] / (grey.mean() + 0.02) * paint, np.float32)
    mean = light.mean(axis=(0, 1))
    contrast = float(np.exp(rng.normal(-0.15, 0.45)))
    light = mean + (light - mean) * min(contrast, 1.6)
    light = light * np.exp(rng.normal(0.0, 0.3)) * np.exp(rng.normal(0, 0.08, 3))
    return np.asarray(np.clip(light, 0.004, 0.92), np.float32)


def _covered(rng: Rng, looks: Looks, view_mm: float) -> Surface:
    """Cover a surface with a picture at a random scale."""
    light = _picture(rng, looks)
    wide = view_mm * log_uniform(rng, 0.18, 2.0)
    mean = vector(light.mean(axis=(0, 1)))
    gloss = uniform(rng, 0.0, 1.0) ** 2 if rng.random() < 0.35 else 0.0
    tile = Tile(light, wide / light.shape[1])
    return Surface("tile", mean, int(rng.integers(10_000)), gloss, tile)


def _lit(rng: Rng, scene: Scene, looks: Looks, view_mm: float) -> Scene:
    """Change the light of a scene: more lamps, coloured ones, shadows, a room to mirror."""
    lamps, ambient = list(scene.lamps), scene.ambient
    if rng.random() < 0.3:
        for _ in range(int(rng.choice([1, 1, 2]))):
            lamps.append(_side_lamp(rng))
    if rng.random() < 0.15:
        lamps.append(_beside_camera(rng, scene))
    if rng.random() < 0.45:
        for number, lamp in enumerate(lamps):
            if number == 0 or rng.random() < 0.3:
                family = pick(rng, list(looks.shadows.values()))
                mask = shadows.random_mask(rng, lamp, family, view_mm)
                lamps[number] = replace(lamp, mask=mask)
        dim = log_uniform(rng, 0.5, 1.6)
        ambient = vector(dim * v for v in ambient)
    room = None
    if rng.random() < 0.65:
        room = Room(_room(rng, looks, ambient))
    return replace(scene, lamps=tuple(lamps), ambient=ambient, room=room)


def _beside_camera(rng: Rng, scene: Scene) -> Lamp:
    """Draw a small lamp above the camera, which is reflected by the top faces of dice."""
    x, y, z = scene.camera.position_mm
    up = log_uniform(rng, 1.1, 4.0)
    dx, dy = rng.normal(0, 0.12 * z, 2)
    light = vector(np.array(kelvin_bgr(uniform(rng, 2700, 6500))) * rng.uniform(0.2, 0.8))
    size = log_uniform(rng, 0.008, 0.1)
    return Lamp(vector((x + dx, y + dy, z * up)), z * up * size, light)


def _side_lamp(rng: Rng) -> Lamp:
    """Draw a weaker lamp of any colour, hard or soft, on any side."""
    distance = log_uniform(rng, 250, 1500)
    elevation, azimuth = np.radians(rng.uniform(15, 88)), rng.uniform(0, 2 * np.pi)
    ground = distance * np.cos(elevation)
    where = (ground * np.cos(azimuth), ground * np.sin(azimuth), distance * np.sin(elevation))
    light = np.array(kelvin_bgr(uniform(rng, 2000, 9000)))
    if rng.random() < 0.25:
        light = light * np.exp(rng.normal(0.0, 0.5, 3))
    colour = vector(light / light.max() * rng.uniform(0.05, 0.45))
    size = log_uniform(rng, 0.005, 0.3)
    return Lamp(vector(where), distance * size, colour)


def _room(rng: Rng, looks: Looks, ambient: Bgr) -> Floats:
    """Return a room, drawn or photographed, that lights the floor as brightly as `ambient`."""
    if not looks.rooms or rng.random() < 0.3:
        return random_room(rng, ambient)
    path = pick(rng, looks.rooms)
    light = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    if light is None:
        raise PictureError(f"{path}: expected a panorama")
    light = cv2.resize(light, (128, 64), interpolation=cv2.INTER_AREA).astype(np.float32)
    light = np.roll(light, int(rng.integers(128)), axis=1)
    light = np.minimum(light / (floor_light(light) + 1e-6), 80.0)
    soft = uniform(rng, 0.0, 1.5)
    if soft > 0.4:
        light = cv2.GaussianBlur(light, (0, 0), soft)
    return np.asarray(light * np.asarray(ambient, np.float32), np.float32)


def _plastics(rng: Rng, dice: tuple[Die, ...], looks: Looks) -> tuple[Die, ...]:
    """Change the make of a set of dice: finish, pips and edges."""
    kind = pick(rng, looks.plastics)
    share = uniform(rng, 0.06, 0.3) if kind in _SPARSE else 0.5
    glow = uniform(rng, 0.3, 1.0) if kind == "clear" else None
    scale = log_uniform(rng, 0.5, 2.2)
    if kind in ("marbled", "pearl", "brushed"):
        scale *= 2.5
    tone = rng.uniform(0.3, 1.0)
    paint = np.full(3, rng.uniform(0.0, 0.9)) + rng.normal(0, 0.06, 3)
    seed = int(rng.integers(10_000))
    mirror = float(rng.choice([0.04, 0.04, uniform(rng, 0.05, 0.35)]))
    with_finish, with_pips = rng.random() < 0.75, rng.random() < 0.4
    shape = str(rng.choice(["round", "round", "ring", "square"]))
    edge_radius = uniform(rng, 0.015, 0.2) if rng.random() < 0.5 else None
    gloss = uniform(rng, 0.0, 1.0) if rng.random() < 0.5 else None
    roughness = uniform(rng, 0.04, 0.4)
    dressed = []
    for number, die in enumerate(dice):
        if with_pips:
            die = replace(die, pip_shape=shape, pip_albedo=_pip_paint(rng, die))
            if shape != "round":
                die = replace(die, pip_depth=0.0)
        if edge_radius is not None and die.pip_offset + die.pip_radius < 0.5 - 0.6 * edge_radius:
            die = replace(die, edge_radius=edge_radius)
        if gloss is not None:
            die = replace(die, gloss=gloss, roughness=roughness)
        if with_finish and rng.random() < 0.92:
            if kind in ("marbled", "gradient", "two_tone", "brushed", "pearl"):
                second = np.asarray(die.albedo) * np.exp(
                    rng.normal(0, 0.7) + rng.normal(0, 0.15, 3)
                )
                if rng.random() < 0.3:
                    second = 0.6 * second + 0.4 * paint
            else:
                second = paint
            if glow is not None:
                second = 0.3 * np.asarray(die.albedo) + 0.7 * np.asarray(die.pip_albedo)
                die = replace(die, glow=glow)
            second = _apart(np.clip(second, 0.003, 0.9), die, tone)
            finish = Finish(kind, vector(second), seed + number, scale, tone, share, mirror)
            die = replace(die, finish=finish)
        dressed.append(die)
    return tuple(dressed)


def _flecked(rng: Rng, dice: tuple[Die, ...], looks: Looks) -> tuple[Die, ...]:
    """Change the make of a set of dice, so that a second plastic stands out on half of them."""
    drawn = dice
    for _ in range(_TRIES):
        drawn = _plastics(rng, dice, looks)
        finishes = [die.finish for die in drawn if die.finish is not None]
        spotted = [each for each in finishes if each.kind in _SPARSE and each.amount > 0.5]
        if 2 * len(spotted) >= len(drawn):
            break
    return drawn


def _with_symbols(rng: Rng, die: Die) -> Die:
    """Draw a symbol for each face, whatever its value."""
    each = tuple(int(n) for n in rng.integers(0, COUNT, 6))
    return replace(die, symbols=each, pip_depth=0.0, pip_shape="round")


def _with_odd_pips(rng: Rng, dice: tuple[Die, ...]) -> tuple[Die, ...]:
    """Wear the pips of a set, or make them smaller and move them, or both."""
    with_wear = rng.random() < 0.7
    if with_wear:
        amount, scale = uniform(rng, 0.1, 0.45), log_uniform(rng, 1.0, 8.0)
        worn = [Wear(amount, int(rng.integers(10_000)), scale) for _ in dice]
        dice = tuple(replace(die, wear=each) for die, each in zip(dice, worn, strict=True))
    if not with_wear or rng.random() < 0.3:
        radius = uniform(rng, 0.045, 0.1)
        offset = uniform(rng, max(0.13, 2.1 * radius), 0.29)
        dice = tuple(replace(die, pip_radius=radius, pip_offset=offset) for die in dice)
    return dice


def _brightness(colour: Floats | Bgr) -> float:
    return float(np.log(np.asarray(colour, float) @ (0.1, 0.6, 0.3) + 0.02))


def _apart(paint: Floats, die: Die, amount: float) -> Floats:
    """Move a second plastic towards the first until pips stand out from both."""
    body, ink = np.asarray(die.albedo), _brightness(die.pip_albedo)
    between = abs(_brightness(body) - ink)
    for _ in range(6):
        mixed = body * (1 - amount) + paint * amount
        gap = abs(_brightness(mixed) - ink)
        same_side = (_brightness(mixed) - ink) * (_brightness(body) - ink) > 0
        if gap > max(0.55 * between, 0.6) and same_side:
            break
        paint = 0.6 * paint + 0.4 * body
    return np.asarray(paint, float)


def _pip_paint(rng: Rng, die: Die) -> Bgr:
    """Draw a paint for pips that stands out from the plastic."""
    draws = rng.uniform(0.005, 0.85, (8, 3)) ** rng.uniform(0.6, 2.5, (8, 1))
    own = _brightness(die.albedo)
    best = max(
        draws, key=lambda paint: min(abs(_brightness(paint) - own), 1.6) + rng.random() * 0.3
    )
    if abs(_brightness(best) - own) < 1.0:
        return die.pip_albedo
    return vector(best)


def _small_things(rng: Rng, scene: Scene) -> list[Thing]:
    """Draw tokens, buttons, coins and pencils that touch no die."""
    things: list[Thing] = []
    width, height = scene.camera.size_wh
    size_mm = scene.dice[0].size_mm if scene.dice else 16.0
    for _ in range(int(rng.integers(1, 5))):
        spot = floor_point(scene.camera, rng.uniform((0, 0), (width, height)))
        kind = str(rng.choice(["token", "token", "button", "coin", "pencil", "sheet"]))
        inside = inside_tray(scene.tray, *spot)
        if kind == "sheet" and inside:
            continue
        reach = {"sheet": 80.0, "pencil": 60.0}.get(kind, 1.4 * size_mm)
        if any(
            np.hypot(*np.subtract(spot, d.position_mm[:2])) < reach + size_mm for d in scene.dice
        ):
            continue
        colour = jitter(rng, die_albedo(rng, pick(rng, _COLOURS)), 0.1)
        size = size_mm * uniform(rng, 0.25, 0.9)
        size = {"pencil": uniform(rng, 25, 55), "sheet": 40.0}.get(kind, size)
        things.append(
            Thing(
                kind, spot, uniform(rng, 0, 360), size, colour, uniform(rng, 0.5, 3.0),
                int(rng.integers(1 << 20)), under=kind != "sheet",
            )
        )  # fmt: skip
    return things
