"""Dice held up by something: they touch it, stand on the floor, and go through nothing."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from companion.engine.dice import DieColour
from tests.vision.scenes import default_scene
from vision.simulation.appearance import random_style
from vision.simulation.geometry import inside_tray, resting_die
from vision.simulation.leaning import MOST_DEG, beside, held_up, stacked
from vision.simulation.random_scenes import Recipe, random_scene
from vision.simulation.render import render, truth
from vision.simulation.scene import COCKED_DEG, Die, Scene, Thing
from vision.training.dataset import frame_part

ROOM = default_scene().tray


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng([seed, 402])


def corners(die: Die) -> np.ndarray:
    cube = [[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
    return np.array(cube) @ np.asarray(die.rotation).T * die.size_mm / 2 + die.position_mm


def depth_in(die: Die, points: np.ndarray) -> float:
    """How deep the deepest of points (N, 3) lies in a die, in mm; negative where none does."""
    local = (points - np.asarray(die.position_mm)) @ np.asarray(die.rotation)
    return float((die.size_mm / 2 - np.abs(local).max(axis=1)).max())


def surface(thing: Thing) -> np.ndarray:
    """Points (N, 3) all over a coin or a pencil that lies on the floor."""
    a = np.radians(thing.angle_deg)
    s = thing.size_mm
    if thing.kind == "coin":
        ring = np.linspace(0, 2 * np.pi, 90)
        x, y = (np.outer(np.linspace(0, s, 30), f(ring)).ravel() for f in (np.cos, np.sin))
        z = np.full(x.size, thing.height_mm)
    else:
        round_it = np.linspace(0, 2 * np.pi, 60)
        along = np.linspace(-s, s, 120)
        x = np.repeat(along, round_it.size)
        y = np.tile(thing.height_mm * np.cos(round_it), along.size)
        z = np.tile(thing.height_mm * (1.0 + np.sin(round_it)), along.size)
    turned = np.c_[x * np.cos(a) - y * np.sin(a), x * np.sin(a) + y * np.cos(a)]
    return np.c_[turned + np.asarray(thing.position_mm), z]


def leaning(count: int) -> list[tuple[list[Die], Die, Thing | None]]:
    """The dice of one tray, the first of them as something holds it up, and the thing that does."""
    rows = []
    for seed in range(count):
        draw = rng(seed)
        style = random_style(draw)
        spots = ((-30.0, 20.0), (25.0, 10.0), (0.0, -28.0))
        dice = [resting_die(3, spot, draw.uniform(0, 360), style) for spot in spots]
        die, thing = held_up(draw, ROOM, dice, 0)
        rows.append((dice, die, thing))
    return rows


ROWS = leaning(150)


def test_propped_dice_are_tilted_and_touch_the_floor() -> None:
    for _, die, _ in ROWS:
        assert COCKED_DEG < die.top[1] < MOST_DEG + 1.0
        assert -0.11 * die.size_mm < corners(die)[:, 2].min() < 0.01


def test_a_prop_touches_its_die_without_overlapping() -> None:
    kinds = []
    for _, die, thing in ROWS:
        if thing is None:
            continue
        kinds.append(thing.kind)
        assert thing.under
        off = 0.6 if thing.kind == "coin" else 1.5  # a pencil may lie askew below an edge
        assert -off < depth_in(die, surface(thing)) < off, (thing.kind, die.top)
    assert kinds.count("coin") > 15
    assert kinds.count("pencil") > 5


def test_it_holds_up_no_other_die() -> None:
    for dice, _, thing in ROWS:
        for other in dice[1:] if thing else ():
            assert depth_in(other, surface(thing)) < 0.3


def test_dice_lean_on_others_and_the_wall_without_overlapping() -> None:
    outline = np.array(ROOM.outline_mm)
    edge = np.roll(outline, -1, axis=0) - outline
    inwards = np.c_[-edge[:, 1], edge[:, 0]] / np.hypot(edge[:, 0], edge[:, 1])[:, None]
    at_wall = at_die = 0
    for dice, die, thing in ROWS:
        assert inside_tray(ROOM, *die.position_mm[:2])
        if thing is not None:
            continue
        depths = ((corners(die)[:, None, :2] - outline) * inwards).sum(axis=2)
        at_wall += -0.1 < depths.min() < 1.0
        assert depths.min() > -0.1
        gaps = [np.hypot(*np.subtract(die.position_mm[:2], d.position_mm[:2])) for d in dice[1:]]
        at_die += min(gaps) < 1.5 * die.size_mm
    assert at_wall > 10
    assert at_die > 10


def test_a_stacked_die_lies_level_on_another_and_does_not_fall_off() -> None:
    dice = [resting_die(3, (x, 0.0), 20.0, random_style(rng(1))) for x in (-30.0, 0.0, 30.0)]
    covered = 0
    for seed in range(20):
        placed = stacked(rng(seed), ROOM, dice)
        upper = next(new for new, old in zip(placed, dice, strict=True) if new is not old)
        lower = min(
            (die for die in placed if die is not upper),
            key=lambda die: np.hypot(*np.subtract(die.position_mm, upper.position_mm)[:2]),
        )
        bottom, top = corners(upper)[:, 2].min(), corners(lower)[:, 2].max()
        assert bottom == pytest.approx(top, abs=1e-6)
        middle = np.array([[*upper.position_mm[:2], lower.position_mm[2]]])
        assert depth_in(lower, middle) > 0
        facts = truth(replace(default_scene(), dice=tuple(placed)))
        covered += min(fact.top_visible for fact in facts) < 0.9
    assert covered == 20


def test_a_single_die_has_nothing_to_be_stacked_on() -> None:
    die = resting_die(3, (0.0, 0.0), 20.0, random_style(rng(1)))
    assert stacked(rng(0), ROOM, [die]) == [die]


def test_a_coin_beside_a_flat_die_is_not_under_it() -> None:
    found = []
    for seed in range(60):
        style = random_style(rng(seed))
        dice = [resting_die(2, (0.0, 0.0), 30.0, style), resting_die(2, (30.0, 20.0), 0.0, style)]
        thing = beside(rng(seed), ROOM, dice)
        if thing is not None:
            found.append(thing.kind)
            deepest = max(depth_in(die, surface(thing)) for die in dice)
            assert -6.0 < deepest < 0.3
    assert {"coin", "pencil"} == set(found)
    assert len(found) > 40


def test_beside_no_dice_there_is_nothing() -> None:
    assert beside(rng(1), ROOM, []) is None


def scene_with_a_coin() -> tuple[Scene, Scene]:
    plain = default_scene([(DieColour.RED, 4)], size_wh=(320, 256))
    x, y, _ = plain.dice[0].position_mm
    coin = Thing("coin", (x + 12.0, y), 0.0, 11.0, (0.5, 0.5, 0.5), 2.0, under=True)
    plain = replace(plain, lens=replace(plain.lens, noise=0.0, blur_px=0.0))
    return plain, replace(plain, things=(coin,))


def test_an_object_under_a_die_hides_none_of_it() -> None:
    plain, scene = scene_with_a_coin()
    assert truth(scene)[0].top_visible == pytest.approx(1.0)
    changed = np.abs(render(scene).astype(int) - render(plain)).max(axis=2) > 8
    fact = truth(scene)[0]
    inner = np.array(fact.centre_px) + 0.8 * (np.array(fact.corners_px) - fact.centre_px)
    face = np.zeros(changed.shape, np.uint8)
    cv2.fillConvexPoly(face, np.round(inner).astype(np.int32), 1)  # its corners are round
    assert face.sum() > 50
    assert not changed[face > 0].any()
    assert changed.sum() > 100


def test_a_coin_under_a_die_is_masked_where_visible() -> None:
    _, scene = scene_with_a_coin()
    things = frame_part(rng(3), scene)["masks"][1].astype(int)
    fact = truth(scene)[0]
    x, y = (round(v / 4) for v in fact.centre_px)
    assert things[y, x] == 0
    assert things.max() == 255
    above = replace(scene, things=(replace(scene.things[0], under=False),))
    assert frame_part(rng(3), above)["masks"][1].astype(int).sum() > things.sum()


def test_scenes_show_coins_and_pencils_at_leaning_and_at_flat_dice() -> None:
    held = touched = 0
    for seed in range(40):
        for scenario in ("cocked", "flat"):
            scene = random_scene(rng(seed), Recipe((320, 256), 0.07, scenario))
            under = sum(thing.under for thing in scene.things)
            held += under if scenario == "cocked" else 0
            touched += under if scenario == "flat" else 0
    assert held > 8
    assert 1 < touched < 10


@pytest.mark.parametrize("pushed", [False, True])
def test_a_tilted_die_goes_through_no_other(pushed: bool) -> None:
    tilted = 0
    for seed in range(60):
        scene = random_scene(rng(seed), Recipe((640, 480), 0.06, "cocked", pushed))
        for die in (each for each in scene.dice if each.top[1] > 5.0):
            tilted += 1
            grid = np.linspace(-0.98, 0.98, 9)
            cube = np.stack(np.meshgrid(grid, grid, grid), axis=-1).reshape(-1, 3)
            body = cube @ np.asarray(die.rotation).T * die.size_mm / 2 + die.position_mm
            depths = [depth_in(other, body) for other in scene.dice if other is not die]
            assert max(depths, default=-1.0) < 1.0, seed
    assert tilted > 40
