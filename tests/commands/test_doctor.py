"""`dice-companion doctor` from the outside."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np
import pytest
from click.testing import CliRunner
from gpiozero.pins.mock import MockFactory

from companion.cli import dice_companion
from companion.doctor.finding import Ran
from tests.conftest import ROOT
from tests.hardware.pin_fakes import use_factory
from tests.session.fakes import Stage
from tests.vision.trays import shifted, tray
from vision.calibration.calibration import Calibration, save_calibration
from vision.calibration.drift import take_reference
from vision.simulation.camera import SimulatedTray


def doctor(*args: str) -> tuple[int, str]:
    result = CliRunner().invoke(dice_companion, ["doctor", *args])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, result.stdout


def test_a_machine_without_camera_and_pins_can_play(tmp_path: Path) -> None:
    status, out = doctor("--data-dir", str(tmp_path), "--port", "0", "--json")
    report = json.loads(out)
    assert (status, report["ok"]) == (0, True)
    by_name = {check["name"]: check for check in report["checks"]}
    assert by_name.keys() >= {"version", "opencv", "data", "games", "clock", "voice", "camera"}
    for check in report["checks"]:
        assert check["verdict"] in ("ok", "note")
        assert bool(check["cure"]) is (check["verdict"] != "ok"), check


@pytest.fixture
def no_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    """The packages are not looked at: that takes seconds, and has tests of its own."""
    monkeypatch.setattr("companion.commands.doctor.check_packages", lambda _: [])
    monkeypatch.setattr(
        "companion.doctor.software.load", lambda _run, module, _: f"No module named '{module}'"
    )


@pytest.mark.usefixtures("no_packages")
def test_a_second_button_that_is_closed_at_rest_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pins = use_factory(monkeypatch, MockFactory())
    for pin in (22, 27):  # an LED to ground is no button
        monkeypatch.setattr(pins.pin(pin), "_set_pull", lambda _pull: None)
        pins.pin(pin).drive_low()
    monkeypatch.setattr("companion.commands.doctor.is_raspberry_pi", lambda: True)
    config = tmp_path / "config.toml"
    config.write_text("[panel]\nrepeat_pin = 27\n[lamp]\nled_pin = 22\n")
    _, out = doctor("--config", str(config), "--camera", "none", "--pins", "lgpio")
    assert "note  button       GPIO27: the contact is closed, as if pressed -> use the" in out
    assert "GPIO22" not in out


@pytest.mark.usefixtures("no_packages")
def test_a_setting_that_is_not_one_is_a_fault_with_its_remedy(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("[web]\nprot = 1\n")
    status, out = doctor("--config", str(config), "--camera", "none")
    assert status == 1
    (line,) = [line for line in out.splitlines() if line.startswith("bad ")]
    assert "did you mean 'port'" in line
    assert " -> correct this line" in line


@pytest.mark.usefixtures("no_packages")
def test_with_sudo_the_settings_and_games_of_the_service_are_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "config.toml").write_text("[camera]\nsource = 'none'\n[web]\nport = 0\n")
    monkeypatch.setattr("companion.service.install.is_installed", lambda: True)
    monkeypatch.setattr("companion.service.install.is_root", lambda: True)
    monkeypatch.setattr("companion.service.unit.DATA_DIR", tmp_path)
    monkeypatch.setattr("companion.service.unit.CONFIG_PATH", tmp_path / "config.toml")
    status, out = doctor("--json")
    texts = {check["name"]: check["text"] for check in json.loads(out)["checks"]}
    assert (status, "none, as set" in texts["camera"]) == (0, True)
    assert texts["data"].startswith(f"{tmp_path},")


@pytest.mark.usefixtures("no_packages")
def test_a_camera_that_was_moved_since_it_was_calibrated(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "now.png"), shifted(tray(), 60.0))
    corners = ((60.0, 50.0), (585.0, 50.0), (590.0, 445.0))
    before = Calibration((640, 480), corners, reference=take_reference(tray()))
    save_calibration(tmp_path / "tray.toml", before)
    camera = ["--camera", str(tmp_path / "now.png"), "--data-dir", str(tmp_path), "--port", "0"]
    _, out = doctor(*camera)
    assert "camera or tray were moved -> dice-companion calibrate --only corners" in out


@pytest.mark.usefixtures("no_packages")
@pytest.mark.parametrize(
    ("named", "text", "status", "line"),
    [
        ("auto", None, 0, "ok    calibration  none yet"),
        ("none", "size_wh = 3", 0, "ok    calibration  none, as set"),
        ("auto", "size_wh = [640, 480]", 0, "ok    calibration  {}"),
        ("auto", "size_wh = 3", 0, "note  calibration  {}: size_wh: expected [width, height]"),
        ("file", "size_wh = 3", 1, "bad   calibration  {}: size_wh: expected [width, height]"),
        ("file", None, 0, "note  calibration  {} is not there yet -> run dice-companion calibrate"),
    ],
    ids=["none yet", "none", "well", "damaged", "damaged and named", "named and not there"],
)
def test_a_calibration_does_not_hide_the_cameras_check(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    named: str,
    text: str | None,
    status: int,
    line: str,
) -> None:
    cv2.imwrite(str(tmp_path / "now.png"), tray())
    measured = tmp_path / "tray.toml"
    if text is not None:
        measured.write_text(text)
    monkeypatch.setenv(
        "DICE_COMPANION_CAMERA_CALIBRATION", str(measured) if named == "file" else named
    )
    camera = ["--camera", str(tmp_path / "now.png"), "--port", "0"]
    found = doctor(*camera, "--data-dir", str(tmp_path))
    assert found[0] == status
    assert any(each.startswith(line.format(measured)) for each in found[1].splitlines()), found[1]
    assert "picture      bright and sharp enough" in found[1]


@pytest.mark.usefixtures("no_packages")
def test_pins_that_play_refuses_are_bad_settings(tmp_path: Path) -> None:
    config = tmp_path / "config.toml"
    config.write_text("[buzzer]\npin = 17\n")
    status, out = doctor("--config", str(config), "--camera", "none", "--port", "0")
    assert status == 1
    assert "bad   settings     buzzer.pin: expected a pin of its own" in out


@pytest.mark.usefixtures("no_packages")
def test_a_camera_that_play_insists_on_is_bad(tmp_path: Path) -> None:
    data = ["--data-dir", str(tmp_path), "--port", "0"]
    status, out = doctor("--camera", "/dev/video63", *data)
    assert status == 1
    assert "bad   camera       '/dev/video63': expected a video device, there is none" in out


@pytest.mark.usefixtures("no_packages")
def test_a_camera_that_cannot_be_looked_up_is_bad(tmp_path: Path) -> None:
    name = "y" * 300  # as where a folder may not be entered, the system refuses to look
    status, out = doctor("--camera", name, "--data-dir", str(tmp_path), "--port", "0")
    assert status == 1
    assert f"bad   camera       '{name}': File name too long" in out


@pytest.mark.usefixtures("no_packages")
def test_auto_names_the_camera_it_may_not_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fallback = SimulatedTray(seed=1)
    fallback.description = "simulated tray (no camera found)"
    monkeypatch.setattr("vision.sources.open_camera", lambda *_, **__: fallback)
    monkeypatch.setattr("vision.cameras.devices.closed_paths", lambda: ["/dev/video0"])
    _, out = doctor("--camera", "auto", "--data-dir", str(tmp_path), "--port", "0")
    assert "; no permission for /dev/video0 -> sudo usermod -aG video $USER" in out


@pytest.mark.usefixtures("no_packages")
def test_a_pi_without_a_camera_has_no_simulated_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "model"
    model.write_text("Raspberry Pi 4 Model B Rev 1.4\0")
    monkeypatch.setattr("companion.service.board.MODEL_FILE", model)
    monkeypatch.setattr("vision.cameras.devices.has_pi_camera", lambda: False)
    monkeypatch.setattr("vision.cameras.devices.webcam_paths", lambda: [])
    monkeypatch.setattr("vision.cameras.devices.closed_paths", lambda: ["/dev/video0"])
    _, out = doctor("--camera", "auto", "--data-dir", str(tmp_path), "--port", "0")
    assert "note  camera       no camera found; no permission for /dev/video0 -> sudo" in out


WITHOUT_PACKAGES = """
import sys
from companion.commands import doctor
doctor.check_packages = lambda _: []
from companion.__main__ import main
sys.argv[0] = "dice-companion"
main()
"""


def test_nobody_need_listen_to_it(tmp_path: Path) -> None:
    line = 'exec "$0" -c "$1" doctor --camera none --port 0 --data-dir "$2" >&-'
    done = subprocess.run(
        ["sh", "-c", line, sys.executable, WITHOUT_PACKAGES, str(tmp_path)],
        cwd=ROOT,
        stderr=subprocess.PIPE,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_an_unloadable_package_is_one_line_that_names_doctor(tmp_path: Path) -> None:
    (tmp_path / "cv2.py").write_text("raise ImportError('libGL.so.1: cannot open shared object')")
    done = subprocess.run(
        [sys.executable, "-m", "companion", "play", "--data-dir", str(tmp_path), "--port", "0"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    assert done.stderr.splitlines() == [
        "dice-companion: a package cannot be loaded: libGL.so.1: cannot open shared object; "
        "run dice-companion doctor"
    ]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_no_folder_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    missed: list[int] = []
    outer = signal.signal(number, lambda number, _: missed.append(number))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(
        "companion.commands.doctor.run", lambda *_, **__: os.kill(os.getpid(), number)
    )
    try:
        done = CliRunner().invoke(dice_companion, ["doctor", "--data-dir", str(tmp_path / "data")])
    finally:
        signal.signal(number, outer)
    assert (missed, done.exit_code) == ([], 1)
    assert done.stderr == "\nAborted!\n"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.usefixtures("no_packages")
def test_a_dark_picture_has_a_line_with_what_to_do(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "now.png"), np.full((480, 640, 3), 20, np.uint8))
    _, out = doctor(
        "--camera", str(tmp_path / "now.png"), "--data-dir", str(tmp_path), "--port", "0"
    )
    assert "note  picture      too dark to read dice -> more light on the tray" in out


SAID = {
    "vcgencmd": "throttled=0x50005\n",
    "systemctl": "LoadState=loaded\nActiveState=failed\n",
    "timedatectl": "NTPSynchronized=yes\n",
}
FILES = {
    Path("/proc/self/mounts"): "tmpfs / tmpfs rw 0 0\n",
    Path("/sys/class/thermal/thermal_zone0/temp"): "80000\n",
}


@pytest.mark.usefixtures("no_packages")
def test_what_a_pi_says_of_itself_is_asked_and_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def answer(command: Sequence[str], **_: object) -> Ran:
        return Ran(0, SAID.get(Path(command[0]).name, ""))

    monkeypatch.setattr("companion.commands.doctor.run", answer)
    monkeypatch.setattr("companion.commands.doctor.content_of", FILES.get)
    monkeypatch.setattr("companion.commands.doctor.is_raspberry_pi", lambda: True)
    monkeypatch.setenv("GPIOZERO_PIN_FACTORY", "pigpio")
    monkeypatch.setenv("DICE_COMPANION_MQTT_HOST", "127.0.0.1")
    monkeypatch.setenv("DICE_COMPANION_MQTT_PORT", "1")
    stage = Stage(tmp_path)
    stage.seat("Ada")
    stage.store.close()
    _, out = doctor(
        "--camera", "/dev/video10", "--pins", "none", "--port", "0", "--data-dir", str(tmp_path)
    )
    told = {line[6:17].strip(): line for line in out.splitlines() if line.startswith("note")}
    expected = {
        "power": "too little voltage",
        "heat": "80 °C",
        "disk": "lost at power-off",
        "service": "installed, but failed",
        "backup": "none yet",
        "broker": "127.0.0.1:1: Connection refused",
    }
    assert [name for name, text in expected.items() if text not in told.get(name, "")] == []
    assert "pins" not in told, "chosen with --pins"
    assert "/dev/video10 is a codec of the Pi" in out
    assert "button       on the page, as set" in out


@pytest.mark.usefixtures("no_packages")
@pytest.mark.parametrize(
    ("mounts", "least_mb", "name", "text"),
    [
        ("/dev/sda1 / ext4 ro 0 0\n", 20, "disk", "is read-only -> mount it for writing"),
        ("/dev/sda1 / ext4 rw 0 0\n", 1e12, "data", "free -> make room"),
    ],
    ids=["read-only", "full"],
)
def test_a_disk_that_takes_no_games_has_one_cure(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    mounts: str,
    least_mb: float,
    name: str,
    text: str,
) -> None:
    said = {Path("/proc/self/mounts"): mounts}
    monkeypatch.setattr("companion.commands.doctor.content_of", said.get)
    monkeypatch.setattr("companion.doctor.machine.TOO_FULL_MB", least_mb)
    (tmp_path / "games.sqlite3").mkdir()
    status, out = doctor("--camera", "none", "--port", "0", "--data-dir", str(tmp_path))
    assert status == 1
    (line,) = [line for line in out.splitlines() if line.startswith("bad ")]
    assert line[6:17].strip() == name
    assert text in line
    assert "note  games        not checked -> see above" in out


@pytest.mark.usefixtures("no_packages")
def test_a_file_as_data_directory_is_told_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = tmp_path / "data"
    place.write_text("")
    status, out = doctor("--camera", "none", "--port", "0", "--data-dir", str(place))
    assert status == 1
    assert "is not a directory" in out
    assert not caplog.records


@pytest.mark.usefixtures("no_packages")
def test_flags_count_although_the_settings_cannot_be_read(tmp_path: Path) -> None:
    config, games = tmp_path / "config.toml", tmp_path / "games"
    config.write_text("[web]\nport = 'x'\n")
    flags = ["--camera", "none", "--data-dir", str(games), "--port", "0"]
    _, out = doctor("--config", str(config), *flags)
    assert "ok    camera       none, as set" in out
    assert f"ok    data         {games}, " in out
    assert "ok    port         any free one" in out


@pytest.mark.usefixtures("no_packages")
def test_settings_that_are_no_file_are_not_to_be_corrected(tmp_path: Path) -> None:
    status, out = doctor("--config", str(tmp_path), "--camera", "none", "--port", "0")
    assert status == 1
    assert f"{tmp_path}: cannot be read: Is a directory -> check its permissions" in out
