"""Switch the table's own Wi-Fi on and off through NetworkManager.

The profile is made once and keeps its password, so phones that joined before join again.
Source of the settings: nm-settings-nmcli(5), `ipv4.method shared`.
"""

from __future__ import annotations

import secrets

from companion.errors import ServiceError
from companion.service.commands import Run, runner
from companion.service.network import MODE, NAME, PASSWORD, Wifi, active_hotspot

PROFILE = "dice-companion-hotspot"

LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
"""Characters of a password, without those that look alike on a television."""

run_nmcli = runner("hotspot", "NetworkManager", "sudo apt install network-manager")


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
