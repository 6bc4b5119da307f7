"""The HTML pages, their QR codes, and the texts that every template receives."""

from __future__ import annotations

from functools import partial
from typing import Any

from flask import Blueprint, Response, make_response, render_template, request

from companion.engine.sheet import row_points
from companion.engine.variants import BASE
from companion.errors import StoreError
from companion.history.standings import remembered
from companion.messages.catalogue import Phrases, line
from companion.messages.rulings import rules
from web import locale, qr, security
from web.context import AppContext
from web.modules import modules_of, phrases_named_in
from web.params import required
from web.ports import Site
from web.security import Refused
from web.views import assets

THEMES = ("light", "dark")
"""Colours that a browser can choose; without a choice its device decides."""

THEME_COOKIE = "dice_companion_theme"
"""Set by the pages' script."""

MOST_NAMES = 12
"""Names of earlier players that are offered to a newcomer."""

NAMES_WITHIN_S = 0.2
"""Seconds the first page waits for them; after an update all old games are read again."""


def install(pages: Blueprint, context: AppContext) -> None:
    """Add the pages to a blueprint."""
    session = context.session
    assets.install(pages, context.name)
    page = partial(render_page, context)

    @pages.get("/")
    def play() -> Response:
        try:
            known = remembered(session.past.results_within(NAMES_WITHIN_S))[:MOST_NAMES]
        except StoreError:  # the storage fault is on the page; playing needs no old names
            known = []
        return page("play.html", known_names=known, state=first_state(context))

    @pages.get("/table")
    def table() -> Response:
        # in the language of the table
        is_seated = bool(session.seats_of(context.client().tokens))
        return page("table.html", phrases=session.phrases, is_seated=is_seated)

    @pages.get("/watch")
    def watch() -> Response:
        return page("table.html", is_watching=True)

    @pages.get("/stream")
    def stream() -> Response:
        theme = request.args.get("theme")
        chosen: dict[str, Any] = {"theme": theme} if theme in THEMES else {}
        return page("stream.html", **chosen)

    @pages.get("/host")
    def host() -> Response:
        return page("host.html")

    @pages.get("/games")
    @pages.get("/games/<int:number>")
    def all_games(number: int | None = None) -> Response:
        return page("games.html")

    @pages.get("/rules")
    def rulings() -> Response:
        say = context.phrases.say
        game = session.view().table.game
        return page(
            "rules.html",
            parts=rules(context.phrases, game.state.setup.house if game is not None else ()),
            rows=[
                (row.lock.value, [box.number for box in row.boxes]) for row in BASE.rows if row.lock
            ],
            points=[(count, row_points(count)) for count in range(1, BASE.most_scored + 1)],
            score=lambda count, points: say("rules.score", count=count, points=points),
            drawn={
                key: say(f"rules.drawn.{key}") for key in ("title", "sheet", "score", "big_points")
            },
            title=say("rules.title"),
            lead=say("rules.lead"),
            back=say("rules.back"),
        )

    @pages.get("/join.svg")
    def join_code() -> Response:
        address = context.join_url() or request.host_url
        if context.is_inside(context.client()):  # the code is for those whom the table let in
            address += f"?code={context.access.code}"
        return Response(qr.as_svg(address), mimetype="image/svg+xml")

    @pages.get("/report.svg")
    def report_code() -> Response:
        address = context.join_url() or request.host_url
        return Response(qr.as_svg(f"{address}games/{required('number')}"), mimetype="image/svg+xml")

    @pages.get("/wifi.svg")
    def wifi_code() -> Response:
        context.inside()
        wifi = context.wifi()
        if not wifi.name:
            raise Refused(404, "NO_WIFI", line("page.http.404"))
        return Response(qr.wifi_as_svg(wifi.name, wifi.password), mimetype="image/svg+xml")


def first_state(site: Site) -> str:
    """The snapshot that a page brings with it, as text of a script element."""
    return site.render(site.client())[1].replace("<", "\\u003c")


def render_page(site: Site, template: str, phrases: Phrases | None = None, **more: Any) -> Response:
    """Render a page, and give its browser a name, or let it keep the one from this table.

    Args:
        phrases: In place of those in the browser's language.
        more: Further values for the template.
    """
    shared = words(site, phrases or site.phrases)
    response = make_response(render_template(template, **(shared | more)))
    security.set_browser_id(response, site.client().device or site.access.new_device())
    return response


def words(site: Site, phrases: Phrases) -> dict[str, Any]:
    """Return the values for every template: its sentences, and those for its script."""
    return {
        "t": lambda key, **data: phrases.say(f"page.{key}", **data),
        "phrases": lambda script: phrases.for_scripts(*phrases_named_in(script)),
        "language": phrases.language,
        "languages": locale.names(),
        "chosen_language": locale.chosen(request),
        "modules": modules_of,
        "theme": theme if (theme := request.cookies.get(THEME_COOKIE)) in THEMES else "",
        "table_name": site.name,
    }
