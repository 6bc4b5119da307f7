"""Who asks: a device with the proofs it carries, and what the table knows of it."""

from __future__ import annotations

import ipaddress
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic

from flask import Request

from companion.session.session import Session
from web import security

MOST_TRIES = 10
WINDOW_S = 60.0
"""Ten wrong codes a minute from one address: a four-digit PIN then holds for days."""

MOST_REMEMBERED = 64


@dataclass(frozen=True, slots=True)
class Client:
    """A device that asks.

    Attributes:
        device: The random name of its browser; None for a program without cookies.
        tokens: The proofs of its seats.
        is_local: It runs on the table's own machine.
        looks: Its address and browser, by which it is known under another name of the table.
        is_table: It shows the table view.
        language: What its page is in; empty for the table's own.
    """

    device: str | None
    tokens: tuple[str, ...]
    is_local: bool
    looks: tuple[str, str]
    is_table: bool = False
    language: str = ""


def client_of(asked: Request, language: str) -> Client:
    """The device a request comes from."""
    address = asked.remote_addr or ""
    return Client(
        device=security.browser_id(asked),
        tokens=security.seat_tokens(asked),
        is_local=is_loopback(address),
        looks=(address, asked.headers.get("User-Agent", "")),
        is_table=asked.args.get("view") == "table",
        language=language,
    )


def is_loopback(address: str) -> bool:
    """Whether an address is this machine's own."""
    try:
        return ipaddress.ip_address(address.partition("%")[0]).is_loopback
    except ValueError:
        return False


def is_host(session: Session, client: Client) -> bool:
    """Whether a device may lead the table; a program on the table's own machine may."""
    if client.device is None:
        return client.is_local
    return session.is_host(client.device)


@dataclass
class SeatMemory:
    """Seats by the looks of the devices that had them, so that they come back by one tap."""

    _looks: OrderedDict[tuple[str, str], tuple[int, ...]] = field(default_factory=OrderedDict)
    _mutex: threading.Lock = field(default_factory=threading.Lock)

    def remember(self, client: Client, seats: tuple[int, ...]) -> None:
        """A device proved its seats."""
        if not seats or not client.looks[0]:
            return
        with self._mutex:
            self._looks[client.looks] = tuple(
                dict.fromkeys((*self._looks.pop(client.looks, ()), *seats))
            )
            while len(self._looks) > MOST_REMEMBERED:
                self._looks.popitem(last=False)

    def seats(self, client: Client) -> tuple[int, ...]:
        """The seats a device of these looks had."""
        with self._mutex:
            return self._looks.get(client.looks, ())

    def forget(self, seat: int) -> None:
        """A seat was given to somebody else."""
        with self._mutex:
            for looks, seats in self._looks.items():
                self._looks[looks] = tuple(each for each in seats if each != seat)


class RateLimiter:
    """Counts wrong codes by address."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._wrong: dict[str, list[float]] = {}
        self._mutex = threading.Lock()

    def may_try(self, address: str) -> bool:
        """Whether an address may try another code."""
        since = self._clock() - WINDOW_S
        with self._mutex:
            self._wrong = {
                each: kept
                for each, at in self._wrong.items()
                if (kept := [t for t in at if t > since])
            }
            return len(self._wrong.get(address, ())) < MOST_TRIES

    def was_wrong(self, address: str) -> None:
        """A code of this address was wrong."""
        with self._mutex:
            self._wrong.setdefault(address, []).append(self._clock())
