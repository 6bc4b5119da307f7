"""Errors as answers: JSON for programs, a page for people."""

from __future__ import annotations

import logging

from flask import Flask, Response, make_response, render_template, request
from werkzeug.exceptions import BadRequest, HTTPException

from companion.errors import CalibrationError, ConfigError, StoreError
from companion.messages.catalogue import line
from web.ports import Site
from web.responses import failed
from web.security import Refused
from web.views.pages import words

LOGGER = logging.getLogger(__name__)


def install_errors(app: Flask, site: Site) -> None:
    """Add the error handlers to an app."""

    def answer(refused: Refused) -> Response:
        has_page = not isinstance(request.routing_exception, BadRequest)  # a host that is no name
        message = site.phrases.tell(refused.said)
        if request.path.startswith("/api/") or request.method == "POST" or not has_page:
            return failed(refused.code, message, refused.status)
        text = render_template("error.html", message=message, **words(site, site.phrases))
        return make_response(text, refused.status)

    @app.errorhandler(Refused)
    def refused(error: Refused) -> Response:
        return answer(error)

    @app.errorhandler(HTTPException)
    def http(error: HTTPException) -> Response:
        status = error.code or 500
        key = f"page.http.{status}"
        said = line(key if key in site.phrases else "page.http.other")
        response = answer(Refused(status, f"HTTP_{status}", said))
        if allow := error.get_response().headers.get("Allow"):
            response.headers["Allow"] = allow
        return response

    @app.errorhandler(StoreError)
    def not_kept(error: StoreError) -> Response:
        LOGGER.error("a step could not be stored: %s", error)
        return answer(Refused(503, "NOT_KEPT", line("page.not_kept")))

    @app.errorhandler(CalibrationError)
    def not_taken(error: CalibrationError) -> Response:
        are_none = error.reason == "not_six" and error.count == 0
        key = "setup.no_dice" if are_none else f"setup.{error.reason}"
        return answer(Refused(409, error.reason.upper(), line(key, count=error.count)))

    @app.errorhandler(ConfigError)
    def not_saved(error: ConfigError) -> Response:
        return answer(Refused(503, "NOT_KEPT", line("page.not_saved")))
