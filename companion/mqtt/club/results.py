"""Finished games of all tables, and the rounds they were played for (pure)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo

from companion.engine import End
from companion.eventlog.names import is_nameless, name_key
from companion.mqtt import payloads
from companion.mqtt.clock import LARGEST_STEP
from companion.mqtt.club.evening import Evening, Group
from companion.mqtt.club.pairing import SMALLEST

DAY_BEGINS = timedelta(hours=6)
"""An evening ends at six in the morning, not at midnight."""


@dataclass(frozen=True, slots=True)
class Result:
    """A finished game of one table; table and game's id together name it.

    Attributes:
        game: What the table published.
        received_at: ISO 8601 text by the club's clock, in UTC.
        evening: The evening it belongs to.
        ended_at: When it ended, by the club's clock as well as that is known.
    """

    table: str
    game: payloads.Result
    received_at: str
    evening: str
    ended_at: str

    @property
    def players(self) -> tuple[payloads.ResultPlayer, ...]:
        """The players in the table's order of them."""
        return self.game.players

    @property
    def known(self) -> tuple[payloads.ResultPlayer, ...]:
        """The players without those whom their table has deleted: they have a number for a name."""
        return tuple(player for player in self.players if not is_nameless(player.name))

    @property
    def counts(self) -> bool:
        """Whether it was played to its end, by two or more people whose names are known."""
        names = {name_key(player.name) for player in self.players if player.name}
        is_over = self.game.counts and self.game.end != End.ENDED_EARLY.value
        return is_over and len(names) == len(self.players) >= SMALLEST

    def beaten(self, name: str) -> float:
        """How many opponents a player beat; a tie counts half."""
        own = next(each.total for each in self.players if name_key(each.name) == name_key(name))
        others = [each.total for each in self.players if name_key(each.name) != name_key(name)]
        return sum(1.0 if own > total else 0.5 for total in others if own >= total)


@dataclass(frozen=True, slots=True)
class Played:
    """An evening's games: those of rounds by round and group, and all others.

    Attributes:
        rounds: For each round the result of each group, None while it has none.
        free: Games that belong to no round; none whose end was taken back.
    """

    rounds: tuple[tuple[Result | None, ...], ...]
    free: tuple[Result, ...]

    @property
    def of_rounds(self) -> list[Result]:
        """The results of all rounds, in their order."""
        return [result for _, result in self.numbered]

    @property
    def numbered(self) -> list[tuple[int, Result]]:
        """The same, each with the number of its round."""
        return [(n, result) for n, row in enumerate(self.rounds, 1) for result in row if result]


def played(evening: Evening, results: Iterable[Result]) -> Played:
    """Find the result of every group.

    A group takes a game that was received after its round was drawn and that only its players
    played; of several the first that ended after the draw. The table does not matter: groups may
    swap tables. A game without one of them counts, because somebody may have left before it began.
    """
    open_ = [result for result in results if result.evening == evening.id and result.counts]
    found: list[tuple[Result | None, ...]] = []
    for round_ in evening.rounds:
        row = []
        for group in round_.groups:
            took = min(
                (
                    each
                    for each in open_
                    if fits(each, group) and each.received_at >= round_.drawn_at
                ),
                key=lambda each: (each.ended_at < round_.drawn_at, each.ended_at),
                default=None,
            )
            if took is not None:
                open_.remove(took)
            row.append(took)
        found.append(tuple(row))
    taken = [each for row in found for each in row if each is not None]
    tonight = [each for each in results if each.evening == evening.id and each.game.counts]
    free = tuple(each for each in tonight if each not in taken)
    return Played(tuple(found), free)


def fits(result: Result, group: Group) -> bool:
    """Whether only players of a group played a game; one who was deleted may have been of it."""
    names = {name_key(each.name) for each in result.known}
    return bool(names) and names <= {name_key(name) for name in group.players}


def evening_of(
    new: Result,
    evenings: Sequence[Evening],
    results: Sequence[Result],
    *,
    today: str,
    is_live: bool,
    behind: timedelta | None,
    zone: tzinfo | None,
) -> str:
    """The id of the evening that a new result belongs to.

    The clock of a table is not trusted: a Pi without a network starts with an old time. A group
    that waits for this result decides first, the newest evening's before older ones; but a game
    that ended today was not played for a round that an earlier evening left open. A game of no
    group belongs to the evening on which it ended, by the club's clock. Where nothing is known of
    the table's clock, that is today's if the table has just sent it; one that the broker had kept
    may be weeks old and belongs to the evening of its date.

    Args:
        evenings: Those with rounds, oldest first.
        results: Those that are known.
        today: The evening of the club's clock.
        is_live: The table has just sent it.
        behind: By how much the table's clock is behind the club's; None if that is unknown.
        zone: Of the club's clock.
    """
    ended = evening_id(new.game.ended, zone, behind or timedelta())
    for evening in reversed(evenings) if new.counts else ():
        if ended == today != evening.id:
            continue
        done = played(evening, results).rounds
        for round_, row in zip(evening.rounds, done, strict=True):
            groups = zip(round_.groups, row, strict=True)
            if any(known is None and fits(new, group) for group, known in groups):
                return evening.id
    return today if is_live and behind is None else ended


def is_older(game: payloads.Result, known: payloads.Result) -> bool:
    """Whether a result that the broker kept is older than the known one of the same game.

    A table with a restored backup counts its revisions anew from there, but ends the game later.
    """
    if game.revision >= known.revision:
        return False
    try:
        return datetime.fromisoformat(game.ended) <= datetime.fromisoformat(known.ended)
    except (ValueError, TypeError):
        return True


def was_set_since(ended: str, behind: timedelta, now: datetime) -> bool:
    """Whether a table's clock was set right between its last known time and the end of a game.

    With that clock's error the game would have ended in the future, or, of a clock that was ahead,
    too early: such a clock writes times that are still to come.

    Args:
        ended: By the table's clock, as ISO 8601 text.
        behind: By how much that clock was behind the club's when the club last compared them.
        now: By the club's clock.
    """
    try:
        at = datetime.fromisoformat(ended)
        return at + behind > now + LARGEST_STEP or (behind < -LARGEST_STEP and at <= now)
    except (ValueError, OverflowError, TypeError):
        return False


def end_of(new: Result, *, is_live: bool, behind: timedelta | None, zone: tzinfo | None) -> str:
    """When a new result's game ended, as ISO 8601 text in UTC, not after its arrival.

    By its table's clock, as far as the club knows how that goes, or if the broker had kept the
    result; else it ended when it came. So it did if that clock leads to another evening.

    Args:
        is_live, behind, zone: As in `evening_of`.
    """
    if is_live and behind is None:
        return new.received_at
    late = behind or timedelta()
    try:
        ended = (datetime.fromisoformat(new.game.ended) + late).astimezone(UTC)
    except (ValueError, OverflowError):
        return new.received_at
    if evening_id(new.game.ended, zone, late) != new.evening:
        return new.received_at
    return min(ended.isoformat(timespec="milliseconds"), new.received_at)


def evening_id(at: str, zone: tzinfo | None = None, behind: timedelta = timedelta()) -> str:
    """The evening of a time: its date, until six in the morning that of the day before.

    Args:
        at: ISO 8601 text.
        zone: Where the evening is; that of the text if None.
        behind: By how much the clock that it is of is behind.
    """
    try:
        when = datetime.fromisoformat(at) + behind
        return f"{(when.astimezone(zone) if zone else when) - DAY_BEGINS:%Y-%m-%d}"
    except (ValueError, OverflowError):
        return ""
