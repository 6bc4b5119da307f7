"""The machine's own Wi-Fi, when it is one: phones have to join that before they find the table."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Event, Lock, Thread

NAME, MODE = "802-11-wireless.ssid", "802-11-wireless.mode"
KEYS, PASSWORD = "802-11-wireless-security.key-mgmt", "802-11-wireless-security.psk"

ASK_EVERY_S = 10.0
"""Somebody who switches the hotspot on waits about that long at most for its code. Two short
commands each time, on a thread of their own."""

ANSWERS_WITHIN_S = 5.0

LET_GO_S = 0.5
"""A NetworkManager that hangs must not keep the table from ending within five seconds."""

Run = Callable[[Sequence[str]], str]
"""Runs a command and gives what it prints; "" when it cannot be run or fails."""


@dataclass(frozen=True, slots=True)
class Wifi:
    """A Wi-Fi to join; an empty name for none, an empty password for an open one."""

    name: str = ""
    password: str = field(default="", repr=False)


NONE = Wifi()


def active_hotspot(run: Run) -> Wifi:
    """The access point that NetworkManager runs on this machine, or `NONE`.

    It is only asked, never changed. A protected one whose password this user may not read is
    none: its code would not let a phone in.
    """
    for line in run(["nmcli", "-t", "-f", "UUID,TYPE", "connection", "show", "--active"]).split():
        uuid, _, kind = line.partition(":")
        if kind != "802-11-wireless":
            continue
        fields = ",".join((NAME, MODE, KEYS, PASSWORD))
        asked = ["nmcli", "-s", "-t", "-e", "no", "-m", "multiline", "-f", fields]
        told = dict(
            each.partition(":")[::2]
            for each in run([*asked, "connection", "show", uuid]).split("\n")
        )
        is_open = not told.get(KEYS)
        if told.get(MODE) == "ap" and told.get(NAME) and (is_open or told.get(PASSWORD)):
            return Wifi(told[NAME], "" if is_open else told[PASSWORD])
    return NONE


def run_quietly(command: Sequence[str]) -> str:
    """What a command prints, in no language but its own; "" when it cannot be run or fails."""
    try:
        ran = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=ANSWERS_WITHIN_S,
            stdin=subprocess.DEVNULL,
            env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"},
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return ""
    return ran.stdout


class HotspotWatch:
    """Asks now and then, on a thread of its own: the page never waits for it."""

    def __init__(
        self,
        run: Run = run_quietly,
        *,
        every_s: float = ASK_EVERY_S,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        """Nothing runs before `start`; `on_change` is called on the watch's own thread."""
        self._run, self._every_s, self._on_change = run, every_s, on_change
        self._mutex, self._stop = Lock(), Event()
        self._wifi = NONE
        self._thread = Thread(target=self._watch, name="hotspot", daemon=True)

    @property
    def wifi(self) -> Wifi:
        """The hotspot as it was when last asked."""
        with self._mutex:
            return self._wifi

    def start(self) -> None:
        """Begin to ask, where there is NetworkManager at all."""
        if self._run is not run_quietly or shutil.which("nmcli"):
            self._thread.start()

    def close(self) -> None:
        """Ask no more; may be called twice."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(LET_GO_S)

    def _watch(self) -> None:
        while True:
            wifi = active_hotspot(self._run)
            with self._mutex:
                was, self._wifi = self._wifi, wifi
            if wifi != was:
                self._on_change()
            if self._stop.wait(self._every_s):
                return
