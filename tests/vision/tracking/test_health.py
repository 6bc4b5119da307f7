"""A camera that sees nothing: noticed within two seconds, said once, and taken back by itself."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.engine.dice import ALL_DICE, DieColour
from companion.tray import TrayView
from tests.vision.scenes import default_scene
from tests.vision.tray_fakes import FakeClock, ScriptedCamera, ScriptedReader, bad, ok
from vision.reading import Frame, Pixels, Reading
from vision.simulation.render import render
from vision.simulation.render_tray import draw_background
from vision.tracking.camera_loop import CameraLoop
from vision.tracking.health import STEADY_S, FrameStats, Health, frame_stats, update_health
from vision.tracking.motion import thumbnail

FPS = 10.0
NOTICED_WITHIN_S = 2.0


@pytest.fixture(scope="module")
def tray() -> Pixels:
    scene = default_scene([(colour, 3) for colour in ALL_DICE], seed=4)
    return small(render(scene, draw_background(scene)))


def small(pixels: Pixels) -> Pixels:
    return np.asarray(cv2.resize(pixels, (320, 240), interpolation=cv2.INTER_AREA), np.uint8)


NOISE = np.random.default_rng(5).normal(0.0, 1.0, (7, 240, 320, 3))
"""Seven patterns in turn, since drawing one takes longer than all the rest of a frame."""


def noisy(pixels: np.ndarray, seed: int, sigma: float = 2.0) -> Pixels:
    return np.clip(pixels + sigma * NOISE[seed % 7], 0, 255).astype(np.uint8)


def covered(pixels: Pixels, seed: int) -> Pixels:
    """A finger on the lens: what light there is comes through it, reddish and without detail."""
    height, width = pixels.shape[:2]
    shade = np.linspace(22.0, 30.0, width)[None, :, None] * np.array([0.5, 0.6, 1.6])
    return noisy(np.broadcast_to(shade, (height, width, 3)), seed, 4.0)


class ReaderOfTheTray(ScriptedReader):
    """Sees the dice where the picture still looks like the tray."""

    def __init__(self, rig: Rig) -> None:
        super().__init__(ok())
        self.rig = rig

    def read(self, frame: Frame, in_play: Sequence[DieColour]) -> Reading:
        looks = [pixels.mean(axis=2).ravel() for pixels in (frame.pixels, self.rig.tray)]
        return super().read(frame, in_play) if np.corrcoef(looks)[0, 1] > 0.5 else bad("empty")


class Rig:
    """A live tray over a camera whose pictures can be spoiled."""

    def __init__(self, tray: Pixels) -> None:
        self.clock = FakeClock()
        self.tray = tray
        self.spoil: Callable[[Pixels, int], Pixels] | None = None
        self.camera = ScriptedCamera(self.clock, [])
        self.camera.read = self._read  # type: ignore[method-assign]
        self.seeds = itertools.count()
        self.fps = FPS
        self.reports: list[TrayView] = []
        self.live = CameraLoop(
            self.camera,
            reopen=lambda: self.camera,
            reader=ReaderOfTheTray(self),
            in_play=lambda: ALL_DICE,
            on_view=self.reports.append,
        )

    def _read(self) -> Frame:
        self.clock.sleep(1.0 / self.fps)
        spoil = self.spoil or noisy
        return Frame(spoil(self.tray, next(self.seeds)), self.clock())

    def pass_s(self, seconds: float) -> None:
        until_s = self.clock() + seconds
        while self.clock() < until_s:
            self.live.turn()

    @property
    def faults(self) -> list[str | None]:
        told = [report.fault for report in self.reports]
        return [fault for fault, _ in itertools.groupby(told)]


def frozen() -> Callable[[Pixels, int], Pixels]:
    kept: list[Pixels] = []

    def same(pixels: Pixels, seed: int) -> Pixels:
        kept.append(kept[0] if kept else noisy(pixels, seed))
        return kept[0]

    return same


SPOILT = {
    "dark": lambda: lambda pixels, seed: noisy(np.zeros_like(pixels), seed, 1.5),
    "blocked": lambda: covered,
    "frozen": frozen,
}


@pytest.mark.parametrize("fault", list(SPOILT))
def test_a_blind_camera_is_reported_once_and_cleared(tray: Pixels, fault: str) -> None:
    rig = Rig(tray)
    rig.pass_s(2.0)
    assert rig.reports[-1].roll is not None
    rig.spoil = SPOILT[fault]()
    rig.pass_s(NOTICED_WITHIN_S - 1.0 / FPS)
    report = rig.live.view
    assert (report.fault, report.status.value, report.camera) == (fault, fault, "lost")
    assert report.roll is None, "what it showed last must not be confirmed any more"
    told = len(rig.reports)
    rig.pass_s(6.0)
    assert len(rig.reports) == told
    rig.spoil = None
    rig.pass_s(NOTICED_WITHIN_S)
    assert rig.faults == [None, fault, None]
    assert rig.live.view.camera == "ok"
    assert rig.live.view.roll is not None


def test_a_slow_camera_is_reported_and_goes_on_reading(tray: Pixels) -> None:
    rig = Rig(tray)
    rig.pass_s(1.0)
    rig.fps = 2.0
    rig.pass_s(NOTICED_WITHIN_S)
    assert rig.faults == [None, "slow"]
    assert rig.live.view.camera == "ok"
    assert rig.live.view.roll is not None
    rig.fps = FPS
    rig.pass_s(STEADY_S + 1.0 / FPS)
    assert rig.faults == [None, "slow", None]


def test_a_camera_that_stutters_is_reported_once(tray: Pixels) -> None:
    rig = Rig(tray)
    rig.pass_s(1.0)
    for _ in range(8):
        rig.fps = 0.7
        rig.pass_s(1.0)
        rig.fps = FPS
        rig.pass_s(0.8)
    assert rig.faults == [None, "slow"]


def test_dice_used_before_the_camera_was_covered_stay_used(tray: Pixels) -> None:
    rig = Rig(tray)
    rig.pass_s(1.0)
    rig.live.on_confirmed()
    rig.spoil = covered
    rig.pass_s(3.0)
    rig.spoil = None
    rig.pass_s(3.0)
    assert rig.live.view.status.value == "old"


@pytest.mark.parametrize(("of", "repeated"), [(4, 1), (2, 1), (3, 2)])
def test_a_camera_that_stutters_is_frozen_when_it_stops(
    tray: Pixels, of: int, repeated: int
) -> None:
    """Its driver repeats some pictures of every few."""
    rig = Rig(tray)
    shown: list[Pixels] = []

    def stuttering(pixels: Pixels, seed: int) -> Pixels:
        is_new = len(shown) < 60 and len(shown) % of < of - repeated
        shown.append(noisy(pixels, seed) if is_new or not shown else shown[-1])
        return shown[-1]

    rig.spoil = stuttering
    rig.pass_s(5.5)
    assert rig.faults == [None]
    rig.pass_s(0.5 + NOTICED_WITHIN_S)
    assert rig.faults == [None, "frozen"]
    assert rig.live.view.roll is None


@pytest.mark.parametrize("before_s", [5.0, 12.0])
def test_a_camera_that_freezes_again_is_noticed_as_soon(tray: Pixels, before_s: float) -> None:
    rig = Rig(tray)
    for frozen_s in (before_s, 2.0):
        rig.pass_s(5.0)
        assert rig.live.view.roll is not None
        rig.spoil = frozen()
        rig.pass_s(frozen_s)
        assert rig.live.view.fault == "frozen"
        rig.spoil = None


def test_a_frozen_camera_that_was_silent_is_frozen_still(tray: Pixels) -> None:
    rig = Rig(tray)
    rig.pass_s(2.0)
    rig.spoil = frozen()
    rig.pass_s(3.0)
    rig.camera.is_silent = True
    rig.live.check()
    rig.camera.is_silent = False
    rig.pass_s(3.0)
    assert (rig.live.view.fault, rig.live.view.roll) == ("frozen", None)


def test_a_stream_that_repeats_still_pictures_is_not_frozen(tray: Pixels) -> None:
    """A video codec sends nothing for what does not change by much."""
    rig = Rig(tray)
    rig.spoil = lambda pixels, seed: noisy(pixels, seed // 25)
    rig.pass_s(30.0)
    assert rig.faults == [None]
    assert rig.live.view.roll is not None


@pytest.mark.parametrize("period_s", [2.0, 4.0, 10.0])
def test_a_codec_that_refines_pictures_and_repeats_them_is_soon_known(
    tray: Pixels, period_s: float
) -> None:
    rig = Rig(tray)
    kept: list[Pixels] = []

    def coded(pixels: Pixels, seed: int) -> Pixels:
        if seed % round(period_s * FPS) <= 0.5 * FPS or not kept:
            kept[:] = [noisy(pixels, seed)]
        return kept[0]

    rig.spoil = coded
    rig.pass_s(4.0 * period_s)
    assert rig.faults.count("frozen") <= 3
    told = len(rig.reports)
    rig.pass_s(4.0 * period_s)
    assert not any(report.fault for report in rig.reports[told:])


def test_a_sleeve_over_the_lens_is_no_news(tray: Pixels) -> None:
    rig = Rig(tray)
    rig.pass_s(1.0)
    rig.spoil = covered
    rig.pass_s(0.9)
    rig.spoil = None
    rig.pass_s(2.0)
    assert rig.faults == [None]
    assert rig.live.view.roll is not None


def test_drawn_pictures_without_any_noise_are_not_frozen(tray: Pixels) -> None:
    rig = Rig(tray)
    rig.spoil = lambda pixels, seed: pixels
    rig.pass_s(10.0)
    assert rig.faults == [None]
    assert rig.live.view.roll is not None


def test_an_empty_tray_and_another_lamp_are_not_a_cover(tray: Pixels) -> None:
    scene = default_scene([(colour, 3) for colour in ALL_DICE], seed=4)
    empty = draw_background(scene)
    bare = small(render(default_scene([], seed=4), empty))
    rig = Rig(tray)
    rig.pass_s(2.0)
    rig.tray = bare
    rig.pass_s(3.0)
    rig.tray = np.asarray(bare * 0.4, np.uint8)
    rig.pass_s(3.0)
    rig.tray = np.asarray(np.minimum(tray * 1.5, 255), np.uint8)
    rig.pass_s(3.0)
    assert rig.faults == [None]


def test_less_detail_is_no_cover_in_a_light_that_faded_slowly() -> None:
    health = Health()
    for n in range(120):
        level, detail = 100.0 - 0.5 * min(n, 100), 0.2 if n < 100 else 0.02
        health = update_health(
            health, FrameStats(n / FPS, level, 200.0, detail, False, False, 1.0 / FPS)
        )
    assert health.fault is None


def test_another_tray_that_looks_like_a_cover_is_read(tray: Pixels) -> None:
    rig = Rig(tray)
    rig.pass_s(2.0)
    rig.tray = np.asarray(cv2.addWeighted(tray, 0.1, tray, 0.0, 190.0), np.uint8)
    rig.pass_s(8.0)
    assert rig.faults == [None]
    assert rig.live.view.roll is not None


def test_its_own_exposure_does_not_uncover_a_lens(tray: Pixels) -> None:
    rig = Rig(tray)
    rig.pass_s(1.0)
    rig.spoil = covered
    rig.pass_s(2.0)
    mean = float(tray.mean())
    rig.spoil = lambda pixels, seed: np.clip(covered(pixels, seed) * (mean / 25.0), 0, 255).astype(
        np.uint8
    )
    rig.pass_s(5.0)
    assert rig.faults == [None, "blocked"]


def test_no_picture_of_the_shared_set_is_called_blind(shared: Path) -> None:
    for file in sorted((shared / "frames" / "dev").glob("*.jpg"))[::4]:
        now = thumbnail(cv2.imread(str(file)))
        health = Health(level=90.0, detail=0.175)  # as bright and as busy as the set's middle
        sight = frame_stats(now, None, 0.0, moved=False, gap_s=0.1)
        later = FrameStats(9.0, sight.level, sight.peak, sight.detail, False, False, 0.1)
        assert update_health(update_health(health, sight), later).fault is None, file.name
