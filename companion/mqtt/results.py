"""Finished games on their way to the broker: each arrives once, also after days without it.

The event log holds the games. A small file beside it holds what the broker has acknowledged, and
the id of this table. What is not in it is published again; a reader keeps one result for each
(table, game), so a second copy changes nothing.
"""

from __future__ import annotations

import hashlib
import json
import logging
import secrets
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, NamedTuple

from companion.engine import HouseRule
from companion.history import results as history
from companion.history.archive import SavedGame
from companion.mqtt import payloads
from companion.mqtt.payloads import game_id
from companion.mqtt.topics import is_table_id
from companion.wire.files import read_text, write_whole
from companion.wire.structs import Meta, Struct, WireError, convert, encode, field

LOGGER = logging.getLogger(__name__)

FILE_NAME = "mqtt.json"
MOST_BYTES = 4 * 1024 * 1024
"""A game has about 40 bytes."""

MOST_CHANGED = 100
"""Newest games whose results may still change, by an undo or when names may leave no longer."""

KEEP_S = 30 * 24 * 3600
"""Seconds after which the broker drops a result: a club has stored it long before."""


class _Club(Struct):
    """The results that one club has of this table.

    Attributes:
        since: Number of the newest game when the table joined.
        open: Earlier games that were not finished then.
        sent: Digest of each result that was acknowledged, by the game's id; "" for one that the
            broker may have.
    """

    since: Annotated[int, Meta(ge=0)]
    open: list[int] = field(default_factory=list)
    sent: dict[str, str] = field(default_factory=dict)


class _File(Struct):
    table: str
    clubs: dict[str, _Club] = field(default_factory=dict)


class Due(NamedTuple):
    """A game to publish, and the digest to acknowledge it with."""

    number: int
    game: str
    digest: str


class Ledger:
    """The results of this table that the broker has; thread-safe.

    Attributes:
        table: The random id of this table.
    """

    def __init__(self, data_dir: Path) -> None:
        """Read it; a missing or damaged file begins anew, as another table."""
        self._path = data_dir / FILE_NAME
        self._mutex = threading.Lock()
        self._again: set[str] = set()
        self._has_complained = False
        try:
            self._file: _File = convert(json.loads(read_text(self._path, MOST_BYTES)), _File)
            if not is_table_id(self._file.table):
                raise ValueError("not the id of a table")
        except FileNotFoundError:
            self._file = _File(secrets.token_hex(8))
            self._save()
        except (OSError, ValueError, RecursionError, WireError) as error:
            LOGGER.warning("mqtt: %s cannot be read, so this is a new table: %s", self._path, error)
            self._file = _File(secrets.token_hex(8))
            self._save()
        self.table = self._file.table

    @property
    def clubs(self) -> set[str]:
        """The clubs that this table has ever published to."""
        with self._mutex:
            return set(self._file.clubs)

    def join(self, club: str, games: Sequence[history.Result]) -> None:
        """Begin to publish to a club; games that are finished already are not its own.

        A table whose saved games were removed numbers its games from 1 again.
        """
        newest = max((game.number for game in games), default=0)
        with self._mutex:
            known = self._file.clubs.get(club)
            if known is None:
                unfinished = [game.number for game in games if not game.is_over]
                self._file.clubs[club] = _Club(newest, unfinished)
            elif newest < known.since:
                known.since = newest
            else:
                return
            self._save()

    def due(
        self, club: str, games: Sequence[history.Result], *, name: str, shows_names: bool
    ) -> list[Due]:
        """Games whose results the broker has not acknowledged as they are now, the oldest first.

        A game whose end was taken back does not count until it ends again. Games with bots and
        practice games enter nobody's standings, and a game that another club has is none of this
        club's.

        Args:
            games: All of the table, the oldest first.
            name: Of the table.
        """
        with self._mutex:
            known = self._file.clubs[club]
            since, unfinished = known.since, set(known.open)
            sent = {own: "" if own in self._again else last for own, last in known.sent.items()}
            elsewhere = {own for each in self._file.clubs.values() for own in each.sent} - set(sent)
        found = []
        for place, game in enumerate(games, MOST_CHANGED - len(games)):
            is_earlier = game.number <= since and game.number not in unfinished
            if is_earlier or game.is_imported or game.has_bots:
                continue
            own = game_id(game.number, game.at)
            if own in elsewhere:
                continue
            last = sent.get(own)
            if last is None if not game.is_over else place < 0 and last:
                continue
            digest = _digest(game, name, shows_names=shows_names)
            if last != digest:
                found.append(Due(game.number, own, digest))
        with self._mutex:  # on its way, it may have to be taken back before it is acknowledged
            count = len(known.sent)
            for each in found:
                known.sent.setdefault(each.game, "")
            if len(known.sent) > count:
                self._save()  # it stays this club's though the table goes elsewhere before that
        return found

    def acknowledge(self, club: str, due: Due) -> None:
        """Note that the broker has a result."""
        with self._mutex:
            self._again.discard(due.game)
            sent = self._file.clubs[club].sent
            if sent.get(due.game) != due.digest or self._has_complained:
                sent[due.game] = due.digest
                self._save()

    def forget(self, club: str, newest: int) -> None:
        """Let the newest results be published once more: the broker may have lost them.

        The file stays as it is: every new connection asks for this, and one may be lost every
        few seconds.
        """
        with self._mutex:
            self._again |= set(list(self._file.clubs[club].sent)[-newest:])

    def _save(self) -> None:
        try:
            write_whole(self._path, encode(self._file))
            self._has_complained = False
        except OSError as error:
            if not self._has_complained:
                LOGGER.warning("mqtt: %s cannot be written: %s", self._path, error)
            self._has_complained = True


def result_of(
    game: SavedGame, *, name: str, shows_names: bool, revision: int, ended: str
) -> payloads.Result:
    """A game's result.

    Args:
        ended: When it ended, ISO 8601.
    """
    state = game.state
    return payloads.Result(
        game=game_id(game.number, game.at),
        number=game.number,
        table_name=name,
        began=game.at,
        ended=ended,
        revision=revision,
        variant=state.plan.name,
        end=state.end.value if state.end is not None else "open",
        turns=state.turn,
        players=tuple(
            payloads.ResultPlayer(
                seat=game.seats[player],
                name=game.names[player] if shows_names else "",
                rank=rank,
                total=state.total(player),
                rows=state.points(player),
                misses=state.misses[player],
                gone=player in state.gone,
            )
            for rank, player in state.ranking
        ),
        house=tuple(rule.value for rule in HouseRule if rule in state.setup.house),
        counts=game.is_over,
    )


def _digest(game: history.Result, name: str, *, shows_names: bool) -> str:
    """Of everything that a result shows; one for all games that go on."""
    if not game.is_over:
        return "open"
    shown = [game.played, game.end, name, game.names if shows_names else ()]
    return hashlib.blake2b(json.dumps(shown).encode(), digest_size=8).hexdigest()
