"""One blueprint: parse the request, ask the session, render the answer."""

from __future__ import annotations

import logging
from typing import Any

from flask import Blueprint, Flask, Response, make_response, render_template, request
from werkzeug.exceptions import HTTPException

from companion.errors import CameraUnavailable, StoreError
from companion.phrases import LANGUAGES, Phrases, line
from companion.session import Declined, Joined
from web import guard, languages, openapi, qr
from web.asked import bad, body, box, key, typed_roll, want
from web.desk import Desk, dumps
from web.guard import Refused
from web.stream import Streams

LOGGER = logging.getLogger(__name__)

STALE = frozenset(
    [
        "WRONG_PHASE",
        "GAME_OVER",
        "GAME_RUNNING",
        "NO_GAME",
        "NOT_READABLE",
        "NAME_TAKEN",
        "TABLE_FULL",
        "SEAT_IN_GAME",
        "NO_PLAYERS",
        "ALREADY_SEATED",
    ]
)
"""Refused because of how things stand (409), not because of what was asked (422)."""

FORBIDDEN = frozenset({"NOT_IN_GAME"})
"""Refused because of who asks (403)."""


def blueprint(desk: Desk, streams: Streams) -> Blueprint:
    """Every page and every call of the API."""
    pages = Blueprint("pages", __name__)
    session = desk.session

    # -- pages ----------------------------------------------------------------------------

    def page(template: str, phrases: Phrases | None = None) -> Response:
        shared = words(desk, phrases or desk.phrases)
        response = make_response(render_template(template, **shared))
        if guard.browser_id(request) is None:
            guard.set_browser_id(response)
        return response

    @pages.get("/")
    def play() -> Response:
        return page("play.html")

    @pages.get("/table")
    def table() -> Response:
        return page("table.html", session.phrases)  # the television is the table's own screen

    @pages.get("/host")
    def host() -> Response:
        return page("host.html")

    @pages.get("/join.svg")
    def join_code() -> Response:
        return Response(qr.as_svg(desk.join_url() or request.host_url), mimetype="image/svg+xml")

    # -- reading --------------------------------------------------------------------------

    @pages.get("/healthz")
    def health() -> Response:
        now = desk.equipment()
        return _json(
            {"status": "ok", "version": desk.version, "camera": now.camera, "button": now.button}
        )

    @pages.get("/api/openapi.json")
    def description() -> Response:
        return _json(openapi.document(desk.version))

    @pages.get("/api/state")
    def state() -> Response:
        return _state(desk, desk.seat())

    @pages.get("/api/events")
    def events() -> Response:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        if request.method == "HEAD":
            return Response(mimetype="text/event-stream", headers=headers)
        stream = streams.open(guard.browser_id(request), desk.seat(), desk.phrases.language)
        if stream is None:
            message = desk.phrases.say("page.too_many_streams")
            response = _json({"error": "TOO_MANY_STREAMS", "message": message}, 503)
            response.headers["Retry-After"] = "5"
            return response
        return Response(stream, mimetype="text/event-stream", headers=headers)

    @pages.get("/api/frame.jpg")
    def frame() -> Response:
        number = request.args.get("n", type=int)
        if "n" in request.args and number is None:
            raise bad("asked.number", field="n")
        data = desk.tray.jpeg(number) if desk.tray is not None else None
        if data is None:
            raise Refused(404, "NO_PICTURE", line("page.no_picture"))
        return Response(data, mimetype="image/jpeg")

    # -- people ---------------------------------------------------------------------------

    @pages.post("/api/join")
    def join() -> Response:
        name = want(body(), "name", str)
        own = desk.seat()
        if own is not None:
            seated = session.view().table.name(own)
            said = line("page.already_seated", name=seated)
            return _declined(desk, own, Declined("ALREADY_SEATED", (said,)))
        joined = session.join(name)
        if not isinstance(joined, Joined):
            return _declined(desk, None, joined)
        response = _state(desk, joined.seat)
        guard.set_seat(response, joined.token)
        return response

    @pages.post("/api/leave")
    def leave() -> Response:
        body()
        seat = own_seat(desk)
        declined = session.leave(seat)
        if declined is not None:
            return _declined(desk, seat, declined)
        response = _state(desk, None)
        guard.drop_seat(response)
        return response

    @pages.post("/api/language")
    def language() -> Response:
        asked = body()
        wanted = want(asked, "language", str) if asked.get("language") is not None else None
        if wanted is not None and wanted not in LANGUAGES:
            raise bad("asked.language", language=wanted)
        response = _state(desk, desk.seat())
        languages.choose(response, wanted)
        return response

    # -- the game -------------------------------------------------------------------------

    @pages.post("/api/start")
    def start() -> Response:
        asked = body()
        first = want(asked, "first", int) if asked.get("first") is not None else None
        variant = want(asked, "variant", str) if "variant" in asked else "base"
        house = want(asked, "house", list) if "house" in asked else []
        if not all(isinstance(rule, str) for rule in house):
            raise bad("asked.text", field="house")
        return _settled(desk, session.start(variant, first, house))

    @pages.post("/api/answer")
    def answer() -> Response:
        asked = body()
        seat = own_seat(desk, asked)
        declined = session.answer(
            seat,
            want(asked, "turn", int),
            want(asked, "action", int),
            box(asked),
            done=want(asked, "done", bool) if "done" in asked else False,
            key=key(asked),
        )
        return _settled(desk, declined, seat)

    @pages.post("/api/answer_for")
    def answer_for() -> Response:
        asked = body()
        turn, action = want(asked, "turn", int), want(asked, "action", int)
        seat, chosen = want(asked, "seat", int), box(asked)
        return _settled(
            desk, session.answer(seat, turn, action, chosen, done=True, is_by_host=True)
        )

    @pages.post("/api/withdraw")
    def withdraw() -> Response:
        asked = body()
        seat = own_seat(desk, asked)
        turn, action = want(asked, "turn", int), want(asked, "action", int)
        return _settled(desk, session.withdraw(seat, turn, action, key=key(asked)), seat)

    @pages.post("/api/press")
    def press() -> Response:
        body()
        return _settled(desk, desk.press())

    @pages.post("/api/throw")
    def throw() -> Response:
        body()
        view = session.view()
        if view.table.game is not None and view.table.game.state.action:
            said = line("page.throw_later")
            return _declined(desk, desk.seat(), Declined("WRONG_PHASE", (said,), "E9"))
        try:
            if desk.tray is None:
                raise CameraUnavailable("throw: there is no camera")
            desk.tray.throw()
        except CameraUnavailable as error:
            raise Refused(409, "CANNOT_THROW", line("page.cannot_throw")) from error
        return _state(desk, desk.seat())

    @pages.post("/api/roll")
    def roll() -> Response:
        return _settled(desk, session.typed_roll(typed_roll(body())))

    @pages.post("/api/correct")
    def correct() -> Response:
        return _settled(desk, session.correct_roll(typed_roll(body())))

    @pages.post("/api/close")
    def close() -> Response:
        body()
        return _settled(desk, session.close_action())

    @pages.post("/api/undo")
    def undo() -> Response:
        body()
        return _settled(desk, session.undo())

    @pages.post("/api/free")
    def free() -> Response:
        return _settled(desk, session.leave(want(body(), "seat", int)))

    @pages.post("/api/end")
    def end() -> Response:
        body()
        return _settled(desk, session.end())

    @pages.post("/api/rematch")
    def rematch() -> Response:
        body()
        return _settled(desk, session.rematch())

    @pages.post("/api/say")
    def say() -> Response:
        body()
        session.say_again()
        return _state(desk, desk.seat())

    return pages


def own_seat(desk: Desk, asked: dict[str, Any] | None = None) -> int:
    """The seat the caller proves; a seat that is named has to be that one.

    Raises:
        Refused: The caller has no seat, or means somebody else's.
    """
    own = desk.seat()
    if own is None:
        raise Refused(403, "NOT_SEATED", line("page.not_seated"))
    if asked is not None and asked.get("seat") is not None and want(asked, "seat", int) != own:
        raise Refused(403, "NOT_YOUR_SEAT", line("page.not_your_seat"))
    return own


def words(desk: Desk, phrases: Phrases) -> dict[str, Any]:
    """What every template is given: its sentences, and those for its scripts."""
    return {
        "t": lambda key, **data: phrases.say(f"page.{key}", **data),
        "phrases": phrases.for_pages(),
        "language": phrases.language,
        "languages": languages.names(),
        "chosen_language": languages.chosen(request),
        "table_name": desk.name,
    }


# -- answering ----------------------------------------------------------------------------


def _json(value: object, status: int = 200) -> Response:
    return Response(dumps(value), status, mimetype="application/json")


def _state(desk: Desk, seat: int | None) -> Response:
    return Response(desk.render(seat, desk.phrases.language)[1], mimetype="application/json")


def _settled(desk: Desk, declined: Declined | None, seat: int | None = None) -> Response:
    seat = desk.seat() if seat is None else seat
    return _state(desk, seat) if declined is None else _declined(desk, seat, declined)


def _declined(desk: Desk, seat: int | None, declined: Declined) -> Response:
    status = 409 if declined.code in STALE else 403 if declined.code in FORBIDDEN else 422
    phrases = desk.phrases
    message = phrases.tell(*declined.lines)
    told = {"error": declined.code, "ruling": declined.ruling, "message": message}
    state = desk.render(seat, phrases.language)[1]
    return Response(f'{dumps(told)[:-1]},"state":{state}}}', status, mimetype="application/json")


def install_errors(app: Flask, desk: Desk) -> None:
    """Turn what went wrong into a sentence: JSON for programs, for people a page."""

    def tell(refused: Refused) -> Response:
        if request.path.startswith("/api/") or request.method == "POST":
            message = desk.phrases.tell(refused.said)
            return _json({"error": refused.code, "message": message}, refused.status)
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
