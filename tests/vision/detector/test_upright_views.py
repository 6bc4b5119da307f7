"""A tilted die and a die of another game among flat ones."""

from __future__ import annotations

from dataclasses import replace

from companion.engine.dice import DieColour
from tests.vision.detector.test_tilt import with_one_tilted
from tests.vision.scenes import default_scene
from tests.vision.trays import SIX, dice_of, ground
from vision.simulation.render import render


def test_one_tilted_die_among_flat_ones_is_found() -> None:
    found = dice_of(with_one_tilted(22.0))
    assert sum(detection.tilt > 0.0 for detection in found) == 1


def test_one_die_of_a_foreign_colour_is_found() -> None:
    scene = default_scene(SIX, seed=3)
    purple = replace(scene.dice[-1], albedo=(0.4, 0.08, 0.35))
    pixels = render(replace(scene, dice=(*scene.dice[:-1], purple)), ground())
    found = dice_of(pixels)
    assert sum(detection.colours.argmax() == len(DieColour) for detection in found) == 1
    assert max(detection.tilt for detection in found) < 0.0
