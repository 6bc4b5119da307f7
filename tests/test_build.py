"""The page that tells how to build a table: its figures, its pictures and its commands."""

from __future__ import annotations

import math
import re
from pathlib import Path

import click

from companion.adapters.gpio import taken_pins
from companion.cli import dice_companion
from companion.config import load, setting_names
from tests.conftest import ROOT

BUILD = (ROOT / "docs" / "build.md").read_text(encoding="utf-8")
ROOM = 1.15
"""Width of the picture per width of the floor, as the page says."""


def test_the_heights_follow_from_angle_and_tray() -> None:
    head = next(line for line in BUILD.splitlines() if line.startswith("| lens,"))
    sizes = [(float(w), float(d)) for w, d in re.findall(r"([\d.]+) × ([\d.]+) cm", head)]
    rows = re.findall(r"^\| [^|]*?([\d.]+)° ((?:\| \d+ cm )+)\|$", BUILD, re.M)
    assert len(sizes) == 4
    assert len(rows) == 5
    for angle, cells in rows:
        half = math.radians(float(angle)) / 2
        heights = [max(w, d * 4 / 3) * ROOM / 2 / math.tan(half) for w, d in sizes]
        told = [int(cell) for cell in re.findall(r"\d+", cells)]
        assert all(abs(a - b) <= 0.6 for a, b in zip(told, heights, strict=True)), angle


def test_there_are_ten_steps_with_a_small_picture_each() -> None:
    steps = re.findall(r'^\*\*(\d+)\. .*?^<img src="([^"]+)"', BUILD, re.M | re.S)
    assert [int(number) for number, _ in steps] == list(range(1, 11))
    for _, picture in steps:
        assert (ROOT / "docs" / picture).stat().st_size < 60_000, picture


def test_commands_and_settings_are_there() -> None:
    commands = dice_companion.list_commands(click.Context(dice_companion))
    assert set(re.findall(r"dice-companion ([a-z]+)", BUILD)) <= set(commands)
    assert set(re.findall(r"`([a-z]+\.[a-z_]+)(?: = [^`]*)?`", BUILD)) - {"games.sqlite"} <= set(
        setting_names()
    )


def test_the_terminal_shows_what_an_installation_prints_last() -> None:
    drawn = (ROOT / "docs" / "build" / "terminal.svg").read_text(encoding="utf-8")
    source = (ROOT / "companion" / "commands" / "service.py").read_text(encoding="utf-8")
    for said in ("The table is running: ", "First host: open "):
        assert said in source
        assert said in drawn


def test_the_settings_of_the_wiring_are_those_of_its_picture(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "wiring.md").read_text(encoding="utf-8")
    drawn = (ROOT / "docs" / "build" / "wiring.svg").read_text(encoding="utf-8")
    file = tmp_path / "config.toml"
    file.write_text("\n".join(re.findall(r"^    (.+)$", page, re.MULTILINE)))
    pins = taken_pins(load(file, {}, {}))
    assert len(pins) == 6
    assert set(pins.values()) == {int(pin) for pin in re.findall(r"BCM (\d+)", drawn)}
