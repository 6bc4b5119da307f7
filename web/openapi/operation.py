"""One call of the HTTP API, as `operations` lists it and the description shows it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from web.wire.snapshot import Snapshot

JSON = "application/json"
HTML = "text/html"
MANIFEST = "application/manifest+json"
SVG = "image/svg+xml"
JPEG = "image/jpeg"
STREAM = "text/event-stream"

READ = (400,)
"""Failures of every call: a foreign Host header, or a wrong parameter."""

WRITE = (400, 403, 413, 415)
"""Failures of every write: the body, or another site's page."""

STEP = (*WRITE, 409, 422, 503)
"""Failures of a step that the session may reject or cannot keep."""

_TEXT = {"type": "string"}
BINARY = {"type": "string", "format": "binary"}
"""Schema of an answer in bytes."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the query, or of the path."""

    name: str
    kind: Any
    text: str
    is_required: bool = False
    is_in_path: bool = False


@dataclass(frozen=True, slots=True)
class Link:
    """A call that can follow, with values taken from the answer."""

    operation_id: str
    body: dict[str, Any] = field(default_factory=dict)
    parameters: dict[str, str] = field(default_factory=dict)

    def as_json(self) -> dict[str, Any]:
        """Return the OpenAPI link object."""
        found: dict[str, Any] = {"operationId": self.operation_id}
        if self.body:
            found["requestBody"] = self.body
        if self.parameters:
            found["parameters"] = self.parameters
        return found


@dataclass(frozen=True, slots=True)
class Operation:
    """One call.

    Attributes:
        media: Media types of the answer.
        request: Type of the JSON body; None for reading calls.
        reply: Type of the JSON answer; None for another media type.
        raw: Schema of an answer that is not JSON.
        failures: Statuses with a problem as their body.
        alike: Statuses other than 200 with the same body.
        links: Calls that can follow.
    """

    method: str
    path: str
    summary: str
    media: tuple[str, ...] = (JSON,)
    request: Any = None
    reply: Any = None
    raw: dict[str, str] = field(default_factory=lambda: _TEXT)
    failures: tuple[int, ...] = READ
    alike: tuple[int, ...] = ()
    parameters: tuple[Parameter, ...] = ()
    links: tuple[Link, ...] = ()

    @property
    def operation_id(self) -> str:
        """A name made of the method and the path."""
        path = self.path.removeprefix("/api").strip("/")
        path = re.sub(r"[/.]", "_", re.sub(r"[{}]", "", path))
        if self.media == (HTML,):
            return f"page_{path or 'play'}"
        return path if self.method == "post" else f"get_{path}"


def page(path: str, summary: str, *parameters: Parameter) -> Operation:
    """A page, in HTML."""
    return Operation("get", path, summary, (HTML,), parameters=parameters)


def get(path: str, summary: str, reply: Any, *failures: int, **more: Any) -> Operation:
    """A reading call that answers in JSON."""
    return Operation("get", path, summary, reply=reply, failures=(*READ, *failures), **more)


def post(
    path: str,
    summary: str,
    request: Any,
    failures: tuple[int, ...] = STEP,
    reply: Any = Snapshot,
    links: tuple[Link, ...] = (),
) -> Operation:
    """A step: a JSON body, and mostly the new state as the answer."""
    return Operation(
        "post", path, summary, request=request, reply=reply, failures=failures, links=links
    )
