"""What commands share that run until a signal."""

from __future__ import annotations

import os
import signal
import threading

from companion.commands.running import Stop


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
