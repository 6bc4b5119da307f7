"""`dice-companion pin`: the PIN that makes a phone the host."""

from __future__ import annotations

import os
from pathlib import Path

import click

from companion.commands.params import A_DIRECTORY, A_FILE
from companion.config import load
from web.access import open_access


@click.command()
@click.option("--data-dir", type=A_DIRECTORY, help="Where games are kept.")
@click.option("--config", "path", type=A_FILE, help="Settings file.")
def pin(data_dir: Path | None, path: Path | None) -> None:
    """Print the host's PIN: whoever enters it on the host's page runs the game.

    Example: dice-companion pin
    """
    config = load(path, os.environ, {"data_dir": data_dir})
    click.echo(open_access(config.data_dir).pin)
