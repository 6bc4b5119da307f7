"""Scenes in looks of any kind."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.engine.dice import DieColour
from companion.errors import PictureError
from tests.vision.scenes import default_scene
from vision.simulation import patterns, shadows, unseen_patterns
from vision.simulation.looks import SPLITS, TRAINED, UNSEEN, flecked, load_looks, redressed
from vision.simulation.random_scenes import Recipe, random_scene
from vision.simulation.render import render, truth
from vision.simulation.scene import Die, Finish, Mask, Room, Scene, Surface, Tile, Wear

pytestmark = pytest.mark.slow


def _scene(seed: int, split: str = "train") -> tuple[Scene, Scene]:
    rng = np.random.default_rng([seed, 1])
    plain = random_scene(rng, Recipe((160, 128), 0.1))
    return plain, redressed(rng, plain, SPLITS[split])


def _one_die(die: Die | None = None, **looks: object) -> Scene:
    scene = default_scene([(DieColour.RED, 5)], seed=2, size_wh=(240, 180))
    die = replace(scene.dice[0], **looks)  # type: ignore[arg-type]
    return replace(scene, dice=(die,), lens=replace(scene.lens, noise=0.0))


@pytest.mark.parametrize("split", ["train", "check"])
def test_other_looks_leave_dice_where_they_are(split: str) -> None:
    for seed in range(6):
        plain, dressed = _scene(seed, split)
        before, after = truth(plain), truth(dressed)
        assert [(f.value, f.colour, f.corners_px) for f in before] == [
            (f.value, f.colour, f.corners_px) for f in after
        ]
        assert render(dressed).shape == (128, 160, 3)


def test_other_looks_change_the_picture() -> None:
    for seed in range(4):
        plain, dressed = _scene(seed)
        assert not np.array_equal(render(plain), render(dressed))


def test_a_seed_gives_the_same_looks_twice() -> None:
    (_, first), (_, second) = _scene(5), _scene(5)
    assert np.array_equal(render(first), render(second))


def test_most_finishes_are_flecks_if_asked() -> None:
    family, kinds = flecked(TRAINED), []
    for seed in range(20):
        rng = np.random.default_rng([seed, 1])
        scene = redressed(rng, random_scene(rng, Recipe((160, 128), 0.1)), family)
        kinds += [die.finish.kind for die in scene.dice if die.finish is not None]
    sparse = [kind in ("speckled", "flecks", "confetti", "veined") for kind in kinds]
    assert np.mean(sparse) > 0.8
    assert not set(family.plastics) & set(UNSEEN.plastics)


def test_see_through_dice_let_light_pass() -> None:
    family, dice = replace(flecked(TRAINED), plastics=("clear",)), []
    for seed in range(10):
        rng = np.random.default_rng([seed, 2])
        scene = redressed(rng, random_scene(rng, Recipe((160, 128), 0.1)), family)
        dice += [die for die in scene.dice if die.finish is not None]
    assert {die.finish.kind for die in dice if die.finish is not None} == {"clear"}
    assert all(die.glow >= 0.3 for die in dice)


def test_trained_and_unseen_looks_share_no_family() -> None:
    assert not set(TRAINED.patterns) & set(UNSEEN.patterns)
    assert not set(TRAINED.shadows) & set(UNSEEN.shadows)
    assert not set(TRAINED.plastics) & set(UNSEEN.plastics)


@pytest.mark.parametrize("name", [*patterns.TRAINED, *unseen_patterns.UNSEEN])
def test_a_pattern_is_drawn_with_some_contrast(name: str) -> None:
    draw = (patterns.TRAINED | unseen_patterns.UNSEEN)[name]
    drawn = [draw(np.random.default_rng(seed)) for seed in range(5)]
    for picture in drawn:
        assert (picture.shape, picture.dtype) == ((patterns.SIZE, patterns.SIZE, 3), np.uint8)
    assert np.mean([picture.std(axis=(0, 1)).max() for picture in drawn]) > 5.0


@pytest.mark.parametrize("name", [*shadows.TRAINED, *shadows.UNSEEN])
def test_a_stencil_has_light_and_shade(name: str) -> None:
    cast = (shadows.TRAINED | shadows.UNSEEN)[name]
    for seed in range(5):
        light = cast(np.random.default_rng(seed))
        assert 0.05 < (light > 127).mean() < 0.99


def test_a_stencil_darkens_floor_and_dice_alike() -> None:
    scene = _one_die()
    dark = Mask(np.zeros((4, 4), np.float32), 10.0, 100.0)
    shaded = replace(scene, lamps=tuple(replace(lamp, mask=dark) for lamp in scene.lamps))
    clear = replace(scene, lamps=tuple(replace(lamp, mask=replace(dark, light=np.ones((4, 4),
                    np.float32))) for lamp in scene.lamps))  # fmt: skip
    assert np.array_equal(render(clear), render(scene))
    x, y = (int(v) for v in truth(scene)[0].centre_px)
    for part in (np.s_[y - 4 : y + 4, x - 4 : x + 4], np.s_[80:100, 20:40]):
        assert render(shaded)[part].mean() < 0.75 * render(scene)[part].mean()


def test_a_tile_covers_the_floor_at_its_scale() -> None:
    scene = replace(_one_die(), dice=(), lamps=(), ambient=(0.8, 0.8, 0.8))
    halves = np.full((8, 8, 3), 0.02, np.float32)
    halves[:, 4:] = 0.9
    tile = Tile(halves, 4.0)
    tray = replace(scene.tray, floor=Surface("tile", (0.4, 0.4, 0.4), tile=tile))
    middle = render(replace(scene, tray=tray))[60:120, 80:160].mean(axis=2)
    assert (middle < 90).mean() > 0.25
    assert (middle > 170).mean() > 0.25


def test_a_room_is_mirrored_in_polished_dice() -> None:
    scene = _one_die(gloss=1.0, roughness=0.1)
    lit = np.full((64, 128, 3), 0.3, np.float32)
    bright = lit.copy()
    bright[:20] = 12.0
    corners = np.array(truth(scene)[0].corners_px)
    (left, top), (right, bottom) = corners.min(0).astype(int), corners.max(0).astype(int)
    face = np.s_[top:bottom, left:right]
    with_window = render(replace(scene, room=Room(bright)))[face].mean()
    assert with_window > render(replace(scene, room=Room(lit)))[face].mean() + 15


@pytest.mark.parametrize("kind", ["speckled", "marbled", "gradient", "two_tone", "worn", "pearl"])
def test_a_finish_mixes_in_its_paint_and_keeps_the_pips(kind: str) -> None:
    plain, blue = _one_die(), (0.7, 0.05, 0.02)
    finish = Finish(kind, blue, 3, 2.0, 1.0, 0.4)
    mixed = render(_one_die(finish=finish)).astype(int) - render(plain)
    assert mixed[..., 0].max() > 20
    x, y = (int(v) for v in truth(plain)[0].centre_px)
    assert np.abs(mixed[y, x]).max() < 30  # the middle pip of a five


def test_the_pips_of_the_far_face_are_seen_through_clear_plastic() -> None:
    scene = default_scene([(DieColour.RED, 1)], seed=2, size_wh=(480, 360))
    solid = replace(scene.dice[0], pip_depth=0.0, gloss=0.0)
    paint = solid.pip_albedo
    clear = replace(solid, finish=Finish("clear", paint, 3, 1.0, 0.4))
    lens = replace(scene.lens, noise=0.0)
    with_six, without = (
        render(replace(scene, dice=(die,), lens=lens)).astype(int) for die in (clear, solid)
    )
    corners = np.array(truth(scene)[0].corners_px)
    (left, top), (right, bottom) = corners.min(0).astype(int), corners.max(0).astype(int)
    face = np.s_[top + 3 : bottom - 3, left + 3 : right - 3]
    seen = np.abs(with_six - without)[face].max(axis=2)
    spots, _ = cv2.connectedComponents((seen > 0.5 * seen.max()).astype(np.uint8))
    assert spots - 1 >= 4
    x, y = (int(v) for v in truth(scene)[0].centre_px)
    pip = np.abs(without[y, x] - without[face].reshape(-1, 3).mean(axis=0)).max()
    assert seen.max() < 0.8 * pip


@pytest.mark.parametrize("shape", ["ring", "square"])
def test_pips_of_other_shapes_cover_another_part_of_the_face(shape: str) -> None:
    usual, other = (
        render(_one_die(pip_depth=0.0, pip_radius=0.12, pip_shape=pip_shape)).astype(int)
        for pip_shape in ("round", shape)
    )
    assert np.abs(usual - other).max() > 20


def test_symbols_stand_on_the_faces_instead_of_pips() -> None:
    five = _one_die(gloss=0.0)
    letter, other = (
        _one_die(gloss=0.0, pip_depth=0.0, symbols=(symbol,) * 6) for symbol in (300, 400)
    )
    assert truth(five)[0].value == 5
    assert truth(letter)[0].value is None
    assert truth(letter)[0].corners_px == truth(five)[0].corners_px
    assert np.abs(render(letter).astype(int) - render(other)).max() > 40
    assert np.abs(render(letter).astype(int) - render(five)).max() > 40


def test_worn_pips_lose_paint_in_patches_and_keep_some_everywhere() -> None:
    whole = _one_die(gloss=0.0, pip_depth=0.0)
    bare = replace(whole, dice=tuple(replace(die, pip_radius=0.001) for die in whole.dice))
    worn = _one_die(gloss=0.0, pip_depth=0.0, wear=Wear(0.45, seed=3))
    without, with_pips, left = (
        render(each).astype(float).sum(axis=2) for each in (bare, whole, worn)
    )
    pips = np.abs(with_pips - without) > 150
    kept = (left - without)[pips] / (with_pips - without)[pips]
    assert kept.min() > 0.05
    assert kept.max() > 0.95
    assert 0.3 < kept.mean() < 0.9
    assert np.abs(left - with_pips)[~pips].max() < 150


def test_sets_with_other_faces_are_as_frequent_as_asked() -> None:
    families = {chance: replace(TRAINED, **{chance: 0.5}) for chance in ("symbols", "odd_pips")}
    changed: dict[str, list[set[bool]]] = {chance: [] for chance in families}
    for seed in range(16):
        scene = random_scene(np.random.default_rng(seed), Recipe((160, 128), 0.1))
        if not scene.dice:
            continue
        usual = redressed(np.random.default_rng(seed), scene, TRAINED)
        for chance, family in families.items():
            drawn = redressed(np.random.default_rng(seed), scene, family)
            changed[chance] += [{a != b for a, b in zip(usual.dice, drawn.dice, strict=True)}]
    for chance, sets in changed.items():
        assert all(len(each) == 1 for each in sets), chance
        assert 0.25 < np.mean([each == {True} for each in sets]) < 0.75, chance


def _folder(path: Path) -> Path:
    (path / "hdri").mkdir()
    for name in ("lobby", "park"):
        cv2.imwrite(str(path / "hdri" / f"{name}.hdr"), np.full((8, 16, 3), 0.5, np.float32))
    lines = []
    for split in ("train", "check"):
        cv2.imwrite(str(path / f"{split}.png"), np.full((32, 32, 3), 90, np.uint8))
        lines.append(json.dumps({"file": f"{split}.png", "split": split}))
    (path / "manifest.jsonl").write_text("\n".join(lines) + "\n")
    return path


def test_a_folder_adds_its_pictures_and_rooms_by_split(tmp_path: Path) -> None:
    folder = _folder(tmp_path)
    train, check = load_looks("train", folder), load_looks("check", folder)
    assert [path.name for path in train.pictures] == ["train.png"]
    assert [path.name for path in check.pictures] == ["check.png"]
    assert [path.stem for path in train.rooms] == ["park"]
    assert [path.stem for path in check.rooms] == ["lobby"]
    for seed in range(4):
        rng = np.random.default_rng(seed)
        scene = redressed(rng, random_scene(rng, Recipe((96, 80), 0.1)), train)
        assert render(scene).any()


def test_a_folder_without_a_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(PictureError, match="expected a manifest of looks"):
        load_looks("train", tmp_path)
