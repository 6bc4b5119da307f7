"""A camera that is not there when the table starts."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from companion.app import App, build
from companion.config import Config
from companion.errors import CameraUnavailable
from companion.service import board
from companion.tray import CameraState
from tests.vision.tray_fakes import picture
from vision.calibration.calibration import Calibration, save_calibration
from vision.cameras import devices
from vision.reading import Pixels
from vision.tracking import camera_loop

PATIENCE_S = 20.0


class Endless:
    """OpenCV's capture of a webcam that delivers a picture every 50 ms."""

    def __call__(self, *_: object) -> Endless:
        return self

    def isOpened(self) -> bool:
        return True

    def set(self, what: int, value: float) -> bool:
        return True

    def get(self, what: int) -> float:
        return -1.0

    def read(self) -> tuple[bool, Pixels]:
        time.sleep(0.05)
        return True, picture()

    def release(self) -> None:
        pass


@pytest.fixture
def plug_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """A Raspberry Pi without a camera, and what plugs one in."""
    model = tmp_path / "model"
    model.write_bytes(b"Raspberry Pi 5 Model B Rev 1.0\0")
    monkeypatch.setattr(board, "MODEL_FILE", model)
    monkeypatch.setattr(devices, "has_pi_camera", lambda: False)
    monkeypatch.setattr(devices, "webcam_paths", lambda: [])
    opening = functools.partial(devices.open_v4l2, capture=Endless())
    monkeypatch.setattr(devices, "open_v4l2", opening)
    return lambda: monkeypatch.setattr(devices, "webcam_paths", lambda: ["/dev/video9"])


def table(directory: Path, source: str) -> App:
    config = Config(data_dir=directory / "data")
    config = replace(
        config,
        camera=replace(config.camera, source=source),
        panel=replace(config.panel, factory="none"),
        web=replace(config.web, host="127.0.0.1", port=0),
        sound=replace(config.sound, enabled=False),
    )
    return build(config)


def until_seen(app: App) -> CameraState:
    assert app.live is not None
    give_up_s = time.monotonic() + PATIENCE_S
    while app.session.view().faults and time.monotonic() < give_up_s:
        app.session.wait(app.session.view().version, 0.05)
    return app.live.view.camera


def test_auto_on_a_pi_takes_the_camera_that_is_plugged_in_later(
    tmp_path: Path, plug_in: Callable[[], None]
) -> None:
    app = table(tmp_path, "auto")
    try:
        assert "camera: no camera found; the table waits for it" in app.notes
        assert app.simulator is None
        assert app.live is not None
        assert app.live.view.camera is CameraState.LOST
        assert [part for part, _ in app.session.view().faults] == ["camera"]
        plug_in()
        assert until_seen(app) is CameraState.OK
    finally:
        app.close()


@pytest.mark.usefixtures("plug_in")
def test_a_pi_gets_the_simulated_tray_when_it_is_asked_for(tmp_path: Path) -> None:
    app = table(tmp_path, "simulated")
    assert app.simulator is not None
    app.close()


def test_a_service_waits_for_its_named_camera(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(CameraUnavailable, match="there is none"):
        table(tmp_path, "/dev/video97")
    monkeypatch.setenv("NOTIFY_SOCKET", "/run/systemd/notify")
    with pytest.raises(CameraUnavailable, match="no such file"):
        table(tmp_path, "evening.avi")
    app = table(tmp_path, "/dev/video97")
    try:
        expected = "camera: '/dev/video97': expected a video device, there is none"
        assert f"{expected}; the table waits for it" in app.notes
        monkeypatch.setattr(
            devices, "open_v4l2", functools.partial(devices.open_v4l2, capture=Endless())
        )
        assert until_seen(app) is CameraState.OK
    finally:
        app.close()


def test_a_camera_thread_that_hangs_is_no_sign_of_life(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(camera_loop, "LONGEST_TURN_S", 0.5)
    app = table(tmp_path, "simulated")
    hangs, goes_on = threading.Event(), threading.Event()

    def hang() -> None:
        hangs.set()
        goes_on.wait(PATIENCE_S)

    try:
        assert app.live is not None
        is_alive = app.signs_of_life()["camera"]
        give_up_s = time.monotonic() + PATIENCE_S

        def wait_for(expected: bool) -> None:
            while is_alive() is not expected:
                assert time.monotonic() < give_up_s
                time.sleep(0.02)

        wait_for(True)  # the first picture may take a while
        app.live.call_soon(hang)
        assert hangs.wait(PATIENCE_S)
        wait_for(False)
        goes_on.set()
        wait_for(True)
    finally:
        goes_on.set()
        app.close()
    assert not is_alive()


def test_the_table_starts_with_the_exposure_of_its_set_up(
    tmp_path: Path,
    plug_in: Callable[[], None],
) -> None:
    kept = Calibration((640, 480), camera={"exposure": 157.0})
    save_calibration(tmp_path / "data" / "tray.toml", kept)
    plug_in()
    app = table(tmp_path, "auto")
    try:
        assert app.live is not None
        until_seen(app)
        assert app.live.controls == {"exposure": 157.0}
    finally:
        app.close()
