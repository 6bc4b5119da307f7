"""A table's own dice, learnt from the rolls that people confirmed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from companion.engine.dice import ALL_DICE, COLOURED, DieColour, Roll
from companion.tray import TrayStatus
from tests.vision.scenes import scattered
from tests.vision.trays import ground
from vision.calibration import reader
from vision.calibration.calibration import Calibration
from vision.calibration.learning import FEWEST, LearntDice, dice_of, dice_of_roll, learn
from vision.calibration.reader import CalibratedReader
from vision.detector.known_dice import Bgr, CustomDie, compare_with_set
from vision.detector.status import PALETTE
from vision.pipeline import DiceReader
from vision.reading import Frame
from vision.simulation.default_tray import default_tray
from vision.simulation.render import render

BLUE, ORANGE = None, (0.02, 0.2, 0.75)
READER = DiceReader()


def thrown(seed: int, blue_is: Bgr | None) -> tuple[Frame, Roll]:
    """Six dice of which the blue one may have another colour, and their roll."""
    values = np.random.default_rng(seed).integers(1, 7, 6).tolist()
    scene = scattered(default_tray(), list(zip(ALL_DICE, values, strict=True)), seed)
    *others, blue = scene.dice
    dice = (*others, blue if blue_is is None else replace(blue, albedo=blue_is))
    roll = Roll.of((values[0], values[1]), dict(zip(COLOURED, values[2:], strict=True)))
    return Frame(render(replace(scene, dice=dice), ground())), roll


def shown(seed: int, blue_is: Bgr | None = BLUE) -> tuple[CustomDie, ...]:
    frame, roll = thrown(seed, blue_is)
    scene = READER.read(frame, dice_of(roll)).evidence
    assert scene is not None
    return dice_of_roll(frame.pixels, scene, roll)


def test_a_die_of_another_colour_is_read_after_three_confirmed_rolls() -> None:
    table = CalibratedReader(READER, None)
    read = []
    for seed in range(FEWEST + 4):
        frame, roll = thrown(seed, ORANGE)
        reading = table.read(frame)
        assert reading.roll in (None, roll)
        read.append(reading.status is TrayStatus.OK)
        table.learn(frame, roll)
    assert not any(read[:FEWEST])
    assert all(read[FEWEST:])


def test_dice_that_play_each_others_colour_are_not_learnt_away() -> None:
    """Where both show the same value, they lie there as if each played its own colour."""
    frame, roll = thrown(2, BLUE)
    own = dict.fromkeys((DieColour.GREEN, DieColour.BLUE), roll.coloured[-1][1])
    values = dict(roll.coloured) | own
    dice = list(zip(ALL_DICE, (*roll.white, *(values[c] for c in COLOURED)), strict=True))
    frame = Frame(render(scattered(default_tray(), dice, 2), ground()))
    swapped = {DieColour.GREEN: DieColour.BLUE, DieColour.BLUE: DieColour.GREEN}
    known = tuple(replace(d, plays=swapped.get(d.plays, d.plays)) for d in shown(1))
    table = CalibratedReader(READER, Calibration((640, 480), dice=known))
    before = table.read(frame).dice
    for _ in range(FEWEST + 1):
        table.learn(frame, Roll.of(roll.white, values))
    assert table.read(frame).dice == before


def test_dice_set_up_meanwhile_are_not_replaced_by_what_is_learnt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    frame, roll = thrown(2, BLUE)
    swapped = {DieColour.GREEN: DieColour.BLUE, DieColour.BLUE: DieColour.GREEN}
    known = tuple(replace(d, plays=swapped.get(d.plays, d.plays)) for d in shown(1))
    set_up, table = Calibration((640, 480), dice=known), CalibratedReader(READER, None)

    def learn_late(before: LearntDice, dice: Sequence[CustomDie]) -> LearntDice:
        table.use(set_up)  # on a thread of the page
        return learn(before, dice)

    monkeypatch.setattr(reader, "learn", learn_late)
    table.learn(frame, roll)
    assert table.read(frame).dice == CalibratedReader(READER, set_up).read(frame).dice


@pytest.mark.slow
def test_other_dice_are_doubted_and_then_learnt_anew() -> None:
    table = CalibratedReader(READER, None)
    for seed in range(FEWEST):
        table.learn(*thrown(seed, BLUE))
    for seed in range(FEWEST, 2 * FEWEST):
        frame, roll = thrown(seed, ORANGE)
        assert table.read(frame).status is not TrayStatus.OK
        table.learn(frame, roll)
    frame, roll = thrown(9, ORANGE)
    assert table.read(frame).roll == roll


def test_a_roll_that_does_not_lie_there_teaches_nothing() -> None:
    frame, roll = thrown(1, BLUE)
    table = CalibratedReader(READER, None)
    wrong = Roll.of((roll.white[0], roll.white[1] % 6 + 1), dict(roll.coloured))
    scene = READER.read(frame).evidence
    assert scene is not None
    assert dice_of_roll(frame.pixels, scene, wrong) == ()
    assert learn(LearntDice(), ()) == LearntDice()
    for _ in range(FEWEST):
        table.learn(frame, wrong)
    assert table.read(frame) == READER.read(frame)


def test_a_corrected_roll_tells_by_its_values_which_die_is_yellow() -> None:
    frame, roll = thrown(1, BLUE)
    scene = READER.read(frame).evidence
    assert scene is not None
    white, yellow = PALETTE.index(DieColour.WHITE), PALETTE.index(DieColour.YELLOW)
    mixed_up = np.array([0.4, 0.0, 0.6, 0.0, 0.0, 0.0], np.float32)
    dice = [
        replace(die, colours=mixed_up if die.colours[white] > 0.5 else mixed_up[[2, 1, 0, 3, 4, 5]])
        if die.colours[white] + die.colours[yellow] > 0.5
        else die
        for die in scene.dice
    ]
    shown = dice_of_roll(frame.pixels, replace(scene, dice=tuple(dice)), roll)
    blues = {die.plays: die.face_bgr[0] for die in shown}
    assert blues[DieColour.WHITE] > 2 * blues[DieColour.YELLOW]


def test_a_typing_error_teaches_nothing() -> None:
    frame, roll = thrown(1, BLUE)
    scene = READER.read(frame).evidence
    assert scene is not None
    values = dict(roll.coloured)
    values[DieColour.RED], values[DieColour.GREEN] = values[DieColour.GREEN], values[DieColour.RED]
    assert values != dict(roll.coloured)
    assert dice_of_roll(frame.pixels, scene, Roll.of(roll.white, values)) == ()


def test_a_die_that_left_the_game_is_not_learnt_as_another() -> None:
    """Red is closed, but people took the blue die out, and typed the red one's value for it."""
    frame, roll = thrown(1, BLUE)
    without = [each for each in ALL_DICE if each is not DieColour.RED]
    scene = READER.read(frame, without).evidence
    assert scene is not None
    taken = max(scene.dice, key=lambda die: die.colours[PALETTE.index(DieColour.BLUE)])
    lying = replace(scene, dice=tuple(die for die in scene.dice if die is not taken))
    values = dict(roll.coloured)
    values[DieColour.BLUE] = values.pop(DieColour.RED)
    assert dice_of_roll(frame.pixels, lying, Roll.of(roll.white, values)) == ()


def test_dice_that_left_the_game_stay_known() -> None:
    known = LearntDice()
    for seed in range(FEWEST):
        known = learn(known, shown(seed))
    fewer = learn(known, shown(FEWEST)[:-1])
    assert sorted(die.plays.value for die in fewer.known) == sorted(c.value for c in ALL_DICE)


def test_learnt_colours_follow_the_light() -> None:
    known = LearntDice()
    for level in (200.0, 200.0, 200.0, *[180.0] * 20):
        known = learn(known, [CustomDie(COLOURED[0], (40.0, 40.0, level), (0, 1, 0, 0, 0, 0))])
    (red,) = known.known
    assert red.face_bgr == pytest.approx((40.0, 40.0, 183.0), abs=3.0)


def test_pips_that_a_roll_did_not_show_stay_known() -> None:
    seen = CustomDie(DieColour.BLUE, (180.0, 60.0, 40.0), (0, 0, 0, 0, 1, 0), (240.0, 240.0, 240.0))
    unseen = replace(seen, pips_bgr=None)
    for rolls in ((seen, unseen), (unseen, seen)):
        known = LearntDice()
        for die in rolls:
            known = learn(known, [die])
        assert known.dice[0].pips_bgr == seen.pips_bgr


def test_white_and_yellow_are_told_apart_in_warm_light() -> None:
    """As measured in eight throws under a lamp that leaves the camera hardly any blue."""
    whites = [(7, 112, 213), (3, 103, 207), (6, 95, 187), (3, 119, 232), (7, 64, 123)]
    yellows = [(5, 88, 219), (3, 87, 223), (3, 78, 198), (3, 90, 223), (4, 82, 212)]
    known = LearntDice()
    for white, yellow in zip(whites, yellows, strict=True):
        dice = (
            CustomDie(DieColour.WHITE, white, (0.8, 0.0, 0.2, 0.0, 0.0, 0.0)),
            CustomDie(DieColour.YELLOW, yellow, (0.2, 0.0, 0.8, 0.0, 0.0, 0.0)),
        )
        known = learn(known, dice)
    torn = np.array([0.5, 0.0, 0.5, 0.0, 0.0, 0.0], np.float32)
    for face, colour in (
        ((5, 106, 210), DieColour.WHITE),
        ((7, 97, 181), DieColour.WHITE),
        ((6, 84, 212), DieColour.YELLOW),
        ((1, 86, 223), DieColour.YELLOW),
    ):
        colours, is_strange = compare_with_set(torn, np.array(face, np.float64), known.known)
        assert colours[PALETTE.index(colour)] > 0.9
        assert not is_strange


@pytest.mark.slow
@pytest.mark.parametrize(
    "blue_is",
    [
        pytest.param((0.4, 0.08, 0.35), id="purple"),
        pytest.param((0.45, 0.25, 0.8), id="pink"),
        pytest.param(ORANGE, id="orange"),
        pytest.param((0.02, 0.02, 0.02), id="black"),
        pytest.param((0.5, 0.5, 0.05), id="turquoise"),
    ],
)
def test_of_25_throws_with_a_die_of_another_colour_22_follow_on_three(blue_is: Bgr) -> None:
    table = CalibratedReader(READER, None)
    plain = learnt = 0
    for seed in range(100, 100 + FEWEST + 25):
        frame, roll = thrown(seed, blue_is)
        if seed >= 100 + FEWEST:
            alone, reading = READER.read(frame), table.read(frame)
            assert alone.roll in (None, roll)
            assert reading.roll in (None, roll)
            plain += alone.roll == roll
            learnt += reading.roll == roll
        table.learn(frame, roll)
    print(f"announced: {plain} of 25 at once, {learnt} of 25 after {FEWEST} confirmed rolls")
    assert learnt >= 22


def test_other_dice_take_the_place_of_the_learnt_ones_after_three_rolls() -> None:
    def shown(bgr: Bgr) -> list[CustomDie]:
        return [CustomDie(DieColour.BLUE, bgr, (0.0, 0.0, 0.0, 0.0, 1.0, 0.0))]

    blue, orange, known = (180.0, 60.0, 40.0), (20.0, 120.0, 230.0), LearntDice()
    for _ in range(FEWEST):
        known = learn(known, shown(blue))
    for _ in range(FEWEST - 1):
        known = learn(known, shown(orange))
        assert known.known[0].face_bgr == pytest.approx(blue)
    assert learn(known, shown(orange)).known[0].face_bgr == pytest.approx(orange)
