"""Switch the table's own Wi-Fi on and off through NetworkManager.

The profile is made once and keeps its password, so phones that joined before join again.
Source of the settings: nm-settings-nmcli(5), `ipv4.method shared`.
"""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable

from companion.errors import ServiceError
from companion.service.network import MODE, NAME, NONE, PASSWORD, Wifi, settings_of
from companion.service.programs import Run, run_quietly, runner
from companion.service.unit import HOTSPOT_ADDRESS, PROFILE

LOGGER = logging.getLogger(__name__)

DEFAULT_NAME = "Dice Companion"

ALONE_S, ASK_EVERY_S = 60.0, 2.0
"""Seconds in which a machine finds the networks it knows, and between two looks for one."""

_NETWORKS = ("wifi", "ethernet", "gsm")
"""Types of NetworkManager's devices through which phones may reach the table."""

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
                "ipv4.method", "shared", "ipv4.addresses", f"{HOTSPOT_ADDRESS}/24",
                "ipv6.method", "ignore",
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
    if _is_active(run):
        run(["nmcli", "connection", "down", PROFILE])


def running(run: Run = run_nmcli) -> Wifi:
    """Return the table's Wi-Fi while it is open, else `NONE`.

    Its password is empty where this user may not read it.

    Raises:
        ServiceError: NetworkManager is missing.
    """
    if not _is_active(run):
        return NONE
    found = settings_of(PROFILE, run)
    return Wifi(found.get(NAME) or DEFAULT_NAME, found.get(PASSWORD, ""))


def _is_active(run: Run) -> bool:
    names = run(["nmcli", "-t", "-f", "NAME", "connection", "show", "--active"])
    return PROFILE in names.splitlines()


def has_network(run: Run) -> bool:
    """Whether the machine is in a network, one of its own included.

    Args:
        run: Runs a command; "" if it fails.
    """
    for line in run(["nmcli", "-t", "-f", "TYPE,STATE", "device"]).splitlines():
        kind, _, state = line.partition(":")
        if kind in _NETWORKS and state.startswith("connected"):
            return True
    return False


def switch_on_when_alone(
    name: str,
    is_over: Callable[[float], bool],
    *,
    ask: Run = run_quietly,
    run: Run = run_nmcli,
    clock: Callable[[], float] = time.monotonic,
) -> bool:
    """Open the table's Wi-Fi unless the machine is in a network within `ALONE_S`.

    Args:
        name: Of the Wi-Fi.
        is_over: Waits for some seconds; True once the table ends.
        ask: Runs a command; "" if it fails.
        run: Runs a command; raises ServiceError if it fails.
        clock: Monotonic seconds.
    Returns:
        Whether it was opened.
    """
    began_s = clock()
    while not has_network(ask):
        if clock() - began_s < ALONE_S:
            if is_over(ASK_EVERY_S):
                return False
            continue
        try:
            switch_on(name, run)
        except ServiceError as error:
            LOGGER.warning("%s", error)
            return False
        LOGGER.warning("no known network is here: the Wi-Fi %r is open", name)
        return True
    return False
