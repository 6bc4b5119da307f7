"""The address a phone in the same network can open: nobody can open 0.0.0.0."""

from __future__ import annotations

import ipaddress
import socket
import struct
from collections.abc import Callable, Iterable
from contextlib import suppress

_PROBES = (
    (socket.AF_INET, "192.0.2.1"),  # TEST-NET-1 (RFC 5737): never answers, never asked
    (socket.AF_INET6, "2001:db8::1"),  # documentation prefix (RFC 3849)
)


_SIOCGIFADDR = 0x8915
"""Asks Linux for an interface's IPv4 address (netdevice(7))."""


def reachable_host(bound: str, addresses: Callable[[], Iterable[str]] | None = None) -> str:
    """The host for links and QR codes when the server is bound to `bound`.

    A wildcard becomes the address this machine would send from; connecting a datagram socket
    only asks the routing table and sends nothing. A machine that is its own Wi-Fi, without the
    internet, has no route there: then it is an interface's address. Without any network it is
    the loopback.

    Args:
        addresses: The addresses of this machine's interfaces; asked of Linux unless given.
    """
    try:
        if not ipaddress.ip_address(bound).is_unspecified:
            return bound
    except ValueError:
        return bound  # a name somebody chose
    for family, far in _PROBES:
        try:
            with socket.socket(family, socket.SOCK_DGRAM) as probe:
                probe.connect((far, 9))
                address = str(probe.getsockname()[0])
        except OSError:
            continue
        if not ipaddress.ip_address(address.partition("%")[0]).is_unspecified:
            return address
    others = (each for each in (addresses or own_addresses)() if _is_for_phones(each))
    return next(others, "127.0.0.1")


def own_addresses() -> list[str]:
    """The IPv4 addresses of this machine's interfaces; none where they cannot be asked for."""
    try:
        from fcntl import ioctl
    except ImportError:
        return []
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        for _, name in socket.if_nameindex():
            with suppress(OSError):
                told = ioctl(asked.fileno(), _SIOCGIFADDR, struct.pack("256s", name.encode()[:15]))
                found.append(socket.inet_ntoa(told[20:24]))
    return found


def _is_for_phones(address: str) -> bool:
    told = ipaddress.ip_address(address)
    return not (told.is_loopback or told.is_unspecified or told.is_link_local)


def url(host: str, port: int) -> str:
    """The page's address, IPv6 in brackets."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/"
