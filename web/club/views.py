"""A club's pages and calls: parse the request, call the club, return the snapshot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from flask import Blueprint, Response, make_response, request

from companion.eventlog.names import LONGEST_NAME
from companion.history.export import MARK
from companion.messages.catalogue import line
from companion.mqtt.club.evening import Declined
from companion.mqtt.club.export import as_csv, as_json
from web import qr, security
from web.client import check_code
from web.club import wire
from web.club.context import ClubContext
from web.club.snapshot import address_of
from web.params import body
from web.responses import failed, snapshot
from web.security import Refused
from web.sse import Streams
from web.views import assets, live
from web.views.pages import first_state, render_page

FORMS = {"csv": "text/csv", "json": "application/json"}
"""Formats of an evening's export."""


def blueprint(context: ClubContext, streams: Streams) -> Blueprint:
    """Make the blueprint with a club's pages and calls."""
    pages = Blueprint("club", __name__)
    club = context.club
    assets.install(pages, context.name)

    def page(template: str) -> Response:
        return render_page(context, template, state=first_state(context))

    def changed(step: Callable[[], None]) -> Response:
        """Make an organiser's change; return the snapshot, or why it was declined."""
        context.lead()
        try:
            step()
        except Declined as declined:
            message = context.phrases.say(_reason(declined.code), longest=LONGEST_NAME)
            return failed(declined.code, message, 409)
        return snapshot(context)

    @pages.get("/")
    def screen() -> Response:
        return page("club.html")

    @pages.get("/organise")
    def organise() -> Response:
        return page("club-organise.html")

    @pages.get("/join.svg")
    def join_code() -> Response:
        return Response(qr.as_svg(context.join_url() or request.host_url), mimetype="image/svg+xml")

    @pages.get("/tables/<table>.svg")
    def table_code(table: str) -> Response:
        found = next((each for each in club.view().tables if each.id == table), None)
        address = address_of(found) if found is not None else ""
        if not address:
            raise Refused(404, "NO_TABLE", line("page.http.404"))
        return Response(qr.as_svg(address), mimetype="image/svg+xml")

    @pages.get("/export/<evening>.<form>")
    def export(evening: str, form: str) -> Response:
        found = club.summary(evening) if form in FORMS else None
        if found is None:
            raise Refused(404, "NO_EVENING", line("page.http.404"))
        text = MARK + as_csv(found.done) if form == "csv" else as_json(found)
        named = {"Content-Disposition": f'attachment; filename="club-{evening}.{form}"'}
        return Response(text, mimetype=FORMS[form], headers=named)

    @pages.get("/healthz")
    def health() -> Response:
        known = {"status": "ok", "version": context.version}
        return make_response(known | {"broker": "ok" if context.has_broker() else "lost"})

    live.install(pages, context, streams, context.is_organiser)

    @pages.post("/api/organiser")
    def organiser() -> Response:
        given = body(wire.Pin).pin
        client = context.client()
        if not context.is_organiser(client):
            pin, wrong = context.access.pin, "page.club.wrong_pin"
            check_code(context.limiter, given, pin, "BAD_PIN", wrong)
        device = client.device or context.access.new_device()
        context.access.admit(device)
        response = snapshot(context, replace(client, device=device))
        security.set_browser_id(response, device)
        return response

    @pages.post("/api/players/add")
    def add() -> Response:
        name = body(wire.Player).name
        return changed(lambda: club.add(name))

    @pages.post("/api/players/remove")
    def remove() -> Response:
        name = body(wire.Player).name
        return changed(lambda: club.remove(name))

    @pages.post("/api/form")
    def choose() -> Response:
        form = body(wire.Form)
        return changed(lambda: club.choose(form.system, form.size))

    @pages.post("/api/rounds/draw")
    def draw() -> Response:
        number = body(wire.Number).number
        return changed(lambda: club.draw(number))

    @pages.post("/api/rounds/take-back")
    def take_back() -> Response:
        number = body(wire.Number).number
        return changed(lambda: club.take_back(number))

    return pages


def _reason(code: str) -> str:
    """The catalogue's key of a declined change."""
    shared = ("NAME_EMPTY", "NAME_TOO_LONG")
    return f"declined.{code}" if code in shared else f"page.club.declined.{code}"
