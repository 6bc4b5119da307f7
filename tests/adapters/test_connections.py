"""A whole table with simulated dice: camera, pictures and voice follow the session."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from urllib.request import urlopen

import pytest

from companion.adapters.audio import open_voice
from companion.adapters.camera import CameraPort, open_tray
from companion.app import App, build
from companion.audio.espeak import Speaker
from companion.config import Config
from companion.engine import COLOURED, Phase, Roll
from companion.history.pictures import Pictures
from companion.tray import TrayStatus
from tests.session.fakes import Stage
from tests.waiting import PATIENCE_S, until
from vision.calibration.calibration import Calibration, load_calibration, save_calibration
from vision.calibration.reader import CalibratedReader
from vision.reading import Frame
from vision.tracking.tracker import TrayTracker


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file with all that an espeak-ng speaks which writes instead."""
    path, program = tmp_path / "said", tmp_path / "bin" / "espeak-ng"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ncat >> {path}\necho >> {path}\n")
    program.chmod(0o755)
    path.touch()
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    return path


@pytest.fixture
def learnt(monkeypatch: pytest.MonkeyPatch) -> list[Roll]:
    """The rolls that the reader learnt from."""
    rolls: list[Roll] = []
    learn = CalibratedReader.learn

    def noted(reader: CalibratedReader, frame: Frame, roll: Roll) -> None:
        learn(reader, frame, roll)
        rolls.append(roll)

    monkeypatch.setattr(CalibratedReader, "learn", noted)
    return rolls


@pytest.fixture
def volumes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The volumes that the voice was set to."""
    found: list[int] = []
    tune = Speaker.tune

    def noted(speaker: Speaker, volume: int, words_per_minute: int) -> None:
        tune(speaker, volume, words_per_minute)
        found.append(volume)

    monkeypatch.setattr(Speaker, "tune", noted)
    return found


@pytest.fixture
def app(said: Path, tmp_path: Path) -> Iterator[App]:
    config = Config(data_dir=tmp_path / "table")
    app = build(
        replace(
            config,
            camera=replace(config.camera, source="simulated", seed=7),
            panel=replace(config.panel, factory="none"),
            web=replace(config.web, host="127.0.0.1", port=0),
        )
    )
    yield app
    app.close()


def test_a_confirmed_roll_is_told_kept_learnt_and_used_up(
    app: App, said: Path, tmp_path: Path, learnt: list[Roll]
) -> None:
    session = app.session
    session.join("Ada")
    assert session.start(first=0) is None
    assert app.simulator is not None
    app.simulator.throw()
    until(lambda: session.view().tray.roll is not None, "the throw is read")
    roll = session.view().tray.roll
    assert roll is not None
    assert session.press() is None
    until(lambda: session.view().tray.status is TrayStatus.OLD, "its dice are used up")
    until(lambda: learnt == [roll], "the reader learns from it")
    until(lambda: f"White {roll.white_sum}." in said.read_text(), "the voice tells it")
    pictures = tmp_path / "table" / "pictures"
    until(lambda: len(list(pictures.glob("*.jpg"))) == 1, "its picture is kept")
    assert session.undo() is None
    assert session.view().table.game is not None
    assert session.view().table.game.state.phase is Phase.ROLL
    until(lambda: session.view().tray.roll == roll, "after an undo its dice count again")


def test_a_roll_that_is_corrected_later_is_used_up_as_well(
    app: App, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[Roll] = []
    assert app.live is not None
    app.session.join("Ada")
    assert app.session.start(first=0) is None
    assert app.simulator is not None
    app.simulator.throw()
    until(lambda: app.session.view().tray.roll is not None, "the throw is read")
    assert app.session.press() is None
    monkeypatch.setattr(TrayTracker, "on_corrected", lambda _, roll: told.append(roll))
    right = Roll.of((1, 1), dict.fromkeys(COLOURED, 1))
    assert app.session.correct_roll(right) is None
    assert told == [right]


def test_the_simulated_tray_leaves_the_calibration_of_the_real_one(tmp_path: Path) -> None:
    corners = ((60.0, 50.0), (585.0, 50.0), (590.0, 445.0))
    real = tmp_path / "tray.toml"
    save_calibration(real, Calibration((640, 480), corners))
    kept = real.read_bytes()
    config = Config(data_dir=tmp_path)
    session = Stage(tmp_path / "table").session
    for source in ("simulated", "auto"):
        with ExitStack() as stack:
            asked = replace(config, camera=replace(config.camera, source=source))
            opened = open_tray(asked, session, CameraPort(), stack, [])
            assert opened is not None
            until(lambda live=opened.live: live.frame() is not None, "a picture")
            if source == "simulated":
                assert opened.setup.state().corners is None
                opened.setup.keep_corners(corners)
            assert opened.setup.state().corners == corners
    assert real.read_bytes() == kept
    assert load_calibration(tmp_path / "tray-simulated.toml").tray_px == corners


def test_the_voice_follows_the_settings(volumes: list[int], app: App) -> None:
    assert volumes[-1] == 100
    assert app.session.change_settings({"sound": False}) is None
    assert volumes[-1] == 0
    assert app.session.change_settings({"sound": True}) is None
    assert volumes[-1] == 100


def test_of_two_changes_at_once_the_voice_ends_as_the_later_one_says(
    stage: Stage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    volumes: list[int] = []
    is_muting, is_loud = Event(), Event()

    def tune(_: Speaker, volume: int, words_per_minute: int) -> None:
        if volume == 0:
            is_muting.set()
            is_loud.wait(0.5)  # a busy machine: the other thread gets the processor
        volumes.append(volume)
        if volume > 0:
            is_loud.set()

    monkeypatch.setattr(Speaker, "tune", tune)
    with ExitStack() as stack:
        open_voice(Config(data_dir=tmp_path), stage.session, stack, [])
        is_loud.clear()
        muting = Thread(target=stage.session.change_settings, args=({"sound": False},))
        muting.start()
        assert is_muting.wait(PATIENCE_S)
        stage.session.change_settings({"sound": True})
        muting.join(PATIENCE_S)
    assert volumes == [100, 0, 100]


@pytest.mark.parametrize(("keep", "left"), [(60, 3), (1, 1), (0, 0)])
def test_pictures_beyond_the_setting_are_deleted_without_a_camera_too(
    tmp_path: Path, keep: int, left: int
) -> None:
    config = Config(data_dir=tmp_path / "table")
    config = replace(
        config,
        camera=replace(config.camera, source="none"),
        panel=replace(config.panel, factory="none"),
        pictures=replace(config.pictures, keep=keep),
        web=replace(config.web, host="127.0.0.1", port=0),
        sound=replace(config.sound, enabled=False),
    )
    pictures = Pictures(config.data_dir, 9)
    for turn in (1, 2, 3):
        pictures.keep(turn, 1, turn, b"jpeg")
    app = build(config)
    assert len(pictures.all()) == left
    with urlopen(f"http://127.0.0.1:{app.address[1]}/api/state", timeout=10) as answer:
        offers = json.load(answer)["table"]["keeps_pictures"]
    app.close()
    assert offers is (keep > 0)
