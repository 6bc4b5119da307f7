"""Output for people: tables, words and progress on a terminal, plain aligned text elsewhere.

The only module that imports rich. Machine output (`--json`, record lines) does not pass through
here.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TypeVar

import click

from companion.engine.state import End
from companion.tray import ProblemCode

T = TypeVar("T")

_GAP = "  "

ENDS = {
    None: "not finished",
    End.LOCKS.value: "rows closed",
    End.MISSES.value: "fourth penalty",
    End.ENDED_EARLY.value: "ended early",
}
"""Words for how a game ended."""

PROBLEMS = {
    ProblemCode.MOVING: "still moving",
    ProblemCode.EMPTY: "no dice in the tray",
    ProblemCode.OBSTRUCTED: "covered or cut off",
    ProblemCode.COCKED: "not flat",
    ProblemCode.MISSING: "missing",
    ProblemCode.EXTRA: "too many",
    ProblemCode.UNCERTAIN: "uncertain",
    ProblemCode.BESIDE_TRAY: "beside the tray",
    ProblemCode.FOREIGN_OBJECT: "something that is not a die",
    ProblemCode.REMOVED_DIE_IN_TRAY: "no longer in play",
    ProblemCode.TRAY_MOVED: "the tray has moved since set-up",
    ProblemCode.TRAY_RELIT: "the light has changed since set-up",
    ProblemCode.PICTURE_DARK: "the picture is too dark",
    ProblemCode.PICTURE_OVEREXPOSED: "large parts of the picture are far too bright",
    ProblemCode.PICTURE_BLURRED: "the picture is blurred",
}
"""Words for the problems of a reading; a die's colour may stand before them."""


@contextmanager
def without_library_messages() -> Iterator[None]:
    """Discard what C libraries write to standard error; for commands of one thread."""
    try:
        kept = os.dup(2)
    except OSError:  # it is closed
        yield
        return
    with open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 2)
    try:
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)


def is_terminal() -> bool:
    """Whether standard output is a terminal."""
    return sys.stdout is not None and sys.stdout.isatty()


def print_table(
    headings: Sequence[str], rows: Iterable[Sequence[object]], *, right: Collection[int] = ()
) -> None:
    """Print rows under headings: a rich table on a terminal, else aligned columns.

    Args:
        headings: One for each column.
        rows: Cells of each row, as many as headings.
        right: Numbers of the columns that are aligned to the right.
    """
    cells = [[str(cell) for cell in row] for row in rows]
    if is_terminal():
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        table = Table(box=box.SIMPLE_HEAD, header_style="bold", pad_edge=False)
        for number, heading in enumerate(headings):
            table.add_column(heading, justify="right" if number in right else "left")
        for row in cells:
            table.add_row(*map(Text, row))
        Console().print(table)
        return
    for text in aligned([list(headings), *cells], right):
        click.echo(text)


def aligned(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """Rows as text in columns as wide as their widest cell on a terminal."""
    from rich.cells import cell_len

    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        parts = []
        for number, (cell, width) in enumerate(zip(row, widths, strict=True)):
            blank = " " * (width - cell_len(cell))
            parts.append(blank + cell if number in right else cell + blank)
        lines.append(_GAP.join(parts).rstrip())
    return lines


def print_verdict(verdict: str, text: str) -> None:
    """Print a text after a verdict, which has a colour on a terminal."""
    colour = {"ok": "green", "note": "yellow", "bad": "red"}.get(verdict)
    click.echo(f"{click.style(f'{verdict:<4}', fg=colour, bold=verdict == 'bad')}  {text}")


def complain(what: object) -> None:
    """Say on standard error what is wrong, while the work goes on."""
    click.echo(f"dice-companion: {what}", err=True)


def progress(items: Iterable[T], total: int | None, task: str) -> Iterator[T]:
    """Go through items and show on standard error how far it is, if that is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield from items
        return
    from rich.console import Console
    from rich.progress import track

    yield from track(items, task, total, console=Console(stderr=True), transient=True)


@contextmanager
def waiting(task: str) -> Iterator[None]:
    """Show on standard error that something takes a moment, if that is a terminal."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(task):
        yield


def local_time(text: str) -> str:
    """A time of the log in this machine's zone, to the minute; other text as it is."""
    try:
        return datetime.fromisoformat(text).astimezone().strftime("%Y-%m-%d %H:%M")
    except (ValueError, OverflowError):
        return text


def problem_in_words(code: str, colour: str | None) -> str:
    """A problem of a reading in words, such as "green missing"."""
    words = PROBLEMS[ProblemCode(code)]
    return f"{colour} {words}" if colour is not None else words
