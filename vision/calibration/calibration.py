"""Measurements of one tray: its place, its light and its dice. Readable TOML.

    size_wh = [640, 480]                       # of the pictures it was measured on
    tray_px = [[30, 20], [610, 25], [600, 460], [40, 455]]   # corners of the floor, in order
    white_balance_bgr = [1.10, 1.0, 0.92]      # gains that turn the white dice grey

    [camera]                                   # what its exposure and colours are held at
    exposure = 157.0

    [[die]]                                    # one of the table's six dice
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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as dataclass_field
from pathlib import Path
from types import MappingProxyType
from typing import Annotated

import cv2
import numpy as np

from companion.engine.dice import ALL_DICE, DieColour
from companion.errors import CalibrationError, ConfigError
from companion.wire.files import read_toml, write_whole
from companion.wire.structs import Meta, Struct, WireError, convert, described, field
from vision.calibration.drift import COLOUR_WH, GREY_WH, Reference
from vision.detector.known_dice import CustomDie
from vision.reading import Point

FILE_NAME, SIMULATED_NAME = "tray.toml", "tray-simulated.toml"
"""Files in the data directory to which `calibrate` writes and from which `play` reads: of the
table's tray, and of the simulated one."""

_LARGEST = 1e12
"""Greatest value of a camera control."""

_Level = Annotated[float, Meta(ge=0.0, le=255.0)]
_Colour = Annotated[tuple[_Level, _Level, _Level], described("3 numbers from 0 to 255")]
_Share = Annotated[float, Meta(ge=0.0, le=1.0)]
_Gain = Annotated[float, Meta(ge=0.2, le=5.0)]
_Size = Annotated[float, Meta(ge=1.0, le=1e5)]


class _DieTable(Struct, forbid_unknown_fields=True):
    """One `[[die]]` of the file."""

    plays: DieColour
    face_bgr: _Colour
    taken_for: Annotated[
        tuple[_Share, _Share, _Share, _Share, _Share, _Share],
        described("6 numbers from 0 to 1"),
    ]
    pips_bgr: _Colour | None = None

    def known_die(self) -> CustomDie:
        """Return the die as the reader uses it."""
        return CustomDie(self.plays, self.face_bgr, self.taken_for, self.pips_bgr)


class _ReferenceTable(Struct):
    """The `[reference]` of the file: rows of hexadecimal digits."""

    grey: Annotated[list[str], described("rows of hexadecimal digits")]
    colours: Annotated[list[str], described("rows of hexadecimal digits")]


class _File(Struct, forbid_unknown_fields=True):
    """A calibration file."""

    size_wh: Annotated[tuple[_Size, _Size], described("[width, height], from 1 to 100000")]
    tray_px: Annotated[
        list[tuple[float, float]] | None,
        described("three or more [x, y] in or near the picture"),
    ] = None
    white_balance_bgr: Annotated[
        tuple[_Gain, _Gain, _Gain] | None, described("3 numbers from 0.2 to 5")
    ] = None
    camera: Annotated[
        dict[str, Annotated[float, Meta(ge=-_LARGEST, le=_LARGEST)]], described("names and numbers")
    ] = field(default_factory=dict)
    die: list[_DieTable] = field(default_factory=list)
    reference: _ReferenceTable | None = None


@dataclass(frozen=True, slots=True)
class Calibration:
    """A tray's calibration; None or empty if something was not measured.

    Attributes:
        tray_px: Corners of the tray's floor, in order round it, in pixels of a `size_wh`
            picture.
        white_balance_bgr: Gains for blue, green, red.
        camera: Held values of the camera's controls, by its driver's names and units.
        dice: The table's own dice.
        reference: The tray's look at the time.
    """

    size_wh: tuple[int, int]
    tray_px: tuple[Point, ...] | None = None
    white_balance_bgr: tuple[float, float, float] | None = None
    camera: Mapping[str, float] = dataclass_field(default_factory=lambda: MappingProxyType({}))
    dice: tuple[CustomDie, ...] = ()
    reference: Reference | None = None

    def resized(self, size_wh: tuple[int, int]) -> Calibration:
        """Return the calibration for pictures of another size; its corners hold in those of the
        same shape."""
        x, y = (now / then for now, then in zip(size_wh, self.size_wh, strict=True))
        corners = self.tray_px if _is_same_shape(size_wh, self.size_wh) else None
        if corners is not None:
            corners = tuple((px * x, py * y) for px, py in corners)
        return replace(self, size_wh=size_wh, tray_px=corners)


_STRETCHED = 1.02


def _is_same_shape(one_wh: tuple[int, int], other_wh: tuple[int, int]) -> bool:
    """Whether pictures of both sizes show the same; another aspect ratio is cropped differently."""
    stretched = one_wh[0] * other_wh[1] / (one_wh[1] * other_wh[0])
    return 1.0 / _STRETCHED < stretched < _STRETCHED


def find_calibration(named: str, data_dir: Path, *, is_simulated: bool) -> Path | None:
    """The file that `camera.calibration` names, or None if there is none; raises as `place_of`."""
    path = place_of(named, data_dir, is_simulated=is_simulated)
    return None if named == "none" or (named == "auto" and not path.is_file()) else path


def place_of(named: str, data_dir: Path, *, is_simulated: bool) -> Path:
    """Where to write the calibration: the named file, else one in the data directory.

    Args:
        is_simulated: The simulated tray has a file of its own beside that of the table's tray.
    Raises:
        ConfigError: It is in the home of a user whom the system does not know.
    """
    if named in ("auto", "none"):
        return data_dir / (SIMULATED_NAME if is_simulated else FILE_NAME)
    try:
        return Path(named).expanduser()
    except RuntimeError as error:
        raise ConfigError(f"{named}: {error}") from error


def load_calibration(path: str | Path) -> Calibration:
    """Read a calibration file.

    Raises:
        ConfigError: It cannot be read, or a value makes no sense.
    """
    try:
        table = read_toml(Path(path))
    except OSError as error:
        raise ConfigError(f"{path}: cannot read the calibration: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(f"{path}: expected a calibration in TOML: {error}") from error
    try:
        file: _File = convert(table, _File)
    except WireError as error:
        raise ConfigError(f"{path}: {error}") from error
    return Calibration(
        (int(file.size_wh[0]), int(file.size_wh[1])),
        None if file.tray_px is None else _corners(path, file.tray_px, file.size_wh),
        file.white_balance_bgr,
        MappingProxyType(file.camera),
        _dice(path, file.die),
        None if file.reference is None else _reference(path, file.reference),
    )


def save_calibration(path: Path, calibration: Calibration) -> None:
    """Write a calibration file, whole or not at all; an unreadable one is set aside first.

    Raises:
        ConfigError: It cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _set_aside_if_damaged(path)
        write_whole(path, as_toml(calibration))
    except OSError as error:
        raise ConfigError(f"{path}: cannot write the calibration: {error.strerror}") from error


def check_corners(corners: Sequence[Point], size_wh: tuple[int, int]) -> None:
    """Check measured corners, so that a saved file can be loaded again.

    Raises:
        CalibrationError: They lie outside the picture or enclose no floor.
    """
    width, height = size_wh
    inside = all(0 <= x <= width and 0 <= y <= height for x, y in corners)
    if len(corners) < 3 or not inside or not _enclose_floor(corners, size_wh):
        text = (
            f"corners: expected three or more points of a {width} x {height} picture, round a floor"
        )
        raise CalibrationError(text, reason="outside")


def _set_aside_if_damaged(path: Path) -> None:
    """Keep a file with a typing error under another name."""
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


_BEYOND = 1.0
"""Distance beyond the picture, in pictures, that a corner of the tray may lie."""
_LEAST_FLOOR = 0.01
"""Least share of the picture that a tray's floor covers."""


def _corners(
    path: str | Path, given: list[Point], size_wh: tuple[float, float]
) -> tuple[Point, ...]:
    is_near = all(
        -_BEYOND * size <= v <= (1.0 + _BEYOND) * size
        for point in given
        for v, size in zip(point, size_wh, strict=True)
    )
    if len(given) < 3 or not is_near:
        raise ConfigError(
            f"{path}: tray_px: expected three or more [x, y] in or near the picture, got {given!r}"
        )
    if not _enclose_floor(given, size_wh):
        raise ConfigError(f"{path}: tray_px: expected corners round a floor, got {given!r}")
    return tuple(given)


def _enclose_floor(corners: Sequence[Point], size_wh: tuple[float, float]) -> bool:
    """Whether corners enclose enough of the picture, in any order: their convex hull counts."""
    hull = cv2.convexHull(np.array(corners, np.float32))
    return cv2.contourArea(hull) >= _LEAST_FLOOR * size_wh[0] * size_wh[1]


def _dice(path: str | Path, tables: list[_DieTable]) -> tuple[CustomDie, ...]:
    dice = tuple(table.known_die() for table in tables)
    if dice and sorted(die.plays.value for die in dice) != sorted(c.value for c in ALL_DICE):
        raise ConfigError(
            f"{path}: die: expected none or the six of the game (two white, red, yellow, green, "
            f"blue), got {', '.join(die.plays.value for die in dice)}"
        )
    return dice


def _reference(path: str | Path, table: _ReferenceTable) -> Reference:
    return Reference(
        _bytes(f"{path}: reference.grey", table.grey, GREY_WH[0] * GREY_WH[1]),
        _bytes(f"{path}: reference.colours", table.colours, 3 * COLOUR_WH[0] * COLOUR_WH[1]),
    )


def _bytes(where: str, rows: list[str], length: int) -> bytes:
    try:
        data = bytes.fromhex("".join(rows))
    except ValueError:
        data = b""
    if len(data) != length:
        raise ConfigError(f"{where}: expected rows of hexadecimal digits for {length} bytes")
    return data
