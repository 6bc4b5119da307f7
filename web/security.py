"""Checks of every request (host, origin, JSON), headers of every response, and cookies."""

from __future__ import annotations

import ipaddress
import json
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import urlsplit

from flask import Flask, Request, Response, current_app, request

from companion.messages.catalogue import Line, line

_HALF = re.compile("[\ud800-\udfff]")
"""A lone surrogate: JSON can contain it, but it cannot be encoded as UTF-8."""

BODY_BYTES = 16 * 1024
"""Most bytes of a request's body; the longest real one, a typed roll, has under 200."""

SEAT_COOKIE = "dice_companion_seat"
MOST_SEATS = 5
BROWSER_COOKIE, CLUB_COOKIE = "dice_companion_browser", "dice_companion_club"
"""One for each kind of site: browsers send cookies to all ports of a machine."""
COOKIE_AGE_S = 400 * 24 * 3600
"""As long as browsers keep any: a television may stay open for months."""

HOME_DOMAINS = (
    "local",
    "localhost",
    "lan",
    "home",
    "internal",
    "home.arpa",
    "localdomain",
    "fritz.box",
    "speedport.ip",
)
"""Domains that only exist in home networks; public name servers do not resolve them."""

HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; manifest-src 'self'; base-uri 'none'; form-action 'self'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
    "Cross-Origin-Resource-Policy": "same-origin",
}
"""Headers of every response, including the web server's own errors."""


class Refused(Exception):
    """A refused request: HTTP status, a code for programs, a line for people."""

    def __init__(self, status: int, code: str, said: Line) -> None:
        super().__init__(said.key)
        self.status, self.code, self.said = status, code, said


def is_home_host(host: str) -> bool:
    """Whether a Host header names this table.

    An address, a bare name or a home network's name is fine: none of them can be pointed here
    by a stranger's name service, which is how DNS rebinding works.
    """
    try:
        name = (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return False
    if not name:
        return False
    try:
        ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return "." not in name or name.endswith(tuple(f".{each}" for each in HOME_DOMAINS))
    return True


def is_same_origin(origin: str, host: str) -> bool:
    """Whether an Origin header names the host that was asked."""
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and parts.netloc.casefold() == host.casefold()


def install(app: Flask, browser_cookie: str) -> None:
    """Put the guard before and after every view.

    Args:
        browser_cookie: Name of the cookie that a browser is known by.
    """
    app.config["BROWSER_COOKIE"] = browser_cookie

    @app.before_request
    def check() -> None:
        if not is_home_host(request.headers.get("Host", "")):
            raise Refused(400, "BAD_HOST", line("asked.host"))
        is_write = request.method not in ("GET", "HEAD", "OPTIONS")
        if is_write and request.routing_exception is None:  # an unknown path gets a 404 instead
            check_write(request)

    @app.after_request
    def protect(response: Response) -> Response:
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        if "Cache-Control" not in response.headers:
            response.headers["Cache-Control"] = "no-store"
        return response


def check_write(asked: Request) -> None:
    """Refuse writes that another site's page could have sent, and oversized ones."""
    origin = asked.headers.get("Origin")
    if origin is not None and not is_same_origin(origin, asked.headers.get("Host", "")):
        raise Refused(403, "BAD_ORIGIN", line("asked.origin"))
    if asked.headers.get("Sec-Fetch-Site") in ("cross-site", "same-site"):
        raise Refused(403, "BAD_ORIGIN", line("asked.origin"))
    if (asked.content_length or 0) > BODY_BYTES:
        raise Refused(413, "TOO_LARGE", line("page.http.413"))
    if asked.mimetype != "application/json":
        raise Refused(415, "NOT_JSON", line("asked.not_json"))


def json_body(asked: Request) -> dict[str, Any]:
    """Return the request's body, with a space in place of each lone surrogate.

    Raises:
        Refused: The body is not JSON, or not an object.
    """
    try:
        body = json.loads(asked.get_data(), parse_float=_number)
        text = json.dumps(body, ensure_ascii=False)
        if _HALF.search(text):
            body = json.loads(_HALF.sub(" ", text))
    except (RecursionError, ValueError) as error:
        raise Refused(400, "BAD_JSON", line("asked.not_json")) from error
    if not isinstance(body, dict):
        raise Refused(400, "BAD_JSON", line("asked.not_json"))
    return body


def _number(text: str) -> int | float:
    """A JSON number with a point or an exponent: 4.0 is the integer 4, as in JSON Schema."""
    number = float(text)
    return int(number) if number.is_integer() else number


def browser_id(asked: Request) -> str | None:
    """Return the name a browser sent, unchecked; None for a program without cookies."""
    return asked.cookies.get(current_app.config["BROWSER_COOKIE"]) or None


def set_browser_id(response: Response, name: str) -> None:
    """Give a browser a name, by which its streams are counted and a host is recognised."""
    set_cookie(response, current_app.config["BROWSER_COOKIE"], name)


def seat_tokens(asked: Request) -> tuple[str, ...]:
    """Return the seat tokens that a browser sent; a shared tablet has several."""
    tokens = asked.cookies.get(SEAT_COOKIE, "").split(".")
    return tuple(token for token in tokens if token)[:MOST_SEATS]


def set_seats(response: Response, tokens: Iterable[str]) -> None:
    """Store a browser's seat tokens in a cookie; delete it if there are none."""
    kept = ".".join(tokens)
    if kept:
        set_cookie(response, SEAT_COOKIE, kept)
    else:
        drop_cookie(response, SEAT_COOKIE)


def set_cookie(response: Response, name: str, value: str) -> None:
    """Set a cookie that scripts cannot read."""
    response.set_cookie(name, value, max_age=COOKIE_AGE_S, httponly=True, samesite="Lax")


def drop_cookie(response: Response, name: str) -> None:
    """Delete a cookie."""
    response.delete_cookie(name, httponly=True, samesite="Lax")
