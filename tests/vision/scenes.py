"""Scenes of the default tray with dice in random places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from companion.engine.dice import DieColour
from vision.simulation.default_tray import default_die, default_tray
from vision.simulation.geometry import inside_tray, resting_die
from vision.simulation.scene import Die, Scene


def default_scene(
    dice: Sequence[tuple[DieColour, int]] = (),
    *,
    seed: int = 0,
    size_wh: tuple[int, int] = (640, 480),
) -> Scene:
    """The tray a newcomer sees: green felt, a wooden rim, a warm lamp, dice at random places."""
    scene = default_tray(size_wh)
    return scattered(scene, dice, seed) if dice else scene


def scattered(scene: Scene, dice: Sequence[tuple[DieColour, int]], seed: int) -> Scene:
    """Return the scene with dice at rest in random places, without contact."""
    rng = np.random.default_rng(seed)
    placed: list[Die] = []
    outline = np.array(scene.tray.outline_mm)
    low, high = outline.min(axis=0), outline.max(axis=0)
    for colour, value in dice:
        die = default_die(colour)
        margin = die.size_mm
        for _ in range(400):
            x, y = (float(v) for v in rng.uniform(low + margin, high - margin))
            apart = all(
                np.hypot(x - d.position_mm[0], y - d.position_mm[1]) > 1.7 * die.size_mm
                for d in placed
            )
            if apart and inside_tray(scene.tray, x, y):
                break
        placed.append(resting_die(value, (x, y), float(rng.uniform(0.0, 360.0)), die))
    return replace(scene, dice=tuple(placed), lens=replace(scene.lens, seed=seed))
