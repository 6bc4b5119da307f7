"""A tray's calibration: kept in a file people can read, proposed by the reader, and checked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from companion.engine.dice import ALL_DICE, DieColour, Roll
from companion.errors import CalibrationError, ConfigError
from companion.tray import ProblemCode, TrayStatus
from tests.vision.scenes import default_scene
from tests.vision.trays import SIX, ground, lit, painted, shifted, tray, with_red_pips
from vision.calibration.calibration import Calibration, as_toml, load_calibration, save_calibration
from vision.calibration.drift import compare, take_reference
from vision.calibration.reader import CalibratedReader, Change, what_changed, what_holds
from vision.detector.known_dice import CustomDie, compare_with_set
from vision.detector.status import PALETTE
from vision.pipeline import DiceReader
from vision.reading import Frame, Pixels, Reading
from vision.setup.corners import propose_corners
from vision.setup.measure import colours_played, gains_of_white, known_dice, shown_dice
from vision.simulation.geometry import resting_die
from vision.simulation.render import render

READER = DiceReader()
PURPLE = 145


def taken_for(colour: DieColour) -> tuple[float, ...]:
    return tuple(float(other is colour) for other in (*PALETTE, None))


def whole() -> Calibration:
    return Calibration(
        (640, 480),
        ((64.0, 48.0), (582.5, 56.0), (590.0, 450.0), (48.5, 436.0)),
        (1.1, 1.0, 0.9),
        {"exposure": 157.0, "gain": 2.5},
        (
            CustomDie(
                DieColour.BLUE, (150.0, 60.5, 40.0), (0.0, 0.1, 0.0, 0.0, 0.6, 0.3), (9.0, 8.5, 7.0)
            ),
            *(CustomDie(c, (90.0, 90.0, 90.0), taken_for(c)) for c in ALL_DICE[:-1]),
        ),
        take_reference(tray()),
    )


class TestFile:
    def test_a_file_of_version_0_1_0_opens_unchanged(self) -> None:
        old = load_calibration(Path(__file__).parent / "data" / "tray-0.1.0.toml")
        assert replace(old, reference=None) == replace(whole(), reference=None)
        assert old.reference is not None
        drift = compare(old.reference, tray())
        assert drift.stayed > 0.9
        assert (drift.brighter, drift.tint) == pytest.approx((1.0, 1.0), abs=0.05)

    def test_a_saved_calibration_loads_again(self, tmp_path: Path) -> None:
        path = tmp_path / "new" / "tray.toml"
        for calibration in (whole(), Calibration((320, 240))):
            save_calibration(path, calibration)
            assert load_calibration(path) == calibration
        assert [p.name for p in path.parent.iterdir()] == ["tray.toml"]

    def test_a_file_that_cannot_be_written_is_one_clear_line(self, tmp_path: Path) -> None:
        (tmp_path / "file").write_text("")
        with pytest.raises(ConfigError, match="cannot write the calibration"):
            save_calibration(tmp_path / "file" / "tray.toml", whole())

    @pytest.mark.parametrize(
        ("before", "after", "says"),
        [
            ('plays = "blue"', 'plays = "purple"', "die 1: plays: expected white"),
            ("face_bgr = [150.0", "face_bgr = [1500.0", "die 1: face_bgr"),
            ("taken_for =", "# taken_for =", "die 1: taken_for: expected 6 numbers"),
            ("exposure = 157.0", 'exposure = "long"', "camera: expected names and numbers"),
            ('colours = [\n  "', 'colours = [\n  "zz', "reference.colours: expected rows"),
            ('grey = [\n  "', 'grey = [\n  "00', "reference.grey: expected rows"),
            ("[[die]]", "[die]", "expected a calibration in TOML"),
            ('plays = "blue"', 'plays = "red"', "die: expected none or the six"),
            ("pips_bgr", "pip_bgr", "die 1: expected plays, face_bgr, taken_for, pips_bgr"),
            ("exposure = 157.0", "exposure = nan", "camera: expected names and numbers"),
            ("exposure = 157.0", f"exposure = {10**400}", "camera: expected names and numbers"),
            ("exposure = 157.0", f"exposure = {'9' * 5000}", "expected a calibration in TOML"),
            ("[64.0", "[nan", "tray_px: expected three or more"),
            ("[64.0", "[1e300", "tray_px: expected three or more"),
            ("[64.0", f"[{10**400}", "tray_px: expected three or more"),
            (
                "tray_px = [[64.0, 48.0], [582.5, 56.0], [590.0, 450.0], [48.5, 436.0]]",
                "tray_px = [[64.0, 48.0], [582.5, 56.0], [64.0, 48.0]]",
                "tray_px: expected corners round a floor",
            ),
        ],
    )
    def test_an_impossible_value_is_named(
        self, tmp_path: Path, before: str, after: str, says: str
    ) -> None:
        path = tmp_path / "tray.toml"
        text = as_toml(whole())
        assert before in text
        path.write_text(text.replace(before, after, 1))
        with pytest.raises(ConfigError, match=says.replace("[", r"\[")) as caught:
            load_calibration(path)
        assert str(path) in str(caught.value)

    def test_a_mistyped_file_is_set_aside_and_not_overwritten(self, tmp_path: Path) -> None:
        path = tmp_path / "tray.toml"
        text = as_toml(whole()).replace("plays", "play")
        path.write_text(text)
        save_calibration(path, whole())
        assert load_calibration(path) == whole()
        assert (tmp_path / "tray.toml.bad").read_text() == text

    def test_a_pipe_is_not_waited_for(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "tray.toml")
        with pytest.raises(ConfigError, match="got a named pipe"):
            load_calibration(tmp_path / "tray.toml")

    def test_a_control_with_an_odd_name_loads_again(self, tmp_path: Path) -> None:
        path = tmp_path / "tray.toml"
        odd = replace(whole(), camera={'gain "2" of all': 1.5, "white-balance": 2.0})
        save_calibration(path, odd)
        assert load_calibration(path).camera == odd.camera


class TestCorners:
    @pytest.mark.parametrize("wall", [(1, 0), (-1, 0), (0, 1), (0, -1)])
    def test_a_die_that_touches_a_wall_lies_in_the_tray(self, wall: tuple[int, int]) -> None:
        scene = default_scene(SIX, seed=3)
        outline = np.array(scene.tray.outline_mm)
        corners = scene.camera.project(np.c_[outline, np.zeros(len(outline))])
        measured = Calibration((640, 480), tuple((float(x), float(y)) for x, y in corners))
        moved = scene.dice[2]
        reach = np.abs(outline).max(axis=0) - moved.size_mm / 2 - 0.5
        place = (float(reach[0] * wall[0]), float(reach[1] * wall[1]))
        others = tuple(
            die for die in scene.dice
            if np.hypot(*np.subtract(die.position_mm[:2], place)) > 2 * die.size_mm
        )  # fmt: skip
        dice = (*(die for die in others if die is not moved), resting_die(4, place, 0.0, moved))
        in_play = [die.colour for die in dice if die.colour is not None]
        picture = render(replace(scene, dice=dice), ground())
        assert READER.read(Frame(picture), in_play).status is TrayStatus.OK
        assert READER.read(Frame(picture), in_play, calibration=measured).status is TrayStatus.OK

    def test_pictures_of_another_shape_are_read_without_the_corners(self) -> None:
        corners = ((64.0, 48.0), (582.0, 56.0), (590.0, 450.0), (48.0, 436.0))
        measured = Calibration((640, 480), corners)
        cut = tray(SIX)[60:420]
        with_them = READER.read(Frame(cut), calibration=measured)
        assert with_them.status is READER.read(Frame(cut)).status
        assert not any(p.code is ProblemCode.BESIDE_TRAY for p in with_them.problems)

    def test_a_tray_with_four_sides_empty_or_not(self) -> None:
        for picture in (tray(), tray(SIX)):
            corners = propose_corners(picture)
            assert corners is not None
            assert len(corners) == 4
            floor = np.array([[60, 50], [585, 50], [590, 445], [50, 440]])  # looked at
            assert np.abs(np.array(corners) - floor).max() < 20, corners


class TestReference:
    def test_dice_and_noise_are_no_change(self) -> None:
        reference = take_reference(tray())
        for picture in (tray(), tray(SIX), tray(SIX, 4), lit(tray(SIX), 0.9, 0.9, 0.9)):
            drift = compare(reference, picture)
            assert not drift.has_moved, drift
            assert not drift.is_relit, drift

    @pytest.mark.parametrize(
        "move", [(12.0, 0.0, 0.0), (-8.0, 9.0, 0.0), (120.0, 60.0, 0.0), (0.0, 0.0, 6.0)]
    )
    def test_a_camera_that_was_moved(self, move: tuple[float, float, float]) -> None:
        assert compare(take_reference(tray()), shifted(tray(SIX), *move)).has_moved

    @pytest.mark.parametrize("level", [0, 30, 200])
    def test_a_covered_lens_is_no_move(self, level: int) -> None:
        rng = np.random.default_rng(1)
        covered = np.clip(rng.normal(level, 3.0, tray().shape), 0, 255).astype(np.uint8)
        assert not compare(take_reference(tray()), covered).has_moved

    @pytest.mark.parametrize("gains", [(0.5, 0.5, 0.5), (0.65, 1.0, 1.0), (0.9, 0.9, 1.3)])
    def test_another_light(self, gains: tuple[float, float, float]) -> None:
        drift = compare(take_reference(tray()), lit(tray(SIX), *gains))
        assert drift.is_relit
        assert not drift.has_moved


class TestDice:
    def test_six_ordinary_dice(self) -> None:
        shown = shown_dice(tray(SIX), Calibration((640, 480)))
        plays = colours_played(shown)
        assert sorted(c.value for c in plays) == sorted(c.value for c in ALL_DICE)
        assert not any(die.is_odd for die in known_dice(shown, plays))
        seen = READER.read(Frame(tray(SIX))).dice
        by_place = [die.colour for die in sorted(seen, key=lambda die: die.centre_xy)]
        assert list(plays) == by_place

    def test_an_odd_die_gets_the_colour_the_others_leave(self) -> None:
        shown = shown_dice(painted(tray(SIX), PURPLE), Calibration((640, 480)))
        odd = [die for die in known_dice(shown, colours_played(shown)) if die.is_odd]
        assert [die.plays for die in odd] == [DieColour.BLUE]

    def test_once_shown_an_odd_die_is_read_and_a_stranger_is_not(self) -> None:
        learnt = shown_dice(painted(tray(SIX), PURPLE), Calibration((640, 480)))
        known = Calibration((640, 480), dice=known_dice(learnt, colours_played(learnt)))
        another = painted(tray(SIX, 7), PURPLE)
        reading = READER.read(Frame(another), calibration=known)
        assert reading.status is TrayStatus.OK
        assert reading.roll == READER.read(Frame(tray(SIX, 7))).roll
        stranger = READER.read(Frame(painted(tray(SIX, 7), 20)), calibration=known)
        assert stranger.status is not TrayStatus.OK

    def test_the_white_dice_measure_a_change_of_light(self) -> None:
        learnt = shown_dice(painted(tray(SIX), PURPLE), Calibration((640, 480)))
        known = Calibration((640, 480), dice=known_dice(learnt, colours_played(learnt)))
        dim = lit(painted(tray(SIX, 7), PURPLE), 0.65, 0.6, 0.6)
        assert READER.read(Frame(dim), calibration=known).status is TrayStatus.OK

    @pytest.mark.parametrize("seed", [7, 8, 9])
    def test_a_die_known_by_its_pips_alone_loads_again(self, seed: int) -> None:
        learnt = shown_dice(with_red_pips(SIX), Calibration((640, 480)))
        plays = [DieColour.WHITE] * 6
        pips = [die.pips_bgr or (0.0, 0.0, 0.0) for die in learnt]
        for n, colour in enumerate(colours_played(learnt)):
            plays[n] = colour
        odd = max(range(6), key=lambda n: pips[n][2] - pips[n][1] if pips[n][1] < 150 else 0.0)
        was = plays.index(DieColour.RED)
        plays[was], plays[odd] = plays[odd], plays[was]
        known = Calibration((640, 480), dice=known_dice(learnt, plays))
        reading = READER.read(Frame(with_red_pips(SIX, seed)), calibration=known)
        truth = READER.read(Frame(tray(SIX, seed))).roll
        assert reading.roll in (truth, None)
        assert reading.status in (TrayStatus.OK, TrayStatus.UNCERTAIN)
        assert reading.roll == truth or seed != 7

    def test_too_few_dice_are_counted(self) -> None:
        with pytest.raises(CalibrationError, match="got 0"):
            shown_dice(tray(), Calibration((640, 480)))

    def test_other_dice_than_the_games_are_refused(self) -> None:
        shown = shown_dice(tray(SIX), Calibration((640, 480)))
        with pytest.raises(CalibrationError, match="two whites"):
            known_dice(shown, [DieColour.RED] * 6)

    def test_the_white_balance_turns_the_white_dice_grey(self) -> None:
        warm = lit(tray(SIX), 0.6, 0.75, 0.8)
        gains = gains_of_white(shown_dice(warm, Calibration((640, 480))))
        assert gains is not None
        balanced = Calibration((640, 480), white_balance_bgr=gains)
        shown = shown_dice(warm, balanced)
        for die in shown:
            if die.taken_for[0] > 0.9:
                assert max(die.face_bgr) - min(die.face_bgr) < 12, die.face_bgr

    def test_pips_of_another_colour_alone_make_no_stranger(self) -> None:
        red = CustomDie(DieColour.RED, (40.0, 40.0, 200.0), taken_for(DieColour.RED), (10, 10, 10))
        face, said = np.array(red.face_bgr), np.array(taken_for(DieColour.RED), np.float32)
        assert not compare_with_set(said, face, [red], np.array([220.0, 225.0, 230.0]))[1]
        assert compare_with_set(
            said, np.array([60.0, 220.0, 60.0]), [red], np.array([10.0, 10.0, 10.0])
        )[1]

    def test_a_die_learnt_under_the_lamp_is_no_stranger_in_the_corner(self) -> None:
        """As measured on the simulated tray's yellow die, in a highlight and out of it."""
        yellow = CustomDie(DieColour.YELLOW, (102.0, 232.0, 251.0), taken_for(DieColour.YELLOW))
        said = np.array(taken_for(DieColour.YELLOW), np.float32)
        assert not compare_with_set(said, np.array([34.0, 200.0, 237.0]), [yellow])[1]
        assert not compare_with_set(said, np.array([135.0, 244.0, 255.0]), [yellow])[1]
        for other in ([200.0, 60.0, 40.0], [40.0, 40.0, 200.0], [60.0, 160.0, 60.0]):
            assert compare_with_set(said, np.array(other), [yellow])[1]

    def test_overexposed_whites_give_no_white_balance(self) -> None:
        shown = shown_dice(tray(SIX), Calibration((640, 480)))
        blown = [replace(die, face_bgr=(254.0, 255.0, 255.0)) for die in shown]
        assert gains_of_white(blown) is None

    def test_two_sure_classifiers_that_disagree_leave_a_die_uncertain(self) -> None:
        pure = {colour: tuple(float(c is colour) for c in (*PALETTE, None)) for colour in PALETTE}
        known = (
            CustomDie(DieColour.RED, (40.0, 40.0, 200.0), pure[DieColour.RED]),
            CustomDie(DieColour.BLUE, (180.0, 60.0, 40.0), pure[DieColour.BLUE]),
        )
        red = np.array(pure[DieColour.RED], np.float32) * 0.995 + 0.001
        agreed, is_strange = compare_with_set(red, np.array([45.0, 40.0, 190.0]), known)
        assert agreed[PALETTE.index(DieColour.RED)] > 0.999
        assert not is_strange
        assert compare_with_set(red, np.array([180.0, 60.0, 40.0]), known)[0].max() < 0.9
        assert compare_with_set(red, np.array([60.0, 220.0, 60.0]), known)[1]


class Asked:
    """A reader that says only with which calibration it was asked."""

    def __init__(self) -> None:
        self.with_: list[Calibration | None] = []

    def read(
        self,
        frame: Frame,
        in_play: Sequence[DieColour] = ALL_DICE,
        *,
        calibration: Calibration | None = None,
    ) -> Reading:
        self.with_.append(calibration)
        return Reading(TrayStatus.EMPTY)


class TestCalibratedReader:
    def test_a_passing_hand_is_ignored_and_a_moved_camera_reported(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        asked = Asked()
        reader = CalibratedReader(asked, whole())

        def see(*pictures: Pixels) -> Change | None:
            for picture in pictures:
                reader.read(Frame(picture))
            return reader.change

        moved = shifted(tray(), 40.0)
        assert see(tray(), moved, tray()) is None
        assert see(moved, moved) is Change.MOVED
        assert asked.with_[-1] == replace(whole(), tray_px=None)
        assert see(moved, moved) is Change.MOVED
        assert see(tray(), tray()) is None
        assert asked.with_[-1] == whole()
        assert see(lit(tray(), 0.4, 0.4, 0.4), lit(tray(), 0.4, 0.4, 0.4)) is Change.RELIT
        assert [record.message.split(" (")[0] for record in caplog.records] == [
            "camera or tray were moved since they were calibrated: the measured corners are not "
            "used",
            "the light is another than when the tray was calibrated: the measured colours are not "
            "used",
        ]

    def test_without_a_calibration_nothing_is_measured(self) -> None:
        asked = Asked()
        CalibratedReader(asked, None).read(Frame(tray()))
        assert asked.with_ == [Calibration((640, 480))]

    def test_moved_and_relit_leave_neither_corners_nor_colours(self) -> None:
        asked = Asked()
        CalibratedReader(asked, whole()).read(Frame(lit(shifted(tray(), 40.0), 0.4, 0.4, 0.4)))
        left = replace(whole(), tray_px=None, white_balance_bgr=None, dice=())
        assert asked.with_ == [left]

    def test_dice_that_play_another_colour_than_theirs_do_so_in_any_light(self) -> None:
        swapped = {DieColour.GREEN: DieColour.BLUE, DieColour.BLUE: DieColour.GREEN}
        shown = shown_dice(tray(SIX), Calibration((640, 480)))
        plays = [swapped.get(colour, colour) for colour in colours_played(shown)]
        known = Calibration(
            (640, 480), dice=known_dice(shown, plays), reference=take_reference(tray())
        )
        asked = Asked()
        for light in (0.5, 0.6, 0.7, 1.6):
            CalibratedReader(asked, known).read(Frame(lit(tray(SIX, 7), light, light, light)))
        assert asked.with_ == [known] * 4
        plain = READER.read(Frame(tray(SIX, 7))).roll
        dim = CalibratedReader(READER, known).read(Frame(lit(tray(SIX, 7), 0.6, 0.6, 0.6)))
        assert plain is not None
        assert dim.roll is None or dim.roll == Roll.of(
            plain.white,
            {swapped.get(colour, colour): value for colour, value in plain.coloured},
        )

    def test_without_a_reference_nothing_is_known_to_have_changed(self) -> None:
        bare = replace(whole(), reference=None)
        assert what_changed(bare, Frame(shifted(tray(), 90.0))) == ()
        assert what_holds(bare, ()) is bare
