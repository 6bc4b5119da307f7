"""Update the program: backup, change, trial on a copy of the games, health check, or the way back.

The table stands still meanwhile, so no step is made that the way back would lose.
"""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Protocol
from urllib.error import HTTPError

from companion.errors import CompanionError, ServiceError, StoreError
from companion.eventlog.examine import examine, is_in_use
from companion.service.backup import write_backup
from companion.service.install import Command
from companion.service.installation import Installation
from companion.service.network import open_health
from companion.service.restore import restore_backup
from companion.service.trial import HEALTHY_WITHIN_S, trial_table
from companion.service.unit import NAME

BACKUPS = 3
"""Backups of updates that are kept; each holds all games."""

FAILED = "failed-update"
"""Ends the name of the directory with the games that the last failed update left."""

_AS_ROOT = ("-B", "-P", "-m", "companion")
"""Runs a program, leaves no compiled files of root's beside it, and takes no module from the folder
that it is called in."""


class Table(Protocol):
    """The table whose program is updated."""

    @property
    def steps(self) -> Sequence[str]:
        """The steps of `start` and `stop`, for people."""

    def stop(self) -> None:
        """Stop it; a table that does not run is fine."""

    def start(self) -> None:
        """Start it and wait until people can play; raises ServiceError if they cannot."""


@dataclass(frozen=True, slots=True)
class Places:
    """Where the table keeps its games and its settings."""

    data_dir: Path
    config_path: Path

    @property
    def backups(self) -> Path:
        """Where the backups of updates are kept."""
        return self.data_dir.with_name(f"{self.data_dir.name}-backups")


@dataclass(frozen=True, slots=True)
class Service:
    """A table that runs as a system service."""

    python: str
    url: str

    @property
    def steps(self) -> Sequence[str]:
        """Commands that stop and start it, and the question that must be answered."""
        return [f"systemctl stop {NAME}.service", "service install", f"ask {self.url}healthz"]

    def stop(self) -> None:
        """Stop the service."""
        Command(("systemctl", "stop", f"{NAME}.service")).run()

    def start(self) -> None:
        """Renew the unit, start the service and wait until people can play."""
        Command((self.python, *_AS_ROOT, "service", "install")).run()
        expect_health(self.url)


@dataclass(frozen=True, slots=True)
class NoService:
    """A table that people start themselves."""

    data_dir: Path

    @property
    def steps(self) -> Sequence[str]:
        """Nothing is stopped or started."""
        return ()

    def stop(self) -> None:
        """Refuse to go on while it runs: nobody else could start it again."""
        if is_in_use(self.data_dir):
            raise ServiceError(f"{self.data_dir}: a table is running there; end it first")

    def start(self) -> None:
        """Nothing: whoever played starts it again."""


def plan(installation: Installation, table: Table, places: Places) -> Iterator[str]:
    """Yield what an update would do, for people."""
    stop, *start = table.steps or ("",)
    steps = [stop, f"backup into {places.backups}", *installation.steps]
    steps += ["start the new version on a copy of the games and ask whether people can play"]
    yield from (step for step in [*steps, *start] if step)
    yield "if any of this fails: go back to this version and its games"


def update(
    installation: Installation,
    table: Table,
    places: Places,
    *,
    now: datetime,
    try_out: Callable[[str, Path | None], None] | None = None,
    tell: Callable[[str], None] = lambda _text: None,
) -> str:
    """Update to the newest version, or go back to the present one.

    Args:
        now: For the backup's name.
        try_out: Starts an interpreter's program on a copy of a backup; the real one if None.
        tell: Receives a line on each step.
    Returns:
        The new version; "" if there is none.
    Raises:
        ServiceError: The update failed; the table is as it was.
    """
    if was_cut_off := installation.was_cut_off:
        tell("an earlier update was cut off: going back first")
        table.stop()
    new = ""
    try:
        if was_cut_off:
            installation.go_back()
        was, new = installation.version, installation.newer()
    finally:
        if was_cut_off and not new:  # games of the newer version wait for that one
            table.start()
    if not new:
        return ""
    table.stop()
    backup: Path | None = None
    has_started = False
    try:
        backup = _back_up(places, was, now)
        tell(f"backup: {backup or 'no games yet'}")
        tell(f"installing {new} in place of {was}")
        installation.change()
        (try_out or rehearse)(installation.python, backup)
        has_started = True
        table.start()
    except BaseException as error:
        tell(f"going back to {was}")
        with suppress(CompanionError):
            table.stop()
        is_told = isinstance(error, CompanionError)
        text = f"{new} does not work here: {error}; {was} is back"
        try:
            installation.go_back()
            if has_started and backup is not None:
                restore_backup(backup, places.data_dir, places.config_path, now=now, kept_as=FAILED)
        except CompanionError as second:
            is_told, text = True, f"{new}: {error}; and the way back failed: {second}"
        finally:
            try:
                table.start()
            except CompanionError as third:
                is_told, text = True, f"{text}; the table does not start: {third}"
        if is_told:
            raise ServiceError(text) from error
        raise
    installation.keep()
    return new


def _back_up(places: Places, version: str, now: datetime) -> Path | None:
    """Write a backup and delete all but the newest ones; None where there are no games yet."""
    if examine(places.data_dir).records is None:
        return None
    file = places.backups / f"{now:%Y%m%d-%H%M%S}-before-update.tar.gz"
    try:
        places.backups.mkdir(mode=0o700, exist_ok=True)
        for left in places.backups.glob(".*.part"):  # an update was killed
            left.unlink()
        write_backup(file, places.data_dir, places.config_path, now=now, version=version)
        others = [each for each in places.backups.glob("*-before-update.tar.gz") if each != file]
        for old in sorted(others)[: 1 - BACKUPS]:  # by their names, which a wrong clock gave, too
            old.unlink()
    except OSError as error:
        raise ServiceError(f"{places.backups}: cannot be written: {error.strerror}") from error
    except StoreError as error:
        raise ServiceError(f"no backup could be written: {error}") from error
    return file


def rehearse(python: str, backup: Path | None) -> None:
    """Start a program on a copy of the games, without camera and pins, and ask for its health.

    It must be able to update itself, too: no later version would come otherwise.

    Args:
        python: Interpreter of the program.
        backup: Holds the games; None for a table without any.
    Raises:
        ServiceError: It does not start, or nobody could play.
    """
    with tempfile.TemporaryDirectory(prefix="dice-companion-update-") as name:
        folder = Path(name)
        config, data = folder / "config.toml", folder / "data"
        if backup is not None:
            restore_backup(backup, data, config, now=datetime.now())
        config.touch()
        with trial_table((python, *_AS_ROOT), data, config, cwd=folder) as (_, url):
            expect_health(url)
    Command((python, *_AS_ROOT, "update", "--dry-run")).run()


def expect_health(
    url: str, within_s: float = HEALTHY_WITHIN_S, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Wait until people can play at a table.

    Args:
        url: Of the table, with a slash at its end.
    Raises:
        ServiceError: They cannot in time; the text has the table's own reason if it gives one.
    """
    give_up_s, why = time.monotonic() + within_s, ""
    while time.monotonic() < give_up_s:
        try:
            with open_health(url, 5.0) as answer:
                if answer.status == 200:
                    return
                why = _reason(answer)
        except (OSError, HTTPException) as error:
            why = str(error)
        sleep(1.0)
    raise ServiceError(f"{url}healthz: expected a table that can be played at: {why}")


def _reason(answer: HTTPResponse | HTTPError) -> str:
    try:
        parts = json.loads(answer.read())["parts"]
        told = {name: part["reason"] for name, part in parts.items() if part["state"] == "failed"}
        return "; ".join(f"{name}: {reason}" for name, reason in told.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return f"status {answer.status}"
