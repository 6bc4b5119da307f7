"""Exposure, gain and white balance of real cameras: let go, hold, read back."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

import cv2

from vision.cameras.metering import Metering, Order, give_up, meter
from vision.reading import Pixels

LOGGER = logging.getLogger(__name__)

V4L2_MANUAL, V4L2_AUTOMATIC = 1.0, 3.0
"""V4L2_EXPOSURE_MANUAL and _APERTURE_PRIORITY of the kernel's v4l2-controls.h, which OpenCV's V4L2
backend passes on as they are."""

USABLE = (25.0, 225.0)
"""Mean brightness, 0 to 255, of pictures that calibrated values still serve (own choice)."""
_PI_EXPOSURE = "exposure_us"
"""Only the Pi camera's values have it: they mean nothing to a webcam, nor a webcam's to it."""
_V4L2 = {
    "exposure": cv2.CAP_PROP_EXPOSURE,
    "gain": cv2.CAP_PROP_GAIN,
    "white_balance_k": cv2.CAP_PROP_WB_TEMPERATURE,
}


class Controls(Protocol):
    """What a camera's values are held with. Used by the thread that grabs its pictures."""

    def hold(self, values: Mapping[str, float] | None) -> dict[str, float]:
        """Hold these values, or those the camera has found by itself; give what is held.

        Nothing is given where the camera has no such controls.
        """

    def adjust(self, values: Mapping[str, float], ratio: float) -> dict[str, float]:
        """Expose `ratio` times as long; give what is held now."""

    def release(self) -> None:
        """Let the camera adjust itself."""


class V4l2Controls:
    """A webcam's controls through OpenCV; times are in the driver's units of 0.1 ms."""

    def __init__(self, device: Any) -> None:
        self._device = device

    def hold(self, values: Mapping[str, float] | None) -> dict[str, float]:
        """Hold values; a control the camera has not is left out."""
        if values is not None and _PI_EXPOSURE in values:
            return {}
        wanted = dict(values) if values is not None else self._found()
        # Automatic first, then manual: some cameras take the mode only when it changes.
        self._device.set(cv2.CAP_PROP_AUTO_EXPOSURE, V4L2_AUTOMATIC)
        self._device.set(cv2.CAP_PROP_AUTO_EXPOSURE, V4L2_MANUAL)
        self._device.set(cv2.CAP_PROP_AUTO_WB, 0.0)
        return {name: value for name, value in wanted.items() if self._set(name, value)}

    def adjust(self, values: Mapping[str, float], ratio: float) -> dict[str, float]:
        """Change the exposure, which is the one control every webcam has."""
        held = dict(values)
        if "exposure" in held:
            held["exposure"] = max(1.0, round(held["exposure"] * ratio))
            self._set("exposure", held["exposure"])
        return held

    def release(self) -> None:
        """Back to the camera's own control."""
        self._device.set(cv2.CAP_PROP_AUTO_EXPOSURE, V4L2_AUTOMATIC)
        self._device.set(cv2.CAP_PROP_AUTO_WB, 1.0)

    def _found(self) -> dict[str, float]:
        found = {name: float(self._device.get(number)) for name, number in _V4L2.items()}
        return {name: value for name, value in found.items() if value > 0.0}

    def _set(self, name: str, value: float) -> bool:
        return name in _V4L2 and bool(self._device.set(_V4L2[name], float(value)))


class PiControls:
    """The Pi camera's controls through picamera2."""

    def __init__(self, device: Any) -> None:
        self._device = device

    def hold(self, values: Mapping[str, float] | None) -> dict[str, float]:
        """Hold values; those found by itself are in the metadata of its newest picture."""
        if values is not None and _PI_EXPOSURE not in values:
            return {}
        held = dict(values) if values is not None else self._found()
        self._set(held)
        return held

    def adjust(self, values: Mapping[str, float], ratio: float) -> dict[str, float]:
        """Change the exposure time."""
        held = dict(values)
        if "exposure_us" in held:
            held["exposure_us"] = max(1.0, round(held["exposure_us"] * ratio))
        self._set(held)
        return held

    def release(self) -> None:
        """Back to automatic exposure and white balance."""
        self._device.set_controls({"AeEnable": True, "AwbEnable": True})

    def _found(self) -> dict[str, float]:
        seen = self._device.capture_metadata()
        red, blue = seen.get("ColourGains", (0.0, 0.0))
        found = {
            "exposure_us": float(seen.get("ExposureTime", 0)),
            "gain": float(seen.get("AnalogueGain", 0.0)),
            "red_gain": float(red),
            "blue_gain": float(blue),
        }
        return {name: value for name, value in found.items() if value > 0.0}

    def _set(self, held: Mapping[str, float]) -> None:
        wanted: dict[str, object] = {"AeEnable": False, "AwbEnable": False}
        if "exposure_us" in held:
            wanted["ExposureTime"] = int(held["exposure_us"])
        if "gain" in held:
            wanted["AnalogueGain"] = held["gain"]
        if "red_gain" in held and "blue_gain" in held:
            wanted["ColourGains"] = (held["red_gain"], held["blue_gain"])
        self._device.set_controls(wanted)


class LightMeter:
    """Watches a camera's pictures and holds its controls once they are steady.

    Attributes:
        held: What the controls are held at; empty while the camera adjusts itself. Replaced
            whole, so any thread may read it.
    """

    def __init__(
        self,
        controls: Controls,
        *,
        clock: Callable[[], float],
        wanted: Mapping[str, float] | None = None,
    ) -> None:
        """Begin to watch.

        Args:
            wanted: Values of a calibration to hold from the first picture on, until the light
                changes; not where they are another camera's, or leave the picture dark or white.
        """
        self._controls = controls
        self._clock = clock
        self._wanted = dict(wanted) if wanted else None
        self._is_new = True
        self._is_calibrated = False
        self._metering = Metering()
        self.held: Mapping[str, float] = {}

    def take(self, pixels: Pixels) -> None:
        """Look at a picture, on the thread that grabbed it; never raises."""
        try:
            self._take(pixels)
        except Exception as error:  # each driver raises a class of its own
            LOGGER.warning("the camera's exposure cannot be held: %s", error)
            self._metering = give_up(self._metering)
            self.held = {}

    def _take(self, pixels: Pixels) -> None:
        if self._is_new:
            self._is_new = False
            self._begin()
            if self._is_calibrated:
                return
        level = float(pixels[::16, ::16].mean())
        self._metering, order = meter(self._metering, self._clock(), level)
        if order is Order.HOLD and self._is_calibrated and not USABLE[0] < level < USABLE[1]:
            self._metering, self._is_calibrated, order = Metering(), False, Order.RELEASE
        if order is not None:
            with without_warnings():
                self._do(order)

    def _begin(self) -> None:
        """Hold what a calibration wants; else let the camera adjust itself, as it may have been
        left as it was held before."""
        with without_warnings():
            self.held = self._controls.hold(self._wanted) if self._wanted is not None else {}
            self._is_calibrated = bool(self.held)
            if not self.held:
                self._controls.release()

    def _do(self, order: Order) -> None:
        match order:
            case Order.HOLD:
                self.held = self._controls.hold(None)
                if not self.held:
                    self._controls.release()
                    self._metering = give_up(self._metering)
            case Order.ADJUST:
                self.held = self._controls.adjust(self.held, self._metering.ratio)
            case Order.RELEASE:
                self._controls.release()
                self.held = {}


@contextmanager
def without_warnings() -> Iterator[None]:
    """Keep OpenCV from writing its own lines about a device that the caller reports on."""
    logging = getattr(cv2.utils, "logging", None)
    if logging is None:
        yield
        return
    before = logging.getLogLevel()
    logging.setLogLevel(logging.LOG_LEVEL_ERROR)
    try:
        yield
    finally:
        logging.setLogLevel(before)
