"""What commands share that run until a signal."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from companion.commands.running import Stop, ended_by_signals
from tests.conftest import ROOT

EARLY = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a script's job ignores it
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "companion.cli":
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Finder())
from companion.__main__ import main
main()
"""
"""Ctrl-C while the command's modules are imported."""


def test_ctrl_c_at_the_very_start_shows_no_traceback() -> None:
    done = subprocess.run([sys.executable, "-c", EARLY], cwd=ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGINT, b"", b"")


IMPORTING = """
import sys
from companion import __main__, cli
cli.dice_companion.main = lambda *_, **__: interrupted()
def interrupted():
    try:
        exec("raise KeyboardInterrupt")  # as a dataclass runs code while it is imported
    except KeyboardInterrupt:
        sys.exit(1)
__main__.main()
"""
"""A signal while a command imports."""


def test_a_command_that_is_ended_while_it_imports_exits_with_1(tmp_path: Path) -> None:
    (tmp_path / "importing.py").write_text(IMPORTING)
    path = os.pathsep.join([str(ROOT), str(tmp_path)])
    program = [sys.executable, "-m", "importing"]
    done = subprocess.run(program, env={**os.environ, "PYTHONPATH": path}, check=False)
    assert done.returncode == 1


def test_a_signal_at_any_moment_of_waiting_is_noted() -> None:
    """A handler interrupts the main thread anywhere, also where it waits."""
    stop = Stop()
    before = signal.signal(signal.SIGUSR1, lambda *_: stop.set())

    def send() -> None:
        for _ in range(2000):
            os.kill(os.getpid(), signal.SIGUSR1)

    sender = threading.Thread(target=send, daemon=True)
    try:
        assert not stop.wait(0.0)
        sender.start()
        while sender.is_alive():
            stop.wait(0.0)
        assert stop.wait(1.0)
        assert stop.wait(0.0), "it stays said"
    finally:
        signal.signal(signal.SIGUSR1, before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_work_that_a_signal_ends_is_taken_back(number: signal.Signals) -> None:
    def work() -> None:
        try:
            signal.raise_signal(number)
        finally:
            signal.raise_signal(signal.SIGHUP)  # a terminal that is closed sends several
            taken_back.append(number)

    taken_back: list[int] = []
    outer = signal.signal(number, signal.SIG_IGN)
    try:
        with ended_by_signals():
            signal.raise_signal(number)  # ignored under nohup
        signal.signal(number, signal.SIG_DFL)
        with pytest.raises(KeyboardInterrupt), ended_by_signals():
            work()
        assert taken_back == [number]
        assert signal.getsignal(number) == signal.SIG_DFL
    finally:
        signal.signal(number, outer)
