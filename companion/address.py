"""The address a phone in the same network can open: nobody can open 0.0.0.0."""

from __future__ import annotations

import ipaddress
import socket

_PROBES = (
    (socket.AF_INET, "192.0.2.1"),  # TEST-NET-1 (RFC 5737): never answers, never asked
    (socket.AF_INET6, "2001:db8::1"),  # documentation prefix (RFC 3849)
)


def reachable_host(bound: str) -> str:
    """The host for links and QR codes when the server is bound to `bound`.

    A wildcard becomes the address this machine would send from; connecting a datagram socket
    only asks the routing table and sends nothing. Without any network it is the loopback.
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
    return "127.0.0.1"


def url(host: str, port: int) -> str:
    """The page's address, IPv6 in brackets."""
    shown = f"[{host}]" if ":" in host else host
    return f"http://{shown}:{port}/"
