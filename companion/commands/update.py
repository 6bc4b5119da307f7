"""`dice-companion update`: a newer version, or the present one back."""

from __future__ import annotations

import os
from datetime import datetime
from pathlib import Path

import click

from companion.commands.params import A_FILE
from companion.commands.running import ended_by_signals, tell
from companion.config import default_config_path, load
from companion.errors import ServiceError


@click.command()
@click.option("--wheel", type=A_FILE, help="Install this wheel; not for a git clone.")
@click.option("--dry-run", is_flag=True, envvar="DRY_RUN", help="Only print what would be done.")
def update(wheel: Path | None, dry_run: bool) -> None:
    """Install the newest version. If it does not work here, the present one comes back.

    Games are backed up first, and the new version is tried on a copy of them. Run it with sudo
    where the table is a service.

    Example: sudo dice-companion update
    """
    from companion.service.install import is_installed, is_root
    from companion.service.installation import this_installation
    from companion.service.network import own_url
    from companion.service.unit import CONFIG_PATH, service_directories
    from companion.service.update import NoService, Places, Service, Table, plan
    from companion.service.update import update as do_update

    installation = this_installation(wheel)
    if is_installed():
        config = load(None, service_directories(), {})
        places = Places(config.data_dir, CONFIG_PATH)
        page = own_url(config.web.host, config.web.port)
        table: Table = Service(installation.python, page)
        if not dry_run and not is_root():
            raise ServiceError("update: the table is a service; run this with sudo")
    else:
        config = load(None, os.environ, {})
        places = Places(config.data_dir, default_config_path(os.environ))
        table = NoService(config.data_dir)
    if dry_run:
        for step in plan(installation, table, places):
            click.echo(f"would {step}")
        return
    with installation.only_one(), ended_by_signals():
        new = do_update(installation, table, places, now=datetime.now().astimezone(), tell=tell)
    click.echo(f"updated to {new}" if new else f"{installation.version} is the newest version")
