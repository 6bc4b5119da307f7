"""`dice-companion play`: the table, until Ctrl-C or SIGTERM."""

from __future__ import annotations

import faulthandler
import sys
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from companion.commands.params import A_DIRECTORY, A_FILE, A_TEXT
from companion.commands.running import (
    closed_in_time,
    opened_in_time,
    settled,
    stop_on_signal,
    tell,
    wait_for,
)
from companion.config import PIN_FACTORIES
from companion.messages.catalogue import LANGUAGES
from companion.service.memory import Trimmer, return_large_blocks
from companion.service.network import url

if TYPE_CHECKING:
    from companion.app import App


@click.command()
@click.option("--camera", help="auto, pi, simulated, none, a device, a video or a folder.")
@click.option("--pins", type=click.Choice(PIN_FACTORIES), help="Where the button is.")
@click.option("--seed", type=int, help="Makes the simulated tray's throws repeatable.")
@click.option("--host", type=A_TEXT, help="Address to serve the page on.  [default: 0.0.0.0]")
@click.option("--port", type=click.IntRange(0, 65535), help="0 picks a free one.  [default: 8000]")
@click.option("--data-dir", type=A_DIRECTORY, help="Where games are kept.")
@click.option("--config", "config_path", type=A_FILE, help="The settings file (TOML).")
@click.option("--language", type=click.Choice(LANGUAGES), help="The table's language.")
def play(
    camera: str | None,
    pins: str | None,
    seed: int | None,
    host: str | None,
    port: int | None,
    data_dir: Path | None,
    config_path: Path | None,
    language: str | None,
) -> None:
    """Run the table: camera, button, rules, voice and pages.

    Example: dice-companion play --camera /dev/video0 --language de
    """
    if sys.stderr is not None:
        faulthandler.enable()  # a crashing driver leaves a trace on stderr
    flags: dict[str, object | None] = {
        "camera.source": camera,
        "panel.factory": pins,
        "camera.seed": seed,
        "web.host": host,
        "web.port": port,
        "data_dir": data_dir,
        "table.language": language,
    }
    config = settled(config_path, flags)
    stop = stop_on_signal()
    return_large_blocks()
    from companion.app import build
    from companion.doctor.machine import check_address

    with opened_in_time(stop):
        app = build(config)
    with closed_in_time(app.close):
        for note in app.notes:
            tell(note, err=True)
        tell(f"listening on {url(*app.address).rstrip('/')}")
        is_terminal = sys.stdout is not None and sys.stdout.isatty()
        reach = check_address(*app.address)
        if reach.cure:  # no phone can open it
            tell(f"{reach.text} -> {reach.cure}", err=True)
        elif is_terminal:
            _show_address(app.join_url)
        else:
            tell(f"join from a phone in the same network: {app.join_url}", err=True)
        if is_terminal:
            tell(f"table code: {app.access.code}; host PIN: {app.access.pin}")
        _tell_systemd(app)
        wait_for(stop, Trimmer())


def _tell_systemd(app: App) -> None:
    """Report to systemd that the table answers, now and regularly."""
    from companion.service.notify import Watchdog, notify, watchdog_period_s

    notify(f"READY=1\nSTATUS=running on {app.join_url}")
    period_s = watchdog_period_s()
    if period_s is not None:
        Watchdog(app.signs_of_life(), period_s).start()


def _show_address(join_url: str) -> None:
    from web.qr import as_text

    tell(f"\nJoin from a phone in the same network: {join_url}\n")
    code = as_text(join_url)
    with suppress(UnicodeEncodeError):  # a terminal without these blocks would show question marks
        code.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
        tell(code)
