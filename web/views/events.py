"""The stream of live updates, for a table's pages and for a club's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from flask import Blueprint, Response, request

from companion.messages.catalogue import Phrases
from web.client import Client
from web.responses import failed
from web.sse import Streams
from web.wsgi import STREAM

RETRY_AFTER_S = 5
"""Seconds after which a browser without a place may ask again."""


class Context(Protocol):
    """The part of a request's context that the view needs."""

    @property
    def phrases(self) -> Phrases:
        """The catalogue in the language of the page that sent the request."""

    def client(self) -> Client:
        """Return the device that sent the request."""


def install(
    pages: Blueprint, context: Context, streams: Streams, is_inside: Callable[[Client], bool]
) -> None:
    """Add the stream to a blueprint.

    Args:
        is_inside: Whether a device's stream has a place that spectators cannot take.
    """

    @pages.get("/api/events")
    def events() -> Response:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        if request.method == "HEAD":
            return Response(mimetype="text/event-stream", headers=headers)
        client = context.client()
        stream = streams.open(client, is_inside=is_inside(client))
        if stream is None:
            message = context.phrases.say("page.too_many_streams")
            response = failed("TOO_MANY_STREAMS", message, 503)
            response.headers["Retry-After"] = str(RETRY_AFTER_S)
            return response
        request.environ[STREAM] = stream
        return Response(mimetype="text/event-stream", headers=headers)
