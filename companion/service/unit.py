"""The files of the system service as text: unit, polkit rule, and network announcement."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

NAME = "dice-companion"
"""Name of the unit, of its user, and of its directories below /etc, /run and /var."""

GROUPS = ("gpio", "video", "render", "audio")
"""Groups that may use the pins, the camera, the Pi's image processor and the sound card."""

UNIT_PATH = Path(f"/etc/systemd/system/{NAME}.service")
POLKIT_PATH = Path(f"/etc/polkit-1/rules.d/50-{NAME}.rules")
DNSMASQ_PATH = Path(f"/etc/NetworkManager/dnsmasq-shared.d/{NAME}.conf")
MODULES_PATH = Path(f"/etc/modules-load.d/{NAME}.conf")
AVAHI_PATH = Path(f"/etc/avahi/services/{NAME}.service")
CONFIG_PATH = Path(f"/etc/{NAME}/config.toml")
DATA_DIR = Path(f"/var/lib/{NAME}")
CACHE_DIR = Path(f"/var/cache/{NAME}")
LAUNCHER_PATH = Path("/usr/local/bin", NAME)
"""Makes `dice-companion` a command of everybody's, sudo's too."""

PROFILE = "dice-companion-hotspot"
"""NetworkManager's profile of the table's own Wi-Fi."""
HOTSPOT_ADDRESS = "10.42.0.1"
"""Of this machine in its own Wi-Fi; NetworkManager's default for shared networks."""

PROBED_HOSTS = (
    "captive.apple.com",
    "clients3.google.com",
    "connectivitycheck.android.com",
    "connectivitycheck.gstatic.com",
    "connectivitycheck.platform.hicloud.com",
    "connectivitycheck.samsung.com",
    "detectportal.firefox.com",
    "network-test.debian.org",
    "nmcheck.gnome.org",
    "play.googleapis.com",
    "www.msftconnecttest.com",
    "www.msftncsi.com",
)
"""Hosts that phones and laptops ask whether a Wi-Fi leads to the internet."""

WATCHDOG_S = 30
"""Seconds without a sign of life after which systemd starts the table again."""

GROWING_DELAY_SINCE = 254
"""First systemd version with RestartSteps= (systemd NEWS, version 254)."""

_DEVICES = (
    "char-gpiochip",
    "char-video4linux",
    "char-media",
    "char-dma_heap",
    "char-alsa",
    "char-drm",
    "/dev/vcio",
)
"""Device classes of pins, cameras, libcamera's buffers, sound, the GPU, and the Pi's firmware.

systemd resolves a class when it starts the unit; see `modules_text`."""


LAUNCHER_MARK = "# Written by `dice-companion service install`."
"""Line of the launcher by which it is told from a program that was installed there."""


def quoted(words: Sequence[str]) -> str:
    """Return words as a value of a unit, in which % is special.

    Sources: systemd.unit(5), "Specifiers"; systemd.syntax(7), "Quoting".
    """
    return shlex.join(words).replace("%", "%%")


def writable_line(data_dir: Path) -> str:
    """Return the unit's line that lets the service write its games; "" for the usual place."""
    if data_dir.is_relative_to(DATA_DIR):
        return ""
    return f"ReadWritePaths={quoted([f'-{os.path.normpath(data_dir)}'])}"


def launcher_text(python: str) -> str:
    """Return a shell script that runs the program with the arguments it gets, from any folder."""
    return f'#!/bin/sh\n{LAUNCHER_MARK}\nexec {shlex.quote(python)} -P -m companion "$@"\n'


def unit_text(
    command: Sequence[str],
    groups: Sequence[str],
    systemd_version: int,
    in_homes: Sequence[Path] = (),
    data_dir: Path = DATA_DIR,
) -> str:
    """Return the service unit.

    Args:
        command: Program and arguments that run the table in the foreground.
        groups: Supplementary groups; each must exist, or systemd refuses to start the unit.
        systemd_version: Of the machine, such as 252; older ones get a fixed restart delay.
        in_homes: Directories of the program below people's homes. The service sees these and
            nothing else of the homes, also where a home is closed to other users.
        data_dir: Where games are kept. On another disk, the service waits for it.
    """
    writable = writable_line(data_dir)
    delay = ["RestartSec=2"]
    if systemd_version >= GROWING_DELAY_SINCE:
        delay += ["RestartSteps=6", "RestartMaxDelaySec=60"]
    lines = [
        "[Unit]",
        "Description=Dice Companion, a table for real dice",
        "After=network.target time-sync.target sound.target avahi-daemon.service",
        "StartLimitIntervalSec=0",
        *([f"RequiresMountsFor={quoted([os.path.normpath(data_dir)])}"] if writable else []),
        "",
        "[Service]",
        "Type=notify",
        "NotifyAccess=main",
        f"WatchdogSec={WATCHDOG_S}",
        f"ExecStart={quoted(command)}",
        f"User={NAME}",
        f"Group={NAME}",
        *([f"SupplementaryGroups={' '.join(groups)}"] if groups else []),
        "Restart=always",
        *delay,
        "TimeoutStartSec=300",
        "TimeoutStopSec=10",
        "",
        f"StateDirectory={NAME}",
        f"ConfigurationDirectory={NAME}",
        f"CacheDirectory={NAME}",
        f"RuntimeDirectory={NAME}",
        f"WorkingDirectory=/run/{NAME}",
        f"Environment=HOME=/var/lib/{NAME} LG_WD=/run/{NAME}",
        "UMask=0077",
        "MemoryHigh=500M",
        "MemoryMax=700M",
        "",
        "NoNewPrivileges=yes",
        # Port 80 of the hotspot (companion.service.portal), and nothing else.
        "CapabilityBoundingSet=CAP_NET_BIND_SERVICE",
        "AmbientCapabilities=CAP_NET_BIND_SERVICE",
        "ProtectSystem=strict",
        *([writable] if writable else []),
        "ProtectHome=tmpfs",
        *(f"BindReadOnlyPaths={quoted([str(path)])}" for path in in_homes),
        "PrivateTmp=yes",
        "DevicePolicy=closed",
        *(f"DeviceAllow={device} rw" for device in _DEVICES),
        "ProtectClock=yes",
        "ProtectControlGroups=yes",
        "ProtectHostname=yes",
        "ProtectKernelLogs=yes",
        "ProtectKernelModules=yes",
        "ProtectKernelTunables=yes",
        "ProtectProc=invisible",
        "LockPersonality=yes",
        "RemoveIPC=yes",
        "RestrictAddressFamilies=AF_UNIX AF_INET AF_INET6 AF_NETLINK",
        "RestrictNamespaces=yes",
        "RestrictRealtime=yes",
        "RestrictSUIDSGID=yes",
        "SystemCallArchitectures=native",
        "SystemCallFilter=@system-service",
        "SystemCallFilter=~@privileged",
        "",
        "[Install]",
        "WantedBy=multi-user.target",
    ]
    return "\n".join(lines) + "\n"


def polkit_text() -> str:
    """Return the polkit rule that lets the service's user switch hotspot and machine.

    Sources: polkit(8), "Authorization rules"; the action names are those of NetworkManager and of
    logind (org.freedesktop.login1(5)).
    """
    actions = (
        "org.freedesktop.NetworkManager.network-control",
        "org.freedesktop.NetworkManager.settings.modify.system",
        "org.freedesktop.NetworkManager.wifi.share.open",
        "org.freedesktop.NetworkManager.wifi.share.protected",
        "org.freedesktop.login1.power-off",
        "org.freedesktop.login1.power-off-multiple-sessions",
        "org.freedesktop.login1.reboot",
        "org.freedesktop.login1.reboot-multiple-sessions",
    )
    listed = ",\n".join(f'    "{action}"' for action in actions)
    return (
        "polkit.addRule(function (action, subject) {\n"
        "  var allowed = [\n"
        f"{listed}\n"
        "  ];\n"
        f'  if (subject.user === "{NAME}" && allowed.indexOf(action.id) >= 0) {{\n'
        "    return polkit.Result.YES;\n"
        "  }\n"
        "});\n"
    )


def dnsmasq_text() -> str:
    """Return what leads the hosts that phones ask to this machine, in a network of its own.

    Sources: NetworkManager reads the directory for `ipv4.method shared` (NetworkManager(8));
    dnsmasq(8), --address. The last line is the address by which Windows checks its name server.
    """
    lines = [f"address=/{host}/{HOTSPOT_ADDRESS}" for host in PROBED_HOSTS]
    return "\n".join([*lines, "address=/dns.msftncsi.com/131.107.255.255", ""])


def modules_text() -> str:
    """Return the kernel modules to load before the service starts (modules-load.d(5)).

    They bring the classes of cameras and sound cards. Without its class at the start, a device that
    is plugged in first thing afterwards would stay forbidden to the service.
    """
    return "videodev\nsnd\n"


def avahi_text(port: int) -> str:
    """Return the avahi service file that announces a page in the local network.

    Avahi replaces %h by the machine's name.
    """
    return (
        "<?xml version='1.0' standalone='no'?>\n"
        "<!DOCTYPE service-group SYSTEM 'avahi-service.dtd'>\n"
        "<service-group>\n"
        "  <name replace-wildcards='yes'>Dice Companion on %h</name>\n"
        f"  <service><type>_http._tcp</type><port>{port}</port></service>\n"
        "</service-group>\n"
    )


def service_directories() -> dict[str, str]:
    """The variables by which systemd names the service's directories to it (systemd.exec(5))."""
    return {
        "STATE_DIRECTORY": str(DATA_DIR),
        "CONFIGURATION_DIRECTORY": str(CONFIG_PATH.parent),
    }
