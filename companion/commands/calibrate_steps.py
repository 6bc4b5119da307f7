"""The steps of `dice-companion calibrate`, each on one workbench."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from companion.commands.console import problem_in_words, waiting
from companion.commands.doctor import PICTURE_CURES
from companion.commands.drawings import write_drawing
from companion.commands.params import Parsed
from companion.engine.dice import ALL_DICE, DieColour, Roll
from companion.errors import CalibrationError

if TYPE_CHECKING:
    from vision.calibration.calibration import Calibration
    from vision.cameras.camera import Camera
    from vision.reading import Frame, Point, Reading

_HELD_WITHIN_S = 8.0
"""Seconds within which a device holds its exposure, if it can."""

_PATIENCE_S, _STILL_PATIENCE_S = 6.0, 0.2
"""Seconds to wait for a reading; a still picture does not change."""


@dataclass(slots=True)
class Workbench:
    """Camera and calibration that the steps share.

    Attributes:
        out: The calibration file, written after each step.
        is_quiet: Whether all proposals are taken without asking.
        report: The result of each step, for `--json`.
        is_saved: Whether any step measured something that is kept.
    """

    camera: Camera
    calibration: Calibration
    out: Path
    is_quiet: bool
    report: dict[str, Any] = field(default_factory=dict)
    is_saved: bool = False

    def say(self, text: str) -> None:
        """Print to standard error; standard output is for the report."""
        click.echo(text, err=True)

    def wait_for(self, task: str) -> None:
        """Ask for something to be done by hand, and wait for Enter."""
        if not self.is_quiet:
            click.prompt(f"{task}, then press Enter", default="", show_default=False, err=True)

    def keep(self, **measured: Any) -> None:
        """Save what a step measured."""
        from vision.calibration.calibration import save_calibration

        self.calibration = replace(self.calibration, **measured)
        save_calibration(self.out, self.calibration)
        self.is_saved = True


def check_light(bench: Workbench, frame: Frame) -> None:
    """Report whether the picture is too dark, overexposed or blurred, and the cure."""
    from vision.calibration.light import measure_light

    faults = measure_light(frame.pixels).faults
    for fault in faults:
        what, cure = PICTURE_CURES[fault]
        bench.say(f"light: {what} -> {cure}")
    if not faults:
        bench.say("light: bright and sharp enough")
    bench.report["light"] = [fault.value for fault in faults]


def find_corners(bench: Workbench, frame: Frame, given: tuple[Point, ...] | None) -> None:
    """Save the given or the proposed corners, with a reference picture of the tray.

    Saved dice keep the light that they were measured in.
    """
    from vision.calibration.calibration import check_corners
    from vision.setup.corners import propose_corners
    from vision.setup.measure import reference_of

    corners = given if given is not None else propose_corners(frame.pixels)
    if corners is None:
        text = 'corners: found no tray; pass them with --corners "x,y x,y ..."'
        raise CalibrationError(text, reason="no_tray")
    check_corners(corners, frame.size_wh)
    bench.say("corners: " + " ".join(f"{x:.0f},{y:.0f}" for x, y in corners))
    bench.keep(tray_px=corners, reference=reference_of(frame, bench.calibration))
    drawn = _draw(bench, frame, None)
    bench.say(f"corners: drawn into {drawn}; if they are wrong, pass them with --corners")
    bench.report["corners"] = [[round(x, 1), round(y, 1)] for x, y in corners]


def hold_exposure(bench: Workbench) -> None:
    """Save the camera's current exposure, gain and white balance."""
    began_s: float | None = None
    while bench.camera.kind.is_device and bench.camera.controls is None:
        frame = bench.camera.read()
        if frame is None:
            continue
        began_s = frame.captured_at_s if began_s is None else began_s
        if frame.captured_at_s - began_s > _HELD_WITHIN_S:
            break
    held = dict(bench.camera.controls or {})
    if held:
        bench.keep(camera=held)
    shown = ", ".join(f"{name} {value:g}" for name, value in sorted(held.items()))
    bench.say(f"exposure: {shown or 'this camera can’t hold its exposure'}")
    bench.report["exposure"] = held


def learn_dice(bench: Workbench, plays: tuple[DieColour, ...] | None) -> None:
    """Measure the six dice, custom ones too, and the white balance from the white ones."""
    from vision.calibration.drift import in_the_light_of, take_reference
    from vision.setup.measure import colours_played, faults_of, known_dice, measured_dice

    _next_picture(bench)
    bench.wait_for("Put all six dice into the tray, flat and apart from each other")
    while True:
        try:
            _throw_simulated(bench)
            frame, _ = _read(bench, "Reading the dice")
            shown, gains = measured_dice(frame, bench.calibration)
            break
        except CalibrationError as error:
            if bench.is_quiet:
                raise
            bench.say(f"{error}")
            bench.wait_for("Correct that")
    colours = plays if plays is not None else colours_played(shown)
    names = [
        f"{die.plays.value}{' (a custom die)' if die.is_odd else ''}"
        for die in known_dice(shown, colours)
    ]
    bench.say(f"dice, from left to right: {', '.join(names)}")
    for fault in faults_of(shown):
        bench.say(f"dice: {' -> '.join(PICTURE_CURES[fault])}")
    if plays is None and not bench.is_quiet and not click.confirm("Right?", True, err=True):
        question, parse = "Their colours, from left to right", Parsed(parse_colours).convert
        colours = click.prompt(question, err=True, value_proc=lambda text: parse(text, None, None))
    dice = known_dice(shown, colours)
    light = in_the_light_of(bench.calibration.reference, take_reference(frame.pixels))
    bench.keep(white_balance_bgr=gains, dice=dice, reference=light)
    bench.report["dice"] = [{"plays": die.plays.value, "odd": die.is_odd} for die in dice]


def try_rolls(bench: Workbench, rolls: int) -> None:
    """Read a few rolls and ask whether each reading is right; without questions nobody judges."""
    right = wrong = unsure = 0
    for number in range(1, rolls + 1):
        if not _next_picture(bench):
            break
        if not _throw_simulated(bench):
            bench.wait_for(
                f"Roll {number} of {rolls}: throw all six dice and wait until they lie still"
            )
        frame, reading = _read(bench, f"Roll {number} of {rolls}: reading the dice")
        if reading.roll is None:
            unsure += 1
            problems = {
                (p.code.value, p.colour.value if p.colour else None) for p in reading.problems
            }
            why = ", ".join(sorted(problem_in_words(code, colour) for code, colour in problems))
            bench.say(f"roll {number}: unsure ({why})")
        elif bench.is_quiet or click.confirm(
            f"roll {number}: {as_text(reading.roll)}. Right?", True, err=True
        ):
            right += 1
        else:
            wrong += 1
        _draw(bench, frame, reading)
    tried = right + wrong + unsure
    judged = f"{right} read" if bench.is_quiet else f"{right} correct"
    also = "" if bench.is_quiet else f", {wrong} wrong"
    bench.say(f"of {tried} rolls: {judged}, {unsure} sent back as unsure{also}")
    if wrong:
        bench.say("wrong readings: wipe the lens, check the light, and measure the dice again")
    elif unsure > tried // 5:
        bench.say(
            "often unsure: try more even light, a matt tray, dice that don't touch, and measuring "
            "the dice again"
        )
    verdicts = {"read": right} if bench.is_quiet else {"right": right, "wrong": wrong}
    bench.report["rolls"] = {"rolls": tried, "unsure": unsure, **verdicts}


def as_text(roll: Roll) -> str:
    """A roll as text."""
    coloured = [f"{colour.value} {value}" for colour, value in roll.coloured]
    return ", ".join([f"white {roll.white[0]} and {roll.white[1]}", *coloured])


def _next_picture(bench: Workbench) -> bool:
    """Show the next picture of a folder, as after a roll; False after its last one."""
    from vision.cameras.camera import PictureSequence

    return not isinstance(bench.camera, PictureSequence) or bench.camera.show_next()


def _throw_simulated(bench: Workbench) -> bool:
    """Throw the dice of the simulated tray; False for a real one."""
    from vision.simulation.camera import SimulatedTray

    if not isinstance(bench.camera, SimulatedTray):
        return False
    bench.camera.throw(ALL_DICE)
    return True


def _read(bench: Workbench, task: str) -> tuple[Frame, Reading]:
    """Wait until dice lie still, and read them."""
    from vision.cameras.camera import PictureSequence
    from vision.setup.measure import read_roll

    is_still = isinstance(bench.camera, PictureSequence)
    patience_s = _STILL_PATIENCE_S if is_still else _PATIENCE_S
    with waiting(task):
        return read_roll(bench.camera, bench.calibration, patience_s=patience_s)


def _draw(bench: Workbench, frame: Frame, reading: Reading | None) -> Path:
    """Draw the tray's corners and the reading into a picture beside the calibration file."""
    import cv2
    import numpy as np

    from vision.overlay import draw_reading

    picture = frame.pixels.copy() if reading is None else draw_reading(frame.pixels, reading)
    if bench.calibration.tray_px is not None:
        outline = np.round(np.array(bench.calibration.tray_px)).astype(np.int32)
        cv2.polylines(picture, [outline], True, (255, 0, 255), 2, cv2.LINE_AA)
    return write_drawing(bench.out.with_suffix(".jpg"), picture)


def parse_colours(text: str) -> tuple[DieColour, ...]:
    """Parse six colours, two of them white.

    Raises:
        ValueError: They are other colours.
    """
    names = text.replace(",", " ").lower().split()
    if sorted(names) != sorted(colour.value for colour in ALL_DICE):
        raise ValueError(f"expected white, white, red, yellow, green and blue, got {text!r}")
    return tuple(DieColour(name) for name in names)
