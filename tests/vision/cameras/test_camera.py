"""Opening cameras by the names people give them; files, folders and videos as cameras."""

from __future__ import annotations

import os
import re
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.errors import CameraUnavailable, ConfigError
from companion.tray import Note, NoteCode
from tests.rights import run_bound
from tests.vision.tray_fakes import FakeClock
from vision.cameras import devices
from vision.cameras.camera import Camera, PictureSequence
from vision.cameras.pace import Pace
from vision.sources import open_camera

OPEN = """
import sys
from vision.sources import CameraUnavailable, open_camera
try:
    open_camera(sys.argv[1])
except CameraUnavailable as error:
    print(error)
"""


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


def test_auto_without_a_camera_is_the_simulated_tray(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(devices, "has_pi_camera", lambda: False)
    monkeypatch.setattr(devices, "webcam_paths", lambda: [])
    camera = opened("auto")
    assert (camera.kind, camera.source) == ("simulated", "simulated")
    assert camera.description == "simulated tray (no camera found)"
    with pytest.raises(CameraUnavailable, match="no camera found"):
        open_camera("auto", or_simulated=False)


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
    assert frame.size_wh == given


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
    assert camera.description == "simulated tray (none of 2 cameras works: '/dev/video4': busy)"


def test_a_device_that_is_no_camera_is_one_line_and_opencv_adds_none(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(CameraUnavailable, match="not a camera"):
        open_camera("/dev/null")
    assert capfd.readouterr() == ("", "")


# -- a folder -------------------------------------------------------------------------------


def test_a_folder_shows_its_pictures_in_turn_and_stays_on_the_last(
    tmp_path: Path,
) -> None:
    for name, level in (("b.png", 80), ("a.jpg", 40), ("c.PNG", 120)):
        write_picture(tmp_path / name, level)
    (tmp_path / "truth.jsonl").write_text("{}\n")
    camera = opened(tmp_path)
    assert (camera.kind, camera.notes) == ("folder", ())
    assert [shade(camera), shade(camera)] == [40, 40]
    assert camera.show_next()
    assert shade(camera) == 80
    assert camera.show_next()
    assert shade(camera) == 120
    assert camera.notes == ()
    assert not camera.show_next()
    assert shade(camera) == 120
    assert camera.notes == (Note(NoteCode.FOLDER_OVER),)
    camera.close()
    camera.close()


def test_files_that_are_no_pictures_are_skipped_and_named(tmp_path: Path) -> None:
    (tmp_path / "1.jpg").write_text("no picture")
    write_picture(tmp_path / "2.png", 80)
    write_picture(tmp_path / "3.jpg", 10)
    whole = (tmp_path / "3.jpg").read_bytes()
    (tmp_path / "3.jpg").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "4.png").mkdir()
    write_picture(tmp_path / "5.png", 50, (8, 8))
    camera = opened(tmp_path)
    assert shade(camera) == 80
    assert camera.notes == (Note(NoteCode.SKIPPED, ("1.jpg",)),)
    assert camera.show_next()
    assert shade(camera) == 50
    assert camera.notes == (Note(NoteCode.SKIPPED, ("1.jpg", "3.jpg", "4.png")),)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (None, "JPEG or PNG pictures, found none"),
        ("notes.txt", "JPEG or PNG pictures, found none"),
        ("sharp.bmp", "JPEG or PNG pictures, found none"),
        ("broken.jpg", "pictures, none of 1 decodes"),
    ],
)
def test_a_folder_without_pictures_is_an_error(tmp_path: Path, name: str | None, said: str) -> None:
    if name == "sharp.bmp":
        write_picture(tmp_path / name, 70)
    elif name:
        (tmp_path / name).write_text("no picture")
    with pytest.raises(CameraUnavailable, match=f"expected {said}"):
        opened(tmp_path)


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("locked.jpg", "none of 1 decodes: .*: Permission denied"),
        ("locked.mp4", "Permission denied"),
        ("pipe", "it is something else"),
    ],
)
def test_a_source_that_cannot_be_opened_says_why(tmp_path: Path, name: str, said: str) -> None:
    path = tmp_path / name
    if name == "pipe":
        os.mkfifo(path)
    else:
        path.touch(mode=0o000)
    assert re.search(said, run_bound(OPEN, path))


def test_a_single_picture_is_a_folder_of_one(tmp_path: Path) -> None:
    write_picture(tmp_path / "one.png", 70)
    camera = opened(tmp_path / "one.png")
    assert (camera.kind, shade(camera), camera.show_next()) == ("folder", 70, False)


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
    assert camera.notes == (Note(NoteCode.VIDEO_OVER),)
    assert not isinstance(camera, PictureSequence)
    camera.close()
    camera.close()


@pytest.mark.parametrize(
    ("name", "data"),
    [("a.avi", b"no video " * 100), ("a.mp4", b"no video"), ("a.dat", b"\xff\xfe\x00bad")],
)
def test_a_file_that_is_no_video_is_one_error(
    tmp_path: Path, name: str, data: bytes, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(CameraUnavailable, match="cannot play"):
        opened(tmp_path / name)
    assert capfd.readouterr() == ("", "")


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
