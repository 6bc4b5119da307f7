"""Answers: a snapshot for what was done, a problem with its sentence for what was not."""

from __future__ import annotations

from flask import Response

from companion.session.session import Rejected
from web.client import Caller
from web.context import Desk, dumps

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
    ]
)
"""Refused because of how things stand (409), not because of what was asked (422)."""

FORBIDDEN = frozenset({"NOT_IN_GAME"})
"""Refused because of who asks (403)."""


def as_json(value: object, status: int = 200) -> Response:
    """Any value as JSON."""
    return Response(dumps(value), status, mimetype="application/json")


def snapshot(desk: Desk, caller: Caller | None = None) -> Response:
    """The snapshot of the moment, for the device that asks."""
    return Response(desk.render(caller or desk.caller())[1], mimetype="application/json")


def settled(desk: Desk, rejected: Rejected | None) -> Response:
    """The snapshot after a step, or why it was not taken."""
    return snapshot(desk) if rejected is None else problem(desk, rejected)


def problem(desk: Desk, rejected: Rejected) -> Response:
    """Why a step was not taken, and how things stand."""
    status = 409 if rejected.code in STALE else 403 if rejected.code in FORBIDDEN else 422
    message = desk.phrases.tell(*rejected.lines)
    told = {"error": rejected.code, "ruling": rejected.ruling, "message": message}
    state = desk.render(desk.caller())[1]
    return Response(f'{dumps(told)[:-1]},"state":{state}}}', status, mimetype="application/json")
