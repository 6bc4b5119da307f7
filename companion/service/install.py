"""Install, change and remove the system service, step by step and idempotently.

A plan is a list of steps that can be printed (`--dry-run`) or run. Planning asks the machine what
is there already; only running changes it.
"""

from __future__ import annotations

import grp
import os
import pwd
import shlex
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from companion.errors import ServiceError
from companion.service.board import content_of
from companion.service.unit import (
    AVAHI_PATH,
    CACHE_DIR,
    CONFIG_PATH,
    DATA_DIR,
    DNSMASQ_PATH,
    GROUPS,
    LAUNCHER_MARK,
    LAUNCHER_PATH,
    MODULES_PATH,
    NAME,
    POLKIT_PATH,
    PROFILE,
    UNIT_PATH,
    avahi_text,
    dnsmasq_text,
    launcher_text,
    modules_text,
    polkit_text,
    service_directories,
    unit_text,
)

SYSTEMD_RUNS = Path("/run/systemd/system")
"""Is there while systemd runs the machine (sd_booted(3))."""

COMMENTED_CONFIG = "# Settings of the table, see docs/settings.md. Nothing needs to be set.\n"


@dataclass(frozen=True, slots=True)
class Command:
    """Run a program; it must succeed unless `may_fail`."""

    argv: tuple[str, ...]
    may_fail: bool = False

    def __str__(self) -> str:
        return f"run     {shlex.join(self.argv)}"

    def run(self) -> None:
        try:
            done = subprocess.run(self.argv, capture_output=True, text=True, check=False)
        except OSError as error:
            if self.may_fail:
                return
            raise ServiceError(f"{self.argv[0]}: cannot be run: {error.strerror}") from error
        if done.returncode and not self.may_fail:
            lines = (done.stderr or done.stdout).strip().splitlines()
            raise ServiceError(f"{shlex.join(self.argv)}: {lines[-1] if lines else 'failed'}")


@dataclass(frozen=True, slots=True)
class Write:
    """Write a file, readable for all unless `mode` says otherwise."""

    path: Path
    text: str
    mode: int = 0o644

    def __str__(self) -> str:
        return f"write   {self.path}"

    def run(self) -> None:
        try:
            for folder in reversed(self.path.parents):
                if not folder.is_dir():
                    folder.mkdir()
                    folder.chmod(0o755)  # whatever root's umask is: the service reads what is there
            part = self.path.with_name(f".{self.path.name}.part")
            with part.open("w", encoding="utf-8") as file:
                file.write(self.text)
                file.flush()
                os.fsync(file.fileno())  # else a plug pulled now would leave it empty
            part.chmod(self.mode)
            part.replace(self.path)
        except OSError as error:
            raise ServiceError(f"{self.path}: cannot be written: {error.strerror}") from error


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete a file or a directory; one that is not there is fine."""

    path: Path

    def __str__(self) -> str:
        return f"delete  {self.path}"

    def run(self) -> None:
        try:
            if self.path.is_dir() and not self.path.is_symlink():
                shutil.rmtree(self.path)
            else:
                self.path.unlink(missing_ok=True)
        except OSError as error:
            raise ServiceError(f"{self.path}: cannot be deleted: {error.strerror}") from error


Step = Command | Write | Delete


@dataclass(frozen=True, slots=True)
class Machine:
    """Facts about a machine that a plan depends on.

    Attributes:
        groups: Names of its groups.
        has_user: Whether the service's user is there.
        systemd_version: Such as 252.
        has_polkit, has_avahi, has_networkmanager: Whether these are installed.
        content: Returns the text of a file, or None where there is none.
        is_there: Whether there is such a file or directory.
    """

    groups: frozenset[str]
    has_user: bool
    systemd_version: int
    has_polkit: bool
    has_avahi: bool
    has_networkmanager: bool
    content: Callable[[Path], str | None]
    is_there: Callable[[Path], bool] = os.path.lexists


def this_machine() -> Machine:
    """Look at the machine this runs on.

    Raises:
        ServiceError: It has no systemd.
    """
    if not shutil.which("systemctl"):
        raise ServiceError("service: expected systemd, found no systemctl on this machine")
    try:
        pwd.getpwnam(NAME)
        has_user = True
    except KeyError:
        has_user = False
    return Machine(
        groups=frozenset(entry.gr_name for entry in grp.getgrall()),
        has_user=has_user,
        systemd_version=_systemd_version(),
        has_polkit=POLKIT_PATH.parent.is_dir(),
        has_avahi=AVAHI_PATH.parent.is_dir(),
        has_networkmanager=DNSMASQ_PATH.parents[1].is_dir(),
        content=content_of,
    )


def require_systemd() -> None:
    """Refuse to go on where systemd is installed but does not run the machine.

    Raises:
        ServiceError: As in most containers.
    """
    if not SYSTEMD_RUNS.is_dir():
        raise ServiceError("service: expected a machine that systemd has started")


def _systemd_version() -> int:
    told = subprocess.run(["systemctl", "--version"], capture_output=True, text=True, check=False)
    words = told.stdout.split()
    return int(words[1]) if len(words) > 1 and words[1].isdigit() else 0


_HOMES = (Path("/home"), Path("/root"))


@dataclass(frozen=True, slots=True)
class Program:
    """How this installation is run.

    Attributes:
        command: Program and arguments that run the table in the foreground.
        in_homes: Its directories below people's homes.
    """

    command: tuple[str, ...]
    in_homes: tuple[Path, ...] = ()


def this_program(python: Path | None = None) -> Program:
    """Return how the running installation can be started again as a service.

    Args:
        python: The interpreter of a venv that is still to be made; by default the running one.
    """
    import companion

    chosen = python or Path(sys.executable)
    places = [
        python.parents[1] if python is not None else Path(sys.prefix),
        Path(sys.base_prefix),
        Path(companion.__file__).resolve().parents[1],
    ]
    in_homes = sorted({p for p in places if any(p.is_relative_to(home) for home in _HOMES)})
    outer = [p for p in in_homes if not any(p != q and p.is_relative_to(q) for q in in_homes)]
    return Program((str(chosen), "-m", "companion", "play"), tuple(outer))


def plan_install(
    machine: Machine, program: Program, *, port: int = 8000, data_dir: Path = DATA_DIR
) -> Iterator[Step]:
    """Yield the steps from here to a running service.

    Args:
        machine: As it is now; what is there already yields no step.
        program: Runs the table.
        port: Of the page, for its announcement in the network.
        data_dir: Where games are kept.

    Raises:
        ServiceError: They would be kept where the service sees nothing.
    """
    if any(data_dir.is_relative_to(home) for home in _HOMES):
        raise ServiceError(
            f"service: data_dir: {data_dir} is in a home, of which a service sees nothing;"
            " choose a folder elsewhere, such as /mnt/games"
        )
    groups = [group for group in GROUPS if group in machine.groups]
    if not machine.has_user:
        yield Command(
            (
                "useradd", "--system", "--user-group", "--no-create-home",
                "--home-dir", str(DATA_DIR), "--shell", "/usr/sbin/nologin", NAME,
            )
        )  # fmt: skip
    if not data_dir.is_relative_to(DATA_DIR):
        yield Command(
            ("install", "--directory", f"--owner={NAME}", f"--group={NAME}", str(data_dir))
        )
    unit = unit_text(program.command, groups, machine.systemd_version, program.in_homes, data_dir)
    files = [Write(UNIT_PATH, unit), Write(MODULES_PATH, modules_text())]
    if machine.content(CONFIG_PATH) is None:
        files.append(Write(CONFIG_PATH, COMMENTED_CONFIG))
    if machine.has_polkit:
        files.append(Write(POLKIT_PATH, polkit_text()))
    if machine.has_avahi:
        files.append(Write(AVAHI_PATH, avahi_text(port)))
    if machine.has_networkmanager:
        files.append(Write(DNSMASQ_PATH, dnsmasq_text()))
    if not machine.content(LAUNCHER_PATH) or _is_launcher(machine):
        files.append(Write(LAUNCHER_PATH, launcher_text(program.command[0]), 0o755))
    changed = [file for file in files if machine.content(file.path) != file.text]
    yield from changed
    if any(file.path == MODULES_PATH for file in changed):
        yield Command(("systemctl", "restart", "systemd-modules-load.service"), may_fail=True)
    if any(file.path == UNIT_PATH for file in changed):
        yield Command(("systemctl", "daemon-reload"))
    yield Command(("systemctl", "enable", f"{NAME}.service"))
    yield Command(("systemctl", "restart", f"{NAME}.service"))


def plan_remove(machine: Machine, *, purge: bool = False) -> Iterator[Step]:
    """Yield the steps back to a machine without the service.

    Args:
        machine: As it is now.
        purge: Delete games, settings and the user as well; without it they stay.
    """
    if machine.content(UNIT_PATH) is not None:
        yield Command(("systemctl", "disable", "--now", f"{NAME}.service"), may_fail=True)
    for path in (UNIT_PATH, MODULES_PATH, POLKIT_PATH, AVAHI_PATH, DNSMASQ_PATH):
        if machine.content(path) is not None:
            yield Delete(path)
    if _is_launcher(machine):
        yield Delete(LAUNCHER_PATH)
    yield Command(("systemctl", "daemon-reload"), may_fail=True)
    if purge:
        for path in (DATA_DIR, *copies_of(DATA_DIR), CONFIG_PATH.parent, CACHE_DIR):
            if machine.is_there(path):
                yield Delete(path)
        if machine.has_networkmanager:  # it holds the Wi-Fi's password
            yield Command(("nmcli", "connection", "delete", PROFILE), may_fail=True)
        if machine.has_user:
            yield Command(("userdel", NAME))


def _is_launcher(machine: Machine) -> bool:
    """Whether the program in everybody's path is the service's; pip may have put another there."""
    return LAUNCHER_MARK in (machine.content(LAUNCHER_PATH) or "")


def copies_of(data_dir: Path) -> list[Path]:
    """Backups of updates, data that a restore replaced, and what it left when it was cut off."""
    found = data_dir.parent.glob(f"{data_dir.name}?before-*")
    others = (data_dir.with_name(f"{data_dir.name}{end}") for end in ("-backups", ".restored"))
    return sorted([*others, *found])


def is_installed() -> bool:
    """Whether this machine starts the table as a service."""
    return UNIT_PATH.is_file()


def is_root() -> bool:
    """Whether the process may change the system."""
    return os.geteuid() == 0


def service_environ(*named: Path | None) -> Mapping[str, str]:
    """The environment of a command: with sudo the service's, where there is one.

    Args:
        named: Places that the user may have named; one that is given makes it the user's own.
    """
    is_for_service = is_installed() and is_root() and not any(named)
    return {**os.environ, **service_directories()} if is_for_service else os.environ


def environ_to_change(command: str, *named: Path | None) -> Mapping[str, str]:
    """The environment of a command that changes the table: as `service_environ`.

    Raises:
        ServiceError: It is the service's, which only root may change.
    """
    if is_installed() and not is_root() and not any(named):
        raise ServiceError(f"{command}: the table is a service; run this with sudo")
    return service_environ(*named)


def give_to_owner(directory: Path) -> None:
    """Give the files in a directory to its owner, so that root leaves none that it cannot write."""
    owner = directory.stat()
    for path in directory.rglob("*"):
        if path.lstat().st_uid != owner.st_uid:
            os.chown(path, owner.st_uid, owner.st_gid, follow_symlinks=False)


def described(steps: Iterable[Step]) -> Iterator[str]:
    """Yield what steps would do, line by line."""
    for step in steps:
        yield f"would {step}"
        if isinstance(step, Write):
            yield textwrap.indent(step.text, "    | ", lambda _line: True)


if __name__ == "__main__":  # `make pi DRY_RUN=1`, before there is a venv
    print(*described(plan_install(this_machine(), this_program(Path(sys.argv[1])))), sep="\n")
