"""What the training pictures of the path tracer are made of, and the pictures where Blender is."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import cv2
import numpy as np
import pytest

from companion.engine.dice import DieColour
from vision.scene import (
    Camera,
    Die,
    Thing,
    cover_mask,
    default_scene,
    pip_centres,
    render,
)
from vision.training.looks import dress, random_room, random_style
from vision.training.make_data import FRAME_WH, PATCH, PATCHES
from vision.training.solids import GRID, die_body

UNIT = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
PLAIN = Die((0.0, 0.0, 0.0), UNIT, size_mm=2.0)


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def some_die(seed: int) -> Die:
    die = dress(rng(seed), random_style(rng(seed)), DieColour.WHITE, 0)
    return replace(die, position_mm=(0.0, 0.0, 0.0), size_mm=2.0)


@pytest.mark.parametrize("seed", range(6))
def test_a_die_is_one_closed_body_seen_from_outside(seed: int) -> None:
    points, _, quads = die_body(some_die(seed))
    sides = Counter(
        (int(a), int(b)) for quad in quads for a, b in zip(quad, np.roll(quad, -1), strict=True)
    )
    assert set(sides.values()) == {1}
    assert all((b, a) in sides for a, b in sides), "every edge is met once from each side"
    a, b, c, d = (points[quads[:, corner]] for corner in range(4))
    out = np.cross(c - a, d - b)
    assert float((out * (a + b + c + d)).sum(axis=1).min()) > -1e-6, "no face looks inwards"


@pytest.mark.parametrize("seed", range(6))
def test_a_die_has_its_outline_and_its_pips_where_the_scene_has_them(seed: int) -> None:
    die = some_die(seed)
    points, paint, _ = die_body(die)
    assert np.abs(points).max() <= 1.0 + 1e-6
    assert np.linalg.norm(points, axis=1).max() <= 2.0 * die.ball + 1e-6
    for value in range(1, 7):
        axis, sign = die.face(value)
        reach = 2.0 * die.pip_radius * (die.one_scale if value == 1 else 1.0)
        kind = int(value in die.other_pips[0])
        for middle in pip_centres(die, value):
            nearest = int(np.linalg.norm(points - middle, axis=1).argmin())
            if die.pip_depth:
                level = [a for a in range(3) if a != axis]
                near = np.abs(points[:, axis] * sign - 1.0 + die.pip_depth * reach) < 0.25 * reach
                away = np.linalg.norm((points - middle)[:, level], axis=1)
                assert away[near & (paint[:, kind] > 0.5)].min() < 2.0 / GRID
            else:
                assert points[nearest, axis] * sign == pytest.approx(1.0, abs=1e-6)
                assert paint[nearest, kind] == 1.0


def test_pips_painted_on_are_as_large_as_asked() -> None:
    die = replace(PLAIN, pip_depth=0.0, edge_radius=0.05, ball=0.87)
    _, paint, _ = die_body(die)
    share = paint[:, 0].sum() / (6 * (GRID + 1) ** 2)
    assert share == pytest.approx(21 * np.pi * die.pip_radius**2 / 6, rel=0.03)


@pytest.mark.parametrize("seed", range(8))
def test_a_room_is_as_bright_as_asked(seed: int) -> None:
    ambient = (0.2, 0.3, 0.5)
    room = random_room(rng(seed), ambient)
    rise = np.cos((np.arange(64) + 0.5) / 64 * np.pi)
    weight = (np.sqrt(1.0 - rise**2) * np.clip(rise, 0.0, 1.0))[:, None, None]
    assert (room >= 0.0).all()
    assert (room * weight).sum((0, 1)) / (weight.sum() * 128) == pytest.approx(ambient, rel=1e-3)


@pytest.fixture(scope="module")
def tracer():  # type: ignore[no-untyped-def]
    pytest.importorskip("bpy", reason="Blender only draws training pictures: not installed")
    from vision.training import path_traced

    return path_traced


@pytest.mark.slow
@pytest.mark.parametrize("k1", [0.0, -0.1])
def test_a_path_traced_scene_looks_as_the_drawn_one(tracer, k1: float) -> None:  # type: ignore[no-untyped-def]
    from vision.scene.lens import expose

    scene = default_scene([(DieColour.WHITE, 5), (DieColour.RED, 2), (DieColour.BLUE, 6)], seed=3)
    width, height = 240, 180
    near = Camera.above((width, height), 290.0, 330.0, tilt_deg=12.0, k1=k1)
    scene = replace(scene, camera=near)
    drawn = render(scene).astype(float)
    light = tracer.traced(rng(1), scene)
    assert light.shape == (height, width, 3)
    assert light.dtype == np.float32
    pixels = expose(light, scene.lens).astype(float)
    likeness = [np.corrcoef(drawn[..., c].ravel(), pixels[..., c].ravel())[0, 1] for c in range(3)]
    assert min(likeness) > 0.85
    assert pixels.mean() == pytest.approx(drawn.mean(), rel=0.25)


@pytest.mark.slow
def test_rows_of_traced_scenes_are_like_the_others(tracer) -> None:  # type: ignore[no-untyped-def]
    from vision.training.make_data import scene_row, traced_row

    traced, drawn = traced_row(rng(2)), scene_row(rng(2))
    assert {k: (v.shape, v.dtype) for k, v in traced.items()} == {
        k: (v.shape, v.dtype) for k, v in drawn.items()
    }
    assert traced["pixels"].shape == (FRAME_WH[1], FRAME_WH[0], 3)
    assert traced["patch_pixels"].shape == (PATCHES, PATCH, PATCH, 3)
    seen = traced["patch_present"] & (traced["patch_labels"][:, 0] > 0)
    assert seen.any()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "size_mm", "height_mm"), [("coin", 14.0, 2.0), ("pencil", 40.0, 3.6)]
)
def test_what_dice_lean_on_is_where_the_scene_has_it(  # type: ignore[no-untyped-def]
    tracer, kind: str, size_mm: float, height_mm: float
) -> None:
    scene = default_scene([(DieColour.WHITE, 5)], seed=3)
    near = Camera.above((240, 180), 290.0, 330.0, tilt_deg=12.0)
    bare = replace(scene, camera=near)
    green = (0.02, 0.5, 0.02)
    thing = Thing(kind, (20.0, 10.0), 70.0, size_mm, green, height_mm, 1, under=True)
    held = replace(bare, things=(thing,))
    light = tracer.traced(rng(1), held)
    shown = light[..., 1] - light[..., [0, 2]].max(axis=2)
    plain = tracer.traced(rng(1), bare)
    more = shown - (plain[..., 1] - plain[..., [0, 2]].max(axis=2))
    there = cover_mask(held, under=True) > 0.5
    seen = more > 0.3 * np.median(more[there])
    pixel = np.ones((3, 3), np.uint8)
    without, within = (how(there.astype(np.uint8), pixel) > 0 for how in (cv2.dilate, cv2.erode))
    assert within.sum() > 200
    assert (seen & within).sum() > 0.9 * within.sum(), "to a pixel, all of it shows"
    assert (seen & without).sum() > 0.95 * seen.sum(), "and nothing beside it"


@pytest.mark.slow
def test_close_ups_of_traced_leaning_dice_are_like_the_others(tracer) -> None:  # type: ignore[no-untyped-def]
    from vision.training.make_data import leaning_row, leaning_traced_row

    drawn = leaning_row(rng(2))
    rows = [leaning_traced_row(rng(seed)) for seed in range(6)]
    for row in rows:
        assert {k: (v.shape, v.dtype) for k, v in row.items()} == {
            k: (v.shape, v.dtype) for k, v in drawn.items()
        }
    labels = np.concatenate([row["patch_labels"][row["patch_present"]] for row in rows])
    assert (labels[:, 0] == 1.0).all(), "only dice"
    assert set(labels[:, 3]) == {0.0, 1.0}, "some lean and some do not"
