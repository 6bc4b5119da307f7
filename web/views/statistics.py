"""Players and dice over all evenings; renames and deletes players."""

from __future__ import annotations

from dataclasses import asdict

from flask import Blueprint, Response, request

from companion.errors import StoreError
from companion.eventlog.names import name_key
from companion.history.export import MARK
from companion.history.people import games_of
from companion.history.standings import remembered
from companion.history.statistics import PlayerStatistics, Statistics, as_csv, statistics
from web.context import AppContext
from web.params import body, optional
from web.responses import as_json, ok
from web.views.coach import drawn
from web.wire import games as wire
from web.wire import requests
from web.wire.coach import DiceDrawn
from web.wire.values import Rating, Variant, Yes


def install(pages: Blueprint, context: AppContext) -> None:
    """Add the calls to a blueprint."""

    @pages.get("/api/statistics")
    def players_over_all_games() -> Response:
        from companion.coach.charts import decided_chart, ratings_chart

        found = _chosen(context)
        people = remembered(context.session.past.results(), imported=True)
        picture = ratings_chart(found.players, context.phrases)
        decided = decided_chart(found.decided, context.phrases)
        return as_json(
            wire.Statistics(
                games=found.games,
                players=[_player(each) for each in found.players],
                pairs=[wire.Meeting(**asdict(each)) for each in found.pairs],
                best=[wire.BestGame(**asdict(each)) for each in found.best],
                names=list(found.names),
                people=sorted(people, key=name_key),
                ratings=None if picture is None else drawn(picture),
                decided=wire.LuckShare(**asdict(found.decided)),
                decided_drawn=None if decided is None else drawn(decided),
            )
        )

    @pages.get("/api/players.csv")
    def players_file() -> Response:
        text = MARK + as_csv(_chosen(context))
        response = Response(text, content_type="text/csv; charset=utf-8")
        response.headers["Content-Disposition"] = 'attachment; filename="players.csv"'
        return response

    @pages.post("/api/player")
    def rename_player() -> Response:
        asked = body(requests.RenamePlayer)
        context.lead()
        numbers = {game.number for game in games_of(context.session.past.results(), asked.name)}
        refusal = context.session.why_not_renamed(asked.name, asked.to)
        if refusal is None and asked.to is None and context.pictures is not None:
            try:  # first: without the name nobody could try again
                context.pictures.delete_games(numbers)
            except OSError as error:
                raise StoreError(f"a picture cannot be deleted: {error}") from error
        if refusal is None:
            refusal = context.session.rename_player(asked.name, asked.to)
        return ok(context, refusal)

    @pages.get("/api/dice")
    def dice_over_all_games() -> Response:
        from companion.coach.charts import dice_chart
        from companion.coach.fairness import fairness_of

        played = [game for game in context.session.past.results() if not game.is_imported]
        found = fairness_of(played)
        chart = dice_chart(found, context.phrases)
        return as_json(DiceDrawn(chart.svg, chart.title, list(chart.lines), found.is_enough))


def _chosen(context: AppContext) -> Statistics:
    return statistics(
        context.session.past.results(),
        variant=optional("variant", Variant),
        together=request.args.getlist("player"),
        bots=optional("bots", Yes) is not None,
        decided=context.reviews.verdicts.known,
    )


def _player(each: PlayerStatistics) -> wire.PlayerStatistics:
    told = asdict(each)
    told["rating"] = None if each.rating is None else Rating(*each.rating)
    return wire.PlayerStatistics(**told)
