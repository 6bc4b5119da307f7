"""Run commands of the system: with their complaint as an error, or quietly."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from companion.errors import ServiceError

WITHIN_S = 60.0
"""Seconds that a change may take, such as an access point that comes up."""

ANSWERS_WITHIN_S = 5.0

ENDS_WITHIN_S = 3.0
"""Seconds that a program may take to end by itself."""

Run = Callable[[Sequence[str]], str]
"""Runs a command and returns its output."""


def captured(
    command: Sequence[str], environ: Mapping[str, str], within_s: float, **more: Any
) -> subprocess.CompletedProcess[str]:
    """Run a command without input to its end; return its status and its output.

    Args:
        more: Of `subprocess.run`.

    Raises:
        OSError, TimeoutExpired: It cannot be run, or takes too long.
    """
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=within_s,
        env=environ,
        check=False,
        **more,
    )


def runner(part: str, program: str, cure: str = "") -> Run:
    """Return what runs commands that must succeed.

    Args:
        part: Named at the beginning of errors.
        program: What the command belongs to, such as NetworkManager.
        cure: What to do where it is missing.
    """

    def run(command: Sequence[str]) -> str:
        environ = {**os.environ, "LC_ALL": "C.UTF-8"}  # complaints in one language
        try:
            ran = captured(command, environ, WITHIN_S)
        except FileNotFoundError as error:
            text = f"{part}: expected {program}, found no {command[0]}"
            raise ServiceError(f"{text}; {cure}" if cure else text) from error
        except subprocess.TimeoutExpired as error:  # its text would show a password
            text = f"{part}: {program} does not answer within {WITHIN_S:g} s"
            raise ServiceError(text) from error
        except OSError as error:
            raise ServiceError(f"{part}: {program} cannot be asked: {error}") from error
        if ran.returncode:
            lines = (ran.stderr or ran.stdout).strip().splitlines()
            raise ServiceError(f"{part}: {lines[-1] if lines else f'{program} refused'}")
        return ran.stdout

    return run


def run_to_end(
    command: Sequence[str],
    environ: Mapping[str, str] | None = None,
    is_over: Callable[[int], bool] = lambda _: False,
    every_s: float | None = None,
) -> int:
    """Run a program that shows something until it ends, and return its exit status.

    An interrupt ends the program first.

    Args:
        is_over: Asked every `every_s` seconds with the program's number; ends it as well.

    Raises:
        OSError: It cannot be run.
    """
    with subprocess.Popen(command, env=environ) as program:
        try:
            while True:
                with suppress(subprocess.TimeoutExpired):
                    return program.wait(every_s)
                if is_over(program.pid):
                    _end(program)
        except KeyboardInterrupt:
            _end(program)
            raise


def _end(program: subprocess.Popen[bytes]) -> None:
    program.terminate()
    with suppress(subprocess.TimeoutExpired):
        program.wait(ENDS_WITHIN_S)
    program.kill()


def run_quietly(command: Sequence[str]) -> str:
    """Run a command untranslated and return its output; "" if it cannot be run or fails."""
    try:
        ran = captured(command, {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}, ANSWERS_WITHIN_S)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return "" if ran.returncode else ran.stdout
