"""A webcam that is plugged in, again or for the first time, is soon there."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from companion.errors import CameraUnavailable
from companion.tray import CameraState
from tests.vision.tray_fakes import ALL_DICE, FakeClock, ScriptedCamera, ScriptedReader, ok, picture
from vision.cameras.camera import Camera
from vision.cameras.devices import FIRST_PICTURE_S, V4L2_WAIT_S, CameraSilent
from vision.cameras.reopening import Reopener
from vision.tracking.camera_loop import CameraLoop

TOO_EARLY_S = 0.4
"""A handle opened this soon after plugging in never delivers."""


class Socket:
    """A webcam's socket: takes as long as V4L2 does, on a clock turned by hand."""

    def __init__(self, clock: FakeClock, plugged_s: float, first_picture_s: float) -> None:
        self.clock, self.plugged_s, self.first_picture_s = clock, plugged_s, first_picture_s
        self.busy_until_s = 0.0
        self.asked: list[str] = []

    def open(self, source: str, patience_s: float) -> Camera:
        self.asked.append(source)
        now_s = self.clock()
        if now_s < max(self.plugged_s, self.busy_until_s):
            raise CameraUnavailable("not there, or busy")
        is_too_early = now_s < self.plugged_s + TOO_EARLY_S
        if is_too_early or self.first_picture_s > patience_s:
            self.busy_until_s = now_s + max(V4L2_WAIT_S, patience_s)
            self.clock.sleep(patience_s)
            self.clock.sleep(min(1.0, max(0.0, self.busy_until_s - self.clock())))  # close()
            raise CameraSilent("no picture came")
        self.clock.sleep(self.first_picture_s)
        return ScriptedCamera(self.clock, [picture()] * 99)


def back_after_s(plugged_s: float, first_picture_s: float) -> float:
    clock = FakeClock()
    start_s = clock()
    socket = Socket(clock, start_s + plugged_s, first_picture_s)
    live = CameraLoop(
        None,
        reopen=Reopener(socket.open, "/dev/v4l/by-id/cam"),
        reader=ScriptedReader(ok()),
        in_play=lambda: ALL_DICE,
        on_view=lambda _: None,
    )
    assert live.view.camera is CameraState.LOST
    while live.view.camera is CameraState.LOST and clock() < start_s + 60.0:
        clock.sleep(live.turn())
    live.close()
    return clock() - socket.plugged_s


@pytest.mark.parametrize("plugged_s", [0.0, 0.05, 7.3, 7.45, 30.01])
def test_a_webcam_is_back_within_three_seconds(plugged_s: float) -> None:
    assert back_after_s(plugged_s, first_picture_s=0.4) <= 3.0


def test_a_slow_webcam_comes_back_too() -> None:
    assert back_after_s(5.0, first_picture_s=FIRST_PICTURE_S - 0.5) < 15.0


def test_auto_keeps_to_the_camera_that_it_found() -> None:
    clock = FakeClock()
    socket = Socket(clock, 0.0, 0.1)
    clock.sleep(1.0)
    reopen = Reopener(socket.open, "auto")
    first: Callable[[], Camera] = reopen
    found = first().source
    reopen()
    assert socket.asked == ["auto", found]


class Desk:
    """Webcams that are plugged in."""

    def __init__(self, *paths: str) -> None:
        self.paths = list(paths)

    def open(self, source: str, patience_s: float) -> Camera:
        if source not in self.paths:
            raise CameraUnavailable(f"camera {source!r}: is not there")
        camera = ScriptedCamera(FakeClock(), [])
        camera.source = source
        return camera


@pytest.mark.parametrize("new", ["/dev/video11", "/dev/v4l/by-id/another"])
def test_a_webcam_plugged_in_for_another_takes_its_place(new: str) -> None:
    desk = Desk("/dev/v4l/by-id/built-in", "/dev/video10")
    reopen = Reopener(desk.open, "/dev/video10", webcams=lambda: desk.paths)
    desk.paths.remove("/dev/video10")
    with pytest.raises(CameraUnavailable, match="video10"):
        reopen()
    desk.paths.append(new)
    assert reopen().source == new
    desk.paths.remove(new)
    with pytest.raises(CameraUnavailable, match=new):
        reopen()


def test_a_webcam_that_came_while_the_first_one_ran_takes_no_place() -> None:
    desk = Desk("/dev/video10")
    reopen = Reopener(desk.open, "/dev/video10", webcams=lambda: desk.paths)
    desk.paths = ["/dev/v4l/by-id/guest"]
    for _ in range(2):
        with pytest.raises(CameraUnavailable, match="video10"):
            reopen()
    desk.paths.append("/dev/video10")
    assert reopen().source == "/dev/video10"


def test_the_own_webcam_comes_back_once_a_borrowed_one_is_taken_out() -> None:
    desk = Desk("/dev/video10")
    reopen = Reopener(desk.open, "/dev/video10", webcams=lambda: desk.paths)
    desk.paths = []
    with pytest.raises(CameraUnavailable):
        reopen()
    desk.paths = ["/dev/video11"]
    assert reopen().source == "/dev/video11"
    desk.paths = ["/dev/video10"]  # it was plugged in again while the borrowed one ran
    for _ in range(2):
        assert reopen().source == "/dev/video10"


def test_a_borrowed_webcam_that_stays_plugged_in_takes_the_tray_no_more() -> None:
    desk = Desk("/dev/video10")
    reopen = Reopener(desk.open, "/dev/video10", webcams=lambda: list(desk.paths))
    desk.paths = []
    with pytest.raises(CameraUnavailable):
        reopen()
    desk.paths = ["/dev/video11"]
    assert reopen().source == "/dev/video11"
    desk.paths = ["/dev/video10"]
    assert reopen().source == "/dev/video10"
    desk.paths = ["/dev/video11"]  # it was plugged in for something else, and the own one fails
    with pytest.raises(CameraUnavailable, match="video10"):
        reopen()
    desk.paths.append("/dev/video10")
    assert reopen().source == "/dev/video10"


def test_a_new_webcam_that_cannot_be_opened_keeps_no_other_one_out() -> None:
    desk = Desk("/dev/video10")
    found = list(desk.paths)
    reopen = Reopener(desk.open, "/dev/video10", webcams=lambda: found)
    desk.paths.clear()
    with pytest.raises(CameraUnavailable):
        reopen()
    found += ["/dev/v4l/by-id/busy", "/dev/video11"]
    desk.paths.append("/dev/video11")
    assert reopen().source == "/dev/video11"


def test_a_slow_new_webcam_gets_its_time() -> None:
    desk = Desk("/dev/video10")

    def open_slowly(source: str, patience_s: float) -> Camera:
        if source == "/dev/video11" and patience_s < FIRST_PICTURE_S:
            raise CameraSilent("no picture came")
        return desk.open(source, patience_s)

    reopen = Reopener(open_slowly, "/dev/video10", webcams=lambda: desk.paths)
    desk.paths = []
    with pytest.raises(CameraUnavailable):
        reopen()
    desk.paths = ["/dev/video11"]
    with pytest.raises(CameraSilent):
        reopen()
    assert reopen().source == "/dev/video11"


def test_a_camera_that_was_named_is_not_replaced() -> None:
    desk = Desk("/dev/video10")
    reopen = Reopener(desk.open, "/dev/video10")
    desk.paths = ["/dev/video11"]
    with pytest.raises(CameraUnavailable, match="video10"):
        reopen()
