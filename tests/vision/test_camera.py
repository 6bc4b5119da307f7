"""Every kind of camera behind the one interface, with real small files and stand-in devices."""

from __future__ import annotations

import struct
import sys
import threading
import types
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.engine.dice import ALL_DICE
from companion.errors import CameraUnavailable, ConfigError
from tests.vision.tray_fakes import FakeClock, picture
from vision import devices
from vision.camera import Camera, open_camera
from vision.newest import FAILURES, NewestPicture
from vision.pace import Pace
from vision.reading import Pixels


def opened(source: str | Path, clock: FakeClock | None = None) -> Camera:
    clock = clock or FakeClock()
    return open_camera(str(source), seed=1, clock=clock, sleep=clock.sleep)


def shade(camera: Camera) -> int:
    frame = camera.read()
    assert frame is not None
    return int(frame.pixels.mean().round())


def write_picture(path: Path, level: int, size_wh: tuple[int, int] = (32, 24)) -> None:
    cv2.imwrite(str(path), np.full((size_wh[1], size_wh[0], 3), level, np.uint8))


# -- names ----------------------------------------------------------------------------------


@pytest.mark.parametrize("source", ["", "none"])
def test_no_camera_is_not_opened(source: str) -> None:
    with pytest.raises(ConfigError):
        open_camera(source)


@pytest.mark.parametrize("source", ["nowhere.avi", "/dev/video97", "97", "/no/such/folder"])
def test_a_named_camera_that_is_not_there_is_one_clear_line(source: str) -> None:
    with pytest.raises(CameraUnavailable) as caught:
        open_camera(source)
    assert "\n" not in str(caught.value)
    assert "97" in str(caught.value) or source in str(caught.value)


def test_auto_without_any_camera_is_the_simulated_tray_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(devices, "has_pi_camera", lambda: False)
    monkeypatch.setattr(devices, "webcam_paths", lambda: [])
    camera = opened("auto")
    assert (camera.kind, camera.source) == ("simulated", "simulated")
    assert camera.description == "simulated tray (no camera found)"


@pytest.mark.parametrize(
    ("asked", "given"),
    [((640, 480), (640, 480)), ((1920, 1080), (640, 480)), ((320, 240), (320, 240))],
)
def test_the_simulated_tray_is_never_drawn_large(
    asked: tuple[int, int], given: tuple[int, int]
) -> None:
    clock = FakeClock()
    camera = open_camera("simulated", size_wh=asked, clock=clock, sleep=clock.sleep)
    frame = camera.read()
    assert frame is not None
    assert (frame.pixels.shape[1], frame.pixels.shape[0]) == given


def test_auto_passes_over_a_camera_that_does_not_work(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def refuse(path: str, **_: object) -> Camera:
        tried.append(path)
        raise CameraUnavailable(f"camera {path!r}: busy")

    monkeypatch.setattr(devices, "has_pi_camera", lambda: False)
    monkeypatch.setattr(devices, "webcam_paths", lambda: ["/dev/video2", "/dev/video4"])
    monkeypatch.setattr(devices, "open_v4l2", refuse)
    camera = opened("auto")
    assert tried == ["/dev/video2", "/dev/video4"]
    assert camera.description == "simulated tray (none of 2 cameras works)"


def test_a_device_that_is_no_camera_is_one_line_and_opencv_adds_none(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(CameraUnavailable, match="not a camera"):
        open_camera("/dev/null")
    assert capfd.readouterr() == ("", "")


# -- a folder -------------------------------------------------------------------------------


def test_a_folder_shows_the_next_picture_after_each_roll_and_stays_on_the_last(
    tmp_path: Path,
) -> None:
    for name, level in (("b.png", 80), ("a.jpg", 40), ("c.PNG", 120)):
        write_picture(tmp_path / name, level)
    (tmp_path / "truth.jsonl").write_text("{}\n")
    camera = opened(tmp_path)
    assert (camera.kind, camera.can_throw, camera.note) == ("folder", False, None)
    assert [shade(camera), shade(camera)] == [40, 40]
    assert camera.confirmed()
    assert shade(camera) == 80
    assert camera.confirmed()
    assert shade(camera) == 120
    assert camera.note is None
    assert not camera.confirmed()
    assert shade(camera) == 120
    assert camera.note == "last picture reached: it stays"
    with pytest.raises(CameraUnavailable, match="cannot throw"):
        camera.throw(ALL_DICE)
    camera.close()
    camera.close()


def test_what_is_no_picture_is_left_out_and_named(tmp_path: Path) -> None:
    (tmp_path / "1.jpg").write_text("no picture")
    write_picture(tmp_path / "2.png", 80)
    write_picture(tmp_path / "3.jpg", 10)
    whole = (tmp_path / "3.jpg").read_bytes()
    (tmp_path / "3.jpg").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "4.png").mkdir()
    write_picture(tmp_path / "5.png", 50, (8, 8))
    camera = opened(tmp_path)
    assert shade(camera) == 80
    assert camera.note == "not a picture, left out: 1.jpg"
    assert camera.confirmed()
    assert shade(camera) == 50
    assert camera.note == "not a picture, left out: 1.jpg, 3.jpg, 4.png"


@pytest.mark.parametrize("name", [None, "notes.txt", "broken.jpg"])
def test_a_folder_without_pictures_is_an_error(tmp_path: Path, name: str | None) -> None:
    if name:
        (tmp_path / name).write_text("no picture")
    with pytest.raises(CameraUnavailable, match="expected pictures"):
        opened(tmp_path)


def test_a_single_picture_is_a_folder_of_one(tmp_path: Path) -> None:
    write_picture(tmp_path / "one.png", 70)
    camera = opened(tmp_path / "one.png")
    assert (camera.kind, shade(camera), camera.confirmed()) == ("folder", 70, False)


# -- a video --------------------------------------------------------------------------------


@pytest.fixture
def video(tmp_path: Path) -> Path:
    path = tmp_path / "throw.avi"
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"MJPG"), 20.0, (64, 48))
    for level in (20, 60, 100, 140):
        writer.write(np.full((48, 64, 3), level, np.uint8))
    writer.release()
    return path


def test_a_video_plays_at_its_own_rate_and_stays_on_its_last_picture(video: Path) -> None:
    clock = FakeClock()
    camera = opened(video, clock)
    frames = [camera.read() for _ in range(6)]
    levels = [int(f.pixels.mean().round()) for f in frames if f]
    assert levels == pytest.approx([20, 60, 100, 140, 140, 140], abs=2)
    times = np.diff([f.captured_at_s for f in frames if f])
    assert times == pytest.approx([0.05] * 5)
    assert camera.kind == "video"
    assert camera.note == "end of the video: its last picture stays"
    assert not camera.confirmed()
    camera.close()
    camera.close()


def test_a_file_that_is_no_video_is_an_error(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "notes.avi").write_text("no video " * 100)
    with pytest.raises(CameraUnavailable, match="cannot play"):
        opened(tmp_path / "notes.avi")
    assert capfd.readouterr().out == ""


# -- devices --------------------------------------------------------------------------------


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


def test_a_webcam_is_asked_for_mjpg_and_a_short_buffer() -> None:
    capture = FakeCapture([picture(n) for n in range(50)])
    camera = devices.open_v4l2("/dev/video9", size_wh=(800, 600), fps=10.0, capture=capture)
    assert capture.arguments == ("/dev/video9", cv2.CAP_V4L2)
    assert capture.settings[cv2.CAP_PROP_FOURCC] == cv2.VideoWriter_fourcc(*"MJPG")
    assert capture.order[0] == cv2.CAP_PROP_FOURCC
    assert capture.settings[cv2.CAP_PROP_FRAME_WIDTH] == 800
    assert capture.settings[cv2.CAP_PROP_BUFFERSIZE] == 1
    assert (camera.kind, camera.source) == ("v4l2", "/dev/video9")
    camera.close()
    camera.close()
    assert capture.released.wait(5.0)


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

    pictures = NewestPicture(grab, end.set)
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

    pictures = NewestPicture(grab, lambda: None, clock=clock)
    clock.sleep(1.3)
    assert pictures.take(0.0) is None
    clock.sleep(0.2)
    with pytest.raises(ConnectionError, match=r"no picture for 1\.5 s"):
        pictures.take(0.0)
    end.set()
    pictures.close()


def test_a_driver_that_raises_is_a_lost_camera(caplog: pytest.LogCaptureFixture) -> None:
    def grab() -> Pixels | None:
        raise OSError("bus fault")

    released = threading.Event()
    pictures = NewestPicture(grab, released.set)
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


def test_webcams_are_found_by_id_first_and_codecs_are_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drivers = {"video0": "uvcvideo", "video1": "", "video10": "bcm2835-codec", "video2": "uvcvideo"}
    for name in drivers:
        (tmp_path / name).touch()
    (tmp_path / "v4l" / "by-id").mkdir(parents=True)
    by_id = tmp_path / "v4l" / "by-id" / "usb-HD_Cam-video-index0"
    by_id.symlink_to(tmp_path / "video2")

    def answer(path: str) -> tuple[str, str, bool]:
        driver = drivers[Path(path).resolve().name]
        return driver, "", bool(driver)

    monkeypatch.setattr(devices, "_capabilities", answer)
    assert devices.webcam_paths(tmp_path) == [str(by_id), str(tmp_path / "video0")]


def test_a_webcam_keeps_its_by_id_name_whatever_number_it_gets(tmp_path: Path) -> None:
    (tmp_path / "v4l" / "by-id").mkdir(parents=True)
    (tmp_path / "video2").touch()
    by_id = tmp_path / "v4l" / "by-id" / "usb-HD_Cam-video-index0"
    by_id.symlink_to(tmp_path / "video2")
    assert devices.stable_path(str(tmp_path / "video2"), tmp_path) == str(by_id)
    assert devices.stable_path(str(tmp_path / "video7"), tmp_path) == str(tmp_path / "video7")


# -- the Pi camera, by a stand-in for picamera2 ---------------------------------------------


class StandInPicamera2:
    """Delivers what libcamera does: format RGB888 lies blue, green, red in memory."""

    sensors: list[dict[str, object]] = []  # noqa: RUF012 - as in picamera2, shared by all
    stopped = threading.Event()
    is_loose = False

    def __init__(self, number: int) -> None:
        self.number = number

    @classmethod
    def global_camera_info(cls) -> list[dict[str, object]]:
        return cls.sensors

    def create_video_configuration(
        self, main: dict[str, object], controls: dict[str, object]
    ) -> dict[str, object]:
        return {"main": main, "controls": controls}

    def configure(self, wanted: dict[str, dict[str, object]]) -> None:
        self.format, self.size = wanted["main"]["format"], wanted["main"]["size"]

    def start(self) -> None: ...

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

    def close(self) -> None: ...


@pytest.fixture
def picamera2(monkeypatch: pytest.MonkeyPatch) -> type[StandInPicamera2]:
    module = types.ModuleType("picamera2")
    module.Picamera2 = StandInPicamera2  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "picamera2", module)
    monkeypatch.setattr(StandInPicamera2, "sensors", [])
    monkeypatch.setattr(StandInPicamera2, "is_loose", False)
    StandInPicamera2.stopped.clear()
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


# -- pace -----------------------------------------------------------------------------------


def test_frames_keep_their_distance_without_bursts() -> None:
    clock = FakeClock()
    pace = Pace(10.0, clock=clock, sleep=clock.sleep)
    times = [pace.wait() for _ in range(3)]
    clock.sleep(0.13)  # a slow reader: the next comes at once, the one after in time again
    times += [pace.wait(), pace.wait()]
    clock.sleep(5.0)  # a very slow one: nothing is made up for
    times += [pace.wait(), pace.wait()]
    steps = np.diff(times)
    assert steps == pytest.approx([0.1, 0.1, 0.13, 0.07, 5.0, 0.1])
