"""The simulated tray told to misbehave: what the live tray makes of it, with the real reader."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import cv2
import numpy as np
import pytest

from companion.engine.dice import ALL_DICE, Roll
from companion.errors import CameraUnavailable
from companion.tray import TrayStatus, TrayView
from tests.vision.tray_fakes import FakeClock
from vision.pipeline import DiceReader
from vision.reading import Frame, Pixels
from vision.simulation.camera import TROUBLE_S, TROUBLES, SimulatedTray
from vision.simulation.render_dice import draw_dice
from vision.simulation.scene import Background, Die, Floats, Scene
from vision.simulation.simulator import Simulator
from vision.tracking.camera_loop import CameraLoop
from vision.tracking.health import STEADY_S

FPS = 10.0
SIZE_WH = (480, 360)


@pytest.fixture(autouse=True, scope="module")
def _each_picture_is_drawn_once() -> Iterator[None]:
    """All rigs throw the same dice, and often at the same times."""
    drawn: dict[tuple[Die, ...], Floats] = {}

    def draw_once(scene: Scene, ground: Background) -> Floats:
        if scene.dice not in drawn:
            drawn[scene.dice] = draw_dice(scene, ground)
        return drawn[scene.dice].copy()

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("vision.simulation.camera.draw_dice", draw_once)
        yield


@cache
def empty() -> Background:
    return SimulatedTray(size_wh=SIZE_WH)._ground


class Rig:
    """A live tray over the simulated one, in time turned by hand."""

    def __init__(self, seen_by: Callable[[SimulatedTray], object] = lambda camera: camera) -> None:
        self.clock = FakeClock()
        self.camera = SimulatedTray(
            seed=11,
            size_wh=SIZE_WH,
            fps=FPS,
            clock=self.clock,
            sleep=self.clock.sleep,
            ground=empty(),
        )
        self.seen_by = seen_by(self.camera)
        self.reports: list[TrayView] = []
        self.live = self.loop()
        self.simulator = Simulator(self.camera, self.live, lambda: ALL_DICE)

    def loop(self, *confirmed_rolls: Roll) -> CameraLoop:
        return CameraLoop(
            self.seen_by,  # type: ignore[arg-type]
            reopen=self.camera.plugged_in,
            reader=DiceReader(),
            in_play=lambda: ALL_DICE,
            on_view=self.reports.append,
            confirmed_rolls=confirmed_rolls,
        )

    def restart(self, confirmed_roll: Roll) -> None:
        self.live = self.loop(confirmed_roll)
        self.simulator = Simulator(self.camera, self.live, lambda: ALL_DICE)

    def pass_s(self, seconds: float) -> None:
        until_s = self.clock() + seconds
        while self.clock() < until_s:
            self.clock.sleep(self.live.turn())

    def throw(self) -> None:
        self.simulator.throw()
        self.pass_s(2.5)

    @property
    def now(self) -> TrayView:
        return self.live.view

    @property
    def faults(self) -> list[str | None]:
        return [fault for fault, _ in itertools.groupby(report.fault for report in self.reports)]


@pytest.fixture
def rig() -> Iterator[Rig]:
    rig = Rig()
    rig.pass_s(0.5)
    rig.throw()
    assert rig.now.roll is not None
    yield rig
    rig.live.close()


def test_a_blind_camera_withdraws_the_offer_and_makes_it_again(rig: Rig) -> None:
    roll = rig.now.roll
    for trouble, fault in (("block", "blocked"), ("freeze", "frozen"), ("unplug", "lost")):
        rig.simulator.trouble(trouble)
        rig.pass_s(2.0)
        assert (rig.now.fault, rig.now.camera, rig.now.roll) == (fault, "lost", None)
        rig.pass_s(TROUBLE_S + 2.0)  # and up to two seconds between two tries to open it
        assert (rig.now.camera, rig.now.roll) == ("simulated", roll), trouble
    assert rig.faults == [None, "blocked", None, "frozen", None, "lost", None]


def test_a_slow_camera_is_named_and_goes_on(rig: Rig) -> None:
    rig.simulator.trouble("slow")
    rig.pass_s(3.0)
    assert rig.now.fault == "slow"
    assert rig.now.roll is not None
    rig.pass_s(TROUBLE_S - 3.0 + STEADY_S + 0.5)
    assert rig.faults == [None, "slow", None]


def test_a_lamp_switched_on_makes_no_new_throw_of_old_dice(rig: Rig) -> None:
    roll = rig.now.roll
    rig.simulator.trouble("light")
    rig.pass_s(2.5)
    assert rig.now.roll in (roll, None), "offered as it is, or said to be unsure"
    rig.simulator.trouble("light")
    rig.pass_s(2.5)
    assert rig.now.roll == roll
    rig.live.on_confirmed()
    for _ in range(2):
        rig.simulator.trouble("light")
        rig.pass_s(2.5)
        assert not rig.now.roll is not None
    assert rig.now.status.value == "old"


def test_a_die_nudged_after_it_settled_is_read_again(rig: Rig) -> None:
    roll = rig.now.roll
    told = len(rig.reports)
    rig.simulator.trouble("nudge")
    rig.pass_s(1.0)
    since = [report.status.value for report in rig.reports[told:]]
    assert since[0] == "moving"
    assert rig.now.roll == roll
    rig.live.on_confirmed()
    rig.simulator.trouble("nudge")
    rig.pass_s(1.0)
    assert rig.now.status.value == "old"


def test_the_last_die_at_rest_is_offered_within_0_4_s() -> None:
    rig = Rig()
    rig.pass_s(0.5)
    for _ in range(2):
        rig.simulator.throw()
        while rig.now.roll is None:
            rig.pass_s(1.0 / FPS)
            assert rig.clock() < rig.camera.rests_at_s + 5.0
        assert 0.0 < rig.clock() - rig.camera.rests_at_s <= 0.4
        rig.live.on_confirmed()


@pytest.mark.parametrize("trouble", ["dark", "unplug"])
def test_typed_dice_are_no_new_throw_when_the_camera_returns(rig: Rig, trouble: str) -> None:
    roll = rig.now.roll
    assert roll is not None
    rig.simulator.trouble(trouble)
    rig.pass_s(2.0)
    told = len(rig.reports)
    rig.live.on_confirmed(roll)
    rig.pass_s(TROUBLE_S + 2.0)
    assert rig.now.status is TrayStatus.OLD
    assert not any(report.roll is not None for report in rig.reports[told:])
    rig.live.reoffer()
    rig.pass_s(1.0)
    assert rig.now.roll == roll
    rig.simulator.trouble(trouble)
    rig.pass_s(2.0)
    rig.live.on_confirmed(replace(roll, white=tuple(7 - value for value in roll.white)))
    rig.pass_s(TROUBLE_S + 2.0)
    assert rig.now.roll == roll, "other dice than those typed"


def test_confirmed_dice_are_no_new_throw_after_a_trouble_of_the_camera(rig: Rig) -> None:
    rig.live.on_confirmed()
    told = len(rig.reports)
    for trouble in ("dark", "block", "unplug"):
        rig.simulator.trouble(trouble)
        rig.pass_s(TROUBLE_S + 6.0)
        assert rig.now.status.value == "old", trouble
    assert not any(report.roll is not None for report in rig.reports[told:])


class Around:
    """A camera that shows the tray in another way."""

    def __init__(self, camera: SimulatedTray) -> None:
        self._camera = camera

    def __getattr__(self, name: str) -> object:
        return getattr(self._camera, name)


class Turnable(Around):
    """It can be turned away, to a table top with a grain or a wall, and go out of focus."""

    is_away = is_before_a_wall = False
    blur_px = 0.0

    def __init__(self, camera: SimulatedTray) -> None:
        super().__init__(camera)
        self._noises = itertools.cycle(noises())

    def read(self) -> Frame | None:
        frame = self._camera.read()
        assert frame is not None
        noise = next(self._noises)
        seen = table_top(frame.pixels.shape) if self.is_away else frame.pixels
        if self.is_before_a_wall:
            seen = np.full_like(seen, seen.mean())
        if self.blur_px:
            seen = cv2.GaussianBlur(seen, (0, 0), self.blur_px)
        pixels = cv2.add(seen, noise, dtype=cv2.CV_8U)
        return replace(frame, pixels=np.asarray(pixels, np.uint8))


NOISES = 7
"""Frames after which the noise of the sensor is the same again."""


@cache
def noises() -> list[np.ndarray]:
    draw, shape = np.random.default_rng(5), (*SIZE_WH[::-1], 3)
    return [draw.normal(0.0, 2.0, shape).astype(np.float32) for _ in range(NOISES)]


@cache
def table_top(shape: tuple[int, ...]) -> Pixels:
    grain = cv2.GaussianBlur(np.random.default_rng(3).normal(0.0, 90.0, shape), (0, 0), 3.0)
    return np.clip(120 + 3 * grain, 0, 255).astype(np.uint8)


@pytest.mark.parametrize("trouble", ["away", "before a wall", "blurred", "dice out"])
def test_used_dice_are_new_again_only_once_they_were_out(trouble: str) -> None:
    rig = Rig(Turnable)
    camera = rig.seen_by
    assert isinstance(camera, Turnable)
    rig.pass_s(1.0)
    rig.throw()
    assert rig.now.roll is not None
    rig.live.on_confirmed(rig.now.roll)
    thrown = rig.camera._throw
    if trouble == "dice out":
        rig.camera._throw = None
    camera.is_away, camera.blur_px = trouble == "away", 14.0 if trouble == "blurred" else 0.0
    camera.is_before_a_wall = trouble == "before a wall"
    rig.pass_s(3.0)
    assert rig.now.status.value == "empty"
    rig.camera._throw = thrown
    camera.is_away, camera.is_before_a_wall, camera.blur_px = False, False, 0.0
    rig.pass_s(3.0)
    assert rig.now.status.value == ("ok" if trouble == "dice out" else "old")
    rig.live.close()


def test_used_dice_are_old_after_a_restart_a_blur_and_a_look_aside() -> None:
    rig = Rig(Turnable)
    camera = rig.seen_by
    assert isinstance(camera, Turnable)
    rig.throw()
    assert rig.now.roll is not None
    rig.restart(rig.now.roll)
    for camera.blur_px, status in ((0.0, "old"), (14.0, "empty"), (0.0, "old")):
        rig.pass_s(3.0)
        assert rig.now.status.value == status
    for camera.is_away, status in ((True, "empty"), (False, "old")):
        rig.pass_s(3.0)
        assert rig.now.status.value == status
    rig.live.close()


@pytest.mark.parametrize("trouble", ["away", "blurred"])
def test_a_camera_that_sees_no_dice_at_a_restart_offers_none_again(trouble: str) -> None:
    rig = Rig(Turnable)
    camera = rig.seen_by
    assert isinstance(camera, Turnable)
    rig.throw()
    assert rig.now.roll is not None
    camera.is_away, camera.blur_px = trouble == "away", 14.0 if trouble == "blurred" else 0.0
    rig.restart(rig.now.roll)
    for status in ("empty", "old"):
        rig.pass_s(3.0)
        assert rig.now.status.value == status
        camera.is_away, camera.blur_px = False, 0.0
    rig.live.close()


def test_a_throw_after_a_restart_over_a_bare_tray_is_offered() -> None:
    rig = Rig(Turnable)
    rig.throw()
    confirmed = rig.now.roll
    assert confirmed is not None
    rig.camera._throw = None
    rig.restart(confirmed)
    rig.pass_s(3.0)
    assert rig.now.status.value == "empty"
    rig.throw()
    assert rig.now.roll not in (None, confirmed)
    rig.live.close()


@pytest.mark.parametrize("seen_s", [0.0, 3.0], ids=["thrown at once", "seen empty before"])
def test_a_throw_after_a_restart_that_a_seed_repeats_is_offered(seen_s: float) -> None:
    rig = Rig()
    rig.throw()
    confirmed = rig.now.roll
    assert confirmed is not None
    rig.camera._throw, rig.camera._throws = None, 0  # as in a new process
    rig.restart(confirmed)
    rig.pass_s(seen_s)
    rig.throw()
    assert rig.now.roll == confirmed
    rig.live.close()


def test_a_camera_knocked_aside_twice_offers_no_roll_again() -> None:
    rig = Rig(Turnable)
    camera = rig.seen_by
    assert isinstance(camera, Turnable)
    rig.pass_s(1.0)
    for _ in range(2):
        rig.throw()
        assert rig.now.roll is not None
        rig.live.on_confirmed(rig.now.roll)
        for camera.is_away, status in ((True, "empty"), (False, "old")):
            rig.pass_s(3.0)
            assert rig.now.status.value == status
    rig.live.close()


class Passer(Around):
    """Somebody walks past the lamp: a soft shadow goes over the tray from left to right."""

    began_s = math.inf

    def read(self) -> Frame | None:
        frame = self._camera.read()
        assert frame is not None
        width = frame.pixels.shape[1]
        middle = (frame.captured_at_s - self.began_s - 0.5) * width / 1.5
        across = np.exp(-(((np.arange(width) - middle) / (0.2 * width)) ** 2))
        pixels = frame.pixels * (1.0 - 0.55 * across)[None, :, None]
        return replace(frame, pixels=pixels.astype(np.uint8))


def test_a_passing_shadow_neither_changes_nor_makes_a_roll() -> None:
    rig = Rig(Passer)
    passer = rig.seen_by
    assert isinstance(passer, Passer)
    rig.pass_s(0.5)
    rig.throw()
    roll = rig.now.roll
    assert roll is not None
    told = len(rig.reports)
    passer.began_s = rig.clock()
    rig.pass_s(3.5)
    during = rig.reports[told:]
    assert TrayStatus.MOVING in {report.status for report in during}, "else this could not fail"
    assert {report.roll for report in during} <= {roll, None}
    assert rig.now.roll == roll
    rig.live.on_confirmed()
    told = len(rig.reports)
    passer.began_s = rig.clock()
    rig.pass_s(3.5)
    assert not any(report.roll is not None for report in rig.reports[told:])
    assert rig.now.status is TrayStatus.OLD


def test_an_unknown_trouble_is_refused() -> None:
    rig = Rig()
    with pytest.raises(CameraUnavailable, match=", ".join(TROUBLES)):
        rig.camera.trouble("fire")
