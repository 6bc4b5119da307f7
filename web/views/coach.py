"""The coach's call: curves, luck and skill, and turning points of one game."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint, Response

from web.context import AppContext
from web.responses import as_json
from web.views.games import asked_for
from web.wire import coach as wire

if TYPE_CHECKING:
    from companion.coach.charts import Picture


def install(pages: Blueprint, context: AppContext) -> None:
    """Add the call to a blueprint."""

    @pages.get("/api/coach")
    def coach() -> Response:
        from companion.coach.report import told

        game = asked_for(context)
        share, review = context.reviews.of(game)
        report = told(game, review, context.phrases)
        luck = drawn(report.luck) if report.luck else None
        return as_json(
            wire.Coached(
                game.number,
                share,
                drawn(report.scores),
                luck,
                list(report.turning),
                list(report.mistakes),
            )
        )


def drawn(picture: Picture) -> wire.Drawn:
    """A picture as pages receive it."""
    return wire.Drawn(picture.svg, picture.title, list(picture.lines))
