"""`dice-companion calibrate`: measure one tray step by step and write its calibration."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from companion.commands.calibrate_steps import (
    Workbench,
    check_light,
    find_corners,
    hold_exposure,
    learn_dice,
    parse_colours,
    try_rolls,
)
from companion.commands.params import A_DIRECTORY, A_FILE, Parsed
from companion.config import load
from companion.engine.dice import DieColour
from companion.errors import CameraUnavailable, ConfigError
from companion.eventlog.examine import is_in_use
from companion.service.install import environ_to_change, give_to_owner

if TYPE_CHECKING:
    from vision.calibration.calibration import Calibration
    from vision.reading import Frame, Point

STEPS = ("light", "corners", "exposure", "dice", "rolls")

_SILENT = {"exposure"}
"""Steps without a question."""

_NOBODY = "calibrate: expected a terminal to ask questions; --yes asks none"


def _parse_corners(text: str) -> tuple[Point, ...]:
    try:
        points = [tuple(float(part) for part in pair.split(",")) for pair in text.split()]
    except ValueError:
        points = []
    if len(points) < 3 or any(len(point) != 2 for point in points):
        raise ValueError(f"expected three or more x,y separated by spaces, got {text!r}")
    return tuple((point[0], point[1]) for point in points)


@click.command()
@click.option("--camera", help="As in play: a device, pi, simulated, a picture, a folder.")
@click.option(
    "--only", multiple=True, type=click.Choice(STEPS), help="Run this step only; repeatable."
)
@click.option(
    "--corners",
    type=Parsed(_parse_corners),
    help='Corners of the tray: "30,20 610,25 600,460 40,455".',
)
@click.option(
    "--plays", type=Parsed(parse_colours), help="Colours of the dice, from left to right."
)
@click.option(
    "--rolls", type=click.IntRange(0, 100), default=10, show_default=True, help="Test rolls."
)
@click.option("--out", type=A_FILE, help="The file to write.")
@click.option("--yes", is_flag=True, help="Accept every proposal without asking.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object at the end.")
@click.option("--data-dir", type=A_DIRECTORY, help="Where games are kept.")
@click.option("--config", "config_path", type=A_FILE, help="The settings file (TOML).")
def calibrate(
    camera: str | None,
    only: tuple[str, ...],
    corners: tuple[Point, ...] | None,
    plays: tuple[DieColour, ...] | None,
    rolls: int,
    out: Path | None,
    yes: bool,
    as_json: bool,
    data_dir: Path | None,
    config_path: Path | None,
) -> None:
    """Measure one tray: light, corners, exposure, dice and a few test rolls.

    Example: dice-companion calibrate --only corners
    """
    flags: dict[str, object | None] = {"camera.source": camera, "data_dir": data_dir}
    environ = environ_to_change("calibrate", out, data_dir, config_path)
    config = load(config_path, environ, flags)
    if config.camera.source == "none":
        raise ConfigError("calibrate: expected a camera, got 'none'")
    from companion.adapters.camera import open_as_set
    from vision.calibration.calibration import load_calibration, place_of
    from vision.cameras.exposure import exposed_frame

    asked = config.camera
    steps = [step for step in STEPS if (not only or step in only) and (rolls or step != "rolls")]
    is_simulated = asked.source == "simulated"
    path = out or place_of(asked.calibration, config.data_dir, is_simulated=is_simulated)
    for step, given in (("corners", corners), ("dice", plays)):
        if given is not None and step not in steps:
            raise click.UsageError(f"--{'plays' if step == 'dice' else step} needs the step {step}")
    if path.is_dir():
        raise ConfigError(f"{path}: expected a file to write, got a directory")
    if not yes and sys.stdin is None and set(steps) - _SILENT:
        raise ConfigError(_NOBODY)
    before = None
    if path.exists():
        try:
            before = load_calibration(path)
        except ConfigError as error:
            if only:
                raise ConfigError(f"{error}; calibrate anew, without --only") from error
    opened = open_as_set(asked, before if "exposure" not in steps else None)
    try:
        click.echo(f"camera: {opened.description}", err=True)
        if opened.kind == "simulated" and asked.source != "simulated":
            raise CameraUnavailable("calibrate: expected a camera, found none that works")
        frame = exposed_frame(opened)
        begun = _begin(frame, before)
        bench = Workbench(opened, begun, path, yes)
        if before is not None and before.tray_px and not begun.tray_px and "corners" not in steps:
            bench.say("corners: were measured on pictures of another shape; measure them again")
        if {"light", "corners"} & set(steps):
            bench.wait_for("Take everything out of the tray")
            frame = exposed_frame(opened)
        if "light" in steps:
            check_light(bench, frame)
        if "corners" in steps:
            find_corners(bench, frame, corners)
        if "exposure" in steps:
            hold_exposure(bench)
        if "dice" in steps:
            learn_dice(bench, plays)
        if "rolls" in steps:
            try_rolls(bench, rolls)
        if bench.is_saved:
            bench.say(f"saved to {path}")
            if out is None and asked.calibration == "none":
                bench.say("the table does not use it: camera.calibration is none")
            elif out is None and is_in_use(config.data_dir):
                bench.say("the running table uses it from its next start on")
        if as_json:
            click.echo(json.dumps({"file": str(path), **bench.report}))
    except click.Abort:
        if sys.stdin is not None and sys.stdin.isatty():
            raise
        click.echo(err=True)
        raise ConfigError(_NOBODY) from None
    finally:
        opened.close()
        if environ is not os.environ and path.is_file():
            give_to_owner(config.data_dir)


def _begin(frame: Frame, before: Calibration | None) -> Calibration:
    """Start from the existing calibration: each step replaces its part, so that a run that is
    broken off loses nothing."""
    from vision.calibration.calibration import Calibration

    return Calibration(frame.size_wh) if before is None else before.resized(frame.size_wh)
