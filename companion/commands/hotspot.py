"""`dice-companion hotspot`: the table's own Wi-Fi where there is no other."""

from __future__ import annotations

import click


@click.group()
def hotspot() -> None:
    """Switch the table's own Wi-Fi on and off.

    Example: dice-companion hotspot on
    """


@hotspot.command()
@click.option("--name", default="Dice Companion", show_default=True, help="Name of the Wi-Fi.")
def on(name: str) -> None:
    """Open the Wi-Fi; phones join it with the code on the table view."""
    from companion.service import hotspot as wifi

    opened = wifi.switch_on(name)
    click.echo(f"Wi-Fi {opened.name!r} is on; password: {opened.password}")


@hotspot.command()
def off() -> None:
    """Close the Wi-Fi; the machine goes back to the networks it knows."""
    from companion.service import hotspot as wifi

    wifi.switch_off()
    click.echo("the Wi-Fi is off")


@hotspot.command()
def status() -> None:
    """Say whether the Wi-Fi is on; exits with 1 where NetworkManager is missing."""
    from companion.service import hotspot as wifi

    opened = wifi.running()
    click.echo(f"on: {opened.name!r}" if opened.name else "off")
