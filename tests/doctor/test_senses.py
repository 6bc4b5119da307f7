"""Camera, light, button and voice: real parts where there are some, faults put in."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from gpiozero.pins.mock import MockFactory

from companion.doctor.finding import Ran, Verdict, run
from companion.doctor.senses import check_button, check_camera, check_voice
from companion.errors import CameraUnavailable, PinsUnavailable
from hardware.button import open_panel
from tests.hardware.pin_fakes import use_factory
from tests.vision.cameras.test_webcam import FakeCapture
from vision.cameras import devices
from vision.sources import open_camera

Look = tuple[str, str, list[tuple[str, str]]]


def raising(error: Exception) -> Callable[[], Look]:
    def look() -> Look:
        raise error

    return look


def none_to_look_at() -> Look:
    raise AssertionError("nobody asked for a camera")


class TestCamera:
    def test_none_is_as_set(self) -> None:
        (finding,) = check_camera("none", none_to_look_at)
        assert finding.verdict is Verdict.OK

    @pytest.mark.parametrize(
        ("error", "cure"),
        [
            ("camera '/dev/video0': cannot be opened (busy, or not a camera)", "close the program"),
            ("camera 'pi': expected a Pi camera, no sensor answers", "ribbon cable"),
            ("camera 'pi': expected picamera2 (apt install python3-picamera2): x", "apt install"),
            ("camera '/dev/video0': no picture for 5.0 s", "plug it in again"),
            ("camera '/dev/video0': no permission to open it", "sudo usermod -aG video $USER"),
            ("camera '/dev/video9': expected a video device, there is none", "--camera none"),
        ],
    )
    def test_the_remedy_fits_the_fault(self, error: str, cure: str) -> None:
        (finding,) = check_camera("auto", raising(CameraUnavailable(error)))
        assert finding.verdict is Verdict.NOTE
        assert cure in finding.cure

    @pytest.mark.parametrize("name", ["nope", "empty", "text.mp4"])
    def test_a_file_that_is_no_camera_is_not_to_be_plugged_in(
        self, tmp_path: Path, name: str
    ) -> None:
        (tmp_path / "empty").mkdir()
        (tmp_path / "text.mp4").write_text("no video")
        source = str(tmp_path / name)

        def look() -> Look:
            camera = open_camera(source)
            return camera.kind, camera.description, []

        (finding,) = check_camera(source, look)
        assert finding.verdict is Verdict.BAD
        assert finding.cure.startswith("name another with --camera")

    @pytest.mark.parametrize(("says", "verdict"), [("ok", Verdict.OK), ("lost", Verdict.NOTE)])
    def test_the_one_of_a_running_table_is_not_accused(self, says: str, verdict: Verdict) -> None:
        busy = CameraUnavailable("camera '/dev/video0': cannot be opened (busy, or not a camera)")
        table = {"camera": says, "button": says}
        for source in ("/dev/video0", "0", "pi", "auto"):
            (finding,) = check_camera(source, raising(busy), table)
            assert (finding.verdict, finding.name) == (verdict, "camera")
            assert finding.text == f"the running table has it, and says: {says}"

        def open_pins() -> list[int]:
            raise PinsUnavailable("lgpio pins: cannot open GPIO17: 'GPIO busy'")

        button = check_button("lgpio", 17, True, open_pins, table=table)
        assert (button.verdict, button.name) == (verdict, "button")

    def test_a_table_without_one_is_no_excuse(self, tmp_path: Path) -> None:
        busy = CameraUnavailable("camera '/dev/video0': cannot be opened (busy, or not a camera)")
        table = {"camera": "simulated", "button": "mock"}
        (finding,) = check_camera("/dev/video0", raising(busy), table)
        assert (finding.verdict, "close the program" in finding.cure) == (Verdict.BAD, True)
        (finding,) = check_camera(str(tmp_path), raising(busy), {"camera": "ok"})
        assert finding.verdict is Verdict.BAD, "a folder is nobody's"

    def test_a_device_that_is_not_there(self) -> None:
        def look() -> Look:
            camera = open_camera("/dev/video63")
            return camera.kind, camera.description, []

        (finding,) = check_camera("/dev/video63", look)
        assert finding.verdict is Verdict.BAD, "it was named: play insists on it"
        assert "there is none" in finding.text

    def test_a_fallback_to_the_simulated_tray_is_worth_a_word(self) -> None:
        def look() -> Look:
            return "simulated", "simulated tray (no camera found)", []

        assert check_camera("auto", look)[0].verdict is Verdict.NOTE
        assert check_camera("simulated", look)[0].verdict is Verdict.OK

    def test_a_camera_that_may_not_be_opened_is_not_to_be_plugged_in(self) -> None:
        said = "simulated tray (no camera found); no permission for /dev/video0"
        (finding,) = check_camera("auto", lambda: ("simulated", said, []))
        assert (finding.verdict, finding.text) == (Verdict.NOTE, said)
        assert "usermod -aG video" in finding.cure

    def test_faults_of_the_picture_are_lines_of_their_own(self) -> None:
        found = check_camera("0", lambda: ("v4l2", "camera X", [("blurred", "turn the lens")]))
        assert [(f.name, f.verdict) for f in found] == [
            ("camera", Verdict.OK),
            ("picture", Verdict.NOTE),
        ]
        assert [f.text for f in check_camera("0", lambda: ("v4l2", "camera X", []))] == [
            "camera X",
            "bright and sharp enough",
        ]


class TestButton:
    def test_not_looked_for_where_there_are_no_pins(self) -> None:
        def open_pins() -> list[int]:
            raise AssertionError("there are no pins to open")

        assert check_button("none", 17, True, open_pins).verdict is Verdict.OK
        assert check_button("auto", 17, False, open_pins).verdict is Verdict.OK

    def test_a_pin_somebody_else_holds(self, monkeypatch: pytest.MonkeyPatch) -> None:
        use_factory(monkeypatch, MockFactory())

        def open_pins() -> list[int]:
            with open_panel("lgpio", 17, lambda *_: None):
                return []

        assert check_button("lgpio", 17, True, open_pins).text == "GPIO17 can be used"
        with open_panel("lgpio", 17, lambda *_: None):
            named = check_button("lgpio", 17, True, open_pins)
            found = check_button("auto", 17, True, open_pins)
        assert "GPIO17" in named.text
        assert named.verdict is Verdict.BAD, "it was named: play insists on it"
        assert found.verdict is Verdict.NOTE

    @pytest.mark.parametrize(
        ("text", "cure"),
        [
            ("lgpio pins: cannot open GPIO17: 'GPIO busy'", "another program holds the pin"),
            ("lgpio pins: cannot open GPIO17: Permission denied", "usermod -aG gpio"),
            ("lgpio pins: cannot open GPIO17: lgpio is not installed", "apt install"),
            ("lgpio pins: cannot open GPIO17: 'can not open gpiochip'", "usermod -aG gpio"),
            ("lgpio pins: cannot open GPIO17: something else", "--pins none"),
        ],
    )
    def test_the_remedy_fits_the_fault(self, text: str, cure: str) -> None:
        def open_pins() -> list[int]:
            raise PinsUnavailable(text)

        assert cure in check_button("auto", 17, True, open_pins).cure

    def test_a_switch_that_is_closed_at_rest_is_named(self) -> None:
        found = check_button("lgpio", 17, True, lambda: [17])
        assert found.verdict is Verdict.BAD
        assert "NO, not NC" in found.cure


class TestVoice:
    def test_off_as_set(self) -> None:
        assert check_voice(False, "en", None, run).verdict is Verdict.OK

    def test_not_installed(self) -> None:
        assert check_voice(True, "en", None, run).cure == "sudo apt install espeak-ng"

    @pytest.mark.parametrize(
        ("status", "err", "verdict"),
        [
            (0, "", Verdict.OK),
            (0, "ALSA lib pcm.c: odd\n", Verdict.OK),
            (0, "ALSA lib pcm.c: odd\nerror: No such file or directory\n", Verdict.NOTE),
            (1, "espeak: cannot\n", Verdict.NOTE),
            (None, "timed out", Verdict.NOTE),
            (-11, "", Verdict.NOTE),
        ],
    )
    def test_the_voice_check_follows_the_programs_output(
        self, tmp_path: Path, status: int | None, err: str, verdict: Verdict
    ) -> None:
        asked: list[list[str]] = []

        def answer(command: object) -> Ran:
            asked.append(list(command))  # type: ignore[call-overload]
            return Ran(status, "", err)

        assert check_voice(True, "de", "/usr/bin/espeak-ng", answer).verdict is verdict
        assert asked == [["/usr/bin/espeak-ng", "-v", "de", "-a", "0", "a"]]


def test_a_machine_without_a_pin_chip_is_told_apart_from_rights() -> None:
    def open_pins() -> list[int]:
        raise PinsUnavailable("lgpio pins: cannot open GPIO17: 'can not open gpiochip'")

    assert "usermod -aG gpio" in check_button("lgpio", 17, True, open_pins).cure
    assert "no /dev/gpiochip" in check_button("lgpio", 17, True, open_pins, has_chip=False).cure


def test_a_webcam_that_opens_and_stays_silent_is_to_be_plugged_in_again() -> None:
    end = threading.Event()

    class Blocked(FakeCapture):
        def read(self):  # type: ignore[no-untyped-def]
            end.wait(5.0)
            return False, None

    def look():  # type: ignore[no-untyped-def]
        devices.open_v4l2("/dev/video9", capture=Blocked([]), patience_s=0.2)

    (finding,) = check_camera("/dev/video9", look)
    end.set()
    assert "plug it in again" in finding.cure


def test_auto_says_why_the_webcam_does_not_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(path: str, **_: object) -> None:
        raise CameraUnavailable(f"camera {path!r}: cannot be opened (busy, or not a camera)")

    monkeypatch.setattr(devices, "has_pi_camera", lambda: False)
    monkeypatch.setattr(devices, "webcam_paths", lambda: ["/dev/video0"])
    monkeypatch.setattr(devices, "open_v4l2", busy)
    for or_simulated in (True, False):

        def look(or_simulated: bool = or_simulated):  # type: ignore[no-untyped-def]
            camera = open_camera("auto", or_simulated=or_simulated)
            return camera.kind, camera.description, []

        (finding,) = check_camera("auto", look)
        assert "close the program that uses it" in finding.cure
