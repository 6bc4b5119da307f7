"""Scenes to learn from: what they show is possible, and called what it is."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from companion.engine.dice import DieColour
from vision.simulation.appearance import dress, random_lamps, random_style
from vision.simulation.geometry import inside_tray, resting_die
from vision.simulation.random_scenes import Recipe, random_scene, squeezed, uneven
from vision.simulation.render import render, truth
from vision.simulation.scene import Die
from vision.training.patches import PATCH, PATCHES, close_ups

pytestmark = pytest.mark.slow


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, 401])


def footprint(die: Die) -> np.ndarray:
    """Points (P, 2) all over the ground of a die that lies flat."""
    m = np.asarray(die.rotation)
    one, two = (m[:2, a] * die.size_mm / 2 for a in range(3) if abs(m[2, a]) < 0.5)
    steps = np.linspace(-0.98, 0.98, 25)
    a, b = np.meshgrid(steps, steps)
    return np.asarray(die.position_mm[:2]) + a.reshape(-1, 1) * one + b.reshape(-1, 1) * two


def is_on(die: Die, points: np.ndarray) -> np.ndarray:
    m = np.asarray(die.rotation)
    away = points - np.asarray(die.position_mm[:2])
    sides = [m[:2, a] for a in range(3) if abs(m[2, a]) < 0.5]
    return np.all([np.abs(away @ side) < die.size_mm / 2 for side in sides], axis=0)


def same_way(one: Die, other: Die) -> bool:
    """Whether the sides of two dice are parallel, to two degrees."""
    turn = np.asarray(one.rotation).T @ np.asarray(other.rotation)
    return bool(np.abs(turn).max(axis=0).min() > np.cos(np.radians(2.0)))


def along_sides(one: Die, other: Die) -> np.ndarray:
    """The middle of the second die (2,) as seen from the first, along its level sides."""
    m = np.asarray(one.rotation)
    away = np.subtract(other.position_mm[:2], one.position_mm[:2])
    return np.array([away @ m[:2, a] for a in range(3) if abs(m[2, a]) < 0.5])


def depth_in(die: Die, points: np.ndarray) -> float:
    """How deep the deepest of points (N, 3) lies in a die, in edges; negative where none does."""
    local = (points - np.asarray(die.position_mm)) @ np.asarray(die.rotation)
    return float((0.5 - np.abs(local).max(axis=1) / die.size_mm).max())


def test_no_two_dice_are_in_one_place() -> None:
    clusters = 0
    for seed in range(60):
        dice = random_scene(rng(seed), Recipe((320, 256), 0.08)).dice
        for n, one in enumerate(dice):
            for other in dice[:n]:
                assert is_on(other, footprint(one)).mean() < 0.02
                gap = np.hypot(*np.subtract(one.position_mm[:2], other.position_mm[:2]))
                clusters += gap < 1.2 * one.size_mm
    assert clusters > 8, "dice that touch are drawn"


def test_dice_pushed_together_touch_without_overlapping() -> None:
    flush, hemmed_in = 0, 0
    for seed in range(30):
        dice = random_scene(rng(seed), Recipe((320, 256), 0.05, pushed=True)).dice
        touched = dict.fromkeys(range(len(dice)), 0)
        for n, one in enumerate(dice):
            for m, other in enumerate(dice[:n]):
                assert is_on(other, footprint(one)).mean() < 0.02
                away = float(np.abs(along_sides(one, other)).max())
                if abs(away - one.size_mm) < 0.5 and same_way(one, other):
                    flush += 1
                    touched[n], touched[m] = touched[n] + 1, touched[m] + 1
        hemmed_in += sum(count > 1 for count in touched.values())
    assert flush > 30
    assert hemmed_in > 5, "some have neighbours on more than one side"


def test_dice_with_room_are_tilted_first() -> None:
    steps = np.linspace(-0.5, 0.5, 7)
    grid = np.stack(np.meshgrid(steps, steps, steps), axis=-1).reshape(-1, 3)
    leaning, in_others = 0, 0
    for seed in range(40):
        scene = random_scene(rng(seed), Recipe((320, 256), 0.05, "cocked", pushed=True))
        for n, (die, fact) in enumerate(zip(scene.dice, truth(scene), strict=True)):
            body = grid @ np.asarray(die.rotation).T * die.size_mm + die.position_mm
            others = [other for m, other in enumerate(scene.dice) if m != n]
            leaning += fact.cocked
            in_others += fact.cocked and any(depth_in(o, body) > 0.05 for o in others)
    assert leaning > 50
    assert in_others < 0.27 * leaning, "31 of 77 where any may lean, else where all are hemmed in"


def test_the_pips_of_a_six_are_six() -> None:
    styles = [random_style(rng(seed)) for seed in range(200)]
    apart = [style.pip_offset > 2.0 * style.pip_radius for style in styles]
    assert np.mean(apart) > 0.95


def test_flat_dice_on_felt_are_flat() -> None:
    style = random_style(rng(1))
    dice = [uneven(rng(s), resting_die(5, (0.0, 0.0), 30.0, style), 1.5) for s in range(100)]
    tilts = [die.top[1] for die in dice]
    assert {die.top[0] for die in dice} == {5}
    assert 0.3 < float(np.median(tilts)) < 2.5
    assert max(tilts) < 4.1


def test_some_white_dice_have_red_ones() -> None:
    plain = random_style(rng(2))
    dice = [dress(rng(s), plain, DieColour.WHITE, 0) for s in range(400)]
    reds = [die for die in dice if die.other_pips[0]]
    assert 8 < len(reds) < 60
    assert all(1 in die.other_pips[0] for die in reds)
    assert not any(dress(rng(s), plain, DieColour.BLUE, 0).other_pips[0] for s in range(100))


def test_a_red_one_is_red_and_the_other_faces_are_not() -> None:
    scene = random_scene(rng(3), Recipe((320, 256), 0.15))
    style = replace(random_style(rng(4)), albedo=(0.8, 0.8, 0.8), one_scale=1.5, pip_radius=0.1)
    pictures = {}
    for paint in ((), (1,)):
        die = replace(style, other_pips=(paint, (0.01, 0.01, 0.6)))
        for value in (1, 6):
            dice = (resting_die(value, (0.0, 0.0), 20.0, die),)
            pictures[paint, value] = render(replace(scene, dice=dice, things=())).astype(int)
    assert np.abs(pictures[(), 1] - pictures[(1,), 1]).max() > 60
    assert np.abs(pictures[(), 6] - pictures[(1,), 6]).max() < 60


def test_close_ups_of_leaning_dice_are_aimed_as_the_finder_aims() -> None:
    off = []
    for seed in range(12):
        draw = rng(seed)
        scene = random_scene(draw, Recipe((320, 256), 0.1, "cocked"))
        rows = close_ups(draw, scene, 0.1)
        for labels, corners in zip(rows["patch_labels"], rows["patch_corners"], strict=True):
            if labels[0] and labels[3]:
                edge = np.mean([np.hypot(*(b - a)) for a, b in pairwise(corners)])
                off.append(np.hypot(*(corners.mean(axis=0) - PATCH / 2)) / edge)
    assert len(off) > 10
    assert np.quantile(off, 0.9) > 0.2, "some are cut round the middle of the body"
    assert np.quantile(off, 0.3) < 0.12, "some round that of the top face"


def test_truth_marks_the_dice_inside_the_tray() -> None:
    for seed in range(10):
        scene = random_scene(rng(seed), Recipe((320, 256), 0.08))
        for die, fact in zip(scene.dice, truth(scene), strict=True):
            assert fact.in_tray == inside_tray(scene.tray, *die.position_mm[:2])


@pytest.mark.parametrize("seed", range(8))
def test_camera_effects_keep_the_picture_valid(seed: int) -> None:
    scene = random_scene(rng(seed), Recipe((97, 131), 0.2))
    rows = close_ups(rng(seed), scene, 0.2)
    assert rows["patch_pixels"].shape == (PATCHES, PATCH, PATCH, 3)
    grey = np.full((131, 97, 3), 128, np.uint8)
    out = squeezed(rng(seed), grey)
    assert out.shape == grey.shape
    assert abs(float(out.mean()) - 128) < 6


def test_some_light_comes_from_low_down() -> None:
    draw = rng(12)
    rises, sharp = [], []
    for _ in range(400):
        lamps, _ = random_lamps(draw)
        x, y, z = lamps[0].position_mm
        rises.append(float(np.degrees(np.arctan2(z, np.hypot(x, y)))))
        sharp.append(lamps[0].radius_mm / np.linalg.norm(lamps[0].position_mm) < 0.02)
    low = np.array(rises) < 32.0
    assert min(rises) > 11.9
    assert 0.08 < low.mean() < 0.24  # 18 in 100, less those between 32 and 35 degrees
    assert (np.array(sharp) & low).any(), "a candle is small"
    assert (~low).any()


@pytest.mark.parametrize(("slanted", "least", "most"), [(False, 0, 26), (True, 26, 45)])
def test_a_camera_hangs_above_the_tray_or_stands_beside_it(
    slanted: bool, least: float, most: float
) -> None:
    tilts = []
    for seed in range(30):
        camera = random_scene(rng(seed), Recipe((160, 128), 0.08, slanted=slanted)).camera
        tilts.append(np.degrees(np.arccos(-np.asarray(camera.rotation)[2, 2])))
    assert least - 1e-6 <= min(tilts)
    assert max(tilts) <= most
    assert max(tilts) - min(tilts) > 0.6 * (most - least)
