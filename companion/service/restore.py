"""The way back from a backup: it takes the place of a table's data, which are kept beside it."""

from __future__ import annotations

import errno
import fcntl
import gzip
import json
import os
import shutil
import stat
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path, PurePosixPath

from companion.errors import ServiceError, StoreError
from companion.eventlog.examine import examine, is_in_use, is_locked
from companion.eventlog.place import sync
from companion.service.backup import CONFIG, DATA, FORM, MANIFEST, BackedUp, reason
from companion.service.exchange import exchange
from companion.service.install import give_to_owner, is_root

LARGEST_BYTES = 4 * 1024**3
"""No backup of a table comes near this; an archive that claims more is refused."""

LARGEST_READ_BYTES = 1024**2
"""Bytes unpacked at a time, and of one header; a few kilobytes can hold gigabytes."""

_OF_TABLES = (
    "games.",
    "access.",
    "decided.",
    "mqtt.",
    "config.",
    "tray",
    "pictures",
    "clips",
    "club",
)
"""How names in a table's data directory begin."""

_Damage = (OSError, tarfile.TarError, EOFError, zlib.error, ValueError)
"""What a damaged archive raises while it is read."""


def settings_in(source: Path) -> bytes | None:
    """Return the settings file that a backup holds; None if it holds none, or is no backup."""
    if not source.is_file():  # a pipe would be waited for
        return None
    try:
        with _Unpacked(source) as unpacked, tarfile.open(fileobj=unpacked, mode="r:") as archive:
            for member in _harmless(archive, unpacked, source):
                if member.name == CONFIG:
                    file = archive.extractfile(member)
                    return None if file is None else file.read(LARGEST_READ_BYTES)
    except (*_Damage, ServiceError):
        pass  # the restore says what is wrong with it
    return None


def restore_backup(
    source: Path, data_dir: Path, config_path: Path, *, now: datetime, kept_as: str = ""
) -> tuple[BackedUp, Path | None]:
    """Put a backup in the place of a table's data; what was there is kept beside it.

    Args:
        now: Names the former data after "before-", unless `kept_as` does.
        kept_as: A name whose earlier data are replaced.
    Returns:
        What the backup holds, and where the former data now lie (None: there were none).
    Raises:
        ServiceError: It is no backup, is damaged, or a table is running on the data.
    """
    data_dir, config_path = (Path(os.path.realpath(path)) for path in (data_dir, config_path))
    if data_dir.is_mount():  # which cannot be put aside
        raise ServiceError(f"{data_dir}: is a whole disk; restore into a folder on it (data_dir)")
    _refuse_running(data_dir)
    if source.exists() and not source.is_file():
        raise ServiceError(f"{source}: expected a backup, got no plain file")
    fresh = data_dir.with_name(f"{data_dir.name}.restored")
    new_config, old_config = (
        config_path.with_name(f".{config_path.name}.{end}") for end in ("restored", "former")
    )
    try:
        _refuse_others_folder(data_dir)
        with _only_one(data_dir.parent):
            suffix = f".before-{kept_as or _unused_stamp(now, data_dir, config_path)}"
            kept = data_dir.with_name(f"{data_dir.name}{suffix}")
            shutil.rmtree(fresh, ignore_errors=True)  # a killed restore may have left both
            new_config.unlink(missing_ok=True)
            old_config.unlink(missing_ok=True)
            try:
                fresh.mkdir()
                backed_up = _unpack(source, fresh, new_config)
                if new_config.is_file():  # what needs room comes before what cannot be undone
                    _keep_settings(new_config, config_path, old_config)
                    _let_the_same_read(new_config, config_path)
                _refuse_running(data_dir)
                had_data = data_dir.is_dir() and any(data_dir.iterdir())
                if had_data:
                    if kept_as and kept.is_dir():
                        shutil.rmtree(kept)
                    _put_in_place(fresh, data_dir, kept)
                else:
                    fresh.rename(data_dir)
                if old_config.is_file():
                    old_config.replace(config_path.with_name(f"{config_path.name}{suffix}"))
                if new_config.is_file():
                    new_config.replace(config_path)
                os.sync()  # or a plug pulled now would bring the former data back
            finally:
                shutil.rmtree(fresh, ignore_errors=True)
                for left in (new_config, old_config):
                    with suppress(OSError):
                        left.unlink()
        return backed_up, kept if had_data else None
    except _Damage as error:
        raise ServiceError(
            f"{source}: cannot be restored into {data_dir}: {reason(error)}"
        ) from error
    except StoreError as error:
        raise ServiceError(f"{source}: its games cannot be read: {error}") from error


def _unused_stamp(now: datetime, *paths: Path) -> str:
    """A name for what is kept: the time, with a number after the first restore of a second."""
    stamp = first = f"{now:%Y%m%d-%H%M%S}"
    number = 2
    while any(path.with_name(f"{path.name}.before-{stamp}").exists() for path in paths):
        stamp = f"{first}-{number}"
        number += 1
    return stamp


def _keep_settings(new: Path, path: Path, to: Path) -> None:
    """Copy settings if others take their place."""
    if path.is_file() and path.read_bytes() != new.read_bytes():
        shutil.copy2(path, to)
        sync(to)


def _let_the_same_read(new: Path, path: Path) -> None:
    """Give new settings the owner and the rights of those whose place they take."""
    if path.is_file():
        was = path.stat()
        with suppress(OSError):  # another user's
            os.chown(new, was.st_uid, was.st_gid)
        new.chmod(stat.S_IMODE(was.st_mode))


def _refuse_others_folder(data_dir: Path) -> None:
    """A home or a folder of the system would be put aside whole; a backup's settings name any."""
    names = [path.name for path in data_dir.iterdir()] if data_dir.is_dir() else []
    shown = [name for name in names if not name.startswith(".")]  # others are the sound system's
    if shown and not any(name.startswith(_OF_TABLES) for name in shown):
        raise ServiceError(f"{data_dir}: holds no table's data; name an empty folder (data_dir)")


def _refuse_running(data_dir: Path) -> None:
    if is_in_use(data_dir):
        raise ServiceError(f"{data_dir}: a table is running there; stop it before you restore")
    if any(is_locked(path) for path in data_dir.glob("*/*.lock")):
        raise ServiceError(f"{data_dir}: a club is running there; stop it before you restore")


@contextmanager
def _only_one(parent: Path) -> Iterator[None]:
    """Lock a folder, which is made if needed, against other restores into it."""
    parent.mkdir(parents=True, exist_ok=True)
    opened = os.open(parent, os.O_RDONLY)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise ServiceError(f"{parent}: another restore is running there") from error
    finally:
        os.close(opened)


def _put_in_place(fresh: Path, data_dir: Path, kept: Path) -> None:
    """Put new data in the place of the former ones, which get the name `kept`."""
    shutil.copymode(data_dir, fresh)
    if is_root():
        with suppress(OSError):  # a stick may know no owners
            os.chown(fresh, data_dir.stat().st_uid, data_dir.stat().st_gid)
            give_to_owner(fresh)
    fresh.rename(kept)  # a later restore would delete it under its first name
    try:
        if not exchange(kept, data_dir):
            kept.rename(fresh)
            data_dir.rename(kept)
            fresh.rename(data_dir)
    except OSError:
        if not fresh.exists():
            kept.rename(fresh)
        elif not data_dir.exists():
            kept.rename(data_dir)
        raise


def _unpack(source: Path, fresh: Path, new_config: Path) -> BackedUp:
    """Unpack the data and the settings, if there are any, and check the games."""
    with (
        _Unpacked(source) as unpacked,
        tarfile.open(fileobj=unpacked, mode="r:") as archive,
    ):
        members = {member.name: member for member in _harmless(archive, unpacked, source)}
        backed_up = _manifest(archive, members.get(MANIFEST), source)
        for name, member in members.items():
            if name.startswith(f"{DATA}/"):
                _extract(archive, member, fresh / PurePosixPath(name).relative_to(DATA))
        seen = examine(fresh)
        if seen.trouble is not None or seen.records != backed_up.records:
            why = seen.trouble or f"expected {backed_up.records} records, got {seen.records or 0}"
            raise ServiceError(f"{source}: its games are damaged: {why}")
        if CONFIG in members:
            _extract(archive, members[CONFIG], new_config)
        while unpacked.read(LARGEST_READ_BYTES):
            pass  # at its end the checksum is compared
    return backed_up


class _Unpacked(gzip.GzipFile):
    """The archive without its compression. Long headers, which tarfile keeps whole, are refused.

    Attributes:
        may_read: Bytes that may be read before it is set again.
    """

    may_read = LARGEST_READ_BYTES

    def read(self, size: int | None = -1) -> bytes:
        if size is None or not 0 <= size <= self.may_read:
            raise OSError(errno.EFBIG, "a header is longer than any of a backup")
        data = super().read(size)
        self.may_read -= len(data)
        return data


def _harmless(
    archive: tarfile.TarFile, unpacked: _Unpacked, source: Path
) -> Iterator[tarfile.TarInfo]:
    """The archive's plain files; anything that would lie elsewhere ends the restore."""
    total = 0
    for member in archive:
        path = PurePosixPath(member.name)
        if not member.isfile() or path.is_absolute() or ".." in path.parts:
            raise ServiceError(f"{source}: expected plain files, got {member.name!r}")
        total += member.size
        if total > LARGEST_BYTES:
            raise ServiceError(f"{source}: larger than any backup of a table")
        unpacked.may_read = LARGEST_READ_BYTES
        yield member
    unpacked.may_read = LARGEST_BYTES


def _manifest(archive: tarfile.TarFile, member: tarfile.TarInfo | None, source: Path) -> BackedUp:
    file = archive.extractfile(member) if member is not None and member.size < 10_000 else None
    if file is None:
        raise ServiceError(f"{source}: expected a backup, it has no {MANIFEST}")
    try:
        told = json.loads(file.read())
        form = int(told["form"])
        backed_up = BackedUp(
            str(told["made_at"]), str(told["version"]), int(told["records"]), int(told["files"])
        )
    except (ValueError, TypeError, KeyError) as error:
        raise ServiceError(f"{source}: its {MANIFEST} cannot be read: {error!r}") from error
    if form > FORM:
        raise ServiceError(
            f"{source}: made by a newer version (form {form}, known {FORM}); update first"
        )
    return backed_up


def _extract(archive: tarfile.TarFile, member: tarfile.TarInfo, to: Path) -> None:
    file = archive.extractfile(member)
    assert file is not None
    to.parent.mkdir(parents=True, exist_ok=True)
    with to.open("wb") as out:
        os.fchmod(out.fileno(), member.mode & 0o777)  # the PIN is for its owner only
        shutil.copyfileobj(file, out)
        out.flush()
        os.fsync(out.fileno())  # raises if the disk cannot keep it
