"""The tray set up from the page while the camera runs: real pictures, a stand-in for the camera."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import cv2
import numpy as np
import pytest

from companion.engine.dice import DieColour
from companion.errors import CalibrationError, ConfigError
from companion.tray import TrayStatus
from tests.vision.trays import SIX, block, from_afar, lit, painted, shifted, tray, tray_from
from vision.calibration.calibration import load_calibration
from vision.calibration.light import PictureFault
from vision.calibration.reader import CalibratedReader, Change
from vision.pipeline import DiceReader
from vision.reading import Frame, Pixels
from vision.setup.wizard import TraySetup


class StandInLive:
    """Shows what it is told to."""

    def __init__(self) -> None:
        self.shows: Pixels | None = tray()
        self.controls: Mapping[str, float] | None = {}
        self.times_anew = 0

    def read_anew(self) -> None:
        self.times_anew += 1

    def frame(self) -> Frame | None:
        return Frame(self.shows) if self.shows is not None else None


@pytest.fixture
def live() -> StandInLive:
    return StandInLive()


@pytest.fixture
def reader() -> CalibratedReader:
    return CalibratedReader(DiceReader(), None)


@pytest.fixture
def setup(live: StandInLive, reader: CalibratedReader, tmp_path: Path) -> TraySetup:
    return TraySetup(live, reader, tmp_path / "tray.toml")


def test_step_by_step_all_counts_at_once_and_is_kept(
    setup: TraySetup, live: StandInLive, reader: CalibratedReader, tmp_path: Path
) -> None:
    proposed = setup.propose()
    assert proposed is not None
    setup.keep_corners(proposed)
    live.controls = {"exposure": 157.0}
    assert setup.state().controls == live.controls
    setup.hold_exposure()
    live.shows = painted(tray(SIX), 145)
    number, looked = setup.look_at_dice()
    for die in looked:
        outline = np.array(die.corners_xy, np.float32)
        assert cv2.pointPolygonTest(outline, die.centre_xy, False) > 0
    assert [die.plays for die in looked if die.is_odd] == [DieColour.BLUE]
    setup.keep_dice([die.plays for die in looked], number)
    state = setup.state()
    assert (state.corners, state.is_held, len(state.dice)) == (proposed, True, 6)
    kept = load_calibration(tmp_path / "tray.toml")
    assert kept.camera == {"exposure": 157.0}
    assert kept.white_balance_bgr == pytest.approx((1.0, 1.0, 1.0), abs=0.2)
    assert [die.plays for die in kept.dice] == [die.plays for die in looked]
    assert reader.read(Frame(painted(tray(SIX, 7), 145))).status is TrayStatus.OK


def test_dice_of_few_pixels_are_a_fault(setup: TraySetup, live: StandInLive) -> None:
    assert "small" not in setup.state().faults
    live.shows = from_afar(tray(SIX))
    setup.look_at_dice()
    assert "small" in setup.state().faults
    live.shows = tray(SIX)
    setup.look_at_dice()
    assert "small" not in setup.state().faults


@pytest.mark.parametrize(
    ("tilt_deg", "azimuth_deg", "is_said"),
    [
        (0, 35, False),
        *((18, azimuth_deg, False) for azimuth_deg in (0, 35, 90)),
        *((38, azimuth_deg, True) for azimuth_deg in (0, 35, 90)),
    ],
)
def test_a_camera_beside_the_tray_is_a_fault(
    setup: TraySetup, live: StandInLive, tilt_deg: float, azimuth_deg: float, is_said: bool
) -> None:
    live.shows = tray_from(SIX, tilt_deg, azimuth_deg)
    setup.look_at_dice()
    assert ("slanted" in setup.state().faults) is is_said


def test_a_setup_can_be_deleted(setup: TraySetup, reader: CalibratedReader, tmp_path: Path) -> None:
    setup.keep_corners([(60.0, 50.0), (585.0, 50.0), (590.0, 445.0)])
    setup.forget()
    setup.forget()
    assert reader.calibration is None
    assert list(tmp_path.iterdir()) == []
    assert setup.state().corners is None


def test_a_setup_is_not_deleted_while_the_camera_gives_no_picture(
    setup: TraySetup, live: StandInLive, reader: CalibratedReader, tmp_path: Path
) -> None:
    setup.keep_corners([(60.0, 50.0), (585.0, 50.0), (590.0, 445.0)])
    live.shows = None
    with pytest.raises(CalibrationError, match="no picture"):
        setup.forget()
    assert reader.calibration is not None
    assert (tmp_path / "tray.toml").exists()


def test_the_state_describes_the_picture_and_its_changes(
    setup: TraySetup, live: StandInLive, reader: CalibratedReader
) -> None:
    setup.keep_corners([(60.0, 50.0), (585.0, 50.0), (590.0, 445.0)])
    assert setup.state().faults == ()
    live.shows = np.asarray(cv2.GaussianBlur(shifted(tray(), 50.0), (0, 0), 4.0), np.uint8)
    for _ in range(2):
        reader.read(Frame(live.shows))
    assert setup.state().faults == (PictureFault.BLURRED,)
    assert setup.state().change is Change.MOVED


def test_pictures_of_another_size_take_the_corners_along(
    setup: TraySetup, live: StandInLive
) -> None:
    setup.keep_corners([(60.0, 50.0), (580.0, 50.0), (580.0, 440.0)])
    live.shows = np.asarray(cv2.resize(tray(), (320, 240)), np.uint8)
    assert setup.state().corners == ((30.0, 25.0), (290.0, 25.0), (290.0, 220.0))


def test_corners_dragged_across_each_other_are_kept_over_a_restart(
    setup: TraySetup, tmp_path: Path
) -> None:
    crossed = [(60.0, 50.0), (590.0, 445.0), (585.0, 50.0), (50.0, 440.0)]
    setup.keep_corners(crossed)
    assert load_calibration(tmp_path / "tray.toml").tray_px == tuple(crossed)


def test_a_step_that_cannot_be_done_names_the_reason(
    setup: TraySetup, live: StandInLive, tmp_path: Path
) -> None:
    for corners in (
        [(0.0, 0.0), (9.0, 9.0)],
        [(0.0, 0.0), (9.0, 9.0), (900.0, 0.0)],
        [(0.0, 0.0), (320.0, 240.0), (640.0, 480.0)],
    ):
        with pytest.raises(CalibrationError, match="corners"):
            setup.keep_corners(corners)
    with pytest.raises(CalibrationError) as caught:
        setup.look_at_dice()
    assert (caught.value.reason, caught.value.count) == ("not_six", 0)
    with pytest.raises(CalibrationError, match="look at them first"):
        setup.keep_dice([DieColour.RED] * 6)
    setup.hold_exposure()
    assert not setup.state().is_held
    live.shows = None
    with pytest.raises(CalibrationError, match="no picture"):
        setup.state()
    assert list(tmp_path.iterdir()) == []


def test_dice_that_only_a_closer_look_finds_are_measured(
    setup: TraySetup, live: StandInLive
) -> None:
    live.shows = block(2.5, 2)
    assert len(setup.look_at_dice()[1]) == 6


def test_corners_are_not_found_in_a_black_picture(setup: TraySetup, live: StandInLive) -> None:
    noise = np.random.default_rng(1).integers(0, 12, (480, 640, 3))
    live.shows = noise.astype(np.uint8)
    for step in (setup.propose, lambda: setup.keep_corners([(60, 50), (580, 50), (580, 440)])):
        with pytest.raises(CalibrationError, match="black") as caught:
            step()
        assert caught.value.reason == "dark"
    assert setup.state().corners is None


def test_dice_kept_again_under_another_lamp_count(
    setup: TraySetup, live: StandInLive, reader: CalibratedReader
) -> None:
    corners = setup.propose()
    assert corners is not None
    setup.keep_corners(corners)
    evening = np.asarray(np.clip(tray(SIX) * [0.45, 0.6, 0.7], 0, 255), np.uint8)
    live.shows = evening
    for _ in range(2):
        reader.read(Frame(evening))
    assert setup.state().change is None, "corners are the same in any light"
    number, looked = setup.look_at_dice()
    setup.keep_dice([die.plays for die in looked], number)
    for _ in range(3):
        assert reader.read(Frame(evening)).status is TrayStatus.OK
    assert setup.state().change is None
    setup.keep_corners(corners)
    live.shows = tray(SIX)
    for _ in range(2):
        reader.read(Frame(live.shows))
    setup.keep_corners(corners)
    for _ in range(2):
        reader.read(Frame(live.shows))
    assert setup.state().change is Change.RELIT, "the dice are those of the evening"


def test_dice_are_kept_with_the_light_that_they_were_measured_in(
    setup: TraySetup, live: StandInLive, reader: CalibratedReader
) -> None:
    live.shows = tray(SIX)
    number, looked = setup.look_at_dice()
    live.shows = lit(tray(SIX), 0.5, 0.5, 0.5)  # a lamp goes out before they are saved
    setup.keep_dice([die.plays for die in looked], number)
    for _ in range(2):
        reader.read(Frame(tray(SIX)))
    assert reader.change is None
    for _ in range(2):
        reader.read(Frame(live.shows))
    assert reader.change is Change.RELIT


def test_dice_measured_by_another_device_since_are_not_saved(
    setup: TraySetup, live: StandInLive
) -> None:
    live.shows = tray(SIX)
    first, looked = setup.look_at_dice()
    second, _ = setup.look_at_dice()
    with pytest.raises(CalibrationError) as caught:
        setup.keep_dice([die.plays for die in looked], first)
    assert caught.value.reason == "not_looked"
    assert setup.state().dice == ()
    setup.keep_dice([die.plays for die in looked], second)
    assert len(setup.state().dice) == 6


def test_a_disk_that_takes_nothing_leaves_the_reader_as_it_was(
    live: StandInLive, reader: CalibratedReader, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    setup = TraySetup(live, reader, tmp_path / "file" / "tray.toml")
    with pytest.raises(ConfigError, match="cannot write"):
        setup.keep_corners([(60.0, 50.0), (585.0, 50.0), (590.0, 445.0)])
    assert reader.calibration is None


def test_pictures_of_another_shape_are_without_the_corners(tmp_path: Path) -> None:
    live = StandInLive()
    setup = TraySetup(live, CalibratedReader(DiceReader(), None), tmp_path / "tray.toml")
    setup.keep_corners([(60.0, 50.0), (580.0, 50.0), (580.0, 440.0)])
    live.shows = tray()[60:420]
    assert setup.state().corners is None


def test_nothing_is_reported_as_moved_that_was_not_measured(
    setup: TraySetup, live: StandInLive, reader: CalibratedReader
) -> None:
    live.shows = tray(SIX)
    number, looked = setup.look_at_dice()
    setup.keep_dice([die.plays for die in looked], number)
    live.shows = shifted(tray(), 60.0)
    for _ in range(3):
        reader.read(Frame(live.shows))
    assert setup.state().change is None
    setup.keep_corners([(60.0, 50.0), (585.0, 50.0), (590.0, 445.0)])
    live.shows = tray()
    for _ in range(3):
        reader.read(Frame(live.shows))
    assert setup.state().change is Change.MOVED


def test_dice_are_looked_at_without_corners_that_hold_no_more(
    setup: TraySetup, live: StandInLive
) -> None:
    setup.keep_corners([(300.0, 60.0), (580.0, 60.0), (580.0, 440.0), (300.0, 440.0)])
    live.shows = tray(SIX)
    with pytest.raises(CalibrationError, match="six"):
        setup.look_at_dice()
    live.shows = shifted(tray(SIX), 60.0)
    assert len(setup.look_at_dice()[1]) == 6


def test_a_fault_of_the_cameras_place_ends_with_a_new_look(
    setup: TraySetup, live: StandInLive
) -> None:
    aside = tray_from(SIX, 38, 0)
    for cure in ("another place", "no dice", "deleted"):
        live.shows = aside
        setup.look_at_dice()
        assert "slanted" in setup.state().faults
        if cure == "another place":
            live.shows = tray()
        elif cure == "no dice":
            live.shows = np.full_like(aside, 90)
            with pytest.raises(CalibrationError):
                setup.look_at_dice()
            live.shows = aside
        else:
            setup.forget()
        assert "slanted" not in setup.state().faults, cure


def test_every_step_is_read_anew_at_once(setup: TraySetup, live: StandInLive) -> None:
    setup.keep_corners([(60.0, 50.0), (585.0, 50.0), (590.0, 445.0)])
    assert live.times_anew == 1
    setup.forget()
    assert live.times_anew == 2


def test_an_exposure_that_is_still_measured_is_not_kept(
    setup: TraySetup, live: StandInLive, tmp_path: Path
) -> None:
    live.controls = None
    with pytest.raises(CalibrationError) as caught:
        setup.hold_exposure()
    assert caught.value.reason == "metering"
    assert list(tmp_path.iterdir()) == []
    assert dict(setup.state().controls) == {}


def test_a_table_that_is_to_use_no_calibration_saves_none(
    live: StandInLive, reader: CalibratedReader
) -> None:
    setup = TraySetup(live, reader, None)
    live.controls = {"exposure": 157.0}
    for step in (
        setup.hold_exposure,
        setup.forget,
        lambda: setup.keep_corners([(60.0, 50.0), (585.0, 50.0), (590.0, 445.0)]),
    ):
        with pytest.raises(CalibrationError) as caught:
            step()
        assert caught.value.reason == "switched_off"
    assert reader.calibration is None
