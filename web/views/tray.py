"""The API calls of the tray: its picture, throws, corrected dice, kept pictures."""

from __future__ import annotations

from flask import Blueprint, Response

from companion.engine import DieColour
from companion.errors import StoreError
from companion.messages.catalogue import line
from companion.session.session import Rejected
from web.context import AppContext
from web.params import bad, body, optional, required
from web.responses import as_json, ok, rejected, snapshot
from web.security import Refused
from web.wire import replies, requests


def install(pages: Blueprint, context: AppContext) -> None:
    """Add the calls to a blueprint."""
    session = context.session

    @pages.get("/api/frame.jpg")
    def frame() -> Response:
        number = optional("n")
        context.inside()
        return _jpeg(context.tray.jpeg(number) if context.tray is not None else None)

    @pages.post("/api/throw")
    def throw() -> Response:
        mishap = body(requests.Throw).mishap
        context.at_the_tray()
        simulator = context.simulator
        if simulator is None:
            raise Refused(409, "CANNOT_THROW", line("page.cannot_throw"))
        if mishap is not None and mishap not in simulator.mishaps:
            raise bad("asked.unknown", field="mishap", value=mishap[:40])
        view = session.view()
        if view.table.game is not None and view.table.game.state.action:
            return rejected(context, Rejected("WRONG_PHASE", (line("page.throw_later"),), "E9"))
        simulator.throw(mishap=mishap)
        return snapshot(context)

    @pages.post("/api/trouble")
    def trouble() -> Response:
        named = body(requests.Trouble).trouble
        context.at_the_table()
        if context.simulator is None:
            raise Refused(409, "CANNOT_THROW", line("page.cannot_throw"))
        if named not in context.simulator.troubles:
            raise bad("asked.unknown", field="trouble", value=named[:40])
        context.simulator.trouble(named)
        return snapshot(context)

    @pages.post("/api/die")
    def die() -> Response:
        right = body(requests.FixDie)
        context.at_the_table()
        at = (right.x, right.y)
        colour = None if right.colour is None else DieColour(right.colour)
        return ok(context, session.fix_die(right.frame, at, right.value, colour))

    @pages.post("/api/reoffer")
    def reoffer() -> Response:
        body(requests.Nothing)
        context.at_the_table()
        if context.tray is not None:
            context.tray.reoffer()
        return snapshot(context)

    @pages.get("/api/pictures")
    def pictures() -> Response:
        context.lead()
        kept = context.pictures.all() if context.pictures is not None else []
        found = [replies.KeptPicture(p.revision, p.game, p.turn, p.at, p.size) for p in kept]
        return as_json(replies.Pictures(found))

    @pages.get("/api/picture.jpg")
    def picture() -> Response:
        revision = required("revision")
        context.inside()
        return _jpeg(context.pictures.jpeg(revision) if context.pictures is not None else None)

    @pages.post("/api/pictures/delete")
    def delete_pictures() -> Response:
        revision = body(requests.Picture).revision
        context.lead()
        try:
            gone = context.pictures.delete(revision) if context.pictures is not None else 0
        except OSError as error:
            raise StoreError(f"a picture cannot be deleted: {error}") from error
        if revision is not None and not gone:
            raise Refused(404, "NO_PICTURE", line("page.no_picture"))
        return snapshot(context)


def _jpeg(data: bytes | None) -> Response:
    if data is None:
        raise Refused(404, "NO_PICTURE", line("page.no_picture"))
    return Response(data, mimetype="image/jpeg")
