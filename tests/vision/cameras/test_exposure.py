"""Exposure and colours: held once the picture is steady, put right, measured anew."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
import pytest

from companion.errors import CameraUnavailable
from tests.vision.tray_fakes import FakeClock, ScriptedCamera, picture
from vision.cameras.exposure import (
    V4L2_AUTOMATIC,
    V4L2_MANUAL,
    Controls,
    LightMeter,
    Metering,
    Order,
    PiControls,
    Stage,
    V4l2Controls,
    exposed_frame,
    meter,
)

FPS = 15.0


class Webcam:
    """A webcam of the V4L2 kind: its picture is as bright as exposure times light."""

    def __init__(self, *, says: float | None = None, has: tuple[str, ...] = ("exposure",)) -> None:
        self.light = 1.0
        self.says = says
        self.has = has
        self.is_automatic = True
        self.exposure = 100.0
        self.modes: list[float] = []
        self.white_balance_is_automatic = True

    def set(self, what: int, value: float) -> bool:
        if what == cv2.CAP_PROP_AUTO_EXPOSURE and "exposure" in self.has:
            self.modes.append(value)
            self.is_automatic = value == V4L2_AUTOMATIC
            return True
        if what == cv2.CAP_PROP_EXPOSURE and "exposure" in self.has:
            self.exposure = value
            return True
        if what == cv2.CAP_PROP_AUTO_WB:
            self.white_balance_is_automatic = value > 0
            return True
        return what == cv2.CAP_PROP_WB_TEMPERATURE and "white_balance_k" in self.has

    def get(self, what: int) -> float:
        if what == cv2.CAP_PROP_EXPOSURE and "exposure" in self.has:
            return self.exposure if self.says is None else self.says
        if what == cv2.CAP_PROP_WB_TEMPERATURE and "white_balance_k" in self.has:
            return 4200.0
        return -1.0

    def picture(self) -> np.ndarray:
        if self.is_automatic:
            self.exposure = 100.0 / self.light
        level = min(255.0, self.exposure * self.light)
        return np.full((48, 64, 3), level, np.uint8)


class PiSensor:
    """picamera2's controls, as far as they are used."""

    def __init__(self) -> None:
        self.asked: list[dict[str, object]] = []

    def capture_metadata(self) -> dict[str, object]:
        return {"ExposureTime": 12000, "AnalogueGain": 2.5, "ColourGains": (1.8, 1.4), "Lux": 90.0}

    def set_controls(self, wanted: dict[str, object]) -> None:
        self.asked.append(wanted)


def run(light_meter: LightMeter, camera: Webcam, clock: FakeClock, seconds: float) -> None:
    for _ in range(round(seconds * FPS)):
        clock.sleep(1.0 / FPS)
        light_meter.take(camera.picture())


def metered(camera: Webcam, **more: object) -> tuple[LightMeter, Callable[[float], None]]:
    clock = FakeClock()
    light_meter = LightMeter(V4l2Controls(camera), clock=clock, **more)  # type: ignore[arg-type]
    return light_meter, lambda seconds: run(light_meter, camera, clock, seconds)


def test_a_webcam_is_held_after_its_warm_up() -> None:
    camera = Webcam(has=("exposure", "white_balance_k"))
    light_meter, pass_s = metered(camera)
    pass_s(0.9)
    assert light_meter.held is None
    pass_s(1.0)
    assert light_meter.held == {"exposure": 100.0, "white_balance_k": 4200.0}
    assert camera.modes[-2:] == [V4L2_AUTOMATIC, V4L2_MANUAL]
    assert not camera.white_balance_is_automatic
    camera.light = 1.3  # somebody leans over the lamp: nothing follows it
    pass_s(10.0)
    assert camera.exposure == 100.0


def test_a_webcam_reporting_a_wrong_exposure_is_corrected() -> None:
    camera = Webcam(says=20.0)
    light_meter, pass_s = metered(camera)
    pass_s(1.2)
    assert not camera.is_automatic
    assert light_meter.held is None, "it is not right yet"
    pass_s(4.8)
    assert camera.exposure == pytest.approx(100.0, rel=0.15)
    assert light_meter.held == {"exposure": camera.exposure}


def test_a_webcam_that_cannot_be_put_right_goes_on_by_itself() -> None:
    camera = Webcam(says=20.0)
    camera.set = (  # type: ignore[method-assign]
        lambda what, value, keep=camera.set: keep(
            what, 5.0 if what == cv2.CAP_PROP_EXPOSURE else value
        )
    )
    light_meter, pass_s = metered(camera)
    pass_s(12.0)
    assert light_meter.held == {}
    assert camera.is_automatic
    assert camera.white_balance_is_automatic


def test_a_camera_without_controls_stays_as_it_is() -> None:
    camera = Webcam(has=())
    light_meter, pass_s = metered(camera)
    pass_s(6.0)
    assert light_meter.held == {}
    assert camera.white_balance_is_automatic


def test_switching_on_the_lamp_restarts_metering() -> None:
    camera = Webcam()
    light_meter, pass_s = metered(camera)
    pass_s(3.0)
    camera.light = 2.0
    pass_s(2.5)
    assert light_meter.held == {"exposure": 100.0}, "it may only be a hand"
    pass_s(4.0)
    assert light_meter.held == {"exposure": 50.0}


def test_calibrated_values_are_held_from_the_first_picture_on() -> None:
    camera = Webcam()
    light_meter, pass_s = metered(camera, wanted={"exposure": 80.0, "unknown": 1.0})
    pass_s(0.1)
    assert light_meter.held == {"exposure": 80.0}
    assert not camera.is_automatic
    pass_s(5.0)
    assert light_meter.held == {"exposure": 80.0}


def test_a_webcam_left_in_manual_mode_is_metered_again() -> None:
    camera = Webcam()
    camera.is_automatic, camera.white_balance_is_automatic, camera.exposure = False, False, 366.0
    light_meter, pass_s = metered(camera)
    pass_s(3.0)
    assert light_meter.held == {"exposure": 100.0}
    assert camera.picture().mean() == 100.0


@pytest.mark.parametrize("light", [0.15, 8.0])
def test_calibrated_exposure_yields_when_far_too_dark_or_bright(light: float) -> None:
    camera = Webcam()
    camera.light = light
    _, pass_s = metered(camera, wanted={"exposure": 80.0})
    pass_s(6.0)
    assert camera.picture().mean() == pytest.approx(100.0, abs=2.0)


def test_another_cameras_values_are_not_held() -> None:
    camera = Webcam()
    light_meter, pass_s = metered(camera, wanted={"exposure_us": 12000.0, "gain": 2.5})
    pass_s(0.5)
    assert camera.is_automatic
    pass_s(3.0)
    assert light_meter.held == {"exposure": 100.0}
    sensor = PiSensor()
    assert PiControls(sensor).hold({"exposure": 157.0, "gain": 64.0}) == {}
    assert sensor.asked == []


def test_the_pi_camera_holds_what_it_found() -> None:
    sensor, clock = PiSensor(), FakeClock()
    light_meter = LightMeter(PiControls(sensor), clock=clock)
    for _ in range(40):
        clock.sleep(0.1)
        light_meter.take(np.full((48, 64, 3), 90, np.uint8))
    assert sensor.asked == [
        {"AeEnable": True, "AwbEnable": True},
        {
            "AeEnable": False,
            "AwbEnable": False,
            "ExposureTime": 12000,
            "AnalogueGain": 2.5,
            "ColourGains": (1.8, 1.4),
        },
    ]
    assert light_meter.held == {
        "exposure_us": 12000.0,
        "gain": 2.5,
        "red_gain": 1.8,
        "blue_gain": 1.4,
    }
    controls: Controls = PiControls(sensor)
    assert controls.adjust(light_meter.held, 0.5)["exposure_us"] == 6000.0
    controls.release()
    assert sensor.asked[-1] == {"AeEnable": True, "AwbEnable": True}


def test_a_driver_that_raises_costs_one_line_and_no_picture(
    caplog: pytest.LogCaptureFixture,
) -> None:
    camera = Webcam()
    light_meter, pass_s = metered(camera)

    def fail(what: int) -> float:
        raise OSError("bus fault")

    camera.get = fail  # type: ignore[method-assign]
    pass_s(10.0)
    assert light_meter.held == {}
    assert [r.getMessage() for r in caplog.records] == [
        "the camera's exposure cannot be held: bus fault"
    ]


def test_flickering_light_is_not_waited_for_without_end() -> None:
    state, orders = Metering(), []
    for n in range(100):
        state, order = meter(state, n / FPS, 100.0 + 30.0 * (n % 2))
        orders.append(order)
    assert orders.index(Order.HOLD) == 60
    assert state.stage in (Stage.CHECKING, Stage.HELD, Stage.AUTOMATIC)


def test_what_was_set_up_is_not_replaced_by_what_a_webcam_says() -> None:
    camera = Webcam(says=20.0, has=("exposure", "white_balance_k"))
    kept = {"exposure": 80.0, "white_balance_k": 5000.0}
    light_meter, pass_s = metered(camera, wanted=kept)
    for _ in range(50):
        pass_s(0.1)
        assert camera.exposure == 80.0
    assert light_meter.held == kept


def test_one_picture_of_a_device_waits_for_its_exposure() -> None:
    shades = [40] * 20 + [90] * 30
    taken = exposed_frame(ScriptedCamera(FakeClock(), [picture(each) for each in shades]))
    assert taken.pixels.mean() == 90


def test_a_camera_that_sends_no_picture_is_reported_by_its_name() -> None:
    silent = ScriptedCamera(FakeClock(), [picture(), *[None] * 100])
    with pytest.raises(CameraUnavailable, match="'/dev/video9': sends no picture"):
        exposed_frame(silent)
