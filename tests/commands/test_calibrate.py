"""`dice-companion calibrate` from the outside, with a folder of pictures as its camera."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import cv2
import pytest
from click.testing import CliRunner, Result

from companion.adapters.camera import with_causes
from companion.app import build
from companion.cli import dice_companion
from companion.config import load
from companion.errors import ConfigError
from companion.eventlog.place import locked
from companion.eventlog.store import LOCK_NAME
from companion.messages.equipment import tray_lines
from companion.tray import TrayStatus, TrayView
from tests.conftest import ROOT
from tests.vision.trays import SIX, lit, painted, tray
from vision.calibration.calibration import Calibration, load_calibration, save_calibration
from vision.calibration.reader import Change, what_changed
from vision.cameras.camera import Camera
from vision.reading import Frame
from vision.simulation.camera import SimulatedTray
from vision.sources import open_camera

WELL_KNOWN = "white white red yellow green blue"


@pytest.fixture(scope="module")
def dice_set(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty tray, six dice to learn (a purple one plays blue), and two rolls."""
    folder = tmp_path_factory.mktemp("camera")
    pictures = [tray(), *(painted(tray(SIX, seed), 145) for seed in (3, 7, 8))]
    for number, picture in enumerate(pictures):
        cv2.imwrite(str(folder / f"{number}.png"), picture)
    return folder


def calibrate(camera: Path, data: Path, *args: str, typed: str = "") -> Result:
    command = ["calibrate", "--camera", str(camera), "--data-dir", str(data), *args]
    result = CliRunner().invoke(dice_companion, command, input=typed)
    assert not isinstance(result.exception, AssertionError), result.exception
    return result


def report_of(result: Result) -> dict[str, Any]:
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout.splitlines()[-1])
    assert isinstance(report, dict)
    return report


def test_all_steps_without_a_question(dice_set: Path, tmp_path: Path) -> None:
    report = report_of(calibrate(dice_set, tmp_path, "--yes", "--json"))
    assert report["light"] == []
    assert len(report["corners"]) == 4
    assert report["exposure"] == {}
    assert [die["plays"] for die in report["dice"] if die["odd"]] == ["blue"]
    # of ten rolls the folder has pictures of two
    assert report["rolls"] == {"rolls": 2, "read": 2, "unsure": 0}, "nobody said that it is right"
    kept = load_calibration(report["file"])
    assert report["file"] == str(tmp_path / "tray.toml")
    assert len(kept.dice) == 6
    assert kept.reference is not None
    assert (tmp_path / "tray.jpg").stat().st_size > 1000


def test_a_person_puts_things_right(dice_set: Path, tmp_path: Path) -> None:
    proposed = report_of(calibrate(dice_set, tmp_path, "--yes", "--rolls", "0", "--json"))
    named = " ".join(die["plays"] for die in proposed["dice"])  # right, from left to right
    typed = f"\n\nn\nred red red\n{named}\n\nn\n"
    args = ["--rolls", "1", "--json", "--corners", "60,50 585,50 590,445 50,440"]
    report = report_of(calibrate(dice_set, tmp_path, *args, typed=typed))
    assert report["corners"] == [[60.0, 50.0], [585.0, 50.0], [590.0, 445.0], [50.0, 440.0]]
    assert " ".join(die["plays"] for die in report["dice"]) == named
    assert report["rolls"]["wrong"] == 1


def test_a_single_step_keeps_the_others_results(dice_set: Path, tmp_path: Path) -> None:
    calibrate(dice_set, tmp_path, "--yes", "--rolls", "0")
    before = load_calibration(tmp_path / "tray.toml")
    corners = ["--only", "corners", "--corners", "60,50 585,50 590,445 50,440", "--yes"]
    assert calibrate(dice_set, tmp_path, *corners).exit_code == 0
    after = load_calibration(tmp_path / "tray.toml")
    assert after.dice == before.dice
    assert after.tray_px != before.tray_px


def test_dice_and_the_light_they_were_kept_in_stay_together(dice_set: Path, tmp_path: Path) -> None:
    """Measured by day, the dice anew in the evening, then the corners anew by day."""
    evening, day = tmp_path / "evening", Frame(tray(SIX, 7))
    evening.mkdir()
    for number in (0, 1):
        dim = lit(cv2.imread(str(dice_set / f"{number}.png")), 0.6, 0.6, 0.6)
        cv2.imwrite(str(evening / f"{number}.png"), dim)
    calibrate(dice_set, tmp_path, "--yes", "--rolls", "0")
    assert what_changed(load_calibration(tmp_path / "tray.toml"), day) == ()
    calibrate(evening, tmp_path, "--yes", "--only", "dice")
    dim_frame = Frame(lit(tray(SIX, 7), 0.6, 0.6, 0.6))
    assert what_changed(load_calibration(tmp_path / "tray.toml"), dim_frame) == ()
    calibrate(dice_set, tmp_path, "--yes", "--only", "corners")
    assert what_changed(load_calibration(tmp_path / "tray.toml"), day) == (Change.RELIT,)


def test_dice_alone_are_kept_with_their_light_as_well(dice_set: Path, tmp_path: Path) -> None:
    calibrate(dice_set, tmp_path, "--yes", "--only", "dice")
    assert load_calibration(tmp_path / "tray.toml").reference is not None


def test_the_file_that_the_settings_name_is_the_one_that_is_written(
    dice_set: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DICE_COMPANION_CAMERA_CALIBRATION", str(tmp_path / "mine.toml"))
    assert calibrate(dice_set, tmp_path, "--yes", "--only", "corners").exit_code == 0
    assert (tmp_path / "mine.toml").exists()
    assert not (tmp_path / "tray.toml").exists()


def test_a_step_alone_holds_the_camera_as_it_was(
    dice_set: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    calibrate(dice_set, tmp_path, "--yes", "--only", "corners")
    path = tmp_path / "tray.toml"
    save_calibration(path, replace(load_calibration(path), camera={"exposure": 157.0}))
    asked: list[object] = []

    def opening(*args: Any, **more: Any) -> Camera:
        asked.append(more["controls"])
        return open_camera(*args, **more)

    monkeypatch.setattr("vision.sources.open_camera", opening)
    calibrate(dice_set, tmp_path, "--yes", "--only", "corners")
    calibrate(dice_set, tmp_path, "--yes", "--only", "exposure")
    assert asked == [{"exposure": 157.0}, None]


@pytest.mark.parametrize(
    ("args", "status", "says"),
    [
        (["--corners", "1,2 3,4"], 2, "three or more"),
        (["--corners", "1,2 3,4 5"], 2, "three or more"),
        (["--plays", "white,red"], 2, "expected white, white, red"),
        (["--corners", "0,0 900,0 900,900", "--yes"], 1, "points of a 640 x 480 picture"),
        (["--only", "light", "--corners", "0,0 640,0 640,480", "--yes"], 2, "--corners needs the"),
        (["--only", "corners", "--plays", WELL_KNOWN, "--yes"], 2, "--plays needs the step dice"),
        (["--only", "dice", "--yes"], 1, "expected all six flat in the tray"),
        (["--only", "colours"], 2, "colours"),
        (["--camera", "none"], 1, "expected a camera, got 'none'"),
        (["--out", "/proc/nowhere/tray.toml", "--yes"], 1, "cannot write"),
        (["--out", "", "--yes"], 2, "expected a file, got ''"),
        (
            ["--out", "/proc", "--only", "light", "--yes"],
            1,
            "expected a file to write, got a direc",
        ),
    ],
)
def test_an_impossible_step_is_one_clear_line(
    tmp_path: Path, args: list[str], status: int, says: str
) -> None:
    cv2.imwrite(str(tmp_path / "empty.png"), tray())
    result = calibrate(tmp_path / "empty.png", tmp_path / "data", *args)
    if status == 2:
        assert result.exit_code == 2
        assert says in result.stderr
    else:
        assert says in str(result.exception)


def test_a_run_on_pictures_of_another_size_that_ends_early_loses_nothing(
    dice_set: Path, tmp_path: Path
) -> None:
    calibrate(dice_set, tmp_path, "--yes", "--rolls", "0")
    before = load_calibration(tmp_path / "tray.toml")
    cv2.imwrite(str(tmp_path / "empty.png"), cv2.resize(tray(), (320, 240)))
    ended = calibrate(tmp_path / "empty.png", tmp_path, "--yes")
    assert "expected all six flat" in str(ended.exception)
    after = load_calibration(tmp_path / "tray.toml")
    assert (after.size_wh, after.dice) == ((320, 240), before.dice)


def test_corners_that_no_longer_hold_are_named(dice_set: Path, tmp_path: Path) -> None:
    calibrate(dice_set, tmp_path, "--yes", "--only", "corners")
    again = calibrate(dice_set, tmp_path, "--yes", "--only", "light")
    assert "another shape" not in again.stderr
    wide = tmp_path / "wide.png"
    cv2.imwrite(str(wide), tray()[60:420])
    again = calibrate(wide, tmp_path, "--yes", "--only", "light")
    assert "corners: were measured on pictures of another shape; measure them again" in again.stderr


def test_a_damaged_calibration_cannot_be_measured_in_part(tmp_path: Path) -> None:
    cv2.imwrite(str(tmp_path / "empty.png"), tray())
    (tmp_path / "half.toml").write_text("size_wh = [")
    aside = ["--out", str(tmp_path / "half.toml"), "--only", "light", "--yes"]
    result = calibrate(tmp_path / "empty.png", tmp_path / "data", *aside)
    assert str(result.exception).endswith("calibrate anew, without --only")


def test_a_failed_save_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / "tray.toml").mkdir()
    with pytest.raises(ConfigError, match="cannot write the calibration"):
        save_calibration(tmp_path / "tray.toml", Calibration((640, 480)))
    assert [path.name for path in tmp_path.iterdir()] == ["tray.toml"]


@pytest.mark.parametrize(
    ("args", "status"), [((), 1), (("--only", "exposure"), 0), (("--yes", "--only", "light"), 0)]
)
def test_without_anybody_to_ask_it_asks_nothing(
    dice_set: Path, tmp_path: Path, args: tuple[str, ...], status: int
) -> None:
    line = 'exec "$0" -m companion calibrate "$@" <&-'
    camera = ["--camera", str(dice_set), "--data-dir", str(tmp_path), "--rolls", "0"]
    done = subprocess.run(
        ["sh", "-c", line, sys.executable, *camera, *args],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == status, done.stderr
    said = "dice-companion: calibrate: expected a terminal to ask questions; --yes asks none\n"
    assert (done.stderr == said) is (status == 1)


def test_a_run_that_is_broken_off_loses_no_dice(dice_set: Path, tmp_path: Path) -> None:
    calibrate(dice_set, tmp_path, "--yes", "--rolls", "0")
    before = load_calibration(tmp_path / "tray.toml").dice
    assert before
    assert calibrate(dice_set, tmp_path, "--rolls", "0", typed="\n").exit_code != 0
    assert load_calibration(tmp_path / "tray.toml").dice == before


def test_only_what_is_measured_is_said_to_be_saved(dice_set: Path, tmp_path: Path) -> None:
    assert "saved to" not in calibrate(dice_set, tmp_path, "--yes", "--only", "light").output
    assert "saved to" in calibrate(dice_set, tmp_path, "--yes", "--only", "corners").output


def test_a_table_that_runs_is_said_to_take_it_up_later(dice_set: Path, tmp_path: Path) -> None:
    command, later = ("--yes", "--only", "corners"), "uses it from its next start on"
    with locked(tmp_path / LOCK_NAME, "another table"):
        assert later in calibrate(dice_set, tmp_path, *command).output
        elsewhere = ("--out", str(tmp_path / "other.toml"))
        assert later not in calibrate(dice_set, tmp_path, *command, *elsewhere).output
    assert later not in calibrate(dice_set, tmp_path, *command).output


@pytest.mark.parametrize("is_root", [True, False])
def test_on_a_services_machine_it_is_the_services_tray(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_root: bool
) -> None:
    own = {"DICE_COMPANION_DATA_DIR": str(tmp_path)}
    monkeypatch.setattr("companion.service.install.is_installed", lambda: True)
    monkeypatch.setattr("companion.service.install.is_root", lambda: is_root)
    monkeypatch.setattr("companion.service.install.service_directories", lambda: own)
    command = ["calibrate", "--camera", "simulated", "--yes", "--only", "corners"]
    result = CliRunner().invoke(dice_companion, command)
    if is_root:
        assert f"saved to {tmp_path / 'tray-simulated.toml'}" in result.output
    else:
        assert "run this with sudo" in str(result.exception)


def test_an_input_that_ends_is_nobody_to_ask(dice_set: Path, tmp_path: Path) -> None:
    args = ["--camera", str(dice_set), "--data-dir", str(tmp_path), "--rolls", "0"]
    done = subprocess.run(
        [sys.executable, "-m", "companion", "calibrate", *args],
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 1
    said = "dice-companion: calibrate: expected a terminal to ask questions; --yes asks none"
    assert done.stderr.splitlines()[-1] == said


def test_the_simulated_tray_is_not_measured_in_a_cameras_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fallback = SimulatedTray(seed=1)
    monkeypatch.setattr("vision.sources.open_camera", lambda *_, **__: fallback)
    result = CliRunner().invoke(
        dice_companion, ["calibrate", "--data-dir", str(tmp_path), "--camera", "auto", "--yes"]
    )
    assert "found none that works" in str(result.exception)
    assert list(tmp_path.iterdir()) == []


def test_play_uses_it_and_goes_on_without_a_damaged_one(dice_set: Path, tmp_path: Path) -> None:
    kept = tmp_path / "tray.toml"
    flags: dict[str, object | None] = {
        "camera.source": str(dice_set),
        "panel.factory": "none",
        "web.host": "127.0.0.1",
        "web.port": 0,
        "data_dir": tmp_path,
    }
    config = load(None, {"HOME": str(tmp_path)}, flags)
    for text, says in (
        ("size_wh = [640, 480]", f"calibration: {kept}"),
        ("size_wh = [640", f"calibration: not used: {kept}: expected a calibration in TOML"),
    ):
        kept.write_text(text)
        app = build(config)
        app.close()
        assert any(note.startswith(says) for note in app.notes), app.notes
    named = replace(config, camera=replace(config.camera, calibration=str(kept)))
    with pytest.raises(ConfigError, match="expected a calibration in TOML"):
        build(named)
    kept.unlink()  # as "forget" on the set-up page does
    app = build(named)
    app.close()
    assert any("is not there yet" in note for note in app.notes), app.notes
    unused = replace(config, camera=replace(config.camera, calibration="none"))
    app = build(unused)
    app.close()
    assert not any(note.startswith("calibration") for note in app.notes)


def test_a_moved_camera_is_reported() -> None:
    empty = TrayView(TrayStatus.EMPTY)
    view = with_causes(empty, Change.MOVED)
    lines = tray_lines(view.status, view.problems)
    assert [line.key for line in lines] == ["tray.empty", "tray.moved"]
    assert with_causes(empty, None) == empty


@pytest.mark.parametrize("out", ["tray.toml", "tray.jpg"])
def test_no_drawing_takes_the_place_of_a_photo(dice_set: Path, tmp_path: Path, out: str) -> None:
    photo = tmp_path / ("tray_2.jpg" if out == "tray.jpg" else "tray.jpg")
    photo.write_bytes(b"a photo")
    for _ in range(2):
        done = calibrate(dice_set, tmp_path, "--yes", "--rolls", "1", "--out", str(tmp_path / out))
        assert done.exit_code == 0
    drawn = photo.with_name("tray_3.jpg" if out == "tray.jpg" else "tray_2.jpg")
    assert f"corners: drawn into {drawn};" in done.stderr
    assert cv2.imread(str(drawn)).shape == tray().shape
    assert photo.read_bytes() == b"a photo"
    assert len(load_calibration(tmp_path / out).dice) == 6
    assert len(list(tmp_path.glob("tray*"))) == 3
