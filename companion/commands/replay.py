"""`dice-companion replay`: judge a recorded game."""

from __future__ import annotations

import gzip
import io
import json
import math
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import click

from companion.commands.console import ENDS
from companion.errors import NotationError
from companion.history.replay import replay as judge_lines
from companion.messages.catalogue import load_phrases
from companion.wire.files import open_plain

_NO_TEXT = "\ufffd"
"""Stands for a line that is not UTF-8, so not JSON either."""
LONGEST_LINE = 1_000_000
"""Bytes of the longest line that is read; a line of a record has a few hundred."""

LARGEST_FILE = 32_000_000, 1_000_000
"""Bytes, unpacked, and lines of the largest record that is read as a whole: 2,000 games have 16
million bytes as JSON, and 200,000 lines as records."""

_GZIP_MAGIC = b"\x1f\x8b"


@click.command()
@click.argument("file")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line.")
def replay(file: str, as_json: bool) -> None:
    """Judge the recorded games in FILE (JSON Lines, plain or gzip, - for stdin).

    Example: dice-companion replay game.jsonl --json
    """
    with record_lines(file) as lines:
        for answer in judge_lines(lines, load_phrases("en")):
            click.echo(json.dumps(answer) if as_json else _readable(answer))


@contextmanager
def record_lines(
    file: str, largest: tuple[float, float] = (math.inf, math.inf)
) -> Iterator[Iterator[str]]:
    """Open the lines of a record, plain or gzip; "-" is standard input.

    Args:
        largest: Bytes, unpacked, and lines that may be read.
    Raises:
        NotationError: It cannot be read, at the beginning or later on.
    """
    if file == "-" and sys.stdin is None:
        raise NotationError("-: cannot be read: there is no standard input")
    try:
        raw = sys.stdin.buffer if file == "-" else open_plain(file)
    except OSError as error:
        shown = file or "''"
        raise NotationError(f"{shown}: cannot be read: {error.strerror}") from error
    with raw:
        buffered = raw if isinstance(raw, io.BufferedReader) else io.BufferedReader(raw)  # type: ignore[type-var]
        try:
            packed = buffered.peek(2)[:2] == _GZIP_MAGIC
        except OSError as error:
            raise NotationError(f"{file}: cannot be read: {error.strerror}") from error
        binary: Any = gzip.GzipFile(fileobj=buffered) if packed else buffered
        yield _decoded(file, binary, largest)


def _decoded(file: str, binary: Any, largest: tuple[float, float]) -> Iterator[str]:
    number = size = 0
    try:
        while line := binary.readline(LONGEST_LINE + 1):
            if len(line) > LONGEST_LINE:
                limit = LONGEST_LINE // 1_000_000
                raise NotationError(
                    f"{file}:{number + 1}: expected a line of at most {limit} MB, got a longer one"
                )
            size += len(line)
            if size > largest[0] or number >= largest[1]:
                most = f"{largest[0] // 1_000_000} MB and {largest[1]:,} lines"
                raise NotationError(f"{file}: expected at most {most}; split it")
            try:
                text = line.decode("utf-8")
            except UnicodeDecodeError:
                text = _NO_TEXT
            yield text.removeprefix("\ufeff") if number == 0 else text
            number += 1
    except (OSError, EOFError, zlib.error) as error:
        raise NotationError(f"{file}: cannot be read to its end: {error}") from error


def _readable(answer: dict[str, Any]) -> str:
    if "refused" in answer:
        return f"  refused ({answer['refused']}): {answer['message']}"
    match answer["t"]:
        case "config":
            return "New game"
        case "roll":
            sums = answer["sums"]
            colours = ", ".join(
                f"{colour} {' or '.join(map(str, pair))}" for colour, pair in sums["colour"].items()
            )
            return f"Roll: white {sums['white']}; {colours}"
        case "end":
            totals = ", ".join(str(score["total"]) for score in answer["scores"])
            winners = ", ".join(f"player {p}" for p in answer["winners"])
            return f"Game over ({ENDS[answer['end']]}): {totals}; won by {winners}"
    if "scores" not in answer:
        waiting = ", ".join(f"player {p}" for p in answer["waiting_for"])
        return f"  player {answer['player']} answered; waiting for {waiting}"
    closed = f"; closed now: {', '.join(answer['closed_now'])}" if answer["closed_now"] else ""
    miss = "; penalty" if answer.get("miss") else ""
    return f"  {answer['t']}: scores {answer['scores']}{miss}{closed}"
