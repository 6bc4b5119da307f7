"""Opens a camera by the name people give it."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

from companion.errors import CameraUnavailable, ConfigError
from vision.cameras import devices
from vision.cameras.camera import Camera
from vision.cameras.pace import Clock, Sleep
from vision.cameras.recorded import FolderCamera, VideoCamera
from vision.images import PICTURE_SUFFIXES
from vision.simulation.camera import SimulatedTray

LOGGER = logging.getLogger(__name__)


def open_camera(
    source: str,
    *,
    seed: int | None = None,
    size_wh: tuple[int, int] = (640, 480),
    fps: float = 15.0,
    controls: Mapping[str, float] | None = None,
    or_simulated: bool = True,
    patience_s: float = devices.FIRST_PICTURE_S,
    clock: Clock = time.monotonic,
    sleep: Sleep = time.sleep,
) -> Camera:
    """Open a camera by the name people give it.

    Args:
        source: auto, pi, simulated, a V4L2 device (`0`, `/dev/video0`), a video file, a folder
            of pictures or a single picture.
        seed: Makes the simulated tray's throws repeatable.
        size_wh, fps: Requested from devices. A folder uses `fps`, and so does a video file that
            names no rate; the simulated tray is drawn at most 640 x 480.
        controls: Exposure, gain and white balance to hold, as `Camera.controls` returned them;
            when unset, they are measured and then held.
        or_simulated: Whether auto without a camera is the simulated tray, not an error.
        patience_s: Seconds to wait for a webcam's first picture.
    Raises:
        CameraUnavailable: The camera cannot be opened, or `auto` finds none and `or_simulated` is
            false; the text is one clear line.
        ConfigError: `source` is empty, or `none`, which is no camera.
    """
    if source in ("", "none"):
        raise ConfigError(f"camera: expected a source, got {source!r}")
    open_pi = partial(devices.open_pi, size_wh=size_wh, fps=fps, controls=controls, clock=clock)
    open_v4l2 = partial(
        devices.open_v4l2,
        size_wh=size_wh,
        fps=fps,
        controls=controls,
        clock=clock,
        patience_s=patience_s,
    )
    # The tray fills a 4:3 picture; drawing a larger one would take longer than one frame lasts.
    width = max(160, min(size_wh[0], size_wh[1] * 4 // 3, 640))
    drawn_wh = (width, width * 3 // 4)
    simulated = partial(
        SimulatedTray, seed=seed, size_wh=drawn_wh, fps=fps, clock=clock, sleep=sleep
    )
    if source == "auto":
        try:
            return _first_device(open_pi, open_v4l2)
        except CameraUnavailable as error:
            if not or_simulated:
                raise
            tray = simulated()
            tray.description = f"simulated tray ({error})"
            return tray
    if source == "simulated":
        return simulated()
    if source == "pi":
        return open_pi()
    try:
        path = Path(f"/dev/video{source}") if source.isdecimal() else Path(source).expanduser()
    except RuntimeError as error:
        raise CameraUnavailable(f"{source}: {error}") from error
    try:
        if is_device(source) or path.is_char_device():
            return open_v4l2(str(path))
        if path.is_dir() or (path.is_file() and path.suffix.lower() in PICTURE_SUFFIXES):
            return FolderCamera(path, fps=fps, clock=clock, sleep=sleep)
        if path.is_file():
            return VideoCamera(path, fps=fps, clock=clock, sleep=sleep)
        path.stat()  # from Python 3.14 on none of the questions above raises
        found = "it is something else"
    except (FileNotFoundError, NotADirectoryError, ValueError):
        found = "there is no such file"
    except OSError as error:  # of a folder that may not be looked into
        raise CameraUnavailable(f"camera {source!r}: {error.strerror or error}") from error
    raise CameraUnavailable(
        f"camera {source!r}: expected auto, pi, simulated, none, a video device, a video file "
        f"or a folder of pictures, {found}"
    )


def is_device(source: str) -> bool:
    """Whether a source names a device, which may be plugged in later, and no file."""
    return source == "pi" or source.isdecimal() or source.startswith("/dev/")


def _first_device(open_pi: Callable[[], Camera], open_v4l2: Callable[[str], Camera]) -> Camera:
    """Open the first camera that works.

    Raises:
        CameraUnavailable: None does; CameraSilent if one was opened.
    """
    failed: type[CameraUnavailable] = CameraUnavailable
    why = ""
    if devices.has_pi_camera():
        try:
            return open_pi()
        except CameraUnavailable as error:
            LOGGER.warning("%s", error)
    paths = devices.webcam_paths()
    for path in paths:
        try:
            return open_v4l2(path)
        except CameraUnavailable as error:
            LOGGER.warning("%s", error)
            failed = devices.CameraSilent if isinstance(error, devices.CameraSilent) else failed
            why = f": {str(error).removeprefix('camera ')}"
    raise failed(f"none of {len(paths)} cameras works{why}" if paths else "no camera found")
