"""Backups: one file with a table's games, settings, tray and pictures."""

from __future__ import annotations

import glob
import io
import json
import os
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from companion.errors import ServiceError, StoreError
from companion.eventlog.examine import copy_database, copy_log, examine, is_locked
from companion.eventlog.place import locked, sync
from companion.eventlog.rows import is_full
from companion.eventlog.store import FILE_NAME

FORM = 1
"""Version of a backup's layout; a newer one is refused."""

MANIFEST, DATA, CONFIG = "manifest.json", "data", "config.toml"

STAMP = "last-backup"
"""File beside the games with the time of the last backup, for `doctor`."""

_NOT_COPIED = ("games.", STAMP)
"""Files that begin so: the log itself is copied by SQLite, its helpers are not needed."""

_PASSING = (".part", "-part", ".lock", "-wal", "-shm", ".tar.gz")
"""Files that end so are helpers of others, are being written, or are backups themselves."""

_DATABASE = ".sqlite3"


@dataclass(frozen=True, slots=True)
class BackedUp:
    """Contents of a backup: its time, the version that wrote it, records and other files."""

    made_at: str
    version: str
    records: int
    files: int


def write_backup(
    to: Path, data_dir: Path, config_path: Path, *, now: datetime, version: str
) -> BackedUp:
    """Write a backup; the table may be running. The file appears only once it is whole.

    Args:
        to: A new file; gzip-compressed tar.
        data_dir: Of the table.
        config_path: Its settings file; left out where there is none.
        now: For the manifest.
        version: Of this program.
    Raises:
        ServiceError: The backup cannot be written.
        StoreError: The games cannot be read, or there is no room for a passing copy.
    """
    if to.exists() and not to.is_file():
        raise ServiceError(f"{to}: cannot be written: expected a file, got a folder or device")
    target = Path(os.path.realpath(to))
    part = target.with_name(f".{target.name}.{os.getpid()}.part")
    held = ExitStack()
    try:
        with suppress(OSError):  # another user's
            for left in target.parent.glob(f".{glob.escape(target.name)}.*.part"):
                if not is_locked(left):  # its backup was killed
                    left.unlink()
        with tempfile.TemporaryDirectory(prefix="dice-companion-") as folder:
            log = Path(folder) / FILE_NAME
            copy_log(data_dir, log)
            shutil.copymode(data_dir / FILE_NAME, log)  # a service's games are for its user only
            seen = examine(Path(folder))
            if seen.trouble is not None:  # it could not be restored
                raise ServiceError(
                    f"{data_dir}: its games are damaged: {seen.trouble}; a start of the table "
                    "repairs them"
                )
            records = seen.records or 0
            others = list(_other_files(data_dir))
            backed_up = BackedUp(now.isoformat(timespec="seconds"), version, records, len(others))
            part.touch(0o600)  # the PIN is for its owner only
            with suppress(StoreError):  # a share may know no locks
                held.enter_context(locked(part, "another backup"))
            with tarfile.open(part, "w:gz", dereference=True) as archive:
                _add_text(archive, MANIFEST, json.dumps({"form": FORM, **asdict(backed_up)}), now)
                archive.add(log, f"{DATA}/{FILE_NAME}")
                for path in others:
                    with suppress(FileNotFoundError):  # the table has just deleted it
                        for source, name in _settled(path, Path(folder)):
                            inside = path.relative_to(data_dir).with_name(name)
                            _add(archive, source, f"{DATA}/{inside.as_posix()}")
                if config_path.is_file():
                    _add(archive, Path(os.path.realpath(config_path)), CONFIG)
            sync(part)
            part.replace(target)
            with suppress(OSError):  # of a folder that its user may not list
                sync(target.parent)  # or a plug pulled now would leave none
    except (OSError, tarfile.TarError) as error:
        raise ServiceError(f"{to}: cannot be written: {reason(error)}") from error
    finally:
        held.close()
        with suppress(OSError):
            part.unlink()
    with suppress(OSError):  # the table's data may belong to another user
        _stamp(data_dir, backed_up.made_at)
    return backed_up


def _stamp(data_dir: Path, made_at: str) -> None:
    """Keep the time of a backup beside the games.

    Root may write it into a folder of the service's user, so no link there is followed.
    """
    part = data_dir / f".{STAMP}.{os.getpid()}.part"
    handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o644)
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(made_at + "\n")
        part.replace(data_dir / STAMP)
    finally:
        part.unlink(missing_ok=True)  # the disk may be full


def last_backup(data_dir: Path) -> datetime | None:
    """Return when the last backup of a table's data was written; None for never."""
    try:
        last = datetime.fromisoformat((data_dir / STAMP).read_text(encoding="utf-8").strip())
    except (OSError, ValueError):
        return None
    return last if last.tzinfo is not None else None


def own_paths(data_dir: Path) -> Iterator[Path]:
    """Yield what lies below a data directory, but not in a hidden folder of it.

    It is the home of the service's user, where the sound system keeps its own files.
    """
    for path in sorted(data_dir.rglob("*")):
        top = data_dir / path.relative_to(data_dir).parts[0]
        if not top.name.startswith(".") or top.is_symlink() or not top.is_dir():
            yield path


def _other_files(data_dir: Path) -> Iterator[Path]:
    for path in own_paths(data_dir):
        is_log = path.parent == data_dir and path.name.startswith(_NOT_COPIED)
        is_passing = path.name.endswith(_PASSING)
        if path.is_file() and not path.is_symlink() and not is_log and not is_passing:
            yield path


def _settled(path: Path, folder: Path) -> Iterator[tuple[Path, str]]:
    """The file and its name; of a database, which a program may be writing, a copy in a folder."""
    if path.suffix != _DATABASE:
        yield path, path.name
        return
    copy = folder / f"other{_DATABASE}"
    copy.unlink(missing_ok=True)
    try:
        copy_database(path, copy)
    except StoreError as error:
        if is_full(error.__cause__):  # its program may be writing it: half a copy is none
            raise
        yield path, path.name  # kept as it is, with its log
        log = path.with_name(f"{path.name}-wal")
        if log.is_file():
            yield log, log.name
    else:
        shutil.copymode(path, copy)
        yield copy, path.name


def _add(archive: tarfile.TarFile, path: Path, name: str) -> None:
    """Add a file, however many names it has; the service's user may have put a link there."""
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
        archive.addfile(archive.gettarinfo(arcname=name, fileobj=file), file)


def _add_text(archive: tarfile.TarFile, name: str, text: str, now: datetime) -> None:
    data = text.encode()
    member = tarfile.TarInfo(name)
    member.size, member.mtime, member.mode = len(data), int(now.timestamp()), 0o644
    archive.addfile(member, io.BytesIO(data))


def reason(error: Exception) -> str:
    """Say why a backup could not be written or read."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return "cut short" if isinstance(error, EOFError) else "no backup, or a damaged one"
