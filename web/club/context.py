"""The context of a club's views: the club, its organisers, and the current snapshot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from flask import request

from companion.messages.catalogue import Phrases, line, load_phrases
from companion.mqtt.club.club import Club
from companion.wire.structs import encode
from web import locale, security
from web.access import Access
from web.client import Client, RateLimiter, is_own
from web.club.snapshot import snapshot
from web.club.wire import Me
from web.security import Refused


@dataclass
class ClubContext:
    """Club, organisers and snapshot that the views share.

    Attributes:
        access: Its PIN makes a device an organiser; it keeps organisers where a table keeps its
            table views.
        has_broker: Whether there is a connection to the broker.
    """

    club: Club
    name: str
    language: str
    version: str
    epoch: str
    access: Access
    join_url: Callable[[], str]
    has_broker: Callable[[], bool]
    limiter: RateLimiter = field(default_factory=RateLimiter)
    _rendered: tuple[object, str] = (None, "")

    @property
    def phrases(self) -> Phrases:
        """The catalogue in the language of the page that sent the request."""
        return load_phrases(locale.asked_for(request, self.language))

    def client(self) -> Client:
        """Return the device that sent the request."""
        name = security.browser_id(request)
        return Client(
            device=name if name is not None and self.access.is_genuine(name) else None,
            tokens=(),
            is_local=is_own(request),
            address=request.remote_addr or "",
            is_program=name is None,
            language=self.phrases.language,
        )

    def is_organiser(self, client: Client) -> bool:
        """Whether a device entered the PIN, or runs on the club's own machine."""
        is_known = client.device is not None and self.access.is_table(client.device)
        return client.is_local or is_known

    def lead(self) -> None:
        """Refuse everybody but organisers.

        Raises:
            Refused: Somebody else sent the request.
        """
        if not self.is_organiser(self.client()):
            raise Refused(403, "NOT_ORGANISER", line("page.club.not_organiser"))

    def render(self, client: Client) -> tuple[int, str]:
        """Return the current version and its snapshot as JSON; the shared part is made once."""
        view, has_broker, join_url = self.club.view(), self.has_broker(), self.join_url()
        key = (view.version, view.evening.id, has_broker, join_url)
        made, shared = self._rendered
        if made != key:
            found = snapshot(view, epoch=self.epoch, broker=has_broker, join_url=join_url)
            shared = encode(found)
            self._rendered = key, shared
        leads = self.is_organiser(client)
        mine = encode(Me(leads, list(view.known) if leads else []))
        return view.version, f'{{"me":{mine},{shared[1:]}'


class Viewers:
    """The club as streams see it: nobody has a seat; a lost broker or a new evening is a change."""

    def __init__(self, club: Club, has_broker: Callable[[], bool]) -> None:
        self._club, self._has_broker = club, has_broker
        self._seen = self._outside()
        self.wake = club.wake

    def _outside(self) -> tuple[bool, str]:
        return self._has_broker(), self._club.today

    def wait(self, version: int, timeout_s: float) -> int:
        """Block until there is a newer version or time is up; return the version now."""
        found = self._club.wait(version, timeout_s)
        if (outside := self._outside()) != self._seen:
            self._seen = outside
            self._club.touch()
            found = self._club.wait(found, 0.0)
        return found

    def seats_of(self, tokens: Sequence[str]) -> tuple[int, ...]:
        """Nobody has a seat."""
        return ()

    def connected(self, seat: int) -> None:
        """Not called without seats."""

    def disconnected(self, seat: int) -> None:
        """Not called without seats."""
