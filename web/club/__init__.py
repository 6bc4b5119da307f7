"""A club's site: the screen for the hall, the same for phones, and the organiser's page."""

from __future__ import annotations

from collections.abc import Callable

from flask import Flask

from companion.mqtt.club.club import Club
from web.access import Access
from web.club import views
from web.club.context import ClubContext, Viewers
from web.errors import install_errors
from web.modules import new_epoch
from web.security import CLUB_COOKIE
from web.site import new_site
from web.sse import Streams

MOST_PHONES = 200
"""Streams of phones: a club of a hundred players, and as many who look on."""

INSIDE_S = 0.1
"""Seconds between two states for a screen: a hundred tables change fifty times a second."""


def create_club_app(
    club: Club,
    *,
    name: str,
    access: Access,
    language: str = "en",
    version: str = "",
    join_url: Callable[[], str] = str,
    has_broker: Callable[[], bool] = lambda: True,
) -> Flask:
    """Make the web app of a club night.

    Args:
        name: Name of the club.
        access: Holds the organisers' PIN and devices.
        language: Of browsers that prefer none of ours.
        version: The program's version, for /healthz.
        join_url: Returns the address for phones; by default the address a page was opened with.
        has_broker: Returns whether there is a connection to the broker.
    """
    app = new_site(CLUB_COOKIE)
    context = ClubContext(club, name, language, version, new_epoch(), access, join_url, has_broker)
    streams = Streams(
        Viewers(club, has_broker), context.render, most_outside=MOST_PHONES, inside_s=INSIDE_S
    )
    app.extensions["streams"] = streams
    app.register_blueprint(views.blueprint(context, streams))
    install_errors(app, context)
    return app
