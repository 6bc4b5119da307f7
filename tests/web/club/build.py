"""Tables of a club as they publish themselves, and an evening with some of them."""

from __future__ import annotations

from collections.abc import Sequence

from companion.mqtt import payloads, topics
from companion.mqtt.topics import Kind
from tests.mqtt.club.build import CLUB, ClubOnDisk, board, result, table_id

NAMES = ["Ada", "Ben", "Cleo", "Dora", "Emil", "Fritz", "Greta"]


def playing(
    number: int,
    names: list[str],
    url: str = "http://192.168.1.9:8000/",
    *,
    name: str = "",
    end: str | None = None,
    seats: Sequence[int] = range(5),
) -> payloads.Board:
    """A table in its seventh turn, the second player leading."""
    return board(
        name or f"Table {number}",
        revision=40,
        url=url,
        game=payloads.GameBoard(
            game="1-20261124190000",
            number=1,
            variant="base",
            phase="over" if end else "action1",
            turn=7,
            active=0,
            players=tuple(
                payloads.PlayerState(seats[n], name, 10 + n % 2, {}, {}, n)
                for n, name in enumerate(names)
            ),
            roll=payloads.Roll((3, 4), 7, {"red": 1, "yellow": 2, "green": 3}),
            closed=(payloads.ClosedRow("B", "blue", (0,)),),
            leaders=(1,),
            end=end,
        ),
    )


def show(club: ClubOnDisk, number: int, shown: payloads.Board) -> None:
    table = topics.TableTopics(CLUB, table_id(number))
    club.publish(table.of(Kind.STATUS), topics.ONLINE)
    club.publish(table.of(Kind.STATE), payloads.encoded(shown))


def an_evening(club: ClubOnDisk) -> None:
    """Two tables; one game of the first round is over, and a third table is empty."""
    for name in NAMES:
        club.club.add(name)
    for number in (1, 2):
        club.online(number)
    club.club.draw(1)
    first, second = club.club.view().evening.rounds[0].groups
    club.finish(1, result({name: 50 + 7 * n for n, name in enumerate(first.players)}))
    show(club, 2, playing(2, list(second.players)))
    show(club, 3, board("Window"))
