"""The address phones can open, and the machine's own Wi-Fi if it has one."""

from __future__ import annotations

import ipaddress
import logging
import socket
import struct
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from http.client import HTTPResponse
from pathlib import Path
from threading import Event, Thread
from typing import Generic, TypeVar
from urllib.error import HTTPError
from urllib.request import ProxyHandler, build_opener

from companion.service.programs import Run

LOGGER = logging.getLogger(__name__)

Seen = TypeVar("Seen")

_DIRECTLY = build_opener(ProxyHandler({}))

_PROBES = (
    (socket.AF_INET, "192.0.2.1"),  # TEST-NET-1 (RFC 5737); nothing is sent
    (socket.AF_INET6, "2001:db8::1"),  # documentation prefix (RFC 3849)
)

_SIOCGIFADDR = 0x8915
"""Requests an interface's IPv4 address from Linux (netdevice(7))."""

NAME, MODE = "802-11-wireless.ssid", "802-11-wireless.mode"
KEYS, PASSWORD = "802-11-wireless-security.key-mgmt", "802-11-wireless-security.psk"

ASK_EVERY_S = 10.0
"""Seconds between two checks for a hotspot; after switching it on, its code appears within them."""

ADDRESS_EVERY_S = 3.0
"""Seconds between two checks of this machine's address, which may come long after the start."""

AVAHI_SOCKET = Path("/run/avahi-daemon/socket")
NAMED_WITHIN_S = 1.0
"""Seconds in which avahi answers for this machine's own addresses."""

LET_GO_S = 0.5
"""Seconds to wait for the thread at the end, even if NetworkManager hangs."""


def reachable_host(bound: str, addresses: Callable[[], Iterable[str]] | None = None) -> str:
    """Return the host for links and QR codes when the server is bound to `bound`.

    A wildcard becomes the address this machine would send from; connecting a datagram socket
    only looks at the routing table and sends nothing. A machine that runs its own Wi-Fi without
    internet has no such route; then an interface's address is returned, and without any network
    the loopback address.

    Args:
        addresses: Addresses of this machine's interfaces; requested from Linux unless given.
    """
    try:
        wildcard = ipaddress.ip_address(bound)
        if not wildcard.is_unspecified:
            return bound
    except ValueError:
        return bound  # a host name
    # 0.0.0.0 does not listen on IPv6; :: listens on both.
    for family, far in _PROBES[:1] if wildcard.version == 4 else _PROBES:
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((far, 9))
                address = str(probe.getsockname()[0])
        except OSError:
            continue
        found = ipaddress.ip_address(address.partition("%")[0])
        is_of_one_cable = found.version == 6 and found.is_link_local  # no browser opens these
        if not found.is_unspecified and not is_of_one_cable:
            return address
    others = (each for each in (addresses or own_addresses)() if _is_for_phones(each))
    return next(others, "127.0.0.1")


def own_addresses() -> list[str]:
    """The IPv4 addresses of this machine's interfaces; empty if Linux does not report them."""
    try:
        from fcntl import ioctl
    except ImportError:
        return []
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        for _, name in socket.if_nameindex():
            with suppress(OSError):
                reply = ioctl(probe.fileno(), _SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
                found.append(socket.inet_ntoa(reply[20:24]))
    return found


def _is_for_phones(address: str) -> bool:
    parsed = ipaddress.ip_address(address)
    return not (parsed.is_loopback or parsed.is_unspecified or parsed.is_link_local)


@dataclass(frozen=True, slots=True)
class Address:
    """Where phones find the page: a number, or what it was bound to, and a name beside it."""

    host: str
    name: str = ""


def own_address(bound: str) -> Address:
    """The address of a server that is bound to `bound`, at this moment."""
    host = reachable_host(bound)
    try:
        is_for_phones = _is_for_phones(host.partition("%")[0])
    except ValueError:
        return Address(host)
    return Address(host, mdns_name(host) if is_for_phones else "")


def mdns_name(address: str, avahi: Path = AVAHI_SOCKET) -> str:
    """The name under which mDNS answers for an address, such as "pi.local"; "" without one.

    Avahi is asked by the protocol that glibc's module for .local names uses:
    https://github.com/avahi/nss-mdns/blob/master/src/avahi.c
    """
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asked:
            asked.settimeout(NAMED_WITHIN_S)
            asked.connect(str(avahi))
            asked.sendall(f"RESOLVE-ADDRESS {address}\n".encode())
            answer = asked.recv(512).decode("ascii", "replace").split()
    except OSError:
        return ""
    is_found = len(answer) >= 4 and answer[0] == "+" and answer[-1].endswith(".local")
    return answer[-1] if is_found else ""


def url(host: str, port: int) -> str:
    """Return the page's address, with brackets round IPv6."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/"


def own_host(bound: str) -> str:
    """Return the host by which this machine itself reaches a server bound to `bound`."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(bound, bound)


def own_url(bound: str, port: int) -> str:
    """Return the address by which this machine itself reaches a server bound to `bound`."""
    return url(own_host(bound), port)


def open_health(page: str, timeout_s: float) -> HTTPResponse | HTTPError:
    """Ask a table for its health, past any proxy; a table that nobody can play at answers, too.

    Args:
        page: Its address, with a slash at its end.
    Raises:
        OSError, ValueError, HTTPException: Nothing answers there in HTTP.
    """
    try:
        found: HTTPResponse = _DIRECTLY.open(f"{page}healthz", timeout=timeout_s)
    except HTTPError as error:
        return error
    return found


@dataclass(frozen=True, slots=True)
class Wifi:
    """A Wi-Fi to join; no name means none, no password means an open one."""

    name: str = ""
    password: str = field(default="", repr=False)


NONE = Wifi()


def active_hotspot(run: Run) -> Wifi:
    """Return the access point that NetworkManager runs on this machine, or `NONE`.

    Nothing is changed. A protected access point counts only if this user may read its password;
    otherwise its code would not let a phone in.
    """
    for line in run(["nmcli", "-t", "-f", "UUID,TYPE", "connection", "show", "--active"]).split():
        uuid, _, kind = line.partition(":")
        if kind != "802-11-wireless":
            continue
        found = settings_of(uuid, run)
        is_open = not found.get(KEYS)
        if found.get(MODE) == "ap" and found.get(NAME) and (is_open or found.get(PASSWORD)):
            return Wifi(found[NAME], "" if is_open else found[PASSWORD])
    return NONE


def settings_of(connection: str, run: Run) -> dict[str, str]:
    """Return a connection's name, mode and keys by NetworkManager's names for them.

    Args:
        connection: Its UUID or its profile's name.
    """
    fields = ",".join((NAME, MODE, KEYS, PASSWORD))
    show = ["nmcli", "-s", "-t", "-e", "no", "-m", "multiline", "-f", fields]
    lines = run([*show, "connection", "show", connection]).split("\n")
    return dict(each.partition(":")[::2] for each in lines)


class Watch(Generic[Seen]):
    """Looks at something every few seconds on a thread of its own.

    Attributes:
        seen: What the newest look saw.
    """

    def __init__(
        self,
        look: Callable[[], Seen],
        first: Seen,
        *,
        name: str,
        every_s: float,
        on_change: Callable[[], None] = lambda: None,
    ) -> None:
        """Prepare the watch.

        Args:
            first: What counts as seen until the first look.
            name: Of the thread.
            on_change: Called on that thread whenever something else is seen.
        """
        self._look, self._every_s, self._on_change = look, every_s, on_change
        self._stop = Event()
        self.seen = first
        self._thread = Thread(target=self._watch, name=name, daemon=True)

    def start(self) -> None:
        """Begin to look."""
        self._thread.start()

    def close(self) -> None:
        """Stop looking; may be called twice."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(LET_GO_S)

    def _watch(self) -> None:
        while True:
            try:
                was, self.seen = self.seen, self._look()
            except OSError as error:  # such as too many open files
                LOGGER.warning("%s: %s", self._thread.name, error)
            else:
                if self.seen != was:
                    self._on_change()
            if self._stop.wait(self._every_s):
                return


def watched_address(bound: str, on_change: Callable[[], None]) -> Watch[Address]:
    """The address for phones of a server bound to `bound`, followed from now on.

    Args:
        on_change: Called on the watch's thread when it is another one.
    """
    watch = Watch(
        lambda: own_address(bound),
        Address(reachable_host(bound)),
        name="address",
        every_s=ADDRESS_EVERY_S,
        on_change=on_change,
    )
    watch.start()
    return watch
