"""Exposure, gain and white balance of real cameras: measured, then held.

A camera that adjusts itself changes the colours of the dice whenever a hand comes in. So it may
adjust itself only until its picture is steady; then its values are held. Some webcams report one
exposure and use another (https://github.com/opencv/opencv/pull/5516: two Logitech models return
their default), so the picture is compared before and after, and the exposure corrected. Only
after the room's light has changed for good is everything measured again.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any, Protocol

import cv2

from companion.errors import CameraUnavailable
from vision.cameras.camera import Camera
from vision.reading import Frame, Pixels

LOGGER = logging.getLogger(__name__)

V4L2_MANUAL, V4L2_AUTOMATIC = 1.0, 3.0
"""V4L2_EXPOSURE_MANUAL and _APERTURE_PRIORITY of the kernel's v4l2-controls.h, which OpenCV's V4L2
backend passes on as they are."""

USABLE = (25.0, 225.0)
"""Range of mean brightness, 0 to 255, in which calibrated values are still used."""
_PI_EXPOSURE = "exposure_us"
"""Key that only the Pi camera's values have; webcams cannot use them, nor the Pi camera theirs."""
_V4L2 = {
    "exposure": cv2.CAP_PROP_EXPOSURE,
    "gain": cv2.CAP_PROP_GAIN,
    "white_balance_k": cv2.CAP_PROP_WB_TEMPERATURE,
}


class Controls(Protocol):
    """Holds a camera's values; used by the thread that grabs its pictures."""

    def hold(self, values: Mapping[str, float] | None) -> dict[str, float]:
        """Hold these values, or those the camera has found by itself, and return what is held.

        The result is empty for a camera without such controls.
        """

    def adjust(self, values: Mapping[str, float], ratio: float) -> dict[str, float]:
        """Expose `ratio` times as long, and return what is held now."""

    def release(self) -> None:
        """Let the camera adjust itself."""


class V4l2Controls:
    """A webcam's controls through OpenCV; times are in the driver's units of 0.1 ms."""

    def __init__(self, device: Any) -> None:
        self._device = device

    def hold(self, values: Mapping[str, float] | None) -> dict[str, float]:
        """Hold values; controls that the camera does not have are skipped."""
        if values is not None and _PI_EXPOSURE in values:
            return {}
        wanted = dict(values) if values is not None else self._found()
        # Automatic first, then manual: some cameras take the mode only when it changes.
        self._device.set(cv2.CAP_PROP_AUTO_EXPOSURE, V4L2_AUTOMATIC)
        self._device.set(cv2.CAP_PROP_AUTO_EXPOSURE, V4L2_MANUAL)
        self._device.set(cv2.CAP_PROP_AUTO_WB, 0.0)
        return {name: value for name, value in wanted.items() if self._set(name, value)}

    def adjust(self, values: Mapping[str, float], ratio: float) -> dict[str, float]:
        """Change the exposure, the one control that every webcam has."""
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
        """Hold values; the camera's own are in the metadata of its newest picture."""
        if values is not None and _PI_EXPOSURE not in values:
            return {}
        held = dict(values) if values is not None else self._found()
        self._set(held)
        return held

    def adjust(self, values: Mapping[str, float], ratio: float) -> dict[str, float]:
        """Change the exposure time."""
        held = dict(values)
        if _PI_EXPOSURE in held:
            held[_PI_EXPOSURE] = max(1.0, round(held[_PI_EXPOSURE] * ratio))
        self._set(held)
        return held

    def release(self) -> None:
        """Back to automatic exposure and white balance."""
        self._device.set_controls({"AeEnable": True, "AwbEnable": True})

    def _found(self) -> dict[str, float]:
        seen = self._device.capture_metadata()
        red, blue = seen.get("ColourGains", (0.0, 0.0))
        found = {
            _PI_EXPOSURE: float(seen.get("ExposureTime", 0)),
            "gain": float(seen.get("AnalogueGain", 0.0)),
            "red_gain": float(red),
            "blue_gain": float(blue),
        }
        return {name: value for name, value in found.items() if value > 0.0}

    def _set(self, held: Mapping[str, float]) -> None:
        wanted: dict[str, object] = {"AeEnable": False, "AwbEnable": False}
        if _PI_EXPOSURE in held:
            wanted["ExposureTime"] = int(held[_PI_EXPOSURE])
        if "gain" in held:
            wanted["AnalogueGain"] = held["gain"]
        if "red_gain" in held and "blue_gain" in held:
            wanted["ColourGains"] = (held["red_gain"], held["blue_gain"])
        self._device.set_controls(wanted)


_FINDS_EXPOSURE_S = 2.0
"""Seconds a device may take to find its exposure for a single picture (chosen)."""
_SILENT_READS = 20
"""Reads without a picture, of half a second each, after which a camera sends none (chosen)."""

WARM_UP_S = 1.0
"""Seconds after which a webcam's own control has settled under even light."""
LONGEST_WARM_UP_S = 4.0
"""Seconds after which the values are held although the light flickers."""
STEADY = 0.03
"""Share by which the mean brightness of a steady picture varies over STEADY_FOR_S at most."""
STEADY_FOR_S = 0.5
TAKES_EFFECT_S = 0.5
"""Seconds from setting a value to the pictures made with it."""
NEAR = 0.15
"""Largest relative difference in brightness between a held picture and the one before."""
TRIES = 5
RELIT = 1.6
"""Factor by which the brightness at rest changes if the room's light has changed."""
RELIT_FOR_S = 3.0
"""Seconds the brightness must differ; a hand that takes the dice out is gone sooner."""


class Order(Enum):
    """Next action on the camera's controls."""

    HOLD = "hold"
    ADJUST = "adjust"
    RELEASE = "release"


class Stage(Enum):
    """Stage of the metering."""

    WARMING = "warming"
    CHECKING = "checking"
    HELD = "held"
    AUTOMATIC = "automatic"


@dataclass(frozen=True, slots=True)
class Metering:
    """State kept between two pictures.

    Attributes:
        since_s: When the stage began.
        levels: Mean brightness with its time, the last half second of them.
        target: Mean brightness before the values were held.
        tries: Number of corrections of the exposure.
        ratio: With ADJUST, factor by which the exposure changes.
        relit_s: Time since when the brightness differs.
    """

    stage: Stage = Stage.WARMING
    since_s: float | None = None
    levels: tuple[tuple[float, float], ...] = ()
    target: float = 0.0
    tries: int = 0
    ratio: float = 1.0
    relit_s: float | None = None


def meter(metering: Metering, at_s: float, level: float) -> tuple[Metering, Order | None]:
    """Take the mean brightness, 0 to 255, of the picture captured at `at_s`."""
    began_s = at_s if metering.since_s is None else metering.since_s
    recent = tuple(seen for seen in metering.levels if seen[0] > at_s - STEADY_FOR_S)
    metering = replace(metering, since_s=began_s, levels=(*recent, (at_s, level)))
    passed_s = at_s - began_s
    match metering.stage:
        case Stage.WARMING:
            if passed_s < WARM_UP_S or not (_is_steady(metering) or passed_s >= LONGEST_WARM_UP_S):
                return metering, None
            return Metering(Stage.CHECKING, at_s, target=level), Order.HOLD
        case Stage.CHECKING:
            return _check(metering, at_s, level) if passed_s >= TAKES_EFFECT_S else (metering, None)
        case Stage.HELD:
            return _watch(metering, at_s, level)
    return metering, None


def give_up(metering: Metering) -> Metering:
    """Leave a camera automatic that cannot hold its values."""
    return replace(metering, stage=Stage.AUTOMATIC)


def _check(metering: Metering, at_s: float, level: float) -> tuple[Metering, Order | None]:
    ratio = max(metering.target, 1.0) / max(level, 1.0)
    if 1.0 - NEAR <= ratio <= 1.0 + NEAR:
        return Metering(Stage.HELD, at_s, target=level), None
    if metering.tries >= TRIES:
        return give_up(metering), Order.RELEASE
    ratio = min(4.0, max(0.25, ratio))
    return (
        replace(metering, since_s=at_s, levels=(), tries=metering.tries + 1, ratio=ratio),
        Order.ADJUST,
    )


def _watch(metering: Metering, at_s: float, level: float) -> tuple[Metering, Order | None]:
    ratio = max(level, 1.0) / max(metering.target, 1.0)
    if 1.0 / RELIT < ratio < RELIT:
        return replace(metering, relit_s=None), None
    if metering.relit_s is None:
        return replace(metering, relit_s=at_s), None
    if at_s - metering.relit_s < RELIT_FOR_S:
        return metering, None
    return Metering(Stage.WARMING, at_s), Order.RELEASE


def _is_steady(metering: Metering) -> bool:
    values = [level for _, level in metering.levels]
    return len(values) > 2 and max(values) - min(values) <= STEADY * max(max(values), 1.0)


class LightMeter:
    """Watches a camera's pictures and holds its controls once they are steady."""

    def __init__(
        self,
        controls: Controls,
        *,
        clock: Callable[[], float],
        wanted: Mapping[str, float] | None = None,
    ) -> None:
        """Begin to watch.

        Args:
            wanted: Calibrated values to hold from the first picture until the light changes.
                Values of another kind of camera, or ones that leave the picture dark or white,
                are not used.
        """
        self._controls = controls
        self._clock = clock
        self._wanted = dict(wanted) if wanted else None
        self._is_new = True
        self._is_calibrated = False
        self._metering = Metering()
        self._held: Mapping[str, float] = {}

    @property
    def held(self) -> Mapping[str, float] | None:
        """Held values; empty if the camera cannot hold any, None while they are measured.

        Any thread may read it.
        """
        is_measuring = self._metering.stage in (Stage.WARMING, Stage.CHECKING)
        return None if is_measuring and not self._is_calibrated else self._held

    def take(self, pixels: Pixels) -> None:
        """Measure a picture, on the thread that grabbed it; never raises."""
        try:
            self._take(pixels)
        except Exception as error:  # each driver raises a class of its own
            LOGGER.warning("the camera's exposure cannot be held: %s", error)
            self._metering = give_up(self._metering)
            self._held = {}

    def _take(self, pixels: Pixels) -> None:
        if self._is_new:
            self._is_new = False
            self._begin()
            if self._is_calibrated:
                return
        level = float(pixels[::16, ::16].mean())
        self._metering, order = meter(self._metering, self._clock(), level)
        if order is Order.HOLD and self._is_calibrated and not USABLE[0] < level < USABLE[1]:
            self._metering, order = Metering(), Order.RELEASE
        if order is not None:
            with without_warnings():
                self._do(order)

    def _begin(self) -> None:
        """Hold calibrated values; otherwise let the camera adjust itself, because it may still hold
        values of an earlier run."""
        with without_warnings():
            self._held = self._controls.hold(self._wanted) if self._wanted is not None else {}
            self._is_calibrated = bool(self._held)
            if not self._held:
                self._controls.release()

    def _do(self, order: Order) -> None:
        match order:
            case Order.HOLD:
                self._held = self._controls.hold(self._held or None)
                if not self._held:
                    self._controls.release()
                    self._metering = give_up(self._metering)
            case Order.ADJUST:
                self._held = self._controls.adjust(self._held, self._metering.ratio)
            case Order.RELEASE:
                self._controls.release()
                self._held, self._is_calibrated = {}, False


@contextmanager
def without_warnings() -> Iterator[None]:
    """Suppress OpenCV's own messages about a source; the caller reports on it."""
    log = getattr(cv2.utils, "logging", cv2)  # OpenCV 4.6 has it in cv2 itself
    before = log.getLogLevel()
    log.setLogLevel(1)  # LOG_LEVEL_FATAL; OpenCV 4.6 has no name for it
    try:
        yield
    finally:
        log.setLogLevel(before)


def exposed_frame(camera: Camera) -> Frame:
    """Take one picture of an opened camera; a device gets time to find its exposure first.

    Raises:
        CameraUnavailable: It is lost, or sends none.
    """
    began_s: float | None = None
    silent = 0
    while silent < _SILENT_READS:
        frame = camera.read()
        if frame is None:
            silent += 1
            continue
        began_s = frame.captured_at_s if began_s is None else began_s
        if not camera.kind.is_device or frame.captured_at_s - began_s >= _FINDS_EXPOSURE_S:
            return frame
    raise CameraUnavailable(f"camera {camera.source!r}: sends no picture")
