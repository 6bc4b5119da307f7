"""The board and its system: power, heat, file system, rights, service and backups."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from companion.doctor.finding import Finding, Ran, bad, note, ok
from companion.doctor.machine import THIS_PROJECT_BEGAN
from companion.service.unit import writable_line

_SUPPLY = "use the power supply and the cable made for this Pi"
_COOL = "give it air or a cooler"
_POWER = (
    (0, "the Pi gets too little voltage", _SUPPLY),
    (2, "the Pi is slowed down by heat", _COOL),
    (1, "the Pi's clock is capped", _COOL),
    (3, "the Pi is close to its heat limit", _COOL),
    (16, "the Pi got too little voltage since it was started", _SUPPLY),
    (18, "the Pi was slowed down by heat since it was started", _COOL),
    (17, "the Pi's clock was capped since it was started", _COOL),
    (19, "the Pi was close to its heat limit since it was started", _COOL),
)
"""Bits of `vcgencmd get_throttled` (Raspberry Pi documentation, "vcgencmd"), the worst first."""

HOT_C = 75.0
"""A Pi slows itself down from 80 degrees on (Raspberry Pi documentation, "Frequency
management")."""

LOST_AT_POWER_OFF = ("tmpfs", "ramfs", "overlay")
"""File systems whose changes live in memory; `raspi-config` calls overlay "Overlay File System"."""

BACKUP_AFTER = timedelta(days=30)

CODEC_NODES = re.compile(r"/dev/video(1[0-9]|2[0-9]|3[01])")
"""Nodes of a Pi's codecs and image processor, which are no cameras."""


def check_power(throttled: Ran) -> list[Finding]:
    """Report voltage, clock and heat of a Pi; nothing elsewhere.

    Args:
        throttled: Answer of `vcgencmd get_throttled`, such as `throttled=0x50005`.
    """
    if throttled.status != 0:
        return []
    try:
        bits = int(throttled.out.strip().partition("=")[2], 16)
    except ValueError:
        return []
    for bit, text, cure in _POWER:
        if bits >> bit & 1:
            return [note("power", text, cure)]
    return [ok("power", "enough voltage, cool enough")]


def check_temperature(millidegrees: str | None) -> list[Finding]:
    """Report the processor's temperature, where the system knows it.

    Args:
        millidegrees: Content of /sys/class/thermal/thermal_zone0/temp, or None.
    """
    try:
        degrees = int(millidegrees or "") / 1000.0
    except ValueError:
        return []
    if degrees >= HOT_C:
        return [note("heat", f"the processor is at {degrees:.0f} °C", _COOL)]
    return [ok("heat", f"{degrees:.0f} °C")]


def check_file_system(directory: Path, mounts: str) -> list[Finding]:
    """Report a file system that cannot keep games.

    Args:
        directory: Where games are kept, or would be.
        mounts: Content of /proc/self/mounts.
    """
    kind, options = _mount_of(Path(os.path.realpath(directory)), mounts)
    if {"ro", "emergency_ro"} & set(options):  # the second after an error
        cure = "mount it for writing; a worn-out SD card turns read-only: copy it and replace it"
        return [bad("disk", f"the file system of {directory} is read-only", cure)]
    if kind in LOST_AT_POWER_OFF:
        cure = "choose another with --data-dir, or switch the overlay off (raspi-config)"
        text = f"{directory} is kept in memory ({kind}): games are lost at power-off"
        return [note("disk", text, cure)]
    return []


def check_service_place(directory: Path, unit: str | None) -> list[Finding]:
    """Report a place for games where the installed service may not write.

    Args:
        directory: Where the service's settings keep games.
        unit: The service's unit as text; None if it is not installed.
    """
    line = writable_line(directory)
    if unit is None or not line or line in unit.splitlines():
        return []
    cure = "sudo dice-companion service install"
    return [bad("data", f"the service may not write to {directory} yet", cure)]


def _mount_of(path: Path, mounts: str) -> tuple[str, tuple[str, ...]]:
    """Type and options of the file system that holds a path; mount points as in fstab(5)."""
    best = -1
    found: tuple[str, tuple[str, ...]] = ("", ())
    for line in mounts.splitlines():
        fields = line.split()
        if len(fields) < 4:
            continue
        point = Path(re.sub(r"\\([0-7]{3})", lambda m: chr(int(m[1], 8)), fields[1]))
        if path.is_relative_to(point) and len(point.parts) >= best:
            best, found = len(point.parts), (fields[2], tuple(fields[3].split(",")))
    return found


def check_sound_rights(devices: Sequence[str], may_use: Sequence[str]) -> list[Finding]:
    """Report a sound card that this user may not use.

    Args:
        devices: Nodes below /dev/snd.
        may_use: Those of them that can be opened.
    """
    if devices and not may_use:
        cure = "sudo usermod -aG audio $USER, then log in anew"
        return [note("sound", "no permission for the sound card", cure)]
    return []


def check_pin_factory(environ: Mapping[str, str], factory: str) -> list[Finding]:
    """Report a setting of gpiozero that this program does not use, where its own is not set."""
    name = environ.get("GPIOZERO_PIN_FACTORY")
    if name and factory == "auto":
        text = f"GPIOZERO_PIN_FACTORY={name} is not used"
        return [note("pins", text, "set panel.factory, or start with --pins")]
    return []


def check_camera_node(source: str, is_pi: bool) -> list[Finding]:
    """Report a node of the Pi's codecs that was named as camera."""
    if is_pi and CODEC_NODES.fullmatch(source):
        text = f"{source} is a codec of the Pi, not a camera"
        return [note("camera", text, "--camera auto finds it; or see: v4l2-ctl --list-devices")]
    return []


def check_service(shown: Ran, may_see_games: bool) -> list[Finding]:
    """Report how the system service is, where it is installed.

    Args:
        shown: Answer of `systemctl show -p LoadState,ActiveState,NRestarts,WatchdogUSec`.
        may_see_games: Whether the other checks are about the service's games and settings.
    """
    told = dict(line.partition("=")[::2] for line in shown.out.splitlines())
    if shown.status != 0 or told.get("LoadState") != "loaded":
        return []
    state, restarts = told.get("ActiveState", "unknown"), told.get("NRestarts", "0")
    look = "see: dice-companion service logs"
    if state != "active":
        return [note("service", f"installed, but {state}", look)]
    if told.get("WatchdogUSec") in ("0", "infinity"):
        return [
            note("service", "running without a watchdog", "sudo dice-companion service install")
        ]
    if restarts not in ("", "0"):
        often = "once" if restarts == "1" else f"{restarts} times"
        return [note("service", f"running; started again {often} by itself", look)]
    if not may_see_games:
        return [ok("service", "running; with sudo, doctor checks its games and settings")]
    return [ok("service", "running")]


def check_hotspot(wanted: str, wifi: str | None) -> list[Finding]:
    """Report the table's own Wi-Fi, where one is on or wanted.

    Args:
        wanted: The setting `web.hotspot`.
        wifi: Name of the hotspot that is on, "" for none; None without NetworkManager.
    """
    if wifi is None and wanted != "never":
        text = f"web.hotspot is {wanted!r}, but NetworkManager is not installed"
        return [note("hotspot", text, "sudo apt install network-manager")]
    if wifi:
        return [ok("hotspot", f"on: {wifi!r}")]
    return [ok("hotspot", "off; opens when no network is there")] if wanted != "never" else []


def check_backup(last: datetime | None, now: datetime, records: int | None) -> list[Finding]:
    """Report games without a recent backup.

    Args:
        last: When the last backup was written; None for never.
        now: The time of day, with a zone like that of `last`.
        records: How many records the games have; None where there are no games.
    """
    if not records or now.year < THIS_PROJECT_BEGAN:  # an age by this clock means nothing
        return []
    cure = "dice-companion backup FILE, on another disk; a service needs sudo"
    if last is None:
        return [note("backup", "none yet", cure)]
    days = (now - last).days
    if days < -1 or last.year < THIS_PROJECT_BEGAN:
        return [
            note("backup", f"the last one is from {last:%Y-%m-%d}, when a clock was wrong", cure)
        ]
    if now - last > BACKUP_AFTER:
        return [note("backup", f"the last one is {days} days old", cure)]
    return [ok("backup", "today" if days < 1 else "yesterday" if days < 2 else f"{days} days ago")]
