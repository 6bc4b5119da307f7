"""The session, the tray and the current snapshot, which the views share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from flask import request

from companion.coach.background import Reviews
from companion.engine import Choice
from companion.eventlog.state import Game
from companion.messages.catalogue import Phrases, line, load_phrases
from companion.service.network import Wifi
from companion.session.session import Rejected, Session
from companion.wire.structs import encode
from web import locale, snapshot
from web.access import Access
from web.client import Client, RateLimiter, check_code, client_of, is_host
from web.ports import Equipment, Pictures, Power, Simulator, Tray
from web.security import Refused
from web.wire.snapshot import Door, Me

COUNTDOWN_S = 0.1
"""Seconds by which the countdown of an open action may be off."""


@dataclass
class AppContext:
    """Session, equipment and snapshot that the views share."""

    session: Session
    tray: Tray | None
    simulator: Simulator | None
    equipment: Callable[[], Equipment]
    press: Callable[[], Rejected | None]
    join_url: Callable[[], str]
    name: str
    version: str
    epoch: str
    access: Access
    wifi: Callable[[], Wifi] = Wifi
    join_name: Callable[[], str] = str
    pictures: Pictures | None = None
    advice: Callable[[Game], Mapping[int, Choice]] = lambda game: {}
    chances: Callable[[int], Sequence[tuple[float, float]]] = lambda number: ()
    power: Power | None = None
    has_broker: bool = False
    reviews: Reviews = field(default_factory=Reviews)
    limiter: RateLimiter = field(default_factory=RateLimiter)
    _rendered: dict[str, tuple[object, str]] = field(default_factory=dict)

    @property
    def phrases(self) -> Phrases:
        """The catalogue in the language of the page that sent the request."""
        return load_phrases(locale.asked_for(request, self.session.phrases.language))

    def snapshot_context(self) -> snapshot.SnapshotContext:
        """Return the values of a snapshot that are not in the session's view."""
        simulator, game = self.simulator, self.session.view().table.game
        return snapshot.SnapshotContext(
            epoch=self.epoch,
            name=self.name,
            join_url=self.join_url(),
            join_name=self.join_name(),
            speaking=self.session.speaking,
            equipment=self.equipment(),
            can_throw=simulator is not None,
            mishaps=tuple(simulator.mishaps) if simulator is not None else (),
            troubles=tuple(simulator.troubles) if simulator is not None else (),
            keeps_pictures=self.pictures is not None,
            can_power=self.power is not None and self.power.is_offered,
            take_back_s=self.session.take_back_s,
            chances=tuple(self.chances(game.number)) if game is not None else (),
            advice=tuple(self.advice(game).items()) if game is not None else (),
            has_broker=self.has_broker,
        )

    def render(self, client: Client) -> tuple[int, str]:
        """Return the current version and its snapshot as JSON.

        The part that all devices share is made once for each language.
        """
        language = client.language or self.session.phrases.language
        view, context = self.session.view(), self.snapshot_context()
        now_s = self.session.clock_s()
        # an open action's countdown is made anew, though not for each of many streams
        countdown = None if view.closes_at_s is None else now_s // COUNTDOWN_S
        key = (view.version, context, countdown)
        made, shared = self._rendered.get(language, (None, ""))
        if made != key:
            shared = encode(snapshot.snapshot(view, context, load_phrases(language), now_s=now_s))
            self._rendered[language] = (key, shared)
        mine = encode(self.me(client))
        return view.version, f'{{"me":{mine},{shared[1:]}'

    def me(self, client: Client) -> Me:
        """Return the part of a snapshot that is about one device."""
        view = self.session.view()
        seats = self.session.seats_of(client.tokens)
        leads = is_host(self.session, client)
        shows_door = (
            client.is_table or self._is_paired(client) or (leads and bool(view.table.hosts))
        )
        is_unpaired = client.shows_table and not shows_door and client.device is not None
        return Me(
            seat=seats[0] if seats else None,
            seats=list(seats),
            host=leads,
            needs_code=self.needs_code(client),
            confirms=bool(seats) or leads or (client.is_local and self._is_paired(client)),
            door=self.door(client) if shows_door else None,
            pairing=self.access.pairing_code(client.device or "", client.address)
            if is_unpaired
            else None,
        )

    def door(self, client: Client) -> Door:
        """Return what hosts and table views show; the PIN leaves the machine for a host only."""
        may_see = client.is_local or is_host(self.session, client)
        pin = self.access.pin if may_see else None
        return Door(self.access.code, pin, self.wifi().name or None)

    def client(self) -> Client:
        """Return the device that sent the request."""
        return client_of(request, self.phrases.language, self.access, self.session)

    def needs_code(self, client: Client) -> bool:
        """Whether a device must send the table's code to take a seat.

        The table's own machine, players and hosts need none.
        """
        if client.is_local or self.session.seats_of(client.tokens):
            return False
        return not (self.session.has_host and is_host(self.session, client))

    def lead(self) -> None:
        """Refuse everybody but the host.

        Raises:
            Refused: Somebody else sent the request.
        """
        if not is_host(self.session, self.client()):
            raise Refused(403, "NOT_HOST", line("page.not_host"))

    def at_the_table(self) -> None:
        """Refuse everybody but players and the host.

        Raises:
            Refused: Somebody else sent the request.
        """
        if not self.session.seats_of(self.client().tokens):
            self.lead()

    def at_the_tray(self) -> None:
        """Refuse everybody but players, the host and the machine's own table view.

        That view stands beside the dice in place of a button; one elsewhere may hang in any room.

        Raises:
            Refused: Somebody else sent the request.
        """
        client = self.client()
        if not (client.is_local and self._is_paired(client)):
            self.at_the_table()

    def _is_paired(self, client: Client) -> bool:
        """Whether a device is a table view by now; the client of a stream is as old as it."""
        return client.device is not None and self.access.is_table(client.device)

    def has_role(self, client: Client) -> bool:
        """Whether a device is a player, a host or a table view."""
        is_seated = bool(self.session.seats_of(client.tokens))
        return client.is_table or is_seated or is_host(self.session, client)

    def is_inside(self, client: Client) -> bool:
        """Whether a device has a role, or runs on the table's own machine."""
        return client.is_local or self.has_role(client)

    def inside(self) -> None:
        """Refuse devices that are not `is_inside`.

        Raises:
            Refused: A stranger sent the request.
        """
        if not self.is_inside(self.client()):
            raise Refused(403, "NOT_SEATED", line("page.not_seated"))

    def check(self, given: str, right: str, code: str) -> None:
        """Check a code; wrong tries are limited.

        Raises:
            Refused: The code is wrong, or there were too many wrong ones.
        """
        wrong = "page.wrong_pin" if code == "BAD_PIN" else "page.wrong_code"
        if self.access.is_pairing_code(given.strip().upper()):
            wrong = "page.view_code"
        check_code(self.limiter, given, right, code, wrong)
