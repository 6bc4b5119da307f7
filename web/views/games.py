"""The API calls of the games page: evenings, standings, records, saved games, exports."""

from __future__ import annotations

from collections.abc import Mapping
from threading import Lock
from typing import Any

from flask import Blueprint, Response, request

from companion.engine import GameState
from companion.engine.notation import Turn, turns_of
from companion.history.archive import SavedGame
from companion.history.export import MARK, as_csv, summary, text_of, written
from companion.history.results import Result
from companion.history.standings import Standing, evenings, standings
from companion.messages.announcements import box_line
from companion.messages.catalogue import Phrases, line
from web.context import AppContext
from web.params import body, optional, required
from web.responses import as_json, ok
from web.security import Refused
from web.wire import games as wire
from web.wire import requests
from web.wire.snapshot import Roll
from web.wire.values import ExportForm

MEDIA = {
    "text": ("text/plain", "txt"),
    "json": ("application/json", "json"),
    "csv": ("text/csv", "csv"),
}
"""Media type and file suffix of each export format."""


def install(pages: Blueprint, context: AppContext) -> None:
    """Add the calls to a blueprint."""
    session, exporting = context.session, Lock()

    @pages.get("/api/games")
    def games() -> Response:
        return as_json(
            overview(session.past.results(), paused=_paused(context), running=_running(context))
        )

    @pages.get("/api/game")
    def game() -> Response:
        turn = optional("turn")
        found = asked_for(context)
        pictures = _pictures(context, found.number)
        result = whole(found, context.phrases, turn=turn, pictures=pictures)
        result.paused = found.number in _paused(context)
        result.running = found.number == _running(context)
        return as_json(result)

    @pages.get("/api/export")
    def export() -> Response:
        form = optional("form", ExportForm) or "text"
        media, ending = MEDIA[form]
        if not exporting.acquire(blocking=False):  # many games keep a thread for seconds
            raise Refused(503, "EXPORTING", line("asked.exporting"))
        try:
            name, text = _exported(context, form)
        finally:
            exporting.release()
        response = Response(text, content_type=f"{media}; charset=utf-8")
        response.headers["Content-Disposition"] = f'attachment; filename="{name}.{ending}"'
        return response

    @pages.post("/api/pause")
    def pause() -> Response:
        body(requests.Nothing)
        context.lead()
        return ok(context, session.pause())

    @pages.post("/api/resume")
    def resume() -> Response:
        number = body(requests.Resume).number
        context.lead()
        return ok(context, session.resume(number))


def _exported(context: AppContext, form: str) -> tuple[str, str]:
    """Name and text of the file of one game, or of all."""
    if "number" in request.args:
        game = asked_for(context)
        text = written([game], form, context.phrases)
        return f"game-{game.number}", MARK + text if form == "csv" else text
    past = context.session.past
    if form == "csv":
        return "games", MARK + as_csv(past.results())
    return "games", written(past.one_by_one(), form, context.phrases)  # thousands are large


def asked_for(context: AppContext) -> SavedGame:
    """Return the game whose number was sent.

    Raises:
        Refused: There is none.
    """
    number = required("number")
    found = context.session.past.game(number)
    if found is None:
        raise Refused(404, "NO_SUCH_GAME", line("declined.NO_SUCH_GAME"))
    return found


def _pictures(context: AppContext, number: int) -> dict[int, int]:
    """The revision of each turn's kept picture, for devices that were let in."""
    if context.pictures is None or not context.is_inside(context.client()):
        return {}
    kept = sorted(context.pictures.all(), key=lambda each: each.revision)
    return {each.turn: each.revision for each in kept if each.game == number}  # the latest counts


def _paused(context: AppContext) -> set[int]:
    return {game.number for game in context.session.view().table.paused}


def _running(context: AppContext) -> int | None:
    game = context.session.view().table.running
    return None if game is None else game.number


def overview(games: list[Result], *, paused: set[int], running: int | None) -> wire.Games:
    """List all games by evening, with the standings of each evening."""
    return wire.Games(
        games=[
            _result(game, paused=game.number in paused, running=game.number == running)
            for game in reversed(games)
        ],
        evenings=[
            wire.Evening(
                evening.at,
                [game.number for game in reversed(evening.games)],
                _standings(standings(evening.games)),
            )
            for evening in evenings(games)
        ],
    )


def _result(game: Result, **more: Any) -> wire.GameResult:
    told = summary(game)
    players = [wire.PlayerResult(**player) for player in told.pop("players")]
    return wire.GameResult(**told, players=players, **more)


def _standings(found: list[Standing]) -> list[wire.Standing]:
    return [
        wire.Standing(each.name, each.games, each.wins, each.points, each.best, each.misses)
        for each in found
    ]


def whole(
    game: SavedGame, phrases: Phrases, *, turn: int | None, pictures: Mapping[int, int]
) -> wire.GameResult:
    """Make one game's result, everybody's sheet, the rolls, and the record for people.

    Args:
        turn: The sheets are as after this turn; the final ones if None.
        pictures: The revision of each turn's kept picture.
    """
    result = _result(game.result)
    state = (game if turn is None else game.after_turn(turn)).state
    result.sheets = [_sheet(game, state, player, phrases) for _, player in game.state.ranking]
    turns, _, _ = turns_of(game.start, game.events)
    opened = len(turns) if game.state.action else None  # the roll that is still answered
    result.rolls = [
        _turn(
            game,
            turn,
            phrases,
            None if roll in game.typed else pictures.get(turn.number),
            is_open=roll == opened,
        )
        for roll, turn in enumerate(turns, 1)
    ]
    result.closed = [
        wire.ClosedBy(
            phrases.row(game.state.plan.rows[closing.row].name),
            [game.names[player] for player in closing.players],
        )
        for closing in game.state.closed
    ]
    result.text = text_of(game, phrases)
    return result


def _turn(
    game: SavedGame, turn: Turn, phrases: Phrases, picture: int | None, *, is_open: bool
) -> wire.PlayedTurn:
    def mark(player: int, action: int, box: str) -> wire.MarkMade:
        text = phrases.tell(box_line(game.start, box))
        return wire.MarkMade(game.names[player], action, box, text)

    marks = [mark(p, 1, box) for p, box in enumerate(turn.action1 or []) if box is not None]
    by_colour = (turn.action2 or [None])[0]
    if by_colour is not None:
        marks.append(mark(turn.player, 2, by_colour))
    is_closed = turn.action1 is not None and turn.action2 is not None
    by_white = turn.action1[turn.player] if turn.action1 is not None else None
    return wire.PlayedTurn(
        turn=turn.number,
        name=game.names[turn.player],
        roll=Roll(turn.roll.white, {c.value: value for c, value in turn.roll.coloured}),
        marks=marks,
        miss=is_closed and by_white is None and by_colour is None,
        open=is_open,
        picture=picture,
    )


def _sheet(game: SavedGame, state: GameState, player: int, phrases: Phrases) -> wire.Sheet:
    plan, crosses = state.plan, state.crosses[player]
    marks, locks, points = plan.marks_of(crosses), plan.locks_of(crosses), state.points(player)
    rows = [
        wire.SheetRow(
            key=row.key,
            name=phrases.row(row.name),
            colour=row.lock.value if row.lock else None,
            beside=list(row.beside),
            numbers=[box.number for box in row.boxes],
            crossed=list(marks[row.key]),
            lock=row.key in locks,
            points=points.get(row.lock.value) if row.lock else None,
        )
        for row in plan.rows
    ]
    return wire.Sheet(game.names[player], state.misses[player], state.total(player), rows)
