"""A table on trial: it plays on saved games that are copied or made up, and nobody notices it."""

from __future__ import annotations

import os
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from companion.errors import ServiceError

HEALTHY_WITHIN_S = 60.0
"""Seconds that a table may take from its start until people can play."""


@contextmanager
def trial_table(
    program: Sequence[str], data_dir: Path, config: Path, cwd: Path | None = None
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a table without camera, pins, sound, broker and hotspot; it is killed at the end.

    Args:
        program: Runs this program or another version of it, without a command.
        config: Its settings file, in place of the user's.
        cwd: Where it runs.
    Returns:
        Its process and its address.
    Raises:
        ServiceError: It does not start; the text is its own last line if it writes any.
    """
    table = ["--camera", "none", "--pins", "none", "--host", "127.0.0.1", "--port", "0"]
    places = ["--data-dir", str(data_dir), "--config", str(config)]
    silent = {
        **os.environ,
        "DICE_COMPANION_SOUND_ENABLED": "false",
        "DICE_COMPANION_MQTT_HOST": "",  # the house would take it for the table
        "DICE_COMPANION_WEB_HOTSPOT": "never",
    }
    silent.pop("NOTIFY_SOCKET", None)
    with (
        tempfile.TemporaryFile("w+") as errors,
        subprocess.Popen(
            [*program, "play", *table, *places],
            cwd=cwd,
            env=silent,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        ) as trial,
    ):
        patience = threading.Timer(HEALTHY_WITHIN_S, trial.kill)
        patience.start()
        try:
            assert trial.stdout is not None
            said = trial.stdout.readline().strip()
            if not said.startswith("listening on "):
                errors.seek(0)
                lines = errors.read().strip().splitlines()
                raise ServiceError(lines[-1] if lines else "the table does not start")
            yield trial, f"{said.removeprefix('listening on ')}/"
        finally:
            patience.cancel()
            trial.kill()
            trial.wait()  # an interrupted `with` waits for a quarter of a second only
