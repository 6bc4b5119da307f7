"""Reads users' files up to a limit, and writes whole ones; a path may name a device or a pipe."""

from __future__ import annotations

import errno
import os
import tomllib
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

MOST_TOML_BYTES = 256 * 1024
"""A calibration has about 30 kB, a settings file a few hundred bytes."""

MOST_DOTS = 2000
"""A dotted key of n parts costs tomllib n squared; a calibration has a few hundred dots."""


def open_plain(name: str | Path) -> BinaryIO:
    """Open a file to read its bytes; the pipes that a shell passes as /dev/fd are files too.

    Raises:
        OSError: It cannot be read, or is a named pipe, for which a reader might wait for ever.
    """
    if not str(name):
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    path = Path(name)
    if path.is_fifo() and Path("/dev/fd") not in path.parents:
        raise OSError(errno.EINVAL, "expected a file, got a named pipe", str(path))
    return path.open("rb")


def read_text(path: Path, most_bytes: int) -> str:
    """Read a file as UTF-8, without the mark that some editors write at its beginning.

    Raises:
        OSError: It cannot be read, or is a named pipe.
        ValueError: It is longer than so many bytes, or is not UTF-8.
    """
    with open_plain(path) as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise ValueError(f"expected {most_bytes // 1024} kB at most")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ValueError(f"line {line} is not UTF-8; save the file as UTF-8") from error


def read_toml(path: Path) -> dict[str, Any]:
    """Read a TOML file.

    Raises:
        OSError: It cannot be read.
        ValueError: It is too long, or is not TOML.
    """
    text = read_text(path, MOST_TOML_BYTES)
    if text.count(".") > MOST_DOTS:
        raise ValueError(f"expected {MOST_DOTS} dots at most")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except ValueError as error:  # of which a TOMLDecodeError is one, and a huge number another
        raise ValueError(str(error).partition(";")[0]) from error


def write_whole(path: Path, content: str | bytes, mode: int = 0o666) -> None:
    """Write a file whole or not at all, even if the plug is pulled.

    Args:
        content: Text is written as UTF-8.
        mode: Rights of the file, before the umask.
    Raises:
        OSError: It cannot be written.
    """
    data = content.encode() if isinstance(content, str) else content
    part = path.with_name(f"{path.name}-part")
    try:
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError:
        with suppress(OSError):
            part.unlink()  # others need the room that is left
        raise
