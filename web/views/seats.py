"""The API's part about people: seats taken, left and handed on, and who the host is."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from flask import Blueprint, Response

from companion.audio.settings import is_possible
from companion.errors import StoreError
from companion.messages.catalogue import line
from companion.session.session import Joined, Rejected
from web import security
from web.client import Caller
from web.context import Desk
from web.openapi.steps import FORESEEN
from web.params import bad, body, typed_roll, want
from web.responses import as_json, problem, settled, snapshot
from web.security import Refused

LOGGER = logging.getLogger(__name__)

SPEAKING: dict[str, type[str] | type[int]] = {
    "language": str,
    "say": str,
    "volume": int,
    "words_per_minute": int,
}
"""How the table speaks, as a request names it."""

LONGEST_SHOWN = 20
"""Characters of a wrong value that are told back."""


def install(pages: Blueprint, desk: Desk) -> None:
    """Add the calls to a blueprint."""
    session = desk.session

    @pages.post("/api/join")
    def join() -> Response:
        asked = body()
        name, caller = want(asked, "name", str), desk.caller()
        own = session.seats_of(caller.tokens)
        if own and not (want(asked, "another", bool) if "another" in asked else False):
            seated = session.view().table.name(own[0])
            said = line("page.already_seated", name=seated)
            return problem(desk, Rejected("ALREADY_SEATED", (said,)))
        knows_code(caller, asked)
        joined = session.join(name)
        if not isinstance(joined, Joined):
            return problem(desk, joined)
        return seated_at(caller, joined)

    @pages.post("/api/claim")
    def claim() -> Response:
        asked = body()
        caller, seat = desk.caller(), want(asked, "seat", int)
        is_known = seat in desk.me(caller)["had"]
        if not is_known:
            knows_code(caller, asked)
        claimed = session.claim(seat, is_known=is_known)
        if not isinstance(claimed, Joined):
            return problem(desk, claimed)
        if not is_known:
            desk.known.forget(seat)
        return seated_at(caller, claimed)

    @pages.post("/api/leave")
    def leave() -> Response:
        asked = body()
        seat = own_seat(desk, asked)
        gives_up = want(asked, "from_game", bool) if "from_game" in asked else False
        rejected = session.let_go(seat) if gives_up else session.leave(seat)
        if rejected is not None:
            return problem(desk, rejected)
        desk.known.forget(seat)
        caller = desk.caller()
        return with_tokens(caller, caller.tokens)

    @pages.post("/api/free")
    def free() -> Response:
        seat = want(body(), "seat", int)
        desk.lead()
        desk.known.forget(seat)
        return settled(desk, session.let_go(seat))

    @pages.post("/api/hand")
    def hand() -> Response:
        seat = want(body(), "seat", int)
        desk.lead()
        return settled(desk, session.offer(seat))

    @pages.post("/api/order")
    def order() -> Response:
        seats = want(body(), "seats", list)
        if not all(isinstance(seat, int) and not isinstance(seat, bool) for seat in seats):
            raise bad("asked.list", field="seats")
        desk.lead()
        return settled(desk, session.order(seats))

    @pages.post("/api/host")
    def become_host() -> Response:
        asked, caller = body(), desk.caller()
        device = caller.device or security.new_browser_id()
        if session.view().table.hosts and not session.is_host(device):
            desk.check(want(asked, "pin", str, longest=16), desk.pin, "BAD_PIN")
        session.make_host(device)
        response = snapshot(desk, replace(caller, device=device))
        security.set_browser_id(response, device)
        return response

    @pages.post("/api/settings")
    def settings() -> Response:
        asked = body()
        chosen: dict[str, bool] = {}
        for key in ("hints", "sound"):
            if key in asked:
                chosen[key] = want(asked, key, bool)
        speaking: dict[str, str | int] = {
            key: want(asked, key, kind) for key, kind in SPEAKING.items() if key in asked
        }
        for name, value in speaking.items():
            if not is_possible(name, value):
                raise bad("asked.other", field=name, value=str(value)[:LONGEST_SHOWN])
        desk.lead()
        session.settle(chosen)
        session.speak(speaking)
        return snapshot(desk)

    @pages.post("/api/preview")
    def preview() -> Response:
        asked = body()
        what = want(asked, "what", str)
        if what not in FORESEEN:
            raise bad("asked.text", field="what")
        desk.lead()
        moment = session.precondition(what)
        if what == "correct":
            lines = session.preview_correction(typed_roll(asked))
        elif what == "undo":
            lines = session.preview_undo()
        elif what == "close":
            lines = session.preview_close()
        else:
            lines = session.preview_end()
        if isinstance(lines, Rejected):
            return problem(desk, lines)
        told = [desk.phrases.tell(each) for each in lines]
        return as_json({"lines": told, "moment": moment})

    def knows_code(caller: Caller, asked: dict[str, Any]) -> None:
        if desk.needs_code(caller):
            given = want(asked, "code", str, longest=16) if "code" in asked else ""
            desk.check(given, desk.code, "BAD_CODE")

    def seated_at(caller: Caller, joined: Joined) -> Response:
        """The answer to somebody who sits down; the first device is the host."""
        if caller.device is None:
            caller = replace(caller, device=security.new_browser_id())
        assert caller.device is not None
        if not session.view().table.hosts:
            try:
                session.make_host(caller.device)
            except StoreError as error:  # the seat is kept; until somebody leads, everybody may
                LOGGER.error("the host is not kept: %s", error)
        return with_tokens(caller, (*caller.tokens, joined.token))

    def with_tokens(caller: Caller, tokens: Iterable[str]) -> Response:
        """The answer to a device whose seats changed: proofs that prove nothing are dropped."""
        kept = tuple(token for token in tokens if session.seats_of((token,)))
        caller = replace(caller, tokens=kept)
        response = snapshot(desk, caller)
        security.set_seats(response, kept)
        if caller.device is not None:
            security.set_browser_id(response, caller.device)
        return response


def own_seat(desk: Desk, asked: dict[str, Any] | None = None) -> int:
    """The seat the caller acts for: the one that is named, which has to be theirs.

    Raises:
        Refused: The caller has no seat, or means somebody else's.
    """
    own = desk.session.seats_of(desk.caller().tokens)
    if not own:
        raise Refused(403, "NOT_SEATED", line("page.not_seated"))
    if asked is None or asked.get("seat") is None:
        return own[0]
    seat = want(asked, "seat", int)
    if seat not in own:
        raise Refused(403, "NOT_YOUR_SEAT", line("page.not_your_seat"))
    return seat
