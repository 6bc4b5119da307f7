"""What was measured of one tray: where it lies, and the light's colour. Readable TOML.

    size_wh = [640, 480]                       # of the pictures it was measured on
    tray_px = [[30, 20], [610, 25], [600, 460], [40, 455]]   # corners of the floor, in order
    white_balance_bgr = [1.10, 1.0, 0.92]      # gains that turn the white dice grey

Every key but `size_wh` may be left out.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from companion.errors import ConfigError
from vision.reading import Point


@dataclass(frozen=True, slots=True)
class Calibration:
    """A tray's calibration; None where something was not measured.

    Attributes:
        tray_px: Corners of the tray's floor, in order round it, in px of a `size_wh` picture.
        white_balance_bgr: Gains for blue, green, red.
    """

    size_wh: tuple[int, int]
    tray_px: tuple[Point, ...] | None = None
    white_balance_bgr: tuple[float, float, float] | None = None


def load_calibration(path: str | Path) -> Calibration:
    """Read a calibration file.

    Raises:
        ConfigError: It cannot be read, or a key has a value that makes no sense.
    """
    try:
        table = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot read the calibration: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: expected a calibration in TOML: {error}") from error
    unknown = sorted(set(table) - {"size_wh", "tray_px", "white_balance_bgr"})
    if unknown:
        raise ConfigError(f"{path}: expected the keys of a calibration, got {unknown[0]!r}")
    width, height = _numbers(path, table, "size_wh", 2, 1.0, 1e5) or (0.0, 0.0)
    if not width:
        raise ConfigError(f"{path}: size_wh: expected [width, height], got nothing")
    gains = _numbers(path, table, "white_balance_bgr", 3, 0.2, 5.0)
    return Calibration(
        (int(width), int(height)),
        _corners(path, table),
        None if gains is None else (gains[0], gains[1], gains[2]),
    )


def _numbers(
    path: str | Path, table: dict[str, Any], key: str, count: int, low: float, high: float
) -> list[float] | None:
    value = table.get(key)
    if value is None:
        return None
    good = isinstance(value, list) and len(value) == count
    good = good and all(type(v) in (int, float) and low <= v <= high for v in value)
    if not good:
        raise ConfigError(
            f"{path}: {key}: expected {count} numbers from {low:g} to {high:g}, got {value!r}"
        )
    return [float(v) for v in value]


def _corners(path: str | Path, table: dict[str, Any]) -> tuple[Point, ...] | None:
    value = table.get("tray_px")
    if value is None:
        return None
    good = isinstance(value, list) and len(value) >= 3
    good = good and all(
        isinstance(p, list) and len(p) == 2 and all(type(v) in (int, float) for v in p)
        for p in value
    )
    if not good:
        raise ConfigError(f"{path}: tray_px: expected three or more [x, y], got {value!r}")
    return tuple((float(p[0]), float(p[1])) for p in value)
