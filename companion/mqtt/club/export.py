"""An evening as CSV and JSON (pure)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from companion.eventlog.names import name_key
from companion.history.export import spreadsheet
from companion.mqtt.club.results import Played, Result
from companion.mqtt.club.standings import points_of
from companion.mqtt.club.view import Summary
from companion.wire.structs import encode

COLUMNS = (
    "round",
    "table",
    "table_name",
    "game",
    "ended",
    "variant",
    "end",
    "player",
    "rank",
    "total",
    "misses",
    "points",
)


def as_csv(done: Played) -> str:
    """One line for each player of each game; the round is empty for a game outside rounds.

    Points are of games that count for the standings: those of the rounds, once there is one.
    """
    lines: list[Sequence[object]] = [COLUMNS]
    for number, result in _games(done):
        game = result.game
        for player in game.players:
            is_counted = result.counts and (number is not None or not done.rounds)
            lines.append(
                [
                    number or "",
                    result.table,
                    game.table_name,
                    game.game,
                    game.ended,
                    game.variant,
                    game.end,
                    player.name,
                    player.rank,
                    player.total,
                    player.misses,
                    f"{points_of(result, player.name):g}" if is_counted else "",
                ]
            )
    return spreadsheet(lines)


def as_json(summary: Summary) -> str:
    """Players, rounds, games, standings and ratings as one JSON object."""
    told: dict[str, Any] = {
        **asdict(summary.evening),
        "games": [
            {"round": number, "table": result.table, **json.loads(encode(result.game))}
            for number, result in _games(summary.done)
        ],
        "standings": [asdict(place) for place in summary.places],
        "ratings": [
            {"name": place.name, **rating._asdict()}
            for place in summary.places
            if (rating := summary.rated.get(name_key(place.name))) is not None
        ],
    }
    return json.dumps(told, ensure_ascii=False, indent=1) + "\n"


def _games(done: Played) -> list[tuple[int | None, Result]]:
    """All games of the evening with the number of their round."""
    return [*done.numbered, *((None, result) for result in done.free)]
