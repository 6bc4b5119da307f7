"""`dice-companion club` as a process, and its benchmark."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from click.testing import CliRunner

from companion.cli import dice_companion
from companion.errors import ServiceError
from companion.mqtt import mosquitto
from companion.mqtt.mosquitto import installed
from tests.conftest import ROOT

PATIENCE_S = 60.0

needs_mosquitto = pytest.mark.skipif(installed() is None, reason="no mosquitto on this machine")


def command(data: Path, *args: str) -> list[str]:
    place = ["--data-dir", str(data), "--host", "127.0.0.1", "--port", "0"]
    return [sys.executable, "-m", "companion", "club", *place, *args]


@contextmanager
def running(data: Path, *args: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The process and its address."""
    with subprocess.Popen(
        command(data, *args),
        cwd=ROOT,
        env={**os.environ, "HOME": str(data)},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            assert line.startswith("listening on http://127.0.0.1:"), line
            yield process, line.split()[-1]
        finally:
            process.kill()


def refused(data: Path, *args: str) -> tuple[int, str]:
    done = subprocess.run(
        command(data, *args),
        cwd=ROOT,
        env={**os.environ, "HOME": str(data)},
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    return done.returncode, done.stderr


def test_a_club_whose_broker_is_away_shows_its_page_and_ends(tmp_path: Path) -> None:
    with running(tmp_path, "--broker", "127.0.0.1", "--club", "Dienstag") as (process, url):
        with urllib.request.urlopen(f"{url}/healthz", timeout=PATIENCE_S) as answer:
            health = json.load(answer)
        assert (health["status"], health["broker"]) == ("ok", "lost")
        with urllib.request.urlopen(f"{url}/", timeout=PATIENCE_S) as answer:
            assert b"Dienstag" in answer.read()
        assert refused(tmp_path, "--broker", "127.0.0.1")[0] == 1  # its files are in use
        began_s = time.monotonic()
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
        assert time.monotonic() - began_s < 5.0
    assert (tmp_path / "club" / "club.sqlite3").is_file()
    assert (tmp_path / "club" / "access.json").stat().st_mode & 0o077 == 0


def test_a_club_without_a_broker_says_what_it_needs(tmp_path: Path) -> None:
    assert refused(tmp_path) == (
        1,
        "dice-companion: club: expected a broker: give --broker, or mqtt.host in the settings\n",
    )


@pytest.mark.slow
@needs_mosquitto
def test_the_benchmark_ends_with_its_object(tmp_path: Path) -> None:
    asked = ["club", "--tables", "4", "--rolls", "20", "--seconds", "8", "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "companion", "bench", *asked],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=2 * PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout.splitlines()[-1])
    assert list(report) == ["tables", "rolls", "screen_delay_ms", "lost", "doubled"]
    assert list(report["screen_delay_ms"]) == ["median", "p99"]
    assert report["tables"] == 4
    assert report["rolls"] > 50
    assert 0 < report["screen_delay_ms"]["median"] <= report["screen_delay_ms"]["p99"]
    assert (report["lost"], report["doubled"]) == (0, 0)


@pytest.mark.slow
@needs_mosquitto
@pytest.mark.parametrize("ends", [signal.SIGINT, signal.SIGTERM])
def test_the_interrupted_benchmark_leaves_nothing(tmp_path: Path, ends: signal.Signals) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "companion", "bench", "club", "--tables", "4"],
        cwd=ROOT,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        until_s = time.monotonic() + PATIENCE_S
        while not list(tmp_path.rglob("dice-companion-tables-*/3")):
            assert time.monotonic() < until_s, "no table begins"
            time.sleep(0.05)
        if ends is signal.SIGINT:
            os.killpg(process.pid, ends)  # as a terminal sends it
        else:
            process.send_signal(ends)
        began_s = time.monotonic()
        error = process.communicate(timeout=PATIENCE_S)[1]
        assert time.monotonic() - began_s < 10.0
    assert (process.returncode, error.strip()) == (1, "Aborted!")
    assert list(tmp_path.iterdir()) == []
    assert [args for args in commands() if str(tmp_path) in args] == []


def commands() -> Iterator[str]:
    """The command line of every process."""
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):  # it has just ended
            yield path.read_text(errors="replace")


def test_the_benchmark_says_if_mosquitto_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mosquitto, "installed", lambda: None)
    done = CliRunner().invoke(dice_companion, ["bench", "club", "--seconds", "1"])
    assert isinstance(done.exception, ServiceError)
    assert str(done.exception) == "mosquitto is not installed; Debian's package is mosquitto"
