"""A request as the WSGI environment, and an answer collected from the application."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_to_bytes

from flask import Flask

if TYPE_CHECKING:
    from web.sse import Stream

STREAM = "dice_companion.stream"
"""Key of the environment by which a view hands over a stream, which then is the answer's body."""


@dataclass(frozen=True, slots=True)
class Asked:
    """A request.

    Attributes:
        target: Path and query as sent.
        version: HTTP version, such as 1.1.
        headers: Names in lower case, and values.
        peer: Address and port of the client.
    """

    method: str
    target: bytes
    version: str
    headers: Sequence[tuple[bytes, bytes]]
    body: bytes
    peer: tuple[str, int]


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer; with a stream instead of a body it ends when the stream does."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes = b""
    stream: Stream | None = None


def answer_of(app: Flask, asked: Asked, server: tuple[str, int]) -> Answer:
    """Run the application for a request; blocks until the answer is complete."""
    started: list[Any] = []

    def start(
        status: str, headers: list[tuple[str, str]], _: object = None, /
    ) -> Callable[[bytes], object]:
        started[:] = [int(status.split(" ", 1)[0]), headers]
        return lambda _: None  # the old way to write, which Flask does not use

    environ = environ_of(asked, server)
    parts: Iterable[bytes] = app(environ, start)
    try:
        body = b"".join(parts)
    finally:
        if (close := getattr(parts, "close", None)) is not None:
            close()
    status, headers = started
    stream: Stream | None = environ.get(STREAM)
    known = [(n, v) for n, v in headers if stream is None or n.lower() != "content-length"]
    if stream is None and not any(n.lower() == "content-length" for n, _ in known):
        known.append(("Content-Length", str(len(body))))
    return Answer(status, known, body, stream)


def environ_of(asked: Asked, server: tuple[str, int]) -> dict[str, Any]:
    """Make the environment of a request (PEP 3333)."""
    path, _, query = asked.target.partition(b"?")
    environ: dict[str, Any] = {
        "REQUEST_METHOD": asked.method,
        "SCRIPT_NAME": "",
        "PATH_INFO": unquote_to_bytes(path).decode("latin-1"),
        "QUERY_STRING": query.decode("latin-1"),
        "SERVER_NAME": server[0],
        "SERVER_PORT": str(server[1]),
        "SERVER_PROTOCOL": f"HTTP/{asked.version}",
        "REMOTE_ADDR": asked.peer[0],
        "REMOTE_PORT": str(asked.peer[1]),
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(asked.body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": False,
        "wsgi.run_once": False,
        "wsgi.input_terminated": True,
    }
    for name, value in asked.headers:
        if b"_" in name:  # it would pass for the same name with a hyphen
            continue
        key = name.decode("ascii").upper().replace("-", "_")
        if key not in ("CONTENT_TYPE", "CONTENT_LENGTH"):
            key = f"HTTP_{key}"
        text = value.decode("latin-1")
        joint = "; " if key == "HTTP_COOKIE" else ","
        environ[key] = f"{environ[key]}{joint}{text}" if key in environ else text
    environ.pop("HTTP_TRANSFER_ENCODING", None)  # the body is whole
    environ["CONTENT_LENGTH"] = str(len(asked.body))
    return environ
