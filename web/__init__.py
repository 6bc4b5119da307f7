"""The page: join, play, the table view and the host's page, live in every browser."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from pathlib import Path

from flask import Flask

from companion.service.network import Wifi
from companion.session.session import Rejected, Session
from web import security
from web.access import Access
from web.context import AppContext
from web.errors import install_errors
from web.ports import Equipment, Pictures, Simulator, Tray, TraySetup
from web.sse import Streams
from web.views import game
from web.views import setup as setup_views

__all__ = ["Equipment", "Tray", "TraySetup", "create_app"]


def create_app(
    session: Session,
    *,
    tray: Tray | None = None,
    simulator: Simulator | None = None,
    pictures: Pictures | None = None,
    equipment: Callable[[], Equipment] = Equipment,
    press: Callable[[], Rejected | None] | None = None,
    join_url: Callable[[], str] | None = None,
    name: str = "Dice Companion",
    version: str = "",
    allowed_hosts: Iterable[str] = (),
    code: str = "",
    pin: str = "",
    access: Access | None = None,
    setup: TraySetup | None = None,
    wifi: Callable[[], Wifi] = Wifi,
) -> Flask:
    """Make the page for one table.

    Args:
        session: Judges and keeps whatever people do.
        tray: The camera's pictures.
        simulator: Throws the dice of a simulated tray; None for a real one.
        pictures: The kept pictures of confirmed rolls; None where none are kept.
        equipment: How camera and button are, asked whenever a page is told.
        press: What the on-screen button does; the session's own press unless given.
        join_url: The address phones can open; without it, the address a page was opened by.
        name: What the table is called.
        version: The program's version, for /healthz.
        allowed_hosts: Names the table may be called by besides addresses and home names.
        code: What phones send to sit down; drawn unless given.
        pin: What makes a device the host; drawn unless given.
        access: Code, PIN and paired table views in one, in place of `code` and `pin`.
        setup: Sets the tray up, where there is a camera.
        wifi: The table's own Wi-Fi, asked whenever a page is told.
    """
    here = Path(__file__).parent
    app = Flask(
        "web",
        root_path=str(here),
        static_folder=str(here / "static"),
        template_folder=str(here / "templates"),
    )
    app.json.ensure_ascii = False  # type: ignore[attr-defined]
    security.install(app, allowed_hosts=allowed_hosts)
    context = AppContext(
        session=session,
        tray=tray,
        simulator=simulator,
        pictures=pictures,
        equipment=equipment,
        press=press or session.press,
        join_url=join_url or (lambda: ""),
        name=name,
        version=version,
        epoch=secrets.token_hex(4),
        access=access or Access(code=code, pin=pin),
        wifi=wifi,
    )
    app.extensions["streams"] = Streams(session, context.render)
    app.register_blueprint(game.blueprint(context, app.extensions["streams"]))
    app.register_blueprint(setup_views.blueprint(context, setup))
    install_errors(app, context)
    return app
