"""`dice-companion club`: the screen of a club night, until Ctrl-C or SIGTERM."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from companion.commands.params import A_DIRECTORY, A_FILE, A_TEXT
from companion.commands.running import (
    closed_in_time,
    settled,
    stop_on_signal,
    tell,
    wait_for,
)
from companion.messages.catalogue import LANGUAGES
from companion.service.installation import own_version
from companion.service.memory import Trimmer
from companion.service.network import url

PORT = 8001


@click.command()
@click.option("--broker", type=A_TEXT, metavar="HOST", help="Name or address of the MQTT broker.")
@click.option("--club", "name", type=A_TEXT, help="Name of the club, the same as at its tables.")
@click.option("--host", type=A_TEXT, help="Address to serve the page on.  [default: 0.0.0.0]")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=PORT, show_default=True, help="0: a free one."
)
@click.option("--data-dir", type=A_DIRECTORY, help="Where results are kept, in a folder club.")
@click.option("--config", "config_path", type=A_FILE, help="The settings file (TOML).")
@click.option("--language", type=click.Choice(LANGUAGES), help="For devices of other languages.")
def club(
    broker: str | None,
    name: str | None,
    host: str | None,
    port: int,
    data_dir: Path | None,
    config_path: Path | None,
    language: str | None,
) -> None:
    """Show all tables of a club on one screen, with rounds and standings.

    Example: dice-companion club --broker 192.168.1.5 --club "Tuesday dice"
    """
    flags: dict[str, object | None] = {
        "mqtt.host": broker,
        "mqtt.club": name,
        "web.host": host,
        "web.port": port,
        "data_dir": data_dir,
        "table.language": language,
    }
    config = settled(config_path, flags)
    stop = stop_on_signal()
    from companion.mqtt.club.app import build_club

    app = build_club(config, own_version())
    with closed_in_time(app.close):
        for note in app.notes:
            tell(note, err=True)
        tell(f"listening on {url(config.web.host, app.server.port).rstrip('/')}")
        tell(f"screen: {app.join_url}; organisers: {app.join_url}organise", err=True)
        if sys.stdout is not None and sys.stdout.isatty():
            tell(f"organisers' PIN: {app.access.pin}")
        wait_for(stop, Trimmer())
