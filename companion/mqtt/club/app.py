"""The composition root of a club night: store, broker and site from the configuration."""

from __future__ import annotations

import secrets
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from companion.adapters.mqtt import broker_of
from companion.config import Config
from companion.errors import ConfigError
from companion.mqtt.client import Link
from companion.mqtt.clock import elapsed_s
from companion.mqtt.club.club import Club
from companion.mqtt.club.store import ClubStore
from companion.mqtt.topics import club_level
from companion.service.network import Address, Watch, url, watched_address
from web.access import Access, open_access

if TYPE_CHECKING:
    from web.server import Server

FOLDER = "club"
"""Folder of the data directory, so that a table and its club can run on one machine."""

WRITE_AGAIN_S = 5.0
"""Seconds after which results are tried again that could not be written."""
CLOSE_S = 2.0

PACKETS_PER_S = 5_000
"""Messages a second that are read at most: a hundred tables send fifty, a flood waits."""


@dataclass(slots=True)
class ClubApp:
    """A running club night.

    Attributes:
        notes: Lines for the terminal.
        access: The organisers' PIN, which appears in no log.
    """

    club: Club
    server: Server
    access: Access
    place: Watch[Address]
    notes: list[str] = field(default_factory=list)
    _stack: ExitStack = field(default_factory=ExitStack)

    @property
    def join_url(self) -> str:
        """The address that phones open."""
        return url(self.place.seen.host, self.server.port)

    def close(self) -> None:
        """Close every part; may be called twice."""
        self._stack.close()


def build_club(config: Config, version: str = "") -> ClubApp:
    """Open every part of a club night; its files are in a folder of the data directory.

    Raises:
        CompanionError: The broker's settings, the directory or the port cannot be used. A broker
            that does not answer is no error: it is tried again.
    """
    from web.club import create_club_app
    from web.server import Server

    if not config.mqtt.host:
        raise ConfigError("club: expected a broker: give --broker, or mqtt.host in the settings")
    level = club_level(config.mqtt.club)
    with ExitStack() as stack:
        store = ClubStore(config.data_dir / FOLDER)
        stack.callback(store.close)
        notes = [store.notice] if store.notice else []
        club = Club(store, level, now=lambda: datetime.now().astimezone(), clock=elapsed_s)
        links: list[Link] = []
        stack.callback(_Writer(club, lambda: any(each.is_connected for each in links)).close)
        broker = broker_of(config)
        link = Link(
            broker,
            client_id=f"dice-companion-club-{secrets.token_hex(8)}",
            subscriptions=club.subscriptions,
            on_message=club.receive,
            on_connected=lambda: club.connect(link.publish),
            packets_per_s=PACKETS_PER_S,
            name="mqtt-club",
        )
        links.append(link)
        stack.callback(link.close)
        notes.append(f"club {level}: broker {broker}")
        place = watched_address(config.web.host, club.touch)
        stack.callback(place.close)
        access = open_access(config.data_dir / FOLDER)
        if access.notice:
            notes.append(access.notice)
        ports = [config.web.port]
        site = create_club_app(
            club,
            name=config.mqtt.club or "Dice Companion",
            access=access,
            language=config.table.language,
            version=version,
            join_url=lambda: url(place.seen.host, ports[0]),
            has_broker=lambda: link.is_connected,
        )
        server = Server(site, config.web.host, config.web.port)
        stack.callback(server.close)
        ports[0] = server.port
        link.start()
        return ClubApp(club, server, access, place, notes, stack.pop_all())


class _Writer:
    """A thread that brings results to the disk, their last ones at the end, and misses tables."""

    def __init__(self, club: Club, has_broker: Callable[[], bool]) -> None:
        self._club, self._has_broker = club, has_broker
        self._is_closed = False
        self._thread = threading.Thread(target=self._run, name="club-writer", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        version = 0
        while not self._is_closed:
            version = self._club.wait(version, WRITE_AGAIN_S)
            self._club.flush()
            if self._has_broker():  # else everybody is silent
                self._club.look_for_silent_tables()

    def close(self) -> None:
        """Write what waits, and end."""
        self._is_closed = True
        self._club.wake()
        self._thread.join(CLOSE_S)
        self._club.flush()
