"""The API calls about people: take, leave and hand over seats, and become the host."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from flask import Blueprint, Response, request

from companion.eventlog.names import clean_name, name_key
from companion.eventlog.state import SWITCHES
from companion.messages.catalogue import line
from companion.session.session import HostStep, Joined, Rejected, View
from companion.wire.structs import UNSET, encode
from web import security
from web.client import Client, is_host
from web.context import AppContext
from web.params import bad, body, entered_roll
from web.responses import as_json, ok, rejected, snapshot
from web.security import Refused
from web.wire import requests
from web.wire.replies import Preview

_NUMBERED = re.compile("([0-9a-f]{24})-([0-9]{1,16})")
"""A key of a device that numbers its answers."""


def install(pages: Blueprint, context: AppContext) -> None:
    """Add the calls to a blueprint."""
    session = context.session

    @pages.post("/api/join")
    def join() -> Response:
        asked, client = body(requests.Join), context.client()
        own = session.seats_of(client.tokens)
        if own and not asked.another:
            seated = session.view().table.name(own[0])
            said = line("page.already_seated", name=seated)
            return rejected(context, Rejected("ALREADY_SEATED", (said,)))
        knows_code(client, asked.code)
        keeps_cookies(client)
        client = with_device(client)
        joined = session.join(asked.name, client.device, seat_token(client, asked.name))
        if not isinstance(joined, Joined):
            return rejected(context, with_way_back(joined, session.view(), asked.name))
        return with_tokens(client, (*client.tokens, joined.token))

    @pages.post("/api/claim")
    def claim() -> Response:
        asked, client = body(requests.Claim), context.client()
        seat = asked.seat
        knows_code(client, asked.code)
        keeps_cookies(client)
        client = with_device(client)
        token = seat_token(client, session.view().table.name(seat))
        claimed = session.claim(seat, device=client.device, token=token)
        if not isinstance(claimed, Joined):
            return rejected(context, claimed)
        return with_tokens(client, (*client.tokens, claimed.token))

    @pages.post("/api/leave")
    def leave() -> Response:
        asked = body(requests.Leave)
        seat = own_seat(context, asked.seat)
        if asked.from_game:
            refusal = session.let_go(seat, key=bound_key(asked, seat))
        else:
            refusal = session.leave(seat)
        if refusal is not None:
            return rejected(context, refusal)
        client = context.client()
        return with_tokens(client, client.tokens)

    @pages.post("/api/free")
    def free() -> Response:
        asked = body(requests.Free)
        context.lead()
        due = None if asked.name is None else (asked.name, asked.game)
        return ok(context, session.let_go(asked.seat, due=due))

    @pages.post("/api/hand")
    def hand() -> Response:
        seat = body(requests.OfSeat).seat
        context.lead()
        return ok(context, session.offer(seat))

    @pages.post("/api/bot")
    def bot() -> Response:
        strength = body(requests.AddBot).strength
        context.lead()
        return ok(context, session.add_bot(strength))

    @pages.post("/api/order")
    def order() -> Response:
        seats = body(requests.Order).seats
        context.lead()
        return ok(context, session.order(seats))

    @pages.post("/api/host")
    def become_host() -> Response:
        asked, client = body(requests.Host), context.client()
        # without a host a seat is enough, which needs the code of the table view
        is_first = not session.has_host and bool(session.seats_of(client.tokens))
        if not (is_first or is_host(session, client)):
            if asked.pin is None:
                raise Refused(403, "NOT_HOST", line("page.not_host"))
            context.check(asked.pin, context.access.pin, "BAD_PIN")
        client = with_device(client)
        assert client.device is not None
        session.make_host(client.device)
        response = snapshot(context, replace(client, is_program=False))
        security.set_browser_id(response, client.device)
        return response

    @pages.post("/api/pair")
    def pair() -> Response:
        code = body(requests.Pair).code
        context.lead()
        address = context.client().address
        if not context.limiter.take(address):
            raise Refused(429, "TOO_MANY_TRIES", line("page.too_many_tries"))
        if not context.access.pair(code.strip().upper()):
            raise Refused(409, "BAD_CODE", line("page.wrong_code"))
        context.limiter.give_back(address)
        session.show_anew()
        return snapshot(context)

    @pages.post("/api/settings")
    def settings() -> Response:
        asked = body(requests.Settings)
        context.lead()
        session.change_settings(
            _given(asked, *SWITCHES),
            _given(asked, "language", "say", "volume", "words_per_minute"),
        )
        return snapshot(context)

    @pages.post("/api/preview")
    def preview() -> Response:
        asked = body(requests.PreviewOf)
        right = None
        if asked.what is HostStep.CORRECT:
            if asked.white is None or asked.colour is None:
                raise bad("asked.dice")
            right = entered_roll(asked.white, asked.colour)
        context.lead()
        moment = session.precondition(asked.what)
        lines = session.preview(asked.what, right)
        if isinstance(lines, Rejected):
            return rejected(context, lines)
        return as_json(Preview([context.phrases.tell(each) for each in lines], moment))

    def knows_code(client: Client, given: str) -> None:
        if context.needs_code(client):
            context.check(given, context.access.code, "BAD_CODE")

    def keeps_cookies(client: Client) -> None:
        """Refuse a browser without the cookie of its page: it would lose the seat at once."""
        if client.is_program and "Origin" in request.headers:
            raise Refused(409, "NO_COOKIES", line("asked.cookies"))

    def with_device(client: Client) -> Client:
        """Name the client's device, so that it can become the host by taking the first seat."""
        return client if client.device else replace(client, device=context.access.new_device())

    def seat_token(client: Client, name: str) -> str | None:
        """Return the device's token for a player; None if it was sent, as then it has arrived."""
        assert client.device is not None
        token = context.access.seat_token(client.device, name_key(clean_name(name)))
        return None if token in client.tokens else token

    def with_tokens(client: Client, tokens: Iterable[str]) -> Response:
        """Return the snapshot and the valid seat tokens to a device whose seats changed."""
        kept = tuple(token for token in tokens if session.seats_of((token,)))
        client = replace(client, tokens=kept)
        response = snapshot(context, client)
        security.set_seats(response, kept)
        if client.device is not None:
            security.set_browser_id(response, client.device)
        return response


def with_way_back(refusal: Rejected, view: View, name: str) -> Rejected:
    """Tell a player whose phone has lost its seat how to get it back."""
    key = name_key(clean_name(name))
    taken = next((each for each in view.table.seats if name_key(each.name) == key), None)
    if refusal.code != "NAME_TAKEN" or taken is None or taken.bot or taken.number in view.online:
        return refusal
    return replace(refusal, lines=(*refusal.lines, line("declined.NAME_TAKEN.away")))


def own_seat(context: AppContext, named: int | None) -> int:
    """Return the seat that the client acts for: the named one, or its first.

    Raises:
        Refused: The client has no seat, or names somebody else's.
    """
    own = context.session.seats_of(context.client().tokens)
    if not own:
        raise Refused(403, "NOT_SEATED", line("page.not_seated"))
    if named is None:
        return own[0]
    if named not in own:
        raise Refused(403, "NOT_YOUR_SEAT", line("page.not_your_seat"))
    return named


def bound_key(given: requests.Answer | requests.Withdraw | requests.Leave, seat: int) -> str:
    """Extend an idempotency key by seat and content, so that only equal requests are retries."""
    if not given.key:
        return ""
    content = f"{type(given).__name__} {seat} {encode(given)}"
    bound = hashlib.sha256(content.encode()).hexdigest()[:32]
    numbered = _NUMBERED.fullmatch(given.key)
    return f"{bound}.{numbered[1]}@{seat}.{numbered[2]}" if numbered else bound


def _given(asked: requests.Settings, *names: str) -> dict[str, Any]:
    """Return the named settings that were sent."""
    found = {name: getattr(asked, name) for name in names}
    return {name: value for name, value in found.items() if value is not UNSET}
