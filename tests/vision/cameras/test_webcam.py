"""Webcams through V4L2, with a stand-in for OpenCV's capture: asked for, found, stalled, gone."""

from __future__ import annotations

import os
import struct
import threading
from pathlib import Path

import cv2
import pytest

from companion.errors import CameraUnavailable
from tests.vision.tray_fakes import FakeClock, picture
from vision.cameras import devices
from vision.cameras.capture import FAILURES, STALL_S, LatestFrame
from vision.reading import Pixels
from vision.tracking.camera_loop import CHECK_S


class FakeCapture:
    """What OpenCV's VideoCapture does, by script; the last step blocks until released."""

    def __init__(self, script: list[Pixels | None], opens: bool = True) -> None:
        self.script = script
        self.opens = opens
        self.settings: dict[int, float] = {}
        self.order: list[int] = []
        self.released = threading.Event()
        self.arguments: tuple[object, ...] = ()

    def __call__(self, *arguments: object) -> FakeCapture:
        self.arguments = arguments
        return self

    def isOpened(self) -> bool:
        return self.opens

    def set(self, what: int, value: float) -> bool:
        self.settings[what] = value
        self.order.append(what)
        return True

    def get(self, what: int) -> float:
        return -1.0

    def read(self) -> tuple[bool, Pixels | None]:
        if not self.script:
            return False, None
        step = self.script.pop(0)
        return step is not None, step

    def release(self) -> None:
        self.released.set()


def test_a_webcam_is_asked_for_mjpg_size_rate_and_a_short_buffer() -> None:
    capture = FakeCapture([picture(n) for n in range(50)])
    camera = devices.open_v4l2("/dev/video9", size_wh=(800, 600), fps=10.0, capture=capture)
    assert capture.arguments == ("/dev/video9", cv2.CAP_V4L2)
    assert capture.settings[cv2.CAP_PROP_FOURCC] == cv2.VideoWriter_fourcc(*"MJPG")
    assert capture.order[0] == cv2.CAP_PROP_FOURCC
    asked = (cv2.CAP_PROP_FRAME_WIDTH, cv2.CAP_PROP_FRAME_HEIGHT, cv2.CAP_PROP_FPS)
    assert [capture.settings.get(each) for each in asked] == [800, 600, 10]
    assert capture.settings[cv2.CAP_PROP_BUFFERSIZE] == 1
    assert (camera.kind, camera.source) == ("v4l2", "/dev/video9")
    camera.close()
    camera.close()
    assert capture.released.wait(5.0)


class Stumbling(FakeCapture):
    """Every fifth buffer is empty."""

    def read(self) -> tuple[bool, Pixels | None]:
        self.order.append(0)
        if len(self.order) % 5 == 0:
            raise cv2.error("!buf.empty()")
        return True, picture(len(self.order))


def test_an_empty_buffer_is_one_picture_less() -> None:
    camera = devices.open_v4l2("/dev/video9", capture=Stumbling([]))
    assert all(camera.read() is not None for _ in range(20))
    camera.close()


def test_a_silent_webcam_is_let_go_within_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    name = "OPENCV_VIDEOIO_V4L_SELECT_TIMEOUT"
    monkeypatch.delenv(name, raising=False)
    devices.open_v4l2("/dev/video9", capture=FakeCapture([picture(1)])).close()
    assert STALL_S < float(os.environ[name]) <= 2.0
    monkeypatch.setenv(name, "7")
    devices.open_v4l2("/dev/video9", capture=FakeCapture([picture(1)])).close()
    assert os.environ[name] == "7", "who set it knows why"


def test_an_unplugged_webcam_is_lost() -> None:
    capture = FakeCapture([picture(1)])
    camera = devices.open_v4l2("/dev/video9", capture=capture)
    with pytest.raises(CameraUnavailable, match="gives no pictures any more"):
        camera.read()
    assert capture.released.wait(5.0)


def test_a_busy_webcam_and_a_dead_one_are_one_line_each() -> None:
    busy = FakeCapture([], opens=False)
    with pytest.raises(CameraUnavailable, match="busy"):
        devices.open_v4l2("/dev/video9", capture=busy)
    dead = FakeCapture([None] * FAILURES)
    with pytest.raises(CameraUnavailable, match="no pictures"):
        devices.open_v4l2("/dev/video9", capture=dead)
    assert busy.released.is_set()
    assert dead.released.wait(5.0)


def test_only_the_newest_picture_is_kept() -> None:
    shown = [picture(n) for n in range(5)]
    last_was_read = threading.Event()
    end = threading.Event()

    def grab() -> Pixels | None:
        if shown:
            return shown.pop(0)
        last_was_read.set()
        end.wait(5.0)
        return None

    pictures = LatestFrame(grab, end.set)
    assert last_was_read.wait(5.0)
    taken = pictures.take(0.0)
    assert taken is not None
    assert int(taken[0][0, 0, 0]) == 4
    assert pictures.take(0.0) is None
    end.set()
    pictures.close()


def test_a_camera_that_stalls_is_noticed_while_its_driver_still_blocks() -> None:
    clock, end = FakeClock(), threading.Event()

    def grab() -> Pixels | None:
        end.wait(5.0)
        return None

    pictures = LatestFrame(grab, lambda: None, clock=clock)
    clock.sleep(1.3)
    assert not pictures.is_silent
    assert pictures.take(0.0) is None
    clock.sleep(0.2)
    assert pictures.is_silent
    assert STALL_S + 2 * CHECK_S < 2.0
    with pytest.raises(ConnectionError, match=r"no picture for 1\.5 s"):
        pictures.take(0.0)
    end.set()
    pictures.close()


def test_a_driver_that_raises_is_a_lost_camera(caplog: pytest.LogCaptureFixture) -> None:
    def grab() -> Pixels | None:
        raise OSError("bus fault")

    released = threading.Event()
    pictures = LatestFrame(grab, released.set)
    with pytest.raises(ConnectionError, match="bus fault"):
        pictures.take(5.0)
    assert released.wait(5.0)
    assert "the camera failed" in caplog.text


@pytest.mark.parametrize(
    ("whole", "device", "can"),
    [(0x84000001, 0x04000001, True), (0x84A00001, 0x04A00000, False), (0x00000001, 0, True)],
    ids=["a webcam", "its metadata node", "an old driver"],
)
def test_capabilities_of_a_device(whole: int, device: int, can: bool) -> None:
    answer = struct.pack("16s32s32sIII12x", b"uvcvideo", b"HD Cam", b"usb-1", 1, whole, device)
    assert devices.parse_capabilities(answer) == ("uvcvideo", "HD Cam", can)


def test_webcams_are_found_by_id_first_and_codecs_are_not(tmp_path: Path) -> None:
    drivers = {"video0": "uvcvideo", "video1": "", "video10": "bcm2835-codec", "video2": "uvcvideo"}
    for name in drivers:
        (tmp_path / name).touch()
    (tmp_path / "v4l" / "by-id").mkdir(parents=True)
    by_id = tmp_path / "v4l" / "by-id" / "usb-HD_Cam-video-index0"
    by_id.symlink_to(tmp_path / "video2")

    def answer(path: str) -> tuple[str, str, bool]:
        driver = drivers[Path(path).resolve().name]
        return driver, "", bool(driver)

    assert devices.webcam_paths(tmp_path, answer) == [str(by_id), str(tmp_path / "video0")]


def test_a_webcam_keeps_its_by_id_name_whatever_number_it_gets(tmp_path: Path) -> None:
    (tmp_path / "v4l" / "by-id").mkdir(parents=True)
    (tmp_path / "video2").touch()
    by_id = tmp_path / "v4l" / "by-id" / "usb-HD_Cam-video-index0"
    by_id.symlink_to(tmp_path / "video2")
    assert devices.stable_path(str(tmp_path / "video2"), tmp_path) == str(by_id)
    assert devices.stable_path(str(tmp_path / "video7"), tmp_path) == str(tmp_path / "video7")
