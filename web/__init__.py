"""The page: join, play, the table view and the host's page, live in every browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from flask import Flask

from companion.coach.background import Reviews
from companion.doctor.health import Health
from companion.engine import Choice
from companion.eventlog.state import Game
from companion.service.network import Wifi
from companion.session.session import Rejected, Session
from web.access import Access
from web.context import AppContext
from web.errors import install_errors
from web.modules import new_epoch
from web.ports import Equipment, Pictures, Power, Simulator, Tray, TraySetup
from web.site import new_site
from web.sse import Streams
from web.views import game
from web.views import health as health_views
from web.views import setup as setup_views

__all__ = ["Equipment", "create_app"]


def create_app(
    session: Session,
    *,
    tray: Tray | None = None,
    simulator: Simulator | None = None,
    pictures: Pictures | None = None,
    equipment: Callable[[], Equipment] = Equipment,
    press: Callable[[], Rejected | None] | None = None,
    join_url: Callable[[], str] = str,
    join_name: Callable[[], str] = str,
    version: str = "",
    access: Access | None = None,
    setup: TraySetup | None = None,
    wifi: Callable[[], Wifi] = Wifi,
    power: Power | None = None,
    health: Callable[[], Health] = Health,
    frames: Callable[[], int | None] | None = None,
    chances: Callable[[int], Sequence[tuple[float, float]]] = lambda number: (),
    reviews: Reviews | None = None,
    has_broker: bool = False,
    advice: Callable[[Game], Mapping[int, Choice]] = lambda game: {},
) -> Flask:
    """Make the web app of one table.

    Args:
        session: Decides and stores every step.
        tray: The camera's pictures.
        simulator: Throws the dice of a simulated tray; None for a real one.
        pictures: The kept pictures of confirmed rolls; None if none are kept.
        equipment: Returns the state of camera and button; called for every snapshot.
        press: Action of the on-screen button; by default the session's press.
        join_url: Returns the address for phones; by default the address a page was opened with.
        join_name: Returns the same with the machine's name, or ""; called for every snapshot.
        version: The program's version, for /healthz.
        access: Code, PIN and paired table views; by default drawn and kept in memory.
        setup: Sets the tray up, if there is a camera.
        wifi: Returns the table's own Wi-Fi; called for every snapshot.
        power: The machine's switch; None where there is none.
        health: Returns the state of every part, for /healthz.
        frames: Returns the number of camera frames, for /metrics; None disables /metrics.
        chances: Returns the chances to win in a game, by player, with their standard errors.
        reviews: Makes the reviews of finished games.
        advice: Returns what the coach would cross in a practice game, by player.
    """
    app = new_site()
    context = AppContext(
        session=session,
        tray=tray,
        simulator=simulator,
        pictures=pictures,
        equipment=equipment,
        press=press or session.press,
        join_url=join_url,
        join_name=join_name,
        name="Dice Companion",
        version=version,
        epoch=new_epoch(),
        access=access or Access(),
        wifi=wifi,
        chances=chances,
        reviews=reviews or Reviews(),
        advice=advice,
        power=power,
        has_broker=has_broker,
    )
    app.extensions["streams"] = Streams(session, context.render)
    api = game.blueprint(context, app.extensions["streams"])
    health_views.install(api, context, app.extensions["streams"], health, frames=frames)
    app.register_blueprint(api)
    app.register_blueprint(setup_views.blueprint(context, setup))
    install_errors(app, context)
    return app
