"""The pages and the game's calls: parse the request, ask the session, render the answer."""

from __future__ import annotations

import logging
from typing import Any

from flask import Blueprint, Flask, Response, make_response, render_template, request
from werkzeug.exceptions import HTTPException

from companion.errors import StoreError
from companion.history.standings import remembered
from companion.messages.catalogue import LANGUAGES, Phrases, line
from web import locale, openapi, qr, security
from web.context import Desk
from web.params import LONGEST_TOKEN, bad, body, box, due, key, maybe, moment, typed_roll, want
from web.responses import as_json, settled, snapshot
from web.security import Refused
from web.sse import Streams
from web.views import games, seats, tray
from web.views.seats import own_seat

LOGGER = logging.getLogger(__name__)

MOST_NAMES = 12
"""Names of earlier players that are offered to a newcomer."""


def blueprint(desk: Desk, streams: Streams) -> Blueprint:
    """Every page and every call of the API."""
    pages = Blueprint("pages", __name__)
    session = desk.session

    # -- pages ----------------------------------------------------------------------------

    def page(template: str, phrases: Phrases | None = None, **more: Any) -> Response:
        shared = words(desk, phrases or desk.phrases)
        response = make_response(render_template(template, **shared, **more))
        if security.browser_id(request) is None:
            security.set_browser_id(response, security.new_browser_id())
        return response

    @pages.get("/")
    def play() -> Response:
        return page("play.html", known_names=remembered(session.games())[:MOST_NAMES])

    @pages.get("/table")
    def table() -> Response:
        return page("table.html", session.phrases)  # the television is the table's own screen

    @pages.get("/host")
    def host() -> Response:
        return page("host.html")

    @pages.get("/games")
    def all_games() -> Response:
        return page("games.html")

    @pages.get("/join.svg")
    def join_code() -> Response:
        address = f"{desk.join_url() or request.host_url}?code={desk.code}"
        return Response(qr.as_svg(address), mimetype="image/svg+xml")

    @pages.get("/wifi.svg")
    def wifi_code() -> Response:
        wifi = desk.wifi()
        if not wifi.name:
            raise Refused(404, "NO_WIFI", line("page.http.404"))
        return Response(qr.wifi_as_svg(wifi.name, wifi.password), mimetype="image/svg+xml")

    # -- reading --------------------------------------------------------------------------

    @pages.get("/healthz")
    def health() -> Response:
        now = desk.equipment()
        return as_json(
            {"status": "ok", "version": desk.version, "camera": now.camera, "button": now.button}
        )

    @pages.get("/api/openapi.json")
    def description() -> Response:
        return as_json(openapi.document(desk.version))

    @pages.get("/api/state")
    def state() -> Response:
        return snapshot(desk)

    @pages.get("/api/events")
    def events() -> Response:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        if request.method == "HEAD":
            return Response(mimetype="text/event-stream", headers=headers)
        stream = streams.open(desk.caller())
        if stream is None:
            message = desk.phrases.say("page.too_many_streams")
            response = as_json({"error": "TOO_MANY_STREAMS", "message": message}, 503)
            response.headers["Retry-After"] = "5"
            return response
        return Response(stream, mimetype="text/event-stream", headers=headers)

    @pages.post("/api/language")
    def language() -> Response:
        asked = body()
        wanted = maybe(asked, "language", str)
        if wanted is not None and wanted not in LANGUAGES:
            raise bad("asked.language", language=wanted)
        response = snapshot(desk)
        locale.choose(response, wanted)
        return response

    # -- the game -------------------------------------------------------------------------

    @pages.post("/api/start")
    def start() -> Response:
        asked = body()
        first = maybe(asked, "first", int)
        variant = (
            want(asked, "variant", str, longest=LONGEST_TOKEN) if "variant" in asked else "base"
        )
        house = want(asked, "house", list) if "house" in asked else []
        if not all(isinstance(rule, str) for rule in house):
            raise bad("asked.text", field="house")
        desk.lead()
        return settled(desk, session.start(variant, first, house))

    @pages.post("/api/answer")
    def answer() -> Response:
        asked = body()
        seat = own_seat(desk, asked)
        rejected = session.answer(
            seat,
            want(asked, "turn", int),
            want(asked, "action", int),
            box(asked),
            done=want(asked, "done", bool) if "done" in asked else False,
            key=key(asked),
            rolled=maybe(asked, "rolled", int),
        )
        return settled(desk, rejected)

    @pages.post("/api/answer_for")
    def answer_for() -> Response:
        asked = body()
        turn, action, rolled = (
            want(asked, "turn", int),
            want(asked, "action", int),
            maybe(asked, "rolled", int),
        )
        seat, chosen = want(asked, "seat", int), box(asked)
        desk.lead()
        rejected = session.answer(
            seat, turn, action, chosen, done=True, rolled=rolled, is_by_host=True
        )
        return settled(desk, rejected)

    @pages.post("/api/withdraw")
    def withdraw() -> Response:
        asked = body()
        seat = own_seat(desk, asked)
        turn, action, rolled = (
            want(asked, "turn", int),
            want(asked, "action", int),
            maybe(asked, "rolled", int),
        )
        return settled(desk, session.withdraw(seat, turn, action, key=key(asked), rolled=rolled))

    @pages.post("/api/press")
    def press() -> Response:
        body()
        return settled(desk, desk.press())

    @pages.post("/api/roll")
    def roll() -> Response:
        asked = body()
        entered = typed_roll(asked)
        is_unseen = desk.equipment().typed_rolls or session.view().tray.status.is_blind
        if not (is_unseen and session.seats_of(desk.caller().tokens)):
            desk.lead()  # where no camera sees them who plays enters the dice, else the host does
        return settled(desk, session.typed_roll(entered, due(asked)))

    @pages.post("/api/correct")
    def correct() -> Response:
        asked = body()
        desk.lead()
        return settled(desk, session.correct_roll(typed_roll(asked), moment(asked)))

    @pages.post("/api/close")
    def close() -> Response:
        asked = body()
        desk.lead()
        return settled(desk, session.close_action(moment(asked)))

    @pages.post("/api/undo")
    def undo() -> Response:
        asked = body()
        desk.lead()
        return settled(desk, session.undo(moment(asked)))

    @pages.post("/api/end")
    def end() -> Response:
        asked = body()
        desk.lead()
        return settled(desk, session.end(moment(asked)))

    @pages.post("/api/rematch")
    def rematch() -> Response:
        body()
        desk.lead()
        return settled(desk, session.rematch())

    @pages.post("/api/say")
    def say() -> Response:
        body()
        desk.at_the_table()
        session.say_again()
        return snapshot(desk)

    seats.install(pages, desk)
    tray.install(pages, desk)
    games.install(pages, desk)
    return pages


def words(desk: Desk, phrases: Phrases) -> dict[str, Any]:
    """What every template is given: its sentences, and those for its scripts."""
    return {
        "t": lambda key, **data: phrases.say(f"page.{key}", **data),
        "phrases": phrases.for_pages(),
        "language": phrases.language,
        "languages": locale.names(),
        "chosen_language": locale.chosen(request),
        "table_name": desk.name,
    }


def install_errors(app: Flask, desk: Desk) -> None:
    """Turn what went wrong into a sentence: JSON for programs, for people a page."""

    def tell(refused: Refused) -> Response:
        if request.path.startswith("/api/") or request.method == "POST":
            message = desk.phrases.tell(refused.said)
            return as_json({"error": refused.code, "message": message}, refused.status)
        phrases = desk.phrases
        shared = words(desk, phrases)
        text = render_template("error.html", message=phrases.tell(refused.said), **shared)
        return make_response(text, refused.status)

    @app.errorhandler(Refused)
    def refused(error: Refused) -> Response:
        return tell(error)

    @app.errorhandler(HTTPException)
    def http(error: HTTPException) -> Response:
        status = error.code or 500
        key = f"page.http.{status}"
        said = line(key if key in desk.phrases else "page.http.other")
        response = tell(Refused(status, f"HTTP_{status}", said))
        if allow := error.get_response().headers.get("Allow"):
            response.headers["Allow"] = allow
        return response

    @app.errorhandler(StoreError)
    def not_kept(error: StoreError) -> Response:
        LOGGER.error("not kept: %s", error)
        return tell(Refused(503, "NOT_KEPT", line("page.not_kept")))
