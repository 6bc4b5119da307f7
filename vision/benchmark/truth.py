"""Truth files: what lies in pictures, for the bench to score readings against."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from companion.engine.dice import ALL_DICE, DieColour
from companion.errors import PictureError
from companion.tray import TrayStatus
from companion.wire.files import read_text
from vision.images import load_picture
from vision.reading import Pixels, Point

MOST_BYTES = 32 * 1024**2
"""A line has under 2 kB, and nobody has annotated more than some thousand pictures."""

_UNUSABLE = (ValueError, LookupError, TypeError, AttributeError, OverflowError, RecursionError)

Box = tuple[float, float, float, float]
"""Left, top, right, bottom in px."""


@dataclass(frozen=True, slots=True)
class TrueDie:
    """One labelled die, in px of the picture as it is scored.

    Attributes:
        edge_px: Its width; None where the source does not tell.
        counted: False where the label is unsure or the top face cannot be read.
        box: Where the source has one.
    """

    colour: str | None
    value: int | None
    centre_xy: Point
    edge_px: float | None
    counted: bool = True
    box: Box | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """One picture and what is true of it.

    Attributes:
        expected: None for photos, where only the dice are scored.
        readable: Whether `ok` with the right values is right, whatever is expected.
        faint: Whether `uncertain` is right as well.
        special_dice: Which of the dice are no part of the roll.
        looks: What floor, light and dice look like, in the words of the set.
    """

    name: str
    expected: TrayStatus | None
    in_play: tuple[DieColour, ...]
    readable: bool
    dice: tuple[TrueDie, ...]
    faint: bool = False
    special_dice: frozenset[int] = frozenset()
    looks: tuple[str, ...] = ()


def load_cases(folder: Path) -> list[Case]:
    """The cases of a folder's `truth.jsonl`, frames or photos.

    Raises:
        PictureError: There is none, or a line of it cannot be used.
    """
    path = folder / "truth.jsonl"
    try:
        lines = read_text(path, MOST_BYTES).split("\n")
    except OSError as error:
        text = f"{folder}: expected a truth.jsonl beside the pictures: {error.strerror}"
        raise PictureError(text) from error
    except ValueError as error:
        raise PictureError(f"{path}: expected a truth file, got {error}") from error
    cases = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            cases.append(parse_case(json.loads(line)))
        except KeyError as error:
            raise PictureError(f"{path}:{number}: expected {error} in the truth object") from error
        except _UNUSABLE as error:
            raise PictureError(f"{path}:{number}: expected a truth object, got {error}") from error
    if not cases:
        raise PictureError(f"{path}: expected truth objects, got none")
    return cases


def parse_case(line: Mapping[str, Any]) -> Case:
    """One object of a truth file; the sets of frames and of photos name some keys differently.

    Raises:
        ValueError, LookupError, TypeError, AttributeError, OverflowError: It is none.
    """
    if not isinstance(line["file"], str):
        raise TypeError(f"the file name {line['file']!r}")
    if "expected" not in line:
        usable = line.get("quality", "usable") == "usable"
        dice = tuple(_photo_die(die, usable) for die in line["dice"])
        return Case(line["file"], None, ALL_DICE, True, dice)
    in_play = tuple(DieColour(c) for c in line.get("dice_in_play", ALL_DICE))
    if not in_play:
        raise ValueError("no dice in play")
    expected = TrayStatus(line["expected"])
    dice = tuple(_frame_die(die) for die in line["dice"])
    special = frozenset(
        n
        for n, (die, labels) in enumerate(zip(dice, line["dice"], strict=True))
        if not labels.get("in_tray", True) or die.value is None
    )
    readable = bool(line.get("values_readable", expected is TrayStatus.OK))
    if line.get("almost_settled") and line.get("values"):
        dice, special, readable = _settled(dice, line["values"]), frozenset(), True
    faint = bool(line.get("glare_or_faint"))
    looks = tuple(str(look) for look in line.get("looks", ()))
    return Case(line["file"], expected, in_play, readable, dice, faint, special, looks)


def _settled(dice: tuple[TrueDie, ...], values: Any) -> tuple[TrueDie, ...]:
    """Dice whose motion is too small to see, with the values they come to rest with."""
    left = [(str(colour), int(value)) for colour, value in values]
    known = []
    for die in dice:
        pair = next((p for p in left if p[0] == die.colour and die.value in (None, p[1])), None)
        if pair is not None:
            left.remove(pair)
            die = replace(die, value=pair[1])
        known.append(die)
    return tuple(known)


def _photo_die(die: Mapping[str, Any], usable: bool) -> TrueDie:
    box = die.get("box")
    corners = _box(box) if box else None
    x, y = die["centre"]
    value = _value(die["value"])
    return TrueDie(
        _colour(die.get("colour")),
        value,
        (float(x), float(y)),
        max(corners[2] - corners[0], corners[3] - corners[1]) if corners else None,
        value is not None and bool(die.get("certain", True)) and usable,
        corners,
    )


def _frame_die(die: Mapping[str, Any]) -> TrueDie:
    x, y = die["center_px"]
    value = _value(die["value"])
    visible = die.get("top_visible", 1.0)  # null for a die in motion
    return TrueDie(
        _colour(die.get("colour")),
        value,
        (float(x), float(y)),
        float(die["edge_px"]),
        value is not None and visible is not None and float(visible) > 0.9,
    )


def _value(value: Any) -> int | None:
    if value is None or (isinstance(value, int) and 1 <= value <= 6):
        return value
    raise ValueError(f"the value {value!r}")


def _colour(colour: Any) -> str | None:
    if colour is None or isinstance(colour, str):
        return colour
    raise ValueError(f"the colour {colour!r}")


def _box(box: Any) -> Box:
    left, top, right, bottom = (float(v) for v in box)
    return left, top, right, bottom


def scaled(case: Case, factor: float) -> Case:
    """The case for a picture made larger or smaller."""
    dice = tuple(
        replace(
            die,
            centre_xy=(die.centre_xy[0] * factor, die.centre_xy[1] * factor),
            edge_px=None if die.edge_px is None else die.edge_px * factor,
            box=None if die.box is None else _box(v * factor for v in die.box),
        )
        for die in case.dice
    )
    return replace(case, dice=dice)


def shrunk(pixels: Pixels, size_wh: tuple[int, int]) -> tuple[Pixels, float]:
    """The picture scaled to fit a size without stretching it, and the factor."""
    height, width = pixels.shape[:2]
    factor = min(size_wh[0] / width, size_wh[1] / height)
    to = (max(1, round(width * factor)), max(1, round(height * factor)))
    how = cv2.INTER_AREA if factor < 1 else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(pixels, to, interpolation=how), np.uint8), factor


def pictures(
    folder: Path,
    size_wh: tuple[int, int] | None = None,
    unread: Callable[[PictureError], None] | None = None,
    load: Callable[[Path], Pixels] = load_picture,
) -> Iterator[tuple[Case, Pixels]]:
    """The cases of a folder with their pixels, scaled to fit a size where one is given.

    Args:
        unread: Told of each picture that cannot be read; without it the first one raises.
        load: Decodes a file.
    """
    for case in load_cases(folder):
        try:
            pixels = load(folder / case.name)
        except PictureError as error:
            if unread is None:
                raise
            unread(error)
            continue
        if size_wh is not None:
            pixels, factor = shrunk(pixels, size_wh)
            case = scaled(case, factor)
        yield case, pixels
