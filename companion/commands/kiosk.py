"""`dice-companion kiosk`: the table view full screen on this machine's display."""

from __future__ import annotations

import os
import re
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import click


def _address(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    """The address with a slash at its end."""
    if value is not None and not _is_address(value):
        raise click.BadParameter(f"expected http://HOST:PORT/, got {value!r}")
    return value and value.rstrip("/") + "/"


def _is_address(value: str) -> bool:
    try:
        return bool(re.fullmatch(r"https?://[^/?#\s]+/?", value)) and urlsplit(value).port != 0
    except ValueError:  # no port, or an IPv6 address that is none
        return False


@click.command()
@click.option(
    "--url",
    callback=_address,
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


def service_url(path: Path | None = None) -> str:
    """Where the service of this machine answers, by its settings as they are now.

    Args:
        path: The settings file; the service's unless given. A file that is missing or cannot be
            used says nothing.
    """
    from companion.config import WebConfig, load
    from companion.errors import ConfigError
    from companion.service.network import own_url
    from companion.service.unit import CONFIG_PATH

    try:
        web = load(path or CONFIG_PATH, {}, {}).web
    except ConfigError:
        web = WebConfig()
    return own_url(web.host, web.port)
