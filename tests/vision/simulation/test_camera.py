"""The simulated tray: throws that roll, rest, repeat by seed, and tell their values to nobody."""

from __future__ import annotations

import itertools
import math
import tracemalloc
from collections import Counter
from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from companion.engine.dice import ALL_DICE, DieColour
from companion.errors import CameraUnavailable
from companion.tray import TrayView
from tests.vision.tray_fakes import FakeClock
from vision.reading import Frame
from vision.simulation.camera import HAND_S, STILLS, TAKE_UP_S, SimulatedTray
from vision.simulation.default_tray import default_die, default_tray
from vision.simulation.geometry import inside_tray
from vision.simulation.landing import MISHAPS, support_mm
from vision.simulation.scene import COCKED_DEG, Background
from vision.simulation.simulator import Simulator
from vision.simulation.tumble import Throw, draw_throw
from vision.tracking.camera_loop import CameraLoop
from vision.tracking.motion import changes, thumbnail

TRAY = default_tray().tray
DICE = [default_die(colour) for colour in ALL_DICE]
FPS = 12.0


@cache
def empty() -> Background:
    return SimulatedTray(size_wh=(320, 240))._ground


def simulated_tray(seed: int | None = 5) -> SimulatedTray:
    clock = FakeClock()
    return SimulatedTray(
        seed=seed, size_wh=(320, 240), fps=FPS, clock=clock, sleep=clock.sleep, ground=empty()
    )


def frames(tray: SimulatedTray, count: int) -> list[Frame]:
    taken = [tray.read() for _ in range(count)]
    return [frame for frame in taken if frame is not None]


def movements(shown: list[Frame]) -> list[bool]:
    glances = [thumbnail(frame.pixels) for frame in shown]
    return [bool(changes(a, b).any()) for a, b in itertools.pairwise(glances)]


def a_throw(seed: int, mishap: str | None = None) -> Throw:
    return draw_throw(np.random.default_rng(seed), DICE, TRAY, mishap=mishap)


def test_drawing_dice_in_flight_needs_little_memory() -> None:
    tray = simulated_tray()
    tray.read()
    tray.throw(ALL_DICE)
    tracemalloc.start()
    try:
        shown = frames(tray, 6)
        _, most_bytes = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    in_linear_light = shown[0].pixels.size * np.dtype(np.float32).itemsize
    assert most_bytes < 5.0 * in_linear_light


# -- the throw ------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_dice_come_to_rest_flat_inside_and_apart(seed: int) -> None:
    dice = a_throw(seed).at_rest
    assert [die.colour for die in dice] == list(ALL_DICE)
    for die in dice:
        assert die.top[1] < 0.01
        assert die.position_mm[2] == pytest.approx(die.size_mm / 2)
        assert inside_tray(TRAY, *die.position_mm[:2])
    for one, other in itertools.combinations(dice, 2):
        assert math.dist(one.position_mm, other.position_mm) > one.size_mm


@pytest.mark.parametrize("seed", range(20))
def test_dice_roll_for_about_a_second_and_end_where_they_rest(seed: int) -> None:
    throw = a_throw(seed)
    assert 0.8 <= throw.rests_s <= 1.3
    for way in throw.ways:
        just_before = way.die_at(way.rests_s - 1e-3)
        assert just_before is not None
        assert math.dist(just_before.position_mm, way.rest.position_mm) < 1.5
        assert just_before.top[0] == way.rest.top[0]
        assert way.die_at(way.rests_s) == way.rest


@pytest.mark.parametrize("seed", range(6))
def test_rolling_dice_never_dip_into_the_floor_or_each_other(seed: int) -> None:
    throw = a_throw(seed)
    for time_s in np.arange(0.0, throw.rests_s + 0.1, 0.03):
        dice = [die for die in throw.dice_at(float(time_s)) if die is not None]
        for die in dice:
            assert die.position_mm[2] >= support_mm(die) - 1e-6
        for one, other in itertools.combinations(dice, 2):
            assert math.dist(one.position_mm, other.position_mm) > 0.6 * one.size_mm


@pytest.mark.parametrize("seed", range(30))
def test_dice_come_in_over_the_rim_and_stay_inside_it(seed: int) -> None:
    throw = a_throw(seed)
    for way in throw.ways:
        was_inside = False
        for time_s in np.arange(way.starts_s, way.rests_s, 0.01):
            die = way.die_at(float(time_s))
            assert die is not None
            x, y, z = die.position_mm
            if inside_tray(TRAY, x, y):
                was_inside = True
            else:
                assert not was_inside
                assert z - support_mm(die) > 0.7 * TRAY.rim_height_mm


def test_values_come_with_equal_chances() -> None:
    rng = np.random.default_rng(11)
    counts = Counter(die.top[0] for _ in range(250) for die in draw_throw(rng, DICE, TRAY).at_rest)
    expected = 250 * 6 / 6
    chi2 = sum((counts[value] - expected) ** 2 / expected for value in range(1, 7))
    assert chi2 < 20.5  # 5 degrees of freedom: one fair generator in a thousand is beyond


def test_only_the_dice_in_play_are_thrown() -> None:
    tray = simulated_tray()
    tray.throw((DieColour.WHITE, DieColour.WHITE, DieColour.BLUE))
    thrown = [die.colour for die in tray.at_rest.dice]
    assert thrown == [DieColour.WHITE, DieColour.WHITE, DieColour.BLUE]
    assert draw_throw(np.random.default_rng(1), (), TRAY).rests_s == 0.0


def test_a_scene_brings_its_own_dice() -> None:
    scene = replace(default_tray((320, 240)), dice=tuple(replace(d, size_mm=12.0) for d in DICE))
    tray = SimulatedTray(seed=1, scene=scene, ground=empty())
    assert tray.at_rest.dice == (), "they are not in the tray before they are thrown"
    tray.throw(ALL_DICE)
    assert [die.size_mm for die in tray.at_rest.dice] == 6 * [12.0]


def test_a_hand_takes_the_dice_out() -> None:
    tray = simulated_tray()
    before = frames(tray, 1)[0].pixels
    tray.throw(ALL_DICE)
    assert tray.rests_at_s == math.inf
    lying = frames(tray, int(1.6 * FPS))[-1]
    assert lying.captured_at_s > tray.rests_at_s
    tray.take_up()
    assert tray.at_rest.dice == ()
    assert any(movements(frames(tray, int(TAKE_UP_S * FPS))))
    assert tray.rests_at_s == math.inf
    after = frames(tray, 4)
    assert not any(movements(after[1:]))
    assert np.abs(after[-1].pixels.astype(int) - before).mean() < 3.0
    tray.throw(ALL_DICE)
    assert any(movements(frames(tray, int(1.6 * FPS))))


@pytest.mark.parametrize("seed", range(8))
def test_mishaps_go_wrong_in_their_own_way(seed: int) -> None:
    tilts = [die.top[1] for die in a_throw(seed, "cocked").at_rest]
    assert sum(tilt > COCKED_DEG + 5.0 for tilt in tilts) == 1
    lost = [d for d in a_throw(seed, "off").at_rest if not inside_tray(TRAY, *d.position_mm[:2])]
    assert len(lost) == 1
    gaps = [
        math.dist(one.position_mm, other.position_mm)
        for one, other in itertools.combinations(a_throw(seed, "touching").at_rest, 2)
    ]
    assert sum(gap < 1.25 * 16.0 for gap in gaps) >= 3


# -- the camera -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shown() -> tuple[SimulatedTray, list[Frame], list[Frame], list[Frame]]:
    """A tray with the frames before its first throw, during it, and at rest."""
    tray = simulated_tray()
    before = frames(tray, 5)
    tray.throw(ALL_DICE)
    rolling = frames(tray, 20)
    return tray, before, rolling, frames(tray, 6)


def test_it_starts_empty_and_still(
    shown: tuple[SimulatedTray, list[Frame], list[Frame], list[Frame]],
) -> None:
    before = shown[1]
    assert not any(movements(before))
    assert before[0].pixels.shape == (240, 320, 3)


def test_a_throw_moves_for_about_a_second_and_then_rests(
    shown: tuple[SimulatedTray, list[Frame], list[Frame], list[Frame]],
) -> None:
    _, _, rolling, rest = shown
    moved = movements([*rolling, *rest])
    first, last = moved.index(True), len(moved) - 1 - moved[::-1].index(True)
    assert all(moved[first : last + 1])
    assert 0.7 <= (last + 1 - first) / FPS <= 1.4
    assert not any(moved[last + 1 :])


def test_at_rest_only_the_noise_changes_and_it_does(
    shown: tuple[SimulatedTray, list[Frame], list[Frame], list[Frame]],
) -> None:
    rest = shown[3]
    for one, other in itertools.pairwise(rest):
        difference = np.abs(one.pixels.astype(int) - other.pixels)
        assert 0.2 < difference.mean() < 4.0


def test_at_rest_the_same_few_pictures_are_shown_again() -> None:
    shown = {frame.pixels.tobytes() for frame in frames(simulated_tray(), 200)}
    assert len(shown) == STILLS


def test_a_seed_repeats_its_throws_however_many_frames_lie_between() -> None:
    one, other, third = simulated_tray(7), simulated_tray(7), simulated_tray(8)
    first, second = [], []
    for throws, tray, pause in ((first, one, 1), (second, other, 6), ([], third, 1)):
        for _ in range(3):
            tray.throw(ALL_DICE)
            frames(tray, pause)
            throws.append(tray.at_rest.dice)
    assert first == second
    assert len(set(first)) == 3
    assert third.at_rest.dice not in first


def test_without_a_seed_no_two_runs_are_alike() -> None:
    one, other = simulated_tray(None), simulated_tray(None)
    one.throw(ALL_DICE)
    other.throw(ALL_DICE)
    assert one.at_rest.dice != other.at_rest.dice


def test_a_throw_during_a_throw_starts_over() -> None:
    tray = simulated_tray()
    tray.throw(ALL_DICE)
    frames(tray, 8)
    tray.throw(ALL_DICE[:3])
    frames(tray, 25)
    assert len(tray.at_rest.dice) == 3
    assert not any(movements(frames(tray, 3)))


def test_the_hand_stays_for_a_while_and_goes_away() -> None:
    tray = simulated_tray()
    tray.throw(ALL_DICE, mishap="hand")
    rests_s = 1.3  # and not before 0.8 s
    moved = movements(frames(tray, int((rests_s + HAND_S + 1.0) * FPS)))
    assert moved[: int(rests_s * FPS)].count(True) > 5
    assert not any(moved[int((rests_s + 0.1) * FPS) : int((0.7 + HAND_S) * FPS)])
    assert any(moved[int((0.7 + HAND_S) * FPS) :])


@pytest.mark.parametrize("mishap", MISHAPS)
def test_a_throw_takes_a_named_mishap(mishap: str) -> None:
    tray = simulated_tray()
    tray.throw(ALL_DICE, mishap=mishap)
    frames(tray, 3)
    assert len(tray.at_rest.dice) == 6


def test_an_unknown_mishap_is_refused_in_one_line() -> None:
    with pytest.raises(CameraUnavailable, match="expected a mishap of cocked, off"):
        simulated_tray().throw(ALL_DICE, mishap="earthquake")


# -- the whole way, picture to roll ---------------------------------------------------------


@pytest.mark.slow
def test_throws_are_read_from_the_picture() -> None:
    from vision.pipeline import DiceReader

    clock = FakeClock()
    tray = SimulatedTray(seed=3, fps=FPS, clock=clock, sleep=clock.sleep)
    reports: list[TrayView] = []

    def reopen() -> SimulatedTray:
        raise AssertionError("the simulated tray is never lost")

    live = CameraLoop(
        tray, reopen=reopen, reader=DiceReader(), in_play=lambda: ALL_DICE, on_view=reports.append
    )
    simulator = Simulator(tray, live, lambda: ALL_DICE)
    for _ in range(5):
        assert live.turn() == 0.0
    assert reports[-1].status.value == "empty"
    assert reports[-1].camera == "simulated"
    read = 0
    for _ in range(12):
        simulator.throw()
        for _ in range(26):
            assert live.turn() == 0.0
        report = reports[-1]
        if report.roll is not None:
            values = [(die.colour, die.top[0]) for die in tray.at_rest.dice]
            assert sorted(v for c, v in values if c is DieColour.WHITE) == list(report.roll.white)
            assert dict(values[2:]) == dict(report.roll.coloured)
            read += 1
            live.on_confirmed()
    assert read >= 11
