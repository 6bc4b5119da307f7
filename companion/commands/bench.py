"""`dice-companion bench`: measure on the machine it runs on."""

from __future__ import annotations

import json
from pathlib import Path

import click

from companion.commands.params import A_DIRECTORY

GAMES = 300
"""Games of each sheet for the engine's figures: a few seconds, and stable to a few percent."""


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each.")
@click.pass_context
def bench(ctx: click.Context, as_json: bool) -> None:
    """Measure the eye, the way from press to announcement, and the judge; all without a name."""
    if ctx.invoked_subcommand is None:
        for command in (read, play, engine):
            ctx.invoke(command, as_json=as_json)


def _size(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    from companion.commands.bench_read import parse_size

    try:
        if value is not None:
            parse_size(value)
    except ValueError as error:
        raise click.BadParameter(str(error)) from error
    return value


def _asked_above(as_json: bool) -> bool:
    """`--json` before the command's name counts as well."""
    above = click.get_current_context().parent
    return as_json or bool(above is not None and above.params.get("as_json"))


@bench.command()
@click.argument("folder", required=False)
@click.option("--size", callback=_size, help="Scale the pictures to fit, such as 640x480.")
@click.option(
    "--annotate", type=A_DIRECTORY, metavar="DIR", help="Draw the readings that went wrong."
)
@click.option("--frames", type=click.IntRange(1, 100_000), help="How many pictures of our own.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def read(
    folder: str | None = None,
    size: str | None = None,
    annotate: Path | None = None,
    frames: int | None = None,
    as_json: bool = False,
) -> None:
    """Read the pictures of FOLDER against its truth.jsonl, or pictures of our own."""
    from companion.commands.bench_read import OWN_FRAMES, bench_read

    if folder is not None and frames:
        raise click.UsageError("--frames is for pictures of our own, not for a FOLDER")
    as_json = _asked_above(as_json)
    bench_read(folder, size=size, as_json=as_json, annotate=annotate, frames=frames or OWN_FRAMES)


@bench.command()
@click.option("--presses", type=click.IntRange(1, 10_000), default=200, show_default=True)
@click.option("--clients", type=click.IntRange(1, 30), default=5, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def play(presses: int = 200, clients: int = 5, as_json: bool = False) -> None:
    """Time a press of the button until every client has the announcement."""
    from companion.commands.bench_play import bench_play

    bench_play(presses, clients, as_json=_asked_above(as_json))


@bench.command()
@click.option("--games", type=click.IntRange(1, 100_000), default=GAMES, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def engine(games: int = GAMES, as_json: bool = False) -> None:
    """Judge full random games of four, asking everybody's legal boxes at each step."""
    from companion.commands.bench_engine import PLAYERS, measure_all

    paces = measure_all(games)
    report = {
        "games_per_second": {name: round(p.games_per_second, 1) for name, p in paces.items()},
        "slowest_step_ms": round(max(p.slowest_step_ms for p in paces.values()), 3),
        "games": games,
        "players": PLAYERS,
        "steps_per_game": {name: round(p.steps / p.games, 1) for name, p in paces.items()},
    }
    if _asked_above(as_json):
        click.echo(json.dumps(report))
        return
    for name, pace in paces.items():
        click.echo(
            f"{name}: {pace.games_per_second:.0f} games a second of processor time"
            f" ({games} games of {PLAYERS}, {pace.steps / pace.games:.0f} steps each)"
        )
    click.echo(f"slowest step {report['slowest_step_ms']} ms")
