"""`dice-companion read`: read the dice in single pictures."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from companion.commands.console import complain, problem_in_words, without_library_messages
from companion.commands.drawings import Drawings
from companion.commands.params import A_DIRECTORY, A_FILE, Parsed
from companion.engine.dice import DieColour
from companion.errors import PictureError

if TYPE_CHECKING:
    from vision.calibration.reader import Change
    from vision.reading import Reading


def parse_in_play(text: str) -> tuple[DieColour, ...]:
    """Parse a comma list of dice: at most two whites and one of each colour.

    Raises:
        ValueError: It names something else, or too many of one colour.
    """
    names = [part.strip().lower() for part in text.split(",") if part.strip()]
    allowed = [colour.value for colour in DieColour]
    for name in names:
        if name not in allowed:
            raise ValueError(f"expected {', '.join(allowed)}, got {name!r}")
    for colour in DieColour:
        most = 2 if colour is DieColour.WHITE else 1
        if names.count(colour.value) > most:
            raise ValueError(f"expected at most {most} {colour.value}, got {text!r}")
    if not names:
        raise ValueError(f"expected at least one die, got {text!r}")
    return tuple(DieColour(name) for name in names)


@click.command()
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per picture.")
@click.option(
    "--in-play",
    default="white,white,red,yellow,green,blue",
    show_default=True,
    type=Parsed(parse_in_play),
    help="The dice the game expects.",
)
@click.option("--calibration", type=A_FILE, metavar="FILE", help="Calibration of this tray.")
@click.option(
    "--annotate",
    type=A_DIRECTORY,
    metavar="DIR",
    help="Write the pictures with the reading drawn in; only earlier drawings are replaced.",
)
def read(
    paths: tuple[str, ...],
    as_json: bool,
    in_play: tuple[DieColour, ...],
    calibration: Path | None,
    annotate: Path | None,
) -> None:
    """Read the dice in pictures (files or folders of JPEG and PNG).

    Example: dice-companion read --annotate drawn photos/
    """
    from vision.calibration.calibration import load_calibration
    from vision.calibration.reader import ADVICE, what_changed, what_holds, what_to_tell
    from vision.images import load_frame
    from vision.pipeline import DiceReader

    measured = load_calibration(calibration) if calibration is not None else None
    files = _files(paths)
    pictures = [name for name in files if isinstance(name, str)]
    drawings = Drawings(annotate, pictures) if annotate is not None else None
    reader = DiceReader()
    reader.get_ready()
    failed = False
    holds = measured
    said: set[Change] = set()
    for name in files:
        if isinstance(name, PictureError):
            complain(name)
            failed = True
            continue
        try:
            with without_library_messages():
                frame = load_frame(name)
        except PictureError as error:
            complain(error)
            failed = True
            continue
        started = time.perf_counter()
        if measured is not None:
            changes = what_changed(measured, frame)
            holds = what_holds(measured, changes)
            for change in set(what_to_tell(measured, changes)[:1]) - said:
                said.add(change)
                complain(f"{name}: {ADVICE[change]}")
        reading = reader.read(frame, in_play, calibration=holds)
        elapsed_ms = (time.perf_counter() - started) * 1e3
        line = as_line(name, reading, elapsed_ms)
        click.echo(json.dumps(line) if as_json else _readable(line))
        if drawings is not None:
            drawings.add(Path(name).stem, frame.pixels, reading)
    if failed or (drawings is not None and drawings.failed):
        sys.exit(1)


def as_line(name: str, reading: Reading, elapsed_ms: float) -> dict[str, Any]:
    """The JSON object of one reading."""
    return {
        "file": name,
        "status": reading.status.value,
        "elapsed_ms": round(elapsed_ms, 1),
        "dice": [
            {
                "colour": die.colour.value if die.colour else None,
                "value": die.value,
                "confidence": round(die.confidence, 4),
                "centre": [round(v, 1) for v in die.centre_xy],
                "corners": [[round(v, 1) for v in corner] for corner in die.corners_xy],
                "cocked": die.cocked,
                "in_tray": die.in_tray,
            }
            for die in reading.dice
        ],
        "problems": [
            {"code": p.code.value, "colour": p.colour.value if p.colour else None}
            for p in reading.problems
        ],
    }


def _files(paths: tuple[str, ...]) -> list[str | PictureError]:
    """List the named pictures, those of a folder in name order; an empty folder is an error."""
    files: list[str | PictureError] = []
    for path in paths:
        if not path:
            files.append(PictureError("'': expected a picture, got an empty name"))
            continue
        if not os.path.isdir(path):  # pathlib's raises where it may not look
            files.append(path)
            continue
        try:
            inside = sorted(p.name for p in Path(path).iterdir() if _may_be_picture(p))
        except OSError as error:
            files.append(PictureError(f"{path}: cannot read the folder: {error.strerror}"))
            continue
        if not inside:
            files.append(PictureError(f"{path}: expected JPEG or PNG pictures, got none"))
        files += [os.path.join(path, name) for name in inside]
    return files


def _may_be_picture(path: Path) -> bool:
    """Whether a name is that of a visible picture; opening a pipe would block.

    A Mac writes a hidden "._a.jpg", which is no picture, beside every "a.jpg" on a memory stick.
    """
    from vision.images import PICTURE_SUFFIXES

    is_named_so = path.suffix.lower() in PICTURE_SUFFIXES and not path.name.startswith(".")
    return is_named_so and not path.is_fifo() and not path.is_dir()


def _readable(line: dict[str, Any]) -> str:
    dice = ", ".join(
        f"{d['colour'] or 'unknown'} {d['value'] or '?'}"
        + (" not flat" if d["cocked"] else "")
        + ("" if d["in_tray"] else " beside the tray")
        for d in line["dice"]
    )
    problems = ", ".join(problem_in_words(p["code"], p["colour"]) for p in line["problems"])
    text = f"{line['file']}: {line['status']}: {dice or 'no dice'}"
    return text + (f" ({problems})" if problems else "")
