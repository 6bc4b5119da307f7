"""`dice-companion service`: the table as a system service that starts by itself."""

from __future__ import annotations

import os
import pwd
import shutil
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import click

from companion.commands.running import ended_by_signals
from companion.config import load
from companion.errors import ConfigError, ServiceError
from companion.service.install import (
    Step,
    described,
    is_root,
    plan_install,
    plan_remove,
    require_systemd,
    this_machine,
    this_program,
)
from companion.service.kiosk import plan_kiosk, plan_no_kiosk, require_programs
from companion.service.network import reachable_host, url
from companion.service.programs import run_to_end
from companion.service.unit import CONFIG_PATH, DATA_DIR, NAME, service_directories
from web.access import kept_pin

FIRST_UID, LAST_UID = 1000, 60000
"""User numbers of people (adduser.conf of Debian: FIRST_UID, LAST_UID)."""

_DRY_RUN = click.option(
    "--dry-run", is_flag=True, envvar="DRY_RUN", help="Only print what would be done."
)


@click.group()
def service() -> None:
    """Install the table as a service that starts with the machine.

    Example: sudo dice-companion service install
    """


@service.command()
@click.option("--kiosk", is_flag=True, help="Show the table view on this machine's display.")
@_DRY_RUN
def install(kiosk: bool, dry_run: bool) -> None:
    """Install or update the service and start it. Games and settings stay as they are.

    Example: sudo dice-companion service install --kiosk
    """
    config = load(None, service_directories(), {})
    if not config.web.port:
        raise ServiceError("service: expected a port that stays, got web.port = 0")
    machine, program = this_machine(), this_program()
    has_desktop = shutil.which("labwc") is not None or shutil.which("wayfire") is not None
    if kiosk and not dry_run:
        require_programs(has_desktop=has_desktop)
    plan = plan_install(machine, program, port=config.web.port, data_dir=config.data_dir)
    _do(plan, dry_run)
    if kiosk:
        _do(plan_kiosk(machine, program, _person(), has_desktop=has_desktop), dry_run)
    if not dry_run:
        page = url(reachable_host(config.web.host), config.web.port)
        click.echo(f"The table is running: {page}table")
        if kiosk and has_desktop:
            click.echo("The display shows it after the next login.")
        click.echo(
            f"First host: open {page}host on a phone and enter the PIN {_pin(config.data_dir)}."
        )
        click.echo(f"Games: {config.data_dir}; settings: {CONFIG_PATH}")


@service.command()
@click.option("--purge", is_flag=True, help="Delete games and settings as well.")
@_DRY_RUN
def remove(purge: bool, dry_run: bool) -> None:
    """Stop the service and remove it. Games and settings stay unless --purge is given.

    Example: sudo dice-companion service remove
    """
    machine, games = this_machine(), DATA_DIR
    with suppress(ConfigError):
        games = load(None, service_directories(), {}).data_dir
    _do(plan_no_kiosk(machine), dry_run)
    _do(plan_remove(machine, purge=purge), dry_run)
    if not dry_run and not purge:
        click.echo(f"Games stay in {games}, settings in {CONFIG_PATH.parent}.")
    elif not dry_run and games != DATA_DIR:
        click.echo(f"Games stay in {games}: that folder was of your own choice.")


@service.command()
def status() -> None:
    """Show whether the service is running. Exits with 1 if it is not.

    Example: dice-companion service status
    """
    _follow(["systemctl", "--no-pager", "--lines=0", "status", f"{NAME}.service"])


@service.command()
@click.option("--follow", "-f", is_flag=True, help="Keep printing new lines.")
def logs(follow: bool) -> None:
    """Print the service's log since the machine started.

    Example: dice-companion service logs --follow
    """
    command = ["journalctl", "--no-pager", "--boot", "--unit", f"{NAME}.service"]
    _follow([*command, "--follow"] if follow else command)


def _do(steps: Iterable[Step], dry_run: bool) -> None:
    if dry_run:
        for line in described(steps):
            click.echo(line)
        return
    require_systemd()
    if not is_root():
        raise ServiceError("service: needs administrator rights; run it with sudo")
    for step in steps:
        click.echo(str(step))
        step.run()


def _pin(data_dir: Path) -> str:
    """The host's PIN of the table that has just started, or how to get it."""
    try:
        return kept_pin(data_dir)
    except ConfigError:
        return "that `sudo dice-companion pin` prints"


def _person() -> str:
    """Whose session shows the table view: whoever called sudo, else the first ordinary user.

    Raises:
        ServiceError: There is no such user.
    """
    if (name := os.environ.get("SUDO_USER", "root")) != "root":
        return name
    ordinary = [entry for entry in pwd.getpwall() if FIRST_UID <= entry.pw_uid < LAST_UID]
    if not ordinary:
        raise ServiceError("service: expected a user to show the table view, found none")
    return min(ordinary, key=lambda entry: entry.pw_uid).pw_name


def _follow(command: list[str]) -> None:
    require_systemd()
    environ = {**os.environ, "SYSTEMD_COLORS": "0"}
    try:
        with ended_by_signals():
            status = run_to_end(command, environ)
    except FileNotFoundError as error:
        raise ServiceError(f"service: expected systemd, found no {command[0]}") from error
    except KeyboardInterrupt:
        return
    if status:
        raise SystemExit(1)
