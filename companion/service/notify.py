"""Messages to systemd: the table is ready, and the table is alive (sd_notify(3))."""

from __future__ import annotations

import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Mapping

LOGGER = logging.getLogger(__name__)

Check = Callable[[], bool]
"""Whether one part of the table works; one that never returns counts as dead."""

BEATS_PER_PERIOD = 3
"""Signs of life sent within the time systemd allows between two."""


def notify(message: str, environ: Mapping[str, str] = os.environ) -> bool:
    """Send one message to systemd; return whether it was sent.

    Args:
        message: Such as "READY=1"; several are separated by newlines.
        environ: Holds NOTIFY_SOCKET where systemd runs the process.
    """
    address = environ.get("NOTIFY_SOCKET", "")
    if not address:
        return False
    if address.startswith("@"):
        address = "\0" + address[1:]
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
            sender.sendto(message.encode(), address)
    except OSError as error:
        LOGGER.warning("systemd cannot be notified: %s", error)
        return False
    return True


def is_service(environ: Mapping[str, str] = os.environ) -> bool:
    """Whether systemd runs this process as a service that reports to it."""
    return bool(environ.get("NOTIFY_SOCKET"))


def watchdog_period_s(environ: Mapping[str, str] = os.environ) -> float | None:
    """Return the seconds systemd waits for a sign of life; None when it waits for none."""
    wanted = environ.get("WATCHDOG_USEC", "")
    is_ours = environ.get("WATCHDOG_PID", str(os.getpid())) == str(os.getpid())
    return int(wanted) / 1e6 if wanted.isdigit() and int(wanted) and is_ours else None


class Watchdog:
    """Thread that tells systemd the table is alive while every part of it works.

    The checks run on the watchdog's own thread: a check that hangs stops the signs of life, and
    systemd starts the table again.
    """

    def __init__(
        self,
        checks: Mapping[str, Check],
        period_s: float,
        *,
        send: Callable[[str], object] = notify,
    ) -> None:
        """Nothing runs before `start`.

        Args:
            checks: Part name to its check.
            period_s: Seconds systemd allows between two signs of life.
            send: Takes a message to systemd.
        """
        self._checks, self._send = checks, send
        self._beat_s = period_s / BEATS_PER_PERIOD
        self._failing: tuple[str, ...] = ()
        self._thread = threading.Thread(target=self._run, name="watchdog", daemon=True)

    def start(self) -> None:
        """Begin to check and to report."""
        self._thread.start()

    def beat(self) -> bool:
        """Run every check once; report and return True if all passed."""
        failing = tuple(name for name, check in self._checks.items() if not _passes(check))
        if failing != self._failing:
            self._failing = failing
            if failing:
                LOGGER.warning("watchdog: not working: %s", ", ".join(failing))
                self._send(f"STATUS=not working: {', '.join(failing)}")
        if failing:
            return False
        self._send("WATCHDOG=1\nSTATUS=running")
        return True

    def _run(self) -> None:
        while True:
            self.beat()
            time.sleep(self._beat_s)


def _passes(check: Check) -> bool:
    try:
        return check()
    except Exception:
        LOGGER.warning("watchdog: a check failed", exc_info=True)
        return False
