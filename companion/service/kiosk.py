"""The table view full screen on the machine's own display.

On a desktop the session starts it after login; without a desktop `cage`, a compositor for one
window, shows it on the first console. Sources: cage(1), systemd.exec(5) "PAMName=", and
raspberrypi.com "Use a Raspberry Pi in kiosk mode".
"""

from __future__ import annotations

import logging
import os
import re
import shlex
import shutil
import socket
import struct
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from http.client import HTTPException
from pathlib import Path

from companion.errors import ServiceError
from companion.service.install import Command, Delete, Machine, Program, Step, Write
from companion.service.network import open_health
from companion.service.programs import run_to_end
from companion.service.unit import NAME, quoted

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

CONNECTED_WITHIN_S = 120
"""Seconds that the browser's processes may take to find each other: on a slow card the 15 of
Chromium are over before, and the page stays white."""

LOOK_EVERY_S = 5.0
"""Seconds between two looks at a browser that runs; a page missing at two of them crashed."""

ANSWERS_WITHIN_S = 10.0
"""Seconds in which a compositor answers that has not ended."""

_OTHER_PAGES = (b"--top-chrome-webui", b"--extension-process")
"""Mark the processes of a browser's own pages."""

_SYNC = struct.pack("=III", 1, 12 << 16, 2)
"""Asks a Wayland compositor for one answer: `wl_display.sync` for object 2."""


def browser_command(
    browser: str, url: str, profile: Path, environ: Mapping[str, str] = os.environ
) -> list[str]:
    """Return the command that shows a page full screen, without dialogs or visits elsewhere.

    Args:
        browser: The program.
        url: Of the table view.
        profile: Directory for the browser's own files.
        environ: Names the display.
    """
    return [
        browser,
        "--kiosk",
        f"--user-data-dir={profile}",
        *(["--ozone-platform=wayland"] if environ.get("WAYLAND_DISPLAY") else []),
        f"--ipc-connection-timeout={CONNECTED_WITHIN_S}",
        "--autoplay-policy=no-user-gesture-required",
        "--hide-crash-restore-bubble",
        "--noerrdialogs",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-features=SpareRendererForSitePerProcess",  # it would look like the page
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


def require_programs(*, has_desktop: bool) -> None:
    """Refuse to set a display up that could show nothing.

    Raises:
        ServiceError: Programs are missing.
    """
    needed: dict[str, tuple[str, ...]] = {"chromium": BROWSERS}
    if has_desktop:
        needed |= {"wlrctl": ("wlrctl",)}
    else:
        needed |= {"cage": ("cage",), "xwayland": ("Xwayland",)}
    missing = [package for package, names in needed.items() if not any(map(shutil.which, names))]
    if missing:
        listed = " ".join(missing)
        raise ServiceError(f"kiosk: expected {listed}; sudo apt install {listed}")


def is_up(url: str) -> bool:
    """Whether a table answers there, ready to play or not."""
    try:
        with open_health(url, 5.0) as answer:
            return answer.status in (200, 503)
    except (OSError, ValueError, HTTPException):
        return False


def has_display(
    environ: Mapping[str, str] = os.environ,
    within_s: float = ANSWERS_WITHIN_S,
    x11: Path = Path("/tmp/.X11-unix"),
) -> bool:
    """Whether the Wayland compositor answers in which this process was started, or the X server.

    A compositor that ends waits for its programs, and its socket stays until then. Without either,
    or with a display of another machine, True.
    """
    if name := environ.get("WAYLAND_DISPLAY"):
        place, question = Path(environ.get("XDG_RUNTIME_DIR", ""), name), _SYNC
    elif own := re.match(r":(\d+)", environ.get("DISPLAY", "")):
        place, question = x11 / f"X{own[1]}", b""
    else:
        return True
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asked:
            asked.settimeout(within_s)
            asked.connect(str(place))
            asked.sendall(question)
            return not question or asked.recv(1) != b""
    except OSError:
        return False


def put_pointer_away() -> None:
    """Move the pointer into the corner: without a mouse labwc shows one in the picture for ever."""
    if os.environ.get("WAYLAND_DISPLAY") and shutil.which("wlrctl"):
        subprocess.run(
            ["wlrctl", "pointer", "move", "10000", "10000"],
            stderr=subprocess.DEVNULL,
            timeout=ANSWERS_WITHIN_S,
            check=False,
        )


def has_page(browser: int, proc: Path = Path("/proc")) -> bool:
    """Whether a browser, given by its number, has a process that draws a page."""
    parents: dict[int, int] = {}
    pages: set[int] = set()
    for place in proc.glob("[0-9]*"):
        with suppress(OSError, ValueError, IndexError):  # it has just ended
            words = (place / "cmdline").read_bytes()
            stat = (place / "stat").read_text(errors="replace")
            parents[int(place.name)] = int(stat.rpartition(")")[2].split()[1])
            if b"--type=renderer" in words and not any(mark in words for mark in _OTHER_PAGES):
                pages.add(int(place.name))
    below = {browser}
    while more := {each for each, parent in parents.items() if parent in below} - below:
        below |= more
    return bool(pages & below)


def run_browser(
    profile: Path,
    command: Sequence[str],
    is_elsewhere: Callable[[], bool] = lambda: False,
    every_s: float = LOOK_EVERY_S,
) -> int:
    """Run the browser to its end and return its exit status; an interrupt ends it.

    So does a page that crashed, in whose place Chromium waits for somebody to press Reload.

    A browser that was killed leaves its lock. After the machine got another name, Chromium would
    take the lock for another machine's and wait for an answer to a dialog.

    Args:
        is_elsewhere: Whether the table answers at another address by now.
        every_s: Seconds between two looks at the page.
    """
    has_shown, missed = False, 0

    def is_over(browser: int) -> bool:
        nonlocal has_shown, missed
        is_there = has_page(browser)
        has_shown, missed = has_shown or is_there, 0 if is_there else missed + 1
        if has_shown and missed == 2:
            LOGGER.warning("kiosk: the page crashed")
            return True
        return is_elsewhere()

    (profile / "SingletonLock").unlink(missing_ok=True)
    with suppress(subprocess.TimeoutExpired):
        put_pointer_away()
    return run_to_end(command, is_over=is_over, every_s=every_s)


def show(
    find: Callable[[], str],
    run: Callable[[str], int],
    *,
    is_up: Callable[[str], bool] = is_up,
    has_display: Callable[[], bool] = has_display,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> None:
    """Show the table view until the display ends: wait for the table, run the browser, repeat.

    Args:
        find: Returns the table's address, with a slash at its end; asked each time.
        run: Runs the browser at that address to its end and returns its exit status.
        is_up: Whether the table answers.
        has_display: Whether there is something to show it on.
        sleep: Waits for some seconds.
        clock: Monotonic seconds.
    """
    failures, pause_s, missed = 0, 0.0, ""
    while has_display():
        sleep(pause_s)
        pause_s = ASK_EVERY_S
        url = find()
        if not is_up(url):
            if missed != url:
                LOGGER.warning("kiosk: no table answers at %s; waiting for it", url)
            missed = url
            continue
        missed = ""
        started_s = clock()
        status = run(url)
        failures = 0 if clock() - started_s >= STEADY_S else failures + 1
        pause_s = PAUSE_S[min(failures, len(PAUSE_S) - 1)]
        LOGGER.warning("the browser ended with status %d; restarting in %g s", status, pause_s)


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
    python, *module, _ = program.command
    kiosk = (python, "-P", *module, "kiosk")  # a session starts in the home, which has files
    if has_desktop:
        yield from _plan_no_unit(machine)  # of the time before the desktop
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
    yield from _plan_no_unit(machine)
    if machine.content(AUTOSTART_PATH) is not None:
        yield Delete(AUTOSTART_PATH)
        # the one of the session that runs: it would bring the browser back for ever
        yield Command(("pkill", "--full", "--", "-m companion kiosk$"), may_fail=True)


def _plan_no_unit(machine: Machine) -> Iterator[Step]:
    if machine.content(KIOSK_UNIT_PATH) is not None:
        yield Command(("systemctl", "disable", "--now", KIOSK_UNIT_PATH.name), may_fail=True)
        yield Command(("systemctl", "start", "getty@tty1.service"), may_fail=True)  # the login
        yield Delete(KIOSK_UNIT_PATH)


def autostart_text(command: Sequence[str]) -> str:
    """Return the autostart entry of a desktop session.

    Source: freedesktop.org, Desktop Entry Specification, "The Exec key": a word with reserved
    characters stands in double quotes. Backslashes are doubled once more, as in any value.
    """
    words = (
        word if shlex.quote(word) == word else '"' + re.sub(r'(["`$\\])', r"\\\1", word) + '"'
        for word in command
    )
    line = " ".join(words).replace("\\", "\\\\").replace("%", "%%")
    return (
        "[Desktop Entry]\n"
        "Type=Application\n"
        "Name=Dice Companion table view\n"
        f"Exec={line}\n"
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
            f"ExecStart=/usr/bin/cage -d -- {quoted(command)}",
            f"User={user}",
            "PAMName=login",
            "TTYPath=/dev/tty1",
            "TTYReset=yes",
            "TTYVHangup=yes",
            "TTYVTDisallocate=yes",
            "StandardInput=tty",
            "StandardOutput=journal",
            "StandardError=journal",
            f"SyslogIdentifier={NAME}-kiosk",  # logind moves it out of the unit: journalctl -t
            "UtmpIdentifier=tty1",
            "UtmpMode=user",
            "Restart=always",
            "RestartSec=3",
            "TimeoutStopSec=15",
            "",
            "[Install]",
            "WantedBy=graphical.target",
            "",
        ]
    )
