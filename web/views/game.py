"""The API calls of a game: parse the request, call the session, return the snapshot."""

from __future__ import annotations

import logging

from flask import Blueprint, Response

from companion.errors import ServiceError
from companion.messages.catalogue import line
from companion.session.session import Rejected
from web import openapi
from web.context import AppContext
from web.params import body, entered_roll
from web.responses import as_json, ok, snapshot
from web.security import Refused
from web.sse import Streams
from web.views import coach, games, live, pages, seats, statistics, tray
from web.views.seats import bound_key, own_seat
from web.wire import requests

LOGGER = logging.getLogger(__name__)


def blueprint(context: AppContext, streams: Streams) -> Blueprint:
    """Make the blueprint with the pages and the API, except the setup."""
    api = Blueprint("pages", __name__)
    session = context.session

    @api.get("/api/openapi.json")
    def description() -> Response:
        return as_json(openapi.document(context.version))

    @api.post("/api/start")
    def start() -> Response:
        wanted = body(requests.Start)
        context.lead()
        return ok(
            context,
            session.start(wanted.variant, wanted.first, wanted.house, practice=wanted.practice),
        )

    @api.post("/api/answer")
    def answer() -> Response:
        given = body(requests.Answer)
        seat = own_seat(context, given.seat)
        refusal = session.answer(
            seat,
            given.turn,
            given.action,
            given.box,
            done=given.done,
            revocable=given.revocable,
            key=bound_key(given, seat),
            dice_since=given.rolled,
        )
        return ok(context, refusal)

    @api.post("/api/answer_for")
    def answer_for() -> Response:
        given = body(requests.AnswerFor)
        context.lead()
        refusal = session.answer(
            given.seat,
            given.turn,
            given.action,
            given.box,
            done=True,
            dice_since=given.rolled,
            is_by_host=True,
        )
        return ok(context, refusal)

    @api.post("/api/withdraw")
    def withdraw() -> Response:
        given = body(requests.Withdraw)
        seat = own_seat(context, given.seat)
        refusal = session.withdraw(
            seat, given.turn, given.action, key=bound_key(given, seat), dice_since=given.rolled
        )
        return ok(context, refusal)

    @api.post("/api/press")
    def press() -> Response:
        asked = body(requests.Press)
        context.at_the_tray()
        game, due = session.view().table.game, (asked.game, asked.turn)
        if None not in due and (game is None or due != (game.number, game.state.turn)):
            return ok(context, Rejected("GONE_ON", (line("press.gone_on"),)))
        return ok(context, context.press())

    @api.post("/api/roll")
    def roll() -> Response:
        entered = body(requests.Entered)
        is_unseen = context.equipment().typed_rolls or session.view().tray.status.is_blind
        if not (is_unseen and session.seats_of(context.client().tokens)):
            context.lead()  # a player may enter dice only where no camera sees them
        has_turn = entered.game is not None and entered.turn is not None
        due = (entered.game or 0, entered.turn or 0) if has_turn else None
        return ok(context, session.typed_roll(entered_roll(entered.white, entered.colour), due))

    @api.post("/api/correct")
    def correct() -> Response:
        right = body(requests.Correction)
        context.lead()
        return ok(
            context, session.correct_roll(entered_roll(right.white, right.colour), right.moment)
        )

    @api.post("/api/close")
    def close() -> Response:
        step = body(requests.Step)
        context.lead()
        return ok(context, session.close_action(step.moment))

    @api.post("/api/undo")
    def undo() -> Response:
        step = body(requests.Undo)
        context.lead()
        return ok(context, session.undo(step.moment))

    @api.post("/api/end")
    def end() -> Response:
        step = body(requests.Step)
        context.lead()
        return ok(context, session.end(step.moment))

    @api.post("/api/rematch")
    def rematch() -> Response:
        body(requests.Nothing)
        context.lead()
        return ok(context, session.rematch())

    @api.post("/api/power")
    def power() -> Response:
        step = body(requests.Switch).step
        context.lead()
        if context.power is None or not context.power.is_offered:
            raise Refused(409, "NO_POWER", line("page.host.no_power"))
        try:
            context.power.take(step)
        except ServiceError as error:
            LOGGER.warning("%s", error)
            raise Refused(503, "NO_POWER", line("page.host.no_power")) from error
        return snapshot(context)

    @api.post("/api/say")
    def say() -> Response:
        body(requests.Nothing)
        context.at_the_table()
        session.say_again()
        return snapshot(context)

    live.install(api, context, streams, context.has_role)
    pages.install(api, context)
    seats.install(api, context)
    tray.install(api, context)
    games.install(api, context)
    coach.install(api, context)
    statistics.install(api, context)
    return api
