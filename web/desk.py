"""What the views work with: the session, the tray, and the snapshot of the moment."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from flask import request

from companion.phrases import Phrases
from companion.session import Declined, Session
from web import guard, present
from web.ports import Equipment, Tray


@dataclass
class Desk:
    """What the views work with."""

    session: Session
    tray: Tray | None
    equipment: Callable[[], Equipment]
    press: Callable[[], Declined | None]
    join_url: Callable[[], str]
    name: str
    version: str
    epoch: str
    _mutex: Lock = field(default_factory=Lock)
    _rendered: tuple[object, str] | None = None

    @property
    def phrases(self) -> Phrases:
        """The table's language."""
        return self.session.phrases

    def setting(self) -> present.Setting:
        """What snapshots say besides the session's view."""
        return present.Setting(
            epoch=self.epoch,
            name=self.name,
            join_url=self.join_url(),
            equipment=self.equipment(),
            can_throw=self.tray is not None and self.tray.can_throw,
        )

    def render(self, seat: int | None) -> tuple[int, str]:
        """The version now and its snapshot as JSON; what all seats share is made once."""
        view, setting = self.session.view(), self.setting()
        # an open action's countdown differs from moment to moment
        key = None if view.closes_at_s is not None else (view.version, setting)
        with self._mutex:
            shared = self._rendered[1] if self._rendered and self._rendered[0] == key else None
        if key is None or shared is None:
            now_s = self.session.clock_s()
            shared = dumps(present.snapshot(view, setting, self.phrases, now_s=now_s))
            with self._mutex:
                self._rendered = (key, shared)
        mine = dumps(present.me(view, seat))
        return view.version, f'{{"me":{mine},{shared[1:]}'

    def seat(self) -> int | None:
        """The seat the asking browser proves."""
        token = request.cookies.get(guard.SEAT_COOKIE, "")
        return self.session.seat_of(token) if token else None


def dumps(value: object) -> str:
    """JSON without needless spaces, in the letters people use."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
