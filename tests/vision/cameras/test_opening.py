"""Which camera is opened, and what it is asked for."""

from __future__ import annotations

import functools
import threading
from typing import Any

import cv2
import pytest

from tests.vision.cameras.test_pi_camera import StandInPicamera2, picamera2  # noqa: F401
from tests.vision.cameras.test_webcam import FakeCapture
from tests.vision.tray_fakes import picture
from vision.cameras import devices
from vision.cameras.capture import FAILURES, LatestFrame
from vision.reading import Pixels
from vision.sources import open_camera


def test_pictures_that_fail_now_and_then_lose_no_camera() -> None:
    script = [step for n in range(2 * FAILURES) for step in (None, picture(n))]
    shown, end = threading.Event(), threading.Event()

    def grab() -> Pixels | None:
        if script:
            return script.pop(0)
        shown.set()
        end.wait(5.0)
        return None

    pictures = LatestFrame(grab, lambda: None)
    try:
        assert shown.wait(2.0)
        assert not pictures.is_silent
    finally:
        end.set()
        pictures.close()


@pytest.mark.parametrize("source", ["/dev/video9", "auto"])
def test_the_exposure_of_the_set_up_is_held_from_the_start(
    source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    capture = FakeCapture([picture(n) for n in range(50)])
    opening = functools.partial(devices.open_v4l2, capture=capture)
    monkeypatch.setattr(devices, "open_v4l2", opening)
    monkeypatch.setattr(devices, "has_pi_camera", lambda: False)
    monkeypatch.setattr(devices, "webcam_paths", lambda: ["/dev/video9"])
    camera = open_camera(source, controls={"exposure": 157.0})
    assert camera.controls == {"exposure": 157.0}
    assert capture.settings[cv2.CAP_PROP_EXPOSURE] == 157.0
    camera.close()


def test_the_pi_camera_holds_the_exposure_of_the_set_up(
    picamera2: type[StandInPicamera2],  # noqa: F811
) -> None:
    picamera2.sensors = [{"Num": 0, "Id": "/base/soc/i2c0mux/imx708@1a", "Model": "imx708"}]
    camera = open_camera("pi", size_wh=(64, 48), controls={"exposure_us": 9000.0})
    assert camera.controls == {"exposure_us": 9000.0}
    camera.close()


def test_a_webcam_is_opened_again_by_the_name_that_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "stable_path", lambda path: f"/dev/v4l/by-id/of-{path[5:]}")
    camera = devices.open_v4l2("/dev/video9", capture=FakeCapture([picture(1)]))
    assert camera.source == "/dev/v4l/by-id/of-video9"
    camera.close()


def test_the_pi_camera_is_asked_for_its_rate(
    picamera2: type[StandInPicamera2],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[object] = []
    configure = picamera2.configure

    def noted(camera: StandInPicamera2, wanted: dict[str, Any]) -> None:
        asked.append(wanted["controls"])
        configure(camera, wanted)

    monkeypatch.setattr(picamera2, "configure", noted)
    picamera2.sensors = [{"Num": 0, "Id": "/base/soc/i2c0mux/imx708@1a", "Model": "imx708"}]
    open_camera("pi", size_wh=(64, 48), fps=10.0).close()
    assert asked == [{"FrameRate": 10.0}]


def test_auto_takes_the_pi_camera_and_a_webcam_where_it_does_not_start(
    picamera2: type[StandInPicamera2],  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    picamera2.sensors = [{"Num": 0, "Id": "/base/soc/i2c0mux/imx708@1a", "Model": "imx708"}]
    monkeypatch.setattr(devices, "webcam_paths", lambda: ["/dev/video9"])
    opening = functools.partial(devices.open_v4l2, capture=FakeCapture([picture(1)]))
    monkeypatch.setattr(devices, "open_v4l2", opening)
    for starts, kind in ((True, "pi"), (False, "v4l2")):
        monkeypatch.setattr(picamera2, "starts", starts)
        camera = open_camera("auto", size_wh=(64, 48))
        camera.close()
        assert camera.kind == kind
