"""`dice-companion play`: the table, until Ctrl-C or SIGTERM."""

from __future__ import annotations

import faulthandler
import os
import signal
import sys
import threading
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click

from companion import log
from companion.commands.params import A_DIRECTORY, A_FILE
from companion.config import PIN_FACTORIES, load
from companion.memory import Trimmer
from companion.messages.catalogue import LANGUAGES

if TYPE_CHECKING:
    from companion.app import App


END_WITHIN_S = 4.0
"""Seconds that the table takes to close its parts; then it ends without those that hang."""


@click.command()
@click.option("--camera", help="auto, pi, simulated, none, a device, a video or a folder.")
@click.option("--pins", type=click.Choice(PIN_FACTORIES), help="Where the button is.")
@click.option("--seed", type=int, help="Makes the simulated tray's throws repeatable.")
@click.option("--host", help="Address to serve the page on.  [default: 0.0.0.0]")
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
    config = load(config_path, os.environ, flags)
    is_verbose = click.get_current_context().find_root().params.get("verbose")
    log.install(level="info" if is_verbose else config.log.level, form=config.log.form)
    stop = threading.Event()

    def on_signal(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:  # ignored under nohup
            signal.signal(number, on_signal)
    from companion.app import build

    app = build(config)
    try:
        for note in app.notes:
            _tell(note, err=True)
        bound, taken = app.address
        shown = f"[{bound}]" if ":" in bound else bound
        _tell(f"listening on http://{shown}:{taken}")
        if sys.stdout is not None and sys.stdout.isatty():
            _show_address(app.join_url)
            _tell(f"table code: {app.access.code}; host PIN: {app.access.pin}")
        else:
            _tell(f"join from a phone in the same network: {app.join_url}", err=True)
        _tell_systemd(app)
        trim = Trimmer()
        while not stop.wait(1.0):  # a bare wait would keep the signal from Python on some systems
            trim()
    finally:
        deadline = threading.Timer(END_WITHIN_S, _end)
        deadline.daemon = True
        deadline.start()
        app.close()
    if set(threading.enumerate()) - {threading.main_thread(), deadline}:
        _end()


def _tell_systemd(app: App) -> None:
    """Report to systemd that the table answers, now and regularly."""
    from companion.service.notify import Watchdog, notify, watchdog_period_s

    notify(f"READY=1\nSTATUS=running on {app.join_url}")
    period_s = watchdog_period_s()
    if period_s is not None:
        Watchdog(app.signs_of_life(), period_s).start()


def _end() -> None:
    """End the process at once, where a hanging driver or disk still holds a thread.

    Everything that was acknowledged is on the disk. An ordinary exit would wait for the thread, or
    abort inside the driver's C++.
    """
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            with suppress(OSError):  # its reader may be gone
                stream.flush()
    os._exit(0)


def _show_address(join_url: str) -> None:
    from web.qr import as_text

    _tell(f"\nJoin from a phone in the same network: {join_url}\n")
    _tell(as_text(join_url))


def _tell(text: str, *, err: bool = False) -> None:
    """Print and flush; a closed output does not end the game."""
    try:
        click.echo(text, err=err)
    except OSError:
        stream = sys.stderr if err else sys.stdout
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
