"""`dice-companion backup` and `restore`: a table's data in one file."""

from __future__ import annotations

import os
import pwd
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path

import click

from companion.commands.params import A_DIRECTORY, A_FILE
from companion.commands.running import ended_by_signals
from companion.config import Config, default_config_path, load
from companion.errors import ConfigError
from companion.service.installation import own_version

_DATA_DIR = click.option("--data-dir", type=A_DIRECTORY, help="Where games are kept.")
_CONFIG = click.option("--config", "config_path", type=A_FILE, help="The settings file (TOML).")


def _restored_into(
    file: Path, data_dir: Path | None, config_path: Path | None, environ: Mapping[str, str]
) -> Path:
    """Where the table will look for its games once the settings in a backup are restored, too."""
    from companion.service.restore import settings_in

    flags = {"data_dir": data_dir}
    if (text := settings_in(file)) is not None:
        with tempfile.TemporaryDirectory() as folder, suppress(ConfigError):  # play will tell
            settings = Path(folder) / "config.toml"
            settings.write_bytes(text)
            return load(settings, environ, flags).data_dir
    is_there = config_path is not None and config_path.exists()
    return load(config_path if is_there else None, environ, flags).data_dir


def _elsewhere(config: Config) -> dict[str, Path]:
    """Files and folders outside the data directory or hidden in it, which no backup holds.

    The key is the setting or the link that names one.
    """
    from companion.service.backup import own_paths

    named = {"sound.clips": config.sound.clips}
    for name in ("password_file", "ca_file", "cert_file", "key_file"):
        named[f"mqtt.{name}"] = getattr(config.mqtt, name)
    if config.camera.calibration not in ("auto", "none"):
        named["camera.calibration"] = config.camera.calibration
    inside, found = config.data_dir.resolve(), {}
    own = list(own_paths(inside))
    for name, text in named.items():
        if text is None:
            continue
        with suppress(RuntimeError):  # of nobody's home, so that it is nowhere
            path = Path(text).expanduser()
            if _may_be_there(path) and path.resolve() not in {inside, *own}:
                found[name] = path
    for path in own:
        target = Path(os.path.realpath(path))
        if path.is_symlink() and not target.is_relative_to(inside):
            found[f"link {path.relative_to(inside)}"] = target
    return found


def _may_be_there(path: Path) -> bool:
    """Whether a file has that name; also in a folder that may not be looked into."""
    try:
        path.stat()
    except PermissionError:
        return True
    except OSError:
        return False
    return True


def _give_to_the_caller(file: Path) -> None:
    """Let whoever called sudo read the backup, which only its owner may."""
    owner = [os.environ.get(name, "") for name in ("SUDO_UID", "SUDO_GID")]
    if os.geteuid() == 0 and all(each.isdecimal() for each in owner):
        with suppress(OSError):  # a stick may know no owners
            os.chown(file, *map(int, owner))


def _give_to_the_service(directory: Path) -> None:
    """Let the service write the first data, which root has restored."""
    from companion.service.install import give_to_owner, is_root
    from companion.service.unit import NAME

    with suppress(KeyError, OSError):  # a stick may know no owners
        if is_root():
            os.chown(directory, pwd.getpwnam(NAME).pw_uid, pwd.getpwnam(NAME).pw_gid)
            give_to_owner(directory)


@click.command()
@click.argument("file", type=A_FILE)
@_DATA_DIR
@_CONFIG
def backup(file: Path, data_dir: Path | None, config_path: Path | None) -> None:
    """Write games, settings, calibration and pictures into FILE. The table may be running.

    Example: dice-companion backup friday.tar.gz
    """
    from companion.service.backup import write_backup
    from companion.service.install import environ_to_change

    environ = environ_to_change("backup", data_dir, config_path)
    config = load(config_path, environ, {"data_dir": data_dir})
    settings = config_path or default_config_path(environ)
    with ended_by_signals():
        made = write_backup(
            file, config.data_dir, settings, now=datetime.now().astimezone(), version=own_version()
        )
    _give_to_the_caller(file)
    size = file.stat().st_size / 1e6
    click.echo(f"{file}: {made.records} records and {made.files} other files, {size:.1f} MB")
    place = f"{config.data_dir} or is hidden there"
    for name, path in _elsewhere(config).items():
        click.echo(f"not in it: {path} ({name}), which is not in {place}", err=True)


@click.command()
@click.argument("file", type=A_FILE)
@_DATA_DIR
@_CONFIG
def restore(file: Path, data_dir: Path | None, config_path: Path | None) -> None:
    """Replace this table's data with the backup FILE. The former data are kept beside it.

    Example: dice-companion restore friday.tar.gz
    """
    from companion.doctor.host import check_service_place
    from companion.service.install import environ_to_change
    from companion.service.restore import restore_backup
    from companion.service.unit import UNIT_PATH

    environ = environ_to_change("restore", data_dir, config_path)
    directory = _restored_into(file, data_dir, config_path, environ)
    settings = config_path or default_config_path(environ)
    with ended_by_signals():
        restored, kept = restore_backup(file, directory, settings, now=datetime.now().astimezone())
    if kept is None and environ is not os.environ:
        _give_to_the_service(directory)
    click.echo(f"{directory}: {restored.records} records from {restored.made_at} restored")
    if kept is not None:
        click.echo(f"the former data are in {kept}")
    if environ is not os.environ:
        for finding in check_service_place(directory, UNIT_PATH.read_text(encoding="utf-8")):
            click.echo(f"{finding.text}: {finding.cure}", err=True)
