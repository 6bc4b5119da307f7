"""Payloads of tables, and a club on disk with a clock that is turned."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

from companion.mqtt import payloads, topics
from companion.mqtt.broker import Message, Received
from companion.mqtt.club.club import Club
from companion.mqtt.club.results import Result
from companion.mqtt.club.store import ClubStore
from companion.mqtt.results import KEEP_S
from companion.mqtt.topics import Kind

CLUB = "dienstag"


def table_id(number: int) -> str:
    """The id of a table."""
    return f"{number:016x}"


def result(
    totals: Mapping[str, int],
    *,
    game: int = 1,
    revision: int = 100,
    end: str = "locks",
    counts: bool = True,
    ended: str = "2026-11-24T20:30:00+01:00",
) -> payloads.Result:
    """A finished game with its players' totals."""
    order = sorted(totals.values(), reverse=True)
    return payloads.Result(
        game=f"{game}-20261124190000",
        number=game,
        table_name="Table",
        began="2026-11-24T20:00:00+01:00",
        ended=ended,
        revision=revision,
        variant="base",
        end=end,
        turns=20,
        counts=counts,
        players=tuple(
            payloads.ResultPlayer(n, name, order.index(total) + 1, total, {}, 0)
            for n, (name, total) in enumerate(totals.items())
        ),
    )


def kept(
    totals: Mapping[str, int], *, table: int = 1, evening: str = "2026-11-24", **more: object
) -> Result:
    """A result as the club keeps it."""
    game = result(totals, **more)  # type: ignore[arg-type]
    at = "2026-11-24T19:30:00.000+00:00"
    return Result(table_id(table), game, at, evening, at)


EIGHT = "2026-11-24T20:00:00+01:00"


def board(name: str, revision: int = 1, at: str = EIGHT, **more: object) -> payloads.Board:
    """What a table without a game publishes."""
    return payloads.Board(at, revision, name, "en", **more)  # type: ignore[arg-type]


class ClubOnDisk:
    """A club whose clock stands at eight in the evening until it is turned.

    Attributes:
        sent: What it published.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.now = datetime(2026, 11, 24, 19, tzinfo=UTC)
        self.set_by = timedelta()
        self.sent: list[Message] = []
        self.open()

    def open(self) -> None:
        """Start the process."""
        self.store = ClubStore(self.directory)
        self.club = Club(self.store, CLUB, now=self.tick, clock=self.elapsed_s)
        self.club.connect(self.sent.append)

    def restart(self) -> None:
        """End the process and start it again."""
        self.club.flush()
        self.store.close()
        self.open()

    def set_clock(self, by: timedelta) -> None:
        """Set the wall clock while no time passes."""
        self.now += by
        self.set_by += by

    def elapsed_s(self) -> float:
        """Seconds that passed."""
        return (self.now - self.set_by).timestamp()

    def tick(self) -> datetime:
        """The time, a moment later at each look."""
        self.now += timedelta(milliseconds=10)
        return self.now

    def publish(
        self, topic: str, payload: bytes, *, retained: bool = False, keeps_s: int | None = None
    ) -> None:
        """Let a message arrive."""
        self.club.receive(Received(topic, payload, retained, keeps_s))

    def online(self, number: int, name: str = "", at: str = EIGHT) -> None:
        """Let a table say that it is there."""
        table = topics.TableTopics(CLUB, table_id(number))
        self.publish(table.of(Kind.STATUS), topics.ONLINE)
        state = payloads.encoded(board(name or f"Table {number}", at=at))
        self.publish(table.of(Kind.STATE), state)

    def finish(
        self, number: int, game: payloads.Result, *, retained: bool = False, ago_s: int = 0
    ) -> None:
        """Let a table's result arrive, which the broker has had for some seconds."""
        topic = topics.TableTopics(CLUB, table_id(number)).result(game.game)
        keeps_s = KEEP_S - ago_s
        self.publish(topic, payloads.encoded(game), retained=retained, keeps_s=keeps_s)


def with_players(club: ClubOnDisk, *names: str) -> None:
    """Add players to the evening."""
    for name in names:
        club.club.add(name)


def totals(club: ClubOnDisk) -> list[tuple[str, float]]:
    """Players and their points on this evening."""
    return [(each.name, each.points) for each in club.club.view().places]
