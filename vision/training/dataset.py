"""Renders the training set: of each scene a small frame for the finder and close-ups of its dice.

    python -m vision.training.dataset DIR --scenes 10000 --seed 1 --looks FOLDER
    python -m vision.training.dataset DIR --scenes 10000 --seed 2 --looks FOLDER --frames-only

Everything follows from the seed. Shards of 100 scenes are written one by one: training can begin
before all are there, and a run that stopped goes on with the first missing shard. `--looks` adds
the photographs and rooms of a folder to the drawn looks; only its training split is used.
`--frames-only` renders frames without close-ups, in a quarter of the time. With `--flecked` half of
the dice have flecks, speckles, dots or veins that stand out; with `--flecked --plastic clear` the
pips of far faces are seen through most. A quarter of the scenes keeps plain looks (a tenth with
`--flecked`); of the others, with `--symbols` a share has symbols instead of pips, with `--odd-pips`
a share has pips that are worn, very small or close together.
With `--scenario`, once or more, all scenes are of these kinds, in equal shares; with `--slanted`
all are seen from the side.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path

import cv2
import numpy as np
from numpy.typing import NDArray

from vision.detector.candidates import propose_candidates
from vision.simulation.appearance import Rng, log_uniform
from vision.simulation.finishes import KINDS
from vision.simulation.geometry import die_corners
from vision.simulation.looks import Looks, flecked, load_looks, redressed
from vision.simulation.random_scenes import SCENARIOS, Recipe, random_scene, squeezed
from vision.simulation.render import render, truth
from vision.simulation.render_objects import cover_mask
from vision.simulation.scene import Camera, Floats, Scene
from vision.training.patches import Row, close_ups

FRAME_WH = (320, 256)
SHARD = 100
_PUSHED = 0.25
"""Share of the scenes in which dice lie side by side."""
_PLAIN, _PLAIN_IF_FLECKED = 0.25, 0.1
"""Share of scenes in plain looks."""
_SEEMS = 0.05
"""Heat above which a place without a die is one that the finder mistakes."""
_SCENARIOS = dict(zip(SCENARIOS, (0.33, 0.2, 0.15, 0.16, 0.13, 0.03, 0.0), strict=True))
"""Shares of the kinds of scene, if none is asked for."""


def main() -> None:
    """Parse the command line and render."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--scenes", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--looks", type=Path, help="a folder of photographs and rooms")
    parser.add_argument("--flecked", action="store_true", help="flecks on half of the dice")
    parser.add_argument("--plastic", action="append", choices=KINDS, help="kind of plastic")
    parser.add_argument("--symbols", type=float, default=0.0, help="share without pips")
    parser.add_argument("--odd-pips", type=float, default=0.0, help="share with odd pips")
    parser.add_argument("--scenario", action="append", choices=_SCENARIOS, help="kind of scene")
    parser.add_argument("--slanted", action="store_true", help="cameras beside the tray")
    parser.add_argument("--frames-only", dest="row", action="store_const", const=frame_row)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    looks = load_looks("train", asked.looks)
    if asked.flecked:
        looks = flecked(looks)
    plastics = tuple(asked.plastic or looks.plastics)
    looks = replace(looks, plastics=plastics, symbols=asked.symbols, odd_pips=asked.odd_pips)
    scenarios = (
        dict.fromkeys(asked.scenario, 1 / len(asked.scenario)) if asked.scenario else _SCENARIOS
    )
    row_of = partial(
        asked.row or scene_row, looks=looks, scenarios=scenarios, slanted=asked.slanted
    )
    make_shard = partial(_make_shard, asked.folder, asked.seed, row_of)
    with ProcessPoolExecutor(asked.workers) as pool:
        for _ in pool.map(make_shard, range(-(-asked.scenes // SHARD))):
            pass


def _make_shard(folder: Path, seed: int, row_of: Callable[[Rng], Row], number: int) -> None:
    cv2.setNumThreads(1)
    path = folder / f"scenes_{seed}_{number:04}.npz"
    if path.exists():
        return
    rng = np.random.default_rng([seed, number, 7])
    rows = [row_of(rng) for _ in range(SHARD)]
    columns = {key: np.stack([row[key] for row in rows]) for key in rows[0]}
    np.savez(path.with_suffix(".part.npz"), allow_pickle=False, **columns)
    path.with_suffix(".part.npz").rename(path)


def frame_row(
    rng: Rng, looks: Looks, scenarios: Mapping[str, float] = _SCENARIOS, *, slanted: bool = False
) -> Row:
    """One scene as the finder gets it."""
    return frame_part(rng, _any_scene(rng, looks, scenarios, slanted)[0])


def _any_scene(
    rng: Rng, looks: Looks, scenarios: Mapping[str, float], slanted: bool
) -> tuple[Scene, float]:
    """A scene of any of some kinds, and the width of its dice as a share of the picture's."""
    scenario = str(rng.choice(list(scenarios), p=list(scenarios.values())))
    share = log_uniform(rng, 0.02, 0.12)
    if rng.random() < 0.1:
        share = float(rng.uniform(0.1, 0.28))
    pushed = rng.random() < _PUSHED
    recipe = Recipe(FRAME_WH, share, scenario, pushed, slanted)
    return _dressed(rng, random_scene(rng, recipe), looks), share


def scene_row(
    rng: Rng, looks: Looks, scenarios: Mapping[str, float] = _SCENARIOS, *, slanted: bool = False
) -> Row:
    """One scene as the finder gets it, and close-ups of its dice and of places without one."""
    scene, share = _any_scene(rng, looks, scenarios, slanted)
    small = frame_part(rng, scene)
    edge = log_uniform(rng, 15, 72)
    fine = _finer(scene.camera, int(np.clip(edge / share, 200, 3000)))
    mistaken = _mistaken_places(small["pixels"], small["dice"])
    return small | close_ups(rng, replace(scene, camera=fine), share, mistaken=mistaken)


def _dressed(rng: Rng, scene: Scene, looks: Looks) -> Scene:
    """Most scenes in looks of any kind, the rest in plain ones."""
    plain = _PLAIN_IF_FLECKED if looks.flecked else _PLAIN
    return scene if rng.random() < plain else redressed(rng, scene, looks)


def _mistaken_places(
    pixels: NDArray[np.uint8], dice: NDArray[np.float32]
) -> list[tuple[float, float, float]]:
    """Places (x, y and edge, as shares of the width) that the committed finder takes for dice."""
    maps = propose_candidates(pixels, least_heat=_SEEMS)
    width = pixels.shape[1]
    real = dice[dice[:, 8] > 0]
    found = []
    for candidate in maps.candidates:
        gaps = np.hypot(*(real[:, :2] - candidate.centre_xy).T) / np.maximum(real[:, 2], 1.0)
        if not len(gaps) or gaps.min() > 0.75:
            x, y = candidate.centre_xy
            found.append((x / width, y / width, candidate.edge_px / width))
    return found[:3]


def frame_part(rng: Rng, scene: Scene) -> Row:
    """The whole picture, its dice (16, 9), its masks (3, 64, 80) and the slant of the floor.

    A die: centre x and y, edge px, in tray, share visible, moving, cocked, value, present.
    Masks: where a die would be in the tray, things, smears of moving dice.
    """
    pixels = squeezed(rng, render(scene))
    dice = np.zeros((16, 9), np.float32)
    for row, fact in zip(dice, truth(scene), strict=False):
        centre = fact.body_centre_px if fact.cocked or fact.moving else fact.centre_px
        row[:] = (
            *centre,
            fact.edge_px,
            fact.in_tray,
            fact.top_visible,
            fact.moving,
            fact.cocked,
            fact.value or 0,
            1,
        )
    return {"pixels": pixels, "dice": dice, "masks": _masks(scene), "up": up_field(scene)}


def up_field(scene: Scene) -> NDArray[np.float16]:
    """Slant of the floor (2, 32, 40) on the finder's coarse grid."""
    width, height = scene.camera.size_wh
    x, y = np.meshgrid(np.arange(3.5, width, 8), np.arange(3.5, height, 8))
    up = scene.camera.up_at(np.stack([x, y], axis=-1).reshape(-1, 2))
    return up.T.reshape(2, *x.shape).astype(np.float16)


def _masks(scene: Scene) -> NDArray[np.uint8]:
    width, height = scene.camera.size_wh
    small = (width // 4, height // 4)
    outline = np.array(scene.tray.outline_mm)
    pixels = scene.camera.project(np.c_[outline, np.full(len(outline), 8.0)])
    tray = np.zeros((height, width), np.uint8)
    cv2.fillPoly(tray, [np.round(np.clip(pixels, -4e3, 8e3) * 16).astype(np.int32)], 255, 16, 4)
    thing = (np.maximum(cover_mask(scene), _beside_dice(scene)) * 255).astype(np.uint8)
    smear = np.zeros((height, width), np.uint8)
    for die in scene.dice:
        if die.motion is None:
            continue
        ends = [
            np.asarray(die.position_mm) + s * np.asarray(die.motion.shift_mm) for s in (-0.5, 0.5)
        ]
        points = scene.camera.project(np.array(ends))
        edge = die.size_mm * scene.camera.focal_px / scene.camera.position_mm[2]
        a, b = (tuple(int(v) for v in np.clip(p, -2000, 4000)) for p in points)
        cv2.line(smear, a, b, 255, max(1, int(edge)))
    masks = [cv2.resize(m, small, interpolation=cv2.INTER_AREA) for m in (tray, thing, smear)]
    return np.stack(masks).astype(np.uint8)


def _beside_dice(scene: Scene) -> Floats:
    """Visible part (H, W) of the things under a scene's dice."""
    cover = cover_mask(scene, under=True)
    for die in scene.dice if cover.any() else ():
        points = np.clip(scene.camera.project(die_corners(die)), -4e3, 8e3).astype(np.float32)
        cv2.fillConvexPoly(cover, np.round(cv2.convexHull(points)).astype(np.int32), 0.0)
    return cover


def _finer(camera: Camera, width: int) -> Camera:
    """The same view with more or fewer pixels."""
    scale = width / camera.size_wh[0]
    height = round(camera.size_wh[1] * scale)
    return replace(camera, size_wh=(width, height), focal_px=camera.focal_px * scale)


if __name__ == "__main__":
    main()
