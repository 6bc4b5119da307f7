"""The command line: finds commands, and turns errors into one line and an exit status."""

from __future__ import annotations

import io
import sys
from importlib import import_module
from typing import Any

import click

from companion.errors import CompanionError
from companion.service import log

_COMMANDS = {
    "play": "companion.commands.play",
    "club": "companion.commands.club",
    "read": "companion.commands.read",
    "replay": "companion.commands.replay",
    "games": "companion.commands.games",
    "bench": "companion.commands.bench",
    "doctor": "companion.commands.doctor",
    "calibrate": "companion.commands.calibrate",
    "pin": "companion.commands.pin",
    "service": "companion.commands.service",
    "kiosk": "companion.commands.kiosk",
    "hotspot": "companion.commands.hotspot",
    "backup": "companion.commands.backup",
    "restore": "companion.commands.backup",
    "update": "companion.commands.update",
}


class _Lazy(click.Group):
    """A group that imports a command on first use, which keeps `--help` fast."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        command = getattr(import_module(_COMMANDS[cmd_name]), cmd_name)
        assert isinstance(command, click.Command)
        return command


@click.command(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="dice-companion")
@click.option("--verbose", is_flag=True, help="Log more to standard error.")
def dice_companion(verbose: bool) -> None:
    """Read six real dice through a camera and keep score of Qwixx on everybody's phone.

    Example: dice-companion play
    """
    log.install(level="info" if verbose else "warning")


def main(args: list[str] | None = None) -> Any:
    """Run the command line. A user's mistake is one line on standard error, never a traceback."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # its encoding may not have every letter
            stream.reconfigure(errors="replace")
    try:
        return dice_companion.main(args, prog_name="dice-companion", standalone_mode=True)
    except CompanionError as error:
        click.echo(f"dice-companion: {error}", err=True)
        sys.exit(1)
    except ImportError as error:
        cure = "run dice-companion doctor"
        if isinstance(error, ModuleNotFoundError):
            cure = "make play installs it (on a Pi: make pi)"
        click.echo(f"dice-companion: a package cannot be loaded: {error}; {cure}", err=True)
        sys.exit(1)
    except BrokenPipeError:
        # The reader of the output is gone (`| head`).
        sys.stderr.close()
        sys.exit(1)
    except OSError as error:
        click.echo(f"dice-companion: {error.filename or 'output'}: {error.strerror}", err=True)
        sys.exit(1)
    finally:
        # CPython remembers a Ctrl-C that passed through an `exec`, as in many an import, until the
        # next `exec`, even if it was caught: `python -m` would end by SIGINT, not with our status.
        exec("")
