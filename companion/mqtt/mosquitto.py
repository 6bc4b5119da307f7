"""A Mosquitto of our own on 127.0.0.1, for measurements and tests."""

from __future__ import annotations

import getpass
import os
import shutil
import socket
import subprocess
import time
from pathlib import Path

from companion.errors import ServiceError
from companion.mqtt.broker import Broker

START_S = 5.0
"""Seconds in which it has to answer."""


def installed() -> str | None:
    """Where Mosquitto is; None if it is not installed. Debian keeps it out of a user's path."""
    return shutil.which("mosquitto", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin")


class Mosquitto:
    """A running broker; `stop` and `start` keep its port.

    Attributes:
        broker: Where it is.
    """

    def __init__(self, folder: Path, *, settings: str = "") -> None:
        """Start it.

        Args:
            folder: For its settings and topics.
            settings: Further lines of its settings file; without, anybody may connect.

        Raises:
            ServiceError: It is not installed, or does not start.
        """
        self.broker = Broker("127.0.0.1", _free_port())
        self._folder = folder
        self._process: subprocess.Popen[bytes] | None = None
        lines = [
            f"listener {self.broker.port} 127.0.0.1",
            settings or "allow_anonymous true",
            "set_tcp_nodelay true",
            f"user {getpass.getuser()}",
        ]
        (folder / "mosquitto.conf").write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.start()

    @property
    def pid(self) -> int:
        """The number of its process; 0 while it is stopped."""
        return self._process.pid if self._process is not None else 0

    def start(self) -> None:
        """Start it again."""
        program = installed()
        if program is None:
            raise ServiceError("mosquitto is not installed; Debian's package is mosquitto")
        with (self._folder / "mosquitto.log").open("ab") as log:
            self._process = subprocess.Popen(
                [program, "-c", str(self._folder / "mosquitto.conf")],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C ends its owner first
            )
        by_s = time.monotonic() + START_S
        while time.monotonic() < by_s and self._process.poll() is None:
            with socket.socket() as probe:
                if probe.connect_ex((self.broker.host, self.broker.port)) == 0:
                    return
            time.sleep(0.01)
        self.stop()
        raise ServiceError(f"mosquitto does not start; {self._folder}/mosquitto.log says why")

    def stop(self) -> None:
        """End it; may be called twice."""
        if self._process is not None:
            self._process.terminate()
            self._process.wait()
            self._process = None


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
