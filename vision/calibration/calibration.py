"""What was measured of one tray: where it lies, its light and its dice. Readable TOML.

    size_wh = [640, 480]                       # of the pictures it was measured on
    tray_px = [[30, 20], [610, 25], [600, 460], [40, 455]]   # corners of the floor, in order
    white_balance_bgr = [1.10, 1.0, 0.92]      # gains that turn the white dice grey

    [camera]                                   # what its exposure and colours are held at
    exposure = 157.0

    [[die]]                                    # each of the household's six dice
    plays = "blue"
    face_bgr = [150.0, 60.0, 40.0]             # colour of its top face
    taken_for = [0.0, 0.0, 0.0, 0.01, 0.99, 0.0]   # white red yellow green blue none
    pips_bgr = [230.0, 232.0, 235.0]           # colour of its pips; may be left out

    [reference]                                # the tray in small, to see whether it was moved
    grey = ["0a0b...", ...]                    # 72 rows of 96 grey levels
    colours = ["0a0b0c...", ...]               # 12 rows of 16 cells: blue, green, red

Every key but `size_wh` may be left out.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from companion.engine.dice import ALL_DICE, DieColour
from companion.errors import ConfigError
from vision.calibration.drift import COLOUR_WH, GREY_WH, Reference
from vision.eye.known_dice import KnownDie
from vision.reading import Point

FILE_NAME = "tray.toml"
"""What `calibrate` calls its file in the data directory, where `play` looks for it."""

_DIE_KEYS = ("plays", "face_bgr", "taken_for", "pips_bgr")
_KEYS = ("size_wh", "tray_px", "white_balance_bgr", "camera", "die", "reference")


@dataclass(frozen=True, slots=True)
class Calibration:
    """A tray's calibration; None or empty where something was not measured.

    Attributes:
        tray_px: Corners of the tray's floor, in order round it, in px of a `size_wh` picture.
        white_balance_bgr: Gains for blue, green, red.
        camera: What the camera's controls are held at, by its driver's names and units.
        dice: The household's dice.
        reference: The tray as it looked.
    """

    size_wh: tuple[int, int]
    tray_px: tuple[Point, ...] | None = None
    white_balance_bgr: tuple[float, float, float] | None = None
    camera: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    dice: tuple[KnownDie, ...] = ()
    reference: Reference | None = None


_STRETCHED = 1.02


def is_same_shape(one_wh: tuple[int, int], other_wh: tuple[int, int]) -> bool:
    """Whether pictures of both sizes can show the same: of another shape they are cut elsewhere."""
    stretched = one_wh[0] * other_wh[1] / (one_wh[1] * other_wh[0])
    return 1.0 / _STRETCHED < stretched < _STRETCHED


def find_calibration(named: str, data_dir: Path) -> Path | None:
    """The file that `camera.calibration` means, or None where it means none or there is none."""
    path = place_of(named, data_dir)
    return None if named == "none" or (named == "auto" and not path.is_file()) else path


def place_of(named: str, data_dir: Path) -> Path:
    """Where what is measured is kept: the file that was named, else the data directory's."""
    if named in ("auto", "none"):
        return data_dir / FILE_NAME
    try:
        return Path(named).expanduser()
    except RuntimeError as error:
        raise ConfigError(f"{named}: {error}") from error


def load_calibration(path: str | Path) -> Calibration:
    """Read a calibration file.

    Raises:
        ConfigError: It cannot be read, or a key has a value that makes no sense.
    """
    if Path(path).is_fifo():  # it might be waited for for ever
        raise ConfigError(f"{path}: cannot read the calibration: expected a file, got a named pipe")
    try:
        table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot read the calibration: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: expected a calibration in TOML: {error}") from error
    unknown = sorted(set(table) - set(_KEYS))
    if unknown:
        raise ConfigError(f"{path}: expected the keys of a calibration, got {unknown[0]!r}")
    width, height = _numbers(path, table, "size_wh", 2, 1.0, 1e5) or (0.0, 0.0)
    if not width:
        raise ConfigError(f"{path}: size_wh: expected [width, height], got nothing")
    gains = _numbers(path, table, "white_balance_bgr", 3, 0.2, 5.0)
    return Calibration(
        (int(width), int(height)),
        _corners(path, table, (width, height)),
        None if gains is None else (gains[0], gains[1], gains[2]),
        _camera(path, table),
        _dice(path, table),
        _reference(path, table),
    )


def save_calibration(path: Path, calibration: Calibration) -> None:
    """Write a calibration file, whole or not at all; one there that cannot be read is set aside.

    Raises:
        ConfigError: It cannot be written.
    """
    aside = path.with_name(path.name + ".new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _set_aside_if_damaged(path)
        with open(aside, "w", encoding="utf-8") as file:
            file.write(as_toml(calibration))
            file.flush()
            os.fsync(file.fileno())
        aside.replace(path)
    except OSError as error:
        with suppress(OSError):
            aside.unlink(missing_ok=True)
        raise ConfigError(f"{path}: cannot write the calibration: {error.strerror}") from error


def _set_aside_if_damaged(path: Path) -> None:
    """What somebody mistyped is not lost."""
    if path.is_file():
        try:
            load_calibration(path)
        except ConfigError:
            path.replace(path.with_name(path.name + ".bad"))


def as_toml(calibration: Calibration) -> str:
    """The text of a calibration file."""
    lines = [
        "# Measured by dice-companion calibrate. Every key but size_wh may be taken out.",
        f"size_wh = [{calibration.size_wh[0]}, {calibration.size_wh[1]}]",
    ]
    if calibration.tray_px is not None:
        lines.append(f"tray_px = [{', '.join(_row(corner, 1) for corner in calibration.tray_px)}]")
    if calibration.white_balance_bgr is not None:
        lines.append(f"white_balance_bgr = {_row(calibration.white_balance_bgr, 4)}")
    if calibration.camera:
        lines += ["", "[camera]"]
        lines += [
            f"{_key(name)} = {float(value)}" for name, value in sorted(calibration.camera.items())
        ]
    for die in calibration.dice:
        lines += ["", "[[die]]", f'plays = "{die.plays.value}"']
        lines.append(f"face_bgr = {_row(die.face_bgr, 1)}")
        lines.append(f"taken_for = {_row(die.taken_for, 4)}  # white red yellow green blue none")
        if die.pips_bgr is not None:
            lines.append(f"pips_bgr = {_row(die.pips_bgr, 1)}")
    if calibration.reference is not None:
        lines += ["", "[reference]  # the tray in small"]
        for name, data, length in (
            ("grey", calibration.reference.grey, GREY_WH[0]),
            ("colours", calibration.reference.colours, 3 * COLOUR_WH[0]),
        ):
            rows = [data[at : at + length].hex() for at in range(0, len(data), length)]
            lines += [f"{name} = [", *(f'  "{row}",' for row in rows), "]"]
    return "\n".join(lines) + "\n"


def _key(name: str) -> str:
    plain = name.isascii() and name.replace("-", "_").isidentifier()
    return name if plain else json.dumps(name, ensure_ascii=True)


def _row(values: Sequence[float], digits: int) -> str:
    return "[" + ", ".join(str(round(float(value), digits)) for value in values) + "]"


def _numbers(
    path: str | Path, table: dict[str, Any], key: str, count: int, low: float, high: float
) -> list[float] | None:
    value = table.get(key)
    if value is None:
        return None
    good = isinstance(value, list) and len(value) == count
    good = good and all(type(v) in (int, float) and low <= v <= high for v in value)  # no NaN
    if not good:
        raise ConfigError(
            f"{path}: {key}: expected {count} numbers from {low:g} to {high:g}, got {value!r}"
        )
    return [float(v) for v in value]


_BEYOND = 1.0
"""So far beyond the picture, in pictures, may a corner of the tray lie."""
_LEAST_FLOOR = 0.01
"""Least share of the picture that a tray's floor takes."""


def _corners(
    path: str | Path, table: dict[str, Any], size_wh: tuple[float, float]
) -> tuple[Point, ...] | None:
    value = table.get("tray_px")
    if value is None:
        return None
    good = isinstance(value, list) and len(value) >= 3
    good = good and all(
        isinstance(p, list)
        and len(p) == 2
        and all(
            type(v) in (int, float) and -_BEYOND * size <= v <= (1.0 + _BEYOND) * size
            for v, size in zip(p, size_wh, strict=True)
        )
        for p in value
    )
    if not good:
        raise ConfigError(
            f"{path}: tray_px: expected three or more [x, y] in or near the picture, got {value!r}"
        )
    corners = tuple((float(p[0]), float(p[1])) for p in value)
    if _area(corners) < _LEAST_FLOOR * size_wh[0] * size_wh[1]:
        raise ConfigError(f"{path}: tray_px: expected corners round a floor, got {value!r}")
    return corners


def _area(corners: Sequence[Point]) -> float:
    """What corners enclose, in px squared."""
    pairs = zip(corners, [*corners[1:], corners[0]], strict=True)
    return abs(sum(a[0] * b[1] - b[0] * a[1] for a, b in pairs)) / 2.0


_LARGEST = 1e12
"""No camera's control goes further."""


def _camera(path: str | Path, table: dict[str, Any]) -> Mapping[str, float]:
    value = table.get("camera", {})
    good = isinstance(value, dict) and all(
        type(v) in (int, float) and -_LARGEST <= v <= _LARGEST for v in value.values()
    )
    if not good:
        raise ConfigError(f"{path}: camera: expected names and numbers, got {value!r}")
    return MappingProxyType({name: float(number) for name, number in value.items()})


def _dice(path: str | Path, table: dict[str, Any]) -> tuple[KnownDie, ...]:
    entries = table.get("die", [])
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise ConfigError(f"{path}: die: expected [[die]] tables, got {entries!r}")
    dice = tuple(_die(f"{path}: die {n}", entry) for n, entry in enumerate(entries, 1))
    if dice and sorted(die.plays.value for die in dice) != sorted(c.value for c in ALL_DICE):
        raise ConfigError(
            f"{path}: die: expected none or the six of the game (two white, red, yellow, green, "
            f"blue), got {', '.join(die.plays.value for die in dice)}"
        )
    return dice


def _die(where: str, entry: dict[str, Any]) -> KnownDie:
    unknown = sorted(set(entry) - set(_DIE_KEYS))
    if unknown:
        raise ConfigError(f"{where}: expected {', '.join(_DIE_KEYS)}, got {unknown[0]!r}")
    colours = [colour.value for colour in DieColour]
    if entry.get("plays") not in colours:
        raise ConfigError(
            f"{where}: plays: expected {', '.join(colours)}, got {entry.get('plays')!r}"
        )
    face = _numbers(where, entry, "face_bgr", 3, 0.0, 255.0)
    taken = _numbers(where, entry, "taken_for", 6, 0.0, 1.0)
    if face is None or taken is None:
        missing = "face_bgr" if face is None else "taken_for"
        raise ConfigError(f"{where}: {missing}: expected numbers, got nothing")
    pips = _numbers(where, entry, "pips_bgr", 3, 0.0, 255.0)
    return KnownDie(
        DieColour(entry["plays"]),
        (face[0], face[1], face[2]),
        tuple(taken),
        None if pips is None else (pips[0], pips[1], pips[2]),
    )


def _reference(path: str | Path, table: dict[str, Any]) -> Reference | None:
    value = table.get("reference")
    if value is None:
        return None
    if not isinstance(value, dict):
        raise ConfigError(f"{path}: reference: expected a table, got {value!r}")
    return Reference(
        _rows(f"{path}: reference.grey", value.get("grey"), GREY_WH[0] * GREY_WH[1]),
        _rows(f"{path}: reference.colours", value.get("colours"), 3 * COLOUR_WH[0] * COLOUR_WH[1]),
    )


def _rows(where: str, rows: object, length: int) -> bytes:
    try:
        data = bytes.fromhex("".join(rows)) if isinstance(rows, list) else b""
    except (TypeError, ValueError):
        data = b""
    if len(data) != length:
        raise ConfigError(f"{where}: expected rows of hexadecimal digits for {length} bytes")
    return data
