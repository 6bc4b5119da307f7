"""`dice-companion kiosk`: the table view full screen on this machine's display."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import click

from companion.commands.params import Parsed


def _address(text: str) -> str:
    """The address with a slash at its end."""
    with suppress(ValueError):  # no port, or an IPv6 address that is none
        if re.fullmatch(r"https?://[^/?#\s]+/?", text) and urlsplit(text).port != 0:
            return text.rstrip("/") + "/"
    raise ValueError(f"expected http://HOST:PORT/, got {text!r}")


@click.command()
@click.option(
    "--url",
    type=Parsed(_address),
    help="Address of the table.  [default: that of the service's settings]",
)
def kiosk(url: str | None) -> None:
    """Show the table view full screen, and start it again whenever the browser ends.

    Example: dice-companion kiosk --url http://127.0.0.1:8000/
    """
    from companion.commands.running import ended_by_signals
    from companion.service.kiosk import (
        browser_command,
        find_browser,
        is_up,
        run_browser,
        show,
    )

    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    profile = Path(cache) / "dice-companion" / "kiosk"
    browser = find_browser()

    def find() -> str:
        return url or service_url()

    def run(base: str) -> int:
        command = browser_command(browser, base + "table", profile)
        return run_browser(profile, command, lambda: find() != base and is_up(find()))

    with suppress(KeyboardInterrupt), ended_by_signals():
        show(find, run)


def service_url() -> str:
    """Where the service of this machine answers, by its settings as they are now.

    A file that is missing or cannot be used says nothing.
    """
    from companion.config import WebConfig, load
    from companion.errors import ConfigError
    from companion.service.network import own_url
    from companion.service.unit import CONFIG_PATH

    try:
        web = load(CONFIG_PATH, {}, {}).web
    except ConfigError:
        web = WebConfig()
    return own_url(web.host, web.port)
