"""`dice-companion doctor`: check everything a table needs, and name the cure."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from companion.adapters.camera import open_as_set
from companion.adapters.gpio import check_pins, taken_pins
from companion.adapters.mqtt import HEAT, broker_of
from companion.commands.console import print_verdict
from companion.commands.params import A_DIRECTORY, A_FILE, A_TEXT
from companion.commands.running import ended_by_signals
from companion.config import PIN_FACTORIES, Config, default_data_dir, load, with_flags
from companion.doctor.finding import Finding, Ran, Verdict, bad, note, ok, run
from companion.doctor.host import (
    check_backup,
    check_camera_node,
    check_file_system,
    check_hotspot,
    check_pin_factory,
    check_power,
    check_service,
    check_service_place,
    check_sound_rights,
    check_temperature,
)
from companion.doctor.machine import (
    check_address,
    check_clock,
    check_data_dir,
    check_games,
    check_port,
    running_table,
)
from companion.doctor.senses import check_button, check_camera, check_voice
from companion.doctor.software import (
    check_lgpio,
    check_onnxruntime,
    check_opencv_wheels,
    check_packages,
    check_picamera2,
    check_python,
)
from companion.errors import CameraUnavailable, ConfigError, PinsUnavailable, StoreError
from companion.eventlog.examine import examine as saved_records
from companion.service.backup import last_backup
from companion.service.board import content_of, is_raspberry_pi, model
from companion.service.install import is_root, service_environ
from companion.service.network import active_hotspot
from companion.service.programs import run_quietly
from companion.service.unit import UNIT_PATH

if TYPE_CHECKING:
    from vision.calibration.calibration import Calibration

PICTURE_CURES = {
    "dark": ("too dark to read dice", "more light on the tray, or a longer exposure"),
    "overexposed": ("large parts are blown out", "less light, or turn the lamp off the tray"),
    "small": (
        "small in the picture",
        "hang the camera lower, or set camera.width = 1280 and .height = 960",
    ),
    "slanted": ("seen from the side", "hang the camera above the tray, looking down"),
    "blurred": ("blurred", "turn the lens's ring until the pips are sharp; wipe the lens"),
    "moved": (
        "not where it was calibrated: camera or tray were moved",
        "dice-companion calibrate --only corners, or put it back",
    ),
    "relit": (
        "in another light than it was calibrated in",
        "dice-companion calibrate, or the lamp as it was",
    ),
}
"""Problems of a picture and their cures."""


@click.command()
@click.option("--camera", help="Check this camera; as in play.")
@click.option("--pins", type=click.Choice(PIN_FACTORIES), help="Where the button is; as in play.")
@click.option("--host", type=A_TEXT, help="Address to serve the page on.")
@click.option("--port", type=click.IntRange(0, 65535), help="Port to serve the page on.")
@click.option("--data-dir", type=A_DIRECTORY, help="Where games are kept.")
@click.option("--config", "config_path", type=A_FILE, help="The settings file (TOML).")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def doctor(
    camera: str | None,
    pins: str | None,
    host: str | None,
    port: int | None,
    data_dir: Path | None,
    config_path: Path | None,
    as_json: bool,
) -> None:
    """Check everything a game needs. Exits with 1 if no game is possible.

    Example: dice-companion doctor --camera /dev/video0
    """
    flags: dict[str, object | None] = {
        "camera.source": camera,
        "panel.factory": pins,
        "web.host": host,
        "web.port": port,
        "data_dir": data_dir,
    }
    environ = service_environ(config_path, data_dir)
    findings = []
    with ended_by_signals():
        for finding in examine(config_path, flags, environ):
            findings.append(finding)
            if not as_json:
                cure = f" -> {finding.cure}" if finding.cure else ""
                print_verdict(finding.verdict, f"{finding.name:<11}  {finding.text}{cure}")
    is_possible = not _has_bad(findings)
    if as_json:
        checks = [
            {"name": f.name, "verdict": f.verdict.value, "text": f.text, "cure": f.cure}
            for f in findings
        ]
        click.echo(json.dumps({"ok": is_possible, "checks": checks}))
    if not is_possible:
        sys.exit(1)


def examine(
    config_path: Path | None, flags: dict[str, object | None], environ: Mapping[str, str]
) -> Iterator[Finding]:
    """Run every check, the quick ones first."""
    yield _version()
    config = Config(data_dir=default_data_dir(environ))
    try:
        config = with_flags(config, flags)  # they count although a file cannot be read
        config = load(config_path, environ, flags)
        check_pins(config)
        yield ok("settings", "readable")
    except (ConfigError, PinsUnavailable) as error:
        cure = "correct this line; docs/settings.md lists all settings"
        if isinstance(error.__cause__, OSError):
            cure = "check its permissions, or choose another file with --config"
        yield bad("settings", str(error), cure)
    except ImportError:  # the packages are checked below
        yield ok("settings", "readable")
    is_pi = is_raspberry_pi()
    yield check_python(sys.version_info[:3], platform.machine(), sys.maxsize > 2**32)
    with _spare_folder() as folder:

        def run_aside(command: Sequence[str]) -> Ran:
            return run(command, folder=folder)  # importing lgpio makes files where it is run

        packages = check_packages(run_aside)
        yield from packages
        yield check_onnxruntime(run_aside)
        yield from check_opencv_wheels(_is_installed)
        yield from check_picamera2(run_aside, is_pi)
        yield from check_lgpio(run_aside, is_pi)
    place = check_file_system(config.data_dir, content_of(Path("/proc/self/mounts")) or "")
    if not _has_bad(place):
        place += check_data_dir(config.data_dir)
    if environ is not os.environ:
        place += check_service_place(config.data_dir, content_of(UNIT_PATH))
    yield from place
    if _has_bad(place):
        yield note("games", "not checked", "see above")
    else:
        yield check_games(config.data_dir)
    yield check_address(config.web.host, config.web.port)
    table = running_table(config.web.host, config.web.port)
    yield check_port(config.web.host, config.web.port, table)
    yield from _broker(config)
    yield check_clock(
        datetime.now().astimezone(), run(["timedatectl", "show", "-p", "NTPSynchronized"])
    )
    yield from check_power(run(["vcgencmd", "get_throttled"]))
    yield from check_temperature(content_of(HEAT))
    wanted = "LoadState,ActiveState,NRestarts,WatchdogUSec"
    yield from check_service(
        run(["systemctl", "show", "-p", wanted, "dice-companion.service"]), is_root()
    )
    wifi = active_hotspot(run_quietly).name if shutil.which("nmcli") else None
    yield from check_hotspot(config.web.hotspot, wifi)
    yield from _backups(config)
    yield from _sound_rights()
    voice = shutil.which("espeak-ng")
    yield check_voice(config.sound.enabled, config.table.language, voice, run)
    broken = {f.name for f in packages if f.verdict is Verdict.BAD}
    if "gpiozero" not in broken:
        yield check_button(
            config.panel.factory,
            config.panel.pin,
            is_pi,
            lambda: _open_pins(config),
            has_chip=any(Path("/dev").glob("gpiochip*")),
            table=table if flags.get("panel.factory") is None else None,
        )
    yield from check_pin_factory(os.environ, config.panel.factory)
    yield from check_camera_node(config.camera.source, is_pi)
    if broken & {"opencv", "numpy"} and config.camera.source != "none":
        yield note("camera", "not checked: OpenCV cannot be loaded", "see above")
    else:
        measured = None
        if config.camera.source != "none":
            finding, measured = _measured(config)
            yield finding
        yield from check_camera(
            config.camera.source,
            lambda: _look(config, measured),
            table if flags.get("camera.source") is None else None,
        )


def _has_bad(findings: Sequence[Finding]) -> bool:
    return any(finding.verdict is Verdict.BAD for finding in findings)


def _version() -> Finding:
    try:
        own = importlib.metadata.version("dice-companion")
    except importlib.metadata.PackageNotFoundError:
        own = "from a folder, not installed"
    try:
        system = platform.freedesktop_os_release().get("PRETTY_NAME", platform.system())
    except OSError:
        system = platform.system()
    return ok("version", ", ".join(part for part in (own, model(), system) if part))


@contextmanager
def _spare_folder() -> Iterator[str | None]:
    """A temporary directory to run programs in, or None if none can be made."""
    try:
        folder = tempfile.TemporaryDirectory(prefix="dice-companion-doctor-")
    except OSError:
        yield None
        return
    with folder as name:
        yield name


def _backups(config: Config) -> list[Finding]:
    if not os.path.isdir(config.data_dir):
        return []
    try:
        records = saved_records(config.data_dir).records
    except StoreError:
        return []
    return check_backup(last_backup(config.data_dir), datetime.now().astimezone(), records)


def _broker(config: Config) -> list[Finding]:
    """The broker of the settings, which a game does not need."""
    if not config.mqtt.host:
        return []
    try:
        broker = broker_of(config)
    except ConfigError as error:
        return [note("broker", str(error), "correct this line; docs/settings.md lists them")]
    from companion.doctor.broker import check_broker

    return [check_broker(broker)]


def _sound_rights() -> list[Finding]:
    devices = [str(path) for path in Path("/dev/snd").glob("pcm*")]
    return check_sound_rights(devices, [d for d in devices if os.access(d, os.R_OK | os.W_OK)])


def _is_installed(distribution: str) -> bool:
    try:
        importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def _open_pins(config: Config) -> list[int]:
    """Open every pin as an input, which lights and sounds nothing; the buttons that are closed."""
    from hardware.button import open_panel

    closed = []
    for name, pin in taken_pins(config).items():
        with open_panel("lgpio", pin, lambda *_: None) as panel:
            if name.startswith("panel.") and panel.state == "lost":
                closed.append(pin)
    return closed


def _measured(config: Config) -> tuple[Finding, Calibration | None]:
    """The tray's calibration; a file that the settings name must be readable."""
    from vision.calibration.calibration import find_calibration, load_calibration

    named = config.camera.calibration
    try:
        is_simulated = config.camera.source == "simulated"
        path = find_calibration(named, config.data_dir, is_simulated=is_simulated)
        if path is None:
            return ok("calibration", "none, as set" if named == "none" else "none yet"), None
        if not path.exists():
            text = f"{path} is not there yet"
            return note("calibration", text, "run dice-companion calibrate"), None
        return ok("calibration", str(path)), load_calibration(path)
    except (ConfigError, OSError) as error:
        verdict = note if named == "auto" else bad
        cure = "run dice-companion calibrate again"
        return verdict("calibration", str(error), cure), None


def _look(config: Config, measured: Calibration | None) -> tuple[str, str, list[tuple[str, str]]]:
    """Open the camera, wait for its exposure, and measure the picture.

    Raises:
        CameraUnavailable: It cannot be opened.
    """
    from vision.calibration.light import measure_light
    from vision.calibration.reader import what_changed, what_to_tell
    from vision.cameras.devices import closed_paths
    from vision.cameras.exposure import exposed_frame

    closed = closed_paths() if config.camera.source == "auto" else []
    denied = f"; no permission for {closed[0]}" if closed else ""
    try:
        camera = open_as_set(config.camera, measured, or_simulated=not is_raspberry_pi())
    except CameraUnavailable as error:
        raise CameraUnavailable(f"{error}{denied}") from error
    try:
        if camera.kind == "simulated":
            return camera.kind, camera.description + denied, []
        frame = exposed_frame(camera)
        faults = [fault.value for fault in measure_light(frame.pixels).faults]
        if measured is not None:
            told = what_to_tell(measured, what_changed(measured, frame))
            faults += [change.value for change in told]
        return camera.kind, camera.description, [PICTURE_CURES[fault] for fault in faults]
    finally:
        camera.close()
