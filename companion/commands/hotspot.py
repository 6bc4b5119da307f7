"""`dice-companion hotspot`: the table's own Wi-Fi."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import click

from companion.commands.params import A_TEXT
from companion.errors import ServiceError
from companion.service import hotspot as wifi

_NOT_ALLOWED = ("privileges", "authorized")
"""Words of nmcli's complaints about rights; over SSH only root may change connections."""


@contextmanager
def _naming_sudo() -> Iterator[None]:
    try:
        yield
    except ServiceError as error:
        if os.geteuid() and any(word in str(error) for word in _NOT_ALLOWED):
            raise ServiceError(f"{error.args[0].rstrip('.')}; run this with sudo") from error
        raise


@click.group()
def hotspot() -> None:
    """Switch the table's own Wi-Fi on and off.

    Example: sudo dice-companion hotspot on
    """


@hotspot.command()
@click.option(
    "--name", type=A_TEXT, default=wifi.DEFAULT_NAME, show_default=True, help="Name of the Wi-Fi."
)
def on(name: str) -> None:
    """Open the Wi-Fi. Phones join it with the code on the table view.

    Example: sudo dice-companion hotspot on --name "Games night"
    """
    with _naming_sudo():
        opened = wifi.switch_on(name)
    password = opened.password or "only root may read it"
    click.echo(f"Wi-Fi {opened.name!r} is on; password: {password}")


@hotspot.command()
def off() -> None:
    """Close the Wi-Fi. The machine returns to the networks it knows.

    Example: sudo dice-companion hotspot off
    """
    with _naming_sudo():
        wifi.switch_off()
    click.echo("the Wi-Fi is off")


@hotspot.command()
def status() -> None:
    """Show whether the Wi-Fi is on. Exits with 1 if NetworkManager is missing.

    Example: dice-companion hotspot status
    """
    opened = wifi.running()
    click.echo(f"on: {opened.name!r}" if opened.name else "off")
