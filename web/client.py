"""The device that sent a request: its seat tokens, its rights, and the limit on wrong codes."""

from __future__ import annotations

import hmac
import ipaddress
import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from flask import Request, request

from companion.messages.catalogue import line
from companion.session.session import Session
from web import security
from web.access import Access
from web.security import Refused

MOST_TRIES = 10
MOST_TRIES_IN_ALL = 30
WINDOW_S = 60.0
"""Seconds in which an address may send `MOST_TRIES` wrong codes, and all addresses together
`MOST_TRIES_IN_ALL`. Guessing a PIN of six digits then takes weeks."""

PASSED_ON = ("Forwarded", "X-Forwarded-For", "X-Real-IP", "Via")
"""Headers that a proxy or tunnel adds: its visitors come from elsewhere, though it runs here."""


@dataclass(frozen=True, slots=True)
class Client:
    """The device that sent a request.

    Attributes:
        device: The name that this table gave its browser; None without a name or with a forged one.
        tokens: The tokens of its seats.
        is_local: It runs on the table's own machine.
        is_program: It sends no browser name.
        address: Its address.
        is_table: It is a paired table view, or one on the table's own machine.
        shows_table: It shows the table view, paired or not.
        language: The language of its page; empty for the table's own.
    """

    device: str | None
    tokens: tuple[str, ...]
    is_local: bool
    address: str
    is_table: bool = False
    shows_table: bool = False
    is_program: bool = False
    language: str = ""


def client_of(asked: Request, language: str, access: Access, session: Session) -> Client:
    """Return the device that sent a request."""
    address = asked.remote_addr or ""
    name = security.browser_id(asked)
    is_known = name is not None and (access.is_genuine(name) or session.is_known_host(name))
    device, is_local = name if is_known else None, is_own(asked)
    shows_table = asked.args.get("view") == "table"
    if shows_table and is_local and device is not None:
        access.welcome(device)
    return Client(
        device=device,
        tokens=security.seat_tokens(asked),
        is_local=is_local,
        address=address,
        is_table=(shows_table and is_local) or (device is not None and access.is_table(device)),
        shows_table=shows_table,
        is_program=name is None,
        language=language,
    )


def is_own(asked: Request) -> bool:
    """Whether a request comes from this machine, and was not passed on for somebody else.

    HTTP/1.0 is what nginx speaks, which adds no header unless it is told to; no browser does.
    """
    is_old = asked.environ.get("SERVER_PROTOCOL") == "HTTP/1.0"
    is_passed_on = is_old or any(header in asked.headers for header in PASSED_ON)
    return is_loopback(asked.remote_addr or "") and not is_passed_on


def is_loopback(address: str) -> bool:
    """Whether an address is this machine's own."""
    try:
        found = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return False
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (mapped or found).is_loopback  # a server on :: sees IPv4 addresses so


def is_host(session: Session, client: Client) -> bool:
    """Whether a device may host the table.

    A program on the table's own machine always may. Without a host, a browser on that machine and
    a device with a seat may too: a seat needs the code on the table view.
    """
    if client.is_program:
        return client.is_local
    if session.has_host:
        return client.device is not None and session.is_known_host(client.device)
    return client.is_local or bool(session.seats_of(client.tokens))


class RateLimiter:
    """Limits wrong codes by address, and for the whole table."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._tries: list[tuple[float, str]] = []
        self._mutex = threading.Lock()

    def take(self, address: str) -> bool:
        """Count a try before the code is checked; return whether one was left."""
        now_s = self._clock()
        with self._mutex:
            self._tries = [each for each in self._tries if each[0] > now_s - WINDOW_S]
            own = sum(tried == address for _, tried in self._tries)
            if own >= MOST_TRIES or len(self._tries) >= MOST_TRIES_IN_ALL:
                return False
            self._tries.append((now_s, address))
            return True

    def give_back(self, address: str) -> None:
        """Uncount the newest try of an address, which had the right code."""
        with self._mutex:
            for i in reversed(range(len(self._tries))):
                if self._tries[i][1] == address:
                    del self._tries[i]
                    return


def check_code(limiter: RateLimiter, given: str, right: str, code: str, wrong: str) -> None:
    """Check a code or PIN that a request sent; wrong tries are limited.

    Args:
        wrong: Key of the sentence that says where the right one is.
    Raises:
        Refused: It is wrong, or there were too many wrong ones.
    """
    address = request.remote_addr or ""
    if not limiter.take(address):
        raise Refused(429, "TOO_MANY_TRIES", line("page.too_many_tries"))
    if not hmac.compare_digest(given.strip().upper().encode(), right.encode()):
        raise Refused(403, code, line(wrong))
    limiter.give_back(address)
