"""The game's calls: parse the request, call the session, render the answer."""

from __future__ import annotations

from flask import Blueprint, Response, request

from companion.messages.catalogue import LANGUAGES
from web import locale, openapi
from web.context import AppContext
from web.params import (
    LONGEST_TOKEN,
    bad,
    body,
    box,
    due,
    key,
    moment,
    optional,
    require,
    typed_roll,
)
from web.responses import as_json, ok, snapshot
from web.sse import Streams
from web.views import games, pages, seats, tray
from web.views.seats import own_seat


def blueprint(context: AppContext, streams: Streams) -> Blueprint:
    """Make the blueprint with the pages and the API, except the setup."""
    api = Blueprint("pages", __name__)
    session = context.session

    # -- reading --------------------------------------------------------------------------

    @api.get("/healthz")
    def health() -> Response:
        now = context.equipment()
        return as_json(
            {"status": "ok", "version": context.version, "camera": now.camera, "button": now.button}
        )

    @api.get("/api/openapi.json")
    def description() -> Response:
        return as_json(openapi.document(context.version))

    @api.get("/api/state")
    def state() -> Response:
        return snapshot(context)

    @api.get("/api/events")
    def events() -> Response:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        if request.method == "HEAD":
            return Response(mimetype="text/event-stream", headers=headers)
        stream = streams.open(context.client())
        if stream is None:
            message = context.phrases.say("page.too_many_streams")
            response = as_json({"error": "TOO_MANY_STREAMS", "message": message}, 503)
            response.headers["Retry-After"] = "5"
            return response
        return Response(stream, mimetype="text/event-stream", headers=headers)

    @api.post("/api/language")
    def language() -> Response:
        asked = body()
        wanted = optional(asked, "language", str)
        if wanted is not None and wanted not in LANGUAGES:
            raise bad("asked.language", language=wanted)
        response = snapshot(context)
        locale.choose(response, wanted)
        return response

    # -- the game -------------------------------------------------------------------------

    @api.post("/api/start")
    def start() -> Response:
        asked = body()
        first = optional(asked, "first", int)
        variant = (
            require(asked, "variant", str, longest=LONGEST_TOKEN) if "variant" in asked else "base"
        )
        house = require(asked, "house", list) if "house" in asked else []
        if not all(isinstance(rule, str) for rule in house):
            raise bad("asked.text", field="house")
        context.lead()
        return ok(context, session.start(variant, first, house))

    @api.post("/api/answer")
    def answer() -> Response:
        asked = body()
        seat = own_seat(context, asked)
        refusal = session.answer(
            seat,
            require(asked, "turn", int),
            require(asked, "action", int),
            box(asked),
            done=require(asked, "done", bool) if "done" in asked else False,
            key=key(asked),
            rolled=optional(asked, "rolled", int),
        )
        return ok(context, refusal)

    @api.post("/api/answer_for")
    def answer_for() -> Response:
        asked = body()
        turn, action, rolled = (
            require(asked, "turn", int),
            require(asked, "action", int),
            optional(asked, "rolled", int),
        )
        seat, chosen = require(asked, "seat", int), box(asked)
        context.lead()
        refusal = session.answer(
            seat, turn, action, chosen, done=True, rolled=rolled, is_by_host=True
        )
        return ok(context, refusal)

    @api.post("/api/withdraw")
    def withdraw() -> Response:
        asked = body()
        seat = own_seat(context, asked)
        turn, action, rolled = (
            require(asked, "turn", int),
            require(asked, "action", int),
            optional(asked, "rolled", int),
        )
        return ok(context, session.withdraw(seat, turn, action, key=key(asked), rolled=rolled))

    @api.post("/api/press")
    def press() -> Response:
        body()
        return ok(context, context.press())

    @api.post("/api/roll")
    def roll() -> Response:
        asked = body()
        entered = typed_roll(asked)
        is_unseen = context.equipment().typed_rolls or session.view().tray.status.is_blind
        if not (is_unseen and session.seats_of(context.client().tokens)):
            context.lead()  # a player may enter dice only where no camera sees them
        return ok(context, session.typed_roll(entered, due(asked)))

    @api.post("/api/correct")
    def correct() -> Response:
        asked = body()
        context.lead()
        return ok(context, session.correct_roll(typed_roll(asked), moment(asked)))

    @api.post("/api/close")
    def close() -> Response:
        asked = body()
        context.lead()
        return ok(context, session.close_action(moment(asked)))

    @api.post("/api/undo")
    def undo() -> Response:
        asked = body()
        context.lead()
        return ok(context, session.undo(moment(asked)))

    @api.post("/api/end")
    def end() -> Response:
        asked = body()
        context.lead()
        return ok(context, session.end(moment(asked)))

    @api.post("/api/rematch")
    def rematch() -> Response:
        body()
        context.lead()
        return ok(context, session.rematch())

    @api.post("/api/say")
    def say() -> Response:
        body()
        context.at_the_table()
        session.say_again()
        return snapshot(context)

    pages.install(api, context)
    seats.install(api, context)
    tray.install(api, context)
    games.install(api, context)
    return api
