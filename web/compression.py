"""Texts are sent compressed to browsers that can read them: a slow radio is the narrow place."""

from __future__ import annotations

import gzip
from functools import lru_cache

from flask import Flask, Response, request

TEXTS = ("text/", "application/json", "application/javascript", "image/svg+xml")
STREAM = "text/event-stream"

LEAST_BYTES = 1_000
"""A shorter text fits one packet as it is."""

MOST_KEPT_BYTES = 100_000
"""A longer text, such as the file of all games, is hardly asked for twice."""


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
            pack = _kept if len(data) <= MOST_KEPT_BYTES else _packed
            response.set_data(pack(data))
            response.headers["Content-Encoding"] = "gzip"
        return response


def _packed(data: bytes) -> bytes:
    return gzip.compress(data, 6, mtime=0)


_kept = lru_cache(maxsize=64)(_packed)
