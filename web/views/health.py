"""The calls for whoever watches the table: its health, and its metrics where they are wanted."""

from __future__ import annotations

import time
from collections.abc import Callable

from flask import Blueprint, Response, g, request

from companion.doctor.health import Health, State
from web.context import AppContext
from web.metrics import MEDIA, Requests, exposition
from web.responses import as_json
from web.sse import Streams
from web.wire import replies


def install(
    pages: Blueprint,
    context: AppContext,
    streams: Streams,
    health: Callable[[], Health],
    *,
    frames: Callable[[], int | None] | None,
) -> None:
    """Add the calls to a blueprint.

    Args:
        frames: Number of the camera's frames; None leaves the metrics out.
    """

    @pages.get("/healthz")
    def healthz() -> Response:
        now, parts = health(), context.equipment()
        is_playable = now.state is not State.FAILED
        reply = replies.Health(
            "ok" if is_playable else "failed",
            context.version,
            parts.camera,
            parts.button,
            {name: replies.Part(p.state.value, p.reason) for name, p in now.parts.items()},
            None if now.reading_age_s is None else round(now.reading_age_s, 1),
        )
        return as_json(reply, 200 if is_playable else 503)

    if frames is None:
        return
    requests = Requests()

    @pages.before_app_request
    def begin() -> None:
        g.begun_s = time.perf_counter()

    @pages.after_app_request
    def count(response: Response) -> Response:
        now_s = time.perf_counter()
        begun_s = g.get("begun_s", now_s)  # a request that was refused at once never began
        requests.add(request.method, response.status_code, now_s - begun_s)
        return response

    @pages.get("/metrics")
    def metrics() -> Response:
        text = exposition(
            health(),
            requests,
            version=context.version,
            frames=frames(),
            revision=context.session.view().table.revision,
            streams=len(streams),
        )
        return Response(text, content_type=MEDIA)
