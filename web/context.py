"""What the views work with: the session, the tray, and the snapshot of the moment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from flask import request

from companion.messages.catalogue import Phrases, line, load_phrases
from companion.network import Wifi
from companion.session.session import Rejected, Session
from companion.wire import encode
from web import locale, snapshot
from web.client import Client, RateLimiter, SeatMemory, client_of, is_host
from web.ports import Equipment, Pictures, Simulator, Tray
from web.security import Refused
from web.wire.snapshot import Door, Me


@dataclass
class AppContext:
    """What the views work with."""

    session: Session
    tray: Tray | None
    simulator: Simulator | None
    equipment: Callable[[], Equipment]
    press: Callable[[], Rejected | None]
    join_url: Callable[[], str]
    name: str
    version: str
    epoch: str
    code: str
    pin: str
    wifi: Callable[[], Wifi] = Wifi
    pictures: Pictures | None = None
    memory: SeatMemory = field(default_factory=SeatMemory)
    limiter: RateLimiter = field(default_factory=RateLimiter)
    _mutex: Lock = field(default_factory=Lock)
    _rendered: dict[str, tuple[object, str]] = field(default_factory=dict)

    @property
    def phrases(self) -> Phrases:
        """The language of the asking page."""
        return load_phrases(locale.asked_for(request, self.session.phrases.language))

    def setting(self) -> snapshot.Setting:
        """What snapshots say besides the session's view."""
        simulator = self.simulator
        return snapshot.Setting(
            epoch=self.epoch,
            name=self.name,
            join_url=self.join_url(),
            speaking=self.session.speaking,
            equipment=self.equipment(),
            can_throw=simulator is not None,
            mishaps=tuple(simulator.mishaps) if simulator is not None else (),
            troubles=tuple(simulator.troubles) if simulator is not None else (),
            keeps_pictures=self.pictures is not None,
        )

    def render(self, client: Client) -> tuple[int, str]:
        """The version now and its snapshot as JSON; what all seats share is made once for each
        language."""
        language = client.language or self.session.phrases.language
        view, setting = self.session.view(), self.setting()
        # an open action's countdown differs from moment to moment
        key = None if view.closes_at_s is not None else (view.version, setting)
        with self._mutex:
            made, shared = self._rendered.get(language, (None, None))
        if key is None or shared is None or made != key:
            now_s = self.session.clock_s()
            shared = encode(snapshot.snapshot(view, setting, load_phrases(language), now_s=now_s))
            with self._mutex:
                self._rendered[language] = (key, shared)
        mine = encode(self.me(client))
        return view.version, f'{{"me":{mine},{shared[1:]}'

    def me(self, client: Client) -> Me:
        """What one device is told of itself."""
        view = self.session.view()
        seats = self.session.seats_of(client.tokens)
        self.memory.remember(client, seats)
        leads = is_host(self.session, client)
        had = [] if seats else [s for s in self.memory.seats(client) if s not in view.online]
        shows_door = client.is_table or (leads and bool(view.table.hosts))
        return Me(
            seat=seats[0] if seats else None,
            seats=list(seats),
            host=leads,
            needs_code=self.needs_code(client),
            had=[seat for seat in had if view.table.seat(seat) is not None],
            door=Door(self.code, self.pin, self.wifi().name or None) if shows_door else None,
        )

    def client(self) -> Client:
        """The device that asks."""
        return client_of(request, self.phrases.language)

    def needs_code(self, client: Client) -> bool:
        """Whether a device has to know the table's code to sit down: not at the table's own
        machine, and not once it is in."""
        if client.is_local or self.session.seats_of(client.tokens):
            return False
        is_named = client.device is not None and bool(self.session.view().table.hosts)
        return not (is_named and is_host(self.session, client))

    def lead(self) -> None:
        """Let only the host pass.

        Raises:
            Refused: Somebody else asks.
        """
        if not is_host(self.session, self.client()):
            raise Refused(403, "NOT_HOST", line("page.not_host"))

    def at_the_table(self) -> None:
        """Let who sits here pass, and the host.

        Raises:
            Refused: Somebody else asks.
        """
        if not self.session.seats_of(self.client().tokens):
            self.lead()

    def check(self, given: str, right: str, code: str) -> None:
        """Let only those pass who know a code; ten wrong ones a minute are enough.

        Raises:
            Refused: It is wrong, or too many were.
        """
        address = request.remote_addr or ""
        if not self.limiter.may_try(address):
            raise Refused(429, "TOO_MANY_TRIES", line("page.too_many_tries"))
        if given.strip().upper() != right:
            self.limiter.was_wrong(address)
            key = "page.wrong_pin" if code == "BAD_PIN" else "page.wrong_code"
            raise Refused(403, code, line(key))
