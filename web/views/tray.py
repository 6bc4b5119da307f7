"""The tray's part of the API: its picture, throwing, dice put right by hand, kept pictures."""

from __future__ import annotations

from typing import Any

from flask import Blueprint, Response, request

from companion.engine import DieColour
from companion.errors import CameraUnavailable, StoreError
from companion.messages.catalogue import line
from companion.session.session import Rejected
from web.context import Desk
from web.params import bad, body, maybe, want
from web.responses import as_json, problem, settled, snapshot
from web.security import Refused


def install(pages: Blueprint, desk: Desk) -> None:
    """Add the calls to a blueprint."""
    session = desk.session

    @pages.get("/api/frame.jpg")
    def frame() -> Response:
        number = request.args.get("n", type=int)
        if "n" in request.args and number is None:
            raise bad("asked.number", field="n")
        return _jpeg(desk.tray.jpeg(number) if desk.tray is not None else None)

    @pages.post("/api/throw")
    def throw() -> Response:
        asked = body()
        mishap = maybe(asked, "mishap", str)
        if mishap is not None and (desk.tray is None or mishap not in desk.tray.mishaps):
            raise bad("asked.unknown", field="mishap", value=mishap[:40])
        view = session.view()
        if view.table.game is not None and view.table.game.state.action:
            return problem(desk, Rejected("WRONG_PHASE", (line("page.throw_later"),), "E9"))
        try:
            if desk.tray is None:
                raise CameraUnavailable("throw: there is no camera")
            desk.tray.throw(mishap=mishap)
        except CameraUnavailable as error:
            raise Refused(409, "CANNOT_THROW", line("page.cannot_throw")) from error
        return snapshot(desk)

    @pages.post("/api/trouble")
    def trouble() -> Response:
        named = want(body(), "trouble", str)
        desk.at_the_table()
        if desk.tray is None or not desk.tray.can_throw:
            raise Refused(409, "CANNOT_THROW", line("page.cannot_throw"))
        if named not in desk.tray.troubles:
            raise bad("asked.unknown", field="trouble", value=named[:40])
        desk.tray.trouble(named)
        return snapshot(desk)

    @pages.post("/api/die")
    def die() -> Response:
        asked = body()
        at = (_number(asked, "x"), _number(asked, "y"))
        colour = maybe(asked, "colour", str)
        if colour is not None and colour not in {each.value for each in DieColour}:
            raise bad("asked.unknown", field="colour", value=colour[:40])
        frame, value = want(asked, "frame", int), want(asked, "value", int)
        desk.at_the_table()
        return settled(
            desk, session.fix_die(frame, at, value, DieColour(colour) if colour else None)
        )

    @pages.post("/api/reoffer")
    def reoffer() -> Response:
        body()
        desk.at_the_table()
        if desk.tray is not None:
            desk.tray.reoffer()
        return snapshot(desk)

    @pages.get("/api/pictures")
    def pictures() -> Response:
        desk.lead()
        kept = desk.pictures.all() if desk.pictures is not None else []
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
        desk.lead()
        return _jpeg(desk.pictures.jpeg(revision) if desk.pictures is not None else None)

    @pages.post("/api/pictures/delete")
    def delete_pictures() -> Response:
        asked = body()
        revision = maybe(asked, "revision", int)
        desk.lead()
        try:
            gone = desk.pictures.delete(revision) if desk.pictures is not None else 0
        except OSError as error:
            raise StoreError(f"a picture cannot be deleted: {error}") from error
        if revision is not None and not gone:
            raise Refused(404, "NO_PICTURE", line("page.no_picture"))
        return snapshot(desk)


def _jpeg(data: bytes | None) -> Response:
    if data is None:
        raise Refused(404, "NO_PICTURE", line("page.no_picture"))
    return Response(data, mimetype="image/jpeg")


def _number(asked: dict[str, Any], name: str) -> float:
    value = asked.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e6:
        raise bad("asked.number", field=name)
    return float(value)
