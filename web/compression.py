"""Texts are sent compressed to browsers that can read them: a slow radio is the narrow place."""

from __future__ import annotations

import gzip
from functools import lru_cache

from flask import Flask, Response, request

TEXTS = ("text/", "application/json", "application/javascript", "image/svg+xml")
STREAM = "text/event-stream"

LEAST_BYTES = 1_000
"""A shorter text fits one packet as it is."""


def install(app: Flask) -> None:
    """Compress an app's longer texts."""

    @app.after_request
    def compress(response: Response) -> Response:
        kind = response.mimetype or ""
        if response.status_code != 200 or kind == STREAM or not kind.startswith(TEXTS):
            return response
        response.vary.add("Accept-Encoding")
        if request.method == "HEAD" or not request.accept_encodings.quality("gzip"):
            return response
        response.direct_passthrough = False  # a static file is read
        data = response.get_data()
        if len(data) >= LEAST_BYTES:
            response.set_data(_compressed(data))
            response.headers["Content-Encoding"] = "gzip"
        return response


@lru_cache(maxsize=64)
def _compressed(data: bytes) -> bytes:
    return gzip.compress(data, 6, mtime=0)
