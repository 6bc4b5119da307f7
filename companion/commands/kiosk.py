"""`dice-companion kiosk`: the table view full screen on this machine's display."""

from __future__ import annotations

import os
from pathlib import Path

import click


@click.command()
@click.option(
    "--url", default="http://127.0.0.1:8000/", show_default=True, help="Address of the table."
)
def kiosk(url: str) -> None:
    """Show the table view full screen, and start it again whenever the browser ends.

    Example: dice-companion kiosk --url http://127.0.0.1:8000/
    """
    from companion.service.kiosk import browser_command, find_browser, run_browser, show

    base = url if url.endswith("/") else url + "/"
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    profile = Path(cache) / "dice-companion" / "kiosk"
    command = browser_command(find_browser(), base + "table", profile)
    show(base, lambda: run_browser(profile, command))
