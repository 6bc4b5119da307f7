"""The beginning of a web app: files, checks of every request, and compression."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from flask import Flask

from web import compression, security
from web.modules import pages_version, static_path

KEPT = timedelta(days=1)
"""How long browsers keep a file without asking for it again: for an evening. A changed file has
another path."""


def new_site(browser_cookie: str = security.BROWSER_COOKIE) -> Flask:
    """Make an app without pages.

    Args:
        browser_cookie: Name of the cookie that it knows browsers by.
    """
    here = Path(__file__).parent
    app = Flask(
        "web",
        root_path=str(here),
        static_url_path=static_path(),
        static_folder=str(here / "static"),
        template_folder=str(here / "templates"),
    )
    app.config["SEND_FILE_MAX_AGE_DEFAULT"] = KEPT
    app.jinja_env.globals["pages_version"] = pages_version
    app.json.ensure_ascii = False  # type: ignore[attr-defined]
    security.install(app, browser_cookie)
    compression.install(app)
    return app
