"""What the views work with: the session, the tray, and the snapshot of the moment."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock

from flask import request

from companion.phrases import Phrases, load_phrases
from companion.session import Declined, Session
from web import guard, languages, present
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
    _rendered: dict[str, tuple[object, str]] = field(default_factory=dict)

    @property
    def phrases(self) -> Phrases:
        """The language of the asking page."""
        return load_phrases(languages.asked_for(request, self.session.phrases.language))

    def setting(self) -> present.Setting:
        """What snapshots say besides the session's view."""
        return present.Setting(
            epoch=self.epoch,
            name=self.name,
            join_url=self.join_url(),
            language=self.session.phrases.language,
            equipment=self.equipment(),
            can_throw=self.tray is not None and self.tray.can_throw,
        )

    def render(self, seat: int | None, language: str) -> tuple[int, str]:
        """The version now and its snapshot as JSON; what all seats share is made once for each
        language."""
        view, setting = self.session.view(), self.setting()
        # an open action's countdown differs from moment to moment
        key = None if view.closes_at_s is not None else (view.version, setting)
        with self._mutex:
            made, shared = self._rendered.get(language, (None, None))
        if key is None or shared is None or made != key:
            now_s = self.session.clock_s()
            shared = dumps(present.snapshot(view, setting, load_phrases(language), now_s=now_s))
            with self._mutex:
                self._rendered[language] = (key, shared)
        mine = dumps(present.me(view, seat))
        return view.version, f'{{"me":{mine},{shared[1:]}'

    def seat(self) -> int | None:
        """The seat the asking browser proves."""
        token = request.cookies.get(guard.SEAT_COOKIE, "")
        return self.session.seat_of(token) if token else None


def dumps(value: object) -> str:
    """JSON without needless spaces, in the letters people use."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
