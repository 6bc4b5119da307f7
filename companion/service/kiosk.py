"""The table view full screen on the machine's own display.

On a desktop the session starts it after login; without a desktop `cage`, a compositor for one
window, shows it on the first console. Sources: cage(1), systemd.exec(5) "PAMName=", and
raspberrypi.com "Use a Raspberry Pi in kiosk mode".
"""

from __future__ import annotations

import logging
import shlex
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from pathlib import Path

from companion.errors import ServiceError
from companion.service.install import Command, Delete, Machine, Program, Step, Write
from companion.service.unit import NAME

LOGGER = logging.getLogger(__name__)

BROWSERS = ("chromium", "chromium-browser")
KIOSK_UNIT_PATH = Path(f"/etc/systemd/system/{NAME}-kiosk.service")
AUTOSTART_PATH = Path(f"/etc/xdg/autostart/{NAME}-kiosk.desktop")

ASK_EVERY_S = 1.0
"""Seconds between two requests while the table is not up yet."""

PAUSE_S = (1.0, 2.0, 5.0, 10.0)
"""Waits before a browser that ended is started again; the last one repeats."""

STEADY_S = 60.0
"""A browser that ran this long did not fail at its start: the waits begin anew."""


def browser_command(browser: str, url: str, profile: Path) -> list[str]:
    """Return the command that shows a page full screen, without dialogs or visits elsewhere.

    Args:
        browser: The program.
        url: Of the table view.
        profile: Directory for the browser's own files.
    """
    return [
        browser,
        "--kiosk",
        f"--user-data-dir={profile}",
        "--ozone-platform-hint=auto",
        "--autoplay-policy=no-user-gesture-required",
        "--hide-crash-restore-bubble",
        "--noerrdialogs",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-infobars",
        "--disable-sync",
        "--password-store=basic",
        url,
    ]


def find_browser() -> str:
    """Return the browser's program.

    Raises:
        ServiceError: There is none.
    """
    for name in BROWSERS:
        if found := shutil.which(name):
            return found
    raise ServiceError("kiosk: expected Chromium, found none; sudo apt install chromium")


def is_up(url: str) -> bool:
    """Whether a table answers there, ready to play or not."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url + "healthz", timeout=5.0):
            return True
    except urllib.error.HTTPError as error:
        return error.code == 503
    except (OSError, ValueError):
        return False


def show(
    url: str,
    command: Sequence[str],
    *,
    is_up: Callable[[str], bool] = is_up,
    run: Callable[[Sequence[str]], int] = subprocess.call,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
    rounds: Iterable[object] | None = None,
) -> None:
    """Show the table view for ever: wait for the table, run the browser, start it again.

    Args:
        url: Of the table, with a slash at its end.
        command: The browser and its arguments.
        is_up: Whether the table answers.
        run: Runs the browser to its end and returns its exit status.
        sleep: Waits for some seconds.
        clock: Monotonic seconds.
        rounds: One item per start of the browser; without it the loop never ends.
    """
    failures = 0
    for _ in repeat(None) if rounds is None else rounds:
        while not is_up(url):
            sleep(ASK_EVERY_S)
        started_s = clock()
        status = run(command)
        failures = 0 if clock() - started_s >= STEADY_S else failures + 1
        pause_s = PAUSE_S[min(failures, len(PAUSE_S) - 1)]
        LOGGER.warning("the browser ended with status %d; restarting in %g s", status, pause_s)
        sleep(pause_s)


def plan_kiosk(
    machine: Machine, program: Program, user: str, *, has_desktop: bool
) -> Iterator[Step]:
    """Yield the steps to a display that shows the table view after every start.

    Args:
        machine: As it is now; what is there already yields no step.
        program: Runs this program; its last argument is replaced by `kiosk`.
        user: Whose session shows the page.
        has_desktop: Whether a desktop session starts on the display.
    """
    kiosk = (*program.command[:-1], "kiosk")
    if has_desktop:
        file = Write(AUTOSTART_PATH, autostart_text(kiosk))
        if machine.content(file.path) != file.text:
            yield file
        return
    file = Write(KIOSK_UNIT_PATH, kiosk_unit_text(kiosk, user))
    if machine.content(file.path) != file.text:
        yield file
        yield Command(("systemctl", "daemon-reload"))
    yield Command(("systemctl", "set-default", "graphical.target"))
    yield Command(("systemctl", "enable", KIOSK_UNIT_PATH.name))
    yield Command(("systemctl", "restart", KIOSK_UNIT_PATH.name))


def plan_no_kiosk(machine: Machine) -> Iterator[Step]:
    """Yield the steps back to a display without the table view."""
    if machine.content(KIOSK_UNIT_PATH) is not None:
        yield Command(("systemctl", "disable", "--now", KIOSK_UNIT_PATH.name), may_fail=True)
    for path in (KIOSK_UNIT_PATH, AUTOSTART_PATH):
        if machine.content(path) is not None:
            yield Delete(path)


def autostart_text(command: Sequence[str]) -> str:
    """Return the autostart entry of a desktop session (freedesktop.org, "Desktop Entry")."""
    return (
        "[Desktop Entry]\n"
        "Type=Application\n"
        "Name=Dice Companion table view\n"
        f"Exec={shlex.join(command)}\n"
        "X-GNOME-Autostart-enabled=true\n"
    )


def kiosk_unit_text(command: Sequence[str], user: str) -> str:
    """Return the unit that shows the table view on the first console, through cage.

    Args:
        command: Shows the page, as a program of the compositor.
        user: Whose session it is; logind gives it the display and the keyboard.
    """
    return "\n".join(
        [
            "[Unit]",
            "Description=Dice Companion's table view on the display",
            f"After=systemd-user-sessions.service {NAME}.service",
            "Conflicts=getty@tty1.service",
            "StartLimitIntervalSec=0",
            "",
            "[Service]",
            f"ExecStart=/usr/bin/cage -d -- {shlex.join(command)}",
            f"User={user}",
            "PAMName=login",
            "TTYPath=/dev/tty1",
            "TTYReset=yes",
            "TTYVHangup=yes",
            "TTYVTDisallocate=yes",
            "StandardInput=tty",
            "UtmpIdentifier=tty1",
            "UtmpMode=user",
            "Restart=always",
            "RestartSec=3",
            "",
            "[Install]",
            "WantedBy=graphical.target",
            "",
        ]
    )
