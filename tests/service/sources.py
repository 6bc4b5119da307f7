"""A project in git with a clone of it, and a table that an update stops and starts."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path

from companion.errors import ServiceError
from companion.service.installation import Clone, run_as_owner

SETUP = """#!/bin/sh
# Installs as pip does: the new file takes the old one's place.
cp version .venv/new && mv .venv/new .venv/version
test "$(cat version)" != broken
"""


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.org")
    done = subprocess.run(["git", *who, *words], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


class Sources:
    """A project that others cloned, and the clone with its .venv."""

    def __init__(self, folder: Path) -> None:
        self.origin, self.clone = folder / "origin", folder / "clone"
        (self.origin / ".ci").mkdir(parents=True)
        (self.origin / ".ci" / "setup").write_text(SETUP)
        (self.origin / ".ci" / "setup").chmod(0o755)
        (self.origin / ".gitignore").write_text(".venv*\n")
        git(self.origin, "init", "--quiet")
        self.publish("one")
        git(folder, "clone", "--quiet", str(self.origin), str(self.clone))
        (self.clone / ".venv").mkdir()
        (self.clone / ".venv" / "version").write_text("one")
        self.installation = Clone(self.clone, run_as_owner(self.clone))

    def publish(self, version: str) -> None:
        (self.origin / "version").write_text(version)
        git(self.origin, "add", ".")
        git(self.origin, "commit", "--quiet", "-m", version)

    @property
    def installed(self) -> tuple[str, str, list[str]]:
        """What clone and .venv hold, and the directories beside the project's files."""
        beside = sorted(path.name for path in self.clone.glob(".venv*"))
        version = (self.clone / "version").read_text()
        return version, (self.clone / ".venv" / "version").read_text(), beside


class Table:
    """A service that may be started and stopped."""

    def __init__(self, fails_with: Sequence[str] = ()) -> None:
        self.calls: list[str] = []
        self.faults = list(fails_with)
        self.steps = ["stop", "start"]

    def stop(self) -> None:
        self.calls.append("stop")

    def start(self) -> None:
        self.calls.append("start")
        if self.faults:
            raise ServiceError(self.faults.pop())
