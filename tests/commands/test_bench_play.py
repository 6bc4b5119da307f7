"""`dice-companion bench play`: every press is announced on every page."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from companion.cli import dice_companion


@pytest.mark.slow
def test_the_delay_of_a_press_is_measured_on_every_page() -> None:
    asked = ["bench", "play", "--presses", "6", "--clients", "2", "--json"]
    ran = CliRunner().invoke(dice_companion, asked)
    assert ran.exit_code == 0, ran.output
    report = json.loads(ran.stdout.splitlines()[-1])
    assert (report["presses"], report["clients"]) == (6, 2)
    took = report["press_to_announcement_ms"]
    assert report["debounce_ms"] <= took["median"] <= took["p99"] < 1000


@pytest.mark.slow
def test_the_interrupted_benchmark_leaves_nothing(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "companion", "bench", "play"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        until_s = time.monotonic() + 20.0
        while not list(tmp_path.glob("dice-companion-bench-*/*")):
            assert time.monotonic() < until_s, "no table begins"
            time.sleep(0.05)
        process.terminate()
        error = process.communicate(timeout=20.0)[1]
    assert (process.returncode, error.strip()) == (1, "Aborted!")
    assert list(tmp_path.iterdir()) == []
