"""A tilted die and a die of another game among flat ones."""

from __future__ import annotations

import math
from dataclasses import replace

import cv2
import numpy as np

from companion.engine.dice import DieColour
from tests.vision.scenes import default_scene
from tests.vision.trays import SIX, dice_of, ground
from vision.simulation.geometry import to_matrix
from vision.simulation.render import render


def test_one_tilted_die_among_flat_ones_is_found() -> None:
    scene = default_scene(SIX[:5], seed=3)
    first = scene.dice[0]
    tipped, _ = cv2.Rodrigues(np.array([0.6, 0.8, 0.0]) * np.radians(22.0))
    x, y, z = first.position_mm
    lift = first.size_mm * math.sin(math.radians(22.0)) / 2
    tilted = replace(
        first,
        rotation=to_matrix(tipped @ np.asarray(first.rotation)),
        position_mm=(x, y, z + lift),
    )
    found = dice_of(render(replace(scene, dice=(tilted, *scene.dice[1:])), ground()))
    assert sum(detection.tilt > 0.0 for detection in found) == 1


def test_one_die_of_a_foreign_colour_is_found() -> None:
    scene = default_scene(SIX, seed=3)
    purple = replace(scene.dice[-1], albedo=(0.4, 0.08, 0.35))
    pixels = render(replace(scene, dice=(*scene.dice[:-1], purple)), ground())
    found = dice_of(pixels)
    assert sum(detection.colours.argmax() == len(DieColour) for detection in found) == 1
    assert max(detection.tilt for detection in found) < 0.0
