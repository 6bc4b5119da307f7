"""The drawn picture shows what its truth says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from companion.engine.dice import ALL_DICE, DieColour
from tests.vision.scenes import default_scene
from vision.simulation import symbols
from vision.simulation.default_tray import default_die, default_tray
from vision.simulation.geometry import inside_tray, pip_centres, resting_die, turned
from vision.simulation.render import render, truth
from vision.simulation.render_tray import draw_background, room_light
from vision.simulation.scene import FACES, Camera, Finish, Lamp, Lens, Motion, Room, Scene, Thing

ROLL = [(colour, number + 1) for number, colour in enumerate(ALL_DICE)]


def one_die(colour: DieColour, value: int, *, angle_deg: float = 20.0) -> Scene:
    tray = default_tray((320, 240))
    return replace(tray, dice=(resting_die(value, (10.0, -8.0), angle_deg, default_die(colour)),))


def patch(pixels: np.ndarray, where: tuple[float, float]) -> np.ndarray:
    x, y = round(where[0]), round(where[1])
    return pixels[y - 1 : y + 2, x - 1 : x + 2].reshape(-1, 3).mean(axis=0)


def test_opposite_sides_sum_to_seven() -> None:
    for value, (axis, sign) in FACES.items():
        assert FACES[7 - value] == (axis, -sign)


@pytest.mark.parametrize("right_handed", [True, False])
def test_faces_one_two_three_turn_as_on_real_dice(right_handed: bool) -> None:
    die = replace(default_die(DieColour.RED), right_handed=right_handed)
    normals = []
    for value in (1, 2, 3):
        axis, sign = die.face(value)
        normals.append(np.eye(3)[axis] * sign)
    assert np.linalg.det(np.array(normals)) == (1.0 if right_handed else -1.0)


@pytest.mark.parametrize("value", range(1, 7))
@pytest.mark.parametrize("right_handed", [True, False])
def test_a_resting_die_shows_its_value(value: int, right_handed: bool) -> None:
    like = replace(default_die(DieColour.BLUE), right_handed=right_handed)
    die = resting_die(value, (5.0, 6.0), 33.0, like)
    assert die.top[0] == value
    assert die.top[1] < 0.1
    assert np.linalg.det(np.array(die.rotation)) == pytest.approx(1.0)


@pytest.mark.parametrize("value", range(1, 7))
def test_pips_are_painted_where_the_truth_has_them(value: int) -> None:
    scene = one_die(DieColour.WHITE, value)
    pixels = render(scene).astype(float)
    spots = scene.camera.project(pip_centres(scene.dice[0], value))
    assert len(spots) == value
    face = truth(scene)[0]
    between = [0.25 * np.array(c) + 0.75 * np.array(face.centre_px) for c in face.corners_px]
    for spot in spots:
        assert patch(pixels, tuple(spot)).mean() < 0.6 * np.max(
            [patch(pixels, tuple(b)).mean() for b in between]
        )


@pytest.mark.parametrize("value", range(1, 7))
@pytest.mark.parametrize("right_handed", [True, False])
def test_the_shade_in_a_drilled_pip_lies_on_the_side_of_the_lamp(
    value: int, right_handed: bool
) -> None:
    def lit_sides(depth: float) -> list[tuple[float, float]]:
        """Of each pip how light it is towards the lamp, and away from it."""
        like = replace(
            default_die(DieColour.GREEN), right_handed=right_handed, flips=(True, False, True),
            pip_radius=0.13, pip_depth=depth, gloss=0.0,
        )  # fmt: skip
        die = resting_die(value, (0.0, 0.0), 20.0, like)
        camera = Camera.above((320, 320), 1400.0, 130.0)
        low = Lamp((300.0, 0.0, 160.0), 10.0, (0.8, 0.8, 0.8))
        scene = replace(
            default_tray((320, 320)), camera=camera, lamps=(low,), ambient=(0.1, 0.1, 0.1),
            lens=Lens(noise=0.0, vignette=0.0), dice=(die,),
        )  # fmt: skip
        pixels = render(scene).astype(float)
        spots = pip_centres(die, value)
        step = np.array([0.08 * die.size_mm, 0.0, 0.0])
        sides = [camera.project(spots + sign * step) for sign in (1.0, -1.0)]
        return [
            (float(patch(pixels, tuple(near)).mean()), float(patch(pixels, tuple(far)).mean()))
            for near, far in zip(*sides, strict=True)
        ]

    assert all(near < 0.6 * far for near, far in lit_sides(1.0))
    assert all(abs(near - far) < 0.1 * far for near, far in lit_sides(0.0))


@pytest.mark.parametrize(
    ("colour", "strong", "weak"),
    [
        (DieColour.RED, 2, 0),
        (DieColour.GREEN, 1, 2),
        (DieColour.BLUE, 0, 2),
        (DieColour.YELLOW, 2, 0),
    ],
)
def test_a_die_has_its_colour(colour: DieColour, strong: int, weak: int) -> None:
    scene = one_die(colour, 2, angle_deg=0.0)
    colour_seen = patch(render(scene).astype(float), truth(scene)[0].centre_px)
    assert colour_seen[strong] > 1.5 * colour_seen[weak]


def test_the_kept_background_changes_nothing() -> None:
    scene = default_scene(ROLL, seed=4, size_wh=(320, 240))
    empty = replace(scene, dice=())
    assert np.array_equal(render(scene), render(scene, draw_background(empty)))


def test_a_drawing_is_repeatable_and_its_seed_matters() -> None:
    one, same, other = (default_scene(ROLL, seed=s, size_wh=(160, 120)) for s in (1, 1, 2))
    assert np.array_equal(render(one), render(same))
    assert truth(one) == truth(same)
    assert truth(one) != truth(other)


def test_the_default_throw_lies_in_the_tray() -> None:
    for seed in range(20):
        facts = truth(default_scene(ROLL, seed=seed))
        assert [(f.colour, f.value) for f in facts] == ROLL
        assert all(f.in_tray and not f.cocked and f.top_visible > 0.9 for f in facts)


def test_a_tilted_die_is_cocked_and_has_no_value() -> None:
    scene = one_die(DieColour.RED, 3)
    tilted = replace(scene.dice[0], rotation=turned(scene.dice[0].rotation, (0.4, 0.0, 0.0)))
    fact = truth(replace(scene, dice=(tilted,)))[0]
    assert fact.cocked
    assert fact.value is None
    assert fact.tilt_deg == pytest.approx(np.degrees(0.4), abs=0.1)


def test_a_moving_die_is_smeared() -> None:
    scene = one_die(DieColour.WHITE, 5)
    moving = replace(scene.dice[0], motion=Motion((25.0, 0.0, 0.0), (0.0, 0.5, 0.0)))
    blurred = replace(scene, dice=(moving,))
    assert truth(blurred)[0].moving
    assert truth(blurred)[0].value is None
    x, y = truth(scene)[0].body_centre_px
    still, smeared = render(scene), render(blurred)
    rows, columns = slice(int(y) - 12, int(y) + 12), slice(int(x) - 12, int(x) + 12)
    assert smeared[rows, columns].std() < 0.7 * still[rows, columns].std()


def test_a_thing_on_top_hides_the_face() -> None:
    scene = one_die(DieColour.GREEN, 4)
    assert truth(scene)[0].top_visible == 1.0
    cup = Thing("cup", (10.0, -8.0), 0.0, 30.0, (0.2, 0.2, 0.2), height_mm=20.0)
    assert truth(replace(scene, things=(cup,)))[0].top_visible == 0.0


def test_a_die_behind_another_is_partly_hidden() -> None:
    scene = one_die(DieColour.GREEN, 4)
    above = replace(
        resting_die(2, (10.0, -8.0), 50.0, default_die(DieColour.RED)),
        position_mm=(14.0, -8.0, 24.0),
    )
    both = truth(replace(scene, dice=(*scene.dice, above)))
    assert both[0].top_visible < 0.7
    assert both[1].top_visible == 1.0


def test_a_die_on_the_table_is_not_in_the_tray() -> None:
    scene = default_tray((320, 240))
    beside = resting_die(1, (-140.0, 0.0), 0.0, default_die(DieColour.RED))
    assert not truth(replace(scene, dice=(beside,)))[0].in_tray
    assert inside_tray(scene.tray, 0.0, 0.0)


def test_shadows_darken_the_felt_and_nothing_else_changes() -> None:
    scene = one_die(DieColour.RED, 1)
    quiet = replace(scene, lens=replace(scene.lens, noise=0.0, blur_px=0.0))
    with_die = render(quiet).astype(int)
    empty = render(replace(quiet, dice=())).astype(int)
    changed = np.abs(with_die - empty).max(axis=2) > 8
    die = truth(scene)[0]
    rows, columns = np.nonzero(changed)
    x, y = die.centre_px
    assert x - 2 * die.edge_px < columns.min()
    assert columns.max() < x + 3 * die.edge_px
    assert y - 2 * die.edge_px < rows.min()
    assert rows.max() < y + 3 * die.edge_px
    darker = (with_die - empty).sum(axis=2)[changed]
    assert (darker < 0).sum() > 0.15 * changed.sum()


def test_sides_away_from_the_lamp_and_gaps_are_darker() -> None:
    """A white die, lit from the right, looked at from the left and above."""
    room = default_tray((320, 240))
    paper = replace(room.tray.floor, colour=(0.7, 0.7, 0.7))
    room = replace(room, tray=replace(room.tray, floor=paper), ambient=(0.1, 0.1, 0.1))
    camera = Camera.above((320, 240), 900.0, 400.0, tilt_deg=35.0, azimuth_deg=270.0)
    lamp = Lamp((400.0, 0.0, 400.0), 5.0, (0.7, 0.7, 0.7))
    style = replace(default_die(DieColour.WHITE), gloss=0.0)
    die = resting_die(3, (0.0, 0.0), 0.0, style)
    half = die.size_mm / 2
    points = {"top": (0.4 * half, 0.4 * half, 2 * half), "side": (-half, 0.5 * half, half)}

    def seen(gloom: float, *others: float) -> dict[str, float]:
        beside = tuple(resting_die(3, (x, 0.0), 0.0, style) for x in others)
        scene = replace(room, camera=camera, lamps=(lamp,), dice=(die, *beside), gloom=gloom)
        pixels = render(scene)
        where = camera.project(np.array(list(points.values())))
        return {
            name: float(patch(pixels, (x, y)).mean())
            for name, (x, y) in zip(points, where, strict=True)
        }

    plain, gloomy = seen(0.0), seen(1.0)
    assert gloomy["side"] < 0.9 * plain["side"]
    assert abs(gloomy["top"] - plain["top"]) < 1.5
    assert seen(0.5)["side"] == pytest.approx((plain["side"] + gloomy["side"]) / 2, abs=4.0)
    apart = -1.6 * die.size_mm
    assert seen(1.0, apart)["side"] < 0.9 * seen(0.0, apart)["side"]
    assert seen(1.0, apart)["side"] < 0.97 * gloomy["side"]


def test_a_die_beside_the_tray_gets_as_much_light_as_the_table_under_it() -> None:
    scene = default_tray((800, 600))
    lamp = Lamp((-400.0, 0.0, 500.0), 20.0, (0.8, 0.8, 0.8))
    die = default_die(DieColour.YELLOW)
    spots = [(-150.0, 0.0), (0.0, 110.0)]  # towards the lamp, and away from no wall
    scene = replace(
        scene,
        camera=Camera.above((800, 600), 700.0, 420.0),
        lamps=(lamp,),
        dice=tuple(resting_die(5, spot, 0.0, die) for spot in spots),
        lens=Lens(noise=0.0, vignette=0.0),
    )
    assert not any(inside_tray(scene.tray, *spot) for spot in spots)
    tops = np.array([[x, y + 4.0, die.size_mm] for x, y in spots])
    near, far = (patch(render(scene), tuple(each)) for each in scene.camera.project(tops))
    assert near.min() >= 0.95 * far.min()


def test_a_lens_never_folds_the_picture_over() -> None:
    camera = replace(Camera.above((640, 480), 500.0, 300.0), k1=-0.12)
    way = np.linspace(0.0, 2_000.0, 60)
    x = camera.project(np.c_[way, 0 * way, 0 * way])[:, 0]
    assert (np.diff(x) > 0.0).all()


@pytest.mark.parametrize(("kind", "share"), [("worn", 0.5), ("two_tone", 0.5), ("veined", 0.2)])
def test_a_dies_colour_does_not_depend_on_its_size_in_the_picture(kind: str, share: float) -> None:
    finish = Finish(kind, (0.85, 0.85, 0.85), 11, 0.5, 1.0, share)
    die = replace(default_die(DieColour.RED), finish=finish, pip_radius=1e-3)

    def green(edge_px: int) -> float:
        camera = Camera.above((2 * edge_px, 2 * edge_px), edge_px * 250 / 16, 258.0)
        scene = replace(
            default_tray((640, 480)),
            camera=camera,
            dice=(resting_die(4, (0.0, 0.0), 10.0, die),),
            lens=Lens(noise=0.0, blur_px=0.0, vignette=0.0),
        )
        pixels, k = render(scene), edge_px // 3
        middle = pixels[edge_px - k : edge_px + k, edge_px - k : edge_px + k, 1]
        return float((middle.astype(float) ** 2.2).mean() ** (1 / 2.2))

    assert green(12) == pytest.approx(green(96), rel=0.25)


def test_a_room_is_not_seen_through_the_floor() -> None:
    light = np.zeros((64, 128, 3), np.float32)
    light[40:] = 1.0
    up = [np.array([[0.0]]), np.array([[0.0]]), np.array([[1.0]])]
    assert room_light(Room(light), up).max() == 0.0


def test_symbols_are_seen_from_outside() -> None:
    number = symbols._CHARACTERS.index("F") * symbols.STYLES + 4
    die = replace(default_die(DieColour.WHITE), symbols=(number,) * 6, pip_depth=0.0)
    for value in range(1, 7):
        scene = replace(
            default_tray((640, 480)),
            camera=Camera.above((160, 160), 100 * 250 / 16, 258.0),
            dice=(resting_die(value, (0.0, 0.0), 0.0, die),),
            lens=Lens(noise=0.0, vignette=0.0),
        )
        ink = (render(scene)[32:128, 32:128, 1] < 90).astype(np.float32)
        half = np.linspace(-1.0, 1.0, 96, dtype=np.float32)
        drawn = symbols.ink_at(number, *np.meshgrid(half, half))

        def likeness(letter: np.ndarray, ink: np.ndarray = ink) -> float:
            turned_ = [np.rot90(letter, n) for n in range(4)]
            return max(float(np.corrcoef(ink.ravel(), each.ravel())[0, 1]) for each in turned_)

        assert likeness(drawn) > likeness(drawn[:, ::-1]) + 0.05, value


def test_the_shadow_of_a_moving_die_is_the_mean_of_its_moments() -> None:
    scene = replace(one_die(DieColour.RED, 3), lens=Lens(noise=0.0, vignette=0.0))
    still = scene.dice[0]
    moved = replace(still, motion=Motion((1e-4, 0.0, 0.0), (0.0, 0.0, 0.0)))
    fast = render(replace(scene, dice=(moved,))).astype(int)
    assert np.abs(fast - render(scene).astype(int)).max() <= 2
