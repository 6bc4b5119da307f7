"""The tray's part of the API: its picture, throwing, dice put right by hand, kept pictures."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, request

from companion.engine import DieColour
from companion.errors import StoreError
from companion.messages.catalogue import line
from companion.session.session import Rejected
from web.context import AppContext
from web.params import bad, body, optional, require
from web.responses import as_json, ok, rejected, snapshot
from web.security import Refused


def install(pages: Blueprint, context: AppContext) -> None:
    """Add the calls to a blueprint."""
    session = context.session

    @pages.get("/api/frame.jpg")
    def frame() -> Response:
        number = request.args.get("n", type=int)
        if "n" in request.args and number is None:
            raise bad("asked.number", field="n")
        return _jpeg(context.tray.jpeg(number) if context.tray is not None else None)

    @pages.post("/api/throw")
    def throw() -> Response:
        asked = body()
        mishap = optional(asked, "mishap", str)
        if mishap is not None and (
            context.simulator is None or mishap not in context.simulator.mishaps
        ):
            raise bad("asked.unknown", field="mishap", value=mishap[:40])
        view = session.view()
        if view.table.game is not None and view.table.game.state.action:
            return rejected(context, Rejected("WRONG_PHASE", (line("page.throw_later"),), "E9"))
        if context.simulator is None:
            raise Refused(409, "CANNOT_THROW", line("page.cannot_throw"))
        context.simulator.throw(mishap=mishap)
        return snapshot(context)

    @pages.post("/api/trouble")
    def trouble() -> Response:
        named = require(body(), "trouble", str)
        context.at_the_table()
        if context.simulator is None:
            raise Refused(409, "CANNOT_THROW", line("page.cannot_throw"))
        if named not in context.simulator.troubles:
            raise bad("asked.unknown", field="trouble", value=named[:40])
        context.simulator.trouble(named)
        return snapshot(context)

    @pages.post("/api/die")
    def die() -> Response:
        asked = body()
        at = (_number(asked, "x"), _number(asked, "y"))
        colour = optional(asked, "colour", str)
        if colour is not None and colour not in {each.value for each in DieColour}:
            raise bad("asked.unknown", field="colour", value=colour[:40])
        frame, value = require(asked, "frame", int), require(asked, "value", int)
        context.at_the_table()
        return ok(context, session.fix_die(frame, at, value, DieColour(colour) if colour else None))

    @pages.post("/api/reoffer")
    def reoffer() -> Response:
        body()
        context.at_the_table()
        if context.tray is not None:
            context.tray.reoffer()
        return snapshot(context)

    @pages.get("/api/pictures")
    def pictures() -> Response:
        context.lead()
        kept = context.pictures.all() if context.pictures is not None else []
        told = [
            {
                "revision": each.revision,
                "game": each.game,
                "turn": each.turn,
                "at": each.at,
                "size": each.size,
            }
            for each in kept
        ]
        return as_json({"pictures": told})

    @pages.get("/api/picture.jpg")
    def picture() -> Response:
        revision = request.args.get("revision", type=int)
        if revision is None:
            raise bad("asked.number", field="revision")
        context.lead()
        return _jpeg(context.pictures.jpeg(revision) if context.pictures is not None else None)

    @pages.post("/api/pictures/delete")
    def delete_pictures() -> Response:
        asked = body()
        revision = optional(asked, "revision", int)
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


def _number(asked: dict[str, Any], name: str) -> float:
    value = asked.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e6:
        raise bad("asked.number", field=name)
    return float(value)
