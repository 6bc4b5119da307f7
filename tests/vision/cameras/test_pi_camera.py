"""The Pi camera through a stand-in for picamera2, with its channel order and its failures."""

from __future__ import annotations

import sys
import threading
import types

import numpy as np
import pytest

from companion.errors import CameraUnavailable
from vision.cameras import devices
from vision.reading import Pixels
from vision.sources import open_camera


class StandInPicamera2:
    """Delivers what libcamera does: format RGB888 lies blue, green, red in memory."""

    sensors: list[dict[str, object]] = []  # noqa: RUF012 - as in picamera2, shared by all
    sensor_resolution = (4608, 2592)
    raw_size = (0, 0)
    stopped = threading.Event()
    closed = threading.Event()
    is_loose = False
    starts = True
    stops = True

    def __init__(self, number: int) -> None:
        self.number = number

    @classmethod
    def global_camera_info(cls) -> list[dict[str, object]]:
        return cls.sensors

    def create_video_configuration(
        self, main: dict[str, object], raw: dict[str, object], controls: dict[str, object]
    ) -> dict[str, object]:
        return {"main": main, "raw": raw, "controls": controls}

    def configure(self, wanted: dict[str, dict[str, object]]) -> None:
        self.format, self.size = wanted["main"]["format"], wanted["main"]["size"]
        type(self).raw_size = wanted["raw"]["size"]

    def start(self) -> None:
        if not self.starts:
            raise RuntimeError("Camera frontend has timed out!")

    def capture_metadata(self) -> dict[str, object]:
        return {}

    def set_controls(self, wanted: dict[str, object]) -> None: ...

    def wait(self, job: Pixels | None, timeout: float) -> Pixels:
        if job is None:
            raise TimeoutError
        return job

    def capture_array(self, stream: str, wait: bool = True) -> Pixels | None:
        assert not wait, "a sensor that has come loose would be waited for without end"
        if self.is_loose:
            return None
        red = (0, 0, 255) if self.format == "RGB888" else (255, 0, 0)
        width, height = self.size  # type: ignore[misc]
        return np.full((height, width, 3), red, np.uint8)

    def stop(self) -> None:
        self.stopped.set()
        if not self.stops:
            raise RuntimeError("the cable came loose")

    def close(self) -> None:
        self.closed.set()


@pytest.fixture
def picamera2(monkeypatch: pytest.MonkeyPatch) -> type[StandInPicamera2]:
    module = types.ModuleType("picamera2")
    module.Picamera2 = StandInPicamera2  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "picamera2", module)
    monkeypatch.setattr(StandInPicamera2, "sensors", [])
    for name, value in (("is_loose", False), ("starts", True), ("stops", True)):
        monkeypatch.setattr(StandInPicamera2, name, value)
    StandInPicamera2.stopped.clear()
    StandInPicamera2.closed.clear()
    return StandInPicamera2


def test_a_red_die_is_red_through_the_pi_camera(picamera2: type[StandInPicamera2]) -> None:
    usb = {"Num": 0, "Id": "/base/soc/usb@7e980000/1-1", "Model": "HD Cam"}
    picamera2.sensors = [usb, {"Num": 1, "Id": "/base/soc/i2c0mux/imx708@1a", "Model": "imx708"}]
    camera = open_camera("pi", size_wh=(64, 48))
    frame = camera.read()
    assert frame is not None
    assert frame.pixels.shape == (48, 64, 3)
    assert tuple(frame.pixels[0, 0]) == (0, 0, 255)
    assert (camera.kind, camera.description) == ("pi", "Pi camera imx708")
    camera.close()
    assert picamera2.stopped.wait(5.0)


@pytest.mark.parametrize(
    ("size_wh", "mode"), [((640, 480), (2304, 1296)), ((2560, 1440), (4608, 2592))]
)
def test_a_small_picture_shows_all_that_the_sensor_sees(
    picamera2: type[StandInPicamera2], size_wh: tuple[int, int], mode: tuple[int, int]
) -> None:
    picamera2.sensors = [{"Num": 0, "Id": "/base/soc/i2c0mux/imx708@1a", "Model": "imx708"}]
    open_camera("pi", size_wh=size_wh).close()
    assert picamera2.raw_size == mode


def test_a_pi_camera_whose_cable_came_loose_is_lost(picamera2: type[StandInPicamera2]) -> None:
    picamera2.sensors = [{"Num": 0, "Id": "/base/soc/i2c0mux/imx708@1a", "Model": "imx708"}]
    camera = open_camera("pi", size_wh=(64, 48))
    picamera2.is_loose = True

    def read_on() -> None:
        while True:
            camera.read()

    with pytest.raises(CameraUnavailable, match="gives no pictures any more"):
        read_on()
    assert picamera2.stopped.wait(5.0)


def test_no_sensor_and_no_picamera2_are_clear_errors(
    picamera2: type[StandInPicamera2], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not devices.has_pi_camera()
    with pytest.raises(CameraUnavailable, match="no sensor"):
        open_camera("pi")
    monkeypatch.setitem(sys.modules, "picamera2", None)
    assert not devices.has_pi_camera()
    with pytest.raises(CameraUnavailable, match="apt install python3-picamera2"):
        open_camera("pi")


def test_a_pi_camera_that_does_not_start_is_let_go_for_the_next_try(
    picamera2: type[StandInPicamera2],
) -> None:
    picamera2.sensors = [{"Num": 0, "Id": "/base/soc/i2c0mux/imx708@1a", "Model": "imx708"}]
    picamera2.starts = False
    with pytest.raises(CameraUnavailable, match="cannot be started"):
        open_camera("pi", size_wh=(64, 48))
    assert picamera2.closed.is_set()


def test_a_pi_camera_that_does_not_stop_is_closed_all_the_same(
    picamera2: type[StandInPicamera2], caplog: pytest.LogCaptureFixture
) -> None:
    picamera2.sensors = [{"Num": 0, "Id": "/base/soc/i2c0mux/imx708@1a", "Model": "imx708"}]
    picamera2.stops = False
    camera = open_camera("pi", size_wh=(64, 48))
    camera.close()
    assert picamera2.closed.wait(5.0)
    assert "could not be released" in caplog.text
