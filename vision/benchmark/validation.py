"""Writes a set of synthetic frames with their truth, for `bench read`.

    python -m vision.benchmark.validation SEEN --split train --frames 600 --looks FOLDER
    python -m vision.benchmark.validation UNSEEN --split check --frames 600 --looks FOLDER
    python -m vision.benchmark.validation SMALL --split check --frames 300 --small --size 1280x960
    python -m vision.benchmark.validation CLEAR --split check --frames 450 --plastic clear
    python -m vision.benchmark.validation TABLES --split check --frames 960 --throws 24
    python -m vision.benchmark.validation LAMPS --split check --frames 800 --throws 16 --warm
    python -m vision.benchmark.validation CUSTOM --split check --frames 900 --throws 9 --custom

`train` draws from the looks that weights are trained on, `check` from looks that they never met.
With `--small` the dice are small in the picture, as where a camera hangs high over a wide tray.
With `--throws` the same six dice are thrown several times at each table; with `--warm` the light is
that of lamps, which the camera does not balance; with `--custom` one die at each table has another
colour than the one it plays.
With `--plastic`, once or more, dice that are not of plain plastic have one of these kinds.
With `--symbols` a share of the sets has symbols instead of pips, and may not be announced.
With `--scenario`, once or more, all special frames are of these kinds.
With `--odd-pips` a share has pips that are worn, very small or close together.
With `--slanted` the camera stands beside the tray, 26 to 45 degrees from straight down.
A run that stopped goes on with the first missing frame.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from companion.engine.dice import ALL_DICE, COLOURED
from companion.tray import TrayStatus
from vision.benchmark.frames import SHARES, case_of, conditions_of
from vision.reading import Pixels
from vision.simulation.appearance import Rng, jitter, log_uniform, pick
from vision.simulation.finishes import KINDS
from vision.simulation.geometry import pip_centres, resting_die
from vision.simulation.looks import SPLITS, load_looks, redressed
from vision.simulation.random_scenes import SCENARIOS, Recipe, free_spot, random_scene, squeezed
from vision.simulation.render import DieTruth, render, truth
from vision.simulation.scene import Die, Floats, Scene

_SMALL_SHARES = (0.018, 0.04)
"""Widths of small dice as shares of the picture's width."""
_SEED = {"train": 20_261_125, "check": 20_261_126}
"""Training seeds its generators with three numbers, this command with these and the frame's."""
_SPECIAL = ("cocked", "moving", "hand", "flat", "covered", "cocked", "moving", "empty")
_CAST = 1.0
"""Change of a channel against the others (log) above which light and white balance are a strong
cast: 2.7 times."""
_WARM = (-1.0, -0.15, 0.35)
"""Gains (log) of blue, green and red from daylight to a lamp of 3,100 K, by Planck's law."""
_CUSTOM = (
    (0.01, 0.01, 0.01),
    (0.02, 0.05, 0.13),
    (0.2, 0.2, 0.2),
    (0.02, 0.2, 0.75),
    (0.35, 0.15, 0.75),
    (0.25, 0.03, 0.12),
    (0.4, 0.4, 0.05),
)
"""Plastics of dice that replace a lost one, linear blue, green and red (chosen by eye): black,
brown, grey, orange, pink, purple and turquoise."""
FAINT = 8.0
"""CIE76 difference between a pip and the plastic beside it below which nobody can be sure."""


def main() -> None:
    """Parse the command line and write the frames."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--split", choices=list(SPLITS), required=True)
    parser.add_argument("--frames", type=int, default=600)
    parser.add_argument("--first", type=int, default=0, help="number of the first frame")
    parser.add_argument("--size", type=_size, default=(640, 480), help="of the pictures")
    parser.add_argument("--small", action="store_true", help="small dice")
    parser.add_argument("--throws", type=int, default=0, help="throws of the same dice per table")
    parser.add_argument("--warm", action="store_true", help="in the light of lamps")
    parser.add_argument("--custom", action="store_true", help="one die of another colour")
    parser.add_argument("--looks", type=Path, help="a folder of photographs and rooms")
    parser.add_argument(
        "--scenario", action="append", choices=SCENARIOS, help="of the special frames"
    )
    parser.add_argument("--plastic", action="append", choices=KINDS, help="kind of plastic")
    parser.add_argument("--slanted", action="store_true", help="cameras beside the tray")
    parser.add_argument("--symbols", type=float, default=0.0, help="share of sets without pips")
    parser.add_argument("--odd-pips", type=float, default=0.0, help="share of sets with odd pips")
    asked = parser.parse_args()
    if asked.throws and asked.symbols:
        parser.error("--throws needs dice with pips")
    looks = load_looks(asked.split, asked.looks)
    plastics = tuple(asked.plastic or looks.plastics)
    looks = replace(looks, plastics=plastics, symbols=asked.symbols, odd_pips=asked.odd_pips)
    asked.folder.mkdir(parents=True, exist_ok=True)
    listing = asked.folder / "truth.jsonl"
    done = listing.read_text(encoding="utf-8").count("\n") if listing.exists() else 0
    cv2.setNumThreads(1)
    with listing.open("a", encoding="utf-8") as lines:
        for number in range(asked.first + done, asked.first + asked.frames):
            table = number // asked.throws if asked.throws else None
            rng = np.random.default_rng((_SEED[asked.split], number if table is None else table))
            plain = _plain_scene(rng, 0 if asked.throws else number, asked)
            scene = redressed(rng, plain, looks)
            if asked.warm:
                scene = _warmed(rng, scene)
            if asked.custom:
                scene = _with_a_custom_die(rng, scene)
            if table is not None:
                rng = np.random.default_rng((_SEED[asked.split], table, number % asked.throws + 1))
                scene = _thrown_again(rng, scene)
            clear = render(scene)
            name = f"{asked.split}_{number:05}.jpg"
            quality = [cv2.IMWRITE_JPEG_QUALITY, 95]
            cv2.imwrite(str(asked.folder / name), squeezed(rng, clear), quality)
            line = described(name, scene, clear)
            if table is not None:
                line["table"] = table
            lines.write(json.dumps(line) + "\n")
            lines.flush()


def _size(text: str) -> tuple[int, int]:
    wide, tall = (int(part) for part in text.split("x"))
    return wide, tall


def _plain_scene(rng: Rng, number: int, asked: argparse.Namespace) -> Scene:
    """A scene in plain looks: two of three show the six dice of a game, ready to be read."""
    special = number % 3 == 2
    kinds = asked.scenario or _SPECIAL
    scenario = kinds[number // 3 % len(kinds)] if special else "flat"
    while True:
        share = log_uniform(rng, *(_SMALL_SHARES if asked.small else SHARES))
        recipe = Recipe(asked.size, share, scenario, slanted=asked.slanted)
        scene = random_scene(rng, recipe)
        if special:
            return scene
        case = case_of("", scene)
        if case.expected is TrayStatus.OK and len(case.in_play) == len(ALL_DICE):
            return scene


def _warmed(rng: Rng, scene: Scene) -> Scene:
    """The scene in daylight to warm white light, unbalanced."""
    blue, green, red = rng.uniform(0.0, 1.1) * np.array(_WARM)
    b, g, r = scene.lens.white_balance
    warm = (b * np.exp(blue), g * np.exp(green), r * np.exp(red))
    return replace(scene, lens=replace(scene.lens, white_balance=warm))


def _with_a_custom_die(rng: Rng, scene: Scene) -> Scene:
    """The scene with a coloured die of another plastic."""
    coloured = [n for n, die in enumerate(scene.dice) if die.colour in COLOURED]
    index, plastic = pick(rng, coloured), pick(rng, _CUSTOM)
    albedo = jitter(rng, plastic, 0.15)
    dice = [replace(d, albedo=albedo) if n == index else d for n, d in enumerate(scene.dice)]
    return replace(scene, dice=tuple(dice))


def _thrown_again(rng: Rng, scene: Scene) -> Scene:
    """The same dice at other places of the tray, with other values; nothing else lies there."""
    while True:
        placed: list[Die] = []
        for die in scene.dice:
            spot = free_spot(rng, scene, placed, die.size_mm, inside=True)
            if spot is not None:
                value, turn_deg = int(rng.integers(1, 7)), float(rng.uniform(0.0, 360.0))
                placed.append(resting_die(value, spot, turn_deg, die))
        again = replace(scene, dice=tuple(placed), things=())
        if len(placed) == len(scene.dice) and case_of("", again).expected is TrayStatus.OK:
            return again


def described(name: str, scene: Scene, pixels: Pixels) -> dict[str, Any]:
    """One line of a truth file.

    Args:
        name: Of the picture's file.
        scene: The scene.
        pixels: (H, W, 3) uint8 BGR, the scene before JPEG.
    """
    facts = truth(scene)
    dice = [
        _described_die(scene, die, fact, pixels)
        for die, fact in zip(scene.dice, facts, strict=True)
    ]
    case = case_of(name, scene)
    expected = case.expected or TrayStatus.OK
    width, height = scene.camera.size_wh
    return {
        "file": name,
        "width": width,
        "height": height,
        "expected": expected.value,
        "conditions": conditions_of(scene, facts, case.in_play),
        "values_readable": case.readable,
        "dice_in_play": [colour.value for colour in case.in_play],
        "dice": dice,
        "glare_or_faint": any(die["faint"] for die in dice if die["in_tray"]),
        "objects": [thing.kind for thing in scene.things],
        "looks": looks_of(scene),
    }


def looks_of(scene: Scene) -> list[str]:
    """The looks of a scene that `bench read` counts apart."""
    light = np.asarray(scene.ambient) + sum(np.asarray(lamp.colour) for lamp in scene.lamps)
    cast = np.log(light * scene.lens.white_balance)
    looks = {f"floor {scene.tray.floor.kind}"}
    looks |= {f"plastic {die.finish.kind if die.finish else 'plain'}" for die in scene.dice}
    looks |= {f"pips {die.pip_shape}" for die in scene.dice}
    if np.abs(cast - cast.mean()).max() > _CAST:
        looks.add("strong cast")
    return sorted(looks)


def _described_die(scene: Scene, die: Die, fact: DieTruth, pixels: Pixels) -> dict[str, Any]:
    contrast, glare = (None, None)
    if fact.value is not None and fact.top_visible > 0.9:
        contrast, glare = pip_contrast(scene, die, fact, pixels)
    faint = contrast is not None and contrast < FAINT
    return {
        "colour": fact.colour.value if fact.colour else None,
        "value": fact.value,
        "cocked": fact.cocked,
        "tilt_deg": round(fact.tilt_deg, 2),
        "moving": fact.moving,
        "in_tray": fact.in_tray,
        "top_visible": round(fact.top_visible, 3),
        "center_px": [round(v, 2) for v in fact.centre_px],
        "top_corners_px": [[round(v, 2) for v in corner] for corner in fact.corners_px],
        "edge_px": round(fact.edge_px, 2),
        "pip_de_min": None if contrast is None else round(contrast, 1),
        "faint": faint,
        "glare": bool(faint and glare),
    }


def pip_contrast(scene: Scene, die: Die, fact: DieTruth, pixels: Pixels) -> tuple[float, bool]:
    """CIE76 difference between the faintest pip of a top face and the plastic round it, and
    whether that pip lies in a clipped highlight. Pips out of the picture count as at its edge."""
    assert fact.value is not None
    height, width = pixels.shape[:2]
    lab = np.asarray(cv2.cvtColor(pixels.astype(np.float32) / 255.0, cv2.COLOR_BGR2LAB))
    scale = die.one_scale if fact.value == 1 else 1.0
    away = fact.edge_px * (die.pip_radius * scale + 0.07)
    ring = np.linspace(0, 2 * np.pi, 9)[:-1]
    found: list[tuple[float, bool]] = []
    for x, y in scene.camera.project(pip_centres(die, fact.value)):
        inner = fact.edge_px * die.pip_radius * scale * (0.75 if die.pip_shape == "ring" else 0.3)
        pip = _mean_at(lab, x + inner * np.cos(ring), y + inner * np.sin(ring))
        beside = _mean_at(lab, x + away * np.cos(ring), y + away * np.sin(ring))
        at = pixels[int(np.clip(y, 0, height - 1)), int(np.clip(x, 0, width - 1))]
        found.append((float(np.linalg.norm(pip - beside)), bool(at.min() > 235)))
    return min(found)


def _mean_at(lab: NDArray[Any], x: Floats, y: Floats) -> Floats:
    """Mean colour (3,) of a picture at points in px."""
    u, v = (np.asarray(c, np.float32)[None] for c in (x, y))
    colours = cv2.remap(lab, u, v, cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    return np.asarray(colours[0].mean(axis=0))


if __name__ == "__main__":
    main()
