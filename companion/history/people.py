"""Whether a player of saved games can be renamed, merged with another or deleted (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from companion.eventlog.names import clean_name, is_nameless, name_key, written_fault
from companion.eventlog.state import Table
from companion.history.results import Result


def games_of(results: Iterable[Result], name: str) -> list[Result]:
    """The games a player took part in."""
    key = name_key(clean_name(name))
    return [game for game in results if key in map(name_key, game.names)]


def why_not(results: Sequence[Result], table: Table, old: str, new: str | None) -> str | None:
    """Code of the reason why a player cannot be renamed or deleted now, or None.

    Args:
        new: The new name; None to delete the player. If somebody has it, the two become one.
    """
    key = name_key(clean_name(old))
    if is_nameless(old) or not games_of(results, old):
        return "NO_SUCH_PLAYER"
    if table.running is not None:
        return "GAME_RUNS"
    games = [*table.paused, *([table.game] if table.game else [])]
    present = [seat.name for seat in table.seats] + [name for game in games for name in game.names]
    if key in map(name_key, present):
        return "PLAYER_AT_TABLE"
    if new is None:
        return None
    if (fault := written_fault(new)) is not None:
        return fault
    if name_key(clean_name(new)) != key and games_of(games_of(results, old), new):
        return "PLAYED_TOGETHER"
    return None
