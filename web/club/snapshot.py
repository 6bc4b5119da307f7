"""Make the snapshot of a club night for its pages; pure."""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Sequence
from urllib.parse import urlsplit

from companion.engine import End
from companion.engine.dice import COLOURED
from companion.eventlog.names import LONGEST_NAME, clean_name, name_key
from companion.mqtt import payloads
from companion.mqtt.club.evening import Evening
from companion.mqtt.club.results import Result, evening_id
from companion.mqtt.club.view import TableView, View
from web.club import wire
from web.security import is_home_host
from web.wire.values import Rating

_PLAIN = re.compile(r"[A-Za-z0-9.:\[\]_-]+")
"""Characters of a host and port that every browser reads alike; it takes %2e for a dot."""
_NUMBER = re.compile(r"[0-9]+|0[xX][0-9a-fA-F]*")

MOST_GAMES = 12
"""Games that the pages list, the newest first; exports have all."""


def snapshot(view: View, *, epoch: str, broker: bool, join_url: str) -> wire.Shared:
    """Make the part of a snapshot that is the same for every device."""
    tables = [each for each in view.tables if _is_shown(view, each)]
    names = _names(tables)
    rounds = view.evening.rounds
    return wire.Shared(
        version=view.version,
        epoch=epoch,
        broker=broker,
        join_url=join_url,
        evening=view.evening.id,
        system=view.evening.system,
        size=view.evening.size,
        drawn=len(rounds),
        missing=view.done.rounds[-1].count(None) if rounds else 0,
        members=[wire.Member(each.name, each.is_here) for each in view.evening.members],
        round=_round(view, names) if rounds else None,
        standings=[
            wire.Place(
                each.rank,
                shown(each.name),
                each.points,
                each.games,
                each.wins,
                each.opponents,
                each.margin,
                _rating(view, each.name),
            )
            for each in view.places
        ],
        tables=[_table(each, names[each.id]) for each in tables],
        games=_games(view),
        earlier=list(view.earlier),
    )


def address_of(table: TableView) -> str:
    """The address that phones open, if it is one of a home network; else ""."""
    url = table.board.url if table.board is not None else ""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    is_plain = parts.scheme in ("http", "https") and _PLAIN.fullmatch(parts.netloc) is not None
    is_home = is_plain and is_home_host(parts.netloc) and not _is_elsewhere(parts.hostname or "")
    return url if is_home and url.isprintable() else ""


def _is_elsewhere(host: str) -> bool:
    """Whether a host is an address of the internet, or a number that browsers take for one."""
    try:
        return ipaddress.ip_address(host).is_global
    except ValueError:
        return _NUMBER.fullmatch(host.rstrip(".").rpartition(".")[2]) is not None


def shown(name: str) -> str:
    """A name that a stranger may have sent, without characters that reorder or hide text."""
    return clean_name(name)[: 2 * LONGEST_NAME]


def _names(tables: Sequence[TableView]) -> dict[str, str]:
    """Tables' names by id; of several with one name each has its address besides.

    The table shows its address on its own screen.
    """
    names = {table.id: shown(table.name) for table in tables}
    count = Counter(map(name_key, names.values()))
    for table in tables:
        name = names[table.id]
        if count[name_key(name)] > 1:
            names[table.id] = f"{name} ({urlsplit(address_of(table)).netloc or table.id[:4]})"
    return names


def _is_shown(view: View, table: TableView) -> bool:
    """A table that is gone is only shown if somebody played or should play at it tonight."""
    if table.is_online or _is_playing(view.evening, table.board):
        return True
    groups = view.evening.rounds[-1].groups if view.evening.rounds else ()
    used = {each.table for each in groups}
    used |= {each.table for each in (*view.done.of_rounds, *view.done.free)}
    return table.id in used


def _is_playing(evening: Evening, board: payloads.Board | None) -> bool:
    """Whether a game of tonight is on a table: of anybody before a round, then of its players."""
    if board is None or board.game is None or evening_id(board.at) != evening.id:
        return False
    here = {name_key(member.name) for member in evening.members}
    return not evening.rounds or any(name_key(each.name) in here for each in board.game.players)


def _round(view: View, names: dict[str, str]) -> wire.Round:
    newest, results = view.evening.rounds[-1], view.done.rounds[-1]
    groups = []
    for group, result in zip(newest.groups, results, strict=True):
        scores = {name_key(each.name): each for each in _scores(result)} if result else {}
        players = [
            scores.get(name_key(name), wire.GroupPlayer(name, None)) for name in group.players
        ]
        table_name = names.get(group.table, "")
        groups.append(wire.Group(table_name, result is not None, players))
    return wire.Round(len(view.evening.rounds), groups, list(newest.sat_out))


def _rating(view: View, name: str) -> Rating | None:
    rating = view.rated.get(name_key(name))
    return None if rating is None else Rating(*rating)


def _scores(result: Result) -> list[wire.GroupPlayer]:
    return [wire.GroupPlayer(shown(each.name), each.total) for each in result.players]


def _games(view: View) -> list[wire.Finished]:
    games = [*view.done.numbered, *((None, each) for each in view.done.free)]
    games.sort(key=lambda each: each[1].ended_at, reverse=True)
    return [
        wire.Finished(
            shown(result.game.table_name),
            result.ended_at,
            number,
            result.game.end == End.ENDED_EARLY.value,
            result.counts,
            sorted(_scores(result), key=lambda each: -(each.total or 0)),
        )
        for number, result in games[:MOST_GAMES]
    ]


def _table(table: TableView, name: str) -> wire.Table:
    board = table.board
    return wire.Table(
        id=table.id,
        revision=board.revision if board is not None else 0,
        name=name,
        online=table.is_online,
        url=address_of(table),
        seats=[shown(each.name) for each in board.seats] if board is not None else [],
        game=_game(board.game) if board is not None and board.game is not None else None,
    )


def _game(game: payloads.GameBoard) -> wire.Game:
    closed = [each.colour for each in game.closed]
    roll = game.roll
    leaders = () if game.end == End.ENDED_EARLY.value else game.leaders  # nobody won
    return wire.Game(
        phase=game.phase,
        turn=game.turn,
        active=game.active,
        players=[
            wire.TablePlayer(
                each.seat,
                shown(each.name),
                each.total,
                each.misses,
                each.seat in leaders,
                each.gone,
            )
            for each in game.players
        ],
        roll=wire.Roll(roll.white, _of_known(roll.coloured)) if roll is not None else None,
        dice=[each.value for each in COLOURED if each.value not in closed],
        closed=[each.value for each in COLOURED if each.value in closed],
    )


def _of_known(values: dict[str, int]) -> dict[str, int]:
    return {each.value: values[each.value] for each in COLOURED if each.value in values}
