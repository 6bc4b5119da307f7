"""Where the log's files lie: one process writes them, and they must stay in their directory."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import IO

from companion.errors import StoreError


def locked(path: Path, other: str) -> IO[bytes]:
    """Lock a file for this process; the kernel releases it however the process ends.

    Args:
        other: The process that has it otherwise, as the error calls it.
    Raises:
        StoreError: It cannot be written, or another process has it.
    """
    try:
        lock = open(path, "ab")  # noqa: SIM115 - open as long as the store
    except OSError as error:
        raise StoreError(f"{path}: cannot be written: {error.strerror}") from error
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        lock.close()
        raise StoreError(f"{path.parent}: {other} is using this data directory") from error
    return lock


def identity(path: Path) -> tuple[int, int] | None:
    """Which file lies at a path: device and inode; None if there is none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def sync(path: Path) -> None:
    """Return once a file's content, or a folder's list of names, is on the disk.

    Raises:
        OSError: The disk cannot keep it, or the folder may not be read.
    """
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)


def put_back(db: sqlite3.Connection, path: Path) -> None:
    """Write a database anew whose files were deleted while it was open: it can still be read.

    Raises:
        OSError, sqlite3.Error: It cannot be written.
    """
    for end in ("-wal", "-shm", "-part"):
        path.with_name(path.name + end).unlink(missing_ok=True)
    part = path.with_name(f"{path.name}-part")
    with closing(sqlite3.connect(part)) as copy:
        db.backup(copy)
    sync(part)
    part.replace(path)
