"""Checks of the machine: disk, saved games, address and clock."""

from __future__ import annotations

import errno
import ipaddress
import json
import os
import shlex
import shutil
import socket
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from http.client import HTTPException
from pathlib import Path

from companion.doctor.finding import Finding, Ran, bad, note, ok
from companion.errors import StoreError
from companion.eventlog.examine import examine, is_in_use
from companion.eventlog.store import FILE_NAME, LOCK_NAME
from companion.service.network import open_health, reachable_host, url

TOO_FULL_MB, NEARLY_FULL_MB = 20, 200
"""Free megabytes: a long evening needs under one, SQLite and the system need the rest."""

ANSWERS_WITHIN_S = 3.0
"""Seconds to wait for an answer on the port; another program may never answer."""

THIS_PROJECT_BEGAN = 2025
"""An earlier year means a clock that was never set: a Pi has no battery for it."""

_GAMES = (FILE_NAME, f"{FILE_NAME}-wal", f"{FILE_NAME}-shm", LOCK_NAME)
"""All files that a table writes to store its games."""

_LOOPBACKS = ("127.0.0.1", "::1")
"""Addresses of a table that only this machine can reach."""


def check_data_dir(directory: Path, free_mb: float | None = None) -> list[Finding]:
    """Check that the directory can be written and the disk has room."""
    # os.path.exists: Path.exists raises below a directory that may not be entered
    ways = [directory, *directory.absolute().parents]
    for path in ways:
        if os.path.islink(path) and not os.path.exists(path):
            cure = "plug in the disk or stick it is on, or choose another with --data-dir"
            return [bad("data", f"{path} is a link to {os.readlink(path)}, which is missing", cure)]
    there = next(path for path in ways if os.path.exists(path))
    own = "choose another with --data-dir"
    if there == directory:
        own += f", or: sudo chown $USER {_quoted(directory)}"
    elif os.access(there, os.X_OK):  # else the new directory could not be entered either
        own += f", or: sudo install -d -o $USER {_quoted(directory)}"
    if os.path.exists(directory) and not os.path.isdir(directory):
        return [bad("data", f"{directory} is not a directory", "choose another with --data-dir")]
    if not os.access(there, os.W_OK | os.X_OK):
        return [bad("data", f"{there} cannot be written", own)]
    if free_mb is None:
        free_mb = shutil.disk_usage(there).free / 1e6
    room = f"{free_mb / 1000:.1f} GB free" if free_mb >= 1000 else f"{free_mb:.0f} MB free"
    cure = "make room: sudo apt clean, old logs, other files"
    if free_mb < TOO_FULL_MB:
        return [bad("data", f"{directory}: {room}", cure)]
    if free_mb < NEARLY_FULL_MB:
        return [note("data", f"{directory}: only {room}", cure)]
    return [ok("data", f"{directory}, {room}")]


def check_games(directory: Path) -> Finding:
    """Check the file of saved games without changing it; play has to write it."""
    for path in (directory / name for name in _GAMES):
        # a running table may have its own permissions
        if _is_read_only(path) and not is_in_use(directory):
            # SQLite gives the files beside the log the log's permissions
            files = f"{_quoted(directory)}/games.*"
            is_own = path.stat().st_uid == os.geteuid()
            cure = f"chmod u+rw {files}" if is_own else f"sudo chown $USER {files}"
            return bad("games", f"{path} cannot be written", cure)
    try:
        seen = examine(directory)
    except StoreError as error:
        return bad("games", str(error), "choose another place with --data-dir, and keep this one")
    running = "; a table is using it now" if seen.in_use else ""
    if seen.trouble is not None:
        cure = "play sets it aside and takes over what can be read; copy it first to be safe"
        return note("games", f"damaged: {seen.trouble}{running}", cure)
    if seen.records is None:
        return ok("games", f"none yet{running}")
    text = f"{seen.records} records, all readable"
    kept = [path.name for path in sorted(directory.glob("games.*damaged-*"))]
    if not kept:
        return ok("games", f"{text}{running}")
    was = f"records lost to earlier damage: {seen.lost}; damaged files are kept: {', '.join(kept)}"
    return note("games", f"{text}; {was}{running}", "delete those files when nobody misses a game")


def _is_read_only(path: Path) -> bool:
    return os.path.exists(path) and not os.access(path, os.R_OK | os.W_OK)


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))


def check_address(host: str, port: int) -> Finding:
    """Check whether phones can reach the page."""
    seen = reachable_host(host)
    page = url(seen, port) if port else seen  # nobody finds port 0
    try:
        is_near = ipaddress.ip_address(seen.partition("%")[0]).is_loopback
    except ValueError:
        is_near = seen == "localhost"
    if is_near:
        cure = "join a Wi-Fi or plug in a cable; --host 0.0.0.0 when an address was chosen"
        if host == "0.0.0.0" and ":" in reachable_host("::"):
            cure = 'this network has IPv6 only: --host ::, or web.host = "::" in the settings'
        return note("address", f"{page} can only be reached from this machine", cure)
    return ok("address", page)


def check_port(host: str, port: int, table: Mapping[str, object] | None = None) -> Finding:
    """Check whether the port is free, or taken by a running table, which `running_table` found."""
    error = _refusal(host, port)
    if error is None:
        return ok("port", f"{port} is free" if port else "any free one")
    if table is not None:
        version = table.get("version", "unknown")
        return ok("port", f"{port}: a table runs there already (version {version})")
    if error.errno == errno.EADDRINUSE:
        return bad("port", f"{port} is taken by another program", "choose one with --port")
    if error.errno == errno.EACCES:
        cure = "choose --port 8000, or: sudo sysctl net.ipv4.ip_unprivileged_port_start=80"
        return bad("port", f"{port} needs administrator rights", cure)
    return bad("port", f"{host}: {error.strerror or error}", "--host 0.0.0.0 takes any address")


def running_table(host: str, port: int) -> Mapping[str, object] | None:
    """The state of the table that runs on the port (`/healthz`), or None."""
    error = _refusal(host, port)
    if error is None or error.errno != errno.EADDRINUSE:
        return None
    at = [reachable_host(host)]
    if at != [host]:  # any address was asked for, and one of this machine's own is taken
        at += [each for each in _LOOPBACKS if each not in at]
    return next((said for each in at if (said := _table_at(each, port))), None)


def _refusal(host: str, port: int) -> OSError | None:
    """Why the port cannot be had; None if it can."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        return error
    return None


def _table_at(host: str, port: int) -> Mapping[str, object] | None:
    with suppress(OSError, ValueError, HTTPException):
        with open_health(url(host, port), ANSWERS_WITHIN_S) as said:
            answer = json.loads(said.read(10_000))
        if isinstance(answer, dict) and {"camera", "button"} <= answer.keys():
            return answer
    return None


def check_clock(now: datetime, synchronised: Ran) -> Finding:
    """Check the date that games will carry.

    Args:
        synchronised: Output of `timedatectl show -p NTPSynchronized`.
    """
    text = f"{now:%Y-%m-%d %H:%M}"
    if now.year < THIS_PROJECT_BEGAN:
        cure = "go online once, or: sudo date -s 'YYYY-MM-DD HH:MM'"
        return note("clock", f"{text} was never set: games would carry a wrong date", cure)
    if synchronised.status == 0 and synchronised.out.strip().endswith("=no"):
        cure = "if it is wrong: sudo timedatectl set-ntp true, and go online once"
        return note("clock", f"{text}, not set by the network", cure)
    return ok("clock", text)
