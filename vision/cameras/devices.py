"""Real cameras: V4L2 devices through OpenCV, the Pi camera through picamera2."""

from __future__ import annotations

import os
import struct
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import cv2

from companion.errors import CameraUnavailable
from companion.tray import Note
from vision.cameras.camera import CameraKind
from vision.cameras.capture import LatestFrame
from vision.cameras.exposure import LightMeter, PiControls, V4l2Controls, without_warnings
from vision.cameras.pace import Clock
from vision.images import as_pixels
from vision.reading import Frame, Pixels

FIRST_PICTURE_S = 5.0
"""Seconds after opening within which a working webcam delivers its first picture."""

V4L2_WAIT_S = 2
"""Seconds OpenCV waits for a silent webcam's next picture. Its default of ten seconds keeps the
device busy, so that it cannot be reopened. OpenCV reads the variable once, at the first capture:
https://github.com/opencv/opencv/blob/4.x/modules/videoio/src/cap_v4l.cpp (tryIoctl)."""

PI_PICTURE_S = 1.0
"""Seconds after which a Pi camera's picture has failed."""

_MJPG = float(int.from_bytes(b"MJPG", "little"))
"""Motion JPEG as drivers number pixel formats."""

_QUERY_CAPABILITIES = 0x80685600
"""VIDIOC_QUERYCAP of the kernel's videodev2.h; its answer is 104 bytes."""
_HAS_DEVICE_CAPS, _CAN_CAPTURE = 0x80000000, 0x00000001
_NO_ANSWER = ("", "", False)

_NOT_A_WEBCAM = ("bcm2835", "unicam", "rp1", "pisp", "rpi", "rpivid", "cedrus", "hantro")
"""Drivers whose nodes report that they capture, but are codecs or raw sensors (/dev/video10 to 31
on a Pi; picamera2 opens the Pi camera itself)."""


class CameraSilent(CameraUnavailable):
    """A device was opened, but delivers no picture."""


class DeviceCamera:
    """A camera on a device: delivers the newest frame."""

    notes: tuple[Note, ...] = ()

    def __init__(
        self,
        kind: CameraKind,
        source: str,
        description: str,
        pictures: LatestFrame,
        meter: LightMeter,
        patience_s: float = FIRST_PICTURE_S,
    ) -> None:
        """Wait for the first picture, `patience_s` at most.

        Raises:
            CameraSilent: None came.
        """
        self.kind = kind
        self.source = source
        self.description = description
        self._pictures = pictures
        self._meter = meter
        try:
            first = pictures.take(patience_s)
        except ConnectionError as error:
            pictures.close()
            raise CameraSilent(f"camera {source!r}: {error}") from error
        if first is None:
            pictures.close()
            raise CameraSilent(f"camera {source!r}: opened, but no picture came")

    @property
    def controls(self) -> Mapping[str, float] | None:
        """Held exposure, gain and white balance."""
        return self._meter.held

    @property
    def is_silent(self) -> bool:
        """Whether the device has delivered nothing for too long; any thread may read it."""
        return self._pictures.is_silent

    def read(self) -> Frame | None:
        """Return the newest frame, or None when none came within half a second.

        Raises:
            CameraUnavailable: The device is gone or silent.
        """
        try:
            taken = self._pictures.take()
        except ConnectionError as error:
            raise CameraUnavailable(f"camera {self.source!r}: {error}") from error
        return None if taken is None else Frame(*taken)

    def close(self) -> None:
        """Release the device; may be called twice."""
        self._pictures.close()


def open_v4l2(
    path: str,
    *,
    size_wh: tuple[int, int] = (640, 480),
    fps: float = 15.0,
    clock: Clock = time.monotonic,
    controls: Mapping[str, float] | None = None,
    capture: Callable[..., Any] | None = None,
    patience_s: float = FIRST_PICTURE_S,
) -> DeviceCamera:
    """Open a V4L2 device.

    Args:
        path: The device's file; a name under /dev/v4l/by-id stays with one camera.
        controls: Values to hold, as returned by `DeviceCamera.controls`; measured if None.
        capture: Opens the device; OpenCV's VideoCapture unless a test passes another.
        patience_s: Seconds to wait for the first picture.
    Raises:
        CameraUnavailable: The device does not exist, may not be opened, is busy, or (CameraSilent)
            delivers no picture.
    """
    if capture is None and not Path(path).is_char_device():
        raise CameraUnavailable(f"camera {path!r}: expected a video device, there is none")
    if capture is None and not _may_open(path):
        raise CameraUnavailable(f"camera {path!r}: no permission to open it")
    os.environ.setdefault("OPENCV_VIDEOIO_V4L_SELECT_TIMEOUT", str(V4L2_WAIT_S))
    with without_warnings():
        device = (capture or cv2.VideoCapture)(path, cv2.CAP_V4L2)
    if not device.isOpened():
        device.release()
        raise CameraUnavailable(f"camera {path!r}: cannot be opened (busy, or not a camera)")
    # The format comes first: drivers reset size and rate when it changes.
    device.set(cv2.CAP_PROP_FOURCC, _MJPG)
    device.set(cv2.CAP_PROP_FRAME_WIDTH, float(size_wh[0]))
    device.set(cv2.CAP_PROP_FRAME_HEIGHT, float(size_wh[1]))
    device.set(cv2.CAP_PROP_FPS, float(fps))
    device.set(cv2.CAP_PROP_BUFFERSIZE, 1.0)

    meter = LightMeter(V4l2Controls(device), clock=clock, wanted=controls)

    def grab() -> Pixels | None:
        try:
            ok, picture = device.read()
        except cv2.error:  # OpenCV 5 raises it for an empty buffer
            return None
        if not ok or picture is None:
            return None
        pixels = as_pixels(picture)
        meter.take(pixels)
        return pixels

    _, card, _ = capabilities(path) or _NO_ANSWER
    description = f"camera {card or path}"
    pictures = LatestFrame(grab, device.release, clock=clock)
    camera = DeviceCamera(CameraKind.V4L2, path, description, pictures, meter, patience_s)
    camera.source = stable_path(path)  # only now: udev may make the name after the device
    return camera


def open_pi(
    *,
    size_wh: tuple[int, int],
    fps: float,
    clock: Clock,
    controls: Mapping[str, float] | None,
) -> DeviceCamera:
    """Open the Pi camera through picamera2; `controls` as for `open_v4l2`.

    Raises:
        CameraUnavailable: picamera2 is not installed, or there is no sensor.
    """
    try:
        from picamera2 import Picamera2
    except Exception as error:  # a NumPy that does not fit it raises ValueError
        raise CameraUnavailable(
            f"camera 'pi': expected picamera2 (apt install python3-picamera2): {error}"
        ) from error
    sensor = _pi_sensor(Picamera2)
    if sensor is None:
        raise CameraUnavailable("camera 'pi': expected a Pi camera, no sensor answers")
    number, model = sensor
    device: Any = None
    try:
        device = Picamera2(number)
        # Without a mode of the sensor libcamera takes one near the picture's size, and small ones
        # show only the sensor's middle (github.com/raspberrypi/picamera2/issues/558). Half of the
        # sensor in each direction is a mode of every sensor, and shows all of it (issue 450 there).
        whole = device.sensor_resolution
        half = (whole[0] // 2, whole[1] // 2)
        mode = half if size_wh[0] <= half[0] and size_wh[1] <= half[1] else whole
        # picamera2 names formats as libcamera does, from the highest byte: its "RGB888" lies
        # blue, green, red in memory, which is what everybody here expects.
        wanted = device.create_video_configuration(
            main={"size": size_wh, "format": "RGB888"},
            raw={"size": mode},
            controls={"FrameRate": float(fps)},
        )
        device.configure(wanted)
        device.start()
    except Exception as error:
        if device is not None:
            with suppress(Exception):
                device.close()  # else it stays busy, and could never be opened again
        raise CameraUnavailable(f"camera 'pi': cannot be started: {error}") from error

    meter = LightMeter(PiControls(device), clock=clock, wanted=controls)

    def grab() -> Pixels | None:
        # A sensor that has come loose never answers: waiting for it must have an end.
        job = device.capture_array("main", wait=False)
        try:
            pixels = as_pixels(device.wait(job, timeout=PI_PICTURE_S))
        except TimeoutError:
            return None
        meter.take(pixels)
        return pixels

    def release() -> None:
        try:
            device.stop()
        finally:
            device.close()

    pictures = LatestFrame(grab, release, clock=clock)
    return DeviceCamera(CameraKind.PI, "pi", f"Pi camera {model}", pictures, meter)


def has_pi_camera() -> bool:
    """Whether picamera2 is installed and a sensor answers."""
    try:
        from picamera2 import Picamera2

        return _pi_sensor(Picamera2) is not None
    except Exception:
        return False


def capabilities(path: str) -> tuple[str, str, bool] | None:
    """Request driver, card and whether it captures from a device; None if it does not answer."""
    import fcntl

    try:
        handle = os.open(path, os.O_RDWR | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        return parse_capabilities(fcntl.ioctl(handle, _QUERY_CAPABILITIES, bytes(104)))
    except OSError:
        return None
    finally:
        os.close(handle)


Query = Callable[[str], tuple[str, str, bool] | None]
"""Returns driver, card and whether a device captures, as `capabilities` does."""


def webcam_paths(dev: Path = Path("/dev"), query: Query = capabilities) -> list[str]:
    """Devices that may be webcams: by-id names first, then capture nodes by number."""
    found: list[str] = []
    seen: set[Path] = set()
    by_id = sorted((dev / "v4l" / "by-id").glob("*"))
    by_number = sorted(
        dev.glob("video*"), key=lambda p: (not p.name[5:].isdigit(), len(p.name), p.name)
    )
    for path in [*by_id, *by_number]:
        device = path.resolve()
        if device not in seen and can_capture(str(path), query):
            seen.add(device)
            found.append(str(path))
    return found


def closed_paths(dev: Path = Path("/dev")) -> list[str]:
    """Video devices that this user may not open; they may be webcams."""
    return [str(path) for path in sorted(dev.glob("video*")) if not _may_open(str(path))]


def stable_path(path: str, dev: Path = Path("/dev")) -> str:
    """Return the by-id name of a device, which survives unplugging.

    Numbers change at each plugging in. A device without such a name keeps `path`.
    """
    device = Path(path).resolve()
    for link in sorted((dev / "v4l" / "by-id").glob("*")):
        if link.resolve() == device:
            return str(link)
    return path


def can_capture(path: str, query: Query) -> bool:
    """Whether a device delivers pictures and is no codec or raw sensor of the Pi."""
    driver, _, can = query(path) or _NO_ANSWER
    return can and not driver.startswith(_NOT_A_WEBCAM)


def parse_capabilities(answer: bytes) -> tuple[str, str, bool]:
    """Parse driver, card and whether it captures from the answer to VIDIOC_QUERYCAP."""
    driver, card, _, _, whole, device = struct.unpack("16s32s32sIII12x", answer)
    flags = device if whole & _HAS_DEVICE_CAPS else whole
    return _text(driver), _text(card), bool(flags & _CAN_CAPTURE)


def _may_open(path: str) -> bool:
    return os.access(path, os.R_OK | os.W_OK)


def _pi_sensor(picamera2: Any) -> tuple[int, str] | None:
    """Number and model of the first sensor that is no webcam; libcamera lists both."""
    for info in picamera2.global_camera_info():
        if "usb" not in str(info.get("Id", "")).lower():
            return int(info.get("Num", 0)), str(info.get("Model", ""))
    return None


def _text(field: bytes) -> str:
    return field.split(b"\0", 1)[0].decode("utf-8", "replace")
