"""Findings of the checks, and the programs that a check may run."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from companion.service.programs import captured


class Verdict(StrEnum):
    """Fine, a game is possible but something is wrong, or no game is possible."""

    OK = "ok"
    NOTE = "note"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report; `cure` says what to do and is empty if all is well."""

    name: str
    verdict: Verdict
    text: str
    cure: str = ""


def ok(name: str, text: str) -> Finding:
    """All is well."""
    return Finding(name, Verdict.OK, text)


def note(name: str, text: str, cure: str) -> Finding:
    """The game can be played, but less well."""
    return Finding(name, Verdict.NOTE, text, cure)


def bad(name: str, text: str, cure: str) -> Finding:
    """No game is possible until this is fixed."""
    return Finding(name, Verdict.BAD, text, cure)


@dataclass(frozen=True, slots=True)
class Ran:
    """How a program ended; `status` is None when it could not be started or took too long."""

    status: int | None
    out: str = ""
    err: str = ""


Run = Callable[[Sequence[str]], Ran]
"""Runs a program to its end and returns its output."""


def run(command: Sequence[str], *, timeout_s: float = 30.0, folder: str | None = None) -> Ran:
    """Run a program, in `folder` if one is given."""
    try:
        environ = {**os.environ, "ORT_DISABLE_TELEMETRY": "1"}  # a package that is only tried
        done = captured(command, environ, timeout_s, cwd=folder)
    except (OSError, subprocess.TimeoutExpired) as error:
        return Ran(None, err=str(error))
    return Ran(done.returncode, done.stdout, done.stderr)
