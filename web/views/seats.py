"""The API's part about people: seats taken, left and handed on, and who the host is."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from flask import Blueprint, Response

from companion.audio.settings import is_possible
from companion.messages.catalogue import line
from companion.session.session import HostStep, Joined, Rejected
from web import security
from web.client import Client
from web.context import AppContext
from web.openapi.steps import FORESEEN
from web.params import bad, body, require, typed_roll
from web.responses import as_json, ok, rejected, snapshot
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


def install(pages: Blueprint, context: AppContext) -> None:
    """Add the calls to a blueprint."""
    session = context.session

    @pages.post("/api/join")
    def join() -> Response:
        asked = body()
        name, client = require(asked, "name", str), context.client()
        own = session.seats_of(client.tokens)
        if own and not (require(asked, "another", bool) if "another" in asked else False):
            seated = session.view().table.name(own[0])
            said = line("page.already_seated", name=seated)
            return rejected(context, Rejected("ALREADY_SEATED", (said,)))
        knows_code(client, asked)
        client = with_device(client)
        joined = session.join(name, client.device)
        if not isinstance(joined, Joined):
            return rejected(context, joined)
        return with_tokens(client, (*client.tokens, joined.token))

    @pages.post("/api/claim")
    def claim() -> Response:
        asked = body()
        client, seat = context.client(), require(asked, "seat", int)
        is_known = seat in context.me(client)["had"]
        if not is_known:
            knows_code(client, asked)
        client = with_device(client)
        claimed = session.claim(seat, is_known=is_known, device=client.device)
        if not isinstance(claimed, Joined):
            return rejected(context, claimed)
        if not is_known:
            context.memory.forget(seat)
        return with_tokens(client, (*client.tokens, claimed.token))

    @pages.post("/api/leave")
    def leave() -> Response:
        asked = body()
        seat = own_seat(context, asked)
        gives_up = require(asked, "from_game", bool) if "from_game" in asked else False
        refusal = session.let_go(seat) if gives_up else session.leave(seat)
        if refusal is not None:
            return rejected(context, refusal)
        context.memory.forget(seat)
        client = context.client()
        return with_tokens(client, client.tokens)

    @pages.post("/api/free")
    def free() -> Response:
        seat = require(body(), "seat", int)
        context.lead()
        context.memory.forget(seat)
        return ok(context, session.let_go(seat))

    @pages.post("/api/hand")
    def hand() -> Response:
        seat = require(body(), "seat", int)
        context.lead()
        return ok(context, session.offer(seat))

    @pages.post("/api/order")
    def order() -> Response:
        seats = require(body(), "seats", list)
        if not all(isinstance(seat, int) and not isinstance(seat, bool) for seat in seats):
            raise bad("asked.list", field="seats")
        context.lead()
        return ok(context, session.order(seats))

    @pages.post("/api/host")
    def become_host() -> Response:
        asked, client = body(), context.client()
        device = client.device or security.new_browser_id()
        if session.view().table.hosts and not session.is_host(device):
            context.check(require(asked, "pin", str, longest=16), context.pin, "BAD_PIN")
        session.make_host(device)
        response = snapshot(context, replace(client, device=device))
        security.set_browser_id(response, device)
        return response

    @pages.post("/api/settings")
    def settings() -> Response:
        asked = body()
        chosen: dict[str, bool] = {}
        for key in ("hints", "sound"):
            if key in asked:
                chosen[key] = require(asked, key, bool)
        speaking: dict[str, str | int] = {
            key: require(asked, key, kind) for key, kind in SPEAKING.items() if key in asked
        }
        for name, value in speaking.items():
            if not is_possible(name, value):
                raise bad("asked.other", field=name, value=str(value)[:LONGEST_SHOWN])
        context.lead()
        session.settle(chosen, speaking)
        return snapshot(context)

    @pages.post("/api/preview")
    def preview() -> Response:
        asked = body()
        what = require(asked, "what", str)
        if what not in FORESEEN:
            raise bad("asked.text", field="what")
        context.lead()
        step = HostStep(what)
        moment = session.precondition(step)
        lines = session.preview(step, typed_roll(asked) if step is HostStep.CORRECT else None)
        if isinstance(lines, Rejected):
            return rejected(context, lines)
        told = [context.phrases.tell(each) for each in lines]
        return as_json({"lines": told, "moment": moment})

    def knows_code(client: Client, asked: dict[str, Any]) -> None:
        if context.needs_code(client):
            given = require(asked, "code", str, longest=16) if "code" in asked else ""
            context.check(given, context.code, "BAD_CODE")

    def with_device(client: Client) -> Client:
        """The client with a name for its device: the first one that is seated is the host."""
        return client if client.device else replace(client, device=security.new_browser_id())

    def with_tokens(client: Client, tokens: Iterable[str]) -> Response:
        """The answer to a device whose seats changed: proofs that prove nothing are dropped."""
        kept = tuple(token for token in tokens if session.seats_of((token,)))
        client = replace(client, tokens=kept)
        response = snapshot(context, client)
        security.set_seats(response, kept)
        if client.device is not None:
            security.set_browser_id(response, client.device)
        return response


def own_seat(context: AppContext, asked: dict[str, Any] | None = None) -> int:
    """The seat the client acts for: the one that is named, which has to be theirs.

    Raises:
        Refused: The client has no seat, or means somebody else's.
    """
    own = context.session.seats_of(context.client().tokens)
    if not own:
        raise Refused(403, "NOT_SEATED", line("page.not_seated"))
    if asked is None or asked.get("seat") is None:
        return own[0]
    seat = require(asked, "seat", int)
    if seat not in own:
        raise Refused(403, "NOT_YOUR_SEAT", line("page.not_your_seat"))
    return seat
