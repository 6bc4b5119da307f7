"""Answers: a snapshot for what was done, a problem with its sentence for what was not."""

from __future__ import annotations

from flask import Response

from companion.session.session import Rejected
from companion.wire.structs import encode
from web.client import Client
from web.ports import Site
from web.wire.snapshot import Problem

_ALWAYS_WRONG = (
    "BAD_HOUSE_RULE",
    "BAD_TOKEN",
    "BAD_VARIANT",
    "LOCK_ALONE",
    "NAME_EMPTY",
    "NAME_TOO_LONG",
    "TWO_MARKS",
)
"""Rejected in every state of the table."""

STATUS = {"NOT_IN_GAME": 403, "NOT_KEPT": 503, **dict.fromkeys(_ALWAYS_WRONG, 422)}
"""The status of a rejected step by its code; without one the table's state is the reason (409)."""


def as_json(value: object, status: int = 200) -> Response:
    """Return a value as JSON."""
    return Response(encode(value), status, mimetype="application/json")


def failed(code: str, message: str, status: int) -> Response:
    """Return the reason a request failed."""
    return as_json(Problem(code, message=message), status)


def snapshot(site: Site, client: Client | None = None) -> Response:
    """Return the current snapshot, for the device that sent the request."""
    return Response(site.render(client or site.client())[1], mimetype="application/json")


def ok(site: Site, refusal: Rejected | None = None) -> Response:
    """Return the snapshot after a step, or the reason it was rejected."""
    return snapshot(site) if refusal is None else rejected(site, refusal)


def rejected(site: Site, refusal: Rejected) -> Response:
    """Return the reason a step was rejected, and the current snapshot."""
    status = STATUS.get(refusal.code, 409)
    message = site.phrases.tell(*refusal.lines)
    reason = encode(Problem(refusal.code, refusal.ruling, message))
    state = site.render(site.client())[1]
    return Response(f'{reason[:-1]},"state":{state}}}', status, mimetype="application/json")
