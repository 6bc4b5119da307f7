"""Switch the table's own Wi-Fi on and off through NetworkManager.

The profile is made once and keeps its password, so phones that joined before join again.
Source of the settings: nm-settings-nmcli(5), `ipv4.method shared`.
"""

from __future__ import annotations

import secrets
import subprocess
from collections.abc import Callable, Sequence

from companion.errors import ServiceError
from companion.service.network import MODE, NAME, PASSWORD, Wifi, active_hotspot

PROFILE = "dice-companion-hotspot"

LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
"""Characters of a password, without those that look alike on a television."""

WITHIN_S = 60.0
"""Seconds that NetworkManager may take to bring an access point up."""

Run = Callable[[Sequence[str]], str]
"""Run a command and return its output; raises ServiceError if it fails."""


def run_nmcli(command: Sequence[str]) -> str:
    """Run a command of NetworkManager.

    Raises:
        ServiceError: NetworkManager is missing, or refuses.
    """
    try:
        ran = subprocess.run(
            command,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=WITHIN_S,
            stdin=subprocess.DEVNULL,
            check=False,
        )
    except FileNotFoundError as error:
        raise ServiceError(
            "hotspot: expected NetworkManager, found no nmcli; sudo apt install network-manager"
        ) from error
    except (OSError, subprocess.SubprocessError) as error:
        raise ServiceError(f"hotspot: NetworkManager does not answer: {error}") from error
    if ran.returncode:
        lines = (ran.stderr or ran.stdout).strip().splitlines()
        raise ServiceError(f"hotspot: {lines[-1] if lines else 'NetworkManager refused'}")
    return ran.stdout


def switch_on(name: str, run: Run = run_nmcli) -> Wifi:
    """Open the table's Wi-Fi and return its name and password.

    Args:
        name: Of the Wi-Fi, 1 to 32 bytes (IEEE 802.11).
        run: Runs a command.
    Raises:
        ServiceError: The name does not fit, or NetworkManager is missing or refuses.
    """
    if not 1 <= len(name.encode()) <= 32:
        raise ServiceError(f"hotspot: expected a name of 1 to 32 bytes, got {name!r}")
    if PROFILE in run(["nmcli", "-t", "-f", "NAME", "connection", "show"]).splitlines():
        run(["nmcli", "connection", "modify", PROFILE, NAME, name])
    else:
        password = "".join(secrets.choice(LETTERS) for _ in range(10))
        run(
            [
                "nmcli", "connection", "add", "type", "wifi", "ifname", "*",
                "con-name", PROFILE, "autoconnect", "no", "ssid", name,
                MODE, "ap", "802-11-wireless.band", "bg",
                "ipv4.method", "shared", "ipv6.method", "ignore",
                "802-11-wireless-security.key-mgmt", "wpa-psk", PASSWORD, password,
            ]
        )  # fmt: skip
    run(["nmcli", "connection", "up", PROFILE])
    opened = running(run)
    if not opened.name:
        raise ServiceError("hotspot: NetworkManager reports no access point after switching it on")
    return opened


def switch_off(run: Run = run_nmcli) -> None:
    """Close the table's Wi-Fi; one that is not open is fine.

    Raises:
        ServiceError: NetworkManager is missing or refuses.
    """
    active = run(["nmcli", "-t", "-f", "NAME", "connection", "show", "--active"]).splitlines()
    if PROFILE in active:
        run(["nmcli", "connection", "down", PROFILE])


def running(run: Run = run_nmcli) -> Wifi:
    """Return the access point that is open on this machine; its name is empty when there is none.

    Raises:
        ServiceError: NetworkManager is missing.
    """
    return active_hotspot(run)
