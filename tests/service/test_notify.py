"""Signs of life to systemd, received by a real socket."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from companion.service.notify import Watchdog, notify, watchdog_period_s
from tests.commands.test_play import PATIENCE_S, command
from tests.conftest import ROOT


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[socket.socket]:
    """The socket on which systemd listens."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.settimeout(PATIENCE_S)
        listening.bind(str(tmp_path / "notify"))
        yield listening


def test_a_message_arrives_on_a_socket_with_a_path(systemd: socket.socket) -> None:
    assert notify("READY=1", {"NOTIFY_SOCKET": systemd.getsockname()})
    assert systemd.recv(1000) == b"READY=1"


def test_a_message_arrives_on_an_abstract_socket() -> None:
    name = f"dice-companion-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind("\0" + name)
        assert notify("READY=1", {"NOTIFY_SOCKET": "@" + name})
        assert listening.recv(1000) == b"READY=1"


def test_without_systemd_nothing_is_sent(tmp_path: Path) -> None:
    assert not notify("READY=1", {})
    assert not notify("READY=1", {"NOTIFY_SOCKET": str(tmp_path / "gone")})


@pytest.mark.parametrize(
    ("environ", "period_s"),
    [
        ({}, None),
        ({"WATCHDOG_USEC": "30000000"}, 30.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid())}, 30.0),
        ({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}, None),
        ({"WATCHDOG_USEC": "0"}, None),
        ({"WATCHDOG_USEC": "soon"}, None),
    ],
)
def test_the_period_is_the_one_systemd_waits(
    environ: dict[str, str], period_s: float | None
) -> None:
    assert watchdog_period_s(environ) == period_s


def test_it_is_alive_only_while_every_part_is() -> None:
    sent: list[str] = []
    works = {"session": True, "page": True}
    watchdog = Watchdog(
        {name: lambda name=name: works[name] for name in works},  # type: ignore[misc]
        30.0,
        send=sent.append,
    )
    assert watchdog.beat()
    works["page"] = False
    assert not watchdog.beat()
    assert not watchdog.beat()
    works["page"] = True
    assert watchdog.beat()
    alive = "WATCHDOG=1\nSTATUS=running"
    assert sent == [alive, "STATUS=not working: page", alive]


def test_a_check_that_raises_counts_as_dead(caplog: pytest.LogCaptureFixture) -> None:
    def broken() -> bool:
        raise OSError("gone")

    assert not Watchdog({"page": broken}, 30.0, send=lambda _: None).beat()
    assert "gone" in caplog.text


def test_a_check_that_hangs_ends_the_signs_of_life() -> None:
    beats: list[str] = []
    calls = threading.Event()

    def hanging() -> bool:
        if beats:
            calls.set()
            threading.Event().wait()
        return True

    Watchdog({"camera": hanging}, 0.03, send=beats.append).start()
    assert calls.wait(PATIENCE_S)
    assert len(beats) == 1


def test_a_table_under_systemd_says_it_is_ready_and_alive(
    tmp_path: Path, systemd: socket.socket
) -> None:
    service = {"NOTIFY_SOCKET": systemd.getsockname(), "WATCHDOG_USEC": "1500000"}
    process = subprocess.Popen(
        command(tmp_path / "data", "--camera", "none"),
        cwd=ROOT,
        env={**os.environ, "HOME": str(tmp_path), **service},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        assert systemd.recv(1000).startswith(b"READY=1\n")
        assert systemd.recv(1000).startswith(b"WATCHDOG=1\n")
        assert systemd.recv(1000).startswith(b"WATCHDOG=1\n")
        process.send_signal(signal.SIGTERM)
        assert process.wait(PATIENCE_S) == 0
    finally:
        process.kill()
        process.wait(PATIENCE_S)
