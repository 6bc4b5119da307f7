"""`dice-companion bench`: measure on the machine it runs on."""

from __future__ import annotations

import json
from pathlib import Path

import click

from companion.commands.params import A_DIRECTORY, Parsed

GAMES = 300
"""Random games of each sheet: a few seconds, stable to a few percent."""


@click.group(invoke_without_command=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per benchmark.")
@click.pass_context
def bench(ctx: click.Context, as_json: bool) -> None:
    """Benchmark dice reading, button latency and the rules engine (default: all three).

    Example: dice-companion bench read --frames 200
    """
    from companion.commands.running import ended_by_signals

    ctx.with_resource(ended_by_signals())
    if ctx.invoked_subcommand is None:
        for command in (read, play, engine):
            ctx.invoke(command, as_json=as_json)


def parse_size(text: str) -> tuple[int, int]:
    """Parse a size such as `640x480`.

    Raises:
        ValueError: It has another form, or a side is not in 16 to 20000.
    """
    width, _, height = text.lower().partition("x")
    if not (width.isdecimal() and height.isdecimal()) or not (
        16 <= int(width) <= 20000 and 16 <= int(height) <= 20000
    ):
        raise ValueError(f"expected WIDTHxHEIGHT such as 640x480, got {text!r}")
    return int(width), int(height)


def _asked_above(as_json: bool) -> bool:
    """Whether `--json` was given here or before the command's name."""
    above = click.get_current_context().parent
    return as_json or bool(above is not None and above.params.get("as_json"))


@bench.command()
@click.argument("folder", required=False)
@click.option("--size", type=Parsed(parse_size), help="Scale the pictures to fit, e.g. 640x480.")
@click.option(
    "--annotate", type=A_DIRECTORY, metavar="DIR", help="Draw the readings that were not exact."
)
@click.option("--frames", type=click.IntRange(1, 100_000), help="How many pictures to render.")
@click.option(
    "--engine",
    type=click.Choice(("auto", "opencv")),
    default="auto",
    show_default=True,
    help="What runs the networks: opencv as on a Pi.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def read(
    folder: str | None = None,
    size: tuple[int, int] | None = None,
    annotate: Path | None = None,
    frames: int | None = None,
    engine: str = "auto",
    as_json: bool = False,
) -> None:
    """Read the pictures of FOLDER and compare with its truth.jsonl, or render pictures.

    Example: dice-companion bench read frames/ --size 640x480
    """
    from companion.commands.bench_read import OWN_FRAMES, bench_read

    if folder is not None and frames:
        raise click.UsageError("--frames is for rendered pictures, not for a FOLDER")
    as_json = _asked_above(as_json)
    bench_read(
        folder,
        size_wh=size,
        as_json=as_json,
        annotate=annotate,
        frames=frames or OWN_FRAMES,
        engine=engine,
    )


@bench.command()
@click.option("--presses", type=click.IntRange(1, 10_000), default=200, show_default=True)
@click.option("--clients", type=click.IntRange(1, 30), default=5, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def play(presses: int = 200, clients: int = 5, as_json: bool = False) -> None:
    """Measure the time from a press of the button to the announcement on every page.

    Example: dice-companion bench play --clients 5
    """
    from companion.commands.bench_play import bench_play

    bench_play(presses, clients, as_json=_asked_above(as_json))


@bench.command()
@click.option("--games", type=click.IntRange(1, 100_000), default=GAMES, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def engine(games: int = GAMES, as_json: bool = False) -> None:
    """Judge whole random games of four, with all legal boxes at each step.

    Example: dice-companion bench engine --games 1000
    """
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
            f"{name}: {pace.games_per_second:.0f} games per second of processor time"
            f" ({games} games of {PLAYERS} players, {pace.steps / pace.games:.0f} steps each)"
        )
    click.echo(f"slowest step {report['slowest_step_ms']} ms")


@bench.command()
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def coach(as_json: bool = False) -> None:
    """Time batches of games, compare them with the judge, and let the coach play.

    It takes some minutes. Example: dice-companion bench coach --json
    """
    from companion.commands.bench_coach import measure

    report = measure()
    if _asked_above(as_json):
        click.echo(json.dumps(report))
        return
    for name, value in report.items():
        click.echo(f"{name}: {value}")


@bench.command()
@click.option("--tables", type=click.IntRange(1, 500), default=100, show_default=True)
@click.option(
    "--rolls",
    type=click.FloatRange(0.1, 1000),
    default=5,
    show_default=True,
    help="Rolls a second, over all tables.",
)
@click.option("--seconds", type=click.FloatRange(1, 3600), default=120, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def club(tables: int, rolls: float, seconds: float, as_json: bool = False) -> None:
    """Let simulated tables roll, and time the way to the club's screen.

    It starts a Mosquitto of its own. Example: dice-companion bench club --tables 20 --seconds 30
    """
    from companion.commands.bench_club import bench_club

    bench_club(tables, rolls, seconds, as_json=_asked_above(as_json))


@bench.command()
@click.option(
    "--games",
    type=click.IntRange(1, 10_000),
    multiple=True,
    help="Games already saved at the table; repeatable.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def history(games: tuple[int, ...] = (), as_json: bool = False) -> None:
    """Time the start and the steps of tables where 10, 100, 1,000 and 2,000 games were played.

    It takes two minutes. Example: dice-companion bench history --games 300
    """
    from companion.commands.bench_history import HISTORY, STEPS, measure

    rows = []
    as_json = _asked_above(as_json)
    if not as_json:
        click.echo(
            " games  records     MB  start s  (cpu s)   any step   undo   preview  (99 % below, ms)"
        )
    for count in games or HISTORY:
        row = measure(count)
        rows.append(row)
        if not as_json:
            click.echo(
                f"{count:6} {row['records']:8} {row['megabytes']:6} {row['start_s']:8}"
                f" {row['start_cpu_s']:8} {row['any']['p99']:10} {row['undo']['p99']:6}"
                f" {row['preview']['p99']:9}"
            )
    if as_json:
        click.echo(json.dumps({"history": rows, "steps_of_each_kind": STEPS}))
