"""Answers: a snapshot for what was done, a problem with its sentence for what was not."""

from __future__ import annotations

from flask import Response

from companion.session.session import Rejected
from companion.wire.structs import encode
from web.client import Client
from web.context import AppContext
from web.wire.snapshot import Problem

STALE = frozenset(
    [
        "WRONG_PHASE",
        "GAME_OVER",
        "GAME_RUNNING",
        "NO_GAME",
        "NOT_READABLE",
        "NO_ROLL_DUE",
        "TRAY_CHANGED",
        "GONE_ON",
        "HAS_ANSWERED",
        "NAME_TAKEN",
        "TABLE_FULL",
        "SEAT_IN_GAME",
        "NO_PLAYERS",
        "ALREADY_SEATED",
        "NOT_OFFERED",
        "BAD_ORDER",
        "NO_ACTION",
        "NOTHING_TO_UNDO",
        "SEAT_EMPTY",
        "NO_SUCH_SEAT",
        "NO_SUCH_GAME",
    ]
)
"""Rejected because of the table's state (409); the others break a rule (422)."""

FORBIDDEN = frozenset({"NOT_IN_GAME"})
"""Rejected because of the sender (403)."""


def as_json(value: object, status: int = 200) -> Response:
    """Return a value as JSON."""
    return Response(encode(value), status, mimetype="application/json")


def failed(code: str, message: str, status: int) -> Response:
    """Return the reason a request failed."""
    return as_json(Problem(code, message=message), status)


def snapshot(context: AppContext, client: Client | None = None) -> Response:
    """Return the current snapshot, for the device that sent the request."""
    return Response(context.render(client or context.client())[1], mimetype="application/json")


def ok(context: AppContext, refusal: Rejected | None = None) -> Response:
    """Return the snapshot after a step, or the reason it was rejected."""
    return snapshot(context) if refusal is None else rejected(context, refusal)


def rejected(context: AppContext, refusal: Rejected) -> Response:
    """Return the reason a step was rejected, and the current snapshot."""
    status = 409 if refusal.code in STALE else 403 if refusal.code in FORBIDDEN else 422
    message = context.phrases.tell(*refusal.lines)
    reason = encode(Problem(refusal.code, refusal.ruling, message))
    state = context.render(context.client())[1]
    return Response(f'{reason[:-1]},"state":{state}}}', status, mimetype="application/json")
