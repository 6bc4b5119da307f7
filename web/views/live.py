"""The snapshot, once and as a stream, and the browser's language; for tables and clubs."""

from __future__ import annotations

from collections.abc import Callable

from flask import Blueprint, Response, request

from web import locale
from web.client import Client
from web.params import body
from web.ports import Site
from web.responses import failed, snapshot
from web.sse import Streams
from web.wire import requests
from web.wsgi import STREAM

RETRY_AFTER_S = 5
"""Seconds after which a browser without a place may ask again."""


def install(
    pages: Blueprint, site: Site, streams: Streams, is_inside: Callable[[Client], bool]
) -> None:
    """Add the calls to a blueprint.

    Args:
        is_inside: Whether a device's stream has a place that spectators cannot take.
    """

    @pages.get("/api/state")
    def state() -> Response:
        return snapshot(site)

    @pages.post("/api/language")
    def language() -> Response:
        chosen = body(requests.ChooseLanguage).language
        response = snapshot(site)
        locale.choose(response, chosen)
        return response

    @pages.get("/api/events")
    def events() -> Response:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        if request.method == "HEAD":
            return Response(mimetype="text/event-stream", headers=headers)
        client = site.client()
        stream = streams.open(client, is_inside=is_inside(client))
        if stream is None:
            message = site.phrases.say("page.too_many_streams")
            response = failed("TOO_MANY_STREAMS", message, 503)
            response.headers["Retry-After"] = str(RETRY_AFTER_S)
            return response
        request.environ[STREAM] = stream
        return Response(mimetype="text/event-stream", headers=headers)
