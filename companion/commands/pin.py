"""`dice-companion pin`: the PIN that makes a phone the host."""

from __future__ import annotations

from pathlib import Path

import click

from companion.commands.console import complain
from companion.commands.params import A_DIRECTORY, A_FILE
from companion.config import load
from companion.eventlog.examine import is_in_use
from companion.service.install import environ_to_change
from web.access import FILE_NAME, kept_pin, open_access


@click.command()
@click.option("--data-dir", type=A_DIRECTORY, help="Where games are kept.")
@click.option("--config", "path", type=A_FILE, help="The settings file (TOML).")
def pin(data_dir: Path | None, path: Path | None) -> None:
    """Print the host's PIN: whoever enters it on the host's page runs the game.

    Example: dice-companion pin
    """
    environ = environ_to_change("pin", data_dir, path)
    directory = load(path, environ, {"data_dir": data_dir}).data_dir
    if is_in_use(directory):  # that table would not accept another PIN
        click.echo(kept_pin(directory))
        return
    has_run = (directory / FILE_NAME).exists() or any(directory.glob("*.sqlite3"))
    access = open_access(directory)
    notice = access.notice
    if not has_run:  # a table that runs keeps its games in another folder
        notice = f"no table or club has run in {directory} yet; one that does will accept this PIN"
    if notice:
        complain(notice)
    click.echo(access.pin)
